// SPDX-License-Identifier: Apache-2.0
#include "serve/demand.hpp"

#include <algorithm>

namespace gpulse::serve {

std::chrono::nanoseconds Demand::interval(const Limits &limits) const {
  auto least = limits.interval;
  for (const auto &[client, reader] : readers_) least = std::min(least, std::max(reader.who.interval, limits.fastest));
  return least;
}

std::optional<MetricSet> Demand::focus(const Limits &limits) const {
  std::optional<MetricSet> all;
  for (const auto &[client, reader] : readers_) {
    if (reader.who.interval >= limits.interval) continue;
    if (!reader.metrics) return std::nullopt;
    if (!all) all.emplace();
    all->add(*reader.metrics);
  }
  return all;
}

std::vector<share::ReaderStatus> Demand::readers(Monotonic now) const {
  std::vector<share::ReaderStatus> all;
  for (const auto &[client, reader] : readers_) {
    all.push_back(reader.who);
    all.back().since = now - reader.since;
  }
  return all;
}

}  // namespace gpulse::serve
