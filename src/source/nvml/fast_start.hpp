// SPDX-License-Identifier: Apache-2.0
// Shortens the driver library's start, by three functions that the program puts before libc's (interpose.cpp); one
// that does not link them starts at the usual pace.
//
// Measured on an H200, driver 580: of the 22 ms that init and the first handle take, 8 ms go into clearing 14 MB of
// variables, most of which are never used: large stretches of them are given back to the kernel instead, and read as
// zero just so. 3 ms go into loading libcuda, which is needed for nothing but the CUDA version, and 5 ms into a sleep
// between two looks at the device's clock, which makes the time stamps of sample buffers exact. A command that reads
// once and is gone needs neither: while a FastStart lives, on its thread only, the library's dlopen("libcuda…") fails,
// as it does in a container without CUDA, and its sleeps are short. Where the CUDA version is shown, cuda_version.hpp
// asks for it meanwhile.
#pragma once

#include <atomic>
#include <cstdint>

namespace gpulse::nvml {

// The whole pages of the library's variables that start as zero; empty while none is loaded.
struct ZeroedMemory {
  std::atomic<std::uintptr_t> begin{0}, end{0};
};
extern ZeroedMemory zeroed_memory;

class FastStart {
 public:
  explicit FastStart(bool wanted) : before_(active) { active = wanted; }
  FastStart(const FastStart &) = delete;
  FastStart &operator=(const FastStart &) = delete;
  ~FastStart() { active = before_; }

  static thread_local bool active;

 private:
  bool before_;
};

}  // namespace gpulse::nvml
