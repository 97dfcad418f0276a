// SPDX-License-Identifier: Apache-2.0
#include "tui/plot_history.hpp"

#include <algorithm>

#include "term/plot.hpp"

namespace gpulse::tui {

namespace {

Reading reading_of(const Snapshot &snapshot, const PlotKey &key) {
  const MetricId id{key.metric};
  if (brief(id).scope == Scope::host) return snapshot.host[id];
  if (key.pid == 0) {
    const auto found = std::ranges::find(snapshot.devices, key.device, &Device::id);
    return found == snapshot.devices.end() ? Reading(Reason::not_sampled) : found->row[id];
  }
  const auto found = std::ranges::find_if(snapshot.processes, [&](const Process &process) {
    return process.pid == key.pid && process.device == key.device;
  });
  return found == snapshot.processes.end() ? Reading(Reason::not_sampled) : found->row[id];
}

}  // namespace

void PlotHistory::want(std::vector<PlotKey> keys, std::size_t values) {
  std::ranges::sort(keys);
  const auto repeated = std::ranges::unique(keys);
  keys.erase(repeated.begin(), repeated.end());
  const bool same =
      values <= wanted_ && std::ranges::equal(keys, kept_, {}, {}, [](const auto &pair) { return pair.first; });
  if (same) return;
  kept_.clear();
  for (const auto &key : keys) kept_.emplace(key, std::vector<float>());
  times_.clear();
  wanted_ = values;
  shown_.reset();
}

void PlotHistory::show(feed::Timeline &timeline, std::uint64_t number, const Snapshot &snapshot) {
  if (shown_ == number || kept_.empty()) return;
  const auto oldest = std::max(timeline.first(), number + 1 > wanted_ ? number + 1 - wanted_ : 0);
  if (shown_ && number < *shown_ && number >= oldest_) {
    step_back(timeline, oldest, number);
  } else {
    const bool goes_on = shown_ && number > *shown_ && oldest <= *shown_ + 1;
    if (!goes_on) {
      for (auto &[key, values] : kept_) values.clear();
      times_.clear();
      oldest_ = oldest;
    }
    add(timeline, goes_on ? *shown_ + 1 : oldest, number);
    add(snapshot);
    trim();
  }
  shown_ = number;
}

// Takes off what came after this sample, and puts what is missing in front.
void PlotHistory::step_back(feed::Timeline &timeline, std::uint64_t oldest, std::uint64_t number) {
  const auto left = static_cast<std::size_t>(number - oldest_ + 1);
  for (auto &[key, values] : kept_) values.resize(left);
  times_.resize(left);
  if (oldest >= oldest_) return;
  auto later = std::move(kept_);
  const auto later_times = std::move(times_);
  kept_.clear();
  times_.clear();
  for (const auto &[key, values] : later) kept_.emplace(key, std::vector<float>());
  add(timeline, oldest, oldest_);
  for (auto &[key, values] : kept_) values.insert(values.end(), later[key].begin(), later[key].end());
  times_.insert(times_.end(), later_times.begin(), later_times.end());
  oldest_ = oldest;
}

void PlotHistory::add(feed::Timeline &timeline, std::uint64_t from, std::uint64_t to) {
  for (auto number = from; number < to; ++number) {
    const auto sample = timeline.at(number);
    if (sample) {
      add(**sample);
    } else {
      add_gap(timeline.time(number));
    }
  }
}

void PlotHistory::add(const Snapshot &snapshot) {
  for (auto &[key, values] : kept_) {
    const auto reading = reading_of(snapshot, key);
    values.push_back(reading ? static_cast<float>(reading.value()) : term::kGap);
  }
  times_.push_back(snapshot.time);
}

void PlotHistory::add_gap(WallTime time) {
  for (auto &[key, values] : kept_) values.push_back(term::kGap);
  times_.push_back(time);
}

// Done rarely, so that a value is moved once or twice in its life.
void PlotHistory::trim() {
  const auto size = kept_.begin()->second.size();
  if (size < 2 * wanted_ + 64) return;
  for (auto &[key, values] : kept_) values.erase(values.begin(), values.end() - static_cast<std::ptrdiff_t>(wanted_));
  times_.erase(times_.begin(), times_.end() - static_cast<std::ptrdiff_t>(wanted_));
  oldest_ += size - wanted_;
}

std::span<const float> PlotHistory::values(const PlotKey &key) const {
  const auto found = kept_.find(key);
  if (found == kept_.end()) return {};
  const std::span<const float> all(found->second);
  return all.last(std::min(all.size(), wanted_));
}

std::span<const WallTime> PlotHistory::times() const {
  const std::span<const WallTime> all(times_);
  return all.last(std::min(all.size(), wanted_));
}

}  // namespace gpulse::tui
