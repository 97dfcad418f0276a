// SPDX-License-Identifier: Apache-2.0
// Part of the gpulse program itself, not of a library: the program's own symbols come before those of libc, also for
// the driver's library. Outside of a Hurry both do exactly what libc's do.
#include <dlfcn.h>

#include <cerrno>
#include <ctime>
#include <string_view>

#include "source/nvml/hurry.hpp"

extern "C" __attribute__((visibility("default"))) void *dlopen(const char *file, int mode) noexcept {
  using Open = void *(*)(const char *, int);
  static const auto open = reinterpret_cast<Open>(::dlsym(RTLD_NEXT, "dlopen"));
  if (gpulse::nvml::Hurry::active && file != nullptr && std::string_view(file).starts_with("libcuda.so")) {
    return nullptr;
  }
  return open(file, mode);
}

extern "C" __attribute__((visibility("default"))) int nanosleep(const timespec *time, timespec *left) {
  constexpr timespec kShort{.tv_sec = 0, .tv_nsec = 10'000};
  const bool shorten = gpulse::nvml::Hurry::active && (time->tv_sec > 0 || time->tv_nsec > kShort.tv_nsec);
  const int error = ::clock_nanosleep(CLOCK_REALTIME, 0, shorten ? &kShort : time, left);
  if (error == 0) return 0;
  errno = error;
  return -1;
}
