// SPDX-License-Identifier: Apache-2.0
#include "insight/changes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>

#include "insight/finding_events.hpp"
#include "insight/usual.hpp"
#include "metric/format.hpp"

namespace gpulse::insight {

namespace {

// A device as it was and as it is.
struct Pair {
  const Device &before;
  const Device &now;
};

std::vector<Pair> devices_of_both(const Snapshot &before, const Snapshot &now) {
  std::unordered_map<std::string_view, const Device *> earlier;
  for (const auto &device : before.devices) {
    if (device.identity && !device.identity->uuid.empty()) earlier.emplace(device.identity->uuid, &device);
  }
  std::vector<Pair> pairs;
  for (const auto &device : now.devices) {
    const auto found = device.identity ? earlier.find(device.identity->uuid) : earlier.end();
    if (found != earlier.end()) pairs.push_back({*found->second, device});
  }
  return pairs;
}

// Bits of the reasons that are somebody's fault; nothing where it is not known.
std::uint64_t held_back(const Metric &metric, const Reading &reading) {
  return reading ? set_bits(reading.value()) & ~metric.calm : 0;
}

class Comparison {
 public:
  Comparison(const Snapshot &before, const Snapshot &now)
      : before_(before),
        now_(now),
        pairs_(devices_of_both(before, now)),
        reported_(new_events(before.events, now.events)) {}

  std::vector<Event> changes() {
    events_.assign(reported_.begin(), reported_.end());
    if (before_.origin != now_.origin || before_.hostname != now_.hostname) return std::move(events_);
    for (const auto &pair : pairs_) throttling(pair);
    for (const auto &pair : pairs_) sleeping(pair);
    processes();
    return std::move(events_);
  }

 private:
  // One process on one device.
  struct Presence {
    std::uint32_t pid = 0;
    DeviceId device;  // in the later snapshot
    const Process *process = nullptr;
  };

  void add(const Device *device, EventKind kind, std::int64_t code, std::string text) {
    events_.push_back({.time = now_.time,
                       .device = device != nullptr ? device->identity->uuid : Text(),
                       .kind = kind,
                       .code = code,
                       .text = std::move(text)});
  }

  void throttling(const Pair &pair) {
    constexpr auto kId = role_metric<Scope::device>(Role::throttle);
    // An instance is held back when its device is.
    if (pair.now.is_instance()) return;
    const auto &metric = describe(kId);
    const auto &was = pair.before.row[kId];
    const auto &is = pair.now.row[kId];
    // Not looked at yet, it may have been held back all along.
    if (!is || was.is(Reason::not_sampled)) return;
    const auto earlier = held_back(metric, was);
    const auto later = held_back(metric, is);
    const auto words = [&](std::uint64_t bits) {
      return fmt::format("{}", fmt::join(value_words(metric, static_cast<double>(bits)), ", "));
    };
    if (const auto begun = later & ~earlier; begun != 0) {
      add(&pair.now, EventKind::throttle, static_cast<std::int64_t>(begun), words(begun));
    } else if (later == 0 && earlier != 0) {
      add(&pair.now, EventKind::throttle_ended, static_cast<std::int64_t>(earlier), words(earlier));
    }
  }

  void sleeping(const Pair &pair) {
    const bool was = pair.before.state == DeviceState::asleep;
    const bool is = pair.now.state == DeviceState::asleep;
    if (was == is || (was && pair.now.state != DeviceState::ok)) return;
    const auto kind = is ? EventKind::asleep : EventKind::awake;
    // A live machine's sampler has told already.
    const auto told = [&](const Event &event) {
      return event.device == pair.now.identity->uuid && event.kind == (is ? kind : EventKind::back);
    };
    if (std::ranges::none_of(reported_, told)) add(&pair.now, kind, 0, std::string(word(kind)));
  }

  // A list that could not be read is not an empty one.
  static bool is_listed(const Device &device) {
    const auto &count = device.row[role_metric<Scope::device>(Role::process_count)];
    if (device.state != DeviceState::ok) return false;
    return count || count.is(Reason::not_supported);
  }

