// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_groups.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/nearest.hpp"
#include "fleet/engine_gpus.hpp"

namespace gpulse::fleet {

namespace {

constexpr std::size_t kMostUsers = 64;  // of a group
constexpr double kFull = 100;
constexpr std::string_view kYes = "yes", kNo = "no";
constexpr std::array kOtherWords{kFilterState, kFilterFinding, kFilterSeverity, kFilterRemark,
                                 kFilterIdle,  kFilterXid,     kFilterAny};

// "east/1234" where another cluster has a 1234 too.
Text in_cluster(const FleetOwner &owner, const Text &job) {
  return owner.cluster.empty() || job.empty() ? job : Text(fmt::format("{}/{}", owner.cluster, job));
}

Text owner_name(const FleetOwner &owner, FleetBy by) {
  switch (by) {
    case FleetBy::user:
      return owner.user;
    case FleetBy::job:
      // A pod is what a cluster without batch jobs calls one.
      return in_cluster(owner, owner.job.empty() ? owner.pod : owner.job);
    case FleetBy::account:
      return owner.account;
    default:
      return in_cluster(owner, owner.pod);
  }
}

bool is_of_owners(FleetBy by) { return by != FleetBy::host && by != FleetBy::cluster && by != FleetBy::model; }

using Names = std::vector<Text>;
using Index = std::map<std::string, std::size_t, std::less<>>;

Names names_of(const FleetSnapshot &fleet, const FleetGpu &gpu, FleetBy by) {
  const auto &host = fleet.hosts[gpu.host];
  Names names;
  if (by == FleetBy::host) {
    names = {host.name};
  } else if (by == FleetBy::cluster) {
    names = {host.cluster};
  } else if (by == FleetBy::model) {
    names = {gpu.name};
  } else {
    for (const auto &owner : gpu.owners) names.push_back(owner_name(owner, by));
  }
  std::erase_if(names, [](const Text &name) { return name.empty(); });
  return names;
}

bool fits(std::string_view text, const std::string &pattern) {
  return ::fnmatch(pattern.c_str(), std::string(text).c_str(), FNM_CASEFOLD | FNM_NOESCAPE) == 0;
}

// What a GPU has of a word.
Names words_of(const FleetSnapshot &fleet, const FleetGpu &gpu, std::string_view filter) {
  Names words;
  if (filter == kFilterState) return {word(gpu.state)};
  if (filter == kFilterIdle) return gpu.untold.idle && !gpu.idle ? Names{} : Names{gpu.idle ? kYes : kNo};
  if (filter == kFilterSeverity) {
    if (!gpu.findings.empty()) words = {insight::word(gpu.findings.front().weight)};
  } else if (filter == kFilterFinding) {
    for (const auto &found : gpu.findings) words.push_back(found.id);
  } else if (filter == kFilterRemark) {
    for (const auto &remark : gpu.remarks) words.emplace_back(insight::word(remark.id));
  } else if (filter == kFilterXid) {
    for (const auto code : gpu.errors) words.emplace_back(fmt::format("{}", code));
  } else {
    const auto by = static_cast<FleetBy>(std::ranges::find(kFleetBy, filter) - kFleetBy.begin());
    words = names_of(fleet, gpu, by);
    const auto &host = fleet.hosts[gpu.host];
    if (by == FleetBy::host && host.shares_instance) words.emplace_back(host_of(host.instance));
    // What has a cluster in its name fits without it too.
    for (const auto &owner : gpu.owners) {
      if (owner.cluster.empty() || (by != FleetBy::job && by != FleetBy::pod)) continue;
      words.push_back(by == FleetBy::job && !owner.job.empty() ? owner.job : owner.pod);
    }
  }
  return words;
}

// Filters by their words, so that each is looked at once for a GPU.
class Sieve {
 public:
  explicit Sieve(const std::vector<FleetFilter> &filters) {
    for (const auto &[word, value] : filters) {
      word == kFilterAny ? parts_.push_back("*" + value + "*") : values_[word].push_back(value);
    }
  }

  bool lets_through(const FleetSnapshot &fleet, const FleetGpu &gpu) const {
    const bool has_words = std::ranges::all_of(values_, [&](const auto &one) {
      const auto words = words_of(fleet, gpu, one.first);
      return std::ranges::any_of(one.second, [&](const std::string &value) { return has(words, value); });
    });
    if (!has_words || parts_.empty()) return has_words;
    Names all;
    for (std::size_t by = 0; by < kFleetBy.size(); ++by) {
      for (auto &name : names_of(fleet, gpu, static_cast<FleetBy>(by))) all.push_back(std::move(name));
    }
    return std::ranges::all_of(parts_, [&](const std::string &part) { return has(all, part); });
  }

