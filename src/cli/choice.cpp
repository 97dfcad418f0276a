// SPDX-License-Identifier: Apache-2.0
#include "cli/choice.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/user.hpp"
#include "model/select.hpp"
#include "pick/cuda_order.hpp"
#include "pick/visible.hpp"
#include "view/cell.hpp"

namespace gpulse::cli {

namespace {

constexpr std::string_view kVisible = "visible";

// Split at commas, without the word that stands for a mask.
std::vector<std::string> take_visible(const std::vector<std::string> &given, bool &visible) {
  std::vector<std::string> rest;
  for (const auto &list : given) {
    for (const auto piece : split(list, ',')) {
      if (trim(piece) == kVisible) {
        visible = true;
      } else {
        rest.emplace_back(piece);
      }
    }
  }
  return rest;
}

}  // namespace

Choice::Choice(const Options &options, bool live) : user_(options.user), pid_(options.pid) {
  selectors_ = take_visible(options.devices, visible_);
  if (options.mine) {
    user_number_ = fmt::format("{}", ::geteuid());
    user_ = user_name(::geteuid()).value_or("");
    if (user_.empty()) user_ = user_number_;
  }
  if (pid_ && live) tree_.emplace(*pid_);
  // Resolved with the first sample; until then it must not pass for "all".
  if (visible_) selectors_.emplace_back(kVisible);
}

Result<void> Choice::resolve_visible(const Snapshot &sample) {
  using namespace std::chrono_literals;
  const auto ask = [] { return pick::ask_cuda_order("/proc/self/exe", 10s); };
  const auto seen = pick::visible(sample.devices, pick::own_environment(), ask);
  if (seen.devices.empty()) {
    const auto why = !seen.problem.empty()  ? seen.problem
                     : seen.ignored.empty() ? std::string("no variable names one")
                                            : fmt::format("{}: \"{}\" {}", seen.ignored.front().variable,
                                                          seen.ignored.front().entry, seen.ignored.front().reason);
    return failure("no GPU is visible to a program started here", why);
  }
  selectors_.pop_back();
  for (const auto position : seen.devices) selectors_.push_back(sample.devices[position].identity->uuid);
  visible_ = false;
  return {};
}

bool Choice::fits(const Process &process) {
  if (!user_.empty()) {
    const auto &user = view::text_by_role(process.texts.get(), Role::user);
    if (user != user_ && (user_number_.empty() || user != user_number_)) return false;
  }
  if (!pid_) return true;
  return tree_ ? tree_->contains(process) : process.pid == *pid_;
}

Error Choice::nothing_found() const {
  const auto whose = user_.empty() ? std::string() : " of " + user_;
  const auto which = pid_ ? fmt::format(" in the tree of {}", *pid_) : std::string();
  return {fmt::format("no GPU process{}{}", whose, which), "gpulse shows those of everybody"};
}

Result<SnapshotPtr> Choice::part_of(const SnapshotPtr &sample) {
  may_come_ = false;
  if (visible_) {
    if (const auto good = resolve_visible(*sample); !good) return std::unexpected(good.error());
  }
  auto part = selectors_.empty() ? Result<SnapshotPtr>(sample) : select_devices(sample, selectors_);
  if (!part || !chooses_processes()) return part;
  auto own = std::make_shared<Snapshot>(**part);
  std::erase_if(own->processes, [&](const Process &process) { return !fits(process); });
  if (own->processes.empty()) {
    may_come_ = true;
    return std::unexpected(nothing_found());
  }
  // A split GPU is shown with the instance that is used.
  std::erase_if(own->devices, [&](const Device &device) {
    return std::ranges::none_of(own->processes, [&](const Process &process) {
      return process.device == device.id || (!device.is_instance() && process.device.index == device.id.index);
    });
  });
  return own;
}

}  // namespace gpulse::cli
