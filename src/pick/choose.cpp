// SPDX-License-Identifier: Apache-2.0
#include "pick/choose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "metric/format.hpp"

namespace gpulse::pick {

namespace {

// Only those of a snapshot; what is unknown is a reason and no number.
const Reading &reading_of(const Device &device, MetricId metric) { return device.row[metric]; }

std::string refuse_memory(const Device &device, const Request &request) {
  if (!request.min_free_bytes && request.min_free_share <= 0) return {};
  if (request.min_free_bytes && *request.min_free_bytes <= 0) return {};
  const auto &free = reading_of(device, device_metric("memory_free_bytes"));
  const auto &total = reading_of(device, device_metric("memory_total_bytes"));
  if (!free) return "how much memory is free is not known: " + reason_text(free);
  if (request.min_free_bytes) {
    if (free.value() >= *request.min_free_bytes) return {};
    return fmt::format("{}{} free, {} asked for", format_bytes(free.value()),
                       total ? " of " + format_bytes(total.value()) : "", format_bytes(*request.min_free_bytes));
  }
  if (!total) return "how much memory there is is not known: " + reason_text(total);
  if (free.value() >= total.value() * request.min_free_share) return {};
  return fmt::format("{} of {} free, {:g} % asked for", format_bytes(free.value()), format_bytes(total.value()),
                     100 * request.min_free_share);
}

std::string refuse_use(const Device &device, const Request &request) {
  const double most = request.max_util_percent.value_or(kUsualMaxUtil);
  if (most >= 100) return {};
  const auto &use = reading_of(device, device_metric("gpu_utilization_percent"));
  if (use) return use.value() <= most ? "" : fmt::format("{:.0f} % busy, at most {:g} % asked for", use.value(), most);
  if (!request.max_util_percent && use.is(Reason::not_supported)) return {};
  return "how busy it is is not known: " + reason_text(use);
}

// Empty: it will do.
std::string refuse(const Device &device, const Request &request) {
  if (device.state != DeviceState::ok) return std::string(word(device.state));
  constexpr double kProhibited = 2;
  if (reading_of(device, device_metric("compute_mode")).value_or(0) == kProhibited)
    return "its compute mode is prohibited: no program may compute on it";
  if (device.is_instance() && device.identity->vendor == "nvidia" && request.count > 1)
    return "is an instance, and CUDA shows a process only one";
  if (auto reason = refuse_memory(device, request); !reason.empty()) return reason;
  return refuse_use(device, request);
}

// More free memory first, then less use, then as the mask has them.
void rank(std::vector<std::size_t> &free, const Snapshot &snapshot) {
  std::vector<std::tuple<double, double, std::size_t, std::size_t>> ranked;
  for (const auto i : free) {
    const auto &device = snapshot.devices[i];
    ranked.emplace_back(-reading_of(device, device_metric("memory_free_bytes")).value_or(0),
                        reading_of(device, device_metric("gpu_utilization_percent")).value_or(0), ranked.size(), i);
  }
  std::sort(ranked.begin(), ranked.end());
  for (std::size_t i = 0; i < ranked.size(); ++i) free[i] = std::get<3>(ranked[i]);
}

// A program runs on one vendor's devices: those of the best one that has enough.
void keep_one_vendor(Choice &choice, const Snapshot &snapshot, std::size_t count) {
  const auto vendor_of = [&](std::size_t i) -> const Text & { return snapshot.devices[i].identity->vendor; };
  const auto has_enough = [&](std::size_t i) {
    return std::count_if(choice.free.begin(), choice.free.end(), [&](std::size_t other) {
             return vendor_of(other) == vendor_of(i);
           }) >= static_cast<std::ptrdiff_t>(count);
  };
  const auto best = std::find_if(choice.free.begin(), choice.free.end(), has_enough);
  if (best == choice.free.end()) return;
  const auto &vendor = vendor_of(*best);
  std::erase_if(choice.free, [&](std::size_t i) { return vendor_of(i) != vendor; });
}

}  // namespace

std::string device_name(const Device &device) { return "GPU " + text(device.id); }

MetricSet needs_of_choice() {
  return {device_metric("memory_total_bytes"), device_metric("memory_free_bytes"),
          device_metric("memory_used_bytes"),  device_metric("gpu_utilization_percent"),
          device_metric("compute_mode"),       device_metric("mig_mode"),
          detail_metric("gpu_instance_id"),    detail_metric("compute_instance_id")};
}

Choice choose(const Snapshot &snapshot, const Visible &visible, const Request &request,
              const std::map<std::string, std::string> &taken) {
  Choice choice;
  for (const auto i : visible.allowed) {
    const auto &device = snapshot.devices[i];
    auto reason = refuse(device, request);
    if (const auto holder = taken.find(device.identity->uuid); reason.empty() && holder != taken.end())
      reason = holder->second;
    if (reason.empty()) {
      choice.free.push_back(i);
    } else {
      choice.refused.push_back({i, std::move(reason)});
    }
  }
  std::sort(choice.refused.begin(), choice.refused.end(),
            [](const Refusal &a, const Refusal &b) { return a.device < b.device; });
  rank(choice.free, snapshot);
  keep_one_vendor(choice, snapshot, request.count);
  return choice;
}

std::optional<Size> parse_size(std::string_view text) {
  text = trim(text);
  const auto end = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto number = parse_double(text.substr(0, end));
  const auto unit = lower(trim(text.substr(end)));
  if (!number || *number < 0) return std::nullopt;
  if (unit == "%") return *number > 100 ? std::nullopt : std::optional(Size{.bytes = {}, .share = *number / 100});
  struct Unit {
    std::string_view letter;
    double binary, decimal;
  };
  constexpr std::array kUnits{Unit{"", 1, 1}, Unit{"k", 0x1p10, 1e3}, Unit{"m", 0x1p20, 1e6}, Unit{"g", 0x1p30, 1e9},
                              Unit{"t", 0x1p40, 1e12}};
  for (const auto &[letter, binary, decimal] : kUnits) {
    const auto name = std::string(letter);
    if (unit == name || (!name.empty() && unit == name + "ib")) return Size{.bytes = *number * binary, .share = {}};
    if (unit == name + "b") return Size{.bytes = *number * decimal, .share = {}};
  }
  return std::nullopt;
}

}  // namespace gpulse::pick
