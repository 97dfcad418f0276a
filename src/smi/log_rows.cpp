// SPDX-License-Identifier: Apache-2.0
#include "smi/log_rows.hpp"

namespace gpulse::smi {

namespace {

using table::det;
using table::dev;

constexpr Form kMillivolts{"mV", nullptr, parse::quantity<Unit::volts>};

// Elements of older DTDs, elements that only some devices have, and elements that fill a second metric.
constexpr ReadOnlyElement kReadOnly[] = {
    {det("platform_module"), kCount, {"platformInfo/module_id"}},
    {det("power_management"), kEnabled, {"power_readings/power_management"}},
    {dev("power_draw_watts"),
     kWatts,
     {"gpu_power_readings/average_power_draw", "gpu_power_readings/power_draw", "power_readings/power_draw",
      "gpu_power_readings/instant_power_draw"}},
    {dev("voltage_graphics_volts"), kMillivolts, {"voltage/graphics_volt"}},
    // Only on devices with power smoothing.
    {det("power_smoothing_profile_floor_watts"),
     kWatts,
     {"power_smoothing/power_smoothing_current_profile/power_smoothing_curr_profile_secondary_power_floor"}},
    {det("power_smoothing_profile_activation_windows"),
     kCount,
     {"power_smoothing/power_smoothing_current_profile/"
      "power_smoothing_curr_profile_primary_floor_activation_window_multiplier"}},
    {det("power_smoothing_profile_target_windows"),
     kCount,
     {"power_smoothing/power_smoothing_current_profile/"
      "power_smoothing_curr_profile_primary_floor_target_window_multiplier"}},
    {det("power_smoothing_profile_offset_watts"),
     kWatts,
     {"power_smoothing/power_smoothing_current_profile/power_smoothing_curr_profile_primary_floor_activatin_offset"}},
    {det("power_smoothing_override_floor_watts"),
     kWatts,
     {"power_smoothing/power_smoothing_admin_overrides/power_smoothing_admin_override_secondary_power_floor"}},
    {det("power_smoothing_override_activation_windows"),
     kCount,
     {"power_smoothing/power_smoothing_admin_overrides/"
      "power_smoothing_admin_override_primary_floor_activation_window_multiplier"}},
    {det("power_smoothing_override_target_windows"),
     kCount,
     {"power_smoothing/power_smoothing_admin_overrides/"
      "power_smoothing_admin_override_primary_floor_target_window_multiplier"}},
    {det("power_smoothing_override_offset_watts"),
     kWatts,
     {"power_smoothing/power_smoothing_admin_overrides/"
      "power_smoothing_admin_override_primary_floor_activation_offset"}},
    // ECC errors as counted up to v10.
    {dev("ecc_corrected_total"), kCount, {"ecc_errors/aggregate/single_bit/total"}},
    {dev("ecc_uncorrected_total"), kCount, {"ecc_errors/aggregate/double_bit/total"}},
    {dev("ecc_corrected_volatile_total"), kCount, {"ecc_errors/volatile/single_bit/total"}},
    {dev("ecc_uncorrected_volatile_total"), kCount, {"ecc_errors/volatile/double_bit/total"}},
    {dev("ecc_sram_uncorrected_total"), kCount, {"ecc_errors/aggregate/sram_uncorrectable"}},
    {det("ecc_sram_uncorrected_volatile_total"), kCount, {"ecc_errors/volatile/sram_uncorrectable"}},
    {det("ecc_register_file_corrected_volatile_total"), kCount, {"ecc_errors/volatile/single_bit/register_file"}},
    {det("ecc_l1_cache_corrected_volatile_total"), kCount, {"ecc_errors/volatile/single_bit/l1_cache"}},
    {det("ecc_l2_cache_corrected_volatile_total"), kCount, {"ecc_errors/volatile/single_bit/l2_cache"}},
    {det("ecc_texture_corrected_volatile_total"), kCount, {"ecc_errors/volatile/single_bit/texture_memory"}},
    {det("ecc_cbu_corrected_volatile_total"), kCount, {"ecc_errors/volatile/single_bit/cbu"}},
    {det("ecc_register_file_corrected_total"), kCount, {"ecc_errors/aggregate/single_bit/register_file"}},
    {det("ecc_l1_cache_corrected_total"), kCount, {"ecc_errors/aggregate/single_bit/l1_cache"}},
    {det("ecc_l2_cache_corrected_total"), kCount, {"ecc_errors/aggregate/single_bit/l2_cache"}},
    {det("ecc_texture_corrected_total"), kCount, {"ecc_errors/aggregate/single_bit/texture_memory"}},
    {det("ecc_cbu_corrected_total"), kCount, {"ecc_errors/aggregate/single_bit/cbu"}},
    {det("ecc_register_file_uncorrected_volatile_total"), kCount, {"ecc_errors/volatile/double_bit/register_file"}},
    {det("ecc_l1_cache_uncorrected_volatile_total"), kCount, {"ecc_errors/volatile/double_bit/l1_cache"}},
    {det("ecc_l2_cache_uncorrected_volatile_total"), kCount, {"ecc_errors/volatile/double_bit/l2_cache"}},
    {det("ecc_texture_uncorrected_volatile_total"), kCount, {"ecc_errors/volatile/double_bit/texture_memory"}},
    {det("ecc_cbu_uncorrected_volatile_total"), kCount, {"ecc_errors/volatile/double_bit/cbu"}},
    {det("ecc_register_file_uncorrected_total"), kCount, {"ecc_errors/aggregate/double_bit/register_file"}},
    {det("ecc_l1_cache_uncorrected_total"), kCount, {"ecc_errors/aggregate/double_bit/l1_cache"}},
    {det("ecc_l2_cache_uncorrected_total"), kCount, {"ecc_errors/aggregate/double_bit/l2_cache"}},
    {det("ecc_texture_uncorrected_total"), kCount, {"ecc_errors/aggregate/double_bit/texture_memory"}},
    {det("ecc_cbu_uncorrected_total"), kCount, {"ecc_errors/aggregate/double_bit/cbu"}},
};

constexpr ReadOnlyElement kReadOnlyInstance[] = {
    {det("ecc_sram_uncorrected_volatile_total"), kCount, {"ecc_error_count/volatile_count/sram_uncorrectable"}},
};

constexpr AccountedRow kAccounted[] = {
    {"GPU Utilization", "gpu_util", &AccountedProcess::gpu_percent, kPercent},
    {"Memory Utilization", "memory_util", &AccountedProcess::memory_percent, kPercent},
    {"Max memory usage", "max_memory_usage", &AccountedProcess::memory_max_bytes, kMib},
    {"Time", "time", &AccountedProcess::running_seconds, kMilli},
};

}  // namespace

std::span<const AccountedRow> accounted_rows() { return kAccounted; }
std::span<const LogRow> log_rows() { return table::kDevice; }
std::span<const LogRow> instance_rows() { return table::kInstance; }
std::span<const ReadOnlyElement> read_only_elements() { return kReadOnly; }
std::span<const ReadOnlyElement> read_only_instance_elements() { return kReadOnlyInstance; }

std::uint64_t event_reason_bit(std::string_view name) {
  constexpr std::string_view kPrefix = "clocks_event_reason_";
  // No longer in the log.
  if (name == "user_defined_clocks") return state_names::throttle_bit("application clocks");
  if (name == "unknown") return state_names::throttle_bit("other");
  for (const auto &row : log_rows()) {
    if (row.metric == dev("throttle_reasons") && row.tag.starts_with(kPrefix) &&
        row.tag.substr(kPrefix.size()) == name) {
      return row.mask;
    }
  }
  return 0;
}

}  // namespace gpulse::smi
