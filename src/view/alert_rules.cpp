// SPDX-License-Identifier: Apache-2.0
#include "view/alert_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>

#include "base/clock.hpp"
#include "base/json_writer.hpp"
#include "insight/catalogue.hpp"
#include "metric/table.hpp"
#include "model/xid.hpp"
#include "term/table.hpp"
#include "view/families.hpp"

namespace gpulse::view {

namespace {

using namespace families;
using namespace insight;

constexpr std::int64_t kLastXid = 255;

// The driver's errors that are the program's own fault.
std::string harmless_xids() {
  std::vector<std::int64_t> harmless;
  for (std::int64_t number = 1; number <= kLastXid; ++number) {
    const auto *xid = find_xid(number);
    if (xid != nullptr && xid->application) harmless.push_back(number);
  }
  return fmt::format("{}", fmt::join(harmless, "|"));
}

std::vector<std::string_view> words_of(const HeldBack &held) {
  const auto &metric = describe(held.metric);
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < metric.words.size(); ++i) {
    if (((held.bits >> i) & 1U) != 0) words.push_back(metric.words[i]);
  }
  return words;
}

// " >= 80 < 90"
std::string limits(const ReadingWithin &within, double scale) {
  std::string text;
  if (std::isfinite(within.from)) text += fmt::format(" >= {:g}", within.from * scale);
  if (std::isfinite(within.below)) text += fmt::format(" < {:g}", within.below * scale);
  return text;
}

class PromQl {
 public:
  explicit PromQl(const AlertRule &rule) : over_(duration_text(rule.over)), seconds_(rule.over.count()) {}

  std::string operator()(const StateIs &is) const {
    return fmt::format("{}{{state=\"{}\"}} == 1", kState, word(is.state));
  }
  std::string operator()(const XidSeen &xid) const {
    return fmt::format("time() - {}{{xid{}\"{}\"}} < {}", kXidTime, xid.of_program ? "=~" : "!~", harmless_xids(),
                       seconds_);
  }
  std::string operator()(const ReadingWithin &within) const {
    const auto &metric = describe(within.metric);
    return prometheus_name(metric) + limits(within, prometheus_scale(metric));
  }
  std::string operator()(const CounterGrew &grew) const {
    const auto &metric = describe(grew.metric);
    return fmt::format("increase({}[{}]) >= {:g}", prometheus_name(metric), over_, grew.by * prometheus_scale(metric));
  }
  std::string operator()(const HeldBack &held) const {
    return fmt::format("rate({}{{reason=~\"{}\"}}[{}]) > {:g}", prometheus_name(total_of(describe(held.metric))),
                       fmt::join(words_of(held), "|"), over_, held.share);
  }
  std::string operator()(const FindingLasts &lasts) const {
    return fmt::format("{}{{finding=\"{}\"}} == 1", kFinding, word(lasts.finding));
  }
  std::string operator()(const AgentIs &agent) const {
    switch (agent.trouble) {
      case AgentTrouble::gone:
        return fmt::format("up == 0 and on (job, instance) count_over_time({}[1d]) > 0", kUp);
      case AgentTrouble::silent:
        return fmt::format("count_over_time({0}[1d]) > 0 unless {0} unless on (job, instance) up", kUp);
      case AgentTrouble::stale:
        return fmt::format("{} == 0", kUp);
      case AgentTrouble::drops_samples:
        break;
    }
    return fmt::format("increase({}[{}]) > 0", kDropped, over_);
  }

 private:
  std::string over_;
  std::int64_t seconds_;
};

class Words {
 public:
  explicit Words(const AlertRule &rule) : over_(duration_text(rule.over)) {}

