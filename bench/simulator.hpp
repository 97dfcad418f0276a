// SPDX-License-Identifier: Apache-2.0
// The NVML simulator and a stand-in for /proc, as the benchmarks use them.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/temporary_folder.hpp"
#include "test_paths.hpp"

namespace gpulse::bench {

constexpr std::uint32_t kFirstPid = 1'000'000;

// Loaded before the source asks for it by name: the loader then hands out this one.
class Simulator {
 public:
  Simulator() : handle_(::dlopen((kBuildDir + "/sim/libnvidia-ml.so.1").c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) {
      std::fprintf(stderr, "the simulator cannot be loaded: %s\n", ::dlerror());
      std::exit(1);
    }
  }
  Simulator(const Simulator &) = delete;
  Simulator &operator=(const Simulator &) = delete;
  ~Simulator() = default;  // stays loaded: the source may still use it

  // So many H200, a process on each.
  void load(std::uint32_t gpus, bool measured) const {
    std::string text = measured ? "[cost]\ntable = \"h200\"\n" : "";
    text += "[[device]]\nprofile = \"h200\"\ncount = " + std::to_string(gpus) + "\n";
    for (std::uint32_t i = 0; i < gpus; ++i) {
      text += "[[process]]\ndevice = " + std::to_string(i) + "\npid = " + std::to_string(kFirstPid + i) +
              "\nmemory_mib = 1130\nsm = 85\nmemory_util = 22\n";
    }
    if (function<int (*)(const char *)>("gpulse_sim_load")(text.c_str()) != 0) std::exit(1);
  }
  std::uint64_t calls(const char *name) const {
    return function<unsigned long (*)(const char *)>("gpulse_sim_calls")(name);
  }

 private:
  template <class F>
  F function(const char *name) const {
    return reinterpret_cast<F>(::dlsym(handle_, name));
  }

  void *handle_;
};

// The processes of the scenario as /proc would show them: copies of this very process.
inline void make_processes(const TemporaryFolder &folder, std::uint32_t count) {
  const Sysroot machine;
  for (const char *name : {"stat", "status", "cmdline", "cgroup"}) {
    const auto text = machine.read(std::string("/proc/self/") + name).value_or("");
    for (std::uint32_t i = 0; i < count; ++i) {
      folder.write("/proc/" + std::to_string(kFirstPid + i) + "/" + name, text);
    }
  }
  folder.write("/proc/uptime", machine.read("/proc/uptime").value_or(""));
}

}  // namespace gpulse::bench
