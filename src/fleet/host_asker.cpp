// SPDX-License-Identifier: Apache-2.0
#include "fleet/host_asker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "fleet/engine_values.hpp"
#include "fleet/foreign.hpp"
#include "fleet/host_samples.hpp"
#include "model/plausible.hpp"
#include "view/families.hpp"

namespace gpulse::fleet {

namespace {

using namespace std::chrono_literals;

constexpr double kGap = std::numeric_limits<double>::quiet_NaN();
constexpr Seconds kUsualInterval = 15s;
constexpr Seconds kLongestInterval = 5min;
constexpr std::size_t kMostDevices = 1024;
constexpr std::size_t kMostSteps = 11'000;  // Prometheus gives no more at once

// How the values of a step become one, in PromQL.
std::string_view folding_of(Fold fold) {
  switch (fold) {
    case Fold::mean:
      return "avg_over_time";
    case Fold::maximum:
    case Fold::any:
      return "max_over_time";
    case Fold::counter:
      return "rate";
    default:
      return "last_over_time";
  }
}

double seconds_of(WallTime time) { return std::chrono::duration<double>(time.time_since_epoch()).count(); }

WallTime last_of(const HostCurves &curves) {
  return curves.first + static_cast<std::int64_t>(curves.count - 1) * curves.step;
}

WallTime on_grid(WallTime time, std::chrono::seconds step) {
  const auto number = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch() / step;
  return WallTime(number * step);
}

std::optional<std::size_t> step_of(const HostCurves &curves, double time) {
  const double place = (time - seconds_of(curves.first)) / static_cast<double>(curves.step.count());
  if (!(place > -0.5) || place > static_cast<double>(curves.count) - 0.5) return std::nullopt;
  return static_cast<std::size_t>(std::lround(place));
}

// Takes the answers to the queries for one metric apart by device; `part` is what one fills.
class CurveTaker {
 public:
  CurveTaker(HostCurves &curves, MetricId metric, double scale) : curves_(curves), metric_(metric), scale_(scale) {}

  void take(const std::vector<EngineSeries> &answer, std::string_view uuid_label,
            std::vector<double> HostCurve::*part) {
    const bool is_set = brief(metric_).kind == Kind::set;
    for (const auto &series : answer) {
      // As foreign_names has it.
      std::string uuid(series.label(uuid_label));
      if (const auto instance = series.label("GPU_I_ID"); !instance.empty()) {
        uuid += fmt::format("/{}", short_text(instance));
      }
      auto *curve = curve_of(uuid);
      if (curve == nullptr) continue;
      auto &values = curve->*part;
      values.resize(curves_.count, kGap);
      const auto bit = is_set ? bit_of(metric_, series.label("state")) : std::nullopt;
      for (const auto &point : series.points) {
        const auto step = step_of(curves_, point.time);
        if (!step || !std::isfinite(point.value)) continue;
        if (is_set) {
          const auto bits = std::isnan(values[*step]) ? 0 : static_cast<std::uint64_t>(values[*step]);
          values[*step] = static_cast<double>(bits | (point.value > 0 && bit ? std::uint64_t{1} << *bit : 0));
        } else if (const auto good = plausible(metric_, point.value * scale_)) {
          values[*step] = good.value();
        }
      }
    }
  }

 private:
  // Null: no host has so many devices.
  HostCurve *curve_of(const std::string &uuid) {
    if (places_.size() >= kMostDevices && !places_.contains(uuid)) return nullptr;
    const auto [place, is_new] = places_.try_emplace(uuid, curves_.curves.size());
    if (is_new) {
      curves_.curves.push_back({.metric = metric_, .uuid = uuid, .mean = std::vector<double>(curves_.count, kGap)});
    }
    return &curves_.curves[place->second];
  }

