// SPDX-License-Identifier: Apache-2.0
// Goes through a history and says what a scraper would have got at each step, so that an engine that was away misses
// nothing. Counters start anew with each replay, as they do with an agent. One thread.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "fleet/series.hpp"
#include "history/reader.hpp"
#include "insight/tally.hpp"
#include "insight/watch.hpp"
#include "view/scrape.hpp"

namespace gpulse::fleet {

struct ReplayOptions {
  std::vector<Label> labels{};  // of every series: instance, job and the user's own
  std::chrono::nanoseconds step = std::chrono::seconds(10);
  bool processes = false;  // series for the largest processes too
  view::PageContents contents = view::usual_page();
  std::function<view::AgentNumbers()> agent{};     // how the agent is doing now
  std::function<std::vector<PodDevice>()> pods{};  // who has which GPU now
};

class Replay {
 public:
  Replay(ReplayOptions options, WallTime after);

  // The steps after those before, in order, of samples until then and with at most about so many values; none: there is
  // nothing new. A step is over when a sample of the next one is there.
  Result<std::vector<Step>> next(history::Reader &reader, WallTime until, WallTime now, std::size_t most_values);
  // When the step that is not over ends; none: there was no sample yet.
  std::optional<WallTime> step_ends() const;

 private:
  void add(const SnapshotPtr &sample);
  Step page_of(const SnapshotPtr &sample, WallTime now);
  std::int64_t number_of(WallTime time) const;

  ReplayOptions options_;
  WallTime read_;       // up to here
  SnapshotPtr last_{};  // of the step that is not over
  WallTime judged_{};   // the last sample that findings rest on
  insight::Tally tally_;
  insight::Watch watch_;
  view::ScrapeView view_;
  SeriesTable series_;
};

}  // namespace gpulse::fleet
