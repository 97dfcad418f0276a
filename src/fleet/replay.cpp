// SPDX-License-Identifier: Apache-2.0
#include "fleet/replay.hpp"

#include <algorithm>
#include <utility>

#include "insight/owners.hpp"

namespace gpulse::fleet {

namespace {

using namespace std::chrono_literals;

// Read at once: the list of samples of a day would be large.
constexpr auto kStretch = 10min;
// No series lasts through a longer time without samples. An engine itself forgets one after five minutes.
constexpr auto kGap = 5min;
// What the agent says of itself holds for so long.
constexpr auto kPresent = 30s;
// Samples that come faster say no more about half a minute.
constexpr auto kJudged = 900ms;

std::int64_t milliseconds(WallTime time) {
  return std::chrono::floor<std::chrono::milliseconds>(time).time_since_epoch().count();
}

Monotonic as_monotonic(WallTime time) { return Monotonic(time.time_since_epoch()); }

// Without what an agent of that time would have said of itself, which nobody kept.
std::string without_agent(const std::string &text) {
  std::string kept;
  kept.reserve(text.size());
  std::string_view rest(text);
  while (!rest.empty()) {
    const auto line = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
    if (!line.starts_with("gpulse_self_")) kept += line;
    rest.remove_prefix(line.size());
  }
  return kept;
}

}  // namespace

Replay::Replay(ReplayOptions options, WallTime after)
    : options_(std::move(options)),
      read_(after),
      view_(view::Exposition::text, options_.processes, options_.contents),
      series_(options_.labels) {}

std::int64_t Replay::number_of(WallTime time) const { return time.time_since_epoch() / options_.step; }

std::optional<WallTime> Replay::step_ends() const {
  if (!last_) return std::nullopt;
  return WallTime((number_of(last_->time) + 1) * options_.step);
}

void Replay::add(const SnapshotPtr &sample) {
  const auto interval = last_ ? std::clamp<std::chrono::nanoseconds>(sample->time - last_->time, 1ms, 60s) : 1s;
  tally_.add(*sample, interval, as_monotonic(sample->time));
  last_ = sample;
  if (sample->time - judged_ < kJudged) return;
  judged_ = sample->time;
  if (watch_.add(sample)) tally_.set_findings(watch_.current());
}

Step Replay::page_of(const SnapshotPtr &sample, WallTime now) {
  const bool is_present = now - sample->time < kPresent;
  const auto agent = options_.agent ? options_.agent() : view::AgentNumbers{};
  const auto pods = is_present && options_.pods ? options_.pods() : std::vector<PodDevice>{};
  const auto owners = insight::owners(*sample, pods);
  const auto tally = tally_.report();
  auto text =
      view_.write({.snapshot = sample.get(), .is_fresh = true, .tally = tally, .owners = owners, .agent = agent});
  if (!is_present) text = without_agent(text);
  return {.time_ms = milliseconds(sample->time), .samples = series_.take(text)};
}

Result<std::vector<Step>> Replay::next(history::Reader &reader, WallTime until, WallTime now, std::size_t most_values) {
  std::vector<Step> steps;
  std::size_t values = 0;
  while (read_ < until && values < most_values) {
    const auto end = std::min<WallTime>(until, read_ + kStretch);
    const auto refs = reader.samples({.from = read_ + 1ns, .to = end + 1ns});
    if (!refs) return std::unexpected(refs.error());
    for (const auto &ref : *refs) {
      const auto sample = reader.sample(ref);
      if (!sample) return std::unexpected(sample.error());
      read_ = ref.time;
      if (*sample == nullptr) continue;
      if (last_ && number_of((*sample)->time) > number_of(last_->time)) {
        steps.push_back(page_of(last_, now));
        if ((*sample)->time - last_->time > kGap) {
          steps.push_back({.time_ms = milliseconds(last_->time + options_.step), .samples = series_.end_all()});
        }
        values += steps.back().samples.size();
      }
      add(*sample);
      if (values >= most_values) return steps;
    }
    // The writer may still bring samples of the last moments.
    if (end < until) read_ = std::max(read_, end);
    if (end == until) break;
  }
  return steps;
}

}  // namespace gpulse::fleet
