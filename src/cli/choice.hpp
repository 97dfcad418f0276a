// SPDX-License-Identifier: Apache-2.0
// What of a sample the command line asks for: -i with its devices, or those that CUDA would see; --mine, --user and
// --pid with their processes and the devices that these are on. One thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "cli/process_tree.hpp"
#include "model/snapshot.hpp"

namespace gpulse::cli {

class Choice {
 public:
  // `live`: the processes are this machine's, and /proc tells who has started whom.
  Choice(const Options &options, bool live);

  // Everything is asked for.
  bool is_everything() const { return selectors_.empty() && !chooses_processes(); }
  bool chooses_processes() const { return !user_.empty() || pid_; }
  // A device that is not there is an error; so is a choice of processes that none fits, which may be otherwise in the
  // next sample.
  Result<SnapshotPtr> part_of(const SnapshotPtr &sample);
  // Of that last error.
  bool may_come() const { return may_come_; }

 private:
  Result<void> resolve_visible(const Snapshot &sample);
  bool fits(const Process &process);
  Error nothing_found() const;

  std::vector<std::string> selectors_;
  bool visible_ = false;  // the selectors say so, and it has not been found out yet what that is
  std::string user_, user_number_;
  std::optional<std::uint32_t> pid_;
  std::optional<ProcessTree> tree_;
  bool may_come_ = false;
};

}  // namespace gpulse::cli
