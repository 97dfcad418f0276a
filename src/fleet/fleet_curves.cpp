// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_curves.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/json_writer.hpp"
#include "fleet/engine.hpp"
#include "fleet/fleet_json_parts.hpp"
#include "fleet/fleet_queries.hpp"
#include "metric/format.hpp"
#include "view/families.hpp"

namespace gpulse::fleet {

namespace {

namespace families = view::families;

// A GPU is a series, whoever scrapes it; an instance is of its GPU.
constexpr std::string_view kPerGpu = "max by (instance,cluster,uuid) ";
constexpr std::string_view kOnGpu = " and on (instance,cluster,uuid) ";
constexpr std::string_view kWhole = R"(gpu!~".*:.*")";

constexpr std::optional<FleetReading> reading_of(FleetCurve curve) {
  switch (curve) {
    case FleetCurve::true_activity:
      return FleetReading::true_activity;
    case FleetCurve::utilization:
      return FleetReading::utilization;
    case FleetCurve::power:
      return FleetReading::power;
    default:
      return std::nullopt;
  }
}

const Metric *metric_of(FleetCurve curve) {
  const auto reading = reading_of(curve);
  return reading ? &describe(kReadingMetrics[static_cast<std::size_t>(*reading)]) : nullptr;
}

// What stands for other letters as a regular expression has it; letters may be capitals or not.
Result<std::string> expression(const FleetFilter &filter) {
  if (filter.value.contains('[')) {
    return failure(fmt::format("curves cannot be filtered by \"{}\"", printable(filter.value)),
                   "* and ? stand for other letters, [ does not");
  }
  // A name that is not there fits nothing.
  if (filter.value.find_first_not_of('*') == std::string::npos) return std::string(".+");
  std::string out;
  for (const char c : filter.value) {
    out += c == '*' ? ".*" : c == '?' ? "." : literal(std::string_view(&c, 1));
  }
  return out;
}

std::string labelled(std::string_view label, const std::string &values) {
  return fmt::format("{}=~{}", label, quoted("(?i:" + values + ")"));
}

using Values = std::vector<std::string>;  // of one word, any of which will do

std::string any_of(const Values &values) { return fmt::format("{}", fmt::join(values, "|")); }

// Of series by instance, cluster and uuid: what is true of an instance is true of its GPU.
std::string folded(const std::string &gpus) {
  const auto parts =
      fmt::format(R"(max by (instance,cluster,uuid,parent) ({}{{parent!=""}}){}{})", families::kInfo, kOnGpu, gpus);
  return fmt::format(
      R"q(({} or {}(label_replace(max by (instance,cluster,parent) ({}), "uuid", "$1", "parent", "(.+)"))))q", gpus,
      kPerGpu, parts);
}

// What every GPU has to fit.
struct Condition {
  std::string matchers{};            // of every series
  std::string hosts{};               // series that its host has to have
  std::vector<std::string> joins{};  // series that it has to have itself
};

// Where several clusters have such a host, it is called "east/n1".
void add_hosts(Condition &to, const Values &values) {
  const auto instances = [](const std::string &names) { return labelled("instance", "(" + names + ")(:9837)?"); };
  Values plain, hosts;
  for (const auto &value : values) {
    const auto slash = value.find('/');
    if (slash == std::string::npos) {
      plain.push_back(value);
      continue;
    }
    hosts.push_back(fmt::format("{}{{{},{}}}", families::kTime, labelled("cluster", value.substr(0, slash)),
                                instances(value.substr(slash + 1))));
  }
  if (hosts.empty()) {
    to.matchers += "," + instances(any_of(plain));
    return;
  }
  if (!plain.empty()) hosts.push_back(fmt::format("{}{{{}}}", families::kTime, instances(any_of(plain))));
  to.hosts = fmt::format(" and on (instance,cluster) ({})", fmt::join(hosts, " or "));
}

// A pod is what a cluster without batch jobs calls one, by its namespace and name. `more`: matchers.
std::string owned_by_job(const std::string &values, const std::string &more) {
  const auto pods =
      fmt::format(R"(max by (instance,cluster,uuid,gpu_namespace,gpu_pod) ({}{{batch_job="",gpu_pod!=""{}}}))",
                  families::kOwner, more);
  const auto names = fmt::format(R"(label_join({}, "pod", "/", "gpu_namespace", "gpu_pod"))", pods);
  const auto fitting =
      fmt::format(R"(label_replace({}, "fits", "yes", "pod", {}))", names, quoted("(?i:/?(" + values + "))"));
  return fmt::format(R"({0}({1}{{{2}{3}}}) or {0}({4} and on (fits) label_replace(vector(1), "fits", "yes", "", "")))",
                     kPerGpu, families::kOwner, labelled("batch_job", values), more, fitting);
}

// Where several clusters have such a job, it is called "east/1234".
std::string owned_by_job(const Values &values) {
  std::vector<std::string> either{owned_by_job(any_of(values), "")};
  for (const auto &value : values) {
    const auto slash = value.find('/');
    if (slash == std::string::npos) continue;
    either.push_back(owned_by_job(value.substr(slash + 1), "," + labelled("cluster", value.substr(0, slash))));
  }
  return fmt::format("({})", fmt::join(either, " or "));
}

Result<void> add_condition(Condition &to, std::string_view word, const Values &all) {
  const auto values = any_of(all);
  const auto join = [&](std::string_view family, std::string_view label, std::string_view more = "") {
    to.joins.push_back(folded(fmt::format("({}({}{{{}}}{}))", kPerGpu, family, labelled(label, values), more)));
  };
  if (word == "host") {
    add_hosts(to, all);
  } else if (word == "cluster") {
    to.matchers += "," + labelled("cluster", values);
  } else if (word == "user") {
    join(families::kOwner, "user");
  } else if (word == "account") {
    join(families::kOwner, "batch_account");
  } else if (word == "job") {
    to.joins.push_back(folded(owned_by_job(all)));
  } else if (word == "model") {
    join(families::kInfo, "name");
  } else if (word == kFilterFinding) {
    join(families::kFinding, "finding", " == 1");
  } else {
    return failure(fmt::format("curves cannot be filtered by {}", word),
                   "they can by host, cluster, user, job, account, model and finding");
  }
  return {};
}

Result<Condition> condition_of(std::span<const FleetFilter> filters) {
  std::map<std::string_view, Values> values;
  for (const auto &filter : filters) {
    auto one = expression(filter);
    if (!one) return std::unexpected(one.error());
    values[filter.word].push_back(std::move(*one));
  }
  Condition condition;
  for (const auto &[word, all] : values) {
    if (auto added = add_condition(condition, word, all); !added) return std::unexpected(added.error());
  }
  return condition;
}

// An engine goes on for minutes with the last values of a host that is silent. As long as fleet_snapshot allows a host.
std::string fresh_hosts() {
  constexpr int kSeconds = 60 + 3 * 15 + 90;
  return fmt::format("(time() - max by (instance,cluster) ({}) < {})", families::kTime, kSeconds);
}

std::string joined(const Condition &condition) {
  auto query = condition.hosts;
  for (const auto &join : condition.joins) query.append(kOnGpu).append(join);
  return query;
}

std::string per_gpu(std::string_view family, const Condition &condition) {
  return fmt::format("{}({}{{{}{}}}){} and on (instance,cluster) {}", kPerGpu, family, kWhole, condition.matchers,
                     joined(condition), fresh_hosts());
}

// Where none fits at a moment of which GPUs are told there are 0.
std::string counted(const std::string &query, Condition condition) {
  condition.joins.clear();
  return fmt::format("count({}) or 0 * count({})", query, per_gpu(families::kInfo, condition));
}

std::string held_query(const Condition &condition) {
  return fmt::format("{}{}{}", per_gpu(families::kInfo, condition), kOnGpu,
                     folded(fmt::format("({}({}))", kPerGpu, families::kOwner)));
}

}  // namespace

std::string_view name(FleetCurve curve) {
  if (const auto *metric = metric_of(curve); metric != nullptr) return metric->key;
  return curve == FleetCurve::held ? "held" : "gpus";
}

Result<std::string> curve_query(FleetCurve curve, std::span<const FleetFilter> filters) {
  const auto condition = condition_of(filters);
  if (!condition) return std::unexpected(condition.error());
  if (curve == FleetCurve::held) return counted(held_query(*condition), *condition);
  if (curve == FleetCurve::gpus) return counted(per_gpu(families::kInfo, *condition), *condition);
  return fmt::format("{}({})", curve == FleetCurve::power ? "sum" : "avg",
                     per_gpu(prometheus_name(*metric_of(curve)), *condition));
}

CurveAxis curve_axis(WallTime from, WallTime to, std::size_t points, std::chrono::seconds least) {
  const auto unit = std::max<std::int64_t>(1, least.count());
  const auto seconds = [](WallTime time) {
    return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
  };
  const auto begin = seconds(from), end = seconds(to);
  const auto wanted = (end - begin) / static_cast<std::int64_t>(std::max<std::size_t>(1, points));
  const auto step = std::max<std::int64_t>(1, (wanted + unit - 1) / unit) * unit;
  const auto first = (begin + step - 1) / step * step;
  return {.first = WallTime(std::chrono::seconds(first)),
          .step = std::chrono::seconds(step),
          .count = first > end ? 0 : static_cast<std::size_t>((end - first) / step + 1)};
}

std::vector<double> curve_values(FleetCurve curve, const CurveAxis &axis, std::span<const EngineSeries> answer) {
  std::vector<double> values(axis.count, std::numeric_limits<double>::quiet_NaN());
  if (answer.empty()) return values;
  const auto *metric = metric_of(curve);
  const double scale = metric != nullptr ? prometheus_scale(*metric) : 1;
  const double first = Seconds(axis.first.time_since_epoch()).count(), step = Seconds(axis.step).count();
  for (const auto &point : answer.front().points) {
    const double place = std::round((point.time - first) / step);
    if (!(place >= 0 && place < static_cast<double>(axis.count)) || !std::isfinite(point.value)) continue;
    values[static_cast<std::size_t>(place)] = point.value / scale;
  }
  return values;
}

std::string fleet_curves_json(const CurveAxis &axis, std::span<const std::vector<double>> curves) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.member("schema", "gpulse-fleet-curves/1");
  json.member("start_seconds",
              std::int64_t{std::chrono::floor<std::chrono::seconds>(axis.first).time_since_epoch().count()});
  json.member("step_seconds", std::int64_t{axis.step.count()});
  json.member("count", std::uint64_t{axis.count});
  // Hosts that only other exporters tell of are in no curve.
  json.member("only_agents", true);
  json.key("series");
  json.begin_array();
  for (std::size_t i = 0; i < curves.size() && i < kFleetCurves.size(); ++i) {
    const auto *metric = metric_of(kFleetCurves[i]);
    json.begin_object();
    json.member("name", name(kFleetCurves[i]));
    json.member("unit", metric != nullptr ? symbol(metric->unit) : std::string_view());
    json.key("value");
    json.begin_array();
    for (const auto value : curves[i]) std::isfinite(value) ? json.value(std::round(value * 1e3) / 1e3) : json.null();
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return out;
}

}  // namespace gpulse::fleet