 private:
  static bool has(const Names &names, const std::string &pattern) {
    return std::ranges::any_of(names, [&](const Text &name) { return fits(name, pattern); });
  }

  std::map<std::string, std::vector<std::string>, std::less<>> values_{};
  std::vector<std::string> parts_{};  // that names have to contain
};

std::optional<double> memory_percent(const FleetGpu &gpu) {
  const auto used = gpu[FleetReading::memory_used], total = gpu[FleetReading::memory_total];
  return used && total && *total > 0 ? std::optional(std::min(*used / *total, 1.0) * kFull) : std::nullopt;
}

void add(FleetTotals &totals, const FleetGpu &gpu) {
  ++totals.gpus;
  ++totals.states[static_cast<std::size_t>(gpu.state)];
  const bool held = gpu.held.value_or(false);
  totals.held_known += gpu.held ? 1U : 0U;
  totals.held += held ? 1U : 0U;
  totals.idle += gpu.idle ? 1U : 0U;
  const auto activity = gpu[FleetReading::true_activity];
  totals.utilization.add(gpu[FleetReading::utilization]);
  totals.true_activity.add(activity);
  totals.memory_percent.add(memory_percent(gpu));
  totals.watts.add(gpu[FleetReading::power]);
  if (held && activity) totals.wasted.add(std::max(0.0, 1 - *activity / kFull));
  if (const auto heat = gpu[FleetReading::temperature]; heat) {
    totals.hottest = std::max(totals.hottest.value_or(*heat), *heat);
  }
  const auto &untold = gpu.untold;
  totals.state_known += untold.state ? 0U : 1U;
  totals.findings_known += untold.findings ? 0U : 1U;
  totals.errors_known += untold.errors ? 0U : 1U;
  totals.idle_known += untold.idle || !gpu.held ? 0U : 1U;
  totals.judged += untold.state || untold.findings || untold.errors ? 0U : 1U;
  totals.errors += gpu.errors.empty() ? 0U : 1U;
  totals.remarked += gpu.remarks.empty() ? 0U : 1U;
  const bool has_steady = std::ranges::any_of(gpu.steady, [](const auto &one) { return one.has_value(); });
  totals.compared += has_steady || gpu.state == GpuState::asleep ? 1U : 0U;
  if (gpu.findings.empty()) return;
  totals.problems += gpu.findings.front().weight == insight::Weight::problem ? 1U : 0U;
  totals.notes += gpu.findings.front().weight == insight::Weight::note ? 1U : 0U;
}

// What is worst of a group, in a few words; behind it how many GPUs have it.
class Worst {
 public:
  void note(int severity, std::string words) {
    if (severity > severity_) counts_.clear();
    severity_ = std::max(severity_, severity);
    if (severity == severity_) ++counts_[std::move(words)];
  }
  void give(FleetGroup &group) const {
    group.severity = severity_;
    const auto most = std::ranges::max_element(counts_, {}, [](const auto &each) { return each.second; });
    if (most == counts_.end()) return;
    const auto more = counts_.size() > 1 ? fmt::format(", {} more", counts_.size() - 1) : std::string();
    group.worst = most->second > 1 && group.gpus.size() > 1 ? fmt::format("{} ({}){}", most->first, most->second, more)
                                                            : most->first + more;
  }

 private:
  int severity_ = 0;
  Index counts_{};
};

// Of what is wrong; 0: nothing.
constexpr int kNote = 1, kProblem = 2, kBroken = 3;

int severity_of(insight::Weight weight) { return weight == insight::Weight::problem ? kProblem : kNote; }

void judge(Worst &worst, const FleetGpu &gpu) {
  // Of a silent host the host is told.
  if (gpu.state == GpuState::silent) return;
  // Each once: two limits of a GPU may be lower.
  std::set<std::pair<int, std::string>> said;
  if (gpu.state > GpuState::silent) said.emplace(kBroken, word(gpu.state));
  for (const auto code : gpu.errors) said.emplace(kProblem, fmt::format("XID {}", code));
  for (const auto &found : gpu.findings) {
    if (found.weight != insight::Weight::ok) said.emplace(severity_of(found.weight), found.id);
  }
  for (const auto &remark : gpu.remarks) said.emplace(severity_of(remark.weight), insight::word(remark.id));
  if (gpu.idle) said.emplace(kNote, "held but idle");
  for (const auto &[severity, words] : said) worst.note(severity, words);
}

void finish(const FleetSnapshot &fleet, FleetGroup &group) {
  Worst worst;
  // A host with an agent and another exporter comes twice.
  std::ranges::sort(group.hosts);
  const auto repeated = std::ranges::unique(group.hosts);
  group.hosts.erase(repeated.begin(), repeated.end());
  for (const auto host : group.hosts) {
    const auto &one = fleet.hosts[host];
    ++group.totals.hosts;
    if (!one.silent_for) continue;
    ++group.totals.silent_hosts;
    worst.note(kBroken, group.hosts.size() == 1 ? silent_words(one) : "silent");
  }
  Index users;
  for (const auto index : group.gpus) {
    const auto &gpu = fleet.gpus[index];
    add(group.totals, gpu);
    judge(worst, gpu);
    for (const auto &owner : gpu.owners) {
      const auto &who = !owner.user.empty() ? owner.user : owner.pod.empty() ? owner.job : owner.pod;
      if (!who.empty() && users.size() < kMostUsers) users.try_emplace(who.str());
    }
  }
  for (const auto &[user, none] : users) group.users.emplace_back(user);
  worst.give(group);
}

class Grouper {
 public:
  Grouper(const FleetSnapshot &fleet, FleetView &view) : fleet_(fleet), view_(view) {}

