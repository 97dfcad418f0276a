// SPDX-License-Identifier: Apache-2.0
// The files that a log was moved to: gpus.csv.2026-11-16T17-05-00.000Z, and .gz behind it once it is compressed. The
// time is that of the first sample that is not in it, in UTC; sorted by name they are sorted by time. Nothing with any
// other name is ever touched. Free functions for any thread, and the thread that compresses and removes.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace gpulse::sink {

// "2026-11-16T17-05-00.000Z".
std::string stamp_of(WallTime time);
std::optional<WallTime> parse_stamp(std::string_view text);

struct OldFile {
  WallTime time;
  bool plain = false, compressed = false, unfinished = false;  // which of them is there

  bool operator==(const OldFile &) const = default;
};
// Of the log with this path, the oldest first.
std::vector<OldFile> list_old_files(const std::string &path);

// What a killed gpulse left half done is cleaned up, those beyond the newest `keep` are removed, and the others are
// compressed, one after the other. Each error is one that was not compressed, and stays as it is.
std::vector<Error> tidy_old_files(const std::string &path, std::size_t keep, const std::stop_token &stop = {});

// Does that on a thread of its own, at once and whenever a file was added.
class OldFileKeeper {
 public:
  OldFileKeeper(std::string path, std::size_t keep);
  OldFileKeeper(const OldFileKeeper &) = delete;
  OldFileKeeper &operator=(const OldFileKeeper &) = delete;
  ~OldFileKeeper();  // stops it in the middle, without waiting; what is not done, the next one finishes

  void added();
  // Until all is done.
  void wait(std::chrono::nanoseconds at_most);
  // What could not be done since the last time; none: all is well.
  std::optional<Error> take_complaint();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace gpulse::sink
