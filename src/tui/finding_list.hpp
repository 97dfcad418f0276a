// SPDX-License-Identifier: Apache-2.0
// What is wrong at the moment that the live view shows: as its agent told it, or judged from the half minute before it,
// as it is played or after a jump. UI thread only.
#pragma once

#include <optional>
#include <vector>

#include "feed/timeline.hpp"
#include "insight/watch.hpp"
#include "term/screen.hpp"

namespace gpulse::tui {

struct Look;
struct Session;

class FindingList {
 public:
  explicit FindingList(insight::WatchOptions options = {}) : options_(options), watch_(options) {}

  // The sample of this number is on the screen.
  void show(feed::Timeline &timeline, std::uint64_t number, const SnapshotPtr &sample);
  // The worst first.
  const std::vector<insight::Finding> &all() const { return all_; }
  // From when on it has looked.
  WallTime begin() const { return begin_; }
  // Whether enough was seen to say that all is well.
  bool is_judged() const { return is_judged_; }
  // Others looked, elsewhere, or should have.
  bool is_told() const { return is_told_; }

 private:
  void add(const SnapshotPtr &sample);

  const insight::WatchOptions options_;
  insight::Watch watch_;
  std::optional<std::uint64_t> number_;
  bool jumped_ = false;  // the watch has not seen what was before
  WallTime begin_{};     // of the first sample that it has
  WallTime last_{};      // and of the last
  std::vector<insight::Finding> all_;
  bool is_judged_ = false;
  bool is_told_ = false;
};

// Of the devices on the screen.
std::vector<const insight::Finding *> shown_findings(const Session &session);
// A line each, as far as there are lines; the last says how many more there are.
void draw_findings(const term::Area &area, const Look &look, Session &session);
// All of them with evidence and advice.
void open_findings(Session &session);

}  // namespace gpulse::tui
