// SPDX-License-Identifier: Apache-2.0
// Stands for the driver's library in interpose_test.cpp: its RUNPATH names a folder that nobody else searches, and it
// has variables to clear.
#include <dlfcn.h>

#include <cstddef>
#include <cstring>
#include <ctime>

namespace {

char variables[std::size_t{8} << 20U];

}  // namespace

// Volatile: a call in last place would be a jump, and the caller that libc sees whoever called this function.
extern "C" void *opener_open(const char *file) {
  void *volatile handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  return handle;
}

extern "C" char *opener_variables() { return variables; }

extern "C" void *opener_clear(std::size_t from, std::size_t size) {
  void *volatile cleared = memset(variables + from, 0, size);
  return cleared;
}

extern "C" int opener_sleep(const timespec *time) {
  const volatile int answer = nanosleep(time, nullptr);
  return answer;
}
