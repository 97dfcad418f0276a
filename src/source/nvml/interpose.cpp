// SPDX-License-Identifier: Apache-2.0
// Part of the gpulse program itself, not of a library: the program's own symbols come before those of libc, also for
// the driver's library. dlopen() and nanosleep() do exactly what libc's do outside of a FastStart, memset() always
// does.
#include <dlfcn.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <string_view>

#include "source/nvml/fast_start.hpp"

namespace {

using Open = void *(*)(const char *, int);
using Set = void *(*)(void *, int, std::size_t);

constinit Open libc_dlopen = nullptr;
constinit Set libc_memset = nullptr;

// Before main(): looking a symbol up takes the loader's lock, which another thread may hold and call memset() under.
__attribute__((constructor)) void find_libc() {
  libc_dlopen = reinterpret_cast<Open>(::dlsym(RTLD_NEXT, "dlopen"));
  libc_memset = reinterpret_cast<Set>(::dlsym(RTLD_NEXT, "memset"));
}

// For whoever starts earlier.
void *set_bytes(void *to, int value, std::size_t size) {
  volatile auto *bytes = static_cast<unsigned char *>(to);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>(value);
  return to;
}

// Private memory that was given back reads as zero from then on.
bool give_back(std::uintptr_t begin, std::uintptr_t end) {
  return ::madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED) == 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void *dlopen(const char *file, int mode) noexcept {
  if (gpulse::nvml::FastStart::active && file != nullptr && std::string_view(file).starts_with("libcuda.so")) {
    return nullptr;
  }
  return libc_dlopen(file, mode);
}

extern "C" __attribute__((visibility("default"))) int nanosleep(const timespec *time, timespec *left) {
  constexpr timespec kShort{.tv_sec = 0, .tv_nsec = 10'000};
  const bool shorten = gpulse::nvml::FastStart::active && (time->tv_sec > 0 || time->tv_nsec > kShort.tv_nsec);
  const int error = ::clock_nanosleep(CLOCK_REALTIME, 0, shorten ? &kShort : time, left);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

extern "C" __attribute__((visibility("default"))) void *memset(void *to, int value, std::size_t size) {
  constexpr std::size_t kMuch = std::size_t{1} << 20U;
  constexpr std::uintptr_t kPage = 4096;
  const auto set = libc_memset != nullptr ? libc_memset : set_bytes;
  if (size < kMuch || value != 0) return set(to, value, size);
  const auto &known = gpulse::nvml::zeroed_memory;
  const auto from = reinterpret_cast<std::uintptr_t>(to);
  const auto begin = (from + kPage - 1) & ~(kPage - 1);
  const auto end = (from + size) & ~(kPage - 1);
  if (begin < known.begin || end > known.end || !give_back(begin, end)) return set(to, value, size);
  set(to, 0, begin - from);
  set(reinterpret_cast<void *>(end), 0, from + size - end);
  return to;
}
