// SPDX-License-Identifier: Apache-2.0
#include "source/intel/gt.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.hpp"
#include "metric/state_names.hpp"
#include "source/sysfs/attribute.hpp"
#include "source/sysfs/hwmon.hpp"

namespace gpulse::intel {

namespace {

// "gt1" is 1.
std::optional<int> number_of(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  return parse_integer<int>(name.substr(prefix.size()));
}

std::string if_there(const Sysroot &root, const std::string &path) { return root.exists(path) ? path : std::string(); }

void find_causes(const Sysroot &root, const std::string &folder, std::string_view prefix, Gt &gt) {
  gt.throttle = if_there(root, folder + "/" + (prefix == "reason_" ? "status" : std::string(prefix) + "status"));
  for (const auto &name : root.list(folder)) {
    if (!name.starts_with(prefix) || name.ends_with("_status")) continue;
    gt.causes.push_back({folder + "/" + name, throttle_bits(std::string_view(name).substr(prefix.size()))});
  }
}

// Kernels before 5.18 show one GT, in the card's folder.
Gt old_i915_gt(const Sysroot &root, const std::string &card) {
  Gt gt;
  gt.actual = if_there(root, card + "/gt_act_freq_mhz");
  gt.requested = if_there(root, card + "/gt_cur_freq_mhz");
  gt.highest = if_there(root, card + "/gt_RP0_freq_mhz");
  gt.idle_ms = if_there(root, card + "/power/rc6_residency_ms");
  return gt;
}

std::vector<Gt> find_i915_gts(const Sysroot &root, const drm::Card &card) {
  std::vector<Gt> gts;
  for (const auto &name : root.list(card.folder + "/gt")) {
    const auto number = number_of(name, "gt");
    if (!number) continue;
    const auto folder = card.folder + "/gt/" + name;
    Gt gt;
    gt.number = *number;
    gt.actual = if_there(root, folder + "/rps_act_freq_mhz");
    gt.requested = if_there(root, folder + "/rps_cur_freq_mhz");
    gt.highest = if_there(root, folder + "/rps_RP0_freq_mhz");
    gt.highest_media = if_there(root, folder + "/media_RP0_freq_mhz");
    // With the idle state disabled, an idle time of 0 says nothing.
    if (sysfs::read_word(root, folder + "/rc6_enable") != "0") {
      gt.idle_ms = if_there(root, folder + "/rc6_residency_ms");
      if (gt.idle_ms.empty() && gts.empty()) gt.idle_ms = if_there(root, card.folder + "/power/rc6_residency_ms");
    }
    // The second GT is a second tile on boards that have sensors for each; on others it is for video.
    gt.media = *number > 0 && sysfs::find_hwmon(root, card.device, "i915_" + name).empty();
    find_causes(root, folder, "throttle_reason_", gt);
    gts.push_back(std::move(gt));
  }
  if (gts.empty()) gts.push_back(old_i915_gt(root, card.folder));
  return gts;
}

Gt read_xe_gt(const Sysroot &root, const std::string &folder, int number) {
  Gt gt;
  gt.number = number;
  gt.actual = if_there(root, folder + "/freq0/act_freq");
  gt.requested = if_there(root, folder + "/freq0/cur_freq");
  gt.highest = if_there(root, folder + "/freq0/rp0_freq");
  gt.idle_ms = if_there(root, folder + "/gtidle/idle_residency_ms");
  // "gt0-rc" for render, "gt1-mc" for media.
  const auto name = sysfs::read_word(root, folder + "/gtidle/name");
  gt.media = name.empty() ? root.exists(folder + "/engines/vcs") && !root.exists(folder + "/engines/bcs")
                          : name.ends_with("-mc");
  find_causes(root, folder + "/freq0/throttle", "reason_", gt);
  return gt;
}

// Calls visit(folder, number) for every GT of every tile.
template <class Visit>
void for_each_xe_gt(const Sysroot &root, const drm::Card &card, Visit visit) {
  for (const auto &tile : root.list(card.device)) {
    if (!number_of(tile, "tile")) continue;
    const auto folder = card.device + "/" + tile;
    for (const auto &name : root.list(folder)) {
      if (const auto number = number_of(name, "gt")) visit(folder + "/" + name, *number);
    }
  }
}

}  // namespace

std::uint64_t throttle_bits(std::string_view cause) {
  constexpr auto kPower = state_names::throttle_bit("power cap"), kHeat = state_names::throttle_bit("hw thermal");
  constexpr auto kCurrent = state_names::throttle_bit("current limit"),
                 kSlow = state_names::throttle_bit("hw slowdown");
  // The running average of the temperature (ratl) is one too.
  if (cause == "ratl" || cause.contains("thermal")) return kHeat;
  if (cause == "prochot") return kSlow;
  if (cause.contains("tdc") || cause.contains("iccmax")) return kCurrent;
  if (cause.starts_with("pl") || cause.starts_with("psys")) return kPower;
  return state_names::throttle_bit("other");
}

std::optional<MetricId> engine_metric(std::string_view name) {
  struct Engine {
    std::string_view name;
    MetricId metric;
  };
  constexpr std::array kEngines{
      Engine{"rcs", device_metric("render_utilization_percent")},
      Engine{"ccs", device_metric("compute_utilization_percent")},
      Engine{"bcs", device_metric("copy_utilization_percent")},
      Engine{"vcs", device_metric("video_utilization_percent")},
      Engine{"vecs", device_metric("video_enhance_utilization_percent")},
  };
  const auto stem = name.substr(0, name.find_first_of("0123456789"));
  const auto *const found = std::find_if(kEngines.begin(), kEngines.end(), [&](auto &e) { return e.name == stem; });
  return found == kEngines.end() ? std::nullopt : std::optional(found->metric);
}

std::vector<Gt> find_gts(const Sysroot &root, const drm::Card &card) {
  if (card.driver == kI915) return find_i915_gts(root, card);
  std::vector<Gt> gts;
  for_each_xe_gt(root, card,
                 [&](const std::string &folder, int number) { gts.push_back(read_xe_gt(root, folder, number)); });
  return gts;
}

std::vector<MetricId> find_engines(const Sysroot &root, const drm::Card &card) {
  std::vector<MetricId> engines;
  const auto add = [&](const std::string &folder) {
    for (const auto &name : root.list(folder)) {
      const auto metric = engine_metric(name);
      if (metric && std::find(engines.begin(), engines.end(), *metric) == engines.end()) engines.push_back(*metric);
    }
  };
  if (card.driver == kI915) add(card.folder + "/engine");
  for_each_xe_gt(root, card, [&](const std::string &folder, int) { add(folder + "/engines"); });
  return engines;
}

}  // namespace gpulse::intel
