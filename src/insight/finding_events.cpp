// SPDX-License-Identifier: Apache-2.0
#include "insight/finding_events.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "insight/catalogue.hpp"

namespace gpulse::insight {

namespace {

constexpr std::size_t kKeptEvents = 64;

Text uuid_of(const DeviceId &id, const Snapshot &sample) {
  const auto device = std::ranges::find(sample.devices, id, &Device::id);
  return device != sample.devices.end() && device->identity ? device->identity->uuid : Text();
}

// Of one device the event says which; of several its text does.
std::string where(const Finding &finding) {
  if (finding.devices.size() < 2) return {};
  std::vector<std::string> ids;
  for (const auto &id : finding.devices) ids.push_back(text(id));
  return fmt::format(" on GPU {}", fmt::join(ids, ", "));
}

// "45 s", "12 min", "3 h 5 min"
std::string lasted(std::chrono::nanoseconds time) {
  const auto seconds = std::chrono::round<std::chrono::seconds>(time).count();
  constexpr long kMinute = 60, kHour = 3600;
  if (seconds < 2 * kMinute) return fmt::format("{} s", seconds);
  if (seconds < 2 * kHour) return fmt::format("{} min", seconds / kMinute);
  return fmt::format("{} h {} min", seconds / kHour, seconds % kHour / kMinute);
}

}  // namespace

std::string_view finding_word(const Event &event) {
  const std::string_view text = event.text;
  return text.substr(0, text.find_first_of(": "));
}

std::span<const Event> new_events(const SharedVector<Event> &before, const SharedVector<Event> &now) {
  if (now.is_same_as(before)) return {};
  const auto known =
      std::find_if(now.rbegin(), now.rend(), [&](const Event &event) { return std::ranges::count(before, event) > 0; });
  return std::span(now.get()).last(static_cast<std::size_t>(known - now.rbegin()));
}

Event FindingEvents::begun(const LastingFinding &lasting, const Snapshot &sample) {
  const auto &finding = lasting.finding;
  const auto device = finding.devices.size() == 1 ? uuid_of(finding.devices.front(), sample) : Text();
  lasting_.emplace(lasting.number, device);
  return {.time = sample.time,
          .device = device,
          .kind = EventKind::finding,
          .code = static_cast<std::int64_t>(lasting.number),
          .text = fmt::format("{}{}: {}", word(finding.id), where(finding), finding.text)};
}

Event FindingEvents::ended(const LastingFinding &lasting, WallTime time) {
  const auto &finding = lasting.finding;
  const auto known = lasting_.extract(lasting.number);
  return {
      .time = time,
      .device = known.empty() ? Text() : known.mapped(),
      .kind = EventKind::finding_ended,
      .code = static_cast<std::int64_t>(lasting.number),
      .text = fmt::format("{}{} after {}", word(finding.id), where(finding), lasted(finding.until - finding.since))};
}

std::vector<Event> FindingEvents::judge(const SnapshotPtr &sample) {
  std::vector<Event> events;
  watch_.add(sample);
  for (const auto &lasting : watch_.take_ended()) events.push_back(ended(lasting, sample->time));
  for (const auto &lasting : watch_.current()) {
    if (!lasting_.contains(lasting.number)) events.push_back(begun(lasting, *sample));
  }
  return events;
}

SnapshotPtr AddedEvents::add(const SnapshotPtr &sample, std::vector<Event> news) {
  any_ = any_ || !news.empty();
  if (!any_) {
    given_ = all_ = sample->events;
    return sample;
  }
  const bool same = sample->events.is_same_as(given_);
  if (!same || !news.empty()) {
    auto all = all_.get();
    if (!same) {
      const auto more = new_events(given_, sample->events);
      all.insert(all.end(), more.begin(), more.end());
      given_ = sample->events;
    }
    for (auto &event : news) all.push_back(std::move(event));
    if (all.size() > kKeptEvents) all.erase(all.begin(), all.end() - kKeptEvents);
    all_ = std::move(all);
  }
  auto told = std::make_shared<Snapshot>(*sample);
  told->events = all_;
  return told;
}

}  // namespace gpulse::insight
