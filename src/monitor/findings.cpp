// SPDX-License-Identifier: Apache-2.0
#include "monitor/findings.hpp"

#include <algorithm>

namespace gpulse::monitor {

namespace {

using namespace std::chrono_literals;

constexpr auto kShortest = 3s;   // less is not judged
constexpr auto kLongest = 120s;  // more is not kept

// The rules need no more than five samples a second, and what they cost grows with the devices.
std::chrono::nanoseconds closest(const Snapshot &sample) {
  constexpr std::size_t kMany = 16;
  return 190ms * std::max<std::size_t>(1, sample.devices.size() / kMany);
}

insight::WatchOptions options_for(std::chrono::nanoseconds interval) {
  constexpr int kFewest = 10;  // samples in a window
  const insight::WatchOptions usual;
  return {.window = std::max(usual.window, kFewest * interval), .step = std::max(usual.step, interval)};
}

KnownFinding known(std::uint64_t number, const insight::Finding &finding, const Snapshot &sample) {
  KnownFinding told{.number = number, .finding = finding, .ids = {}, .uuids = {}};
  for (const auto &id : finding.devices) {
    const auto device = std::ranges::find(sample.devices, id, &Device::id);
    const bool is_there = device != sample.devices.end() && device->identity != nullptr;
    told.ids.push_back(text(id));
    told.uuids.push_back(is_there ? device->identity->uuid.str() : std::string{});
  }
  return told;
}

FindingList list_of(const insight::Diagnosis &diagnosis) {
  return {.from = diagnosis.from,
          .to = diagnosis.to,
          .samples = diagnosis.samples,
          .verdict = diagnosis.verdict,
          .findings = {}};
}

}  // namespace

Findings::Findings(std::chrono::nanoseconds interval) : watch_(options_for(interval)) {}

void Findings::add(const SnapshotPtr &sample) {
  if (!has_time(*sample)) return;
  {
    const std::lock_guard lock(mutex_);
    // Somebody has set the clock back: what was before has no place any more.
    if (!samples_.empty() && sample->time < samples_.back()->time) samples_.clear();
    if (!samples_.empty() && sample->time - samples_.back()->time < closest(*sample)) return;
    samples_.push_back(sample);
    while (sample->time - samples_.front()->time > kLongest) samples_.pop_front();
  }
  if (!watch_.add(sample)) return;
  watch_.take_ended();
  auto list = std::make_shared<FindingList>(list_of(watch_.last()));
  for (const auto &lasting : watch_.current())
    list->findings.push_back(known(lasting.number, lasting.finding, *sample));
  const std::lock_guard lock(mutex_);
  current_ = std::move(list);
}

void Findings::withdraw() {
  if (!has_begun()) return;
  auto nothing = std::make_shared<const FindingList>();
  const std::lock_guard lock(mutex_);
  samples_.clear();
  current_.swap(nothing);
}

FindingListPtr Findings::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

Result<FindingListPtr> Findings::judge(std::chrono::nanoseconds last) const {
  std::vector<SnapshotPtr> samples;
  {
    const std::lock_guard lock(mutex_);
    for (auto at = samples_.rbegin(); at != samples_.rend(); ++at) {
      samples.push_back(*at);
      if (samples_.back()->time - (*at)->time >= last) break;
    }
  }
  std::ranges::reverse(samples);
  if (samples.empty() || samples.back()->time - samples.front()->time < kShortest)
    return failure("too little was seen to judge", "watch for at least 3 s");
  const auto diagnosis = insight::diagnose(samples);
  auto list = std::make_shared<FindingList>(list_of(diagnosis));
  for (const auto &finding : diagnosis.findings) list->findings.push_back(known(0, finding, *samples.back()));
  return FindingListPtr(std::move(list));
}

}  // namespace gpulse::monitor
