// SPDX-License-Identifier: Apache-2.0
#include "source/drm/names.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/text.hpp"

namespace gpulse::drm {

namespace {

constexpr std::size_t kMaxTable = 16U << 20U;
constexpr std::uint32_t kAmd = 0x1002;

std::optional<std::uint32_t> parse_id(std::string_view text) {
  return text.size() > 4 ? std::nullopt : parse_integer<std::uint32_t>(text, 16);
}

// The name in "744c  Navi 31 [Radeon …]", when the line has that id.
std::optional<std::string_view> name_of(std::string_view line, std::uint32_t id) {
  if (line.size() < 5 || line[4] != ' ' || parse_id(line.substr(0, 4)) != id) return std::nullopt;
  return trim(line.substr(4));
}

// The same for "148c 2427  RX 7800 XT", with two ids.
std::optional<std::string_view> name_of(std::string_view line, std::uint32_t first, std::uint32_t second) {
  const auto rest = name_of(line, first);
  return rest ? name_of(*rest, second) : std::nullopt;
}

// The vendor's lines of pci.ids. No map: most of its 40,000 lines are for hardware that is not here.
std::string_view vendor_part(std::string_view table, std::uint32_t vendor, std::string_view &name) {
  const auto id = fmt::format("{:04x}", vendor);
  for (std::size_t at = 0; at < table.size();) {
    const auto end = std::min(table.find('\n', at), table.size());
    const auto line = table.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(id)) continue;
    const auto found = name_of(line, vendor);
    if (!found) continue;
    name = *found;
    const auto rest = table.substr(std::min(at, table.size()));
    for (std::size_t stop = 0; stop < rest.size(); stop = std::min(rest.find('\n', stop), rest.size() - 1) + 1) {
      const char first = rest[stop];
      if (first != '\t' && first != '#' && first != '\n') return rest.substr(0, stop);
    }
    return rest;
  }
  return {};
}

// "Navi 31 [Radeon RX 7900 XTX]": the chip, and the product in brackets.
std::string_view readable(std::string_view name) {
  const auto open = name.find('[');
  const auto close = name.rfind(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close <= open + 1) return name;
  return trim(name.substr(open + 1, close - open - 1));
}

}  // namespace

std::string_view find_amd_name(std::string_view table, std::uint32_t product, std::uint32_t revision) {
  while (!table.empty()) {
    auto line = next_piece(table, '\n');
    if (line.starts_with('#')) continue;
    if (parse_id(trim(next_piece(line, ','))) != product) continue;
    if (parse_id(trim(next_piece(line, ','))) != revision) continue;
    return trim(line);
  }
  return {};
}

PciNames find_pci_names(std::string_view table, std::uint32_t vendor, std::uint32_t product, std::uint32_t subvendor,
                        std::uint32_t subproduct) {
  PciNames names;
  auto part = vendor_part(table, vendor, names.vendor);
  bool inside = false;
  while (!part.empty()) {
    auto line = next_piece(part, '\n');
    if (!line.starts_with('\t')) continue;
    line.remove_prefix(1);
    const bool deeper = line.starts_with('\t');
    if (!deeper) {
      if (inside) break;
      const auto device = name_of(line, product);
      inside = device.has_value();
      if (inside) names.device = *device;
    } else if (inside) {
      if (const auto found = name_of(line.substr(1), subvendor, subproduct)) names.subsystem = *found;
    }
  }
  return names;
}

std::string vendor_word(std::uint32_t vendor) {
  constexpr std::array<std::pair<std::uint32_t, std::string_view>, 6> kWords{{{kAmd, "AMD"},
                                                                              {0x8086, "Intel"},
                                                                              {0x10de, "NVIDIA"},
                                                                              {0x1da3, "Habana"},
                                                                              {0x1e52, "Tenstorrent"},
                                                                              {0x1af4, "Red Hat"}}};
  for (const auto &[id, word] : kWords) {
    if (id == vendor) return std::string(word);
  }
  return fmt::format("{:04x}", vendor);
}

std::optional<std::string> Names::read_table(std::string_view path) const {
  // A recorded machine seldom has the tables, but ids mean the same everywhere.
  auto text = root_.read(path, kMaxTable);
  return text ? std::move(text) : Sysroot().read(path, kMaxTable);
}

std::string Names::from_pci_table(const Card &card) const {
  for (const std::string_view path : {"/usr/share/hwdata/pci.ids", "/usr/share/misc/pci.ids"}) {
    const auto table = read_table(path);
    if (!table) continue;
    const auto names = find_pci_names(*table, card.vendor, card.product, card.subvendor, card.subproduct);
    auto name = readable(names.device);
    // When one id covers several products, the subsystem id may tell which it is.
    if (name.contains('/') && !names.subsystem.empty()) name = names.subsystem;
    if (!name.empty()) return std::string(name);
  }
  return {};
}

std::string Names::look_up(const Card &card) const {
  if (card.vendor == kAmd && card.revision) {
    const auto table = read_table("/usr/share/libdrm/amdgpu.ids");
    const auto name = table ? find_amd_name(*table, card.product, *card.revision) : std::string_view();
    if (!name.empty()) return std::string(name);
  }
  return from_pci_table(card);
}

std::string Names::product(const Card &card, std::string_view hint) {
  if (card.vendor == 0) return hint.empty() ? card.driver : std::string(hint);
  const auto key = fmt::format("{:x}:{:x}:{:x}:{:x}:{:x}", card.vendor, card.product, card.revision.value_or(0x100),
                               card.subvendor, card.subproduct);
  const auto [known, is_new] = known_.try_emplace(key);
  if (is_new) known->second = look_up(card);
  const auto vendor = vendor_word(card.vendor);
  if (!known->second.empty()) {
    return known->second.starts_with(vendor) ? known->second : vendor + " " + known->second;
  }
  if (!hint.empty()) return std::string(hint);
  return fmt::format("{} GPU {:04x}:{:04x}", vendor, card.vendor, card.product);
}

}  // namespace gpulse::drm
