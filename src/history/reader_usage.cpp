// SPDX-License-Identifier: Apache-2.0
// What the devices were used for, from the minutes of devices and processes: both tables are read once, by time.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "history/process_row.hpp"
#include "history/reader.hpp"
#include "history/times.hpp"
#include "history/usage_findings.hpp"

namespace gpulse::history {

namespace {

using insight::DeviceStretch;
using insight::GpuTime;
using insight::UsageShare;

constexpr double kPercent = 100;
// A finding that began before the span matters as long as it stood; none stands for longer.
constexpr auto kFindingsBefore = std::chrono::days(7);

std::string key(MetricId id) { return std::string(describe(id).key); }

// A minute of a device, and of the processes on it.
struct DeviceMinute {
  std::int64_t device = 0;
  DeviceStretch stretch{};
  std::vector<std::size_t> holders{};  // places of their shares
  std::vector<insight::Presence> present{};
};

// Adds minute after minute to the shares.
class UsageSum {
 public:
  // `wanted`: the devices to count; empty: all.
  UsageSum(insight::Usage &usage, const std::vector<KnownDevice> &devices, std::span<const std::int64_t> wanted,
           std::vector<StoodFinding> findings)
      : usage_(usage), wanted_(wanted), findings_(std::move(findings)) {
    for (const auto &known : devices) devices_.emplace(known.id, &known);
    std::ranges::sort(findings_, {}, [](const StoodFinding &each) { return each.span.from; });
    lost_.resize(findings_.size());
  }

  // The place of the share of this process.
  std::size_t share_of(const ProcessUse &process) {
    auto holder = device_holder(process.device);
    const auto text = [&](Role role) {
      const auto id = find_role(Scope::process, role);
      return id ? Text(process.texts[*id].value_or("")) : Text();
    };
    holder.user = text(Role::user);
    for (const auto role : {Role::job, Role::pod, Role::container}) {
      if (holder.job.empty()) holder.job = text(role);
    }
    holder.account = text(Role::account);
    holder.command = text(Role::command);
    holder.pid = process.pid;
    usage_.shares.push_back({.holder = holder});
    owners_.push_back(owner_number(holder));
    return usage_.shares.size() - 1;
  }
  std::size_t owner_of(std::size_t share) const { return owners_[share]; }

  void add(std::int64_t time, std::vector<DeviceMinute> &minutes) {
    begin_minute(time);
    std::map<std::string, std::size_t, std::less<>> instances;  // by the parent's uuid
    for (const auto &minute : minutes) {
      if (const auto *known = find(minute.device); known && !known->identity->parent.empty())
        ++instances[known->identity->parent.str()];
    }
    for (auto &minute : minutes) {
      const auto *known = find(minute.device);
      // The instances of a GPU stand for it.
      if (!known || !is_wanted(minute.device) || instances.contains(known->identity->uuid.str())) continue;
      double part = 1;
      if (const auto divided = instances.find(known->identity->parent.str()); divided != instances.end()) {
        part = 1 / static_cast<double>(divided->second);
        take_energy(minute, known->identity->parent, minutes);
      }
      add_device(time, minute, part);
    }
  }

  // What each finding stood for and went along with.
  void finish() {
    std::map<insight::FindingId, insight::UsageFinding> sums;
    for (std::size_t i = 0; i < findings_.size(); ++i) {
      const auto &found = findings_[i];
      if (found.span.to <= usage_.from || found.span.from >= usage_.to) continue;
      if (!found.devices.empty() && std::ranges::none_of(found.devices, [&](auto id) { return is_wanted(id); }))
        continue;
      auto &sum = sums[found.id];
      sum.id = found.id;
      sum.times = sum.times.value_or(0) + 1;
      if (found.devices.empty()) continue;
      sum.stood = sum.stood.value_or(0) + lost_[i].stood;
      sum.lost = sum.lost.value_or(0) + lost_[i].wasted;
    }
    for (const auto &[id, sum] : sums) usage_.findings.push_back(sum);
    std::erase_if(usage_.shares, [](const UsageShare &share) { return share.time.held <= 0; });
  }

