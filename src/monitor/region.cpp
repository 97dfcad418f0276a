// SPDX-License-Identifier: Apache-2.0
#include "monitor/region.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace gpulse::monitor {

namespace {

using namespace std::chrono_literals;

constexpr auto kUtilization = role_metric<Scope::device>(Role::utilization);
constexpr auto kTrueActivity = role_metric<Scope::device>(Role::true_activity);
constexpr auto kMemoryUsed = role_metric<Scope::device>(Role::memory_used);
constexpr auto kMemoryTotal = role_metric<Scope::device>(Role::memory_total);
constexpr auto kPower = role_metric<Scope::device>(Role::power);
constexpr auto kPowerLimit = role_metric<Scope::device>(Role::power_limit);
constexpr auto kProcessMemory = role_metric<Scope::process>(Role::memory_used);
constexpr auto kEnergy = device_metric("energy_joules");

// The counters that are known move every 10 to 100 ms: what a reading says may be so old.
constexpr Seconds kCounterStep = 100ms;
// Samples for regions are taken ten times a second.
constexpr auto kSoon = 150ms;
// One that is read every second was read at most so long before, or after.
constexpr Seconds kNearEdge = 1500ms;
// By then the counter has been read again, if ever.
constexpr auto kCounterWait = 2500ms;

// The one of two that lies nearer in time.
const RegionPoint *nearer(const std::optional<RegionPoint> &one, const std::optional<RegionPoint> &other,
                          Monotonic to) {
  if (!one || !other) return one ? &*one : other ? &*other : nullptr;
  return std::chrono::abs(one->at - to) <= std::chrono::abs(other->at - to) ? &*one : &*other;
}

double between(const EnergyPoint &from, const EnergyPoint &to) { return to.joules.value() - from.joules.value(); }

Seconds gap(Monotonic one, Monotonic other) { return std::max(Seconds(0), Seconds(other - one)); }

Monotonic read_at(const EnergyPoint &point) { return point.at - point.late; }

// The counter's value at a moment between two of its readings.
double at_moment(const EnergyPoint &from, const EnergyPoint &to, Monotonic moment) {
  const auto whole = gap(read_at(from), read_at(to));
  if (whole <= Seconds(0)) return to.joules.value();
  return from.joules.value() + between(from, to) * std::clamp(gap(read_at(from), moment) / whole, 0.0, 1.0);
}

Reading process_memory(const Snapshot &snapshot, const Device &device) {
  const auto self = static_cast<std::uint32_t>(::getpid());
  double sum = 0;
  bool found = false;
  for (const auto &process : snapshot.processes) {
    if (process.pid != self || process.foreign || process.device != device.id) continue;
    const auto &bytes = process.row[kProcessMemory];
    if (!bytes) return bytes;
    sum += bytes.value();
    found = true;
  }
  if (found) return sum;
  // A list that is known and does not have us says that we hold nothing.
  const auto &count = device.row[device_metric("process_count")];
  if (!count) return Reading(count.reason(), count.code());
  const bool other_namespace = std::ranges::any_of(
      snapshot.processes, [&](const Process &process) { return process.foreign && process.device == device.id; });
  return other_namespace ? Reading(Reason::not_supported) : Reading(0.0);
}

}  // namespace

MetricSet region_needs() {
  return {kUtilization,   kTrueActivity, kMemoryUsed,
          kMemoryTotal,   kPower,        kPowerLimit,
          kProcessMemory, kEnergy,       device_metric("process_count")};
}

namespace {

// The same device in the sample before; null: it was not there.
const RegionPoint *point_before(const Sample &before, std::size_t position, const Device &device) {
  const auto &devices = before.snapshot->devices;
  const auto is_same = [&](std::size_t i) {
    return i < before.points.size() && devices[i].identity != nullptr && device.identity != nullptr &&
           (devices[i].identity == device.identity || devices[i].identity->uuid == device.identity->uuid);
  };
  if (is_same(position)) return &before.points[position];
  for (std::size_t i = 0; i < before.points.size(); ++i) {
    if (is_same(i)) return &before.points[i];
  }
  return nullptr;
}

EnergyPoint energy_point(const Sample &sample, std::size_t position, const SamplePtr &before) {
  const auto &device = sample.snapshot->devices[position];
  const EnergyPoint now{.at = sample.at, .joules = device.row[kEnergy], .late = sample.took};
  const auto *last = before ? point_before(*before, position, device) : nullptr;
  return last != nullptr && last->energy.joules == now.joules ? last->energy : now;
}

}  // namespace