  void take(std::size_t index) {
    const auto &gpu = fleet_.gpus[index];
    const auto by = view_.question.by;
    const auto names = names_of(fleet_, gpu, by);
    const bool is_free = is_of_owners(by) && gpu.held.has_value() && !*gpu.held;
    if (names.empty()) put(is_free ? GroupKind::nobody : GroupKind::unknown, {}, index);
    for (const auto &name : names) put(GroupKind::named, name, index);
  }
  // One that has no GPU now.
  void take_host(std::size_t index) {
    const auto &host = fleet_.hosts[index];
    if (is_of_owners(view_.question.by) || view_.question.by == FleetBy::model) return;
    const auto &name = view_.question.by == FleetBy::host ? host.name : host.cluster;
    group(name.empty() ? GroupKind::unknown : GroupKind::named, name).hosts.push_back(index);
  }

 private:
  void put(GroupKind kind, const Text &name, std::size_t index) {
    auto &one = group(kind, name);
    if (!one.gpus.empty() && one.gpus.back() == index) return;  // two owners with one name
    one.gpus.push_back(index);
    const auto host = fleet_.gpus[index].host;
    if (one.hosts.empty() || one.hosts.back() != host) one.hosts.push_back(host);
  }
  FleetGroup &group(GroupKind kind, const Text &name) {
    const auto key = static_cast<char>('0' + static_cast<int>(kind)) + name.str();
    const auto [found, is_new] = places_.try_emplace(key, view_.groups.size());
    if (is_new) view_.groups.push_back({.kind = kind, .name = name});
    return view_.groups[found->second];
  }

  const FleetSnapshot &fleet_;
  FleetView &view_;
  Index places_{};
};

double waste_of(const FleetGroup &group) {
  // Idle ones whose true activity nobody tells are wasted too.
  return std::max(group.totals.wasted.sum, static_cast<double>(group.totals.idle));
}

bool is_before(const FleetGroup &a, const FleetGroup &b, FleetSort sort) {
  const auto key = [&](const FleetGroup &group) {
    const double waste = waste_of(group);
    const double use = group.totals.utilization.mean().value_or(-1);
    const double health = group.severity;
    if (sort == FleetSort::name) return std::array{0.0, 0.0};
    if (sort == FleetSort::use) return std::array{-use, -health};
    return sort == FleetSort::waste ? std::array{-waste, -health} : std::array{-health, -waste};
  };
  const auto first = key(a), second = key(b);
  if (first != second) return first < second;
  if (a.kind != b.kind) return a.kind < b.kind;
  return a.name.str() < b.name.str();
}

void sort_groups(FleetView &view) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < view.groups.size(); ++i) order.push_back(i);
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return is_before(view.groups[a], view.groups[b], view.question.sort);
  });
  std::vector<FleetGroup> sorted;
  for (const auto index : order) sorted.push_back(std::move(view.groups[index]));
  view.groups = std::move(sorted);
}

// What belongs to the fleet after the filters; an instance adds nothing to its GPU, but the first of them stands for
// one that is not among them.
std::vector<std::size_t> whole_gpus(const FleetSnapshot &fleet, const std::vector<std::size_t> &chosen) {
  std::set<std::pair<std::size_t, std::string_view>> there;
  for (const auto index : chosen) there.emplace(fleet.gpus[index].host, fleet.gpus[index].uuid);
  std::vector<std::size_t> wholes;
  for (const auto index : chosen) {
    const auto &gpu = fleet.gpus[index];
    if (gpu.parent.empty() || there.emplace(gpu.host, gpu.parent).second) wholes.push_back(index);
  }
  return wholes;
}

}  // namespace

