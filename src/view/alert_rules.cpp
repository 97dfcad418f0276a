// SPDX-License-Identifier: Apache-2.0
#include "view/alert_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cctype>
#include <cmath>

#include "base/json_writer.hpp"
#include "insight/catalogue.hpp"
#include "metric/table.hpp"
#include "model/snapshot.hpp"
#include "model/xid.hpp"
#include "view/families.hpp"

namespace gpulse::view {

namespace {

using namespace families;

constexpr std::string_view kOnGpu = "GPU {{ $labels.gpu }} of {{ $labels.instance }}";
constexpr std::int64_t kLastXid = 255;

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
                   .expression = fmt::format("up == 0 and on (job, instance) count_over_time({}[1d]) > 0", kUp),
                   .wait = "2m",
                   .severity = "critical",
                   .summary = "Nothing is heard from gpulse on {{ $labels.instance }}",
                   .description = "The agent does not answer any more, so that nobody knows how the GPUs are. On the "
                                  "machine: gpulse agent status, systemctl status gpulse."});
  rules.push_back({.name = "GpulseStale",
                   .expression = fmt::format("{} == 0", kUp),
                   .wait = "1m",
                   .severity = "critical",
                   .summary = "gpulse on {{ $labels.instance }} takes no samples",
                   .description = "The agent answers, but its last sample is older than three intervals: readings have "
                                  "ended. On the machine: gpulse agent status, gpulse doctor."});
  rules.push_back({.name = "GpulseHistoryDropped",
                   .expression = fmt::format("increase({}[15m]) > 0", kDropped),
                   .severity = "warning",
                   .summary = "gpulse on {{ $labels.instance }} cannot keep its history",
                   .description = "Samples did not get onto the disk in the last 15 minutes: it is full, or too slow. "
                                  "On the machine: gpulse agent status."});
}

void add_states(std::vector<AlertRule> &rules) {
  const auto is = [](DeviceState state) { return fmt::format("{}{{state=\"{}\"}} == 1", kState, word(state)); };
  rules.push_back({.name = "GpuLost",
                   .expression = is(DeviceState::lost),
                   .wait = "1m",
                   .severity = "critical",
                   .summary = fmt::format("{} is lost", kOnGpu),
                   .description =
                       "The driver does not reach the GPU any more. Work on it has ended; it comes back with "
                       "a reset or a restart of the machine, if at all. On the machine: gpulse doctor."});
  rules.push_back({.name = "GpuNotResponding",
                   .expression = is(DeviceState::not_responding),
                   .wait = "2m",
                   .severity = "critical",
                   .summary = fmt::format("{} does not respond", kOnGpu),
                   .description = "Calls to the driver about this GPU do not return. On the machine: gpulse doctor."});
}

// The driver's errors: those that are the program's own fault, and all others.
void add_xids(std::vector<AlertRule> &rules) {
  std::vector<std::int64_t> harmless;
  for (std::int64_t number = 1; number <= kLastXid; ++number) {
    const auto *xid = find_xid(number);
    if (xid != nullptr && xid->application) harmless.push_back(number);
  }
  const auto recent = [&](std::string_view match) {
    return fmt::format("time() - {}{{xid{}\"{}\"}} < 900", kXidTime, match, fmt::join(harmless, "|"));
  };
  rules.push_back({.name = "GpuXid",
                   .expression = recent("!~"),
                   .severity = "critical",
                   .summary = fmt::format("The driver reported XID {{{{ $labels.xid }}}} for {}", kOnGpu),
                   .description = "An error in the last 15 minutes that is not the program's own fault. What it means "
                                  "and what to do: gpulse explain xid {{ $labels.xid }}."});
  rules.push_back({.name = "GpuXidOfProgram",
                   .expression = recent("=~"),
                   .severity = "info",
                   .summary = fmt::format("A program failed with XID {{{{ $labels.xid }}}} on {}", kOnGpu),
                   .description = "An error in the last 15 minutes that is most often the program's own fault. More: "
                                  "gpulse explain xid {{ $labels.xid }}."});
}