std::vector<RegionPoint> region_points(const Sample &sample, const SamplePtr &before) {
  const auto &devices = sample.snapshot->devices;
  std::vector<RegionPoint> points;
  points.reserve(devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto &row = devices[i].row;
    points.push_back({.at = sample.at,
                      .memory = row[kMemoryUsed],
                      .memory_total = row[kMemoryTotal],
                      .process_memory = process_memory(*sample.snapshot, devices[i]),
                      .utilization = row[kUtilization],
                      .true_activity = row[kTrueActivity],
                      .power = row[kPower],
                      .power_limit = row[kPowerLimit],
                      .energy = energy_point(sample, i, before)});
  }
  return points;
}

void DeviceUse::Mean::add(const Reading &reading) {
  if (!reading) {
    why = reading;
    return;
  }
  sum += reading.value();
  ++count;
}

void DeviceUse::Peak::add(const Reading &reading) {
  if (!most || (reading && reading.value() > most.value())) most = reading;
}

void DeviceUse::add(const RegionPoint &point, Monotonic begin, std::optional<Monotonic> end) {
  limit_watts_ = std::max(limit_watts_, point.power_limit.value_or(0));
  most_watts_ = std::max(most_watts_, point.power.value_or(0));
  add_energy(point.energy, begin, end);
  if (point.at < begin) {
    before_ = point;
  } else if (!end || point.at <= *end) {
    add_within(point);
  } else if (!after_) {
    after_ = point;
  }
}

void DeviceUse::add_within(const RegionPoint &point) {
  if (!first_) first_ = point;
  last_ = point;
  ++within_;
  utilization_.add(point.utilization);
  true_activity_.add(point.true_activity);
  memory_.add(point.memory);
  process_memory_.add(point.process_memory);
}

void DeviceUse::add_energy(const EnergyPoint &point, Monotonic begin, std::optional<Monotonic> end) {
  if (!point.joules) return;
  const auto *newest = energy_last_ ? &energy_last_ : &energy_before_;
  const bool is_after = end && point.at > *end;
  if (*newest && point.joules.value() < (*newest)->joules.value()) {
    // A counter that was reset begins anew. After the region that takes nothing from what is known of it.
    if (is_after) return;
    energy_before_.reset();
    energy_first_.reset();
    energy_last_.reset();
  }
  if (point.at <= begin) {
    energy_before_ = point;
  } else if (!is_after) {
    if (!energy_first_) energy_first_ = point;
    energy_last_ = point;
  } else if (!energy_after_) {
    energy_after_ = point;
  }
}

void DeviceUse::tell_energy(RegionUse &use, Monotonic begin, Monotonic end) const {
  const auto &from = energy_before_ ? energy_before_ : energy_first_;
  const auto &last = energy_last_ ? energy_last_ : energy_before_;
  if (!from || !last) return;
  const auto &to = energy_after_ ? energy_after_ : last;
  // A reading may be as old as the counter's step, and the limit holds only on the mean of such a time.
  const double watts = std::max(limit_watts_, most_watts_);
  const auto step_of = [&](const EnergyPoint &point) { return watts * (kCounterStep + Seconds(point.late)).count(); };
  // What the counter does not cover on either side, the device cannot have used more of than its limit.
  const double uncovered = limit_watts_ * (gap(begin, from->at) + gap(to->at, end)).count();
  if (limit_watts_ > 0) {
    use.energy_max = std::min(between(*from, *to) + uncovered, limit_watts_ * gap(begin, end).count()) + step_of(*to);
  } else if (energy_before_ && energy_after_) {
    use.energy_max = between(*from, *to) + step_of(*to);
  }
  double least = 0;
  if (energy_first_ && energy_last_)
    least = std::max(least, between(*energy_first_, *energy_last_) - step_of(*energy_first_));
  if (limit_watts_ > 0) {
    const double beyond = limit_watts_ * (gap(from->at, begin) + gap(end, to->at)).count();
    least = std::max(least, between(*from, *to) - beyond - step_of(*from));
  }
  // Without any idea of its power a step could be anything.
  use.energy_min = watts > 0 ? least : 0.0;
  if (use.energy_max) use.energy_min = std::min(use.energy_min.value(), use.energy_max.value());
  // The counter was read within the region, and near both of its edges.
  const bool measured = energy_first_ && energy_last_ && energy_first_->at < energy_last_->at &&
                        gap(begin, energy_first_->at) <= kNearEdge && gap(energy_last_->at, end) <= kNearEdge;
  const bool narrow = use.energy_max && 2 * use.energy_min.value() >= use.energy_max.value();
  if (!use.energy_max || (!measured && !narrow)) return;
  use.energy = std::clamp(likely_energy(begin, end), use.energy_min.value(), use.energy_max.value());
}

