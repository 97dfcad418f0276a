// SPDX-License-Identifier: Apache-2.0
#include "metric/metric.hpp"

#include <array>
#include <cmath>

namespace gpulse {

namespace {

template <class Enum, std::size_t N>
std::string_view pick(const std::array<std::string_view, N> &names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

bool cut_suffix(std::string &text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.resize(text.size() - suffix.size());
  return true;
}

}  // namespace

std::string_view word(Scope scope) {
  static constexpr std::array<std::string_view, kScopes> kNames{"device", "process", "host", "self", "core", "detail"};
  return pick(kNames, scope);
}

std::string_view word(Kind kind) {
  static constexpr std::array<std::string_view, 5> kNames{"gauge", "counter", "state", "set", "text"};
  return pick(kNames, kind);
}

std::string_view word(Unit unit) {
  static constexpr std::array<std::string_view, 13> kNames{
      "",       "percent",         "bytes",     "bytes per second", "watts",
      "joules", "degrees Celsius", "megahertz", "seconds",          "revolutions per minute",
      "bits",   "volts",           "per second"};
  return pick(kNames, unit);
}

std::string_view word(Window window) {
  static constexpr std::array<std::string_view, 5> kNames{
      "the moment of reading", "the driver's own average over up to a second", "since the previous sample",
      "counted since the driver was loaded, or longer", "does not change"};
  return pick(kNames, window);
}

std::string_view word(Fold fold) {
  static constexpr std::array<std::string_view, 6> kNames{"", "mean", "maximum", "last", "counter", "any"};
  return pick(kNames, fold);
}

std::string_view word(Kept kept) {
  static constexpr std::array<std::string_view, 5> kNames{"", "raw", "changes", "fold", "range"};
  return pick(kNames, kept);
}

std::string_view word(Group group) {
  static constexpr std::array<std::string_view, 14> kNames{
      "activity", "engines", "memory", "power",    "temperature", "clocks",  "limits",
      "links",    "health",  "modes",  "identity", "host",        "process", "gpulse itself"};
  return pick(kNames, group);
}

std::string_view word(Role role) {
  static constexpr std::array<std::string_view, kRoles> kNames{"",
                                                               "utilization",
                                                               "true activity",
                                                               "memory used",
                                                               "memory total",
                                                               "memory bandwidth",
                                                               "temperature",
                                                               "power",
                                                               "power limit",
                                                               "fan",
                                                               "clock",
                                                               "throttle",
                                                               "cpu",
                                                               "cpu count",
                                                               "load",
                                                               "host memory",
                                                               "host memory total",
                                                               "swap",
                                                               "swap total",
                                                               "disk read",
                                                               "disk write",
                                                               "network in",
                                                               "network out",
                                                               "age",
                                                               "alarm",
                                                               "user",
                                                               "name",
                                                               "command",
                                                               "container",
                                                               "pod",
                                                               "job",
                                                               "account",
                                                               "encoder",
                                                               "decoder",
                                                               "process count",
                                                               "parent",
                                                               "parent name",
                                                               "idle",
                                                               "memory share",
                                                               "memory controller"};
  return pick(kNames, role);
}

std::string_view symbol(Unit unit) {
  static constexpr std::array<std::string_view, 13> kNames{"",    "%", "B",   "B/s", "W", "J", "°C",
                                                           "MHz", "s", "RPM", "bit", "V", "/s"};
  return pick(kNames, unit);
}

std::string prometheus_name(const Metric &metric) {
  std::string name(metric.key);
  if (metric.unit == Unit::percent && cut_suffix(name, "_percent")) name += "_ratio";
  if (metric.unit == Unit::mhz && cut_suffix(name, "_mhz")) name += "_hertz";
  if (metric.unit == Unit::bits && cut_suffix(name, "_bits")) name += "_bytes";
  // Prometheus keeps "_count" for histograms: "process_count" is "processes".
  if (cut_suffix(name, "_count")) name += name.ends_with('s') ? "es" : "s";
  if (metric.kind == Kind::counter && !name.ends_with("_total")) name += "_total";
  static constexpr std::array<std::string_view, kScopes> kPrefix{"gpulse_",      "gpulse_process_", "gpulse_host_",
                                                                 "gpulse_self_", "gpulse_core_",    "gpulse_detail_"};
  return std::string(pick(kPrefix, metric.scope)) + name;
}

double prometheus_scale(const Metric &metric) {
  if (metric.unit == Unit::percent) return 0.01;
  if (metric.unit == Unit::mhz) return 1e6;
  if (metric.unit == Unit::bits) return 0.125;
  return 1.0;
}

Fold fold(const Metric &metric) {
  if (metric.fold != Fold::by_kind) return metric.fold;
  if (metric.kind == Kind::counter) return Fold::counter;
  if (metric.kind == Kind::set) return Fold::any;
  return metric.kind == Kind::gauge && metric.window != Window::fixed ? Fold::mean : Fold::last;
}

Kept kept(const Metric &metric) {
  if (metric.kept != Kept::by_kind) return metric.kept;
  if (metric.scope != Scope::device || metric.kind == Kind::text) return Kept::raw;
  const bool counts_faults = metric.kind == Kind::counter && metric.unit == Unit::none;
  const bool is_calm = fold(metric) == Fold::last || metric.group == Group::limits || metric.group == Group::health;
  return counts_faults || is_calm ? Kept::changes : Kept::raw;
}

bool is_usual(const Metric &metric) {
  const auto keeping = kept(metric);
  const bool has_place = metric.role != Role::none || metric.rank > 0;
  if (metric.scope != Scope::device) return has_place || keeping == Kept::fold || keeping == Kept::range;
  const bool has_threshold = std::isfinite(metric.warn) || std::isfinite(metric.bad);
  return metric.kind == Kind::text || has_threshold || metric.compared || (has_place && keeping != Kept::raw);
}

bool is_usual_peak(const Metric &metric) {
  return !metric.peak.empty() && metric.role != Role::none && is_usual(metric);
}

Metric total_of(const Metric &metric) {
  Metric total = metric;
  total.key = metric.total;
  total.kind = Kind::counter;
  total.precision = 3;
  total.window = Window::since_boot;
  total.total = total.peak = {};
  switch (metric.unit) {
    case Unit::bytes_per_second:
      total.unit = Unit::bytes;
      total.precision = 0;
      break;
    case Unit::watts:
      total.unit = Unit::joules;
      break;
    default:
      total.unit = Unit::seconds;
  }
  return total;
}

Metric peak_of(const Metric &metric) {
  Metric peak = metric;
  peak.key = metric.peak;
  peak.fold = Fold::maximum;
  peak.total = peak.peak = {};
  return peak;
}

}  // namespace gpulse
