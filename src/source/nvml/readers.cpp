// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/readers.hpp"

#include <algorithm>

#include "source/nvml/code.hpp"
#include "source/nvml/detail_readers.hpp"
#include "source/nvml/field.hpp"
#include "source/nvml/process.hpp"
#include "source/nvml/reader_rows.hpp"

namespace gpulse::nvml {

namespace {

// Utilisation of an engine; the second number, the driver's window, is not used.
template <Api::Pair Api::*Call, MetricId Id>
Outcome engine(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  std::uint32_t percent = 0;
  std::uint32_t period_us = 0;
  const auto code = (driver.api.get()->*Call)(device.handle, &percent, &period_us);
  return put(frame, Id, code, percent);
}

template <std::uint32_t Type, std::uint32_t Counter, MetricId Id>
Outcome ecc_total(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  std::uint64_t errors = 0;
  const auto code = driver.api->ecc_total(device.handle, Type, Counter, &errors);
  return put(frame, Id, code, static_cast<double>(errors));
}

template <std::uint32_t Cause, MetricId Id>
Outcome retired_pages(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  std::uint32_t count = 0;
  auto code = driver.api->retired_pages(device.handle, Cause, &count, nullptr);
  // Only the count is wanted, so "insufficient size" is not an error.
  if (code == Return::insufficient_size && count > 0) code = Return::success;
  return put(frame, Id, code, count);
}

template <Api::Pair Api::*Call, MetricId Id>
constexpr Reader engine_row(std::string_view call) {
  return row<Id>(call, Tier::tick, engine<Call, Id>);
}

template <std::uint32_t Type, MetricId Id>
constexpr Reader clock_row(std::string_view call) {
  return row<Id>(call, Tier::tick, typed<&Api::clock, Type, Id>);
}

template <std::uint32_t Type, MetricId Id>
constexpr Reader clock_max_row(std::string_view call) {
  return row<Id>(call, Tier::once, typed<&Api::clock_max, Type, Id>);
}

template <std::uint32_t Type, std::uint32_t Counter, MetricId Id>
constexpr Reader ecc_row(std::string_view call) {
  return row<Id>(call, Tier::slow, ecc_total<Type, Counter, Id>);
}

template <std::uint32_t Type, MetricId Id, MetricId Margin>
Outcome limit(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame) {
  if (driver.either_limit && frame.row[Margin].has_value()) return Outcome::unsupported;
  return typed<&Api::temperature_threshold, Type, Id>(driver, device, now, frame);
}

template <std::uint32_t Type, MetricId Id, MetricId Margin>
constexpr Reader limit_row(std::string_view call) {
  return row<Id>(call, Tier::once, limit<Type, Id, Margin>);
}

Reader differential(Reader reader, std::span<const MetricId> fills) {
  reader.info.differential = true;
  reader.info.fills = fills;
  return reader;
}

std::vector<Reader> make_readers() {  // NOLINT(readability-function-size): a table
  return {
      {{.call = "GetUtilizationRates",
        .fills = kList<device_metric("gpu_utilization_percent"), device_metric("memory_utilization_percent")>},
       utilization},
      {{.call = "GetMemoryInfo", .fills = kMemoryMetrics}, memory},
      row<device_metric("temperature_gpu_celsius")>("GetTemperature", Tier::tick, temperature),
      simple<&Api::power, device_metric("power_draw_watts"), kMilli>("GetPowerUsage", Tier::tick),
      simple<&Api::power_limit_enforced, device_metric("power_limit_watts"), kMilli>("GetEnforcedPowerLimit",
                                                                                     Tier::tick),
      {{.call = "GetFieldValues power, memory temperature", .extra = true, .fills = fast_field_metrics()},
       read_fast_fields},
      clock_row<0, device_metric("clock_graphics_mhz")>("GetClockInfo graphics"),
      clock_row<1, device_metric("clock_sm_mhz")>("GetClockInfo SM"),
      clock_row<2, device_metric("clock_memory_mhz")>("GetClockInfo memory"),
      clock_row<3, device_metric("clock_video_mhz")>("GetClockInfo video"),
      row<device_metric("performance_state")>("GetPerformanceState", Tier::tick, performance_state),
      row<device_metric("throttle_reasons")>("GetCurrentClocksEventReasons", Tier::tick, throttle),
      row<device_metric("fan_speed_percent"), device_metric("fan_count")>("GetFanSpeed", Tier::second, fans),
      engine_row<&Api::encoder, device_metric("encoder_utilization_percent")>("GetEncoderUtilization"),
      engine_row<&Api::decoder, device_metric("decoder_utilization_percent")>("GetDecoderUtilization"),
      engine_row<&Api::jpeg, device_metric("jpeg_utilization_percent")>("GetJpgUtilization"),
      engine_row<&Api::ofa, device_metric("ofa_utilization_percent")>("GetOfaUtilization"),
      simple<&Api::pcie_generation, device_metric("pcie_link_generation")>("GetCurrPcieLinkGeneration", Tier::second),
      simple<&Api::pcie_width, device_metric("pcie_link_width")>("GetCurrPcieLinkWidth", Tier::second),
      // Also when only the use by processes is asked for: without the list there is no process to fill.
      {{.call = "GetRunningProcesses", .fills = process_metrics()}, read_processes},
      {{.call = "EventSetWait", .fills = xid_metrics()}, xids},

      differential({{.call = "GpmMetricsGet", .tier = Tier::second, .fills = {}}, gpm}, gpm_metrics()),
      differential({{.call = "GetProcessUtilization", .tier = Tier::second, .fills = {}}, read_process_engines},
                   process_engine_metrics()),
      differential(row<device_metric("power_peak_watts")>("GetSamples power", Tier::second, power_peak),
                   kList<device_metric("power_peak_watts")>),
      differential(
          row<device_metric("gpu_utilization_mean_percent")>("GetSamples utilisation", Tier::slow, utilization_mean),
          kList<device_metric("gpu_utilization_mean_percent")>),
      row<device_metric("energy_joules")>("GetTotalEnergyConsumption", Tier::second, energy),
      row<device_metric("temperature_margin_celsius")>("GetMarginTemperature", Tier::slow, temperature_margin),
      row<device_metric("fan_speed_rpm")>("GetFanSpeedRPM", Tier::second, fan_rpm),
      {{.call = "GetBAR1MemoryInfo",
        .tier = Tier::second,
        .fills = kList<device_metric("bar1_used_bytes"), device_metric("bar1_total_bytes")>},
       bar1},
      {{.call = "GetEncoderStats",
        .tier = Tier::second,
        .fills = kList<device_metric("encoder_sessions"), device_metric("encoder_average_fps"),
                       device_metric("encoder_latency_seconds")>},
       encoder_sessions},

      {{.call = "GetFieldValues throttle time, limits, links, health",
        .tier = Tier::slow,
        .fills = slow_field_metrics()},
       read_slow_fields},
      simple<&Api::power_limit, device_metric("power_limit_requested_watts"), kMilli>("GetPowerManagementLimit",
                                                                                      Tier::slow),
      simple<&Api::pcie_replay, device_metric("pcie_replay_total")>("GetPcieReplayCounter", Tier::slow),
      row<device_metric("nvlink_links_active")>("GetNvLinkState", Tier::slow, nvlinks),
      ecc_row<kCorrected, kAggregate, device_metric("ecc_corrected_total")>("GetTotalEccErrors corrected"),
      ecc_row<kUncorrected, kAggregate, device_metric("ecc_uncorrected_total")>("GetTotalEccErrors uncorrected"),
      ecc_row<kCorrected, kVolatile, device_metric("ecc_corrected_volatile_total")>(
          "GetTotalEccErrors corrected, volatile"),
      ecc_row<kUncorrected, kVolatile, device_metric("ecc_uncorrected_volatile_total")>(
          "GetTotalEccErrors uncorrected, volatile"),
      ecc_location_row<kCorrected, kVolatile, kDram, device_metric("ecc_dram_corrected_volatile_total")>(
          "GetMemoryErrorCounter DRAM, volatile"),
      ecc_location_row<kUncorrected, kVolatile, kDram, device_metric("ecc_dram_uncorrected_volatile_total")>(
          "GetMemoryErrorCounter DRAM, uncorrected, volatile"),
      ecc_location_row<kCorrected, kAggregate, kDram, device_metric("ecc_dram_corrected_total")>(
          "GetMemoryErrorCounter DRAM"),
      ecc_location_row<kUncorrected, kAggregate, kDram, device_metric("ecc_dram_uncorrected_total")>(
          "GetMemoryErrorCounter DRAM, uncorrected"),
      ecc_location_row<kCorrected, kAggregate, kSram, device_metric("ecc_sram_corrected_total")>(
          "GetMemoryErrorCounter SRAM"),
      ecc_location_row<kUncorrected, kAggregate, kSram, device_metric("ecc_sram_uncorrected_total")>(
          "GetMemoryErrorCounter SRAM, uncorrected"),
      {{.call = "GetSramEccErrorStatus", .tier = Tier::slow, .fills = kSramMetrics}, ecc_sram},
      row<device_metric("retired_pages_single_bit_total")>(
          "GetRetiredPages single bit", Tier::slow, retired_pages<0, device_metric("retired_pages_single_bit_total")>),
      row<device_metric("retired_pages_double_bit_total")>(
          "GetRetiredPages double bit", Tier::slow, retired_pages<1, device_metric("retired_pages_double_bit_total")>),
      simple<&Api::retired_pending, device_metric("retired_pages_pending")>("GetRetiredPagesPendingStatus", Tier::slow),
      {{.call = "GetRemappedRows",
        .tier = Tier::slow,
        .fills = kList<device_metric("remapped_rows_corrected_total"), device_metric("remapped_rows_uncorrected_total"),
                       device_metric("remapped_rows_pending"), device_metric("remapped_rows_failure")>},
       remapped_rows},
      {{.call = "GetRowRemapperHistogram",
        .tier = Tier::slow,
        .fills = kList<device_metric("remapped_banks_max"), device_metric("remapped_banks_high"),
                       device_metric("remapped_banks_partial"), device_metric("remapped_banks_low"),
                       device_metric("remapped_banks_none")>},
       remapped_banks},
      row<device_metric("ecc_mode"), device_metric("ecc_mode_pending")>(
          "GetEccMode", Tier::slow, pair<&Api::ecc_mode, device_metric("ecc_mode"), device_metric("ecc_mode_pending")>),
      row<device_metric("mig_mode"), device_metric("mig_mode_pending")>(
          "GetMigMode", Tier::slow, pair<&Api::mig_mode, device_metric("mig_mode"), device_metric("mig_mode_pending")>),
      simple<&Api::compute_mode, device_metric("compute_mode")>("GetComputeMode", Tier::slow),
      simple<&Api::persistence_mode, device_metric("persistence_mode")>("GetPersistenceMode", Tier::slow),
      simple<&Api::display_active, device_metric("display_active")>("GetDisplayActive", Tier::slow),
      simple<&Api::accounting_mode, device_metric("accounting_mode")>("GetAccountingMode", Tier::slow),
      simple<&Api::power_source, device_metric("power_source")>("GetPowerSource", Tier::slow),
      row<device_metric("clock_application_graphics_mhz")>(
          "GetApplicationsClock graphics", Tier::slow,
          typed<&Api::clock_application, 0, device_metric("clock_application_graphics_mhz")>),
      row<device_metric("clock_application_memory_mhz")>(
          "GetApplicationsClock memory", Tier::slow,
          typed<&Api::clock_application, 2, device_metric("clock_application_memory_mhz")>),

      clock_max_row<0, device_metric("clock_max_graphics_mhz")>("GetMaxClockInfo graphics"),
      clock_max_row<1, device_metric("clock_max_sm_mhz")>("GetMaxClockInfo SM"),
      clock_max_row<2, device_metric("clock_max_memory_mhz")>("GetMaxClockInfo memory"),
      clock_max_row<3, device_metric("clock_max_video_mhz")>("GetMaxClockInfo video"),
      row<device_metric("clock_max_boost_mhz")>("GetMaxCustomerBoostClock", Tier::once,
                                                typed<&Api::clock_boost, 0, device_metric("clock_max_boost_mhz")>),
      limit_row<0, device_metric("temperature_shutdown_celsius"), device_metric("temperature_margin_shutdown_celsius")>(
          "GetTemperatureThreshold shutdown"),
      limit_row<1, device_metric("temperature_slowdown_celsius"), device_metric("temperature_margin_slowdown_celsius")>(
          "GetTemperatureThreshold slowdown"),
      limit_row<2, device_metric("temperature_memory_max_celsius"),
                device_metric("temperature_margin_memory_max_celsius")>("GetTemperatureThreshold memory"),
      limit_row<3, device_metric("temperature_gpu_max_celsius"), device_metric("temperature_margin_gpu_max_celsius")>(
          "GetTemperatureThreshold GPU"),
      simple<&Api::power_limit_default, device_metric("power_limit_default_watts"), kMilli>(
          "GetPowerManagementDefaultLimit", Tier::once),
      row<device_metric("power_limit_min_watts"), device_metric("power_limit_max_watts")>(
          "GetPowerManagementLimitConstraints", Tier::once,
          pair<&Api::power_limit_range, device_metric("power_limit_min_watts"), device_metric("power_limit_max_watts"),
               kMilli>),
      row<device_metric("pcie_link_generation_max"), device_metric("pcie_link_width_max")>("GetMaxPcieLink", Tier::once,
                                                                                           pcie_max),
      simple<&Api::pcie_generation_device, device_metric("pcie_link_generation_device_max")>(
          "GetGpuMaxPcieLinkGeneration", Tier::once),
      // After the link's width, which limits the counters' plausible rates.
      differential({{.call = "GetFieldValues link counters", .tier = Tier::second, .fills = {}}, read_link_counters},
                   link_counter_metrics()),
      differential({{.call = "GetFieldValues throttle shares", .tier = Tier::slow, .fills = {}}, read_throttle_shares},
                   throttle_share_metrics()),
      simple<&Api::virtualization_mode, device_metric("virtualization_mode")>("GetVirtualizationMode", Tier::once),
      simple<&Api::minor_number, device_metric("minor_number")>("GetMinorNumber", Tier::once),
      simple<&Api::cores, device_metric("cuda_core_count")>("GetNumGpuCores", Tier::once),
      simple<&Api::bus_width, device_metric("memory_bus_width_bits")>("GetMemoryBusWidth", Tier::once),
      row<device_metric("multiprocessor_count"), detail_metric("copy_engine_count"), detail_metric("encoder_count"),
          detail_metric("decoder_count"), detail_metric("jpeg_count"), detail_metric("ofa_count")>(
          "GetAttributes", Tier::once, attributes),
      row<detail_metric("gpu_instance_id"), detail_metric("compute_instance_id")>("GetGpuInstanceId", Tier::once,
                                                                                  instance),
      row<device_metric("numa_node")>("numa_node", Tier::once, numa_node),
  };
}

}  // namespace

[[gnu::hot]] std::span<const Reader> readers() {
  static const std::vector<Reader> kReaders = [] {
    auto all = make_readers();
    const auto details = detail_readers();
    all.insert(all.end(), details.begin(), details.end());
    return all;
  }();
  return kReaders;
}

}  // namespace gpulse::nvml