 private:
  struct Lost {
    double stood = 0, wasted = 0;
  };

  const KnownDevice *find(std::int64_t id) const {
    const auto found = devices_.find(id);
    return found == devices_.end() ? nullptr : found->second;
  }
  bool is_wanted(std::int64_t id) const { return wanted_.empty() || std::ranges::find(wanted_, id) != wanted_.end(); }
  insight::Holder device_holder(std::int64_t id) const {
    const auto *known = find(id);
    insight::Holder holder{
        .host = usage_.place, .uuid = {}, .model = {}, .user = {}, .job = {}, .account = {}, .command = {}};
    if (known != nullptr) {
      holder.uuid = known->identity->uuid;
      holder.model = known->identity->name;
    }
    return holder;
  }
  std::size_t owner_number(const insight::Holder &holder) {
    return owner_numbers_.try_emplace({holder.user.str(), holder.job.str()}, owner_numbers_.size()).first->second;
  }
  std::size_t nobody_of(std::int64_t device) {
    const auto [entry, is_new] = nobodies_.try_emplace(device, usage_.shares.size());
    if (is_new) {
      auto holder = device_holder(device);
      holder.is_nobody = true;
      usage_.shares.push_back({.holder = holder});
      owners_.push_back(owner_number(holder));
    }
    return entry->second;
  }

  // Only the whole GPU has a meter. An instance is scaled down to its part of the GPU later on.
  void take_energy(DeviceMinute &minute, const Text &parent, const std::vector<DeviceMinute> &all) const {
    if (minute.stretch.joules) return;
    for (const auto &each : all) {
      const auto *known = find(each.device);
      if (!known || known->identity->uuid != parent || !each.stretch.joules) continue;
      minute.stretch.joules = each.stretch.joules;
      minute.stretch.is_added_up = each.stretch.is_added_up;
    }
  }

  // Those that may stand in this minute.
  void begin_minute(std::int64_t time) {
    const auto from = time_of(time), to = from + step(Tier::minute);
    while (next_ < findings_.size() && findings_[next_].span.from < to) standing_.push_back(next_++);
    std::erase_if(standing_, [&](std::size_t i) { return findings_[i].span.to <= from; });
  }

  void add_device(std::int64_t time, const DeviceMinute &minute, double part) {
    const auto &stretch = minute.stretch;
    const auto held = insight::split_held(stretch.seconds, minute.present);
    double all = 0;
    for (const double seconds : held) all += seconds;
    for (std::size_t i = 0; i < held.size(); ++i) {
      const auto time_held = insight::time_of_holder(stretch, all, held[i]) * part;
      auto &share = usage_.shares[minute.holders[i]];
      share.time += time_held;
      add_findings(time, minute.device, time_held, share);
    }
    usage_.shares[nobody_of(minute.device)].time += insight::time_of_nobody(stretch, all) * part;
  }

  void add_findings(std::int64_t time, std::int64_t device, const GpuTime &held, UsageShare &share) {
    const auto from = time_of(time), to = from + step(Tier::minute);
    for (const auto i : standing_) {
      const auto &found = findings_[i];
      if (std::ranges::find(found.devices, device) == found.devices.end()) continue;
      const auto both = std::min(to, found.span.to) - std::max(from, found.span.from);
      const double overlap = Seconds(both).count() / Seconds(step(Tier::minute)).count();
      if (overlap <= 0) continue;
      lost_[i].stood += held.held * overlap;
      lost_[i].wasted += held.wasted * overlap;
      share.lost[found.id] += held.wasted * overlap;
    }
  }