// From here on, as the row says: of what counts faults any further one.
void add_threshold(std::vector<AlertRule> &rules, const Metric &metric, double from, double below,
                   std::string_view severity) {
  if (!std::isfinite(from)) return;
  const auto name = prometheus_name(metric);
  const double scale = prometheus_scale(metric);
  const bool counts = metric.kind == Kind::counter;
  auto expression = counts ? fmt::format("increase({}[1h]) >= {:g}", name, from * scale)
                           : fmt::format("{} >= {:g}", name, from * scale);
  if (std::isfinite(below) && !counts) expression += fmt::format(" < {:g}", below * scale);
  rules.push_back({.name = alert_name(metric.key),
                   .expression = std::move(expression),
                   .wait = metric.kind == Kind::gauge ? "5m" : "",
                   .severity = std::string(severity),
                   .summary = fmt::format("{}: {}{}", kOnGpu, metric.help, counts ? "" : " ({{ $value }})"),
                   .description = fmt::format("{} More: gpulse explain {}.", sentence(metric.meaning), metric.key)});
}

// Time held back by what costs speed that was paid for.
void add_held_back(std::vector<AlertRule> &rules, const Metric &metric) {
  if (metric.kind != Kind::set || metric.total.empty() || metric.grave == 0) return;
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < metric.words.size(); ++i) {
    if (((metric.grave >> i) & 1U) != 0) words.push_back(metric.words[i]);
  }
  rules.push_back({.name = "GpuHeldBack",
                   .expression = fmt::format("rate({}{{reason=~\"{}\"}}[5m]) > 0.1", prometheus_name(total_of(metric)),
                                             fmt::join(words, "|")),
                   .wait = "5m",
                   .severity = "warning",
                   .summary = fmt::format("{} is held back: {{{{ $labels.reason }}}}", kOnGpu),
                   .description = fmt::format("For {{{{ $value | humanizePercentage }}}} of the time. {} More: gpulse "
                                              "explain {}.",
                                              sentence(metric.meaning), metric.key)});
}

void add_metrics(std::vector<AlertRule> &rules) {
  for_each_metric(Scope::device, [&](MetricId, const Metric &metric) {
    add_threshold(rules, metric, metric.bad, kNoThreshold, "critical");
    add_threshold(rules, metric, metric.warn, metric.bad, "warning");
    add_held_back(rules, metric);
  });
}

void add_findings(std::vector<AlertRule> &rules) {
  for (const auto &kind : insight::finding_kinds()) {
    // What is well needs no alert; what cannot be told is none.
    if (kind.fix.all().empty() || kind.id == insight::FindingId::unknown) continue;
    rules.push_back(
        {.name = alert_name(kind.word),
         .expression = fmt::format("{}{{finding=\"{}\"}} == 1", kFinding, kind.word),
         .wait = "10m",
         .severity = fmt::format("{{{{ if eq $labels.severity \"{}\" }}}}warning{{{{ else }}}}info{{{{ end }}}}",
                                 word(insight::Weight::problem)),
         .summary = fmt::format("{{{{ $labels.uuid }}}} on {{{{ $labels.instance }}}}: {}", kind.title),
         .description = fmt::format("{} {} More: gpulse explain {}.", sentence(kind.meaning),
                                    sentence(kind.fix.all().front()), kind.word)});
  }
}

// JSON's strings are YAML's.
std::string quoted(std::string_view text) {
  std::string out;
  JsonWriter(out).value(text);
  return out;
}

}  // namespace

std::vector<AlertRule> alert_rules() {
  std::vector<AlertRule> rules;
  add_agent(rules);
  add_states(rules);
  add_xids(rules);
  add_metrics(rules);
  add_findings(rules);
  return rules;
}

std::string prometheus_rules() {
  std::string out =
      "# Alerts over the metrics of gpulse serve; printed by: gpulse rules --format prometheus\ngroups:\n"
      "  - name: gpulse\n    rules:\n";
  for (const auto &rule : alert_rules()) {
    out += fmt::format("      - alert: {}\n        expr: {}\n", rule.name, quoted(rule.expression));
    if (!rule.wait.empty()) out += fmt::format("        for: {}\n", rule.wait);
    out += fmt::format("        labels:\n          severity: {}\n", quoted(rule.severity));
    out += fmt::format("        annotations:\n          summary: {}\n          description: {}\n", quoted(rule.summary),
                       quoted(rule.description));
  }
  return out;
}

}  // namespace gpulse::view
