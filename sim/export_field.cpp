// SPDX-License-Identifier: Apache-2.0
// Field values: one table from id to the device value behind it; every element has its own result.
#include <array>
#include <limits>
#include <span>

#include "export.hpp"

using namespace gpulse::sim;
using gpulse::nvml::FieldValue;
using gpulse::nvml::kAllLinks;
using gpulse::nvml::ValueType;

namespace {

constexpr std::uint32_t kRemoteLink = 146;

struct Rule {
  std::uint32_t id;
  ValueType type;
  Key key;
  double scale = 1;
};

constexpr auto kRules = std::to_array<Rule>({
    {1, ValueType::u32, Key::ecc_mode},
    {2, ValueType::u32, Key::ecc_pending},
    {3, ValueType::u64, Key::ecc_volatile_corrected},
    {4, ValueType::u64, Key::ecc_volatile_uncorrected},
    {5, ValueType::u64, Key::ecc_aggregate_corrected},
    {6, ValueType::u64, Key::ecc_aggregate_uncorrected},
    {29, ValueType::u32, Key::retired_sbe},
    {30, ValueType::u32, Key::retired_dbe},
    {31, ValueType::u32, Key::retired_pending},
    {38, ValueType::u64, Key::nvlink_crc_errors},
    {45, ValueType::u64, Key::nvlink_crc_errors},
    {52, ValueType::u64, Key::nvlink_replay_errors},
    {59, ValueType::u64, Key::nvlink_recovery_errors},
    {74, ValueType::u64, Key::held_power_ns},
    {75, ValueType::u64, Key::held_thermal_ns},
    {76, ValueType::u64, Key::held_sync_boost_ns},
    {77, ValueType::u64, Key::held_board_limit_ns},
    {78, ValueType::u64, Key::held_low_utilization_ns},
    {79, ValueType::u64, Key::held_reliability_ns},
    {80, ValueType::u64, Key::held_app_clocks_ns},
    {81, ValueType::u64, Key::held_base_clocks_ns},
    {82, ValueType::u32, Key::memory_temperature},
    {83, ValueType::u64, Key::energy_mj},
    {84, ValueType::u32, Key::nvlink_speed_mbs},
    {85, ValueType::u32, Key::nvlink_speed_mbs},
    {86, ValueType::u32, Key::nvlink_speed_mbs},
    {87, ValueType::u32, Key::nvlink_speed_mbs},
    {88, ValueType::u32, Key::nvlink_speed_mbs},
    {89, ValueType::u32, Key::nvlink_speed_mbs},
    {90, ValueType::u32, Key::nvlink_speed_mbs},
    {91, ValueType::u32, Key::nvlink_links},
    {94, ValueType::u32, Key::pcie_replays},
    {95, ValueType::u32, Key::pcie_rollovers},
    {132, ValueType::u32, Key::nvlink_speed_mbs},
    {133, ValueType::u32, Key::nvlink_speed_mbs},
    {134, ValueType::u32, Key::nvlink_speed_mbs},
    {135, ValueType::u32, Key::nvlink_speed_mbs},
    {136, ValueType::u32, Key::nvlink_speed_mbs},
    {137, ValueType::u32, Key::nvlink_speed_mbs},
    {138, ValueType::u64, Key::nvlink_tx_kibs},
    {139, ValueType::u64, Key::nvlink_rx_kibs},
    {140, ValueType::u64, Key::nvlink_tx_kibs},
    {141, ValueType::u64, Key::nvlink_rx_kibs},
    {142, ValueType::u32, Key::remapped_corrected},
    {143, ValueType::u32, Key::remapped_uncorrected},
    {144, ValueType::u32, Key::remapped_pending},
    {145, ValueType::u32, Key::remapped_failure},
    {146, ValueType::u64, Key::nvlink_links},
    {147, ValueType::u32, Key::nvlink_links},
    {161, ValueType::u64, Key::nvlink_replay_errors},
    {162, ValueType::u64, Key::nvlink_recovery_errors},
    {163, ValueType::u64, Key::nvlink_crc_errors},
    {164, ValueType::u32, Key::nvlink_speed_mbs},
    {166, ValueType::u32, Key::nvlink_version},
    {185, ValueType::u32, Key::power_average_w, 1000},
    {186, ValueType::u32, Key::power_instant_w, 1000},
    {187, ValueType::u32, Key::power_min_w, 1000},
    {188, ValueType::u32, Key::power_max_w, 1000},
    {189, ValueType::u32, Key::power_default_w, 1000},
    {190, ValueType::u32, Key::power_enforced_w, 1000},
    {191, ValueType::u64, Key::energy_mj},
    {192, ValueType::u32, Key::power_limit_w, 1000},
    {193, ValueType::i32, Key::limit_shutdown},
    {194, ValueType::i32, Key::limit_slowdown},
    {195, ValueType::i32, Key::limit_memory_max},
    {196, ValueType::i32, Key::limit_gpu_max},
    {197, ValueType::u32, Key::pcie_tx_bytes},
    {198, ValueType::u32, Key::pcie_rx_bytes},
    {230, ValueType::u32, Key::recovery_action},
    {269, ValueType::u64, Key::held_sw_thermal_ns},
    {270, ValueType::u64, Key::held_hw_thermal_ns},
    {271, ValueType::u64, Key::held_power_brake_ns},
});

constexpr std::array<std::int16_t, kFieldCount> rule_places() {
  std::array<std::int16_t, kFieldCount> places{};
  places.fill(-1);
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    places[kRules[i].id] = static_cast<std::int16_t>(i);
  }
  return places;
}

