// SPDX-License-Identifier: Apache-2.0
#include "insight/tally.hpp"

#include <algorithm>
#include <tuple>

#include "insight/finding_events.hpp"
#include "metric/format.hpp"

namespace gpulse::insight {

namespace {

using namespace std::chrono_literals;

constexpr auto kStretch = 5s;
// Replaced instances of a device leave theirs behind.
constexpr std::size_t kMostDevices = 1024;
constexpr std::size_t kMostXids = 64;
constexpr std::size_t kBits = 52;  // that a double holds

std::vector<MetricId> those_with(std::string_view Metric::*column) {
  std::vector<MetricId> found;
  for_each_metric(Scope::device, [&](MetricId id, const Metric &metric) {
    if (!(metric.*column).empty()) found.push_back(id);
  });
  return found;
}

// The counter of the driver's own that a total stands in for.
std::optional<MetricId> own_counter(MetricId id) { return find_metric(Scope::device, describe(id).total); }

struct Totalled {
  MetricId id;
  std::optional<MetricId> counter;
  double per_second;  // of the total, for each unit of the metric
};
const std::vector<Totalled> &totalled_rows() {
  static const auto kRows = [] {
    std::vector<Totalled> rows;
    for (const auto id : totalled()) {
      rows.push_back({id, own_counter(id), describe(id).unit == Unit::percent ? 0.01 : 1.0});
    }
    return rows;
  }();
  return kRows;
}

// A longer time without a sample is a gap.
std::chrono::nanoseconds longest_step(std::chrono::nanoseconds interval) {
  return std::max<std::chrono::nanoseconds>(kFreshIntervals * interval, kLeastFresh);
}

bool answers(const Device &device) { return device.state == DeviceState::ok; }

std::int64_t stretch_of(Monotonic time) { return time.time_since_epoch() / kStretch; }

void count_xid(std::vector<XidCount> &xids, const Event &event) {
  const auto find = [&](std::int64_t code) { return std::ranges::find(xids, code, &XidCount::code); };
  auto place = find(event.code);
  if (place == xids.end() && xids.size() >= kMostXids) place = find(kOtherXid);
  if (place == xids.end()) place = xids.insert(place, {.code = xids.size() < kMostXids ? event.code : kOtherXid});
  ++place->count;
  place->last = std::max(place->last, event.time);
}

}  // namespace

std::span<const MetricId> totalled() {
  static const auto kIds = those_with(&Metric::total);
  return kIds;
}

std::span<const MetricId> peaked() {
  static const auto kIds = those_with(&Metric::peak);
  return kIds;
}

bool is_fresh(const SamplePace &pace, Monotonic now) {
  return pace.samples > 0 && now - pace.last <= longest_step(pace.interval);
}

void Tally::Peak::add(double value, std::int64_t stretch) {
  auto &place = highest_[static_cast<std::size_t>(stretch % kStretches)];
  if (place.stretch == stretch) value = std::max(value, place.value);
  place = {stretch, value};
}

std::optional<double> Tally::Peak::value(std::int64_t stretch) const {
  std::optional<double> highest;
  for (const auto &one : highest_) {
    if (one.stretch <= stretch - kStretches || one.stretch > stretch) continue;
    if (!highest || one.value > *highest) highest = one.value;
  }
  return highest;
}

Tally::Counted &Tally::counted(const Text &uuid) {
  const auto known = devices_.find(uuid.str());
  if (known != devices_.end()) return known->second;
  if (devices_.size() >= kMostDevices) forget();
  auto &one = devices_[uuid.str()];
  one.tally.uuid = uuid;
  one.tally.totals.resize(totalled().size());
  one.tally.bits.resize(totalled().size());
  one.peaks.resize(peaked().size());
  return one;
}

// The one that was not seen for the longest time.
[[gnu::cold]] void Tally::forget() {
  devices_.erase(std::ranges::min_element(devices_, {}, [](const auto &entry) { return entry.second.seen; }));
}

void Tally::add_totals(const Device &device, Counted &one, double seconds) {
  const auto &rows = totalled_rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto &[id, counter, per_second] = rows[i];
    const auto &reading = device.row[id];
    // One that the driver counts itself is not counted twice, and no series changes from one count to the other.
    if (counter && !device.row[*counter].is(Reason::not_supported)) {
      one.has_counter = one.has_counter || device.row[*counter].has_value();
      one.tally.totals[i] = {};
      continue;
    }
    if (!reading || (counter && one.has_counter)) continue;
    if (brief(id).kind == Kind::set) {
      auto &bits = one.tally.bits[i];
      bits.resize(std::max(bits.size(), describe(id).words.size()));
      auto left = set_bits(reading.value());
      for (std::size_t k = 0; left != 0 && k < kBits; ++k, left >>= 1U) {
        if ((left & 1U) == 0) continue;
        if (bits.size() <= k) bits.resize(k + 1);
        bits[k] += seconds;
      }
      continue;
    }
    one.tally.totals[i] = one.tally.totals[i].value_or(0) + std::max(reading.value(), 0.0) * per_second * seconds;
  }
}

