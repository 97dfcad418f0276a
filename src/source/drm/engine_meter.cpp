// SPDX-License-Identifier: Apache-2.0
#include "source/drm/engine_meter.hpp"

#include <algorithm>
#include <utility>

namespace gpulse::drm {

namespace {

// Some drivers estimate, and correct a count downwards later: compare with the greatest count so far.
std::uint64_t gain(std::optional<std::uint64_t> &past, std::uint64_t count) {
  const auto before = std::exchange(past, std::max(past.value_or(0), count)).value_or(0);
  return count > before ? count - before : 0;
}

// A job may be counted as a whole when it ends, so a share can exceed 100 % by much; but not by any amount.
Reading share(double part, double whole) {
  constexpr double kMost = 1000;
  const auto found = part / whole;
  return found > kMost ? Reading(Reason::out_of_range) : std::clamp(100 * found, 0.0, 100.0);
}

}  // namespace

void put_engines(const EngineReadings &engines, MetricId EngineName::*metric, Row &row) {
  for (std::size_t i = 0; i < engines.size(); ++i) {
    const auto &busy = engines[i];
    if (busy.is(Reason::not_supported)) continue;
    auto &known = row[kEngineNames[i].*metric];
    if (!known.has_value() || (busy.has_value() && busy.value() > known.value())) known = busy;
    if (known.has_value()) known = std::min(100.0, known.value());
  }
}

std::optional<std::size_t> engine_number(std::string_view name) {
  const auto *const at =
      std::find_if(kEngineNames.begin(), kEngineNames.end(), [&](const EngineName &e) { return e.name == name; });
  if (at == kEngineNames.end()) return std::nullopt;
  return static_cast<std::size_t>(at - kEngineNames.begin());
}

Reading EngineMeter::rate(const EngineCount &engine, Past &past, Monotonic now) const {
  if (engine.percent) return *engine.percent;
  const auto capacity = static_cast<double>(engine.capacity);
  const auto seconds = at_ ? Seconds(now - *at_).count() : 0;
  if (engine.busy_ns) {
    const auto busy = static_cast<double>(gain(past.busy_ns, *engine.busy_ns));
    return seconds > 0 ? share(busy, 1e9 * seconds * capacity) : Reason::not_sampled;
  }
  if (!engine.cycles) return Reason::not_supported;
  if (engine.total_cycles) {
    const auto total_before = std::exchange(past.total_cycles, engine.total_cycles);
    // The device's clock restarts after a loss of power, and so do the cycles.
    if (total_before && *engine.total_cycles < *total_before) past.cycles.reset();
    const bool known = total_before && past.cycles && *engine.total_cycles > *total_before;
    const auto cycles = static_cast<double>(gain(past.cycles, *engine.cycles));
    if (!known) return Reason::not_sampled;
    return share(cycles, static_cast<double>(*engine.total_cycles - *total_before) * capacity);
  }
  if (engine.max_hz.value_or(0) == 0) return Reason::not_supported;
  const auto cycles = static_cast<double>(gain(past.cycles, *engine.cycles));
  return seconds > 0 ? share(cycles, static_cast<double>(*engine.max_hz) * seconds * capacity) : Reason::not_sampled;
}

void EngineMeter::update(std::span<const EngineCount> engines, Monotonic now, EngineReadings &out) {
  out.fill(Reason::not_supported);
  for (const auto &engine : engines) {
    if (const auto number = engine_number(engine.name)) out[*number] = rate(engine, past_[*number], now);
  }
  at_ = now;
}

}  // namespace gpulse::drm
