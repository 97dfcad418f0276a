// SPDX-License-Identifier: Apache-2.0
#include "insight/review.hpp"

#include <algorithm>
#include <utility>

namespace gpulse::insight {

namespace {

using namespace std::chrono_literals;

constexpr auto kShort = 120s;
constexpr std::size_t kMostSamples = 20'000;

// The same kind on the same GPUs again and again is one finding, from the first to the last time.
void merge_repeats(std::vector<Finding> &findings) {
  std::vector<Finding> merged;
  for (auto &finding : findings) {
    const auto same = std::ranges::find_if(merged, [&](const Finding &other) {
      return other.id == finding.id && other.devices == finding.devices && other.pids == finding.pids;
    });
    if (same == merged.end()) {
      merged.push_back(std::move(finding));
      continue;
    }
    same->since = std::min(same->since, finding.since);
    same->until = std::max(same->until, finding.until);
    same->confidence = std::max(same->confidence, finding.confidence);
  }
  findings = std::move(merged);
}

}  // namespace

void Review::add(const SnapshotPtr &sample) {
  if (count_ == 0) first_ = sample->time;
  last_ = sample->time;
  ++count_;
  if (is_long_) return watch(sample);
  samples_.push_back(sample);
  if (last_ - first_ <= kShort && count_ <= kMostSamples) return;
  is_long_ = true;
  for (const auto &earlier : std::exchange(samples_, {})) watch(earlier);
}

void Review::watch(const SnapshotPtr &sample) {
  if (!watch_.add(sample)) return;
  for (auto &lasting : watch_.take_ended()) ended_.push_back(std::move(lasting));
  const auto &now = watch_.last();
  const auto found = std::ranges::find(now.findings, now.verdict, &Finding::id);
  if (found == now.findings.end()) return;
  auto &state = states_[static_cast<std::size_t>(found->id)];
  const auto since = state.times == 0 ? found->since : state.finding.since;
  ++state.times;
  state.finding = *found;
  state.finding.since = since;
}

Diagnosis Review::end() const { return is_long_ ? long_one() : diagnose(samples_); }

Diagnosis Review::long_one() const {
  Diagnosis diagnosis{.from = first_, .to = last_, .samples = count_};
  for (const auto &lasting : ended_) diagnosis.findings.push_back(lasting.finding);
  for (const auto &lasting : watch_.current()) diagnosis.findings.push_back(lasting.finding);
  merge_repeats(diagnosis.findings);
  const auto most = std::ranges::max_element(states_, {}, &State::times);
  const bool known =
      std::ranges::any_of(diagnosis.findings, [&](const Finding &finding) { return finding.id == most->finding.id; });
  if (most->times > 0 && !known && most->finding.weight != Weight::problem) {
    diagnosis.findings.push_back(most->finding);
  }
  sort_findings(diagnosis.findings);
  diagnosis.verdict = verdict_of(diagnosis.findings);
  return diagnosis;
}

}  // namespace gpulse::insight
