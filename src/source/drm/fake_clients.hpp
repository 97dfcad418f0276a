// SPDX-License-Identifier: Apache-2.0
// Test support: a made-up /proc whose processes have device nodes open.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/temporary_folder.hpp"

namespace gpulse::drm {

class FakeClients {
 public:
  FakeClients() { folder_.make_folder("/proc"); }

  Sysroot root() const { return folder_.root(); }
  const TemporaryFolder &folder() const { return folder_; }

  void start(std::uint32_t pid, std::uint64_t start_ticks) const {
    folder_.write(fmt::format("/proc/{}/stat", pid),
                  fmt::format("{} (program) S 1 1 1 0 -1 0 0 0 0 0 5 5 0 0 20 0 1 0 {} 0 100\n", pid, start_ticks));
    folder_.make_folder(fmt::format("/proc/{}/fd", pid));
  }
  void end(std::uint32_t pid) const { folder_.remove(fmt::format("/proc/{}", pid)); }

  void open(std::uint32_t pid, std::uint32_t fd, std::string_view node, std::string_view fdinfo) const {
    close(pid, fd);
    folder_.link(fmt::format("/proc/{}/fd/{}", pid, fd), node);
    tell(pid, fd, fdinfo);
  }
  void tell(std::uint32_t pid, std::uint32_t fd, std::string_view fdinfo) const {
    folder_.write(fmt::format("/proc/{}/fdinfo/{}", pid, fd), fdinfo);
  }
  void close(std::uint32_t pid, std::uint32_t fd) const {
    folder_.remove(fmt::format("/proc/{}/fd/{}", pid, fd));
    folder_.remove(fmt::format("/proc/{}/fdinfo/{}", pid, fd));
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace gpulse::drm
