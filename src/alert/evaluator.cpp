// SPDX-License-Identifier: Apache-2.0
#include "alert/evaluator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace gpulse::alert {

namespace {

using namespace std::chrono_literals;
using insight::AlertRule;
using Holds = Verdict::Holds;

constexpr std::size_t kMostAlerts = 2000;
// Nobody knows for so long whether it still holds: longer than the agent may let go of a driver.
constexpr auto kUnknownFor = 2h;
constexpr auto kRemembered = 1h;
// What was not seen to hold for so long has not held all the time.
constexpr auto kGap = 5min;
// Instances of GPUs come and go; what does not grow any more is forgotten then.
constexpr std::size_t kMostGrowths = 20'000;
// An alert that comes and goes is held twice as long each time, up to this often.
constexpr std::uint32_t kMostDoublings = 5;

bool is_of(const Alert &alert, const AlertRule &rule) {
  return alert.rule == rule.name && (!rule.level || alert.level == *rule.level);
}

bool is_same(const Alert &alert, const Verdict &verdict) {
  return alert.uuid == verdict.uuid && alert.detail == verdict.detail && alert.level == verdict.level;
}

bool reads_state(const AlertRule &rule) {
  return std::holds_alternative<insight::ReadingWithin>(rule.condition) ||
         std::holds_alternative<insight::StateIs>(rule.condition);
}

// In place of "{gpu}" and the like.
std::string fill(std::string_view pattern, const Alert &alert, const AlertRule &rule, std::string_view host) {
  const auto over = insight::over_words(rule.over);
  const std::string device = alert.uuid.empty() ? "the machine" : "GPU " + alert.gpu;
  const std::array<std::pair<std::string_view, std::string_view>, 8> words{{{"{gpu}", alert.gpu},
                                                                            {"{host}", host},
                                                                            {"{device}", device},
                                                                            {"{value}", alert.value_text},
                                                                            {"{share}", alert.value_text},
                                                                            {"{xid}", alert.detail},
                                                                            {"{reason}", alert.detail},
                                                                            {"{over}", over}}};
  std::string out;
  while (!pattern.empty()) {
    const auto *const found =
        std::ranges::find_if(words, [&](const auto &each) { return pattern.starts_with(each.first); });
    const bool any = found != words.end();
    out += any ? found->second : pattern.substr(0, 1);
    pattern.remove_prefix(any ? found->first.size() : 1);
  }
  return out;
}

}  // namespace

Evaluator::Evaluator(EvaluatorOptions options, Memory memory)
    : options_(std::move(options)), memory_(std::move(memory)) {}

void Evaluator::configure(EvaluatorOptions options) {
  // Of one machine only: it is not configured but seen.
  if (options.host.empty()) options.host = std::move(options_.host);
  options_ = std::move(options);
}

void Evaluator::shift(std::chrono::nanoseconds by) {
  for (auto &alert : memory_.alerts) {
    for (auto *time : {&alert.since, &alert.fired, &alert.ended, &alert.seen, &alert.event}) {
      if (*time != WallTime{}) *time += by;
    }
  }
  for (auto &[of, growth] : memory_.growths) {
    for (auto &part : growth.parts) part.time += by;
  }
}

std::vector<Alert> Evaluator::look(const Sight &sight) {
  if (sight.snapshot != nullptr && !sight.snapshot->hostname.empty()) options_.host = sight.snapshot->hostname.str();
  ended_.clear();
  for (const auto &rule : options_.rules) look_at(rule, sight);
  for (auto &alert : memory_.alerts) {
    const auto has_rule = [&](const AlertRule &rule) { return is_of(alert, rule); };
    if (alert.phase != Phase::over && std::ranges::none_of(options_.rules, has_rule))
      end(alert, sight.now, "there is no such rule any more");
  }
  std::vector<Alert> changes;
  tell(sight.now, changes);
  forget(sight.now);
  return changes;
}

void Evaluator::look_at(const AlertRule &rule, const Sight &sight) {
  auto judged = judge(rule, sight, memory_.growths);
  has_changed_ |= judged.counts;
  for (const auto &verdict : judged.verdicts) apply(rule, verdict, sight);
  const auto is_judged = [&](const Alert &alert) {
    return std::ranges::any_of(judged.verdicts, [&](const Verdict &verdict) { return is_same(alert, verdict); });
  };
  for (std::size_t i = 0; i < memory_.alerts.size(); ++i) {
    auto &alert = memory_.alerts[i];
    if (alert.phase == Phase::over || !is_of(alert, rule) || is_judged(alert)) continue;
    if (const auto verdict = judge_missing(rule, alert, sight)) {
      apply(rule, *verdict, sight);
    } else if (sight.is_fresh && sight.now - alert.seen >= kUnknownFor) {
      end(alert, sight.now, reads_state(rule) ? "nobody can tell any more: it is not read" : "");
    }
  }
}

