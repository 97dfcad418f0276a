// SPDX-License-Identifier: Apache-2.0
#include "insight/alert_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "base/counted.hpp"
#include "insight/catalogue.hpp"
#include "metric/table.hpp"

namespace gpulse::insight {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view kOnGpu = "GPU {gpu} of {host}";
constexpr std::array<std::string_view, kAlertLevels> kLevels{"info", "warning", "critical"};

// "memory-leak" is GpuMemoryLeak; a key loses its unit.
std::string alert_name(std::string_view words) {
  for (const std::string_view end : {"_total", "_celsius", "_percent", "_watts"}) {
    if (words.ends_with(end)) words.remove_suffix(end.size());
  }
  std::string name = "Gpu";
  bool begins = true;
  for (const char c : words) {
    const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (letter) name += begins ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    begins = !letter;
  }
  return name;
}

std::string sentence(std::string_view text) {
  return std::string(text) + (text.empty() || text.ends_with('.') ? "" : ".");
}

void add_agent(std::vector<AlertRule> &rules) {
  rules.push_back({.name = "GpulseDown",
                   .condition = AgentIs{AgentTrouble::gone},
                   .wait = 2min,
                   .level = AlertLevel::critical,
                   .summary = "Nothing is heard from gpulse on {host}",
                   .description = "The agent does not answer any more, so that nobody knows how the GPUs are. On the "
                                  "machine: gpulse agent status, systemctl status gpulse."});
  rules.push_back({.name = "GpulseSilent",
                   .condition = AgentIs{AgentTrouble::silent},
                   .wait = 2min,
                   .level = AlertLevel::critical,
                   .summary = "Nothing is written by gpulse on {host} any more",
                   .description = "The agent wrote to this engine within the last day, and has stopped; nobody scrapes "
                                  "it. On the machine: gpulse agent status, systemctl status gpulse."});
  rules.push_back({.name = "GpulseStale",
                   .condition = AgentIs{AgentTrouble::stale},
                   .wait = 1min,
                   .level = AlertLevel::critical,
                   .summary = "gpulse on {host} takes no samples",
                   .description = "The agent answers, but its last sample is older than three intervals: readings have "
                                  "ended. On the machine: gpulse agent status, gpulse doctor."});
  rules.push_back({.name = "GpulseHistoryDropped",
                   .condition = AgentIs{AgentTrouble::drops_samples},
                   .over = 15min,
                   .level = AlertLevel::warning,
                   .summary = "gpulse on {host} cannot keep its history",
                   .description = "Samples did not get onto the disk in the last {over}: it is full, or too slow. "
                                  "On the machine: gpulse agent status."});
}

void add_states(std::vector<AlertRule> &rules) {
  rules.push_back({.name = "GpuLost",
                   .condition = StateIs{DeviceState::lost},
                   .wait = 1min,
                   .level = AlertLevel::critical,
                   .summary = fmt::format("{} is lost", kOnGpu),
                   .description =
                       "The driver does not reach the GPU any more. Work on it has ended; it comes back with "
                       "a reset or a restart of the machine, if at all. On the machine: gpulse doctor."});
  rules.push_back({.name = "GpuNotResponding",
                   .condition = StateIs{DeviceState::not_responding},
                   .wait = 2min,
                   .level = AlertLevel::critical,
                   .summary = fmt::format("{} does not respond", kOnGpu),
                   .description = "Calls to the driver about this GPU do not return. On the machine: gpulse doctor."});
}

void add_xids(std::vector<AlertRule> &rules) {
  rules.push_back({.name = "GpuXid",
                   .condition = XidSeen{.of_program = false},
                   .over = 15min,
                   .level = AlertLevel::critical,
                   .summary = fmt::format("The driver reported XID {{xid}} for {}", kOnGpu),
                   .description = "An error in the last {over} that is not the program's own fault. What it means "
                                  "and what to do: gpulse explain xid {xid}."});
  rules.push_back({.name = "GpuXidOfProgram",
                   .condition = XidSeen{.of_program = true},
                   .over = 15min,
                   .level = AlertLevel::info,
                   .summary = fmt::format("A program failed with XID {{xid}} on {}", kOnGpu),
                   .description = "An error in the last {over} that is most often the program's own fault. More: "
                                  "gpulse explain xid {xid}."});
}

void add_threshold(std::vector<AlertRule> &rules, MetricId id, const Metric &metric, double from, double below,
                   AlertLevel level) {
  if (!std::isfinite(from)) return;
  rules.push_back(threshold_rule(alert_name(metric.key), id, from, below, level));
  if (auto *within = std::get_if<ReadingWithin>(&rules.back().condition)) within->goes_on = std::isfinite(below);
}

// Time held back by what costs speed that was paid for.
void add_held_back(std::vector<AlertRule> &rules, MetricId id, const Metric &metric) {
  if (metric.kind != Kind::set || metric.total.empty() || metric.grave == 0) return;
  rules.push_back({.name = "GpuHeldBack",
                   .condition = HeldBack{.metric = id, .bits = metric.grave, .share = 0.1},
                   .over = 5min,
                   .wait = 5min,
                   .level = AlertLevel::warning,
                   .summary = fmt::format("{} is held back: {{reason}}", kOnGpu),
                   .description = fmt::format("For {{share}} of the time. {} More: gpulse explain {}.",
                                              sentence(metric.meaning), metric.key)});
}

void add_metrics(std::vector<AlertRule> &rules) {
  for_each_metric(Scope::device, [&](MetricId id, const Metric &metric) {
    add_threshold(rules, id, metric, metric.bad, kNoThreshold, AlertLevel::critical);
    add_threshold(rules, id, metric, metric.warn, metric.bad, AlertLevel::warning);
    add_held_back(rules, id, metric);
  });
}

void add_findings(std::vector<AlertRule> &rules) {
  for (const auto &kind : finding_kinds()) {
    // What is well needs no alert; what cannot be told is none.
    if (kind.fix.all().empty() || kind.id == FindingId::unknown) continue;
    rules.push_back({.name = alert_name(kind.word),
                     .condition = FindingLasts{kind.id},
                     .wait = 10min,
                     .summary = fmt::format("{{device}} on {{host}}: {}", kind.title),
                     .description = fmt::format("{} {} More: gpulse explain {}.", sentence(kind.meaning),
                                                sentence(kind.fix.all().front()), kind.word)});
  }
}

}  // namespace

