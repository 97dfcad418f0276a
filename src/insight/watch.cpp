// SPDX-License-Identifier: Apache-2.0
#include "insight/watch.hpp"

#include <algorithm>
#include <utility>

#include "insight/last_seen.hpp"

namespace gpulse::insight {

namespace {

using namespace std::chrono_literals;

constexpr auto kShortest = 10s;          // less is not judged
constexpr int kToBegin = 2, kToEnd = 3;  // judgements in a row
constexpr int kToForget = 12;            // judgements for which somebody can still read of what happened once
constexpr std::size_t kMostSamples = 4096;

// Whether the device tells who is on it, and nobody of them is.
bool lacks_all(const Snapshot &sample, const Finding &finding, const DeviceId &id) {
  const auto device = std::ranges::find(sample.devices, id, &Device::id);
  if (device == sample.devices.end() || device->state != DeviceState::ok) return false;
  if (!device->row[device_metric("process_count")]) return false;
  return std::ranges::none_of(sample.processes, [&](const Process &process) {
    return process.device == id && std::ranges::count(finding.pids, process.pid) > 0;
  });
}

bool lacks_all(const Snapshot &sample, const Finding &finding) {
  return std::ranges::all_of(finding.devices, [&](const DeviceId &id) { return lacks_all(sample, finding, id); });
}

}  // namespace

// The job that it was said of has left: what it did is not to be said of the one that comes next.
bool Watch::is_about_who_left(const Finding &finding) const {
  constexpr std::size_t kSure = 2;  // samples
  if (finding.pids.empty() || finding.id == FindingId::out_of_memory || samples_.size() < kSure) return false;
  return std::all_of(samples_.end() - kSure, samples_.end(),
                     [&](const SnapshotPtr &sample) { return lacks_all(*sample, finding); });
}

// What was seen of it once is judged again at once, as no more will come of it, and told for the length of a sample.
void Watch::end_those_of_who_left() {
  bool any = false, any_over = false;
  for (auto &candidate : candidates_) {
    if (!is_about_who_left(candidate.lasting.finding)) continue;
    if (candidate.has_left) candidate.missed = kToEnd;
    (candidate.has_left ? any_over : any) = true;
    candidate.has_left = true;
  }
  if (any_over) publish();
  if (any) judge(Leavers::judged);
}

bool Watch::add(const SnapshotPtr &sample) {
  // A clock that was set back, or a pause: what was before is another story.
  const auto gap = samples_.empty() ? 0ns : sample->time - samples_.back()->time;
  if (gap < 0ns || gap > options_.window) {
    samples_.clear();
    judged_ = {};
    for (auto &candidate : candidates_) candidate.missed = kToEnd;
    publish();
  }
  samples_.push_back(sample);
  while (sample->time - samples_.front()->time > options_.window || samples_.size() > kMostSamples)
    samples_.pop_front();
  note_ends();
  end_those_of_who_left();
  if (sample->time - samples_.front()->time < kShortest || sample->time - judged_ < options_.step) return false;
  judged_ = sample->time;
  judge(Leavers::passed_over);
  return true;
}

// What happens once is told at once, and for a while.
void Watch::note_ends() {
  for (auto &finding : left_full_devices(samples_)) {
    candidates_.push_back({.lasting = {.finding = std::move(finding)}, .seen = kToBegin, .missed = kToEnd - kToForget});
  }
}

void Watch::judge(Leavers leavers) {
  const std::vector<SnapshotPtr> samples(samples_.begin(), samples_.end());
  diagnosis_ = diagnose(samples);
  auto found = diagnosis_.findings;
  std::erase_if(found, [&](const Finding &finding) {
    return finding.weight == Weight::ok || (leavers == Leavers::passed_over && is_about_who_left(finding));
  });
  for (auto &candidate : candidates_) ++candidate.missed;
  for (auto &finding : found) {
    const auto found_again = std::ranges::find_if(candidates_, [&](const Candidate &candidate) {
      const auto &known = candidate.lasting.finding;
      return known.id == finding.id && known.devices == finding.devices && known.pids == finding.pids;
    });
    auto &candidate = found_again != candidates_.end() ? *found_again : candidates_.emplace_back();
    if (candidate.seen > 0) finding.since = candidate.lasting.finding.since;
    candidate.lasting.finding = std::move(finding);
    ++candidate.seen;
    candidate.missed = 0;
  }
  publish();
}

void Watch::publish() {
  current_.clear();
  for (auto &candidate : candidates_) {
    if (candidate.seen >= kToBegin && candidate.lasting.number == 0) candidate.lasting.number = ++last_number_;
    const bool told = candidate.lasting.number != 0;
    if (told && candidate.missed >= kToEnd) {
      candidate.lasting.over = true;
      ended_.push_back(candidate.lasting);
    } else if (told) {
      current_.push_back(candidate.lasting);
    }
  }
  // One that was seen once and not again was none.
  std::erase_if(candidates_, [](const Candidate &candidate) {
    return candidate.lasting.over || candidate.missed >= kToEnd ||
           (candidate.lasting.number == 0 && candidate.missed > 0);
  });
  std::ranges::sort(current_, [](const LastingFinding &a, const LastingFinding &b) {
    if (a.finding.weight != b.finding.weight) return a.finding.weight > b.finding.weight;
    return a.number < b.number;
  });
}

std::vector<LastingFinding> Watch::take_ended() { return std::exchange(ended_, {}); }

}  // namespace gpulse::insight
