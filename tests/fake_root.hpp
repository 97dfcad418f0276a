// SPDX-License-Identifier: Apache-2.0
// A folder that stands in for a machine's /proc, /sys and /dev, gone when the test ends.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/sysroot.hpp"

namespace gpulse::test {

class FakeRoot {
 public:
  FakeRoot() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gpulse-root-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  FakeRoot(const FakeRoot &) = delete;
  FakeRoot &operator=(const FakeRoot &) = delete;
  ~FakeRoot() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  Sysroot sysroot() const { return Sysroot(folder_); }

  void write(std::string_view path, std::string_view text) const {
    const auto file = folder_ + std::string(path);
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file) << text;
  }
  void add_gpu(const std::string &pci, std::string_view status = "active") const {
    const auto folder = "/sys/bus/pci/devices/" + pci;
    write(folder + "/vendor", "0x10de\n");
    write(folder + "/class", "0x030200\n");
    write(folder + "/power/runtime_status", std::string(status) + "\n");
  }
  void remove_gpu(const std::string &pci) const {
    std::filesystem::remove_all(folder_ + "/sys/bus/pci/devices/" + pci);
  }

 private:
  std::string folder_;
};

}  // namespace gpulse::test
