// SPDX-License-Identifier: Apache-2.0
// A folder that a test fills to stand for a machine's /proc and /sys; gone with the object.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/sysroot.hpp"

namespace gpulse {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "gpulse-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  // Paths are absolute, as on the machine the folder stands for.
  std::string path(std::string_view absolute = "") const { return path_ + std::string(absolute); }
  Sysroot root() const { return Sysroot(path_); }

  void write(std::string_view absolute, std::string_view text) const {
    make_folder(std::filesystem::path(absolute).parent_path().string());
    std::ofstream(path(absolute), std::ios::binary) << text;
  }
  void make_folder(std::string_view absolute) const { std::filesystem::create_directories(path(absolute)); }
  void link(std::string_view absolute, std::string_view target) const {
    make_folder(std::filesystem::path(absolute).parent_path().string());
    std::filesystem::create_symlink(target, path(absolute));
  }
  void remove(std::string_view absolute) const { std::filesystem::remove_all(path(absolute)); }

 private:
  std::string path_;
};

}  // namespace gpulse