std::string_view word(AlertLevel level) { return kLevels[static_cast<std::size_t>(level)]; }

std::optional<AlertLevel> alert_level_named(std::string_view word) {
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    if (kLevels[i] == word) return static_cast<AlertLevel>(i);
  }
  return std::nullopt;
}

std::string duration_text(std::chrono::nanoseconds time) {
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 4> kUnits{
      {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}}};
  const auto all = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  for (const auto &[unit, milliseconds] : kUnits) {
    if (all % milliseconds == 0 && (all != 0 || unit == "s")) return fmt::format("{}{}", all / milliseconds, unit);
  }
  return fmt::format("{}ms", all);
}

std::string over_words(std::chrono::seconds over) {
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 4> kUnits{
      {{"day", 86'400}, {"hour", 3600}, {"minute", 60}, {"second", 1}}};
  const auto *const unit =
      std::ranges::find_if(kUnits, [&](const auto &each) { return over.count() % each.second == 0; });
  return counted(static_cast<std::uint64_t>(over.count() / unit->second), unit->first);
}

AlertRule threshold_rule(std::string name, MetricId id, double from, double below, AlertLevel level) {
  const auto &metric = describe(id);
  const bool counts = metric.kind == Kind::counter;
  const std::string_view where = metric.scope == Scope::device ? kOnGpu : "{host}";
  AlertRule rule{.name = std::move(name),
                 .condition = ReadingWithin{.metric = id, .from = from, .below = below},
                 .wait = metric.kind == Kind::gauge ? 5min : 0min,
                 .level = level,
                 .summary = fmt::format("{}: {}{}", where, metric.help, counts ? "" : " ({value})"),
                 .description = fmt::format("{} More: gpulse explain {}.", sentence(metric.meaning), metric.key)};
  if (!counts) return rule;
  rule.condition = CounterGrew{.metric = id, .by = from};
  rule.over = 1h;
  return rule;
}

std::vector<AlertRule> alert_rules() {
  std::vector<AlertRule> rules;
  add_agent(rules);
  add_states(rules);
  add_xids(rules);
  add_metrics(rules);
  add_findings(rules);
  return rules;
}

}  // namespace gpulse::insight
