// SPDX-License-Identifier: Apache-2.0
// A loop that sleeps between two samples wakes with cold caches, and fetches its code line by line, each time waiting
// for the memory. Asking for all of it at once costs one such wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gpulse {

// Which of the functions marked [[gnu::hot]]: those that every sample needs, and those of one format.
enum class HotCode : std::uint8_t { sample, csv, json, smi };
// Fetches them, where the program is linked so that they lie together; nothing elsewhere.
void fetch_hot_code(HotCode what);

// The same for data that is about to be looked at.
inline void fetch_data(const void *begin, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  const auto *const at = static_cast<const char *>(begin);
  for (std::size_t i = 0; i < bytes; i += kLine) __builtin_prefetch(at + i);
}
template <class T>
void fetch_data(std::span<const T> all) {
  fetch_data(all.data(), all.size_bytes());
}

// The stack of the functions that the caller is about to call.
[[gnu::always_inline]] inline void fetch_stack() {
  constexpr std::size_t kDeep = 2048;
  fetch_data(static_cast<const char *>(__builtin_frame_address(0)) - kDeep, kDeep);
}

}  // namespace gpulse