  std::string operator()(const StateIs &is) const { return fmt::format("state is {}", word(is.state)); }
  std::string operator()(const XidSeen &xid) const {
    return fmt::format("XID {}, within {}", xid.of_program ? "of a program" : "not of a program", over_);
  }
  std::string operator()(const ReadingWithin &within) const { return key(within.metric) + limits(within, 1); }
  std::string operator()(const CounterGrew &grew) const {
    return fmt::format("{} grew by {:g} within {}", key(grew.metric), grew.by, over_);
  }
  std::string operator()(const HeldBack &held) const {
    return fmt::format("{} for more than {:g} % of {}", fmt::join(words_of(held), ", "), held.share * 100, over_);
  }
  std::string operator()(const FindingLasts &lasts) const { return fmt::format("finding {}", word(lasts.finding)); }
  std::string operator()(const AgentIs &agent) const {
    switch (agent.trouble) {
      case AgentTrouble::gone:
        return "agent does not answer (Prometheus alone)";
      case AgentTrouble::silent:
        return "agent writes no more (Prometheus alone)";
      case AgentTrouble::stale:
        return "agent takes no samples";
      case AgentTrouble::drops_samples:
        break;
    }
    return fmt::format("history dropped samples within {}", over_);
  }

 private:
  static std::string key(MetricId id) {
    const auto &metric = describe(id);
    return fmt::format("{}{}", metric.scope == Scope::device ? "" : "host.", metric.key);
  }
  std::string over_;
};

// In the templates of Prometheus, which begin with two braces wherever they come from.
std::string templated(std::string_view text, const AlertRule &rule) {
  const auto over = over_words(rule.over);
  const std::array<std::pair<std::string_view, std::string_view>, 9> templates{
      {{"{{", "{{ \"{{\" }}"},
       {"{gpu}", "{{ $labels.gpu }}"},
       {"{host}", "{{ $labels.instance }}"},
       {"{device}", "{{ $labels.uuid }}"},
       {"{value}", "{{ $value }}"},
       {"{share}", "{{ $value | humanizePercentage }}"},
       {"{xid}", "{{ $labels.xid }}"},
       {"{over}", over},
       {"{reason}", "{{ $labels.reason }}"}}};
  std::string out;
  while (!text.empty()) {
    const auto *const found =
        std::ranges::find_if(templates, [&](const auto &each) { return text.starts_with(each.first); });
    const bool any = found != templates.end();
    out += any ? found->second : text.substr(0, 1);
    text.remove_prefix(any ? found->first.size() : 1);
  }
  return out;
}

std::string level_words(const AlertRule &rule) {
  if (rule.level) return std::string(word(*rule.level));
  return fmt::format("{{{{ if eq $labels.severity \"{}\" }}}}{}{{{{ else }}}}{}{{{{ end }}}}", word(Weight::problem),
                     word(level_of(Weight::problem)), word(level_of(Weight::note)));
}

// JSON's strings are YAML's.
std::string quoted(std::string_view text) {
  std::string out;
  JsonWriter(out).value(text);
  return out;
}

}  // namespace

std::string prometheus_rules(std::span<const AlertRule> rules) {
  std::string out =
      "# Alerts over the metrics of gpulse serve; printed by: gpulse rules --format prometheus\ngroups:\n"
      "  - name: gpulse\n    rules:\n";
  for (const auto &rule : rules) {
    out += fmt::format("      - alert: {}\n        expr: {}\n", rule.name,
                       quoted(std::visit(PromQl(rule), rule.condition)));
    if (rule.wait.count() > 0) out += fmt::format("        for: {}\n", duration_text(rule.wait));
    if (rule.keep && rule.keep->count() > 0)
      out += fmt::format("        keep_firing_for: {}\n", duration_text(*rule.keep));
    out += fmt::format("        labels:\n          severity: {}\n", quoted(level_words(rule)));
    out += fmt::format("        annotations:\n          summary: {}\n          description: {}\n",
                       quoted(templated(rule.summary, rule)), quoted(templated(rule.description, rule)));
  }
  return out;
}

std::string condition_words(const AlertRule &rule) { return std::visit(Words(rule), rule.condition); }

std::string rules_table(std::span<const AlertRule> rules, const term::Style &style) {
  term::Table table({{.title = "RULE"}, {.title = "SEVERITY", .gap = 2}, {.title = "FOR", .gap = 2}});
  for (const auto &rule : rules) {
    table.add({rule.name, std::string(rule.level ? word(*rule.level) : "as found"), duration_text(rule.wait)},
              " " + condition_words(rule));
  }
  std::string out;
  for (const auto &line : table.lines(style)) out += line + "\n";
  return out;
}

}  // namespace gpulse::view