// As if the power were even between two readings of the counter.
double DeviceUse::likely_energy(Monotonic begin, Monotonic end) const {
  const auto &from = energy_before_ ? energy_before_ : energy_first_;
  const auto &last = energy_last_ ? energy_last_ : energy_before_;
  const auto &to = energy_after_ ? energy_after_ : last;
  const auto &next = energy_first_ ? energy_first_ : to;
  const auto covered = gap(read_at(*from), read_at(*to)).count();
  const double power = covered > 0 ? between(*from, *to) / covered : 0;
  const double start = energy_before_ ? at_moment(*energy_before_, *next, begin)
                                      : from->joules.value() - power * gap(begin, read_at(*from)).count();
  const double stop = energy_after_ ? at_moment(*last, *energy_after_, end)
                                    : last->joules.value() + power * gap(read_at(*last), end).count();
  return stop - start;
}

bool DeviceUse::is_settled(Monotonic end, Monotonic now) const {
  const bool counts = energy_before_ || energy_first_;
  return now > end && (!counts || energy_after_ || now > end + kCounterWait);
}

RegionUse DeviceUse::use(Monotonic begin, Monotonic end) const {
  RegionUse use{.wall = end - begin, .samples = within_};
  // What a sample within the region saw, the region may have done; what one from before it saw, it has not.
  const auto *at_begin = before_ ? &*before_ : nearer(first_, after_, begin);
  // So does one soon after its end; a later one may have seen what came next.
  const bool soon_after = after_ && after_->at - end <= kSoon;
  const auto *at_end = nearer(last_ || soon_after ? last_ : before_, after_, end);
  auto memory = memory_;
  auto process_memory = process_memory_;
  for (const auto *point : {at_begin, at_end}) {
    if (point == nullptr) continue;
    memory.add(point->memory);
    process_memory.add(point->process_memory);
    use.memory_total = point->memory_total;
  }
  if (at_begin != nullptr) {
    use.memory_begin = at_begin->memory;
    use.process_memory_begin = at_begin->process_memory;
  }
  if (at_end != nullptr) {
    use.memory_end = at_end->memory;
    use.process_memory_end = at_end->process_memory;
  }
  use.memory_peak = memory.most;
  use.process_memory_peak = process_memory.most;
  use.utilization = within_ > 0 ? utilization_.value() : at_end != nullptr ? at_end->utilization : Reading{};
  use.true_activity = within_ > 0 ? true_activity_.value() : at_end != nullptr ? at_end->true_activity : Reading{};
  tell_energy(use, begin, end);
  return use;
}

Region::Region(std::string name, Monotonic begin, SamplePtr before)
    : name_(std::move(name)), begin_(begin), before_(std::move(before)) {}

void Region::end(Monotonic at) {
  const std::lock_guard lock(mutex_);
  if (!end_) end_ = std::max(at, begin_);
}

void Region::add_points(const Sample &sample) const {
  const auto &devices = sample.snapshot->devices;
  for (std::size_t i = 0; i < devices.size() && i < sample.points.size(); ++i) {
    if (devices[i].identity == nullptr) continue;
    devices_[devices[i].identity->uuid.str()].add(sample.points[i], begin_, end_);
  }
}

void Region::add_before() const {
  if (const auto before = std::exchange(before_, {})) add_points(*before);
}

bool Region::add(const Sample &sample) {
  const std::lock_guard lock(mutex_);
  if (settled_) return false;
  add_before();
  add_points(sample);
  settled_ = end_ && sample.at > *end_ &&
             std::ranges::all_of(devices_, [&](const auto &one) { return one.second.is_settled(*end_, sample.at); });
  return !settled_;
}

std::optional<RegionUse> Region::use(std::string_view uuid) const {
  const std::lock_guard lock(mutex_);
  add_before();
  const auto found = devices_.find(uuid);
  if (found == devices_.end()) return std::nullopt;
  auto use = found->second.use(begin_, end_.value_or(std::max(monotonic_now(), begin_)));
  use.settled = settled_;
  return use;
}

std::vector<std::string> Region::uuids() const {
  const std::lock_guard lock(mutex_);
  add_before();
  std::vector<std::string> all;
  for (const auto &[uuid, use] : devices_) all.push_back(uuid);
  return all;
}

}  // namespace gpulse::monitor
