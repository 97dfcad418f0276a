// SPDX-License-Identifier: Apache-2.0
#include "model/plausible.hpp"

#include <array>
#include <span>

namespace gpulse {

namespace {

struct Range {
  double low, high;
};

constexpr Range kAnything{0, 1e18};  // below what a counter of 64 bits says when it is all ones

// Wider than any hardware, and narrower than what broken firmware says (all ones, absolute zero).
constexpr Range range_of(Unit unit) {
  switch (unit) {
    case Unit::percent:
      return {0, 100};
    case Unit::celsius:
      return {-55, 300};
    case Unit::watts:
      return {0, 2e4};
    case Unit::mhz:
      return {0, 3e4};
    case Unit::bytes:
      return {0, 1125899906842624.0};  // 1 PiB
    case Unit::bytes_per_second:
      return {0, 1e14};
    case Unit::rpm:
      return {0, 5e4};
    case Unit::volts:
      return {0, 60};
    case Unit::joules:
      return {0, 1e13};  // a kilowatt for three hundred years
    case Unit::seconds:
      return {0, 1e10};
    case Unit::bits:
      return {0, 1e6};
    case Unit::per_second:
      return {0, 1e12};  // a thousand cores, each a thousand million times
    case Unit::none:
      break;
  }
  return kAnything;
}

constexpr Range range_of(const MetricKey &metric) {
  constexpr double kMostGpuMemory = 70368744177664.0;  // 64 TiB
  const bool of_process = metric.scope == Scope::process || metric.scope == Scope::self;
  if (metric.role == Role::fan && metric.unit == Unit::percent) return {0, 200};  // beyond its nominal speed
  if (metric.key == "cpu_percent" && of_process) return {0, 1e7};                 // 100 for each core
  if (metric.key == "tree_cpu_percent" || metric.key == "tree_disk_wait_percent") return {0, 1e7};
  if (metric.scope == Scope::device && metric.unit == Unit::bytes) return {0, kMostGpuMemory};
  if (metric.kind == Kind::state) return {0, 1000};
  // The niceness of a process; -1 where there is no such thing as a NUMA node.
  if (metric.unit == Unit::none && metric.kind == Kind::gauge) return {-20, kAnything.high};
  return range_of(metric.unit);
}

Reading within(Unit unit, Range range, double value) {
  constexpr double kHair = 101;
  if (value >= range.low && value <= range.high) return value;
  // Two counters are read at slightly different moments, so a busy engine can exceed 100 % by a little.
  if (unit == Unit::percent && range.high == 100 && value > 100 && value <= kHair) return 100.0;
  return Reason::out_of_range;
}

void keep_within(Unit unit, Reading &reading) {
  if (reading) reading = within(unit, range_of(unit), reading.value());
}

struct Limit {
  Unit unit;
  Range range;
};

// Of all numbers: scope after scope, and by slot.
constexpr std::size_t first_limit(Scope scope) {
  std::size_t first = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(scope); ++i) first += number_count(static_cast<Scope>(i));
  return first;
}
constexpr auto make_limits() {
  std::array<Limit, kMetricCount> limits{};
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    const auto &metric = kMetricKeys[i];
    if (is_text(metric)) continue;
    limits[first_limit(metric.scope) + detail::kBriefs[i].slot] = {metric.unit, range_of(metric)};
  }
  return limits;
}
constexpr auto kLimits = make_limits();

std::span<const Limit> limits(Scope scope) {
  static constexpr std::array kFirst{first_limit(Scope::device), first_limit(Scope::process),
                                     first_limit(Scope::host),   first_limit(Scope::self),
                                     first_limit(Scope::core),   first_limit(Scope::detail)};
  return std::span(kLimits).subspan(kFirst[static_cast<std::size_t>(scope)], number_count(scope));
}

struct Part {
  MetricId part, whole;
};
constexpr std::array kParts{
    Part{device_metric("memory_used_bytes"), device_metric("memory_total_bytes")},
    Part{device_metric("memory_free_bytes"), device_metric("memory_total_bytes")},
    Part{device_metric("memory_reserved_bytes"), device_metric("memory_total_bytes")},
    Part{device_metric("memory_vram_used_bytes"), device_metric("memory_vram_total_bytes")},
    Part{device_metric("memory_gtt_used_bytes"), device_metric("memory_gtt_total_bytes")},
    Part{device_metric("memory_visible_used_bytes"), device_metric("memory_visible_total_bytes")},
    Part{device_metric("bar1_used_bytes"), device_metric("bar1_total_bytes")},
    Part{detail_metric("protected_memory_used_bytes"), detail_metric("protected_memory_total_bytes")},
    Part{detail_metric("protected_memory_free_bytes"), detail_metric("protected_memory_total_bytes")},
    Part{host_metric("memory_used_bytes"), host_metric("memory_total_bytes")},
    Part{host_metric("memory_available_bytes"), host_metric("memory_total_bytes")},
    Part{host_metric("memory_free_bytes"), host_metric("memory_total_bytes")},
    Part{host_metric("memory_buffers_bytes"), host_metric("memory_total_bytes")},
    Part{host_metric("memory_cached_bytes"), host_metric("memory_total_bytes")},
    Part{host_metric("memory_shared_bytes"), host_metric("memory_total_bytes")},
    Part{host_metric("swap_used_bytes"), host_metric("swap_total_bytes")},
};

void keep_within_whole(Row &row, MetricId part, MetricId whole) {
  if (row[part] && row[whole] && row[part].value() > row[whole].value()) row[part] = Reason::out_of_range;
}

constexpr Unit unit_of(SampleKind kind) {
  switch (kind) {
    case SampleKind::power:
      return Unit::watts;
    case SampleKind::sm_clock:
    case SampleKind::memory_clock:
      return Unit::mhz;
    default:
      return Unit::percent;
  }
}

}  // namespace

Reading plausible(MetricId id, double value) {
  const auto &[unit, range] = limits(brief(id).scope)[slot(id)];
  return within(unit, range, value);
}

void keep_plausible(Row &row) {
  const auto known = limits(row.scope());
  const auto readings = row.readings();
  for (std::size_t i = 0; i < readings.size(); ++i) {
    if (readings[i]) readings[i] = within(known[i].unit, known[i].range, readings[i].value());
  }
  for (const auto &[part, whole] : kParts) {
    if (brief(part).scope == row.scope()) keep_within_whole(row, part, whole);
  }
}

[[gnu::hot]] void keep_plausible(Row &row, std::span<const MetricId> some) {
  const auto known = limits(row.scope());
  for (const auto id : some) {
    if (brief(id).scope != row.scope() || is_text(brief(id)) || !row[id]) continue;
    const auto &[unit, range] = known[slot(id)];
    row[id] = within(unit, range, row[id].value());
    for (const auto &[part, whole] : kParts) {
      if (part == id || whole == id) keep_within_whole(row, part, whole);
    }
  }
}

void keep_plausible(DeviceDetails &details) {
  keep_plausible(details.row);
  for (std::size_t i = 0; i < kSampleKinds; ++i) {
    auto &window = details.samples[i];
    const auto unit = unit_of(static_cast<SampleKind>(i));
    for (auto *reading : {&window.max, &window.min, &window.mean}) keep_within(unit, *reading);
    keep_within(Unit::seconds, window.seconds);
  }
  for (auto &process : details.accounted) {
    keep_within(Unit::percent, process.gpu_percent);
    keep_within(Unit::percent, process.memory_percent);
    keep_within(Unit::bytes, process.memory_max_bytes);
    keep_within(Unit::seconds, process.running_seconds);
  }
}

}  // namespace gpulse
