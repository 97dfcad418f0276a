// SPDX-License-Identifier: Apache-2.0
#include "source/drm/pcie_link.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/text.hpp"
#include "model/plausible.hpp"
#include "source/sysfs/attribute.hpp"

namespace gpulse::drm {

namespace {

constexpr std::size_t kMaxText = 4096;
constexpr std::uint32_t kIntel = 0x8086, kAmd = 0x1002;
// A switch has an upstream and a downstream port. A third bridge of the same vendor is the machine's own port.
constexpr int kMaxBridges = 2;

// The folder with all symbolic links resolved, as a path below the root; empty when it leads out of it.
std::string real_folder(const Sysroot &root, const std::string &folder) {
  std::error_code error;
  const auto top = root.is_machine() ? std::string() : std::filesystem::canonical(root.path(""), error).string();
  if (error) return {};
  auto real = std::filesystem::canonical(root.path(folder), error).string();
  if (error || !real.starts_with(top + "/sys/")) return {};
  return real.substr(top.size());
}

// The bridge above the folder; empty when there is none.
std::string bridge_above(const Sysroot &root, const std::string &folder) {
  auto parent = folder.substr(0, folder.rfind('/'));
  return sysfs::read_word(root, parent + "/class").starts_with("0x0604") ? parent : std::string();
}

bool is_made_by(const Sysroot &root, const std::string &folder, std::uint32_t vendor) {
  const auto text = sysfs::read_word(root, folder + "/vendor");
  return text.starts_with("0x") && parse_integer<std::uint32_t>(std::string_view(text).substr(2), 16) == vendor;
}

// What an Intel card reports behind its own switch, whatever the real link is.
bool is_made_up(const Sysroot &root, const std::string &folder) {
  return parse_pcie_generation(sysfs::read_word(root, folder + "/current_link_speed")) == 1 &&
         sysfs::read_word(root, folder + "/current_link_width") == "1";
}

Reading read_generation(const Sysroot &root, const std::string &path, std::string &buffer) {
  if (!root.read_into(buffer, path, kMaxText)) return sysfs::refusal_of_device(errno);
  const auto generation = parse_pcie_generation(sysfs::bare(buffer));
  return generation ? Reading(*generation) : Reason::not_supported;
}

Reading read_width(const Sysroot &root, const std::string &path, std::string &buffer) {
  constexpr int kMaxLanes = 32;
  if (!root.read_into(buffer, path, kMaxText)) return sysfs::refusal_of_device(errno);
  const auto lanes = parse_integer<int>(sysfs::bare(buffer));
  if (!lanes) return Reason::error;
  // 0 and 255 stand for "unknown".
  return *lanes >= 1 && *lanes <= kMaxLanes ? Reading(*lanes) : Reason::not_supported;
}

// What both ends support; if one is unknown, what the other does.
Reading both(Reading here, Reading there) {
  return here && there ? Reading(std::min(here.value(), there.value())) : here;
}

}  // namespace

std::optional<int> parse_pcie_generation(std::string_view text) {
  constexpr std::array kSpeeds{2.5, 5.0, 8.0, 16.0, 32.0, 64.0};
  const auto words = split_words(text);
  if (words.size() < 2 || words[1] != "GT/s") return std::nullopt;
  const auto speed = parse_double(words[0]);
  if (!speed) return std::nullopt;
  const auto *const found = std::find(kSpeeds.begin(), kSpeeds.end(), *speed);
  if (found == kSpeeds.end()) return std::nullopt;
  return static_cast<int>(found - kSpeeds.begin()) + 1;
}

std::optional<double> parse_pcie_errors(std::string_view text) {
  while (!text.empty()) {
    auto line = next_piece(text, '\n');
    const auto word = next_piece(line, ' ');
    if (!word.starts_with("TOTAL_ERR_")) continue;
    const auto count = parse_integer<std::uint64_t>(sysfs::bare(line));
    return count ? std::optional(static_cast<double>(*count)) : std::nullopt;
  }
  return std::nullopt;
}

PcieLink find_pcie_link(const Sysroot &root, const Card &card) {
  PcieLink link{.folder = card.device, .slot = {}, .device = card.device};
  const auto real = real_folder(root, card.device);
  const bool made_up = card.vendor == kIntel && is_made_up(root, card.device);
  auto above = real.empty() ? std::string() : bridge_above(root, real);
  if (made_up || card.vendor == kAmd) {
    int passed = 0;
    for (; passed < kMaxBridges && !above.empty() && is_made_by(root, above, card.vendor); ++passed) {
      link.folder = above;
      above = bridge_above(root, above);
    }
    if (made_up && passed == 0) return {.folder = {}, .slot = {}, .device = card.device};
  }
  link.slot = std::move(above);
  return link;
}

void read_pcie_link(const Sysroot &root, const PcieLink &link, Row &row, std::string &buffer) {
  if (link.folder.empty()) {
    for (const auto id : kPcieLinkMetrics) row[id] = Reason::not_supported;
    return;
  }
  row[device_metric("pcie_link_generation")] = read_generation(root, link.folder + "/current_link_speed", buffer);
  row[device_metric("pcie_link_width")] = read_width(root, link.folder + "/current_link_width", buffer);
  auto generation = read_generation(root, link.folder + "/max_link_speed", buffer);
  auto width = read_width(root, link.folder + "/max_link_width", buffer);
  row[device_metric("pcie_link_generation_device_max")] = generation;
  if (!link.slot.empty()) {
    generation = both(generation, read_generation(root, link.slot + "/max_link_speed", buffer));
    width = both(width, read_width(root, link.slot + "/max_link_width", buffer));
  }
  row[device_metric("pcie_link_generation_max")] = generation;
  row[device_metric("pcie_link_width_max")] = width;
}

void read_pcie_errors(const Sysroot &root, const PcieLink &link, Row &row, std::string &buffer) {
  constexpr std::array<std::string_view, 3> kFiles{"/aer_dev_correctable", "/aer_dev_nonfatal", "/aer_dev_fatal"};
  static_assert(kFiles.size() == kPcieErrorMetrics.size());
  for (std::size_t i = 0; i < kFiles.size(); ++i) {
    auto &reading = row[kPcieErrorMetrics[i]];
    if (!root.read_into(buffer, link.device + std::string(kFiles[i]), kMaxText)) {
      reading = sysfs::refusal_of_device(errno);
      continue;
    }
    const auto count = parse_pcie_errors(sysfs::bare(buffer));
    reading = count ? plausible(kPcieErrorMetrics[i], *count) : Reason::error;
  }
}

}  // namespace gpulse::drm