void Tally::add_device(const Device &device, Seconds passed, std::int64_t stretch) {
  if (device.identity == nullptr || device.identity->uuid.empty()) return;
  auto &one = counted(device.identity->uuid);
  // A damaged recording may have it twice.
  if (one.seen == pace_.samples) return;
  const bool before = one.tally.answers && one.seen + 1 == pace_.samples;
  one.seen = pace_.samples;
  one.tally.id = device.id;
  one.tally.vendor = device.identity->vendor;
  one.tally.answers = answers(device);
  if (!one.tally.answers) return;
  add_totals(device, one, before ? passed.count() : 0);
  const auto ids = peaked();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (const auto &reading = device.row[ids[i]]) one.peaks[i].add(reading.value(), stretch);
  }
}

void Tally::add_findings(const Snapshot &sample, double seconds) {
  standing_.clear();
  for (const auto &lasting : lasting_) {
    const auto add = [&](const Text &uuid) {
      standing_.push_back({.id = lasting.id, .weight = lasting.weight, .uuid = uuid});
      if (!lasting.costs) return;
      auto &one = counted(uuid);
      if (uuid.empty()) one.seen = pace_.samples;
      auto &lost = one.tally.lost_seconds[static_cast<std::size_t>(lasting.id)];
      lost = lost.value_or(0) + lasting.lost_share * seconds;
    };
    if (lasting.devices.empty()) add({});
    for (const auto &id : lasting.devices) {
      const auto device = std::ranges::find(sample.devices, id, &Device::id);
      if (device != sample.devices.end() && device->identity) add(device->identity->uuid);
    }
  }
  std::ranges::sort(standing_, [](const StandingFinding &a, const StandingFinding &b) {
    return std::tie(a.id, a.uuid.str(), a.weight) < std::tie(b.id, b.uuid.str(), b.weight);
  });
  standing_.erase(std::unique(standing_.begin(), standing_.end()), standing_.end());
}

void Tally::add_events(const Snapshot &sample) {
  for (const auto &event : new_events(events_, sample.events)) {
    if (event.kind == EventKind::xid) count_xid(counted(event.device).tally.xids, event);
  }
  events_ = sample.events;
}

void Tally::add(const Snapshot &sample, std::chrono::nanoseconds interval, Monotonic at) {
  const std::lock_guard lock(mutex_);
  const auto passed = pace_.samples > 0 ? std::max<std::chrono::nanoseconds>(at - pace_.last, 0ns) : 0ns;
  const bool is_gap = passed > longest_step(interval);
  const Seconds step = is_gap ? Seconds(0) : Seconds(passed);
  ++pace_.samples;
  const auto stretch = stretch_of(at);
  // A sample that was asked for at another rate is not late.
  if (pace_.samples > 1 && interval == pace_.interval) {
    const double late = std::max(Seconds(passed - interval).count(), 0.0);
    late_seconds_ += late;
    late_.add(late, stretch);
  }
  pace_.last = at;
  pace_.interval = interval;
  for (const auto &device : sample.devices) add_device(device, step, stretch);
  for (auto &[uuid, one] : devices_) one.tally.answers = one.tally.answers && one.seen == pace_.samples;
  add_findings(sample, step.count());
  add_events(sample);
}

void Tally::set_findings(std::span<const LastingFinding> findings) {
  std::vector<Lasting> lasting;
  for (const auto &[number, over, finding] : findings) {
    if (over) continue;
    lasting.push_back({.id = finding.id,
                       .weight = finding.weight,
                       .lost_share = finding.lost_share.value_or(0),
                       .costs = finding.lost_share.has_value(),
                       .devices = finding.devices});
  }
  const std::lock_guard lock(mutex_);
  lasting_ = std::move(lasting);
}

TallyReport Tally::report() const {
  const std::lock_guard lock(mutex_);
  TallyReport report{.pace = pace_,
                     .late_seconds = late_seconds_,
                     .late_peak_seconds = late_.value(stretch_of(pace_.last)).value_or(0),
                     .devices = {},
                     .findings = standing_};
  report.devices.reserve(devices_.size());
  for (const auto &[uuid, one] : devices_) {
    report.devices.push_back(one.tally);
    auto &peaks = report.devices.back().peaks;
    for (const auto &peak : one.peaks) {
      const auto value = peak.value(stretch_of(pace_.last));
      peaks.push_back(value ? Reading(*value) : Reading());
    }
  }
  return report;
}

SamplePace Tally::pace() const {
  const std::lock_guard lock(mutex_);
  return pace_;
}

}  // namespace gpulse::insight
