// SPDX-License-Identifier: Apache-2.0
// Shortens the driver library's start. Three functions that the gpulse program exports come before libc's
// (interpose.cpp); a program that does not link them starts at the usual pace.
//
// Measured on an H200 with driver 580, where init and the first handle take 22 ms:
// - 8 ms go into clearing 14 MB of variables, most of which are never used. Large ranges of them are given back to the
//   kernel instead, and then read as zero (zeroed_memory.hpp).
// - 3 ms go into loading libcuda, which is needed for nothing but the CUDA version.
// - 5 ms are a sleep between two readings of the device's clock, which makes the time stamps of sample buffers exact.
// A command that reads once and exits needs neither of the last two. While a FastStart lives, and on its thread only,
// the library's dlopen("libcuda…") fails as it does in a container without CUDA, and its sleeps are short. Commands
// that show the CUDA version ask for it on another thread meanwhile (cuda_version.hpp).
#pragma once

namespace gpulse::nvml {

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
