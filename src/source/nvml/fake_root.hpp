// SPDX-License-Identifier: Apache-2.0
// Test support: a temporary folder that stands in for a machine with NVIDIA GPUs on its bus.
#pragma once

#include <string>
#include <string_view>

#include "base/temporary_folder.hpp"

namespace gpulse::test {

class FakeRoot {
 public:
  Sysroot sysroot() const { return folder_.root(); }

  void write(std::string_view path, std::string_view text) const { folder_.write(path, text); }
  void link(std::string_view path, std::string_view target) const { folder_.link(path, target); }
  void add_gpu(const std::string &pci, std::string_view status = "active") const {
    const auto folder = "/sys/bus/pci/devices/" + pci;
    write(folder + "/vendor", "0x10de\n");
    write(folder + "/class", "0x030200\n");
    write(folder + "/power/runtime_status", std::string(status) + "\n");
  }
  void remove_gpu(const std::string &pci) const { folder_.remove("/sys/bus/pci/devices/" + pci); }

 private:
  TemporaryFolder folder_;
};

}  // namespace gpulse::test
