// SPDX-License-Identifier: Apache-2.0
// The fields of each query, in nvidia-smi's order. A field shows the metric whose `smi` name it has, in the form that
// the log uses, unless it states another.
#include "smi/query_row.hpp"

#include <array>

#include "metric/state_names.hpp"
#include "smi/log_rows.hpp"

namespace gpulse::smi {

namespace {

// Sizes are compared first to stay below the compiler's limit of constexpr steps.
consteval MetricId metric_called(std::string_view name) {
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    const auto &smi = kMetricKeys[i].smi;
    if (smi.size() == name.size() && smi == name) return MetricId{static_cast<std::uint16_t>(i)};
  }
  throw "no metric has this name";
}

// For metrics that are not in the log.
consteval Form form_of(Unit unit) {
  switch (unit) {
    case Unit::percent:
      return kPercent;
    case Unit::bytes:
      return kMib;
    case Unit::watts:
      return kWatts;
    case Unit::mhz:
      return kMhz;
    case Unit::seconds:
      return kMicro;
    default:
      return kCount;
  }
}

// By metric: the index of its row in the log, plus one. A search per field would exceed the limit of constexpr steps.
constexpr auto kRowOf = [] {
  std::array<std::uint16_t, kMetricCount> places{};
  std::uint16_t place = 0;
  for (const auto &row : table::kDevice) {
    ++place;
    if (row.kind == RowKind::value && row.metric && row.mask == 0) places[row.metric->index] = place;
  }
  return places;
}();

// As in the log, but temperatures have no unit.
consteval Form form_of(MetricId id) {
  const auto &metric = key_of(id);
  if (const auto place = kRowOf[id.index]; place != 0) {
    auto form = table::kDevice[place - 1].form;
    if (metric.unit == Unit::celsius) form.unit = {};
    return form;
  }
  if (metric.kind == Kind::state || metric.kind == Kind::set) throw "the field must state its form";
  return form_of(metric.unit);
}

consteval QueryField field(std::string_view name, std::string_view alias = {}) {
  const auto id = metric_called(name);
  return {.name = name, .alias = alias, .metric = id, .form = form_of(id)};
}

consteval QueryField field_as(std::string_view name, const Form &form, std::string_view alias = {}) {
  return {.name = name, .alias = alias, .metric = metric_called(name), .form = form};
}

consteval QueryField bare(std::string_view name) {
  auto one = field(name);
  one.bare = true;
  return one;
}

// A second name for a metric.
consteval QueryField same(std::string_view name, std::string_view metric) {
  auto one = field(metric);
  one.name = name;
  return one;
}

consteval QueryField fact(std::string_view name, Fact which, std::string_view help, std::string_view alias = {},
                          const Form &form = {}) {
  return {.name = name, .alias = alias, .form = form, .fact = which, .help = help};
}

consteval QueryField never(std::string_view name, std::string_view help) {
  return fact(name, Fact::not_available, help);
}

consteval QueryField later(std::string_view name, std::string_view unit = {}) {
  return fact(name, Fact::not_available, "Of later drivers; known only from their logs.", {}, {.unit = unit});
}

consteval QueryField reason(std::string_view word, std::string_view name, std::string_view alias,
                            std::string_view help) {
  return {.name = name,
          .alias = alias,
          .metric = device_metric("throttle_reasons"),
          .mask = state_names::throttle_bit(word),
          .form = kActive,
          .help = help};
}

consteval QueryField fabric_fault(unsigned place, std::string_view name, std::string_view help) {
  return {.name = name,
          .metric = detail_metric("fabric_health"),
          .mask = table::fabric_fault({}, {}, place).mask,
          .form = kFabricFault,
          .bare = true,
          .help = help};
}

constexpr std::string_view kTimeHelp = "When the query was made: YYYY/MM/DD HH:MM:SS.mmm, local time.";
constexpr std::string_view kNameHelp = "Name of the GPU, as its driver tells it.";
constexpr std::string_view kBusHelp = "PCI address as domain:bus:device.function, in hexadecimal.";
constexpr std::string_view kUuidHelp = "What stands for the GPU wherever it is plugged in.";
constexpr std::string_view kVgpuHelp = "Of hosts of virtual GPUs, which are not read.";

constexpr std::array kGpuFields{
    fact("timestamp", Fact::timestamp, kTimeHelp),
    fact("driver_version", Fact::driver, "Version of the driver."),
    fact("kmd_version", Fact::driver, "Version of the driver in the kernel."),
    never("vgpu_driver_capability.heterogenous_multivGPU", kVgpuHelp),
    fact("count", Fact::count, "Number of GPUs in the machine."),
    fact("name", Fact::name, kNameHelp, "gpu_name"),
    field("serial", "gpu_serial"),
    fact("uuid", Fact::uuid, kUuidHelp, "gpu_uuid"),
    fact("pci.bus_id", Fact::bus_id, kBusHelp, "gpu_bus_id"),
    fact("pci.domain", Fact::pci_domain, "PCI domain, in hexadecimal."),
    fact("pci.bus", Fact::pci_bus, "PCI bus, in hexadecimal."),
    fact("pci.device", Fact::pci_device, "PCI device, in hexadecimal."),
    field("pci.baseClass"),
    field("pci.subClass"),
    field("pci.device_id"),
    field("pci.sub_device_id"),
    never("vgpu_device_capability.fractional_multiVgpu", kVgpuHelp),
    never("vgpu_device_capability.heterogeneous_timeSlice_profile", kVgpuHelp),
    never("vgpu_device_capability.heterogeneous_timeSlice_sizes", kVgpuHelp),
    never("vgpu_device_capability.homogeneous_placements", kVgpuHelp),
    never("vgpu_device_capability.mig_timeSlicing", kVgpuHelp),
    never("vgpu_device_capability.mig_timeSlicing_mode", kVgpuHelp),
    same("pcie.link.gen.current", "pcie.link.gen.gpucurrent"),
    field("pcie.link.gen.gpucurrent"),
    field("pcie.link.gen.max"),
    field("pcie.link.gen.gpumax"),
    field("pcie.link.gen.hostmax"),
    field_as("pcie.link.width.current", kCount),
    field_as("pcie.link.width.max", kCount),
    fact("index", Fact::index, "Number of the GPU, from 0; may change from boot to boot."),
    fact("display_mode", Fact::deprecated, "Given up by the driver; ask for display_attached."),
    field("display_attached"),
    field("display_active"),
    field("persistence_mode"),
    field("addressing_mode"),
    field("accounting.mode"),
    field("accounting.buffer_size"),
    never("driver_model.current", "Of another operating system."),
    never("driver_model.pending", "Of another operating system."),
    field("vbios_version"),
    field("inforom.img", "inforom.image"),
    field("inforom.oem"),
    field("inforom.ecc"),
    field("inforom.pwr", "inforom.power"),
    field_as("inforom.checksum_validation", kValidity),
    field("gpu_recovery_action"),
    field("gom.current", "gpu_operation_mode.current"),
    field("gom.pending", "gpu_operation_mode.pending"),
    field("fan.speed"),
    field("pstate"),
    field_as("clocks_event_reasons.supported", kHex16, "clocks_throttle_reasons.supported"),
    field_as("clocks_event_reasons.active", kEventReasons, "clocks_throttle_reasons.active"),
    reason("idle", "clocks_event_reasons.gpu_idle", "clocks_throttle_reasons.gpu_idle",
           "Nothing runs, and the clocks rest."),
    reason("application clocks", "clocks_event_reasons.applications_clocks_setting",
           "clocks_throttle_reasons.applications_clocks_setting", "The application clocks hold the clocks down."),
    reason("power cap", "clocks_event_reasons.sw_power_cap", "clocks_throttle_reasons.sw_power_cap",
           "The power limit holds the clocks down."),
    reason("hw slowdown", "clocks_event_reasons.hw_slowdown", "clocks_throttle_reasons.hw_slowdown",
           "The hardware halves the clocks or worse: heat, or the power supply."),
    reason("hw thermal", "clocks_event_reasons.hw_thermal_slowdown", "clocks_throttle_reasons.hw_thermal_slowdown",
           "The hardware slows down for its temperature."),
    reason("power brake", "clocks_event_reasons.hw_power_brake_slowdown",
           "clocks_throttle_reasons.hw_power_brake_slowdown", "The power supply asks for less."),
    reason("sw thermal", "clocks_event_reasons.sw_thermal_slowdown", "clocks_throttle_reasons.sw_thermal_slowdown",
           "The driver slows the device down for its temperature."),
    reason("sync boost", "clocks_event_reasons.sync_boost", "clocks_throttle_reasons.sync_boost",
           "Another device of the same boost group holds the clocks down."),
    field("clocks_event_reasons_counters.sw_power_cap"),
    field("clocks_event_reasons_counters.sync_boost"),
    field("clocks_event_reasons_counters.sw_thermal_slowdown"),
    field("clocks_event_reasons_counters.hw_thermal_slowdown"),
    field("clocks_event_reasons_counters.hw_power_brake_slowdown"),
    field("memory.total"),
    field("memory.reserved"),
    field("memory.used"),
    field("memory.free"),
    field("compute_mode"),
    field("compute_cap"),
    field("utilization.gpu"),
    field("utilization.memory"),
    field("utilization.encoder"),
    field("utilization.decoder"),
    field("utilization.jpeg"),
    field("utilization.ofa"),
    field("encoder.stats.sessionCount"),
    field("encoder.stats.averageFps"),
    field("encoder.stats.averageLatency"),
    field("dramEncryption.mode.current"),
    field("dramEncryption.mode.pending"),
    field("ecc.mode.current"),
    field("ecc.mode.pending"),
    same("ecc.errors.corrected.volatile.device_memory", "ecc.errors.corrected.volatile.dram"),
    field("ecc.errors.corrected.volatile.dram"),
    field("ecc.errors.corrected.volatile.register_file"),
    field("ecc.errors.corrected.volatile.l1_cache"),
    field("ecc.errors.corrected.volatile.l2_cache"),
    field("ecc.errors.corrected.volatile.texture_memory"),
    field("ecc.errors.corrected.volatile.cbu"),
    field("ecc.errors.corrected.volatile.sram"),
    field("ecc.errors.corrected.volatile.total"),
    same("ecc.errors.corrected.aggregate.device_memory", "ecc.errors.corrected.aggregate.dram"),
    field("ecc.errors.corrected.aggregate.dram"),
    field("ecc.errors.corrected.aggregate.register_file"),
    field("ecc.errors.corrected.aggregate.l1_cache"),
    field("ecc.errors.corrected.aggregate.l2_cache"),
    field("ecc.errors.corrected.aggregate.texture_memory"),
    field("ecc.errors.corrected.aggregate.cbu"),
    field("ecc.errors.corrected.aggregate.sram"),
    field("ecc.errors.corrected.aggregate.total"),
    same("ecc.errors.uncorrected.volatile.device_memory", "ecc.errors.uncorrected.volatile.dram"),
    field("ecc.errors.uncorrected.volatile.dram"),
    field("ecc.errors.uncorrected.volatile.register_file"),
    field("ecc.errors.uncorrected.volatile.l1_cache"),
    field("ecc.errors.uncorrected.volatile.l2_cache"),
    field("ecc.errors.uncorrected.volatile.texture_memory"),
    field("ecc.errors.uncorrected.volatile.cbu"),
    field("ecc.errors.uncorrected.volatile.sram"),
    field("ecc.errors.uncorrected.volatile.total"),
    same("ecc.errors.uncorrected.aggregate.device_memory", "ecc.errors.uncorrected.aggregate.dram"),
    field("ecc.errors.uncorrected.aggregate.dram"),
    field("ecc.errors.uncorrected.aggregate.register_file"),
    field("ecc.errors.uncorrected.aggregate.l1_cache"),
    field("ecc.errors.uncorrected.aggregate.l2_cache"),
    field("ecc.errors.uncorrected.aggregate.texture_memory"),
    field("ecc.errors.uncorrected.aggregate.cbu"),
    field("ecc.errors.uncorrected.aggregate.sram"),
    field("ecc.errors.uncorrected.aggregate.total"),
    field("ecc.errors.uncorrected.volatile.sram.parity"),
    field("ecc.errors.uncorrected.volatile.sram.secded"),
    field("ecc.errors.uncorrected.aggregate.sram.parity"),
    field("ecc.errors.uncorrected.aggregate.sram.secded"),
    field("ecc.errors.uncorrected.aggregate.sram.thresholdExceeded"),
    field("ecc.errors.uncorrected.aggregate.sram.l2"),
    field("ecc.errors.uncorrected.aggregate.sram.sm"),
    field("ecc.errors.uncorrected.aggregate.sram.mcu"),
    field("ecc.errors.uncorrected.aggregate.sram.pcie"),
    field("ecc.errors.uncorrected.aggregate.sram.other"),
    field("retired_pages.single_bit_ecc.count", "retired_pages.sbe"),
    field("retired_pages.double_bit.count", "retired_pages.dbe"),
    field("retired_pages.pending"),
    field("remapped_rows.correctable", "remapped_rows.sbe"),
    field("remapped_rows.correctable_inactive"),
    field("remapped_rows.uncorrectable", "remapped_rows.dbe"),
    field("remapped_rows.uncorrectable_inactive"),
    field("remapped_rows.pending"),
    field("remapped_rows.failure"),
    field_as("remapped_rows.histogram.max", kCount),
    field_as("remapped_rows.histogram.high", kCount),
    field_as("remapped_rows.histogram.partial", kCount),
    field_as("remapped_rows.histogram.low", kCount),
    field_as("remapped_rows.histogram.none", kCount),
    field("temperature.gpu"),
    field("temperature.gpu.tlimit"),
    bare("temperature.memory"),
    field_as("power.management", kEnabled),
    field("power.draw"),
    field("power.draw.average", "gpu.power.draw.average"),
    field("power.draw.instant", "gpu.power.draw.instant"),
    field("power.limit", "gpu.power.requested_limit"),
    field("enforced.power.limit", "gpu.power.current_limit"),
    field("power.default_limit", "gpu.power.default_limit"),
    field("power.min_limit", "gpu.power.min_limit"),
    field("power.max_limit", "gpu.power.max_limit"),
    field("module.power.draw.average"),
    field("module.power.draw.instant"),
    field("module.power.limit", "module.power.requested_limit"),
    field("module.enforced.power.limit", "module.power.current_limit"),
    field("module.power.default_limit"),
    field("module.power.min_limit"),
    field("module.power.max_limit"),
    later("gpu.base.current", "W"),
    later("gpu.base.requested", "W"),
    later("gpu.base.default", "W"),
    later("gpu.base.min", "W"),
    later("gpu.base.max", "W"),
    later("power_smoothing.tmp_floor", "W"),
    later("power_smoothing.tmp_ceil", "W"),
    later("power_smoothing.hw_lifetime_remaining_percent", "%"),
    later("power_smoothing.enabled"),
    field("power_smoothing.delayed_power_smoothing_supported"),
    later("power_smoothing.soc_power_smoothing_enabled"),
    later("power_smoothing.priv_level"),
    later("power_smoothing.imm_ramp_down"),
    later("power_smoothing.max_percent_tmp_floor", "%"),
    later("power_smoothing.min_percent_tmp_floor", "%"),
    field("power_smoothing.primary_power_floor"),
    field("power_smoothing.secondary_power_floor"),
    field("power_smoothing.min_primary_floor_activation_offset"),
    field("power_smoothing.min_primary_floor_activation_point"),
    field("power_smoothing.window_multiplier"),
    later("power_smoothing.num_preset_profiles"),
    later("power_smoothing.curr_profile.percent_tmp_floor", "%"),
    later("power_smoothing.curr_profile.ramp_up_rate", "W/s"),
    later("power_smoothing.curr_profile.ramp_down_rate", "W/s"),
    later("power_smoothing.curr_profile.ramp_down_hysteresis", "ms"),
    field("power_smoothing.curr_profile.secondary_power_floor"),
    field("power_smoothing.curr_profile.primary_floor_act_window_multiplier"),
    field("power_smoothing.curr_profile.primary_floor_tar_window_multiplier"),
    field("power_smoothing.curr_profile.primary_floor_act_offset"),
    later("power_smoothing.active_profile"),
    later("power_smoothing.admin_override.percent_tmp_floor", "%"),
    later("power_smoothing.admin_override.ramp_up_rate", "W/s"),
    later("power_smoothing.admin_override.ramp_down_rate", "W/s"),
    later("power_smoothing.admin_override.ramp_down_hysteresis", "ms"),
    field("power_smoothing.admin_override.secondary_power_floor"),
    field("power_smoothing.admin_override.primary_floor_act_window_multiplier"),
    field("power_smoothing.admin_override.primary_floor_tar_window_multiplier"),
    field("power_smoothing.admin_override.primary_floor_act_offset"),
    later("edpp_multiplier", "%"),
    field("clocks.current.graphics", "clocks.gr"),
    field("clocks.current.sm", "clocks.sm"),
    field("clocks.current.memory", "clocks.mem"),
    field("clocks.current.video", "clocks.video"),
    field("clocks.applications.graphics", "clocks.applications.gr"),
    field("clocks.applications.memory", "clocks.applications.mem"),
    field("clocks.default_applications.graphics", "clocks.default_applications.gr"),
    field("clocks.default_applications.memory", "clocks.default_applications.mem"),
    field("clocks.max.graphics", "clocks.max.gr"),
    field("clocks.max.sm"),
    field("clocks.max.memory", "clocks.max.mem"),
    field("mig.mode.current"),
    field("mig.mode.pending"),
    field_as("gsp.mode.current", kEnabled),
    field_as("gsp.mode.default", kEnabled),
    field("c2c.mode"),
    field("protected_memory.total"),
    field("protected_memory.used"),
    field("protected_memory.free"),
    bare("fabric.state"),
    bare("fabric.status"),
    bare("fabric.cliqueId"),
    bare("fabric.clusterUuid"),
    bare("fabric.health.summary"),
    fabric_fault(0, "fabric.health.bandwidth", "Whether the fabric runs at a lower bandwidth than it should."),
    fabric_fault(1, "fabric.health.route_recovery_in_progress", "Whether routes of the fabric are being mended."),
    fabric_fault(2, "fabric.health.route_unhealthy", "Whether a route of the fabric is broken."),
    fabric_fault(3, "fabric.health.access_timeout_recovery", "Whether the fabric recovers from an access timeout."),
    fabric_fault(4, "fabric.health.incorrect_configuration", "Whether the fabric is configured wrongly."),
    fabric_fault(5, "fabric.health.partition_assigned", "Whether the device belongs to a partition of the fabric."),
    bare("platform.chassis_serial_number"),
    field("platform.slot_number"),
    field("platform.tray_index"),
    field("platform.host_id"),
    field("platform.peer_type"),
    field("platform.module_id"),
    field("platform.gpu_fabric_guid"),
    field("hostname"),
    later("bbx.time_run", "seconds"),
};

consteval QueryField gpu_serial() {
  auto serial = field("serial");
  serial.name = "gpu_serial";
  return serial;
}

constexpr QueryField kTime = fact("timestamp", Fact::timestamp, kTimeHelp);
constexpr QueryField kName = fact("gpu_name", Fact::name, kNameHelp, "name");
constexpr QueryField kBus = fact("gpu_bus_id", Fact::bus_id, kBusHelp, "pci.bus_id");
constexpr QueryField kSerial = gpu_serial();
constexpr QueryField kUuid = fact("gpu_uuid", Fact::uuid, kUuidHelp, "uuid");

constexpr std::array kComputeFields{
    kTime,
    fact("gpu_name", Fact::name, kNameHelp),
    kBus,
    kSerial,
    kUuid,
    fact("pid", Fact::pid, "Number of the process."),
    fact("process_name", Fact::program, "Program that the process runs.", "name"),
    fact("used_gpu_memory", Fact::process_memory, "Device memory that the process holds.", "used_memory", kMib),
};

constexpr std::array kAccountedFields{
    kTime,
    kName,
    kBus,
    kSerial,
    kUuid,
    never("vgpu_instance", kVgpuHelp),
    fact("pid", Fact::pid, "Number of the process."),
    fact("gpu_utilization", Fact::accounted_gpu_use, "Share of its time in which kernels of the process ran.",
         "gpu_util", kPercent),
    fact("mem_utilization", Fact::accounted_memory_use,
         "Share of its time in which the process had the memory controller busy.", "mem_util", kPercent),
    fact("max_memory_usage", Fact::accounted_memory, "Most device memory that the process held at once.", {}, kMib),
    fact("time", Fact::accounted_time, "How long the process was at work on the device; 0 while it still runs.", {},
         kMilli),
};

constexpr std::array kRetiredFields{
    kTime,
    kName,
    kBus,
    kSerial,
    kUuid,
    fact("retired_pages.address", Fact::page_address, "Address of the page."),
    fact("retired_pages.timestamp", Fact::page_time, "When the page was retired."),
    fact("retired_pages.cause", Fact::page_cause, "Why the page was retired."),
};

constexpr std::array kRemappedFields{
    kTime,
    kName,
    kBus,
    kSerial,
    kUuid,
    field("remapped_rows.correctable"),
    field("remapped_rows.correctable_inactive"),
    field("remapped_rows.uncorrectable"),
    field("remapped_rows.uncorrectable_inactive"),
    field("remapped_rows.pending"),
    field("remapped_rows.failure"),
    field_as("remapped_rows.histogram.max", kCount),
    field_as("remapped_rows.histogram.high", kCount),
    field_as("remapped_rows.histogram.partial", kCount),
    field_as("remapped_rows.histogram.low", kCount),
    field_as("remapped_rows.histogram.none", kCount),
};

constexpr std::array kClockFields{
    kTime,
    kName,
    kBus,
    kSerial,
    kUuid,
    fact("memory", Fact::memory_clock, "A memory clock that can be set.", "mem", kMhz),
    fact("graphics", Fact::graphics_clock, "A graphics clock that can be set together with it.", "gr", kMhz),
};

constexpr std::array kOlderFields{
    QueryField{.name = "vbios", .metric = device_metric("vbios_version"), .form = kCount},
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

std::span<const QueryField> older_fields() { return kOlderFields; }

}  // namespace gpulse::smi