constexpr std::array kRulePlaces = rule_places();

// The slow-down times had other ids from 575.51 to 580.76.
std::uint32_t meaning(std::uint32_t id, std::uint32_t driver) {
  const bool shuffled = driver >= 575051 && driver < 580082;
  if (shuffled && id >= 251 && id <= 253) {
    return id - 251 + 269;
  }
  return shuffled && id >= 269 && id <= 271 ? 0 : id;
}

void write(FieldValue &field, ValueType type, double value) {
  field.type = type;
  field.value.u64 = 0;
  switch (type) {
    case ValueType::f64:
      field.value.f64 = value;
      break;
    case ValueType::i32:
      field.value.i32 = static_cast<std::int32_t>(std::llround(value));
      break;
    case ValueType::u32:
      field.value.u32 = static_cast<std::uint32_t>(std::llround(value));  // counters wrap as the driver's do
      break;
    default:
      field.value.u64 = static_cast<std::uint64_t>(std::llround(value));
      break;
  }
}

// Counters the scenario gives as a start and a rate.
double counter(const Call &call, const Rule &rule, double value, std::uint32_t scope, double now) {
  const Target &target = call.target();
  switch (rule.key) {
    case Key::energy_mj:
      return value + std::floor(target[Key::power_w].integral(call.now()) * 1000);
    case Key::pcie_tx_bytes:
    case Key::pcie_rx_bytes: {
      const Number &rate = target[rule.key == Key::pcie_tx_bytes ? Key::pcie_tx_kbs : Key::pcie_rx_kbs];
      const bool recorded = target[rule.key].series != nullptr || !rate.supported();
      return recorded ? value : value + std::floor(rate.integral(now) * 1000);
    }
    case Key::nvlink_links:
      return rule.id == kRemoteLink ? scope : value;  // the links of two devices have the same numbers
    case Key::nvlink_tx_kibs:
    case Key::nvlink_rx_kibs: {
      const double total = target[rule.key].integral(call.now());
      const bool raw = rule.id >= 140;  // raw counts the protocol's bytes as well
      return std::floor((scope == kAllLinks ? total : total / target[Key::nvlink_links].constant) * (raw ? 1.25 : 1));
    }
    default:
      return value * rule.scale;
  }
}

