// SPDX-License-Identifier: Apache-2.0
#include "history/usage_findings.hpp"

#include <algorithm>
#include <map>

#include "insight/catalogue.hpp"
#include "insight/finding_events.hpp"

namespace gpulse::history {

namespace {

// Of one device the event says which; of several its text does: "imbalance on GPU 0, 1: …".
std::vector<std::int64_t> devices_of(const Event &event, std::span<const KnownDevice> devices) {
  std::vector<std::int64_t> ids;
  if (!event.device.empty()) {
    for (const auto &known : devices) {
      if (known.identity->uuid == event.device) ids.push_back(known.id);
    }
    return ids;
  }
  constexpr std::string_view kOn = " on GPU ";
  const std::string_view text = event.text;
  const auto word = insight::finding_word(event).size();
  if (!text.substr(word).starts_with(kOn)) return ids;
  auto list = text.substr(word + kOn.size());
  list = list.substr(0, list.find(": "));
  while (!list.empty()) {
    const auto number = parse_device_id(trim(next_piece(list, ',')));
    if (!number) continue;
    // Of several that were called so, the one that was there.
    const auto known = std::ranges::find_if(devices, [&](const KnownDevice &each) {
      return each.number == *number && each.first <= event.time && event.time <= each.last + std::chrono::minutes(2);
    });
    if (known != devices.end()) ids.push_back(known->id);
  }
  return ids;
}

WallTime end_of_recording(WallTime time, std::span<const Span> recorded) {
  const auto after = std::ranges::upper_bound(recorded, time, {}, &Span::from);
  if (after == recorded.begin()) return time;
  return std::max(time, std::prev(after)->to);
}

}  // namespace

std::vector<StoodFinding> stood_findings(std::span<const Event> events, std::span<const KnownDevice> devices,
                                         std::span<const Span> recorded) {
  std::vector<StoodFinding> all;
  std::map<std::int64_t, StoodFinding> open;  // by number
  const auto close = [&](std::map<std::int64_t, StoodFinding>::iterator entry, WallTime end) {
    entry->second.span.to = std::min(end, entry->second.span.to);
    all.push_back(std::move(entry->second));
    open.erase(entry);
  };
  for (const auto &event : events) {
    const auto known = open.find(event.code);
    if (known != open.end()) close(known, event.time);
    const auto id = insight::finding_named(insight::finding_word(event));
    if (event.kind != EventKind::finding || !id) continue;
    open.emplace(event.code,
                 StoodFinding{*id, {event.time, end_of_recording(event.time, recorded)}, devices_of(event, devices)});
  }
  while (!open.empty()) close(open.begin(), WallTime::max());
  return all;
}

}  // namespace gpulse::history