  HostCurves &curves_;
  MetricId metric_;
  double scale_;
  std::map<std::string, std::size_t> places_{};
};

// Where a metric of the table is found, and how its values become ours.
struct Found {
  std::string family{};  // with its labels
  std::string_view uuid_label = "uuid";
  double scale = 1;
};
std::optional<Found> find(const HostPlace &host, MetricId metric) {
  if (is_text(key_of(metric))) return std::nullopt;
  if (host.exporter == Exporter::gpulse) {
    const auto &row = describe(metric);
    return Found{.family = prometheus_name(row) + host_matchers(host), .scale = 1 / prometheus_scale(row)};
  }
  for (const auto &exporter : foreign_exporters()) {
    if (exporter.exporter != host.exporter) continue;
    for (const auto &reading : exporter.readings) {
      const bool is_sum = !reading.plus.empty();
      if (is_sum || kReadingMetrics[static_cast<std::size_t>(reading.reading)] != metric) continue;
      return Found{.family = fmt::format("{}{}", reading.family, host_matchers(host)),
                   .uuid_label = exporter.uuid,
                   .scale = reading.scale};
    }
  }
  return std::nullopt;
}

}  // namespace

HostPlace place_of(const FleetHost &host) {
  // Without need it is not asked for: a host may have been given a cluster since.
  const auto cluster = host.shares_instance ? std::optional(host.cluster_label) : std::nullopt;
  return {.instance = host.instance, .name = host.name, .exporter = host.exporter, .cluster = cluster};
}

HostAsker::HostAsker(EngineOptions options, HostPlace host) : engine_(std::move(options)), host_(std::move(host)) {}

EngineResult<HostSample> HostAsker::sample(WallTime at, const std::stop_token &stop) {
  const auto times = engine_.instant(time_query(host_), at, stop);
  if (!times) return std::unexpected(times.error());
  if (times->empty()) return HostSample{};
  const auto series = engine_.instant(sample_query(host_), at, stop);
  if (!series) return std::unexpected(series.error());
  auto samples = host_samples(*series, *times, host_);
  return samples.empty() ? HostSample{} : std::move(samples.back());
}

EngineResult<std::vector<HostSample>> HostAsker::samples(WallTime first, WallTime last, std::chrono::seconds step,
                                                         const std::stop_token &stop) {
  std::vector<HostSample> all;
  for (first = on_grid(first, step); first <= last; first += static_cast<long>(kMostSteps) * step) {
    const auto end = std::min<WallTime>(last, first + static_cast<long>(kMostSteps - 1) * step);
    const auto times = engine_.range(time_query(host_), first, end, step, stop);
    if (!times) return std::unexpected(times.error());
    if (times->empty()) continue;
    const auto series = engine_.range(sample_query(host_), first, end, step, stop);
    if (!series) return std::unexpected(series.error());
    for (auto &one : host_samples(*series, *times, host_)) {
      if (all.empty() || one.snapshot->time > all.back().snapshot->time) all.push_back(std::move(one));
    }
  }
  return all;
}

EngineResult<std::vector<HostMoment>> HostAsker::moments(WallTime first, WallTime last, std::chrono::seconds step,
                                                         const std::stop_token &stop) {
  std::vector<HostMoment> all;
  for (first = on_grid(first, step); first <= last; first += static_cast<long>(kMostSteps) * step) {
    const auto end = std::min<WallTime>(last, first + static_cast<long>(kMostSteps - 1) * step);
    const auto times = engine_.range(time_query(host_), first, end, step, stop);
    if (!times) return std::unexpected(times.error());
    for (const auto &moment : host_moments(*times)) {
      if (all.empty() || moment.taken > all.back().taken) all.push_back(moment);
    }
  }
  return all;
}

// By how many samples ten minutes usually have in the span; at its end the host may be silent.
Seconds HostAsker::interval_in(const HostCurves &curves, const std::stop_token &stop) {
  if (interval_) return *interval_;
  interval_ = kUsualInterval;
  const auto *family = host_.exporter == Exporter::dcgm ? "DCGM_FI_DEV_GPU_TEMP" : "nvidia_smi_gpu_info";
  const auto name = host_.exporter == Exporter::gpulse ? std::string(view::families::kTime) : std::string(family);
  constexpr auto kWindow = 600s, kLeastLook = 60s;
  constexpr int kLooks = 50;
  const auto span = static_cast<std::int64_t>(curves.count) * curves.step;
  const auto query =
      fmt::format("max(quantile_over_time(0.5, count_over_time({}{}[{}s])[{}s:{}s]))", name, host_matchers(host_),
                  kWindow.count(), (span + kWindow).count(), std::max(kLeastLook, span / kLooks).count());
  const auto answer = engine_.instant(query, last_of(curves), stop);
  if (answer && !answer->empty() && !answer->front().points.empty()) {
    const auto count = answer->front().points.front().value;
    if (count > 1) interval_ = std::clamp<Seconds>(Seconds(kWindow) / count, 1s, kLongestInterval);
  }
  return *interval_;
}

EngineResult<void> HostAsker::add_curves(HostCurves &curves, MetricId metric, const std::stop_token &stop) {
  const auto found = find(host_, metric);
  if (!found) return {};
  const auto how = fold(describe(metric));
  const auto interval = interval_in(curves, stop);
  // A value counts until the next one is due; one that did not come leaves a gap. How fast a counter grows takes two.
  const auto window = std::max<Seconds>(curves.step, (how == Fold::counter ? 2.5 : 1.5) * interval);
  const auto scale = how == Fold::counter ? found->scale * Seconds(curves.step).count() : found->scale;
  const bool has_range = how == Fold::mean && Seconds(curves.step) > 1.5 * interval;
  CurveTaker taker(curves, metric, scale);
  const auto ask = [&](std::string_view function, std::vector<double> HostCurve::*part) -> EngineResult<void> {
    const auto query = fmt::format("{}({}[{}s])", function, found->family, std::lround(std::ceil(window.count())));
    const auto answer = engine_.range(query, curves.first, last_of(curves), curves.step, stop);
    if (!answer) return std::unexpected(answer.error());
    taker.take(*answer, found->uuid_label, part);
    return {};
  };
  if (auto done = ask(folding_of(how), &HostCurve::mean); !done || !has_range) return done;
  if (auto done = ask("min_over_time", &HostCurve::least); !done) return done;
  return ask("max_over_time", &HostCurve::greatest);
}

EngineResult<HostCurves> HostAsker::curves(WallTime first, WallTime last, std::chrono::seconds step,
                                           std::span<const MetricId> metrics, const std::stop_token &stop) {
  step = std::max(step, std::chrono::seconds(1));
  HostCurves curves{.first = on_grid(first, step) + step, .step = step};
  if (curves.first > last) curves.first = on_grid(last, step);
  curves.count = std::min(static_cast<std::size_t>((last - curves.first) / step) + 1, kMostSteps);
  for (const auto metric : metrics) {
    if (auto done = add_curves(curves, metric, stop); !done) return std::unexpected(done.error());
  }
  return curves;
}

}  // namespace gpulse::fleet
