// SPDX-License-Identifier: Apache-2.0
// Preloaded into the agent: a disk that hangs. Writes and flushes of files named history.db… wait for as long as the
// file GPULSE_SLOW_DISK is there.
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

bool is_of_history(int file) {
  std::array<char, 64> link{};
  std::array<char, PATH_MAX> name{};
  std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", file);
  const auto length = ::readlink(link.data(), name.data(), name.size());
  return length > 0 &&
         std::string_view(name.data(), static_cast<std::size_t>(length)).find("/history.db") != std::string_view::npos;
}

void wait_for_disk(int file) {
  const char *sign = std::getenv("GPULSE_SLOW_DISK");
  if (sign == nullptr || !is_of_history(file)) return;
  constexpr useconds_t kOften = 10'000;
  while (::access(sign, F_OK) == 0) ::usleep(kOften);
}

template <class Call>
Call real(const char *name) {
  return reinterpret_cast<Call>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int fsync(int file) {
  wait_for_disk(file);
  return real<int (*)(int)>("fsync")(file);
}

__attribute__((visibility("default"))) int fdatasync(int file) {
  wait_for_disk(file);
  return real<int (*)(int)>("fdatasync")(file);
}

__attribute__((visibility("default"))) ssize_t pwrite64(int file, const void *data, std::size_t size, off64_t place) {
  wait_for_disk(file);
  return real<ssize_t (*)(int, const void *, std::size_t, off64_t)>("pwrite64")(file, data, size, place);
}

__attribute__((visibility("default"))) ssize_t pwrite(int file, const void *data, std::size_t size, off_t place) {
  wait_for_disk(file);
  return real<ssize_t (*)(int, const void *, std::size_t, off_t)>("pwrite")(file, data, size, place);
}

}  // extern "C"
