// SPDX-License-Identifier: Apache-2.0
#include "insight/watch.hpp"

#include <algorithm>
#include <utility>

namespace gpulse::insight {

namespace {

using namespace std::chrono_literals;

constexpr auto kShortest = 10s;          // less is not judged
constexpr int kToBegin = 2, kToEnd = 3;  // judgements in a row
constexpr std::size_t kMostSamples = 4096;

}  // namespace

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
  if (sample->time - samples_.front()->time < kShortest || sample->time - judged_ < options_.step) return false;
  judged_ = sample->time;
  judge();
  return true;
}

void Watch::judge() {
  const std::vector<SnapshotPtr> samples(samples_.begin(), samples_.end());
  diagnosis_ = diagnose(samples);
  auto found = diagnosis_.findings;
  std::erase_if(found, [](const Finding &finding) { return finding.weight == Weight::ok; });
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
