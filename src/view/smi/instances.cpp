// SPDX-License-Identifier: Apache-2.0
#include "view/smi/instances.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "model/nvml_error.hpp"

namespace gpulse::view::smi {

namespace {

std::string line(std::size_t width) { return "+" + std::string(width - 2, '-') + "+\n"; }

constexpr std::size_t kProfileWidth = 81;
constexpr std::string_view kProfileHead =
    "| GPU instance profiles:                                                        |\n"
    "| GPU   Name               ID    Instances   Memory     P2P    SM    DEC   ENC  |\n"
    "|                                Free/Total   GiB              CE    JPEG  OFA  |\n"
    "|===============================================================================|\n";

constexpr std::size_t kInstanceWidth = 59;
constexpr std::string_view kInstanceHead =
    "| GPU instances:                                          |\n"
    "| GPU   Name               Profile  Instance   Placement  |\n"
    "|                            ID       ID       Start:Size |\n"
    "|=========================================================|\n";

constexpr std::size_t kComputeWidth = 70;
constexpr std::string_view kComputeHead =
    "| Compute instances:                                                 |\n"
    "| GPU     GPU       Name             Profile   Instance   Placement  |\n"
    "|       Instance                       ID        ID       Start:Size |\n"
    "|         ID                                                         |\n"
    "|====================================================================|\n";

constexpr std::size_t kComputeProfileWidth = 88;
constexpr std::string_view kComputeProfileHead =
    "| Compute instance profiles:                                                           |\n"
    "| GPU     GPU       Name             Profile  Instances   Exclusive       Shared       |\n"
    "|       Instance                       ID     Free/Total     SM       DEC   ENC   OFA  |\n"
    "|         ID                                                          CE    JPEG       |\n"
    "|======================================================================================|\n";

std::string free_of(const InstanceProfile &profile) {
  return fmt::format("{}/{}", profile.free ? fmt::format("{:.0f}", profile.free.value()) : std::string(kNotAvailable),
                     profile.count);
}

std::string profile_row(const Device &device, const InstanceProfile &profile) {
  constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
  // The driver's tool cuts after two digits: 19.625 is 19.62.
  const auto memory = std::floor(profile.memory_bytes / kGib * 100 + 1e-6) / 100;
  return fmt::format("| {:>3}  MIG {:<14}  {:>2}     {:<9}  {:<9}  {:<5}  {:<5}  {:<4}  {:<4}|\n", device.id.index,
                     profile.name.str(), profile.id, free_of(profile), fmt::format("{:.2f}", memory),
                     profile.peer_to_peer ? "Yes" : "No", profile.processors, profile.decoders, profile.encoders) +
         fmt::format("|{:62} {:<5} {:<5} {:<4}|\n", "", profile.copy_engines, profile.jpegs, profile.ofas);
}

std::string placement_line(const Device &device, const InstanceProfile &profile) {
  return fmt::format("GPU {:>2} Profile ID {:>2} {}: {{{}}}:{}\n", device.id.index, profile.id,
                     profile.starts.size() == 1 ? "Placement " : "Placements", fmt::join(profile.starts, ","),
                     profile.size);
}

std::string instance_row(const Device &device, const DevicePart &part) {
  return fmt::format("| {:>3}  MIG {:<16} {:>3}  {:>7}  {:>9}:{:<6}|\n", device.id.index, part.name.str(), part.profile,
                     part.id, part.start, part.size);
}

std::string compute_row(const Device &device, const DevicePart &part, const DeviceInstance &instance) {
  return fmt::format("| {:>3}  {:>5}       MIG {:<14} {:>3}  {:>8}  {:>9}:{:<6}|\n", device.id.index, part.id,
                     instance.name.str(), instance.profile, instance.id, instance.start, instance.size);
}

std::string compute_profile_row(const Device &device, const DevicePart &part, const InstanceProfile &profile,
                                bool whole) {
  return fmt::format("| {:>3}  {:>5}       MIG {:<14} {:>3}{}     {:<12}  {:<8}  {:<4}  {:<4}  {:<4}|\n",
                     device.id.index, part.id, profile.name.str(), profile.id, whole ? "*" : " ", free_of(profile),
                     profile.processors, profile.decoders, profile.encoders, profile.ofas) +
         fmt::format("|{:69} {:<5} {:<9} |\n", "", profile.copy_engines, profile.jpegs);
}

bool is_split(const Device &device) {
  const auto &mode = device.row[device_metric("mig_mode")];
  return mode && mode.value() != 0;
}

bool is_meant(const DevicePart &part, const std::vector<std::uint32_t> &only) {
  return only.empty() || std::find(only.begin(), only.end(), part.id) != only.end();
}

// NVML's number for what a device did not tell.
std::uint16_t code_of(const Reading &reading) {
  if (reading.is(Reason::no_permission)) return nvml_code::kNoPermission;
  return reading.is(Reason::error) ? reading.code() : nvml_code::kNotFound;
}

struct Kind {
  std::string_view name;  // "GPU instances"
  std::string_view head;
  std::size_t width;
  MetricId count;
};

Kind kind_of(InstanceTable table) {
  switch (table) {
    case InstanceTable::compute_instances:
      return {"compute instances", kComputeHead, kComputeWidth, detail_metric("compute_instance_count")};
    case InstanceTable::compute_profiles:
      return {"compute instance profiles", kComputeProfileHead, kComputeProfileWidth,
              detail_metric("compute_instance_count")};
    default:
      return {"GPU instances", kInstanceHead, kInstanceWidth, detail_metric("gpu_instance_count")};
  }
}

// The rows of one GPU instance, each closed by a line.
std::string rows_of(const Device &device, const DevicePart &part, InstanceTable table, const std::string &end) {
  std::string out;
  if (table == InstanceTable::gpu_instances) return instance_row(device, part) + end;
  if (table == InstanceTable::compute_instances) {
    for (const auto &instance : part.instances) out += compute_row(device, part, instance) + end;
    return out;
  }
  std::uint32_t most = 0;
  for (const auto &profile : part.profiles) most = std::max(most, profile.slices);
  for (const auto &profile : part.profiles) {
    out += compute_profile_row(device, part, profile, profile.slices == most) + end;
  }
  return out;
}

InstanceText profiles_text(const Selection &selection, InstanceTable table) {
  std::string rows;
  const auto end = line(kProfileWidth);
  for (const auto *device : selection.devices) {
    if (device->details == nullptr) continue;
    for (const auto &profile : device->details->instance_profiles) {
      rows +=
          table == InstanceTable::placements ? placement_line(*device, profile) : profile_row(*device, profile) + end;
    }
  }
  if (rows.empty()) return {"No MIG-supported devices found.\n"};
  return {table == InstanceTable::placements ? rows : end + std::string(kProfileHead) + rows};
}

}  // namespace

MetricSet needs_of_instances(InstanceTable table) {
  switch (table) {
    case InstanceTable::profiles:
      return {detail_metric("instance_profile_count")};
    case InstanceTable::placements:
      return {detail_metric("instance_placement_count")};
    case InstanceTable::gpu_instances:
      return {detail_metric("gpu_instance_count"), device_metric("mig_mode")};
    default:
      return {detail_metric("compute_instance_count"), device_metric("mig_mode")};
  }
}

InstanceText instance_text(const Selection &selection, InstanceTable table, const std::vector<std::uint32_t> &only) {
  if (table == InstanceTable::profiles || table == InstanceTable::placements) return profiles_text(selection, table);
  const auto [name, head, width, count] = kind_of(table);
  const auto end = line(width);
  std::string rows;
  bool split = false;
  std::uint16_t refusal = 0;
  for (const auto *device : selection.devices) {
    if (!is_split(*device) || device->details == nullptr) continue;
    split = true;
    if (const auto known = reading(*device, count); !known) refusal = code_of(known);
    for (const auto &part : device->details->parts) {
      if (is_meant(part, only)) rows += rows_of(*device, part, table, end);
    }
  }
  if (!split) return {"No MIG-enabled devices found.\n"};
  if (!rows.empty()) return {end + std::string(head) + rows};
  const auto code = refusal != 0 ? refusal : nvml_code::kNotFound;
  const auto failed =
      refusal != 0 ? fmt::format("Failed to display {}: {}\n", name, driver_words(code)) : std::string();
  return {failed + fmt::format("No {} found: {}\n", name, driver_words(code)), code};
}

MetricSet needs_of_policies() { return {detail_metric("compute_timeslice")}; }

std::string policy_table(const Selection &selection) {
  const auto end = line(39);
  std::string rows;
  for (const auto *device : selection.devices) {
    const auto slice = reading(*device, detail_metric("compute_timeslice"));
    constexpr std::array<std::string_view, 4> kWords{"Default", "Short", "Medium", "Long"};
    if (!slice || slice.value() >= kWords.size()) continue;
    rows +=
        fmt::format("| {:>3}   Timeslice       {:<14}|\n", device->id.index, kWords[std::size_t(slice.value())]) + end;
  }
  return end +
         "| GPU compute policies:               |\n"
         "| GPU     Name           Value        |\n"
         "|=====================================|\n" +
         rows;
}

}  // namespace gpulse::view::smi