void Evaluator::apply(const AlertRule &rule, const Verdict &verdict, const Sight &sight) {
  auto &alerts = memory_.alerts;
  auto found =
      std::ranges::find_if(alerts, [&](const Alert &alert) { return is_of(alert, rule) && is_same(alert, verdict); });
  const bool is_new = found == alerts.end();
  if (is_new && (verdict.holds != Holds::yes || alerts.size() >= kMostAlerts)) return;
  if (is_new) found = alerts.insert(alerts.end(), Alert{.rule = rule.name, .phase = Phase::over});
  auto &alert = *found;
  if (alert.phase == Phase::over) {
    if (verdict.holds != Holds::yes) return;
    begin(alert, verdict, sight);
  }
  const bool goes_on = verdict.holds == Holds::yes || (verdict.holds == Holds::nearly && alert.phase == Phase::firing);
  if (goes_on) {
    if (alert.phase == Phase::pending && alert.seen != WallTime{} && sight.now - alert.seen > kGap)
      alert.since = sight.now;
    alert.seen = sight.now;
    alert.value = verdict.value;
    alert.value_text = verdict.value_text;
    if (verdict.event != WallTime{}) alert.event = verdict.event;
    if (alert.phase == Phase::pending && sight.now - alert.since >= rule.wait && !is_covered(alert, rule))
      fire(alert, rule, sight.now);
  } else if (alert.phase == Phase::pending || sight.now - alert.seen >= keep_of(alert, rule)) {
    end(alert, sight.now);
  }
}

void Evaluator::begin(Alert &alert, const Verdict &verdict, const Sight &sight) {
  alert = Alert{.rule = alert.rule,
                .level = verdict.level,
                .uuid = verdict.uuid,
                .detail = verdict.detail,
                .id = random_word(16),
                .since = sight.now,
                .fired = alert.fired,
                .fires = alert.fires};
  name(alert, sight);
  has_changed_ = true;
}

// How people call the GPU, which may be another number after a restart.
void Evaluator::name(Alert &alert, const Sight &sight) const {
  if (alert.uuid.empty()) return;
  const auto counted = std::ranges::find(sight.tally.devices, alert.uuid, &insight::DeviceTally::uuid);
  if (counted != sight.tally.devices.end() && counted->id) alert.gpu = text(*counted->id);
  if (sight.snapshot == nullptr) return;
  for (const auto &device : sight.snapshot->devices) {
    if (!device.identity || !(device.identity->uuid == alert.uuid)) continue;
    alert.gpu = text(device.id);
    alert.name = device.identity->name;
  }
}

void Evaluator::fill_in(Alert &alert, const AlertRule &rule) const {
  alert.summary = fill(rule.summary, alert, rule, options_.host);
  alert.description = fill(rule.description, alert, rule, options_.host);
}

void Evaluator::fire(Alert &alert, const AlertRule &rule, WallTime now) {
  alert.fires = now - alert.fired < kRemembered ? alert.fires + 1 : 1;
  alert.phase = Phase::firing;
  alert.fired = now;
  fill_in(alert, rule);
  has_changed_ = true;
}

void Evaluator::end(Alert &alert, WallTime now, Text why) {
  const bool was_told = std::exchange(alert.told, false);
  alert.phase = Phase::over;
  alert.ended = now;
  alert.ending = std::move(why);
  has_changed_ = true;
  if (was_told) ended_.push_back(alert);
}

// One that never fired, or long ago, need not be remembered.
void Evaluator::forget(WallTime now) {
  if (memory_.growths.size() > kMostGrowths)
    std::erase_if(memory_.growths, [](const auto &each) { return each.second.parts.empty(); });
  std::erase_if(memory_.alerts, [&](const Alert &alert) {
    return alert.phase == Phase::over &&
           now - std::max(alert.fired, alert.fires == 0 ? WallTime{} : alert.ended) >= kRemembered;
  });
}

// A warning that has become critical is told as that alone.
bool Evaluator::is_covered(const Alert &alert, const AlertRule &rule) const {
  const auto *within = std::get_if<insight::ReadingWithin>(&rule.condition);
  if (within == nullptr || !within->goes_on) return false;
  if (alert.value && alert.value.value() >= within->below) return true;
  return std::ranges::any_of(memory_.alerts, [&](const Alert &other) {
    return other.rule == alert.rule && other.uuid == alert.uuid && other.level > alert.level &&
           other.phase == Phase::firing;
  });
}

bool Evaluator::is_silent(const Alert &alert, WallTime now) const {
  return std::ranges::any_of(options_.silences, [&](const Silence &silence) { return covers(silence, alert, now); });
}

std::chrono::nanoseconds Evaluator::keep_of(const Alert &alert, const AlertRule &rule) const {
  const auto keep = rule.keep.value_or(options_.keep);
  const auto doublings = std::min(std::max(alert.fires, 1U) - 1, kMostDoublings);
  return keep * (1U << doublings);
}

// What is silent is told when the silence is over, if it still holds then.
void Evaluator::tell(WallTime now, std::vector<Alert> &changes) {
  for (auto &alert : memory_.alerts) {
    if (alert.phase != Phase::firing || alert.told || is_silent(alert, now)) continue;
    alert.told = true;
    changes.push_back(alert);
  }
  changes.insert(changes.end(), ended_.begin(), ended_.end());
}

}  // namespace gpulse::alert