// The link that a field is about: it has a number for each of the first twelve, all others name it in the scope.
std::uint32_t link_of(const Rule &rule, std::uint32_t scope) {
  if (rule.id >= 84 && rule.id <= 89) return rule.id - 84;
  if (rule.id >= 132 && rule.id <= 137) return rule.id - 132 + 6;
  return scope;
}

const Number *behind(const Call &call, const Rule &rule, std::uint32_t scope) {
  const Target &target = call.target();
  const bool traffic = rule.key == Key::nvlink_tx_kibs || rule.key == Key::nvlink_rx_kibs;
  if (traffic || rule.id == kRemoteLink || (rule.key == Key::nvlink_speed_mbs && rule.id != 90)) {
    const Number &links = target[Key::nvlink_links];
    const std::uint32_t link = link_of(rule, scope);
    return (traffic && link == kAllLinks) || (links.supported() && link < links.constant) ? &target[rule.key] : nullptr;
  }
  if (rule.id >= 185 && rule.id <= 192 && rule.id != 191 && scope != 0) {
    // By id from 185; 191 is the energy.
    constexpr std::array kModule{Key::module_power_w,     Key::module_power_w,         Key::module_power_min_w,
                                 Key::module_power_max_w, Key::module_power_default_w, Key::module_power_enforced_w,
                                 Key::energy_mj,          Key::module_power_limit_w};
    constexpr std::array kMemory{Key::memory_power_w, Key::memory_power_instant_w};
    const std::size_t place = rule.id - 185;
    if (scope == 2 && place >= kMemory.size()) return nullptr;
    return scope > 2 ? nullptr : &target[scope == 1 ? kModule[place] : kMemory[place]];
  }
  return &target[rule.key];
}

void answer(const Call &call, FieldValue &field, double now) {
  for (const auto &[id, number] : call.target().fields) {
    if (id == field.field) {
      write(field, ValueType::u64, call.at(number));
      field.result = number.code;
      return;
    }
  }
  const std::uint32_t id = meaning(field.field, call.scenario().driver.number);
  const std::int16_t place = id < kFieldCount ? kRulePlaces[id] : std::int16_t{-1};
  field.result = Return::not_supported;
  if (place < 0) {
    return;
  }
  const Rule &rule = kRules[static_cast<std::size_t>(place)];
  const Number *number = behind(call, rule, field.scope);
  write(field, rule.type, 0);
  if (number != nullptr) {
    field.result = number->code;
  }
  if (field.result == Return::success) {
    write(field, rule.type, counter(call, rule, call.at(*number), field.scope, now));
  }
}

}  // namespace

GPULSE_SIM_EXPORT Return nvmlDeviceGetFieldValues(Handle device, int count, FieldValue *fields) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetFieldValues, device)
  GPULSE_SIM_NEED(fields != nullptr && count > 0)
  // Counters are those of the moment in the time stamp.
  const double now = std::floor(call.now() * 1e6) / 1e6;
  const auto stamp = static_cast<std::int64_t>(wall_us(now));
  const std::vector<std::uint64_t> &costs = call.scenario().costs.field_ns;
  for (FieldValue &field : std::span(fields, static_cast<std::size_t>(count))) {
    call.log("field", field.field);
    field.time_us = stamp;
    field.latency_us = 0;
    answer(call, field, now);
    if (field.field < costs.size() && costs[field.field] != 0) {
      spin_ns(costs[field.field]);
      field.latency_us = static_cast<std::int64_t>(costs[field.field] / 1000);
    }
    if (const Return fault = call.field_fault(field.field); fault != Return::success) {
      field.result = fault;
    }
    if (call.nan()) {
      write(field, ValueType::f64, std::numeric_limits<double>::quiet_NaN());
    }
  }
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlDeviceClearFieldValues(Handle device, int count, FieldValue *fields) {
  GPULSE_SIM_BEGIN(nvmlDeviceClearFieldValues, device)
  GPULSE_SIM_NEED(fields != nullptr && count > 0)
  for (FieldValue &field : std::span(fields, static_cast<std::size_t>(count))) {
    field.result = Return::not_supported;
  }
  return Return::success;
}