  void processes() {
    std::map<DeviceId, DeviceId> then;
    std::map<DeviceId, DeviceId> here;
    for (const auto &[was, is] : pairs_) {
      if (!is_listed(was) || !is_listed(is)) continue;
      then.emplace(was.id, is.id);
      here.emplace(is.id, is.id);
    }
    const auto earlier = presences(before_, then);
    const auto later = presences(now_, here);
    add_processes(missing_in(later, earlier), "went from");
    add_processes(missing_in(earlier, later), "came on");
  }

  static std::vector<Presence> presences(const Snapshot &snapshot, const std::map<DeviceId, DeviceId> &ids) {
    std::vector<Presence> found;
    for (const auto &process : snapshot.processes) {
      const auto at = ids.find(process.device);
      if (at != ids.end()) found.push_back({.pid = process.pid, .device = at->second, .process = &process});
    }
    std::ranges::sort(found, is_before);
    return found;
  }

  static bool is_before(const Presence &a, const Presence &b) {
    return std::pair(a.pid, a.device) < std::pair(b.pid, b.device);
  }

  // Those of `from` that `other` has not, or has as another process that got the number later.
  static std::vector<Presence> missing_in(const std::vector<Presence> &other, const std::vector<Presence> &from) {
    std::vector<Presence> missing;
    for (const auto &one : from) {
      const auto found = std::ranges::lower_bound(other, one, is_before);
      const bool listed = found != other.end() && !is_before(one, *found);
      const auto start = one.process->start_ticks;
      const auto its = listed ? found->process->start_ticks : 0;
      if (!listed || (start != 0 && its != 0 && start != its)) missing.push_back(one);
    }
    return missing;
  }

  void add_processes(const std::vector<Presence> &all, std::string_view what) {
    for (auto first = all.begin(); first != all.end();) {
      const auto end = std::find_if(first, all.end(), [&](const Presence &one) { return one.pid != first->pid; });
      const auto last = std::prev(end)->device;
      std::vector<std::string> devices;
      std::transform(first, end, std::back_inserter(devices), [](const Presence &one) { return text(one.device); });
      devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
      add(devices.size() == 1 ? device(last) : nullptr, EventKind::process, first->pid,
          fmt::format("{} {} GPU {}", describe_process(*first->process), what, fmt::join(devices, ", ")));
      first = end;
    }
  }

  const Device *device(const DeviceId &id) const {
    const auto found = std::ranges::find(pairs_, id, [](const Pair &pair) { return pair.now.id; });
    return &found->now;
  }

  // "560 python3 (ann)"
  static std::string describe_process(const Process &process) {
    const auto text = [&](MetricId id) { return process.texts ? (*process.texts)[id].value_or("") : std::string(); };
    const auto name = text(role_metric<Scope::process>(Role::name));
    const auto user = text(role_metric<Scope::process>(Role::user));
    return fmt::format("{}{}{}", process.pid, name.empty() ? "" : " " + name,
                       user.empty() ? "" : fmt::format(" ({})", user));
  }

  const Snapshot &before_;
  const Snapshot &now_;
  std::vector<Pair> pairs_;
  std::span<const Event> reported_;
  std::vector<Event> events_;
};

}  // namespace

std::vector<Event> changes(const Snapshot &before, const Snapshot &now) { return Comparison(before, now).changes(); }

std::vector<Event> already_so(const Snapshot &first, std::string_view since) {
  constexpr auto kId = role_metric<Scope::device>(Role::throttle);
  std::vector<Event> events;
  for (const auto &device : first.devices) {
    if (!device.identity || device.is_instance()) continue;
    const auto add = [&](EventKind kind, std::uint64_t code, std::string text) {
      events.push_back({.time = first.time,
                        .device = device.identity->uuid,
                        .kind = kind,
                        .code = static_cast<std::int64_t>(code),
                        .text = std::move(text)});
    };
    if (device.state == DeviceState::lost) add(EventKind::lost, 0, std::string(since));
    if (device.state == DeviceState::not_responding) add(EventKind::not_responding, 0, std::string(since));
    // A board at its power limit is no news.
    if (const auto bits = held_back(describe(kId), device.row[kId]) & ~usual_bits(describe(kId)); bits != 0) {
      add(EventKind::throttle, bits,
          fmt::format("{}, {}", fmt::join(value_words(describe(kId), static_cast<double>(bits)), ", "), since));
    }
  }
  return events;
}

}  // namespace gpulse::insight
