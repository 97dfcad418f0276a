// SPDX-License-Identifier: Apache-2.0
// The forms and the values of the log that are more than a metric.
#pragma once

#include <fmt/format.h>

#include <cmath>

#include "metric/state_names.hpp"
#include "view/smi/log_nodes.hpp"

namespace gpulse::view::smi {

inline constexpr Form kCount{"", form::integer}, kPercent{"%", form::integer}, kMib{"MiB", form::mib_up},
    kMibDown{"MiB", form::mib_down}, kWatts{"W", form::two_digits}, kCelsius{"C", form::integer},
    kMhz{"MHz", form::integer}, kMicro{"us", form::micro}, kPlainMicro{"", form::micro}, kMilli{"ms", form::milli},
    kKilobytes{"KB/s", form::kilobytes}, kLanes{"", form::lanes}, kBanks{"bank(s)", form::integer}, kHex{"", form::hex},
    kHex8{"", form::hex8}, kBareHex{"", form::bare_hex}, kBareHex8{"", form::bare_hex8}, kEnabled{"", form::enabled},
    kEnabledLow{"", form::enabled_low}, kYesNo{"", form::yes_no}, kPState{"", form::performance},
    kComputeMode{"", form::compute_mode}, kAddressing{"", form::addressing}, kRecovery{"", form::recovery},
    kOperationMode{"", form::operation_mode}, kVirtualization{"", form::virtualization},
    kFabricState{"", form::fabric_state}, kFabricStatus{"", form::fabric_status},
    kHealthSummary{"", form::health_summary}, kAtomics{"", form::atomics},
    kOnOff{"", [](double value) { return std::string(value != 0 ? "On" : "Off"); }},
    kFlushTime{
        "", [](double seconds) { return stamp(WallTime(std::chrono::seconds(static_cast<std::int64_t>(seconds)))); }};

inline Cell none(const Snapshot &, const Device &) { return not_available(); }
inline Cell name_of(const Snapshot &, const Device &device) { return {device.identity->name}; }
inline Cell uuid_of(const Snapshot &, const Device &device) { return {device.identity->uuid}; }
inline Cell bus_of(const Snapshot &, const Device &device) { return {bus_id(device)}; }

inline Cell deprecated(const Snapshot &, const Device &) {
  constexpr std::uint16_t kDeprecated = 26;
  return {std::string(driver_words(kDeprecated)), false};
}

template <unsigned PciAddress::*Part, int Digits>
Cell bare_pci_part(const Snapshot &, const Device &device) {
  const auto at = pci_address(device);
  return at ? Cell{fmt::format("{:0{}X}", (*at).*Part, Digits)} : not_available();
}

template <unsigned PciAddress::*Part, int Digits>
Cell pci_part(const Snapshot &snapshot, const Device &device) {
  auto part = bare_pci_part<Part, Digits>(snapshot, device);
  if (part.known) part.text.insert(0, "0x");
  return part;
}

template <std::uint64_t Bit>
Cell event(const Snapshot &, const Device &device) {
  return bit(device, device_metric("throttle_reasons"), Bit);
}

inline Cell bar1_free(const Snapshot &, const Device &device) {
  const auto total = reading(device, device_metric("bar1_total_bytes"));
  const auto used = reading(device, device_metric("bar1_used_bytes"));
  if (!total || !used) return in_words((total ? used : total).reason(), (total ? used : total).code());
  constexpr double kMibBytes = 1024.0 * 1024.0;
  const auto free = std::floor(total.value() / kMibBytes) - std::floor(used.value() / kMibBytes);
  return {fmt::format("{:.0f} MiB", free)};
}

template <unsigned Place>
Cell health(const Snapshot &, const Device &device) {
  return fabric_health(device, Place);
}

inline constexpr auto kChassisSerialNumber = detail_metric("platform_chassis_serial");
inline constexpr auto kSlotNumber = detail_metric("platform_slot");
inline constexpr auto kTrayIndex = detail_metric("platform_tray");
inline constexpr auto kHostId = detail_metric("platform_host");
inline constexpr auto kPeerType = detail_metric("platform_peer_type");
inline constexpr auto kGpuFabricGuid = detail_metric("platform_fabric_guid");

// What a rack tells of itself counts only where the device has a place in one.
template <MetricId Id>
Cell platform(const Snapshot &, const Device &device) {
  const auto guid = text_reading(device, kGpuFabricGuid);
  if (!guid || guid.value().find_first_not_of("0x") == std::string::npos) return not_available();
  return cell(device, Id, {"", Id == kPeerType ? form::peer_type : form::integer});
}

struct Limit {
  std::string_view label, margin_label, tag, margin_tag;
  MetricId value, margin;
};
inline constexpr std::array kGpuLimits{
    Limit{"GPU Shutdown Temp", "GPU Shutdown T.Limit Temp", "gpu_temp_max_threshold", "gpu_temp_max_tlimit_threshold",
          device_metric("temperature_shutdown_celsius"), device_metric("temperature_margin_shutdown_celsius")},
    Limit{"GPU Slowdown Temp", "GPU Slowdown T.Limit Temp", "gpu_temp_slow_threshold", "gpu_temp_slow_tlimit_threshold",
          device_metric("temperature_slowdown_celsius"), device_metric("temperature_margin_slowdown_celsius")},
    Limit{"GPU Max Operating Temp", "GPU Max Operating T.Limit Temp", "gpu_temp_max_gpu_threshold",
          "gpu_temp_max_gpu_tlimit_threshold", device_metric("temperature_gpu_max_celsius"),
          device_metric("temperature_margin_gpu_max_celsius")},
};
inline constexpr std::array kMemoryLimits{
    Limit{"Memory Max Operating Temp", "Memory Max Operating T.Limit Temp", "gpu_temp_max_mem_threshold",
          "gpu_temp_max_mem_tlimit_threshold", device_metric("temperature_memory_max_celsius"),
          device_metric("temperature_margin_memory_max_celsius")},
};

inline constexpr Node::More kGpuLimitMetrics{
    device_metric("temperature_margin_shutdown_celsius"), device_metric("temperature_margin_slowdown_celsius"),
    device_metric("temperature_margin_gpu_max_celsius"),  device_metric("temperature_shutdown_celsius"),
    device_metric("temperature_slowdown_celsius"),        device_metric("temperature_gpu_max_celsius")};
inline constexpr Node::More kMemoryLimitMetrics{device_metric("temperature_margin_shutdown_celsius"),
                                                device_metric("temperature_margin_memory_max_celsius"),
                                                device_metric("temperature_memory_max_celsius")};

// Devices that tell how far they are from their limits tell the limits as distances too.
inline bool tells_margins(const Device &device) {
  return reading(device, device_metric("temperature_margin_shutdown_celsius")).has_value();
}

template <const auto &Limits>
void limits(const Snapshot &, const Device &device, std::string &out) {
  const bool margins = tells_margins(device);
  for (const auto &limit : Limits) {
    const auto value = cell(device, margins ? limit.margin : limit.value, kCelsius);
    out += text_line(2, margins ? limit.margin_label : limit.label, value.with("C"));
  }
}

template <const auto &Limits>
void xml_limits(const Snapshot &, const Device &device, std::string &out) {
  const bool margins = tells_margins(device);
  for (const auto &limit : Limits) {
    const auto value = cell(device, margins ? limit.margin : limit.value, kCelsius);
    const auto tag = margins ? limit.margin_tag : limit.tag;
    out += fmt::format("\t\t\t<{0}>{1}</{0}>\n", tag, value.with("C"));
  }
}

struct SampleLabel {
  std::string_view title;
  Form form;
};
inline constexpr std::array<SampleLabel, kSampleKinds> kSampleLabels{
    SampleLabel{"Power Samples", kWatts},
    SampleLabel{"GPU Utilization Samples", kPercent},
    SampleLabel{"Memory Utilization Samples", kPercent},
    SampleLabel{"ENC Utilization Samples", kPercent},
    SampleLabel{"DEC Utilization Samples", kPercent},
    SampleLabel{"JPG Utilization Samples", kPercent},
    SampleLabel{"OFA Utilization Samples", kPercent},
    SampleLabel{"SM Clock Samples", kMhz},
    SampleLabel{"Memory Clock Samples", kMhz},
};

template <SampleKind Kind>
void samples(const Snapshot &, const Device &device, std::string &out) {
  constexpr auto kLabel = kSampleLabels[static_cast<std::size_t>(Kind)];
  text_samples(device, Kind, kLabel.title, kLabel.form, out);
}

template <bool DoubleBit>
void retired(const Snapshot &, const Device &device, std::string &out) {
  xml_pages(device, DoubleBit, out);
}

}  // namespace gpulse::view::smi