  insight::Usage &usage_;
  std::span<const std::int64_t> wanted_;
  std::vector<StoodFinding> findings_;  // by their begin
  std::vector<Lost> lost_;
  std::size_t next_ = 0;               // the first that has not begun
  std::vector<std::size_t> standing_;  // in this minute
  std::unordered_map<std::int64_t, const KnownDevice *> devices_;
  std::map<std::int64_t, std::size_t> nobodies_;
  std::map<std::pair<std::string, std::string>, std::size_t> owner_numbers_;
  std::vector<std::size_t> owners_;  // of each share
};

// The rows of a table of minutes, in the order of their times.
class MinuteRows {
 public:
  explicit MinuteRows(Statement rows) : rows_(std::move(rows)) {}

  // Calls take(row) for all rows of this minute; those before it are passed over.
  template <class Take>
  Result<void> each_of(std::int64_t minute, Take take) {
    while (true) {
      if (!has_row_) {
        const auto row = rows_.step();
        if (!row) return std::unexpected(row.error());
        if (!*row) return {};
        has_row_ = true;
      }
      const auto now = rows_.integer(0);
      if (minute < now) return {};
      if (now == minute) take(rows_);
      has_row_ = false;
    }
  }

 private:
  Statement rows_;
  bool has_row_ = false;
};

Result<MinuteRows> minute_rows(Database &database, const std::string &columns, std::string_view table,
                               const Span &span) {
  auto rows = database.prepare(
      fmt::format("SELECT time, turn, {} FROM {} WHERE time>=? AND time<? ORDER BY time", columns, table));
  if (!rows) return std::unexpected(rows.error());
  rows->bind(1, ceiling_of(span.from));
  rows->bind(2, ceiling_of(span.to));
  return MinuteRows(std::move(*rows));
}

DeviceStretch stretch_of(const Statement &row, int column) {
  const auto number = [&](int at) { return row.is_null(at) ? std::nullopt : std::optional(row.real(at)); };
  DeviceStretch stretch{.seconds = row.real(column), .utilization = {}, .true_activity = {}, .joules = {}};
  if (const auto percent = number(column + 1)) stretch.utilization = std::clamp(*percent / kPercent, 0.0, 1.0);
  if (const auto percent = number(column + 2)) stretch.true_activity = std::clamp(*percent / kPercent, 0.0, 1.0);
  stretch.joules = number(column + 3);
  if (!stretch.joules && number(column + 4)) {
    stretch.joules = *number(column + 4) * stretch.seconds;
    stretch.is_added_up = true;
  }
  return stretch;
}

struct Recorded {
  double seconds = 0;
  std::vector<std::int64_t> minutes{};
  std::vector<Span> spans{};  // of minutes that follow each other, also before the span that was asked for
};

Result<Recorded> read_recorded(Database &database, const Span &span) {
  auto rows =
      database.prepare("SELECT time, sum(seconds) FROM host_1min WHERE time>=? AND time<? GROUP BY time ORDER BY time");
  if (!rows) return std::unexpected(rows.error());
  rows->bind(1, ceiling_of(span.from - kFindingsBefore));
  rows->bind(2, ceiling_of(span.to));
  Recorded recorded;
  while (true) {
    const auto row = rows->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return recorded;
    const auto from = time_of(rows->integer(0)), to = from + step(Tier::minute);
    if (recorded.spans.empty() || recorded.spans.back().to < from) recorded.spans.push_back({from, to});
    recorded.spans.back().to = to;
    if (from < span.from) continue;
    recorded.seconds += rows->real(1);
    recorded.minutes.push_back(rows->integer(0));
  }
}

Result<std::vector<Event>> read_findings(Reader &reader, const Span &span) {
  auto events = reader.events({span.from - kFindingsBefore, span.to});
  if (!events) return events;
  std::erase_if(*events, [](const Event &event) {
    return event.kind != EventKind::finding && event.kind != EventKind::finding_ended;
  });
  return events;
}

// Who the processes are of which there are minutes in the span, by their number.
using Processes = std::unordered_map<std::int64_t, ProcessUse>;
Result<Processes> read_holders(Database &database, const Span &span) {
  auto rows = database.prepare(fmt::format("SELECT {} FROM process AS p WHERE p.first_time<? AND p.last_time>=?",
                                           process_columns(database, "p")));
  if (!rows) return std::unexpected(rows.error());
  rows->bind(1, seconds_of(span.to));
  // When one was seen last is written down once a minute.
  rows->bind(2, seconds_of(span.from - 2 * step(Tier::minute)));
  Processes processes;
  while (true) {
    const auto row = rows->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return processes;
    auto process = read_process(*rows);
    processes.emplace(process.id, std::move(process));
  }
}

// The tables side by side, minute by minute.
class UsageWalk {
 public:
  UsageWalk(MinuteRows devices, MinuteRows processes, Processes who, UsageSum &sum)
      : devices_(std::move(devices)), processes_(std::move(processes)), who_(std::move(who)), sum_(sum) {}

