// SPDX-License-Identifier: Apache-2.0
#include "source/host/cgroup_pressure.hpp"

#include <fmt/format.h>

#include <cerrno>

#include "source/api/errno_reason.hpp"
#include "source/host/parse.hpp"
#include "source/host/process_text.hpp"

namespace gpulse::host {

namespace {

constexpr auto kGroupHolds = std::chrono::seconds(10);

struct PressureFile {
  std::string_view name;
  MetricId metric;
};
constexpr std::array kFiles{PressureFile{"cpu.pressure", process_metric("cgroup_pressure_cpu_percent")},
                            PressureFile{"io.pressure", process_metric("cgroup_pressure_io_percent")},
                            PressureFile{"memory.pressure", process_metric("cgroup_pressure_memory_percent")}};

// Version 2 has the whole folder, or a part of it beside the controllers of version 1.
std::string_view mount_of_groups(const Sysroot &root) {
  return root.exists("/sys/fs/cgroup/cgroup.controllers") ? "/sys/fs/cgroup" : "/sys/fs/cgroup/unified";
}

}  // namespace

void CgroupPressure::find_group(const Sysroot &root, std::uint32_t pid) {
  std::string folder;
  const bool readable = root.read_into(text_, fmt::format("/proc/{}/cgroup", pid));
  if (const auto group = readable ? parse_unified_cgroup(text_) : std::nullopt) {
    folder = fmt::format("{}{}", mount_of_groups(root), *group == "/" ? "" : *group);
  }
  if (folder == folder_) return;
  folder_ = std::move(folder);
  for (auto &file : files_) file.forget();
}

void CgroupPressure::read(const Sysroot &root, std::uint32_t pid, Monotonic now) {
  if (!found_ || now - *found_ >= kGroupHolds) {
    find_group(root, pid);
    found_ = now;
  }
  for (std::size_t i = 0; i < kFiles.size(); ++i) {
    if (folder_.empty()) {
      readings_.at(i) = Reason::not_supported;
    } else if (!files_.at(i).read(text_, root, fmt::format("{}/{}", folder_, kFiles.at(i).name))) {
      readings_.at(i) = errno_reason(errno);
    } else {
      const auto pressure = parse_pressure(text_);
      readings_.at(i) = pressure ? Reading(pressure->some_percent) : Reading(Reason::error);
    }
  }
}

void CgroupPressure::answer(Row &process) const {
  for (std::size_t i = 0; i < kFiles.size(); ++i) process[kFiles.at(i).metric] = readings_.at(i);
}

}  // namespace gpulse::host
