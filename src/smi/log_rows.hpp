// SPDX-License-Identifier: Apache-2.0
// The table of the log: every line of `-q` and every element of `-q -x`, in order. The rows of a group are one deeper
// than the group. Both outputs and the XML reader are driven by this table; --query-gpu takes its forms from here.
#pragma once

#include "metric/state_names.hpp"
#include "smi/log_row.hpp"

namespace gpulse::smi::table {

using namespace section;

inline constexpr std::uint32_t kAlways = 0;  // only in the full log

consteval MetricId dev(std::string_view key) { return device_metric(key); }
consteval MetricId det(std::string_view key) { return detail_metric(key); }

constexpr LogRow group(std::uint8_t depth, std::string_view label, std::string_view tag, std::uint32_t sections) {
  return {.depth = depth, .kind = RowKind::group, .label = label, .tag = tag, .sections = sections};
}

constexpr LogRow folded(std::uint8_t depth, std::string_view label, std::string_view tag, std::uint32_t sections) {
  return {.depth = depth, .kind = RowKind::folded, .label = label, .tag = tag, .sections = sections};
}

constexpr LogRow value(std::uint8_t depth, std::string_view label, std::string_view tag, std::uint32_t sections,
                       MetricId metric, const Form &form = kCount, const Form &xml_form = {}) {
  return {.depth = depth,
          .label = label,
          .tag = tag,
          .sections = sections,
          .metric = metric,
          .form = form,
          .xml_form = xml_form};
}

constexpr LogRow fact(std::uint8_t depth, std::string_view label, std::string_view tag, std::uint32_t sections,
                      Fact fact, const Form &form = {}) {
  return {.depth = depth, .label = label, .tag = tag, .sections = sections, .fact = fact, .form = form};
}

// What no metric stands for: shown as the log tells it, otherwise as N/A.
constexpr LogRow told(std::uint8_t depth, std::string_view label, std::string_view tag, std::uint32_t sections,
                      std::string_view name) {
  return {.depth = depth, .label = label, .tag = tag, .sections = sections, .fact = Fact::not_available, .told = name};
}

// The same for what today's drivers have given up.
constexpr LogRow deprecated(std::uint8_t depth, std::string_view label, std::string_view tag, std::uint32_t sections,
                            std::string_view name) {
  auto row = told(depth, label, tag, sections, name);
  row.fact = Fact::deprecated;
  return row;
}

constexpr LogRow list(std::uint8_t depth, std::string_view label, std::string_view tag, std::uint32_t sections,
                      List list, const LogRow::Metrics &also_needs) {
  return {.depth = depth,
          .kind = RowKind::list,
          .label = label,
          .tag = tag,
          .sections = sections,
          .list = list,
          .also_needs = also_needs};
}

constexpr LogRow samples(std::string_view label, std::uint32_t sections, SampleKind kind, const Form &form) {
  auto row = list(1, label, "", sections, List::samples, {det("sample_window_count")}).only_on_request();
  row.samples = kind;
  row.form = form;
  return row;
}

constexpr LogRow pci_number(std::uint8_t depth, std::string_view label, std::string_view tag, std::uint32_t sections,
                            Fact which) {
  auto row = fact(depth, label, tag, sections, which);
  row.bare_in_xml = true;
  return row;
}

constexpr LogRow in_rack(std::string_view label, std::string_view tag, MetricId metric, const Form &form = kCount) {
  return value(2, label, tag, kAlways, metric, form).when(Condition::rack, {kRackMetric}).since(12);
}

constexpr LogRow limit(std::string_view label, std::string_view tag, MetricId metric) {
  return value(2, label, tag, kTemperature, metric, kCelsius).when(Condition::limits, {kMarginMetric});
}
constexpr LogRow margin(std::string_view label, std::string_view tag, MetricId metric) {
  return value(2, label, tag, kTemperature, metric, kCelsius).when(Condition::margins, {kMarginMetric}).since(12);
}

consteval LogRow event_reason(std::uint8_t depth, std::string_view label, std::string_view tag, std::string_view word) {
  auto row = value(depth, label, tag, kPerformance, dev("throttle_reasons"), kActive);
  row.mask = state_names::throttle_bit(word);
  return row;
}

// ECC errors as counted up to Volta: by the number of bits, and by where they were.
consteval LogRow ecc_bits(std::string_view label, std::string_view tag, MetricId metric) {
  return value(4, label, tag, kEcc, metric).when(Condition::ecc_bits, {kArchitectureMetric});
}
consteval LogRow told_ecc_bits(std::string_view label, std::string_view tag, std::string_view name) {
  return told(4, label, tag, kEcc, name).when(Condition::ecc_bits, {kArchitectureMetric});
}
constexpr LogRow ecc_bits_group(std::string_view label, std::string_view tag) {
  return group(3, label, tag, kEcc).when(Condition::ecc_bits, {kArchitectureMetric});
}
consteval LogRow ecc_sram(std::string_view label, std::string_view tag, MetricId metric) {
  return value(3, label, tag, kEcc, metric).when(Condition::ecc_sram, {kArchitectureMetric});
}
consteval LogRow ecc_any(std::string_view label, std::string_view tag, MetricId metric) {
  return value(3, label, tag, kEcc, metric).when(Condition::ecc_places, {kArchitectureMetric});
}
consteval LogRow ecc_parity(std::uint8_t depth, std::string_view label, std::string_view tag, MetricId metric,
                            const Form &form = kCount) {
  return value(depth, label, tag, kEcc, metric, form).when(Condition::ecc_parity, {kArchitectureMetric}).since(12);
}

// Given up by the driver in favour of the performance state, which it repeats.
consteval LogRow power_state(std::string_view name) {
  auto row = told(2, "", "power_state", kPower, name);
  row.metric = dev("performance_state");
  row.form = kPerformanceState;
  row.fact = Fact::none;
  return row.only_if_nothing_better();
}

constexpr LogRow::Metrics kPowerNeeds{dev("power_draw_watts"), kArchitectureMetric, dev("power_instant_watts")};

// Two bits each: 0 not reported, 1 yes, 2 no.
constexpr LogRow fabric_fault(std::string_view label, std::string_view tag, unsigned place) {
  auto row = value(3, label, tag, kAlways, det("fabric_health"), kFabricFault);
  row.mask = std::uint64_t{3} << 2 * place;
  return row;
}

inline constexpr LogRow kDevice[] = {
    fact(1, "Product Name", "product_name", kAlways, Fact::name),
    value(1, "Product Brand", "product_brand", kAlways, dev("brand")),
    value(1, "Product Architecture", "product_architecture", kAlways, dev("architecture")).since(11),
    deprecated(1, "Display Mode", "display_mode", kAlways, "display_mode"),
    value(1, "Display Attached", "display_attached", kAlways, det("display_attached"), kYesNo).since(13),
    value(1, "Display Active", "display_active", kAlways, dev("display_active"), kEnabled),
    value(1, "Persistence Mode", "persistence_mode", kAlways, dev("persistence_mode"), kEnabled),
    value(1, "Addressing Mode", "addressing_mode", kAlways, det("addressing_mode"), kAddressing).since(12),
    group(1, "vGPU Device Capability", "vgpu_device_capability", kAlways).if_logged(),
    told(2, "Fractional Multi-vGPU", "fractional_multiVgpu", kAlways, "vgpu_device_capability.fractional_multiVgpu")
        .if_logged(),
    told(2, "Heterogeneous Time-Slice Profiles", "heterogeneous_timeSlice_profile", kAlways,
         "vgpu_device_capability.heterogeneous_timeSlice_profile")
        .if_logged(),
    told(2, "Heterogeneous Time-Slice Sizes", "heterogeneous_timeSlice_sizes", kAlways,
         "vgpu_device_capability.heterogeneous_timeSlice_sizes")
        .if_logged(),
    told(2, "Homogeneous Placements", "homogeneous_placements", kAlways,
         "vgpu_device_capability.homogeneous_placements")
        .if_logged(),
    told(2, "MIG Time-Slicing", "mig_timeSlicing", kAlways, "vgpu_device_capability.mig_timeSlicing").if_logged(),
    told(2, "MIG Time-Slicing Mode", "mig_timeSlicing_mode", kAlways, "vgpu_device_capability.mig_timeSlicing_mode")
        .if_logged(),
    group(1, "MIG Mode", "mig_mode", kAlways).since(11),
    value(2, "Current", "current_mig", kAlways, dev("mig_mode"), kEnabled).since(11),
    value(2, "Pending", "pending_mig", kAlways, dev("mig_mode_pending"), kEnabled).since(11),
    list(1, "MIG Device", "mig_devices", kAlways, List::instances,
         {det("gpu_instance_id"), dev("multiprocessor_count"), dev("ecc_uncorrected_volatile_total")})
        .since(11),
    value(1, "Accounting Mode", "accounting_mode", kAccounting, dev("accounting_mode"), kEnabled),
    value(1, "Accounting Mode Buffer Size", "accounting_mode_buffer_size", kAccounting, det("accounting_buffer_size")),
    list(1, "Accounted Processes", "", kAccounting, List::accounted, {det("accounted_process_count")})
        .only_on_request(),
    group(1, "Driver Model", "driver_model", kAlways),
    told(2, "Current", "current_dm", kAlways, "driver_model.current"),
    told(2, "Pending", "pending_dm", kAlways, "driver_model.pending"),
    value(1, "Serial Number", "serial", kAlways, dev("serial")),
    fact(1, "GPU UUID", "uuid", kAlways, Fact::uuid),
    value(1, "GPU PDI", "pdi", kAlways, det("chip_identity")).since(13),
    value(1, "Minor Number", "minor_number", kAlways, dev("minor_number")),
    value(1, "VBIOS Version", "vbios_version", kAlways, dev("vbios_version")),
    value(1, "MultiGPU Board", "multigpu_board", kAlways, det("multi_gpu_board"), kYesNo),
    value(1, "Board ID", "board_id", kAlways, det("board_id"), kHex),
    value(1, "Board Part Number", "board_part_number", kAlways, dev("board_part_number")).since(12),
    value(1, "GPU Part Number", "gpu_part_number", kAlways, det("gpu_part_number")),
    told(1, "FRU Part Number", "gpu_fru_part_number", kAlways, "gpu_fru_part_number").since(12),
    value(1, "Module ID", "gpu_module_id", kAlways, det("module_id")).since(11).until(11),
    group(1, "Platform Info", "platformInfo", kAlways).since(12),
    in_rack("Chassis Serial Number", "chassis_serial_number", det("platform_chassis_serial")),
    in_rack("Slot Number", "slot_number", det("platform_slot")),
    in_rack("Tray Index", "tray_index", det("platform_tray")),
    in_rack("Host ID", "host_id", det("platform_host")),
    in_rack("Peer Type", "peer_type", det("platform_peer_type"), kPeerType),
    value(2, "Module Id", "module_id", kAlways, det("module_id")).only_if_nothing_better(),
    in_rack("GPU Fabric GUID", "gpu_fabric_guid", det("platform_fabric_guid")),
    group(1, "Inforom Version", "inforom_version", kAlways),
    value(2, "Image Version", "img_version", kAlways, dev("inforom_version")),
    value(2, "OEM Object", "oem_object", kAlways, det("inforom_oem_version")),
    value(2, "ECC Object", "ecc_object", kAlways, det("inforom_ecc_version")),
    value(2, "Power Management Object", "pwr_object", kAlways, det("inforom_power_version")),
    group(1, "Inforom BBX Object Flush", "inforom_bbx_flush", kAlways).since(12),
    value(2, "Latest Timestamp", "latest_timestamp", kAlways, det("inforom_flush_time_seconds"), kTimestamp),
    value(2, "Latest Duration", "latest_duration", kAlways, det("inforom_flush_duration_seconds"), kMicro),
    group(1, "Inforom Time Data", "", kAlways).if_logged(),
    told(2, "Time Run", "", kAlways, "bbx.time_run").if_logged(),
    group(1, "GPU Operation Mode", "gpu_operation_mode", kAlways),
    value(2, "Current", "current_gom", kAlways, det("operation_mode"), kOperationMode),
    value(2, "Pending", "pending_gom", kAlways, det("operation_mode_pending"), kOperationMode),
    value(1, "GPU C2C Mode", "c2c_mode", kAlways, det("c2c_mode"), kEnabled).since(12),
    group(1, "GPU Virtualization Mode", "gpu_virtualization_mode", kAlways),
    value(2, "Virtualization Mode", "virtualization_mode", kAlways, dev("virtualization_mode"), kVirtualization),
    told(2, "Host VGPU Mode", "host_vgpu_mode", kAlways, "host_vgpu_mode").since(10),
    told(2, "vGPU Heterogeneous Mode", "vgpu_heterogeneous_mode", kAlways, "vgpu_heterogeneous_mode").since(12),
    group(1, "vGPU Software Licensed Product", "vgpu_software_licensed_product", kAlways).if_logged(),
    told(2, "Product Name", "licensed_product_name", kAlways, "vgpu_software_licensed_product.name").if_logged(),
    told(2, "License Status", "license_status", kAlways, "vgpu_software_licensed_product.status").if_logged(),
    group(1, "GRID Licensed Product", "grid_licensed_product", kAlways).if_logged(),
    told(2, "Product Name", "licensed_product_name", kAlways, "grid_licensed_product.name").if_logged(),
    told(2, "License Status", "license_status", kAlways, "grid_licensed_product.status").if_logged(),
    group(1, "GPU Reset Status", "gpu_reset_status", kAlways).if_logged(),
    told(2, "Reset Required", "reset_required", kAlways, "gpu_reset_status.reset_required").if_logged(),
    told(2, "Drain and Reset Recommended", "drain_and_reset_recommended", kAlways,
         "gpu_reset_status.drain_and_reset_recommended")
        .if_logged(),
    value(1, "GPU Recovery Action", "gpu_recovery_action", kAlways, dev("recovery_action"), kRecovery).since(12),
    value(1, "GSP Firmware Version", "gsp_firmware_version", kGspVersion, dev("gsp_firmware_version")).since(11),
    group(1, "IBMNPU", "ibmnpu", kAlways).since(10),
    told(2, "Relaxed Ordering Mode", "relaxed_ordering_mode", kAlways, "relaxed_ordering_mode"),
    group(1, "PCI", "pci", kAlways),
    pci_number(2, "Bus", "pci_bus", kAlways, Fact::pci_bus),
    pci_number(2, "Device", "pci_device", kAlways, Fact::pci_device),
    pci_number(2, "Domain", "pci_domain", kAlways, Fact::pci_domain),
    value(2, "Base Classcode", "pci_base_class", kAlways, det("pci_base_class"), kHex, kBareHex).since(12),
    value(2, "Sub Classcode", "pci_sub_class", kAlways, det("pci_sub_class"), kHex, kBareHex).since(12),
    value(2, "Device Id", "pci_device_id", kAlways, det("pci_device_id"), kHex8, kBareHex8),
    fact(2, "Bus Id", "pci_bus_id", kAlways, Fact::bus_id),
    value(2, "Sub System Id", "pci_sub_system_id", kAlways, det("pci_subsystem_id"), kHex8, kBareHex8),
    group(2, "GPU Link Info", "pci_gpu_link_info", kAlways),
    group(3, "PCIe Generation", "pcie_gen", kAlways),
    value(4, "Max", "max_link_gen", kAlways, dev("pcie_link_generation_max")),
    value(4, "Current", "current_link_gen", kAlways, dev("pcie_link_generation")).only_if_nothing_better(),
    value(4, "Device Current", "device_current_link_gen", kAlways, dev("pcie_link_generation")).since(12),
    value(4, "Device Max", "max_device_link_gen", kAlways, dev("pcie_link_generation_device_max")).since(12),
    value(4, "Host Max", "max_host_link_gen", kAlways, det("pcie_link_generation_host_max")).since(12),
    group(3, "Link Width", "link_widths", kAlways),
    value(4, "Max", "max_link_width", kAlways, dev("pcie_link_width_max"), kLanes),
    value(4, "Current", "current_link_width", kAlways, dev("pcie_link_width"), kLanes),
    group(2, "Bridge Chip", "pci_bridge_chip", kAlways),
    told(3, "Type", "bridge_chip_type", kAlways, "bridge_chip_type"),
    told(3, "Firmware", "bridge_chip_fw", kAlways, "bridge_chip_fw"),
    value(2, "Replays Since Reset", "replay_counter", kAlways, dev("pcie_replay_total")),
    value(2, "Replay Number Rollovers", "replay_rollover_counter", kAlways, det("pcie_replay_rollover_total"))
        .since(10),
    value(2, "Tx Throughput", "tx_util", kAlways, det("pcie_throughput_tx_bytes_per_second"), kKilobytes),
    value(2, "Rx Throughput", "rx_util", kAlways, det("pcie_throughput_rx_bytes_per_second"), kKilobytes),
    value(2, "Atomic Caps Outbound", "atomic_caps_outbound", kAlways, det("pcie_atomics_outbound"), kAtomics).since(12),
    value(2, "Atomic Caps Inbound", "atomic_caps_inbound", kAlways, det("pcie_atomics_inbound"), kAtomics).since(12),
    value(1, "Fan Speed", "fan_speed", kAlways, dev("fan_speed_percent"), kPercent),
    value(1, "Performance State", "performance_state", kPerformance, dev("performance_state"), kPerformanceState),
    group(1, "Clocks Event Reasons", "clocks_event_reasons", kPerformance).since(12),
    event_reason(2, "Idle", "clocks_event_reason_gpu_idle", "idle"),
    event_reason(2, "Applications Clocks Setting", "clocks_event_reason_applications_clocks_setting",
                 "application clocks"),
    event_reason(2, "SW Power Cap", "clocks_event_reason_sw_power_cap", "power cap"),
    event_reason(2, "HW Slowdown", "clocks_event_reason_hw_slowdown", "hw slowdown"),
    event_reason(3, "HW Thermal Slowdown", "clocks_event_reason_hw_thermal_slowdown", "hw thermal"),
    event_reason(3, "HW Power Brake Slowdown", "clocks_event_reason_hw_power_brake_slowdown", "power brake"),
    event_reason(2, "Sync Boost", "clocks_event_reason_sync_boost", "sync boost"),
    event_reason(2, "SW Thermal Slowdown", "clocks_event_reason_sw_thermal_slowdown", "sw thermal"),
    event_reason(2, "Display Clock Setting", "clocks_event_reason_display_clocks_setting", "display clocks"),
    event_reason(2, "Unknown", "clocks_event_reason_unknown", "other").if_logged(),
    group(1, "Clocks Throttle Reasons", "clocks_throttle_reasons", kPerformance).until(11),
    event_reason(2, "Idle", "clocks_throttle_reason_gpu_idle", "idle"),
    event_reason(2, "Applications Clocks Setting", "clocks_throttle_reason_applications_clocks_setting",
                 "application clocks"),
    event_reason(2, "SW Power Cap", "clocks_throttle_reason_sw_power_cap", "power cap"),
    event_reason(2, "HW Slowdown", "clocks_throttle_reason_hw_slowdown", "hw slowdown"),
    event_reason(3, "HW Thermal Slowdown", "clocks_throttle_reason_hw_thermal_slowdown", "hw thermal").since(10),
    event_reason(3, "HW Power Brake Slowdown", "clocks_throttle_reason_hw_power_brake_slowdown", "power brake")
        .since(10),
    event_reason(2, "Sync Boost", "clocks_throttle_reason_sync_boost", "sync boost"),
    event_reason(2, "SW Thermal Slowdown", "clocks_throttle_reason_sw_thermal_slowdown", "sw thermal").since(10),
    event_reason(2, "Display Clock Setting", "clocks_throttle_reason_display_clocks_setting", "display clocks")
        .since(10),
    event_reason(2, "Unknown", "clocks_throttle_reason_unknown", "other").until(9),
    group(1, "Clocks Event Reasons Counters", "clocks_event_reasons_counters", kPerformance).since(13),
    value(2, "SW Power Capping", "clocks_event_reasons_counters_sw_power_cap", kPerformance,
          dev("throttled_power_seconds"), kMicro),
    value(2, "Sync Boost", "clocks_event_reasons_counters_sync_boost", kPerformance,
          dev("throttled_sync_boost_seconds"), kMicro),
    value(2, "SW Thermal Slowdown", "clocks_event_reasons_counters_sw_therm_slowdown", kPerformance,
          dev("throttled_sw_thermal_seconds"), kMicro),
    value(2, "HW Thermal Slowdown", "clocks_event_reasons_counters_hw_therm_slowdown", kPerformance,
          dev("throttled_hw_thermal_seconds"), kMicro),
    value(2, "HW Power Braking", "clocks_event_reasons_counters_hw_power_brake", kPerformance,
          dev("throttled_power_brake_seconds"), kMicro),
    value(1, "Sparse Operation Mode", "sparse_operation_mode", kPerformance, det("sparse_operation_mode"), kEnabled)
        .since(12),
    group(1, "FB Memory Usage", "fb_memory_usage", kMemory),
    value(2, "Total", "total", kMemory, dev("memory_total_bytes"), kMib),
    value(2, "Reserved", "reserved", kMemory, dev("memory_reserved_bytes"), kMib).since(11),
    value(2, "Used", "used", kMemory, dev("memory_used_bytes"), kMib),
    value(2, "Free", "free", kMemory, dev("memory_free_bytes"), kMib),
    group(1, "BAR1 Memory Usage", "bar1_memory_usage", kMemory),
    value(2, "Total", "total", kMemory, dev("bar1_total_bytes"), kMib),
    value(2, "Used", "used", kMemory, dev("bar1_used_bytes"), kMibDown),
    fact(2, "Free", "free", kMemory, Fact::bar1_free, kMib),
    group(1, "Conf Compute Protected Memory Usage", "cc_protected_memory_usage", kMemory).since(12),
    value(2, "Total", "total", kMemory, det("protected_memory_total_bytes"), kMib),
    value(2, "Used", "used", kMemory, det("protected_memory_used_bytes"), kMib),
    value(2, "Free", "free", kMemory, det("protected_memory_free_bytes"), kMib),
    value(1, "Compute Mode", "compute_mode", kCompute, dev("compute_mode"), kComputeMode),
    group(1, "Utilization", "utilization", kUtilization),
    value(2, "GPU", "gpu_util", kUtilization, dev("gpu_utilization_percent"), kPercent),
    value(2, "Memory", "memory_util", kUtilization, dev("memory_utilization_percent"), kPercent),
    value(2, "Encoder", "encoder_util", kUtilization, dev("encoder_utilization_percent"), kPercent),
    value(2, "Decoder", "decoder_util", kUtilization, dev("decoder_utilization_percent"), kPercent),
    value(2, "JPEG", "jpeg_util", kUtilization, dev("jpeg_utilization_percent"), kPercent).since(12),
    value(2, "OFA", "ofa_util", kUtilization, dev("ofa_utilization_percent"), kPercent).since(12),
    samples("GPU Utilization Samples", kUtilization, SampleKind::gpu, kPercent),
    samples("Memory Utilization Samples", kUtilization, SampleKind::memory, kPercent),
    samples("ENC Utilization Samples", kUtilization, SampleKind::encoder, kPercent),
    samples("DEC Utilization Samples", kUtilization, SampleKind::decoder, kPercent),
    samples("JPG Utilization Samples", kUtilization, SampleKind::jpeg, kPercent),
    samples("OFA Utilization Samples", kUtilization, SampleKind::ofa, kPercent),
    group(1, "Encoder Stats", "encoder_stats", kEncoderStats),
    value(2, "Active Sessions", "session_count", kEncoderStats, dev("encoder_sessions")),
    value(2, "Average FPS", "average_fps", kEncoderStats, dev("encoder_average_fps")),
    value(2, "Average Latency", "average_latency", kEncoderStats, dev("encoder_latency_seconds"), kPlainMicro)
        .formerly(kMilli),
    group(1, "FBC Stats", "fbc_stats", kFbcStats).since(10),
    value(2, "Active Sessions", "session_count", kFbcStats, det("fbc_sessions")),
    value(2, "Average FPS", "average_fps", kFbcStats, det("fbc_average_fps")),
    value(2, "Average Latency", "average_latency", kFbcStats, det("fbc_latency_seconds"), kPlainMicro),
    group(1, "DRAM Encryption Mode", "dram_encryption_mode", kAlways).since(12),
    value(2, "Current", "current_dram_encryption", kAlways, det("dram_encryption"), kEnabled),
    value(2, "Pending", "pending_dram_encryption", kAlways, det("dram_encryption_pending"), kEnabled),
    group(1, "ECC Mode", "ecc_mode", kEcc),
    value(2, "Current", "current_ecc", kEcc, dev("ecc_mode"), kEnabled),
    value(2, "Pending", "pending_ecc", kEcc, dev("ecc_mode_pending"), kEnabled),
    group(1, "ECC Errors", "ecc_errors", kEcc),
    group(2, "Volatile", "volatile", kEcc),
    ecc_bits_group("Single Bit", "single_bit"),
    ecc_bits("Device Memory", "device_memory", dev("ecc_dram_corrected_volatile_total")),
    ecc_bits("Register File", "register_file", det("ecc_register_file_corrected_volatile_total")),
    ecc_bits("L1 Cache", "l1_cache", det("ecc_l1_cache_corrected_volatile_total")),
    ecc_bits("L2 Cache", "l2_cache", det("ecc_l2_cache_corrected_volatile_total")),
    ecc_bits("Texture Memory", "texture_memory", det("ecc_texture_corrected_volatile_total")),
    told_ecc_bits("Texture Shared", "texture_shm", "ecc_errors.volatile.single_bit.texture_shm"),
    ecc_bits("CBU", "cbu", det("ecc_cbu_corrected_volatile_total")).since(9),
    ecc_bits("Total", "total", dev("ecc_corrected_volatile_total")),
    ecc_bits_group("Double Bit", "double_bit"),
    ecc_bits("Device Memory", "device_memory", dev("ecc_dram_uncorrected_volatile_total")),
    ecc_bits("Register File", "register_file", det("ecc_register_file_uncorrected_volatile_total")),
    ecc_bits("L1 Cache", "l1_cache", det("ecc_l1_cache_uncorrected_volatile_total")),
    ecc_bits("L2 Cache", "l2_cache", det("ecc_l2_cache_uncorrected_volatile_total")),
    ecc_bits("Texture Memory", "texture_memory", det("ecc_texture_uncorrected_volatile_total")),
    told_ecc_bits("Texture Shared", "texture_shm", "ecc_errors.volatile.double_bit.texture_shm"),
    ecc_bits("CBU", "cbu", det("ecc_cbu_uncorrected_volatile_total")).since(9),
    ecc_bits("Total", "total", dev("ecc_uncorrected_volatile_total")),
    ecc_any("SRAM Correctable", "sram_correctable", det("ecc_sram_corrected_volatile_total")),
    ecc_sram("SRAM Uncorrectable", "sram_uncorrectable", det("ecc_sram_uncorrected_volatile_total")),
    ecc_parity(3, "SRAM Uncorrectable Parity", "sram_uncorrectable_parity", det("ecc_sram_parity_volatile_total")),
    ecc_parity(3, "SRAM Uncorrectable SEC-DED", "sram_uncorrectable_secded", det("ecc_sram_secded_volatile_total")),
    ecc_any("DRAM Correctable", "dram_correctable", dev("ecc_dram_corrected_volatile_total")),
    ecc_any("DRAM Uncorrectable", "dram_uncorrectable", dev("ecc_dram_uncorrected_volatile_total")),
    group(2, "Aggregate", "aggregate", kEcc),
    ecc_bits_group("Single Bit", "single_bit"),
    ecc_bits("Device Memory", "device_memory", dev("ecc_dram_corrected_total")),
    ecc_bits("Register File", "register_file", det("ecc_register_file_corrected_total")),
    ecc_bits("L1 Cache", "l1_cache", det("ecc_l1_cache_corrected_total")),
    ecc_bits("L2 Cache", "l2_cache", det("ecc_l2_cache_corrected_total")),
    ecc_bits("Texture Memory", "texture_memory", det("ecc_texture_corrected_total")),
    told_ecc_bits("Texture Shared", "texture_shm", "ecc_errors.aggregate.single_bit.texture_shm"),
    ecc_bits("CBU", "cbu", det("ecc_cbu_corrected_total")).since(9),
    ecc_bits("Total", "total", dev("ecc_corrected_total")),
    ecc_bits_group("Double Bit", "double_bit"),
    ecc_bits("Device Memory", "device_memory", dev("ecc_dram_uncorrected_total")),
    ecc_bits("Register File", "register_file", det("ecc_register_file_uncorrected_total")),
    ecc_bits("L1 Cache", "l1_cache", det("ecc_l1_cache_uncorrected_total")),
    ecc_bits("L2 Cache", "l2_cache", det("ecc_l2_cache_uncorrected_total")),
    ecc_bits("Texture Memory", "texture_memory", det("ecc_texture_uncorrected_total")),
    told_ecc_bits("Texture Shared", "texture_shm", "ecc_errors.aggregate.double_bit.texture_shm"),
    ecc_bits("CBU", "cbu", det("ecc_cbu_uncorrected_total")).since(9),
    ecc_bits("Total", "total", dev("ecc_uncorrected_total")),
    ecc_any("SRAM Correctable", "sram_correctable", dev("ecc_sram_corrected_total")),
    ecc_sram("SRAM Uncorrectable", "sram_uncorrectable", dev("ecc_sram_uncorrected_total")),
    ecc_parity(3, "SRAM Uncorrectable Parity", "sram_uncorrectable_parity", det("ecc_sram_parity_total")),
    ecc_parity(3, "SRAM Uncorrectable SEC-DED", "sram_uncorrectable_secded", det("ecc_sram_secded_total")),
    ecc_any("DRAM Correctable", "dram_correctable", dev("ecc_dram_corrected_total")),
    ecc_any("DRAM Uncorrectable", "dram_uncorrectable", dev("ecc_dram_uncorrected_total")),
    ecc_parity(3, "SRAM Threshold Exceeded", "sram_threshold_exceeded", dev("ecc_sram_threshold_exceeded"), kYesNo),
    group(2, "Aggregate Uncorrectable SRAM Sources", "aggregate_uncorrectable_sram_sources", kEcc)
        .when(Condition::ecc_parity, {kArchitectureMetric})
        .since(12),
    ecc_parity(3, "SRAM L2", "sram_l2", det("ecc_sram_in_l2_total")),
    ecc_parity(3, "SRAM SM", "sram_sm", det("ecc_sram_in_sm_total")),
    ecc_parity(3, "SRAM Microcontroller", "sram_microcontroller", det("ecc_sram_in_mcu_total")),
    ecc_parity(3, "SRAM PCIE", "sram_pcie", det("ecc_sram_in_pcie_total")),
    ecc_parity(3, "SRAM Other", "sram_other", det("ecc_sram_in_other_total")),
    ecc_parity(2, "Channel Repair Pending", "channel_repair_pending", det("repair_channel_pending"), kYesNo).since(13),
    ecc_parity(2, "TPC Repair Pending", "tpc_repair_pending", det("repair_tpc_pending"), kYesNo).since(13),
    ecc_parity(2, "Unrepairable Memory", "unrepairable_memory", det("memory_unrepairable"), kYesNo).since(13),
    group(1, "Retired Pages", "retired_pages", kPageRetirement),
    value(2, "Single Bit ECC", "", kPageRetirement, dev("retired_pages_single_bit_total")),
    value(2, "Double Bit ECC", "", kPageRetirement, dev("retired_pages_double_bit_total")),
    group(2, "", "multiple_single_bit_retirement", kAlways),
    value(3, "", "retired_count", kAlways, dev("retired_pages_single_bit_total")),
    list(3, "", "retired_page_addresses", kAlways, List::single_bit_pages, {det("retired_page_count")}).until(9),
    list(3, "", "retired_pagelist", kAlways, List::single_bit_pages, {det("retired_page_count")}).since(10),
    group(2, "", "double_bit_retirement", kAlways),
    value(3, "", "retired_count", kAlways, dev("retired_pages_double_bit_total")),
    list(3, "", "retired_page_addresses", kAlways, List::double_bit_pages, {det("retired_page_count")}).until(9),
    list(3, "", "retired_pagelist", kAlways, List::double_bit_pages, {det("retired_page_count")}).since(10),
    value(2, "Pending Page Blacklist", "pending_blacklist", kPageRetirement, dev("retired_pages_pending"), kYesNo)
        .since(10)
        .only_if_nothing_better(),
    value(2, "", "pending_retirement", kPageRetirement, dev("retired_pages_pending"), kYesNo),
    folded(1, "Remapped Rows", "remapped_rows", kRowRemapper).since(11),
    value(2, "Correctable Error", "remapped_row_corr", kRowRemapper, dev("remapped_rows_corrected_total")),
    value(2, "Inactive Correctable Error", "remapped_row_corr_inactive", kRowRemapper,
          det("remapped_rows_corrected_inactive_total")),
    value(2, "Uncorrectable Error", "remapped_row_unc", kRowRemapper, dev("remapped_rows_uncorrected_total")),
    value(2, "Inactive Uncorrectable Error", "remapped_row_unc_inactive", kRowRemapper,
          det("remapped_rows_uncorrected_inactive_total")),
    value(2, "Pending", "remapped_row_pending", kRowRemapper, dev("remapped_rows_pending"), kYesNo),
    value(2, "Remapping Failure Occurred", "remapped_row_failure", kRowRemapper, dev("remapped_rows_failure"), kYesNo),
    folded(2, "Bank Remap Availability Histogram", "row_remapper_histogram", kRowRemapper),
    value(3, "Max", "row_remapper_histogram_max", kRowRemapper, dev("remapped_banks_max"), kBanks),
    value(3, "High", "row_remapper_histogram_high", kRowRemapper, dev("remapped_banks_high"), kBanks),
    value(3, "Partial", "row_remapper_histogram_partial", kRowRemapper, dev("remapped_banks_partial"), kBanks),
    value(3, "Low", "row_remapper_histogram_low", kRowRemapper, dev("remapped_banks_low"), kBanks),
    value(3, "None", "row_remapper_histogram_none", kRowRemapper, dev("remapped_banks_none"), kBanks),
    group(1, "Temperature", "temperature", kTemperature),
    value(2, "GPU Current Temp", "gpu_temp", kTemperature, dev("temperature_gpu_celsius"), kCelsius),
    value(2, "GPU T.Limit Temp", "gpu_temp_tlimit", kTemperature, dev("temperature_margin_celsius"), kCelsius)
        .since(12),
    value(2, "GPU Current T.Limit Temp", "", kTemperature, dev("temperature_margin_celsius"), kCelsius).if_logged(),
    limit("GPU Shutdown Temp", "gpu_temp_max_threshold", dev("temperature_shutdown_celsius")),
    margin("GPU Shutdown T.Limit Temp", "gpu_temp_max_tlimit_threshold", dev("temperature_margin_shutdown_celsius")),
    limit("GPU Slowdown Temp", "gpu_temp_slow_threshold", dev("temperature_slowdown_celsius")),
    margin("GPU Slowdown T.Limit Temp", "gpu_temp_slow_tlimit_threshold", dev("temperature_margin_slowdown_celsius")),
    limit("GPU Max Operating Temp", "gpu_temp_max_gpu_threshold", dev("temperature_gpu_max_celsius")).since(10),
    margin("GPU Max Operating T.Limit Temp", "gpu_temp_max_gpu_tlimit_threshold",
           dev("temperature_margin_gpu_max_celsius")),
    value(2, "GPU Target Temperature", "gpu_target_temperature", kTemperature, det("temperature_target_celsius"),
          kCelsius)
        .since(11),
    value(2, "GPU Target Temperature Specification", "", kTemperature, det("temperature_target_celsius"), kCelsius)
        .if_logged(),
    value(2, "Memory Current Temp", "memory_temp", kTemperature, dev("temperature_memory_celsius"), kCelsius).since(9),
    limit("Memory Max Operating Temp", "gpu_temp_max_mem_threshold", dev("temperature_memory_max_celsius")).since(10),
    margin("Memory Max Operating T.Limit Temp", "gpu_temp_max_mem_tlimit_threshold",
           dev("temperature_margin_memory_max_celsius")),
    group(1, "Supported GPU_TARGET_TEMP", "supported_gpu_target_temp", kTargetTemperature).only_on_request().since(11),
    value(2, "Min", "gpu_target_temp_min", kTargetTemperature, det("temperature_target_min_celsius"), kCelsius)
        .only_on_request(),
    value(2, "Max", "gpu_target_temp_max", kTargetTemperature, det("temperature_target_max_celsius"), kCelsius)
        .only_on_request(),
    group(1, "Power Readings", "power_readings", kPower).until(11),
    power_state("power_readings.power_state").until(11),
    value(2, "Power Management", "power_management", kPower, det("power_management"), kSupported).until(11),
    value(2, "Power Draw", "power_draw", kPower, dev("power_draw_watts"), kWatts).until(11),
    value(2, "Power Limit", "power_limit", kPower, dev("power_limit_requested_watts"), kWatts).until(11),
    value(2, "Default Power Limit", "default_power_limit", kPower, dev("power_limit_default_watts"), kWatts).until(11),
    value(2, "Enforced Power Limit", "enforced_power_limit", kPower, dev("power_limit_watts"), kWatts).until(11),
    value(2, "Min Power Limit", "min_power_limit", kPower, dev("power_limit_min_watts"), kWatts).until(11),
    value(2, "Max Power Limit", "max_power_limit", kPower, dev("power_limit_max_watts"), kWatts).until(11),
    group(1, "GPU Power Readings", "gpu_power_readings", kPower).since(12),
    power_state("gpu_power_readings.power_state"),
    value(2, "Power Draw", "power_draw", kPower, dev("power_draw_watts"), kWatts).if_logged(),
    value(2, "Average Power Draw", "average_power_draw", kPower, dev("power_average_watts"), kWatts)
        .when(Condition::average_power, kPowerNeeds),
    value(2, "Instantaneous Power Draw", "instant_power_draw", kPower, dev("power_instant_watts"), kWatts)
        .when(Condition::instant_power, kPowerNeeds),
    value(2, "Current Power Limit", "current_power_limit", kPower, dev("power_limit_watts"), kWatts),
    value(2, "Requested Power Limit", "requested_power_limit", kPower, dev("power_limit_requested_watts"), kWatts),
    value(2, "Default Power Limit", "default_power_limit", kPower, dev("power_limit_default_watts"), kWatts),
    group(2, "GPU Ceiling Power Limit", "", kPower).if_logged(),
    value(3, "Current Power Limit", "", kPower, dev("power_limit_watts"), kWatts).if_logged(),
    value(3, "Requested Power Limit", "", kPower, dev("power_limit_requested_watts"), kWatts).if_logged(),
    value(3, "Default Power Limit", "", kPower, dev("power_limit_default_watts"), kWatts).if_logged(),
    group(2, "GPU Base Power", "", kPower).if_logged(),
    told(3, "Current Base Power", "", kPower, "gpu.base.current").if_logged(),
    told(3, "Requested Base Power", "", kPower, "gpu.base.requested").if_logged(),
    told(3, "Default Base Power", "", kPower, "gpu.base.default").if_logged(),
    value(2, "Min Power Limit", "min_power_limit", kPower, dev("power_limit_min_watts"), kWatts),
    value(2, "Max Power Limit", "max_power_limit", kPower, dev("power_limit_max_watts"), kWatts),
    samples("Power Samples", kPower, SampleKind::power, kWatts),
    group(1, "GPU Memory Power Readings ", "gpu_memory_power_readings", kPower).since(12),
    value(2, "Average Power Draw", "average_power_draw", kPower, dev("memory_power_watts"), kWatts),
    value(2, "Instantaneous Power Draw", "instant_power_draw", kPower, det("memory_power_instant_watts"), kWatts),
    group(1, "Module Power Readings", "module_power_readings", kPower).since(12),
    power_state("module_power_readings.power_state"),
    value(2, "Power Draw", "power_draw", kPower, dev("module_power_watts"), kWatts).if_logged(),
    value(2, "Average Power Draw", "average_power_draw", kPower, dev("module_power_watts"), kWatts),
    value(2, "Instantaneous Power Draw", "instant_power_draw", kPower, det("module_power_instant_watts"), kWatts),
    value(2, "Current Power Limit", "current_power_limit", kPower, det("module_power_limit_watts"), kWatts),
    value(2, "Requested Power Limit", "requested_power_limit", kPower, det("module_power_limit_requested_watts"),
          kWatts),
    value(2, "Default Power Limit", "default_power_limit", kPower, det("module_power_limit_default_watts"), kWatts),
    value(2, "Min Power Limit", "min_power_limit", kPower, det("module_power_limit_min_watts"), kWatts),
    value(2, "Max Power Limit", "max_power_limit", kPower, det("module_power_limit_max_watts"), kWatts),
    folded(1, "Power Smoothing", "power_smoothing", kPowerSmoothing).since(12),
    told(2, "", "power_smoothing_enabled", kPowerSmoothing, "power_smoothing.enabled").if_logged(),
    told(2, "", "power_smoothing_priv_level", kPowerSmoothing, "power_smoothing.priv_level").if_logged(),
    told(2, "", "power_smoothing_imm_ramp_down", kPowerSmoothing, "power_smoothing.imm_ramp_down").if_logged(),
    told(2, "", "power_smoothing_curr_tmp", kPowerSmoothing, "power_smoothing.tmp_ceil").if_logged(),
    told(2, "", "power_smoothing_curr_tmp_floor", kPowerSmoothing, "power_smoothing.tmp_floor").if_logged(),
    told(2, "", "power_smoothing_max_percent_tmp_floor", kPowerSmoothing, "power_smoothing.max_percent_tmp_floor")
        .if_logged(),
    told(2, "", "power_smoothing_min_percent_tmp_floor", kPowerSmoothing, "power_smoothing.min_percent_tmp_floor")
        .if_logged(),
    told(2, "", "power_smoothing_hw_circuitry_percent_lifetime_remaining", kPowerSmoothing,
         "power_smoothing.hw_lifetime_remaining_percent")
        .if_logged(),
    value(2, "Primary Power Floor", "power_smoothing_curr_primary_power_floor", kPowerSmoothing,
          det("power_smoothing_primary_floor_watts"), kWatts),
    value(2, "Secondary Power Floor", "power_smoothing_curr_secondary_power_floor", kPowerSmoothing,
          det("power_smoothing_secondary_floor_watts"), kWatts),
    value(2, "Min Primary Floor Activation Offset", "power_smoothing_min_primary_floor_activation_offset",
          kPowerSmoothing, det("power_smoothing_min_offset_watts"), kWatts),
    value(2, "Min Primary Floor Activation Point", "power_smoothing_min_primary_floor_activation_point",
          kPowerSmoothing, det("power_smoothing_min_point_watts"), kWatts),
    value(2, "Window Multiplier", "power_smoothing_window_multiplier", kPowerSmoothing,
          det("power_smoothing_window_seconds"), kMilli),
    value(2, "Delayed Power Smoothing Supported", "power_smoothing_delayed_power_smoothing_supported", kPowerSmoothing,
          det("power_smoothing_supported"), kYesNo),
    told(2, "", "power_smoothing_num_preset_profiles", kPowerSmoothing, "power_smoothing.num_preset_profiles")
        .if_logged(),
    group(2, "", "power_smoothing_current_profile", kPowerSmoothing).if_logged(),
    told(3, "", "power_smoothing_curr_profile_percent_tmp_floor", kPowerSmoothing,
         "power_smoothing.curr_profile.percent_tmp_floor")
        .if_logged(),
    told(3, "", "power_smoothing_curr_profile_ramp_up_rate", kPowerSmoothing,
         "power_smoothing.curr_profile.ramp_up_rate")
        .if_logged(),
    told(3, "", "power_smoothing_curr_profile_ramp_down_rate", kPowerSmoothing,
         "power_smoothing.curr_profile.ramp_down_rate")
        .if_logged(),
    told(3, "", "power_smoothing_curr_profile_ramp_down_hysteresis", kPowerSmoothing,
         "power_smoothing.curr_profile.ramp_down_hysteresis")
        .if_logged(),
    value(3, "", "power_smoothing_curr_profile_secondary_power_floor", kPowerSmoothing,
          det("power_smoothing_profile_floor_watts"), kWatts)
        .if_logged(),
    value(3, "", "power_smoothing_curr_profile_primary_floor_activation_window_multiplier", kPowerSmoothing,
          det("power_smoothing_profile_activation_windows"))
        .if_logged(),
    value(3, "", "power_smoothing_curr_profile_primary_floor_target_window_multiplier", kPowerSmoothing,
          det("power_smoothing_profile_target_windows"))
        .if_logged(),
    value(3, "", "power_smoothing_curr_profile_primary_floor_activatin_offset", kPowerSmoothing,
          det("power_smoothing_profile_offset_watts"), kWatts)
        .if_logged(),
    told(2, "", "power_smoothing_active_profile", kPowerSmoothing, "power_smoothing.active_profile").if_logged(),
    group(2, "", "power_smoothing_admin_overrides", kPowerSmoothing).if_logged(),
    told(3, "", "power_smoothing_admin_override_percent_tmp_floor", kPowerSmoothing,
         "power_smoothing.admin_override.percent_tmp_floor")
        .if_logged(),
    told(3, "", "power_smoothing_admin_override_ramp_up_rate", kPowerSmoothing,
         "power_smoothing.admin_override.ramp_up_rate")
        .if_logged(),
    told(3, "", "power_smoothing_admin_override_ramp_down_rate", kPowerSmoothing,
         "power_smoothing.admin_override.ramp_down_rate")
        .if_logged(),
    told(3, "", "power_smoothing_admin_override_ramp_down_hysteresis", kPowerSmoothing,
         "power_smoothing.admin_override.ramp_down_hysteresis")
        .if_logged(),
    value(3, "", "power_smoothing_admin_override_secondary_power_floor", kPowerSmoothing,
          det("power_smoothing_override_floor_watts"), kWatts)
        .if_logged(),
    value(3, "", "power_smoothing_admin_override_primary_floor_activation_window_multiplier", kPowerSmoothing,
          det("power_smoothing_override_activation_windows"))
        .if_logged(),
    value(3, "", "power_smoothing_admin_override_primary_floor_target_window_multiplier", kPowerSmoothing,
          det("power_smoothing_override_target_windows"))
        .if_logged(),
    value(3, "", "power_smoothing_admin_override_primary_floor_activation_offset", kPowerSmoothing,
          det("power_smoothing_override_offset_watts"), kWatts)
        .if_logged(),
    group(1, "Workload Power Profiles", "power_profiles", kPowerProfiles).since(12),
    value(2, "Requested Profiles", "power_profile_requested_profiles", kPowerProfiles,
          det("workload_profiles_requested"))
        .of_entries("power_profile_requested_profile"),
    value(2, "Enforced Profiles", "power_profile_enforced_profiles", kPowerProfiles, det("workload_profiles_enforced"))
        .of_entries("power_profile_enforced_profile"),
    told(1, "EDPp Multiplier", "edpp_multiplier", kPower, "edpp_multiplier").if_logged(),
    group(1, "Clocks", "clocks", kClock),
    value(2, "Graphics", "graphics_clock", kClock, dev("clock_graphics_mhz"), kMhz),
    value(2, "SM", "sm_clock", kClock, dev("clock_sm_mhz"), kMhz),
    value(2, "Memory", "mem_clock", kClock, dev("clock_memory_mhz"), kMhz),
    value(2, "Video", "video_clock", kClock, dev("clock_video_mhz"), kMhz),
    group(1, "Applications Clocks", "applications_clocks", kClock),
    value(2, "Graphics", "graphics_clock", kClock, dev("clock_application_graphics_mhz"), kMhz),
    value(2, "Memory", "mem_clock", kClock, dev("clock_application_memory_mhz"), kMhz),
    group(1, "Default Applications Clocks", "default_applications_clocks", kClock),
    value(2, "Graphics", "graphics_clock", kClock, det("clock_default_graphics_mhz"), kMhz),
    value(2, "Memory", "mem_clock", kClock, det("clock_default_memory_mhz"), kMhz),
    group(1, "Deferred Clocks", "deferred_clocks", kClock).since(12),
    value(2, "Memory", "mem_clock", kClock, det("clock_deferred_memory_mhz"), kMhz),
    group(1, "Max Clocks", "max_clocks", kClock),
    value(2, "Graphics", "graphics_clock", kClock, dev("clock_max_graphics_mhz"), kMhz),
    value(2, "SM", "sm_clock", kClock, dev("clock_max_sm_mhz"), kMhz),
    value(2, "Memory", "mem_clock", kClock, dev("clock_max_memory_mhz"), kMhz),
    value(2, "Video", "video_clock", kClock, dev("clock_max_video_mhz"), kMhz),
    group(1, "Max Customer Boost Clocks", "max_customer_boost_clocks", kClock).since(9),
    value(2, "Graphics", "graphics_clock", kClock, dev("clock_max_boost_mhz"), kMhz),
    samples("SM Clock Samples", kClock, SampleKind::sm_clock, kMhz),
    samples("Memory Clock Samples", kClock, SampleKind::memory_clock, kMhz),
    group(1, "Clock Policy", "clock_policy", kClock),
    value(2, "Auto Boost", "auto_boost", kClock, det("auto_boost"), kOnOff),
    value(2, "Auto Boost Default", "auto_boost_default", kClock, det("auto_boost_default"), kOnOff),
    group(1, "Voltage", "voltage", kVoltage).since(11).until(12),
    value(2, "Graphics", "graphics_volt", kVoltage, dev("voltage_graphics_volts"), kMillivolts).until(12),
    group(1, "Fabric", "fabric", kAlways).since(12),
    value(2, "State", "state", kAlways, det("fabric_state"), kFabricState),
    value(2, "Status", "status", kAlways, det("fabric_status"), kFabricStatus),
    value(2, "CliqueId", "cliqueId", kAlways, det("fabric_clique")),
    value(2, "ClusterUUID", "clusterUuid", kAlways, det("fabric_cluster")),
    group(2, "Health", "health", kAlways),
    value(3, "Summary", "summary", kAlways, det("fabric_health_summary"), kHealthSummary),
    fabric_fault("Bandwidth", "bandwidth", 0),
    fabric_fault("Route Recovery in progress", "route_recovery_in_progress", 1),
    fabric_fault("Route Unhealthy", "route_unhealthy", 2),
    fabric_fault("Access Timeout Recovery", "access_timeout_recovery", 3),
    fabric_fault("Incorrect Configuration", "incorrect_configuration", 4),
    fabric_fault("Partition Assigned", "partition_assigned", 5),
    list(1, "Supported Clocks", "supported_clocks", kSupportedClocks, List::clocks, {det("supported_clock_count")})
        .only_on_request(),
    list(1, "Processes", "processes", kPids, List::processes, {dev("process_count"), det("gpu_instance_id")}),
    // Before v8.
    list(1, "Compute Processes", "compute_processes", kPids, List::processes, {dev("process_count")}).if_logged(),
    list(1, "", "accounted_processes", kAlways, List::accounted, {det("accounted_process_count")}),
    group(1, "Capabilities", "capabilities", kAlways).since(12),
    value(2, "EGM", "egm", kAlways, det("extended_memory"), kEnabledLow),
};

// Below <mig_device>.
inline constexpr LogRow kInstance[] = {
    fact(2, "Index", "index", kAlways, Fact::instance_index),
    value(2, "GPU Instance ID", "gpu_instance_id", kAlways, det("gpu_instance_id")),
    value(2, "Compute Instance ID", "compute_instance_id", kAlways, det("compute_instance_id")),
    group(2, "Device Attributes", "device_attributes", kAlways),
    group(3, "Shared", "shared", kAlways),
    value(4, "Multiprocessor count", "multiprocessor_count", kAlways, dev("multiprocessor_count")),
    value(4, "Copy Engine count", "copy_engine_count", kAlways, det("copy_engine_count")),
    value(4, "Encoder count", "encoder_count", kAlways, det("encoder_count")),
    value(4, "Decoder count", "decoder_count", kAlways, det("decoder_count")),
    value(4, "OFA count", "ofa_count", kAlways, det("ofa_count")),
    value(4, "JPG count", "jpg_count", kAlways, det("jpeg_count")),
    group(2, "ECC Errors", "ecc_error_count", kAlways),
    group(3, "Volatile", "volatile_count", kAlways),
    value(4, "SRAM Uncorrectable", "sram_uncorrectable", kAlways, dev("ecc_uncorrected_volatile_total")),
    group(2, "Shared FB Memory Usage", "fb_memory_usage", kAlways),
    value(3, "Total", "total", kAlways, dev("memory_total_bytes"), kMib),
    value(3, "Reserved", "reserved", kAlways, dev("memory_reserved_bytes"), kMib),
    value(3, "Used", "used", kAlways, dev("memory_used_bytes"), kMib),
    value(3, "Free", "free", kAlways, dev("memory_free_bytes"), kMib),
    group(2, "Shared BAR1 Memory", "bar1_memory_usage", kAlways),
    value(3, "Total", "total", kAlways, dev("bar1_total_bytes"), kMibDown),
    value(3, "Used", "used", kAlways, dev("bar1_used_bytes"), kMibDown),
    fact(3, "Free", "free", kAlways, Fact::instance_bar1_free, kMib),
};

}  // namespace gpulse::smi::table