  Result<void> add(std::int64_t time) {
    minutes_.clear();
    places_.clear();
    const auto of_devices = devices_.each_of(time, [&](const Statement &row) {
      places_[{row.integer(2), row.integer(1)}] = minutes_.size();
      minutes_.push_back({.device = row.integer(2), .stretch = stretch_of(row, 3)});
    });
    if (!of_devices) return of_devices;
    const auto of_processes = processes_.each_of(time, [&](const Statement &row) { add_process(row); });
    if (!of_processes) return of_processes;
    sum_.add(time, minutes_);
    return {};
  }

 private:
  void add_process(const Statement &row) {
    const auto who = who_.find(row.integer(2));
    if (who == who_.end()) return;
    const auto place = places_.find({who->second.device, row.integer(1)});
    if (place == places_.end()) return;
    const auto [share, is_new] = shares_.try_emplace(who->first, 0);
    if (is_new) share->second = sum_.share_of(who->second);
    auto &minute = minutes_[place->second];
    minute.holders.push_back(share->second);
    minute.present.push_back({sum_.owner_of(share->second), row.real(3)});
  }

  MinuteRows devices_, processes_;
  Processes who_;
  UsageSum &sum_;
  std::vector<DeviceMinute> minutes_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> places_;  // in minutes_, by device and turn
  std::unordered_map<std::int64_t, std::size_t> shares_;                 // by process
};

}  // namespace

Result<insight::Usage> Reader::usage(const Span &asked, std::span<const std::int64_t> devices,
                                     const Progress &progress) {
  // Processes are known by the minute; a part of one would be a guess.
  using std::chrono::minutes;
  const Span span{std::chrono::ceil<minutes>(asked.from), std::chrono::floor<minutes>(asked.to)};
  insight::Usage usage{.place = hostname_, .from = span.from, .to = std::max(span.from, span.to)};
  const auto recorded = read_recorded(*database_, span);
  if (!recorded) return std::unexpected(recorded.error());
  usage.recorded_seconds = recorded->seconds;
  const auto events = read_findings(*this, span);
  if (!events) return std::unexpected(events.error());
  auto who = read_holders(*database_, span);
  if (!who) return std::unexpected(who.error());
  const auto columns = fmt::format("device, seconds, {}, {}, {}, {}", key(device_metric("gpu_utilization_percent")),
                                   key(device_metric("sm_active_percent")), key(device_metric("energy_joules")),
                                   key(device_metric("power_draw_watts")));
  auto of_devices = minute_rows(*database_, columns, "device_1min", span);
  if (!of_devices) return std::unexpected(of_devices.error());
  auto of_processes = minute_rows(*database_, "process, seconds", "process_1min", span);
  if (!of_processes) return std::unexpected(of_processes.error());
  UsageSum sum(usage, devices_, devices, stood_findings(*events, devices_, recorded->spans));
  UsageWalk walk(std::move(*of_devices), std::move(*of_processes), std::move(*who), sum);
  for (std::size_t i = 0; i < recorded->minutes.size(); ++i) {
    if (const auto done = walk.add(recorded->minutes[i]); !done) return std::unexpected(done.error());
    if (progress) progress(static_cast<double>(i + 1) / static_cast<double>(recorded->minutes.size()));
  }
  sum.finish();
  return usage;
}

}  // namespace gpulse::history
