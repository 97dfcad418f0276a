// SPDX-License-Identifier: Apache-2.0
// The kernel tells of a process's work on most GPUs only its owner, so that an agent cannot publish it. Each reader
// looks for what it may see by itself: in files of /proc, without a call to a driver. One thread.
#pragma once

#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "feed/feed.hpp"

namespace gpulse::feed {

class OwnProcesses {
 public:
  explicit OwnProcesses(const Options &options);

  void add(Snapshot &snapshot, const std::stop_token &stop);

 private:
  const Options options_;                               // of a feed that reads nothing but processes
  std::map<std::string, std::unique_ptr<Feed>> feeds_;  // by source
};

// Adds the processes of `own` to the devices of the same UUID. One that is known from both is as `own` has it.
void merge_processes(Snapshot &snapshot, const Snapshot &own);

}  // namespace gpulse::feed
