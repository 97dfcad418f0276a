// SPDX-License-Identifier: Apache-2.0
// Parsers for the kernel's files about one process (/proc/PID/status, cgroup, …). Pure functions: no file, no state.
// The files hold text that the process's owner controls: a Text that comes out is safe to print, a std::string is not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"

namespace gpulse::host {

// The second number of /proc/PID/statm.
std::optional<std::uint64_t> parse_resident_pages(std::string_view text);

// /proc/PID/cmdline with spaces between the arguments; empty for kernel threads.
std::string parse_command(std::string_view text);
// The arguments themselves; none for kernel threads.
std::vector<std::string> parse_arguments(std::string_view text);

// The effective user of /proc/PID/status.
std::optional<std::uint32_t> parse_status_user(std::string_view text);
// The pids that /proc/PID/status has beyond that of /proc's own namespace, the innermost last.
std::vector<std::uint32_t> parse_status_inner_pids(std::string_view text);

// Name of a user in the text of /etc/passwd, empty if it is not there.
std::string find_user(std::string_view passwd, std::uint32_t user);

// What /proc/PID/cgroup says a process belongs to; empty: nothing.
struct Placement {
  Text container;  // 12 digits of the identifier, or the name of an LXC or nspawn container
  Text pod;        // uid of the Kubernetes pod
  Text job;        // number of the Slurm job
  Text unit;       // systemd service, or scope with a name, where there is no container
};
Placement parse_cgroup(std::string_view text);
// The path of the one control group of version 2 in /proc/PID/cgroup, below where those are mounted. None: there is no
// such group, or it lies outside of what we see.
std::optional<std::string_view> parse_unified_cgroup(std::string_view text);

// Number of the Slurm job in /proc/PID/environ, empty if there is none; and the account that it is charged to.
std::string parse_environment_job(std::string_view text);
Text parse_environment_account(std::string_view text);
// What the prolog's file about a Slurm job (see batch_job.hpp) says of its account; empty: nothing.
Text parse_job_account(std::string_view text);

// Whether /proc/self/mountinfo says that users do not see each other's processes in /proc: it is mounted with hidepid.
bool hides_processes(std::string_view mountinfo);

}  // namespace gpulse::host
