// SPDX-License-Identifier: Apache-2.0
// Test support: the simulator's library, loaded by path as any NVML client would, once for the whole program.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "source/nvml/abi.hpp"
#include "test_paths.hpp"

namespace gpulse::sim {

using namespace gpulse::nvml;

inline constexpr std::uint64_t kMib = 1048576;

class Library {
 public:
  Library() {
    setenv("GPULSE_SIM_SCENARIO", "single", 1);
    handle_ = dlopen((kBuildDir + "/sim/libnvidia-ml.so.1").c_str(), RTLD_NOW | RTLD_LOCAL);
  }

  [[nodiscard]] void *symbol(const char *name) const { return dlsym(handle_, name); }

  template <class R = Return, class... Args>
  R call(const char *name, Args... args) const {
    auto *function = reinterpret_cast<R (*)(Args...)>(symbol(name));
    if (function == nullptr) {
      ADD_FAILURE() << name << " is missing";
      return R();
    }
    return function(args...);
  }

 private:
  void *handle_ = nullptr;
};

inline const Library &library() {
  static const Library instance;
  return instance;
}

template <class... Args>
Return nvml(const char *name, Args... args) {
  return library().call(name, args...);
}

inline bool has(const char *name) { return library().symbol(name) != nullptr; }

class Sim : public testing::Test {
 protected:
  void TearDown() override {
    library().call<void>("gpulse_sim_clear");
    while (nvml("nvmlShutdown") == Return::success) {
    }
  }

  static void start(const std::string &toml) {
    ASSERT_EQ(library().call<int>("gpulse_sim_load", toml.c_str()), 0) << error();
    at(0);
    ASSERT_EQ(nvml("nvmlInit_v2"), Return::success);
  }
  static std::string error() { return library().call<const char *>("gpulse_sim_error"); }
  static void at(double seconds) { library().call<void>("gpulse_sim_set_time", seconds); }
  static void fault(const char *name, int device, int code) {
    library().call<void>("gpulse_sim_fault", name, device, code);
  }
  static Handle gpu(std::uint32_t index = 0) {
    Handle handle = nullptr;
    EXPECT_EQ(nvml("nvmlDeviceGetHandleByIndex_v2", index, &handle), Return::success);
    return handle;
  }
  static Return power(Handle device, std::uint32_t &milliwatts) {
    return nvml("nvmlDeviceGetPowerUsage", device, &milliwatts);
  }
};

inline const std::string kH200 = "[[device]]\nprofile = \"h200\"\n";
inline const std::string kTwoProcesses =
    "[[process]]\npid = 11\nmemory_mib = 100\nsm = 7\n"
    "[[process]]\npid = 12\nmemory_mib = 200\nprotected_mib = 3\nfrom = 5\nuntil = 9\n";

}  // namespace gpulse::sim
