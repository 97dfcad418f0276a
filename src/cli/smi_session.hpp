// SPDX-License-Identifier: Apache-2.0
// What the commands of `gpulse smi` share: where their output goes, and how they look at the devices.
#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>

#include "cli/session.hpp"
#include "cli/smi_refusal.hpp"
#include "view/smi/cell.hpp"

namespace gpulse::cli {

// Where the output goes: the standard output, or a file that is written anew.
class SmiOutput {
 public:
  static Result<SmiOutput> open(const std::string &file);
  Result<void> write(std::string_view text);

 private:
  std::FILE *file_ = nullptr;  // open until the program ends
};

// A session of one command: looks again and again, each time at what it needs and no more.
class SmiSession {
 public:
  // `pace`: between two looks; none: there is only one.
  static SmiResult<SmiSession> open(const Options &options, const MetricSet &only,
                                    std::optional<std::chrono::nanoseconds> pace = std::nullopt);

  // Looks once, or again and again until `show` gives an exit code. The snapshot of a selection stays until the next
  // look.
  int look(const std::string &which,
           const std::function<std::optional<int>(const SmiResult<view::smi::Selection> &)> &show);
  SmiResult<view::smi::Selection> look(const std::string &which = "");
  // For commands that could not tell a device that does not respond from one that has nothing to list. True when there
  // was one.
  bool take_out_silent(view::smi::Selection &selection);
  // What is to be said of devices that were taken out; empty when all are there.
  const std::string &complaint() const { return complaint_; }

 private:
  SmiSession(feed::Feed &feed, std::optional<std::chrono::nanoseconds> pace) : feed_(&feed), pace_(pace) {}

  SmiResult<view::smi::Selection> select(const SnapshotPtr &snapshot, const std::string &which);
  view::smi::Selection take_out_lost(view::smi::Selection selection);

  feed::Feed *feed_;
  std::optional<std::chrono::nanoseconds> pace_;
  SnapshotPtr snapshot_;
  std::string complaint_;
};

}  // namespace gpulse::cli
