// SPDX-License-Identifier: Apache-2.0
#include "smi/xml_lists.hpp"

#include <optional>
#include <string_view>

#include "base/text.hpp"
#include "metric/state_names.hpp"
#include "smi/log_row.hpp"
#include "smi/value.hpp"
#include "smi/xml_tree.hpp"

namespace gpulse::smi {

namespace {

// The number of entries, or the reason why there are none.
Reading count_of(pugi::xml_node list, std::size_t entries) {
  if (!list) return Reason::not_supported;
  if (entries > 0) return static_cast<double>(entries);
  const auto text = trim(plain_text(list).value_or(""));
  if (text.empty()) return 0.0;
  return reason_in(text).value_or(Reason::error);
}

void fill_clocks(pugi::xml_node gpu, DeviceDetails &details) {
  const auto list = gpu.child("supported_clocks");
  std::size_t pairs = 0;
  for (const auto node : list.children("supported_mem_clock")) {
    const auto memory = quantity(Unit::mhz, child_text(node, "value").value_or(""));
    if (!memory) continue;
    auto &clocks = details.clocks.emplace_back();
    clocks.memory_mhz = *memory;
    for (const auto graphics : node.children("supported_graphics_clock")) {
      const auto clock = quantity(Unit::mhz, plain_text(graphics).value_or(""));
      if (clock) clocks.graphics_mhz.push_back(*clock);
    }
    pairs += clocks.graphics_mhz.size();
  }
  details.row[detail_metric("supported_clock_count")] = count_of(list, pairs);
}

std::optional<std::uint64_t> address_of(pugi::xml_node node) {
  const auto text = trim(plain_text(node).value_or(""));
  return text.starts_with("0x") ? parse_integer<std::uint64_t>(text.substr(2), 16) : std::nullopt;
}

void fill_pages(pugi::xml_node retirement, bool double_bit, DeviceDetails &details) {
  // Before v10 there are only addresses.
  for (const auto node : retirement.child("retired_page_addresses").children("retired_page_address")) {
    if (const auto address = address_of(node)) {
      details.retired_pages.push_back({.address = *address, .time = 0, .double_bit = double_bit});
    }
  }
  for (const auto node : retirement.child("retired_pagelist").children("retired_page")) {
    const auto address = address_of(node.child("retired_page_address"));
    if (!address) continue;
    const auto time = read_time(child_text(node, "retired_page_timestamp").value_or(""));
    details.retired_pages.push_back(
        {.address = *address,
         .time = time ? std::chrono::floor<std::chrono::seconds>(time->time_since_epoch()).count() : 0,
         .double_bit = double_bit});
  }
}

void fill_retired_pages(pugi::xml_node gpu, DeviceDetails &details) {
  const auto retired = gpu.child("retired_pages");
  const auto single = retired.child("multiple_single_bit_retirement");
  const auto twice = retired.child("double_bit_retirement");
  fill_pages(single, false, details);
  fill_pages(twice, true, details);
  auto &count = details.row[detail_metric("retired_page_count")];
  const auto told = child_text(twice, "retired_count");
  if (!details.retired_pages.empty()) {
    count = static_cast<double>(details.retired_pages.size());
  } else if (told) {
    // This is the length of the list, which may be missing; the number of pages is another metric.
    count = reason_in(*told).value_or(0.0);
  }
}

void fill_accounted(pugi::xml_node gpu, DeviceDetails &details) {
  auto list = gpu.child("accounted_processes");
  if (!list) list = gpu.child("text:accounted processes");
  for (const auto node : list.children("accounted_process_info")) {
    const auto pid = parse_integer<std::uint32_t>(trim(child_text(node, "pid").value_or("")));
    if (!pid) continue;
    auto &process = details.accounted.emplace_back();
    process.pid = *pid;
    process.running = read_flag(child_text(node, "is_running").value_or("")).value_or(false);
    for (const auto &row : accounted_rows()) {
      const auto text = child_text(node, row.tag).value_or("");
      const auto value = row.form.parse(text, {});
      process.*row.value = value ? Reading(*value) : reason_in(text).value_or(Reason::error);
    }
  }
  details.row[detail_metric("accounted_process_count")] = count_of(list, details.accounted.size());
}

// Newer logs have an element per profile; plain text has been read as a row of the table already.
void fill_profiles(pugi::xml_node list, TextReading &profiles) {
  if (!list || plain_text(list)) return;
  std::string joined;
  for (const auto node : list.children()) {
    const auto text = plain_text(node);
    if (text && !trim(*text).empty()) joined += (joined.empty() ? "" : ", ") + std::string(trim(*text));
  }
  profiles = joined.empty() ? read_text(joined) : TextReading(short_text(joined));
}

// Only in the text.
void fill_samples(pugi::xml_node gpu, DeviceDetails &details) {
  std::size_t windows = 0;
  for (const auto &row : log_rows()) {
    if (row.list != List::samples) continue;
    const auto list = gpu.child(element_name(row).c_str());
    if (!list) continue;
    ++windows;
    const auto read = [&](const char *label, const Form &form) -> Reading {
      const auto text = child_text(list, label).value_or("");
      const auto value = form.parse(text, form.unit);
      return value ? Reading(*value) : reason_in(text).value_or(Reason::error);
    };
    constexpr Form kSeconds{"sec", nullptr, parse::quantity<Unit::seconds>};
    auto &window = details[row.samples];
    window = {.count = read("text:number of samples", kCount),
              .seconds = read("text:duration", kSeconds),
              .max = read("text:max", row.form),
              .min = read("text:min", row.form),
              .mean = read("text:avg", row.form)};
  }
  if (windows > 0) details.row[detail_metric("sample_window_count")] = static_cast<double>(windows);
}

}  // namespace

void fill_event_reasons(pugi::xml_node gpu, Row &row, Row &details) {
  auto list = gpu.child("clocks_event_reasons");
  std::string_view prefix = "clocks_event_reason_";
  if (!list) {
    list = gpu.child("clocks_throttle_reasons");
    prefix = "clocks_throttle_reason_";
  }
  if (!list) return;
  std::uint64_t active = 0;
  std::uint64_t told = 0;
  Reading reason = plain_text(list) ? reason_in(*plain_text(list)).value_or(Reason::error) : Reason::not_supported;
  bool broken = false;
  for (const auto node : list.children()) {
    std::string_view name(node.name());
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    // An unknown reason still slows the clocks down.
    const auto known = event_reason_bit(name);
    const auto bit = known != 0 ? known : state_names::throttle_bit("other");
    const auto text = plain_text(node).value_or("?");
    if (const auto flag = read_flag(text)) {
      told |= bit;
      if (*flag) active |= bit;
    } else if (const auto why = reason_in(text)) {
      reason = *why;
    } else {
      broken = true;
    }
  }
  const auto whole = [&](std::uint64_t bits) {
    return broken ? Reading(Reason::error) : Reading(static_cast<double>(bits));
  };
  row[device_metric("throttle_reasons")] = told == 0 && !broken ? reason : whole(active);
  details[detail_metric("event_reasons_supported")] = told == 0 && !broken ? reason : whole(told);
}

void fill_lists(pugi::xml_node gpu, DeviceDetails &details) {
  fill_clocks(gpu, details);
  fill_retired_pages(gpu, details);
  fill_accounted(gpu, details);
  fill_samples(gpu, details);
  const auto profiles = gpu.child("power_profiles");
  fill_profiles(profiles.child("power_profile_requested_profiles"),
                details.texts[detail_metric("workload_profiles_requested")]);
  fill_profiles(profiles.child("power_profile_enforced_profiles"),
                details.texts[detail_metric("workload_profiles_enforced")]);
}

}  // namespace gpulse::smi
