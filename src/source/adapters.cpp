// SPDX-License-Identifier: Apache-2.0
#include "source/adapters.hpp"

#include <algorithm>
#include <cctype>
#include <ranges>

namespace gpulse {

namespace {

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() >= digits && std::ranges::all_of(text, [](unsigned char c) { return std::isxdigit(c) != 0; });
}

// 0000:18:00.0
bool is_address(std::string_view name) {
  const auto parts = split(name, ':');
  return parts.size() == 3 && is_hex(parts[0], 4) && is_hex(parts[1], 2) && parts[2].contains('.');
}

// pci0000:15
bool is_root_bus(std::string_view name) {
  const auto parts = split(name, ':');
  return parts.size() == 2 && parts[0].starts_with("pci") && is_hex(parts[0].substr(3), 4) && is_hex(parts[1], 2);
}

// The part of a link into /sys/devices that speaks of the PCI bus.
PciPlace place_at(const Sysroot &root, std::string_view link) {
  PciPlace place;
  for (const auto part : split(link, '/')) {
    if (place.path.empty() ? is_root_bus(part) : is_address(part)) place.path.emplace_back(part);
  }
  if (place.path.size() < 2) return {};
  if (const auto text = root.read("/sys/bus/pci/devices/" + place.path.back() + "/numa_node")) {
    place.numa_node = parse_integer<long>(trim(*text)).value_or(-1);
  }
  return place;
}

// The number at the end of a name, apart from what is before it.
std::pair<std::string_view, unsigned long> numbered(std::string_view name) {
  const auto end = name.find_last_not_of("0123456789") + 1;
  return {name.substr(0, end), parse_integer<unsigned long>(name.substr(end)).value_or(0)};
}

}  // namespace

PciPlace pci_place(const Sysroot &root, std::string_view pci) {
  if (!is_address(pci)) return {};
  const auto link = root.read_link("/sys/bus/pci/devices/" + std::string(pci));
  return link ? place_at(root, *link) : PciPlace{};
}

std::vector<NetworkAdapter> network_adapters(const Sysroot &root) {
  constexpr std::string_view kFolder = "/sys/class/infiniband";
  auto names = root.list(kFolder);
  std::ranges::sort(names, {}, [](const std::string &name) { return numbered(name); });
  std::vector<NetworkAdapter> adapters;
  for (const auto &name : names) {
    const auto link = root.read_link(std::string(kFolder) + "/" + name);
    auto place = link ? place_at(root, *link) : PciPlace{};
    if (!place.path.empty()) adapters.push_back({name, std::move(place)});
  }
  return adapters;
}

std::string_view path_between(const PciPlace &one, const PciPlace &other) {
  if (one.path.empty() || other.path.empty()) return "N/A";
  const auto common = static_cast<std::size_t>(std::ranges::mismatch(one.path, other.path).in1 - one.path.begin());
  if (common == 0) return one.numa_node == other.numa_node ? "NODE" : "SYS";
  if (common == 1) return "PHB";
  // A switch shows as one bridge towards the host and one towards each device.
  const auto below = std::max(one.path.size(), other.path.size()) - common;
  return below <= 2 ? "PIX" : "PXB";
}

}  // namespace gpulse
