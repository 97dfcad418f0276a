// SPDX-License-Identifier: Apache-2.0
#include "base/hot_code.hpp"

// Both ends, from cmake/hot_code.ld; null in programs that are linked without it.
extern "C" {
[[gnu::weak, gnu::visibility("hidden")]] extern const char gpulse_hot_begin[];  // NOLINT(*-avoid-c-arrays)
[[gnu::weak, gnu::visibility("hidden")]] extern const char gpulse_hot_end[];    // NOLINT(*-avoid-c-arrays)
}

namespace gpulse {

[[gnu::hot]] void fetch_hot_code() {
  constexpr int kLine = 64;
  // The second level is near enough, and large enough.
  for (const char *at = gpulse_hot_begin; at < gpulse_hot_end; at += kLine) __builtin_prefetch(at, 0, 2);
}

}  // namespace gpulse
