// SPDX-License-Identifier: Apache-2.0
// The fields of each query, in the order in which nvidia-smi lists them. Where the metric table has the name, the value
// comes from there.
#include <fmt/format.h>

#include <array>

#include "metric/rows.hpp"
#include "metric/state_names.hpp"
#include "view/smi/query.hpp"

namespace gpulse::view::smi {

namespace {

using namespace form;

// The sizes first: the compiler counts every step.
consteval MetricId of(std::string_view name) {
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    const auto &smi = kMetricKeys[i].smi;
    if (smi.size() == name.size() && smi == name) return MetricId{static_cast<std::uint16_t>(i)};
  }
  throw "no metric has this name";
}

// A field that shows a metric as its unit calls for; temperatures stand without theirs.
consteval QueryField plain(std::string_view name, std::string_view alias = {}) {
  const auto id = of(name);
  const auto &metric = kMetricRows[id.index];
  QueryField field{.name = name, .alias = alias, .metric = id, .form = integer};
  if (metric.kind == Kind::state) {
    if (metric.words.data() == state_names::kOffOn.data()) field.form = enabled;
    if (metric.words.data() == state_names::kNoYes.data()) field.form = yes_no;
  }
  switch (metric.unit) {
    case Unit::percent:
      field.unit = "%";
      break;
    case Unit::bytes:
      field.unit = "MiB";
      field.form = mib_up;
      break;
    case Unit::watts:
      field.unit = "W";
      field.form = two_digits;
      break;
    case Unit::mhz:
      field.unit = "MHz";
      break;
    case Unit::seconds:
      field.unit = "us";
      field.form = micro;
      break;
    default:
      break;
  }
  return field;
}

consteval QueryField in_form(std::string_view name, std::string (*form)(double), std::string_view alias = {}) {
  auto field = plain(name, alias);
  field.form = form;
  return field;
}

consteval QueryField bare(std::string_view name, std::string (*form)(double) = integer) {
  auto field = in_form(name, form);
  field.bare = true;
  return field;
}

// Another name for a metric that has one already.
consteval QueryField same(std::string_view name, std::string_view metric) {
  auto field = plain(metric);
  field.name = name;
  return field;
}

consteval QueryField special(std::string_view name, Cell (*make)(const QueryRow &), std::string_view help,
                             std::string_view alias = {}, std::string_view unit = {}) {
  return {.name = name, .alias = alias, .unit = unit, .special = make, .help = help};
}

consteval QueryField never(std::string_view name, std::string_view help) {
  return special(name, [](const QueryRow &) { return not_available(); }, help);
}

constexpr auto kReasons = device_metric("throttle_reasons");

template <std::uint64_t Bit>
Cell is_active(const QueryRow &row) {
  return bit(*row.device, kReasons, Bit);
}

template <std::uint64_t Bit>
consteval QueryField reason(std::string_view name, std::string_view alias, std::string_view help) {
  auto field = special(name, is_active<Bit>, help, alias);
  field.metric = kReasons;
  return field;
}

template <unsigned Place>
consteval QueryField health(std::string_view name, std::string_view help) {
  auto field = special(name, [](const QueryRow &row) { return fabric_health(*row.device, Place); }, help);
  field.metric = detail_metric("fabric_health");
  field.bare = true;
  return field;
}

Cell time_of(const QueryRow &row) { return {stamp(row.scene->snapshot->time)}; }
Cell name_of(const QueryRow &row) { return {row.device->identity->name}; }
Cell uuid_of(const QueryRow &row) { return {row.device->identity->uuid}; }
Cell bus_of(const QueryRow &row) { return {bus_id(*row.device)}; }
Cell driver_of(const QueryRow &row) {
  const auto &driver = row.device->identity->driver;
  return driver.empty() ? not_available() : Cell{driver};
}
Cell count_of(const QueryRow &row) { return {fmt::format("{}", row.scene->attached)}; }
Cell index_of(const QueryRow &row) { return {fmt::format("{}", row.device->index)}; }
template <unsigned PciAddress::*Part, int Digits>
Cell pci_part(const QueryRow &row) {
  const auto at = pci_address(*row.device);
  return at ? Cell{fmt::format("0x{:0{}X}", (*at).*Part, Digits)} : not_available();
}
Cell deprecated(const QueryRow &) {
  constexpr std::uint16_t kDeprecated = 26;
  return {std::string(driver_words(kDeprecated)), false};
}
Cell pid_of(const QueryRow &row) { return {fmt::format("{}", row.process->pid)}; }
Cell program_of(const QueryRow &row) { return {program(*row.process)}; }
Cell memory_of(const QueryRow &row) {
  const auto &used = row.process->row[process_metric("gpu_memory_bytes")];
  return used ? Cell{mib_up(used.value())} : in_words(used.reason(), used.code());
}

Cell known(const Reading &value, std::string (*form)(double)) {
  return value ? Cell{form(value.value())} : in_words(value.reason(), value.code());
}
Cell cause_of(const QueryRow &row) { return {row.double_bit ? "Double Bit ECC" : "Single Bit ECC"}; }

constexpr std::string_view kTimeHelp = "When the query was made: YYYY/MM/DD HH:MM:SS.mmm, local time.";
constexpr std::string_view kNameHelp = "Name of the GPU, as its driver tells it.";
constexpr std::string_view kBusHelp = "PCI address as domain:bus:device.function, in hexadecimal.";
constexpr std::string_view kUuidHelp = "What stands for the GPU wherever it is plugged in.";
constexpr std::string_view kVgpuHelp = "Of hosts of virtual GPUs, which are not read.";

constexpr std::array kGpuFields{
    special("timestamp", time_of, kTimeHelp),
    special("driver_version", driver_of, "Version of the driver."),
    never("vgpu_driver_capability.heterogenous_multivGPU", kVgpuHelp),
    special("count", count_of, "Number of GPUs in the machine."),
    special("name", name_of, kNameHelp, "gpu_name"),
    plain("serial", "gpu_serial"),
    special("uuid", uuid_of, kUuidHelp, "gpu_uuid"),
    special("pci.bus_id", bus_of, kBusHelp, "gpu_bus_id"),
    special("pci.domain", pci_part<&PciAddress::domain, 4>, "PCI domain, in hexadecimal."),
    special("pci.bus", pci_part<&PciAddress::bus, 2>, "PCI bus, in hexadecimal."),
    special("pci.device", pci_part<&PciAddress::device, 2>, "PCI device, in hexadecimal."),
    in_form("pci.baseClass", hex),
    in_form("pci.subClass", hex),
    in_form("pci.device_id", hex8),
    in_form("pci.sub_device_id", hex8),
    never("vgpu_device_capability.fractional_multiVgpu", kVgpuHelp),
    never("vgpu_device_capability.heterogeneous_timeSlice_profile", kVgpuHelp),
    never("vgpu_device_capability.heterogeneous_timeSlice_sizes", kVgpuHelp),
    never("vgpu_device_capability.homogeneous_placements", kVgpuHelp),
    never("vgpu_device_capability.mig_timeSlicing", kVgpuHelp),
    never("vgpu_device_capability.mig_timeSlicing_mode", kVgpuHelp),
    same("pcie.link.gen.current", "pcie.link.gen.gpucurrent"),
    plain("pcie.link.gen.gpucurrent"),
    plain("pcie.link.gen.max"),
    plain("pcie.link.gen.gpumax"),
    plain("pcie.link.gen.hostmax"),
    plain("pcie.link.width.current"),
    plain("pcie.link.width.max"),
    special("index", index_of, "Number of the GPU, from 0; may change from boot to boot."),
    special("display_mode", deprecated, "Given up by the driver; ask for display_attached."),
    plain("display_attached"),
    in_form("display_active", enabled),
    in_form("persistence_mode", enabled),
    in_form("addressing_mode", addressing),
    in_form("accounting.mode", enabled),
    plain("accounting.buffer_size"),
    never("driver_model.current", "Of another operating system."),
    never("driver_model.pending", "Of another operating system."),
    plain("vbios_version"),
    plain("inforom.img", "inforom.image"),
    plain("inforom.oem"),
    plain("inforom.ecc"),
    plain("inforom.pwr", "inforom.power"),
    in_form("inforom.checksum_validation", validity),
    in_form("gpu_recovery_action", recovery),
    in_form("gom.current", operation_mode, "gpu_operation_mode.current"),
    in_form("gom.pending", operation_mode, "gpu_operation_mode.pending"),
    plain("fan.speed"),
    in_form("pstate", performance),
    in_form("clocks_event_reasons.supported", hex16, "clocks_throttle_reasons.supported"),
    in_form("clocks_event_reasons.active", hex16, "clocks_throttle_reasons.active"),
    reason<state_names::throttle_bit("idle")>("clocks_event_reasons.gpu_idle", "clocks_throttle_reasons.gpu_idle",
                                              "Nothing runs, and the clocks rest."),
    reason<state_names::throttle_bit("application clocks")>("clocks_event_reasons.applications_clocks_setting",
                                                            "clocks_throttle_reasons.applications_clocks_setting",
                                                            "The application clocks hold the clocks down."),
    reason<state_names::throttle_bit("power cap")>("clocks_event_reasons.sw_power_cap",
                                                   "clocks_throttle_reasons.sw_power_cap",
                                                   "The power limit holds the clocks down."),
    reason<state_names::throttle_bit("hw slowdown")>(
        "clocks_event_reasons.hw_slowdown", "clocks_throttle_reasons.hw_slowdown",
        "The hardware halves the clocks or worse: heat, or the power supply."),
    reason<state_names::throttle_bit("hw thermal")>("clocks_event_reasons.hw_thermal_slowdown",
                                                    "clocks_throttle_reasons.hw_thermal_slowdown",
                                                    "The hardware slows down for its temperature."),
    reason<state_names::throttle_bit("power brake")>("clocks_event_reasons.hw_power_brake_slowdown",
                                                     "clocks_throttle_reasons.hw_power_brake_slowdown",
                                                     "The power supply asks for less."),
    reason<state_names::throttle_bit("sw thermal")>("clocks_event_reasons.sw_thermal_slowdown",
                                                    "clocks_throttle_reasons.sw_thermal_slowdown",
                                                    "The driver slows the device down for its temperature."),
    reason<state_names::throttle_bit("sync boost")>("clocks_event_reasons.sync_boost",
                                                    "clocks_throttle_reasons.sync_boost",
                                                    "Another device of the same boost group holds the clocks down."),
    plain("clocks_event_reasons_counters.sw_power_cap"),
    plain("clocks_event_reasons_counters.sync_boost"),
    plain("clocks_event_reasons_counters.sw_thermal_slowdown"),
    plain("clocks_event_reasons_counters.hw_thermal_slowdown"),
    plain("clocks_event_reasons_counters.hw_power_brake_slowdown"),
    plain("memory.total"),
    plain("memory.reserved"),
    plain("memory.used"),
    plain("memory.free"),
    in_form("compute_mode", compute_mode),
    plain("compute_cap"),
    plain("utilization.gpu"),
    plain("utilization.memory"),
    plain("utilization.encoder"),
    plain("utilization.decoder"),
    plain("utilization.jpeg"),
    plain("utilization.ofa"),
    plain("encoder.stats.sessionCount"),
    plain("encoder.stats.averageFps"),
    [] {
      auto field = plain("encoder.stats.averageLatency");
      field.unit = "";
      return field;
    }(),
    plain("dramEncryption.mode.current"),
    plain("dramEncryption.mode.pending"),
    plain("ecc.mode.current"),
    plain("ecc.mode.pending"),
    same("ecc.errors.corrected.volatile.device_memory", "ecc.errors.corrected.volatile.dram"),
    plain("ecc.errors.corrected.volatile.dram"),
    plain("ecc.errors.corrected.volatile.register_file"),
    plain("ecc.errors.corrected.volatile.l1_cache"),
    plain("ecc.errors.corrected.volatile.l2_cache"),
    plain("ecc.errors.corrected.volatile.texture_memory"),
    plain("ecc.errors.corrected.volatile.cbu"),
    plain("ecc.errors.corrected.volatile.sram"),
    plain("ecc.errors.corrected.volatile.total"),
    same("ecc.errors.corrected.aggregate.device_memory", "ecc.errors.corrected.aggregate.dram"),
    plain("ecc.errors.corrected.aggregate.dram"),
    plain("ecc.errors.corrected.aggregate.register_file"),
    plain("ecc.errors.corrected.aggregate.l1_cache"),
    plain("ecc.errors.corrected.aggregate.l2_cache"),
    plain("ecc.errors.corrected.aggregate.texture_memory"),
    plain("ecc.errors.corrected.aggregate.cbu"),
    plain("ecc.errors.corrected.aggregate.sram"),
    plain("ecc.errors.corrected.aggregate.total"),
    same("ecc.errors.uncorrected.volatile.device_memory", "ecc.errors.uncorrected.volatile.dram"),
    plain("ecc.errors.uncorrected.volatile.dram"),
    plain("ecc.errors.uncorrected.volatile.register_file"),
    plain("ecc.errors.uncorrected.volatile.l1_cache"),
    plain("ecc.errors.uncorrected.volatile.l2_cache"),
    plain("ecc.errors.uncorrected.volatile.texture_memory"),
    plain("ecc.errors.uncorrected.volatile.cbu"),
    plain("ecc.errors.uncorrected.volatile.sram"),
    plain("ecc.errors.uncorrected.volatile.total"),
    same("ecc.errors.uncorrected.aggregate.device_memory", "ecc.errors.uncorrected.aggregate.dram"),
    plain("ecc.errors.uncorrected.aggregate.dram"),
    plain("ecc.errors.uncorrected.aggregate.register_file"),
    plain("ecc.errors.uncorrected.aggregate.l1_cache"),
    plain("ecc.errors.uncorrected.aggregate.l2_cache"),
    plain("ecc.errors.uncorrected.aggregate.texture_memory"),
    plain("ecc.errors.uncorrected.aggregate.cbu"),
    plain("ecc.errors.uncorrected.aggregate.sram"),
    plain("ecc.errors.uncorrected.aggregate.total"),
    plain("ecc.errors.uncorrected.volatile.sram.parity"),
    plain("ecc.errors.uncorrected.volatile.sram.secded"),
    plain("ecc.errors.uncorrected.aggregate.sram.parity"),
    plain("ecc.errors.uncorrected.aggregate.sram.secded"),
    plain("ecc.errors.uncorrected.aggregate.sram.thresholdExceeded"),
    plain("ecc.errors.uncorrected.aggregate.sram.l2"),
    plain("ecc.errors.uncorrected.aggregate.sram.sm"),
    plain("ecc.errors.uncorrected.aggregate.sram.mcu"),
    plain("ecc.errors.uncorrected.aggregate.sram.pcie"),
    plain("ecc.errors.uncorrected.aggregate.sram.other"),
    plain("retired_pages.single_bit_ecc.count", "retired_pages.sbe"),
    plain("retired_pages.double_bit.count", "retired_pages.dbe"),
    plain("retired_pages.pending"),
    plain("remapped_rows.correctable"),
    plain("remapped_rows.correctable_inactive"),
    plain("remapped_rows.uncorrectable"),
    plain("remapped_rows.uncorrectable_inactive"),
    plain("remapped_rows.pending"),
    plain("remapped_rows.failure"),
    plain("remapped_rows.histogram.max"),
    plain("remapped_rows.histogram.high"),
    plain("remapped_rows.histogram.partial"),
    plain("remapped_rows.histogram.low"),
    plain("remapped_rows.histogram.none"),
    plain("temperature.gpu"),
    plain("temperature.gpu.tlimit"),
    bare("temperature.memory"),
    plain("power.management"),
    plain("power.draw"),
    plain("power.draw.average"),
    plain("power.draw.instant"),
    plain("power.limit"),
    plain("enforced.power.limit"),
    plain("power.default_limit"),
    plain("power.min_limit"),
    plain("power.max_limit"),
    plain("module.power.draw.average"),
    plain("module.power.draw.instant"),
    plain("module.power.limit"),
    plain("module.enforced.power.limit"),
    plain("module.power.default_limit"),
    plain("module.power.min_limit"),
    plain("module.power.max_limit"),
    plain("power_smoothing.delayed_power_smoothing_supported"),
    plain("power_smoothing.primary_power_floor"),
    plain("power_smoothing.secondary_power_floor"),
    plain("power_smoothing.min_primary_floor_activation_offset"),
    plain("power_smoothing.min_primary_floor_activation_point"),
    [] {
      auto field = in_form("power_smoothing.window_multiplier", milli);
      field.unit = "ms";
      return field;
    }(),
    plain("power_smoothing.curr_profile.secondary_power_floor"),
    plain("power_smoothing.curr_profile.primary_floor_act_window_multiplier"),
    plain("power_smoothing.curr_profile.primary_floor_tar_window_multiplier"),
    plain("power_smoothing.curr_profile.primary_floor_act_offset"),
    plain("power_smoothing.admin_override.secondary_power_floor"),
    plain("power_smoothing.admin_override.primary_floor_act_window_multiplier"),
    plain("power_smoothing.admin_override.primary_floor_tar_window_multiplier"),
    plain("power_smoothing.admin_override.primary_floor_act_offset"),
    plain("clocks.current.graphics", "clocks.gr"),
    plain("clocks.current.sm", "clocks.sm"),
    plain("clocks.current.memory", "clocks.mem"),
    plain("clocks.current.video", "clocks.video"),
    plain("clocks.applications.graphics", "clocks.applications.gr"),
    plain("clocks.applications.memory", "clocks.applications.mem"),
    plain("clocks.default_applications.graphics", "clocks.default_applications.gr"),
    plain("clocks.default_applications.memory", "clocks.default_applications.mem"),
    plain("clocks.max.graphics", "clocks.max.gr"),
    plain("clocks.max.sm"),
    plain("clocks.max.memory", "clocks.max.mem"),
    in_form("mig.mode.current", enabled),
    in_form("mig.mode.pending", enabled),
    plain("gsp.mode.current"),
    plain("gsp.mode.default"),
    plain("c2c.mode"),
    plain("protected_memory.total"),
    plain("protected_memory.used"),
    plain("protected_memory.free"),
    bare("fabric.state", fabric_state),
    bare("fabric.status", fabric_status),
    bare("fabric.cliqueId"),
    bare("fabric.clusterUuid"),
    bare("fabric.health.summary", health_summary),
    health<0>("fabric.health.bandwidth", "Whether the fabric runs at a lower bandwidth than it should."),
    health<1>("fabric.health.route_recovery_in_progress", "Whether routes of the fabric are being mended."),
    health<2>("fabric.health.route_unhealthy", "Whether a route of the fabric is broken."),
    health<3>("fabric.health.access_timeout_recovery", "Whether the fabric recovers from an access timeout."),
    health<4>("fabric.health.incorrect_configuration", "Whether the fabric is configured wrongly."),
    health<5>("fabric.health.partition_assigned", "Whether the device belongs to a partition of the fabric."),
    bare("platform.chassis_serial_number"),
    plain("platform.slot_number"),
    plain("platform.tray_index"),
    plain("platform.host_id"),
    in_form("platform.peer_type", peer_type),
    plain("platform.module_id"),
    plain("platform.gpu_fabric_guid"),
    plain("hostname"),
};

consteval QueryField gpu_serial() {
  auto field = plain("serial");
  field.name = "gpu_serial";
  return field;
}

constexpr QueryField kTime = special("timestamp", time_of, kTimeHelp);
constexpr QueryField kName = special("gpu_name", name_of, kNameHelp, "name");
constexpr QueryField kBus = special("gpu_bus_id", bus_of, kBusHelp, "pci.bus_id");
constexpr QueryField kSerial = gpu_serial();
constexpr QueryField kUuid = special("gpu_uuid", uuid_of, kUuidHelp, "uuid");

constexpr std::array kComputeFields{
    kTime,
    special("gpu_name", name_of, kNameHelp),
    kBus,
    kSerial,
    kUuid,
    special("pid", pid_of, "Number of the process."),
    special("process_name", program_of, "Program that the process runs.", "name"),
    special("used_gpu_memory", memory_of, "Device memory that the process holds.", "used_memory", "MiB"),
};

constexpr std::array kAccountedFields{
    kTime,
    kName,
    kBus,
    kSerial,
    kUuid,
    never("vgpu_instance", kVgpuHelp),
    special(
        "pid", [](const QueryRow &row) { return Cell{fmt::format("{}", row.accounted->pid)}; },
        "Number of the process."),
    special(
        "gpu_utilization", [](const QueryRow &row) { return known(row.accounted->gpu_percent, integer); },
        "Share of its time in which kernels of the process ran.", "gpu_util", "%"),
    special(
        "mem_utilization", [](const QueryRow &row) { return known(row.accounted->memory_percent, integer); },
        "Share of its time in which the process had the memory controller busy.", "mem_util", "%"),
    special(
        "max_memory_usage", [](const QueryRow &row) { return known(row.accounted->memory_max_bytes, mib_up); },
        "Most device memory that the process held at once.", {}, "MiB"),
    special(
        "time", [](const QueryRow &row) { return known(row.accounted->running_seconds, milli); },
        "How long the process was at work on the device; 0 while it still runs.", {}, "ms"),
};

constexpr std::array kRetiredFields{
    kTime,
    kName,
    kBus,
    kSerial,
    kUuid,
    special(
        "retired_pages.address",
        [](const QueryRow &row) {
          return row.page != nullptr ? Cell{fmt::format("0x{:016x}", row.page->address)} : not_available();
        },
        "Address of the page."),
    special(
        "retired_pages.timestamp",
        [](const QueryRow &row) {
          if (row.page == nullptr || row.page->time == 0) return not_available();
          return Cell{long_time(WallTime(std::chrono::seconds(row.page->time)))};
        },
        "When the page was retired."),
    special("retired_pages.cause", cause_of, "Why the page was retired."),
};

constexpr std::array kRemappedFields{
    kTime,
    kName,
    kBus,
    kSerial,
    kUuid,
    plain("remapped_rows.correctable"),
    plain("remapped_rows.correctable_inactive"),
    plain("remapped_rows.uncorrectable"),
    plain("remapped_rows.uncorrectable_inactive"),
    plain("remapped_rows.pending"),
    plain("remapped_rows.failure"),
    plain("remapped_rows.histogram.max"),
    plain("remapped_rows.histogram.high"),
    plain("remapped_rows.histogram.partial"),
    plain("remapped_rows.histogram.low"),
    plain("remapped_rows.histogram.none"),
};

constexpr std::array kClockFields{
    kTime,
    kName,
    kBus,
    kSerial,
    kUuid,
    special(
        "memory", [](const QueryRow &row) { return Cell{integer(row.memory_mhz)}; }, "A memory clock that can be set.",
        "mem", "MHz"),
    special(
        "graphics", [](const QueryRow &row) { return Cell{integer(row.graphics_mhz)}; },
        "A graphics clock that can be set together with it.", "gr", "MHz"),
};

}  // namespace

std::span<const QueryField> fields_of(QueryKind kind) {
  switch (kind) {
    case QueryKind::gpu:
      return kGpuFields;
    case QueryKind::compute_apps:
      return kComputeFields;
    case QueryKind::accounted_apps:
      return kAccountedFields;
    case QueryKind::retired_pages:
      return kRetiredFields;
    case QueryKind::remapped_rows:
      return kRemappedFields;
    case QueryKind::supported_clocks:
      break;
  }
  return kClockFields;
}

}  // namespace gpulse::view::smi
