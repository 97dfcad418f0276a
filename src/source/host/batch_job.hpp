// SPDX-License-Identifier: Apache-2.0
// What a batch system's prolog has written down about its jobs, for programs that may not look into the environment of
// other users' processes: a file per job, /run/gpulse-jobs/NUMBER, with lines such as "account=physics". Lines with
// other names are left to others. docs/cluster.md has the format, packaging/slurm the scripts.
#pragma once

#include <string_view>

#include "base/sysroot.hpp"
#include "base/text.hpp"

namespace gpulse::host {

// The account that the job is charged to; empty: nobody has said so, or somebody could have who may not.
// `job`: its number, digits only. May be called from any thread.
Text job_account(const Sysroot &root, std::string_view job);

}  // namespace gpulse::host
