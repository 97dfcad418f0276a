// SPDX-License-Identifier: Apache-2.0
#include "source/host/hardware.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace gpulse::host {

namespace {

using namespace std::string_view_literals;

constexpr std::array kVirtualDisks{"loop"sv, "ram"sv, "dm-"sv, "md"sv, "zram"sv, "sr"sv, "fd"sv};
constexpr std::array kVirtualInterfaces{"docker"sv,  "veth"sv, "br-"sv, "virbr"sv, "cni"sv,
                                        "flannel"sv, "tun"sv,  "tap"sv, "dummy"sv};

template <std::size_t N>
bool starts_with_any(std::string_view name, const std::array<std::string_view, N> &prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return name.starts_with(p); });
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// sda1 next to sda, nvme0n1p1 next to nvme0n1. An xvda1 alone, as in some clouds, is a disk.
bool is_partition_by_name(std::string_view name, std::span<const Flow> listed) {
  auto disk = name;
  while (!disk.empty() && is_digit(disk.back())) disk.remove_suffix(1);
  if (disk.size() == name.size()) return false;
  if (disk.size() > 1 && disk.back() == 'p' && is_digit(disk[disk.size() - 2])) disk.remove_suffix(1);
  return std::any_of(listed.begin(), listed.end(), [&](const Flow &flow) { return flow.name == disk; });
}

}  // namespace

bool is_whole_disk(const Sysroot &root, std::string_view name, std::span<const Flow> listed) {
  if (starts_with_any(name, kVirtualDisks)) return false;
  if (!root.exists("/sys/block")) return !is_partition_by_name(name, listed);
  std::string folder = "/sys/block/" + std::string(name);
  // In /sys cciss/c0d0 is called cciss!c0d0.
  std::replace(folder.begin() + sizeof "/sys/block", folder.end(), '/', '!');
  if (!root.exists(folder)) return false;
  // The single paths of a multipath disk are marked as hidden.
  if (root.read_number(folder + "/hidden").value_or(0) != 0) return false;
  return root.list(folder + "/slaves").empty();
}

bool is_physical_interface(const Sysroot &root, std::string_view name) {
  if (name == "lo") return false;
  if (const auto device = root.read_link("/sys/class/net/" + std::string(name))) {
    return device->find("/devices/virtual/") == std::string::npos;
  }
  return !starts_with_any(name, kVirtualInterfaces);
}

}  // namespace gpulse::host
