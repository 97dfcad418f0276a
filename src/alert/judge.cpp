// SPDX-License-Identifier: Apache-2.0
#include "alert/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "metric/format.hpp"
#include "metric/table.hpp"
#include "model/xid.hpp"

namespace gpulse::alert {

namespace {

using namespace insight;
using Holds = Verdict::Holds;

// So much beyond its threshold a reading has to be back: what stands there does not come and go.
constexpr double kMargin = 0.03;
constexpr const char *kDropped = "history";

std::string xid_word(std::int64_t code) { return code == kOtherXid ? "other" : fmt::format("{}", code); }

bool is_of_program(std::int64_t code) {
  const auto *xid = find_xid(code);
  return xid != nullptr && xid->application;
}

Holds holds(const ReadingWithin &within, double value) {
  const double above = within.goes_on ? kNoThreshold : within.below;
  if (value >= within.from && value < above) return Holds::yes;
  const bool is_upper = std::isfinite(within.from);
  const auto moved = [](double bound, double by) {
    return std::isfinite(bound) ? bound + std::abs(bound) * by : bound;
  };
  const double least = is_upper && within.until ? *within.until : moved(within.from, -kMargin);
  const double most = !is_upper && within.until ? *within.until : moved(above, kMargin);
  return value > least && value < most ? Holds::nearly : Holds::no;
}

class Judge {
 public:
  Judge(const AlertRule &rule, const Sight &sight, Growths &growths, Judged &judged)
      : rule_(rule), sight_(sight), growths_(growths), judged_(judged) {}

  void operator()(const StateIs &is) const {
    if (!has_devices()) return;
    for (const auto &device : sight_.snapshot->devices) {
      if (device.identity) add(device.identity->uuid, device.state == is.state ? Holds::yes : Holds::no);
    }
  }

  void operator()(const XidSeen &seen) const {
    for (const auto &device : sight_.tally.devices) {
      for (const auto &xid : device.xids) {
        if (is_of_program(xid.code) != seen.of_program) continue;
        auto &verdict = add(device.uuid, sight_.now - xid.last < rule_.over ? Holds::yes : Holds::no);
        verdict.detail = xid_word(xid.code);
        verdict.event = xid.last;
      }
    }
  }

  void operator()(const ReadingWithin &within) const {
    each_reading(within.metric, [&](const Text &uuid, double value) {
      auto &verdict = add(uuid, holds(within, value));
      verdict.value = value;
      verdict.value_text = format_value(describe(within.metric), value);
    });
  }

  void operator()(const CounterGrew &grew) const {
    const std::string key(describe(grew.metric).key);
    each_reading(grew.metric, [&](const Text &uuid, double value) {
      judged_.counts |= growths_[{key, uuid.str()}].add(sight_.now, value, rule_.over);
    });
    // What has grown has grown, also of a GPU that is lost by now.
    for (const auto &[of, growth] : growths_) {
      if (of.first == key) add_growth(Text(of.second), growth, grew.by);
    }
  }

  void operator()(const HeldBack &held) const {
    const auto &metric = describe(held.metric);
    const auto place = std::ranges::find(totalled(), held.metric) - totalled().begin();
    for (const auto &device : sight_.tally.devices) {
      if (static_cast<std::size_t>(place) >= device.bits.size()) continue;
      const auto &bits = device.bits[static_cast<std::size_t>(place)];
      for (std::size_t i = 0; i < bits.size() && i < metric.words.size(); ++i) {
        if (((held.bits >> i) & 1U) != 0) add_share(device.uuid, metric.words[i], bits[i], held.share);
      }
    }
  }

  void operator()(const FindingLasts &lasts) const {
    if (!sight_.is_fresh) return;
    for (const auto &standing : sight_.tally.findings) {
      if (standing.id == lasts.finding) add(standing.uuid, Holds::yes).level = level(standing.weight);
    }
  }

  void operator()(const AgentIs &agent) const {
    if (agent.trouble == AgentTrouble::stale) add({}, sight_.is_fresh ? Holds::no : Holds::yes);
    if (agent.trouble != AgentTrouble::drops_samples || !sight_.dropped) return;
    auto &growth = growths_[{kDropped, ""}];
    growth.add(sight_.now, static_cast<double>(*sight_.dropped), rule_.over);
    add_growth({}, growth, 1);
  }

 private:
  bool has_devices() const { return sight_.is_fresh && sight_.snapshot != nullptr; }
  AlertLevel level(Weight weight) const { return rule_.level.value_or(level_of(weight)); }

  Verdict &add(const Text &uuid, Holds holds) const {
    return judged_.verdicts.emplace_back(
        Verdict{.uuid = uuid, .level = rule_.level.value_or(AlertLevel::info), .holds = holds});
  }

  template <class Take>
  void each_reading(MetricId id, Take take) const {
    if (!has_devices()) return;
    if (brief(id).scope == Scope::host) {
      if (const auto &reading = sight_.snapshot->host[id]) take(Text(), reading.value());
      return;
    }
    for (const auto &device : sight_.snapshot->devices) {
      if (!device.identity) continue;
      if (const auto &reading = device.row[id]) take(device.identity->uuid, reading.value());
    }
  }

  void add_growth(const Text &uuid, const Growth &growth, double by) const {
    const double grown = growth.within(sight_.now, rule_.over);
    auto &verdict = add(uuid, grown >= by ? Holds::yes : Holds::no);
    verdict.value = grown;
    verdict.value_text = fmt::format("{:g} more", grown);
  }

  void add_share(const Text &uuid, std::string_view word, double seconds, double most) const {
    auto &growth = growths_[{std::string(word), uuid.str()}];
    growth.add(sight_.now, seconds, rule_.over);
    const double share = growth.within(sight_.now, rule_.over) / static_cast<double>(rule_.over.count());
    auto &verdict = add(uuid, share > most ? Holds::yes : Holds::no);
    verdict.detail = word;
    verdict.value = std::min(share, 1.0);
    verdict.value_text = fmt::format("{:.0f} %", std::min(share, 1.0) * 100);
  }

  const AlertRule &rule_;
  const Sight &sight_;
  Growths &growths_;
  Judged &judged_;
};

}  // namespace

Judged judge(const AlertRule &rule, const Sight &sight, Growths &growths) {
  Judged judged;
  std::visit(Judge(rule, sight, growths, judged), rule.condition);
  return judged;
}

std::optional<Verdict> judge_missing(const AlertRule &rule, const Alert &alert, const Sight &sight) {
  Verdict verdict{.uuid = alert.uuid, .detail = alert.detail, .level = alert.level};
  // The agent was started anew since: what happened is as long ago as it is.
  if (std::holds_alternative<XidSeen>(rule.condition)) {
    verdict.event = alert.event;
    verdict.holds = sight.now - alert.event < rule.over ? Holds::yes : Holds::no;
    return verdict;
  }
  // All findings that last are known; everything else is missing because it cannot be read.
  if (std::holds_alternative<FindingLasts>(rule.condition) && sight.is_fresh) return verdict;
  return std::nullopt;
}

}  // namespace gpulse::alert
