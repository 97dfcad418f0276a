// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/detail_readers.hpp"

#include "source/nvml/code.hpp"
#include "source/nvml/detail_calls.hpp"
#include "source/nvml/field.hpp"
#include "source/nvml/kernel_module.hpp"
#include "source/nvml/reader_rows.hpp"

namespace gpulse::nvml {

namespace {

template <auto Call, class Info, auto Value, MetricId Id>
Outcome from_struct(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  Info info{};
  if constexpr (requires(Info one) { one.version; }) info.version = version_word<Info>(1);
  const auto code = (driver.api.get()->*Call)(device.handle, &info);
  return put(frame, Id, code, info.*Value);
}

Outcome extended_memory(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  constexpr std::uint32_t kExtended = 1;
  Capabilities all{.version = version_word<Capabilities>(1), .mask = 0};
  const auto code = driver.api->capabilities(device.handle, &all);
  return put(frame, detail_metric("extended_memory"), code, (all.mask & kExtended) != 0 ? 1 : 0);
}

Outcome dram_encryption(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  DramEncryption current{.version = version_word<DramEncryption>(1), .state = 0};
  auto pending = current;
  const auto code = driver.api->dram_encryption(device.handle, &current, &pending);
  put(frame, detail_metric("dram_encryption_pending"), code, pending.state);
  return put(frame, detail_metric("dram_encryption"), code, current.state);
}

constexpr auto kThroughputTx = detail_metric("pcie_throughput_tx_bytes_per_second");
constexpr auto kThroughputRx = detail_metric("pcie_throughput_rx_bytes_per_second");

// The driver reads a byte counter twice, 20 ms apart, and each reading is traffic too. One direction after the other,
// as nvidia-smi does it: at the same time each would count the other's readings.
Outcome pcie_throughput(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  constexpr std::uint32_t kTransmit = 0, kReceive = 1;
  constexpr double kKilo = 1000;
  std::uint32_t tx = 0;
  std::uint32_t rx = 0;
  const auto tx_code = driver.api->pcie_throughput(device.handle, kTransmit, &tx);
  const auto rx_code = driver.api->pcie_throughput(device.handle, kReceive, &rx);
  put(frame, kThroughputTx, tx_code, tx * kKilo);
  const auto outcome = put(frame, kThroughputRx, rx_code, rx * kKilo);
  return outcome == Outcome::ok ? outcome_of(tx_code) : outcome;
}

Outcome fbc(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  FbcStats stats{};
  const auto code = driver.api->fbc_stats(device.handle, &stats);
  put(frame, detail_metric("fbc_average_fps"), code, stats.fps);
  put(frame, detail_metric("fbc_latency_seconds"), code, stats.latency_us * 1e-6);
  return put(frame, detail_metric("fbc_sessions"), code, stats.sessions);
}

Outcome protected_memory(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  Memory memory{};
  const auto code = driver.api->protected_memory(device.handle, &memory);
  put(frame, detail_metric("protected_memory_used_bytes"), code, static_cast<double>(memory.used));
  put(frame, detail_metric("protected_memory_free_bytes"), code, static_cast<double>(memory.free));
  return put(frame, detail_metric("protected_memory_total_bytes"), code, static_cast<double>(memory.total));
}

Outcome event_reasons_supported(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  std::uint64_t bits = 0;
  auto code = driver.api->event_reasons_supported(device.handle, &bits);
  if (try_older(code)) {
    if (const auto older = driver.api->throttle_reasons_supported(device.handle, &bits);
        older != Return::function_not_found) {
      code = older;
    }
  }
  return put(frame, detail_metric("event_reasons_supported"), code, static_cast<double>(bits));
}

Outcome remapped_inactive(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  RemappedRowsV2 rows{};
  const auto code = driver.api->remapped_rows_v2(device.handle, &rows);
  put(frame, detail_metric("remapped_rows_uncorrected_inactive_total"), code, rows.uncorrected_inactive);
  return put(frame, detail_metric("remapped_rows_corrected_inactive_total"), code, rows.corrected_inactive);
}

Outcome repairs(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  RepairStatus status{.version = version_word<RepairStatus>(1), .channel_pending = 0, .tpc_pending = 0};
  const auto code = driver.api->repair_status(device.handle, &status);
  put(frame, detail_metric("repair_tpc_pending"), code, status.tpc_pending != 0 ? 1 : 0);
  return put(frame, detail_metric("repair_channel_pending"), code, status.channel_pending != 0 ? 1 : 0);
}

Outcome compute_timeslice(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  *frame.find(detail_metric("compute_timeslice")) = read_timeslice(driver, device);
  return Outcome::ok;
}

std::vector<Reader> make_identity_readers() {
  return {
      row<detail_metric("pci_device_id"), detail_metric("pci_subsystem_id")>("GetPciInfo", Tier::once, pci_ids),
      row<detail_metric("pci_base_class"), detail_metric("pci_sub_class")>("GetPciInfoExt", Tier::once, pci_class),
      simple<&Api::board_id, detail_metric("board_id")>("GetBoardId", Tier::once),
      simple<&Api::multi_gpu_board, detail_metric("multi_gpu_board")>("GetMultiGpuBoard", Tier::once),
      simple<&Api::module_id, detail_metric("module_id")>("GetModuleId", Tier::once),
      row<detail_metric("chip_identity")>("GetPdi", Tier::once, chip_identity),
      row<detail_metric("gpu_part_number"), detail_metric("sparse_operation_mode")>("requests to the kernel module",
                                                                                    Tier::slow, kernel_module),
      row<detail_metric("hostname_assigned")>("GetHostname", Tier::once, hostname_assigned),
      row<detail_metric("inforom_oem_version")>("GetInforomVersion OEM", Tier::once, inforom_oem),
      row<detail_metric("inforom_ecc_version")>("GetInforomVersion ECC", Tier::once, inforom_ecc),
      row<detail_metric("inforom_power_version")>("GetInforomVersion power", Tier::once, inforom_power),
      row<detail_metric("inforom_valid")>("ValidateInforom", Tier::slow, inforom_valid),
      row<detail_metric("inforom_flush_time_seconds"), detail_metric("inforom_flush_duration_seconds")>(
          "GetLastBBXFlushTime", Tier::slow, inforom_flush),
      row<detail_metric("memory_affinity")>("GetMemoryAffinity", Tier::once, memory_affinity),
      simple<&Api::gpu_numa_node, detail_metric("gpu_numa_node")>("GetNumaNodeId", Tier::once),
      {{.call = "GetPlatformInfo",
        .tier = Tier::once,
        .fills = kList<detail_metric("platform_slot"), detail_metric("platform_tray"), detail_metric("platform_host"),
                       detail_metric("platform_peer_type"), detail_metric("platform_module"),
                       detail_metric("platform_chassis_serial"), detail_metric("platform_fabric_guid")>},
       platform},
      {{.call = "GetGpuFabricInfoV",
        .tier = Tier::slow,
        .fills = kList<detail_metric("fabric_state"), detail_metric("fabric_status"), detail_metric("fabric_clique"),
                       detail_metric("fabric_health"), detail_metric("fabric_health_summary"),
                       detail_metric("fabric_cluster")>},
       fabric},
  };
}

std::vector<Reader> make_mode_readers() {
  return {
      simple<&Api::display_mode, detail_metric("display_attached")>("GetDisplayMode", Tier::slow),
      row<detail_metric("addressing_mode")>(
          "GetAddressingMode", Tier::slow,
          from_struct<&Api::addressing_mode, AddressingMode, &AddressingMode::value, detail_metric("addressing_mode")>),
      simple<&Api::accounting_buffer, detail_metric("accounting_buffer_size")>("GetAccountingBufferSize", Tier::once),
      row<detail_metric("operation_mode"), detail_metric("operation_mode_pending")>(
          "GetGpuOperationMode", Tier::slow,
          pair<&Api::operation_mode, detail_metric("operation_mode"), detail_metric("operation_mode_pending")>),
      row<detail_metric("gsp_mode"), detail_metric("gsp_mode_default")>(
          "GetGspFirmwareMode", Tier::slow,
          pair<&Api::gsp_mode, detail_metric("gsp_mode"), detail_metric("gsp_mode_default")>),
      row<detail_metric("c2c_mode")>(
          "GetC2cModeInfo", Tier::slow,
          from_struct<&Api::c2c_mode, C2cModeInfo, &C2cModeInfo::enabled, detail_metric("c2c_mode")>),
      row<detail_metric("extended_memory")>("GetCapabilities", Tier::slow, extended_memory),
      simple<&Api::power_management, detail_metric("power_management")>("GetPowerManagementMode", Tier::slow),
      row<detail_metric("dram_encryption"), detail_metric("dram_encryption_pending")>("GetDramEncryptionMode",
                                                                                      Tier::slow, dram_encryption),
      row<detail_metric("auto_boost"), detail_metric("auto_boost_default")>(
          "GetAutoBoostedClocksEnabled", Tier::slow,
          pair<&Api::auto_boost, detail_metric("auto_boost"), detail_metric("auto_boost_default")>),
      row<detail_metric("workload_profiles_requested"), detail_metric("workload_profiles_enforced")>(
          "WorkloadPowerProfileGetCurrentProfiles", Tier::slow, workload_profiles),
      row<detail_metric("event_reasons_supported")>("GetSupportedClocksEventReasons", Tier::once,
                                                    event_reasons_supported),
      row<detail_metric("clock_default_graphics_mhz")>(
          "GetDefaultApplicationsClock graphics", Tier::once,
          typed<&Api::clock_default, 0, detail_metric("clock_default_graphics_mhz")>),
      row<detail_metric("clock_default_memory_mhz")>(
          "GetDefaultApplicationsClock memory", Tier::once,
          typed<&Api::clock_default, 2, detail_metric("clock_default_memory_mhz")>),
      row<detail_metric("compute_timeslice")>("compute policies of the kernel module", Tier::slow, compute_timeslice),
      threshold_row<5, detail_metric("temperature_target_celsius")>("GetTemperatureThreshold target"),
      threshold_row<4, detail_metric("temperature_target_min_celsius")>("GetTemperatureThreshold lowest target"),
      threshold_row<6, detail_metric("temperature_target_max_celsius")>("GetTemperatureThreshold highest target"),
      {{.call = "GetFieldValues power smoothing", .tier = Tier::slow, .fills = smoothing_field_metrics()},
       read_smoothing_fields},
      {{.call = "GetFieldValues module power", .tier = Tier::slow, .fills = module_field_metrics()},
       read_module_fields},
  };
}

std::vector<Reader> make_link_and_memory_readers() {
  return {
      row<detail_metric("pcie_link_generation_host_max")>("max_link_speed of the port", Tier::once, pcie_host_max),
      {{.call = "GetFieldValues PCIe", .tier = Tier::slow, .fills = pcie_field_metrics()}, read_pcie_fields},
      row<kThroughputTx, kThroughputRx>("GetPcieThroughput", Tier::slow, pcie_throughput),
      row<detail_metric("fbc_sessions"), detail_metric("fbc_average_fps"), detail_metric("fbc_latency_seconds")>(
          "GetFBCStats", Tier::slow, fbc),
      row<detail_metric("protected_memory_total_bytes"), detail_metric("protected_memory_used_bytes"),
          detail_metric("protected_memory_free_bytes")>("GetConfComputeProtectedMemoryUsage", Tier::slow,
                                                        protected_memory),
      row<detail_metric("remapped_rows_corrected_inactive_total"),
          detail_metric("remapped_rows_uncorrected_inactive_total")>("GetRemappedRows_v2", Tier::slow,
                                                                     remapped_inactive),
      row<detail_metric("repair_channel_pending"), detail_metric("repair_tpc_pending")>("GetRepairStatus", Tier::slow,
                                                                                        repairs),
      row<detail_metric("memory_unrepairable")>(
          "GetUnrepairableMemoryFlag", Tier::slow,
          from_struct<&Api::unrepairable, UnrepairableMemory, &UnrepairableMemory::flag,
                      detail_metric("memory_unrepairable")>),
      row<detail_metric("supported_clock_count")>("GetSupportedClocks", Tier::once, supported_clocks),
      row<detail_metric("retired_page_count")>("GetRetiredPages list", Tier::slow, retired_page_list),
      row<detail_metric("accounted_process_count")>("GetAccountingPids", Tier::slow, accounted_processes),
      row<detail_metric("sample_window_count")>("GetSamples windows", Tier::slow, sample_windows),
      row<detail_metric("link_count"), detail_metric("link_capability_count"), detail_metric("link_peer_count"),
          detail_metric("link_error_count"), detail_metric("link_traffic_count")>("GetNvLink… of each link", Tier::slow,
                                                                                  links),
      row<detail_metric("instance_profile_count"), detail_metric("instance_placement_count")>(
          "GetGpuInstanceProfileInfo", Tier::slow, instance_profiles),
      row<detail_metric("gpu_instance_count"), detail_metric("compute_instance_count")>("GetGpuInstances", Tier::slow,
                                                                                        device_parts),
  };
}

std::vector<Reader> make_ecc_readers() {
  return {
      ecc_location_row<kCorrected, kVolatile, kRegisterFile,
                       detail_metric("ecc_register_file_corrected_volatile_total")>(
          "GetMemoryErrorCounter register file, volatile"),
      ecc_location_row<kCorrected, kVolatile, kL1, detail_metric("ecc_l1_cache_corrected_volatile_total")>(
          "GetMemoryErrorCounter L1, volatile"),
      ecc_location_row<kCorrected, kVolatile, kL2, detail_metric("ecc_l2_cache_corrected_volatile_total")>(
          "GetMemoryErrorCounter L2, volatile"),
      ecc_location_row<kCorrected, kVolatile, kTexture, detail_metric("ecc_texture_corrected_volatile_total")>(
          "GetMemoryErrorCounter texture, volatile"),
      ecc_location_row<kCorrected, kVolatile, kCbu, detail_metric("ecc_cbu_corrected_volatile_total")>(
          "GetMemoryErrorCounter CBU, volatile"),
      ecc_location_row<kCorrected, kVolatile, kSram, detail_metric("ecc_sram_corrected_volatile_total")>(
          "GetMemoryErrorCounter SRAM, volatile"),
      ecc_location_row<kCorrected, kAggregate, kRegisterFile, detail_metric("ecc_register_file_corrected_total")>(
          "GetMemoryErrorCounter register file"),
      ecc_location_row<kCorrected, kAggregate, kL1, detail_metric("ecc_l1_cache_corrected_total")>(
          "GetMemoryErrorCounter L1"),
      ecc_location_row<kCorrected, kAggregate, kL2, detail_metric("ecc_l2_cache_corrected_total")>(
          "GetMemoryErrorCounter L2"),
      ecc_location_row<kCorrected, kAggregate, kTexture, detail_metric("ecc_texture_corrected_total")>(
          "GetMemoryErrorCounter texture"),
      ecc_location_row<kCorrected, kAggregate, kCbu, detail_metric("ecc_cbu_corrected_total")>(
          "GetMemoryErrorCounter CBU"),
      ecc_location_row<kUncorrected, kVolatile, kRegisterFile,
                       detail_metric("ecc_register_file_uncorrected_volatile_total")>(
          "GetMemoryErrorCounter register file, uncorrected, volatile"),
      ecc_location_row<kUncorrected, kVolatile, kL1, detail_metric("ecc_l1_cache_uncorrected_volatile_total")>(
          "GetMemoryErrorCounter L1, uncorrected, volatile"),
      ecc_location_row<kUncorrected, kVolatile, kL2, detail_metric("ecc_l2_cache_uncorrected_volatile_total")>(
          "GetMemoryErrorCounter L2, uncorrected, volatile"),
      ecc_location_row<kUncorrected, kVolatile, kTexture, detail_metric("ecc_texture_uncorrected_volatile_total")>(
          "GetMemoryErrorCounter texture, uncorrected, volatile"),
      ecc_location_row<kUncorrected, kVolatile, kCbu, detail_metric("ecc_cbu_uncorrected_volatile_total")>(
          "GetMemoryErrorCounter CBU, uncorrected, volatile"),
      ecc_location_row<kUncorrected, kVolatile, kSram, detail_metric("ecc_sram_uncorrected_volatile_total")>(
          "GetMemoryErrorCounter SRAM, uncorrected, volatile"),
      ecc_location_row<kUncorrected, kAggregate, kRegisterFile, detail_metric("ecc_register_file_uncorrected_total")>(
          "GetMemoryErrorCounter register file, uncorrected"),
      ecc_location_row<kUncorrected, kAggregate, kL1, detail_metric("ecc_l1_cache_uncorrected_total")>(
          "GetMemoryErrorCounter L1, uncorrected"),
      ecc_location_row<kUncorrected, kAggregate, kL2, detail_metric("ecc_l2_cache_uncorrected_total")>(
          "GetMemoryErrorCounter L2, uncorrected"),
      ecc_location_row<kUncorrected, kAggregate, kTexture, detail_metric("ecc_texture_uncorrected_total")>(
          "GetMemoryErrorCounter texture, uncorrected"),
      ecc_location_row<kUncorrected, kAggregate, kCbu, detail_metric("ecc_cbu_uncorrected_total")>(
          "GetMemoryErrorCounter CBU, uncorrected"),
  };
}

}  // namespace

std::span<const Reader> detail_readers() {
  static const std::vector<Reader> kReaders = [] {
    std::vector<Reader> all;
    for (const auto &part :
         {make_identity_readers(), make_mode_readers(), make_link_and_memory_readers(), make_ecc_readers()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return kReaders;
}

}  // namespace gpulse::nvml
