// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "metric/state_names.hpp"
#include "smi/testing.hpp"

namespace gpulse::smi {
namespace {

TEST(SmiXmlValues, QuantitiesGetOurUnits) {
  const auto device = gpu(
      "<fan_speed>41 %</fan_speed><pci><atomic_caps_inbound>SWAP_32 CAS_64</atomic_caps_inbound><tx_util>25000 "
      "KB/s</tx_util><replay_counter>7</replay_counter>"
      "<pci_device_id>233510DE</pci_device_id>"
      "<pci_gpu_link_info><link_widths><current_link_width>16x</current_link_width></link_widths></pci_gpu_link_info>"
      "</pci><fb_memory_usage><total>4096 MiB</total><reserved>66 MiB</reserved><used>42 MiB</used><free>3988 "
      "MiB</free>"
      "</fb_memory_usage><utilization><gpu_util>33.4 %</gpu_util></utilization>"
      "<temperature><gpu_temp>-3 C</gpu_temp></temperature><clocks><sm_clock>1620 MHz</sm_clock></clocks>"
      "<voltage><graphics_volt>631.250 mV</graphics_volt></voltage><board_id>0x2d00</board_id>"
      "<clocks_event_reasons_counters><clocks_event_reasons_counters_sw_power_cap>19438307 us"
      "</clocks_event_reasons_counters_sw_power_cap></clocks_event_reasons_counters>"
      "<encoder_stats><average_latency>1500</average_latency></encoder_stats>"
      "<remapped_rows><row_remapper_histogram><row_remapper_histogram_max>192 bank(s)</row_remapper_histogram_max>"
      "</row_remapper_histogram></remapped_rows>");
  EXPECT_EQ(number(device, "fan_speed_percent"), Reading(41.0));
  EXPECT_EQ(number(device, "pcie_throughput_tx_bytes_per_second"), Reading(25e6));
  EXPECT_EQ(number(device, "pcie_replay_total"), Reading(7.0));
  EXPECT_EQ(number(device, "pcie_atomics_inbound"), Reading(36.0));
  EXPECT_EQ(number(device, "pci_device_id"), Reading(double{0x233510DE}));
  EXPECT_EQ(number(device, "pcie_link_width"), Reading(16.0));
  EXPECT_EQ(number(device, "memory_total_bytes"), Reading(4096 * kMiB));
  EXPECT_EQ(number(device, "memory_reserved_bytes"), Reading(66 * kMiB));
  EXPECT_EQ(number(device, "memory_used_bytes"), Reading(42 * kMiB));
  EXPECT_EQ(number(device, "memory_free_bytes"), Reading(3988 * kMiB));
  EXPECT_EQ(number(device, "gpu_utilization_percent"), Reading(33.4));
  EXPECT_EQ(number(device, "temperature_gpu_celsius"), Reading(-3.0));
  EXPECT_EQ(number(device, "clock_sm_mhz"), Reading(1620.0));
  EXPECT_EQ(number(device, "voltage_graphics_volts"), Reading(0.63125));
  EXPECT_EQ(number(device, "board_id"), Reading(double{0x2d00}));
  EXPECT_EQ(number(device, "throttled_power_seconds"), Reading(19.438307));
  EXPECT_EQ(number(device, "encoder_latency_seconds"), Reading(0.0015));
  EXPECT_EQ(number(device, "remapped_banks_max"), Reading(192.0));
}

TEST(SmiXmlValues, WordsInPlaceOfAValueAreReasons) {
  const auto of = [](const std::string &text) {
    return number(gpu("<fan_speed>" + text + "</fan_speed>"), "fan_speed_percent");
  };
  EXPECT_EQ(of("N/A"), Reading(Reason::not_supported));
  EXPECT_EQ(of("[N/A]"), Reading(Reason::not_supported));
  EXPECT_EQ(of("Not Supported"), Reading(Reason::not_supported, 3));
  EXPECT_EQ(of("[REDACTED]"), Reading(Reason::not_supported));
  EXPECT_EQ(of("Requested functionality has been deprecated"), Reading(Reason::deprecated));
  EXPECT_EQ(of(""), Reading(Reason::not_supported));
  EXPECT_EQ(of("Insufficient Permissions"), Reading(Reason::no_permission));
  EXPECT_EQ(of("GPU is lost"), Reading(Reason::lost));
  EXPECT_EQ(of("GPU requires reset"), Reading(Reason::reset_required));
  EXPECT_EQ(of("Unknown Error"), Reading(Reason::error, 999));
  EXPECT_EQ(of("ERR!"), Reading(Reason::error));
  EXPECT_EQ(number(gpu(""), "fan_speed_percent"), Reading(Reason::not_supported));
}

TEST(SmiXmlValues, WhatIsNoValueIsNeverZero) {
  const auto of = [](const std::string &text) {
    return number(gpu("<fan_speed>" + text + "</fan_speed>"), "fan_speed_percent");
  };
  EXPECT_EQ(of("quick"), Reading(Reason::error));
  EXPECT_EQ(of("%"), Reading(Reason::error));
  EXPECT_EQ(of("41 C"), Reading(Reason::error));
  EXPECT_EQ(of("41 % 2"), Reading(Reason::error));
  EXPECT_EQ(of("4<b/>1 %"), Reading(Reason::error));
  EXPECT_EQ(of("<b>41 %</b>"), Reading(Reason::error));
  EXPECT_EQ(of("nan %"), Reading(Reason::error));
  EXPECT_EQ(of("-1 %"), Reading(Reason::out_of_range));
  EXPECT_EQ(of("1e300 %"), Reading(Reason::out_of_range));
  EXPECT_EQ(number(gpu("<fb_memory_usage><used>-5 MiB</used></fb_memory_usage>"), "memory_used_bytes"),
            Reading(Reason::out_of_range));
}

TEST(SmiXmlValues, StatesByTheirWords) {
  const auto device =
      gpu("<persistence_mode>Enabled</persistence_mode><display_active>Disabled</display_active>"
          "<compute_mode>Exclusive_Process</compute_mode><performance_state>P8</performance_state>"
          "<gpu_virtualization_mode><virtualization_mode>Pass-Through</virtualization_mode></gpu_virtualization_mode>"
          "<gpu_recovery_action>Drain and Reset</gpu_recovery_action><addressing_mode>HMM</addressing_mode>"
          "<retired_pages><pending_retirement>Yes</pending_retirement></retired_pages>"
          "<platformInfo><peer_type>Switch Connected</peer_type></platformInfo>"
          "<fabric><state>Not Supported</state><status>Success</status></fabric>"
          "<display_mode>Enabled</display_mode><mig_mode><current_mig>Perhaps</current_mig></mig_mode>");
  EXPECT_EQ(number(device, "persistence_mode"), Reading(1.0));
  EXPECT_EQ(number(device, "display_active"), Reading(0.0));
  EXPECT_EQ(number(device, "compute_mode"), Reading(3.0));
  EXPECT_EQ(number(device, "performance_state"), Reading(8.0));
  EXPECT_EQ(number(device, "virtualization_mode"), Reading(1.0));
  EXPECT_EQ(number(device, "recovery_action"), Reading(4.0));
  EXPECT_EQ(number(device, "addressing_mode"), Reading(1.0));
  EXPECT_EQ(number(device, "retired_pages_pending"), Reading(1.0));
  EXPECT_EQ(number(device, "platform_peer_type"), Reading(1.0));
  EXPECT_EQ(number(device, "fabric_state"), Reading(0.0));
  EXPECT_EQ(number(device, "fabric_status"), Reading(0.0));
  EXPECT_EQ(number(device, "display_attached"), Reading(1.0));
  EXPECT_EQ(number(device, "mig_mode"), Reading(Reason::error));
}

TEST(SmiXmlValues, OldNames) {
  const auto device =
      gpu("<clocks_throttle_reasons><clocks_throttle_reason_gpu_idle>Active</clocks_throttle_reason_gpu_idle>"
          "<clocks_throttle_reason_sw_power_cap>Not Active</clocks_throttle_reason_sw_power_cap>"
          "<clocks_throttle_reason_unknown>Active</clocks_throttle_reason_unknown></clocks_throttle_reasons>"
          "<power_readings><power_state>P2</power_state><power_management>Supported</power_management>"
          "<power_draw>119.47 W</power_draw><power_limit>150.00 W</power_limit><enforced_power_limit>140.00 W"
          "</enforced_power_limit></power_readings>"
          "<ecc_errors><volatile><single_bit><device_memory>1</device_memory><register_file>2</register_file><total>3</"
          "total>"
          "</single_bit></volatile><aggregate><double_bit><total>7627</total></double_bit></aggregate></ecc_errors>");
  EXPECT_EQ(number(device, "throttle_reasons"),
            Reading(static_cast<double>(state_names::throttle_bit("idle") | state_names::throttle_bit("other"))));
  EXPECT_EQ(number(device, "performance_state"), Reading(2.0));
  EXPECT_EQ(number(device, "power_management"), Reading(1.0));
  EXPECT_EQ(number(device, "power_draw_watts"), Reading(119.47));
  EXPECT_EQ(number(device, "power_average_watts"), Reading(Reason::not_supported));
  EXPECT_EQ(number(device, "power_limit_requested_watts"), Reading(150.0));
  EXPECT_EQ(number(device, "power_limit_watts"), Reading(140.0));
  EXPECT_EQ(number(device, "ecc_dram_corrected_volatile_total"), Reading(1.0));
  EXPECT_EQ(number(device, "ecc_register_file_corrected_volatile_total"), Reading(2.0));
  EXPECT_EQ(number(device, "ecc_corrected_volatile_total"), Reading(3.0));
  EXPECT_EQ(number(device, "ecc_uncorrected_total"), Reading(7627.0));
}

TEST(SmiXmlValues, NewNames) {
  const auto device = gpu(
      "<clocks_event_reasons><clocks_event_reason_sw_power_cap>Active</clocks_event_reason_sw_power_cap>"
      "<clocks_event_reason_hw_slowdown>Not Active</clocks_event_reason_hw_slowdown></clocks_event_reasons>"
      "<gpu_power_readings><average_power_draw>692.70 W</average_power_draw><instant_power_draw>680.28 W"
      "</instant_power_draw><current_power_limit>650.00 W</current_power_limit><requested_power_limit>700.00 W"
      "</requested_power_limit></gpu_power_readings>"
      "<ecc_errors><volatile><sram_correctable>1</sram_correctable><sram_uncorrectable_parity>2</"
      "sram_uncorrectable_parity>"
      "<sram_uncorrectable_secded>3</sram_uncorrectable_secded><dram_correctable>4</dram_correctable>"
      "<dram_uncorrectable>5</dram_uncorrectable></volatile>"
      "<aggregate><sram_uncorrectable>6</sram_uncorrectable><dram_uncorrectable>N/A</dram_uncorrectable></aggregate>"
      "</ecc_errors><temperature><gpu_temp_tlimit>20 C</gpu_temp_tlimit>"
      "<gpu_temp_max_tlimit_threshold>-8 C</gpu_temp_max_tlimit_threshold></temperature>");
  EXPECT_EQ(number(device, "throttle_reasons"), Reading(4.0));
  EXPECT_EQ(number(device, "event_reasons_supported"), Reading(12.0));
  EXPECT_EQ(number(device, "power_draw_watts"), Reading(692.70));
  EXPECT_EQ(number(device, "power_average_watts"), Reading(692.70));
  EXPECT_EQ(number(device, "power_instant_watts"), Reading(680.28));
  EXPECT_EQ(number(device, "power_limit_watts"), Reading(650.0));
  EXPECT_EQ(number(device, "power_limit_requested_watts"), Reading(700.0));
  EXPECT_EQ(number(device, "ecc_sram_uncorrected_volatile_total"), Reading(5.0));
  EXPECT_EQ(number(device, "ecc_corrected_volatile_total"), Reading(5.0));
  EXPECT_EQ(number(device, "ecc_uncorrected_volatile_total"), Reading(10.0));
  // A sum of which a part is missing is none.
  EXPECT_EQ(number(device, "ecc_uncorrected_total"), Reading(Reason::not_supported));
  EXPECT_EQ(number(device, "temperature_margin_celsius"), Reading(20.0));
  EXPECT_EQ(number(device, "temperature_margin_shutdown_celsius"), Reading(-8.0));
  EXPECT_EQ(number(device, "temperature_shutdown_celsius"), Reading(Reason::not_supported));
}

TEST(SmiXmlValues, AReasonInPlaceOfElementsHoldsForAllOfThem) {
  const auto device =
      gpu("<remapped_rows>Insufficient Permissions</remapped_rows>"
          "<clocks_event_reasons>Unknown Error</clocks_event_reasons>");
  EXPECT_EQ(number(device, "remapped_rows_pending"), Reading(Reason::no_permission));
  EXPECT_EQ(number(device, "remapped_banks_max"), Reading(Reason::no_permission));
  EXPECT_EQ(number(device, "throttle_reasons"), Reading(Reason::error, 999));
}

TEST(SmiXmlValues, AHalfReadSetOfReasonsIsNone) {
  const auto device =
      gpu("<clocks_event_reasons><clocks_event_reason_sw_power_cap>Active</clocks_event_reason_sw_power_cap>"
          "<clocks_event_reason_hw_slowdown>Actve</clocks_event_reason_hw_slowdown></clocks_event_reasons>");
  EXPECT_EQ(number(device, "throttle_reasons"), Reading(Reason::error));
}

TEST(SmiXmlValues, TheFirstOfTwoEqualElementsCounts) {
  EXPECT_EQ(number(gpu("<fan_speed>41 %</fan_speed><fan_speed>42 %</fan_speed>"), "fan_speed_percent"), Reading(41.0));
}

}  // namespace
}  // namespace gpulse::smi
