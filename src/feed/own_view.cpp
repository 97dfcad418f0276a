// SPDX-License-Identifier: Apache-2.0
#include "feed/own_view.hpp"

#include <unistd.h>

#include <algorithm>

#include "base/user.hpp"
#include "share/layout.hpp"

namespace gpulse::feed {

namespace {

using namespace std::chrono_literals;

constexpr auto kUser = process_metric("user");

}  // namespace

OwnView::OwnView(const std::optional<MetricSet> &only)
    : table_(Sysroot{}, host::Audience::self, only), pid_namespace_(share::pid_namespace()) {
  if (::geteuid() != 0) user_ = user_name(::geteuid()).value_or("");
}

void OwnView::complete(Snapshot &snapshot, std::uint64_t pid_namespace) {
  const auto now = monotonic_now();
  const bool same = pid_namespace == pid_namespace_;
  for (auto &process : snapshot.processes) complete(process, same, now);
  table_.forget_unseen(now - 60s);
}

// Looks for the process under one of the pids it has in the namespaces below the agent's.
bool OwnView::find_inside(Process &process) {
  const auto found = std::ranges::find_if(process.inner_pids, [&](std::uint32_t pid) {
    return process.start_ticks != 0 && table_.has_started(pid, process.start_ticks);
  });
  if (found == process.inner_pids.end()) return false;
  process.pid = *found;
  process.inner_pids.erase(process.inner_pids.begin(), found + 1);
  return true;
}

void OwnView::complete(Process &process, bool same_namespace, Monotonic now) {
  if (process.foreign) {
    // The agent lives in a namespace of its own, and we may be where the driver's pids come from.
    if (table_.sees_host_pids()) table_.look_up(process, now);
    return;
  }
  if (!same_namespace && !find_inside(process)) {
    process.foreign = true;
    return;
  }
  const auto user = process.texts != nullptr ? (*process.texts)[kUser] : TextReading(Reason::no_permission);
  if (!user && user.reason() == Reason::no_permission) return table_.look_up(process, now, true);
  if (!user_ || (user && user.value() == *user_)) table_.add_private(process, now);
}

}  // namespace gpulse::feed
