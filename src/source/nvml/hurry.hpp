// SPDX-License-Identifier: Apache-2.0
// Shortens the driver library's start for a command that reads once and is gone.
//
// Measured on an H200, driver 580: of the 22 ms that init and the first handle take, 3 ms go into loading libcuda,
// which is needed for nothing but the CUDA version, and 5 ms into a sleep between two looks at the device's clock,
// which makes the time stamps of sample buffers exact. A quick look reads neither. While a Hurry lives, on its thread
// only, the library's dlopen("libcuda…") fails, as it does in a container without CUDA, and its sleeps are short.
// interpose.cpp has the two functions; a program that does not link it starts at the usual pace.
#pragma once

namespace gpulse::nvml {

class Hurry {
 public:
  explicit Hurry(bool wanted) : before_(active) { active = wanted; }
  Hurry(const Hurry &) = delete;
  Hurry &operator=(const Hurry &) = delete;
  ~Hurry() { active = before_; }

  static thread_local bool active;

 private:
  bool before_;
};

}  // namespace gpulse::nvml