std::size_t FleetTotals::bad() const {
  const auto lost = states[static_cast<std::size_t>(GpuState::lost)];
  const auto gone = states[static_cast<std::size_t>(GpuState::gone)];
  return lost + gone + states[static_cast<std::size_t>(GpuState::not_responding)] + silent_hosts;
}

namespace {

// All that a filter's value can be; empty: anything.
std::vector<std::string_view> words_known_of(std::string_view filter) {
  std::vector<std::string_view> words;
  if (filter == kFilterState) {
    for (std::size_t i = 0; i < kGpuStates; ++i) words.push_back(word(static_cast<GpuState>(i)));
  } else if (filter == kFilterRemark) {
    for (const auto &kind : insight::remark_kinds()) words.push_back(kind.word);
  }
  return words;
}

}  // namespace

Result<FleetFilter> parse_fleet_filter(std::string_view text) {
  const auto sign = text.find('=');
  FleetFilter filter{.word = std::string(trim(text.substr(0, sign)))};
  const bool is_known = std::ranges::find(kFleetBy, filter.word) != kFleetBy.end() ||
                        std::ranges::find(kOtherWords, filter.word) != kOtherWords.end();
  if (sign == std::string_view::npos || !is_known) {
    return failure(
        fmt::format("\"{}\" is no filter", printable(text)),
        "give WORD=VALUE, with host, cluster, user, job, account, pod, model, state, finding, severity, remark, idle, "
        "xid or any");
  }
  filter.value = trim(text.substr(sign + 1));
  if (filter.value.empty()) return failure(fmt::format("the filter \"{}\" has no value", printable(text)), "user=ann");
  const auto is_one_of = [&](std::string_view one, std::string_view other) {
    const auto value = lower(filter.value);
    return value == one || value == other;
  };
  if (filter.word == kFilterSeverity && !is_one_of("problem", "note")) {
    return failure(fmt::format("\"{}\" is no severity", printable(filter.value)), "severity=problem or severity=note");
  }
  const bool is_pattern = filter.value.find_first_of("*?[") != std::string::npos;
  if (const auto known = words_known_of(filter.word); !known.empty() && !is_pattern) {
    const auto value = lower(filter.value);
    if (std::ranges::find(known, value) == known.end()) {
      const auto near = nearest(value, known);
      return failure(fmt::format("\"{}\" is no {}", printable(filter.value), filter.word),
                     near.empty() ? fmt::format("{}", fmt::join(known, ", ")) : fmt::format("did you mean {}?", near));
    }
  }
  if (filter.word == kFilterIdle && !is_one_of(kYes, kNo)) {
    return failure(fmt::format("\"{}\" does not say whether they are idle", printable(filter.value)),
                   "idle=yes: held but idle");
  }
  return filter;
}

FleetView make_fleet_view(const FleetSnapshot &fleet, FleetQuestion question) {
  FleetView view{.question = std::move(question)};
  const auto &filters = view.question.filters;
  const Sieve sieve(filters);
  std::vector<bool> is_chosen(fleet.hosts.size());
  for (std::size_t i = 0; i < fleet.gpus.size(); ++i) {
    if (!sieve.lets_through(fleet, fleet.gpus[i])) continue;
    view.gpus.push_back(i);
    is_chosen[fleet.gpus[i].host] = true;
  }
  Grouper grouper(fleet, view);
  FleetGroup all{.gpus = whole_gpus(fleet, view.gpus)};
  for (const auto index : all.gpus) grouper.take(index);
  std::vector<bool> has_gpu(fleet.hosts.size());
  for (const auto &gpu : fleet.gpus) has_gpu[gpu.host] = true;
  for (std::size_t i = 0; i < fleet.hosts.size() && filters.empty(); ++i) {
    if (has_gpu[i]) continue;
    grouper.take_host(i);
    is_chosen[i] = true;
  }
  for (std::size_t i = 0; i < is_chosen.size(); ++i) {
    if (is_chosen[i]) view.hosts.push_back(i);
  }
  all.hosts = view.hosts;
  finish(fleet, all);
  view.totals = all.totals;
  for (auto &group : view.groups) finish(fleet, group);
  sort_groups(view);
  return view;
}

std::string silent_words(const FleetHost &host) {
  if (host.is_since_unknown) return "silent, not known since when";
  const auto seconds = static_cast<long>(std::max(0.0, host.silent_for.value_or(Seconds(0)).count()));
  constexpr long kMinute = 60, kHour = 3600, kDay = 86'400;
  if (seconds < 2 * kMinute) return fmt::format("silent {} s", seconds);
  if (seconds < 2 * kHour) return fmt::format("silent {} min", seconds / kMinute);
  return seconds < kDay ? fmt::format("silent {} h", seconds / kHour) : std::string("silent over a day");
}

}  // namespace gpulse::fleet
