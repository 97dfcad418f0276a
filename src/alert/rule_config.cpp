// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cctype>
#include <cmath>
#include <map>

#include "alert/alert.hpp"
#include "alert/toml_rows.hpp"
#include "metric/table.hpp"

namespace gpulse::alert {

namespace {

using namespace std::chrono_literals;
using namespace insight;

constexpr std::size_t kMostOwn = 200, kLongestName = 64, kLongestText = 500;

// What a table says of a rule; nothing where it does not.
struct Wish {
  bool enabled = true;
  std::string name{}, metric{}, text{};
  std::optional<double> from{}, below{}, until{};
  std::array<std::optional<double>, kAlertLevels> levels{};
  std::optional<std::chrono::nanoseconds> over{}, wait{}, keep{};
  std::optional<AlertLevel> level{};
};

std::string take_level(const toml::node &node, Wish &to) {
  to.level = alert_level_named(node.value<std::string>().value_or(""));
  return to.level ? "" : "is neither info, warning nor critical";
}

template <AlertLevel Level>
std::string take_threshold(const toml::node &node, Wish &to) {
  return take(node, to.levels[static_cast<std::size_t>(Level)]);
}

// Of both kinds of tables.
constexpr TomlRow<Wish> kFrom{"from", [](const toml::node &node, Wish &to) { return take(node, to.from); }};
constexpr TomlRow<Wish> kUntil{"until", [](const toml::node &node, Wish &to) { return take(node, to.until); }};
constexpr TomlRow<Wish> kOver{"over", [](const toml::node &node, Wish &to) { return take_time(node, to.over, 1s); }};
constexpr TomlRow<Wish> kWait{"for", [](const toml::node &node, Wish &to) { return take_time(node, to.wait); }};
constexpr TomlRow<Wish> kKeep{"keep_firing_for",
                              [](const toml::node &node, Wish &to) { return take_time(node, to.keep); }};
constexpr TomlRow<Wish> kLevel{"severity", &take_level};

constexpr std::array kChangeRows{
    TomlRow<Wish>{"enabled", [](const toml::node &node, Wish &to) { return take(node, to.enabled); }},
    kFrom,
    TomlRow<Wish>{"info", &take_threshold<AlertLevel::info>},
    TomlRow<Wish>{"warning", &take_threshold<AlertLevel::warning>},
    TomlRow<Wish>{"critical", &take_threshold<AlertLevel::critical>},
    kUntil,
    kOver,
    kWait,
    kKeep,
    kLevel,
};

constexpr std::array kOwnRows{
    TomlRow<Wish>{"name", [](const toml::node &node, Wish &to) { return take(node, to.name); }},
    TomlRow<Wish>{"metric", [](const toml::node &node, Wish &to) { return take(node, to.metric); }},
    kFrom,
    TomlRow<Wish>{"below", [](const toml::node &node, Wish &to) { return take(node, to.below); }},
    kUntil,
    kOver,
    kWait,
    kKeep,
    kLevel,
    TomlRow<Wish>{"text", [](const toml::node &node, Wish &to) { return take(node, to.text); }},
};

// Where the condition has one: what `from` means.
double *threshold_of(AlertRule &rule) {
  if (auto *within = std::get_if<ReadingWithin>(&rule.condition)) return &within->from;
  if (auto *grew = std::get_if<CounterGrew>(&rule.condition)) return &grew->by;
  if (auto *held = std::get_if<HeldBack>(&rule.condition)) return &held->share;
  return nullptr;
}

using Levels = std::map<AlertLevel, double>;

// The thresholds that a rule has from now on.
Result<Levels> wanted_levels(const Wish &wish, Levels levels, const std::string &where) {
  for (std::size_t i = 0; i < kAlertLevels; ++i) {
    if (wish.levels[i]) levels[static_cast<AlertLevel>(i)] = *wish.levels[i];
  }
  if (!wish.from && !wish.level) return levels;
  if (wish.level && std::ranges::any_of(wish.levels, [](const auto &each) { return each.has_value(); }))
    return failure(where + " has severity, and thresholds by it", "say one of both");
  if (!wish.level && levels.size() > 1)
    return failure(where + " from: the rule has two severities",
                   "say which with severity, or set warning and critical");
  const auto level = wish.level.value_or(levels.begin()->first);
  return Levels{{level, wish.from.value_or(levels.begin()->second)}};
}

Result<void> check_levels(const Levels &levels, const AlertRule &rule, const std::string &where) {
  double before = -kNoThreshold;
  for (const auto &[level, threshold] : levels) {
    if (threshold <= before)
      return failure(fmt::format("{} {} begins no later than the one below it", where, word(level)));
    before = threshold;
  }
  const bool is_share = std::holds_alternative<HeldBack>(rule.condition);
  if (is_share && (levels.size() != 1 || levels.begin()->second <= 0 || levels.begin()->second >= 1))
    return failure(where + " takes one share of the time, between 0 and 1");
  if (std::holds_alternative<CounterGrew>(rule.condition) && levels.begin()->second <= 0)
    return failure(where + " is about what has grown: by more than 0");
  return {};
}

// A rule for each level, the gravest first, each up to where the next begins.
std::vector<AlertRule> rules_of(const AlertRule &pattern, const Levels &levels) {
  std::vector<AlertRule> rules;
  for (auto each = levels.rbegin(); each != levels.rend(); ++each) {
    auto &rule = rules.emplace_back(pattern);
    rule.level = each->first;
    *threshold_of(rule) = each->second;
    if (auto *within = std::get_if<ReadingWithin>(&rule.condition)) {
      within->goes_on = each != levels.rbegin();
      within->below = within->goes_on ? std::prev(each)->second : kNoThreshold;
    }
  }
  return rules;
}

Result<void> set_rest(const Wish &wish, std::vector<AlertRule> &rules, const std::string &where) {
  for (auto &rule : rules) {
    if (wish.over && rule.over == 0s) return failure(where + " over: the rule looks at what is now");
    if (wish.over) rule.over = std::chrono::ceil<std::chrono::seconds>(*wish.over);
    if (wish.wait) rule.wait = *wish.wait;
    if (wish.keep) rule.keep = *wish.keep;
    if (!wish.until) continue;
    auto *within = std::get_if<ReadingWithin>(&rule.condition);
    if (within == nullptr) return failure(where + " until: the rule is not about a reading");
    if (rules.size() > 1) return failure(where + " until: the rule has two severities", "say which with severity");
    const bool is_upper = std::isfinite(within->from);
    if (is_upper ? *wish.until > within->from : *wish.until < within->below)
      return failure(where + " until lies where it still is an alert");
    within->until = wish.until;
  }
  return {};
}

Result<std::vector<AlertRule>> changed(const std::vector<AlertRule> &all, const Wish &wish, const std::string &where) {
  Levels levels;
  for (auto rule : all) {
    if (const auto *threshold = threshold_of(rule)) levels[*rule.level] = *threshold;
  }
  const bool sets = wish.from || std::ranges::any_of(wish.levels, [](const auto &each) { return each.has_value(); });
  auto rules = all;
  if (!levels.empty() && (sets || wish.level)) {
    const auto wanted = wanted_levels(wish, levels, where);
    if (!wanted) return std::unexpected(wanted.error());
    if (auto good = check_levels(*wanted, all.front(), where); !good) return std::unexpected(good.error());
    rules = rules_of(all.front(), *wanted);
  } else if (sets) {
    return failure(where + " has no threshold to set");
  } else if (wish.level) {
    for (auto &rule : rules) rule.level = wish.level;
  }
  if (auto good = set_rest(wish, rules, where); !good) return std::unexpected(good.error());
  return rules;
}

Result<void> change_rules(const toml::table &alerts, std::vector<AlertRule> &rules) {
  const auto *node = alerts.get("rule");
  if (node == nullptr) return {};
  if (node->as_table() == nullptr) return failure("alerts.rule is no table", "write [alerts.rule.NAME]");
  for (const auto &[key, value] : *node->as_table()) {
    const auto where = fmt::format("[alerts.rule.{}]", key.str());
    std::vector<std::string_view> names;
    for (const auto &rule : rules) names.push_back(rule.name);
    const auto first = std::ranges::find(rules, key.str(), &AlertRule::name);
    if (first == rules.end())
      return failure(fmt::format("there is no rule {}", key.str()),
                     did_you_mean(key.str(), names, "gpulse rules lists them"));
    if (value.as_table() == nullptr) return failure(where + " is no table");
    Wish wish;
    if (auto good = take_rows<Wish>(*value.as_table(), kChangeRows, wish, where); !good) return good;
    const auto place = first - rules.begin();
    std::vector<AlertRule> old;
    std::ranges::copy_if(rules, std::back_inserter(old), [&](const AlertRule &rule) { return rule.name == key.str(); });
    auto now = wish.enabled ? changed(old, wish, where) : std::vector<AlertRule>();
    if (!now) return std::unexpected(now.error());
    std::erase_if(rules, [name = std::string(key.str())](const AlertRule &rule) { return rule.name == name; });
    rules.insert(rules.begin() + place, now->begin(), now->end());
  }
  return {};
}

bool is_rule_name(std::string_view name) {
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  return !name.empty() && name.size() <= kLongestName && letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

Result<MetricId> metric_named(std::string_view name, const std::string &where) {
  constexpr std::string_view kHost = "host.";
  const bool of_host = name.starts_with(kHost);
  const auto id = of_host ? find_metric(Scope::host, name.substr(kHost.size())) : find_metric(Scope::device, name);
  if (id && !is_text(key_of(*id))) return *id;
  std::vector<std::string> names;
  for_each_metric(Scope::device, [&](MetricId, const Metric &metric) { names.emplace_back(metric.key); });
  for_each_metric(Scope::host,
                  [&](MetricId, const Metric &metric) { names.push_back(fmt::format("host.{}", metric.key)); });
  const std::vector<std::string_view> known(names.begin(), names.end());
  return failure(fmt::format("{} metric: there is no number {}", where, name),
                 did_you_mean(name, known, "gpulse explain --all lists them"));
}

Result<AlertRule> own_rule(const Wish &wish, const std::string &where) {
  const auto id = metric_named(wish.metric, where);
  if (!id) return std::unexpected(id.error());
  if (!wish.from && !wish.below) return failure(where + " needs from, or below");
  const bool counts = brief(*id).kind == Kind::counter;
  if (counts && (!wish.from || wish.below || *wish.from <= 0))
    return failure(where + " is about a counter: from says by how much it has to grow");
  if (wish.from && wish.below && *wish.from >= *wish.below) return failure(where + " from is not less than below");
  if (wish.from && wish.below && wish.until) return failure(where + " has from, below and until", "leave one out");
  auto rule = threshold_rule(wish.name, *id, wish.from.value_or(-kNoThreshold), wish.below.value_or(kNoThreshold),
                             wish.level.value_or(AlertLevel::warning));
  if (wish.text.size() > kLongestText) return failure(where + " text is longer than 500 letters");
  if (!wish.text.empty()) rule.summary = printable(wish.text);
  std::vector<AlertRule> one{std::move(rule)};
  if (auto good = set_rest(wish, one, where); !good) return std::unexpected(good.error());
  return std::move(one.front());
}

Result<void> add_own(const toml::table &alerts, std::vector<AlertRule> &rules) {
  const auto tables = tables_of(alerts, "own");
  if (!tables) return std::unexpected(tables.error());
  if (tables->size() > kMostOwn) return failure(fmt::format("there are more than {} rules of your own", kMostOwn));
  for (const auto *table : *tables) {
    Wish wish;
    const auto name = table->get("name") != nullptr ? table->get("name")->value<std::string>().value_or("") : "";
    const auto where = fmt::format("[[alerts.own]]{}{}", name.empty() ? "" : " ", name);
    if (auto good = take_rows<Wish>(*table, kOwnRows, wish, where); !good) return good;
    if (!is_rule_name(wish.name))
      return failure(where + " needs a name of letters, digits and _", "name = \"GpuIdle\"");
    if (std::ranges::find(rules, wish.name, &AlertRule::name) != rules.end())
      return failure(where + " is there already",
                     "take another name, or change that one: [alerts.rule." + wish.name + "]");
    if (wish.metric.empty()) return failure(where + " needs a metric");
    auto rule = own_rule(wish, where);
    if (!rule) return std::unexpected(rule.error());
    rules.push_back(std::move(*rule));
  }
  return {};
}

}  // namespace

Result<void> configure_rules(const toml::table &alerts, std::vector<AlertRule> &rules) {
  if (auto good = change_rules(alerts, rules); !good) return good;
  return add_own(alerts, rules);
}

}  // namespace gpulse::alert
