// SPDX-License-Identifier: Apache-2.0
// gpulse set: changes a setting after asking, and shows the old and the new value.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/agent_pause.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "control/change.hpp"
#include "control/setting_words.hpp"
#include "model/select.hpp"

namespace gpulse::cli {

namespace {

using namespace control;

// The devices of -i, or all; the exit code if there are none.
std::expected<std::vector<Device>, int> choose(const SnapshotPtr &snapshot, const Options &options) {
  if (snapshot->devices.empty()) {
    const auto why = absence(*snapshot);
    return std::unexpected(fail({absence_words(*snapshot), why}, kNoDevice));
  }
  if (options.devices.empty()) return whole_devices(*snapshot);
  const auto part = select_devices(snapshot, options.devices);
  if (!part) return std::unexpected(fail(part.error(), kUsage));
  auto whole = whole_devices(**part);
  if (whole.empty()) {
    return std::unexpected(fail({"an instance has no settings of its own", "give the device that it is of"}, kUsage));
  }
  return whole;
}

std::string list_users(const Change &change) {
  std::string list;
  for (const auto &user : change.users) {
    list += fmt::format("{}{}{}{}", list.empty() ? "" : ", ", user.pid, user.name.empty() ? "" : " ", user.name);
  }
  return list;
}

// Before anything is changed: one device that cannot be changed stops the whole command.
int refuse_obstacles(const Setting &setting, std::span<const Change> changes) {
  const auto &row = row_of(setting.kind);
  int code = kGood;
  for (const auto &change : changes) {
    if (change.obstacle == Obstacle::out_of_range) {
      complain(fmt::format("{}: a {} of {} is not between {} and {}", device_label(change.device), row.name,
                           value_text(setting, change, change.target), value_text(setting, change, change.minimum),
                           value_text(setting, change, change.maximum)));
      code = kUsage;
    } else if (change.obstacle == Obstacle::in_use) {
      complain(fmt::format("{}: {}: in use by {}", device_label(change.device), action_text(setting, row.action.failed),
                           list_users(change)));
      code = std::max(code, kFailure);
    }
  }
  return code;
}

// kGood if the answer is yes, else the exit code.
int ask(const Setting &setting, std::span<const Change *const> pending, bool all) {
  const auto what = intention(setting, pending, all);
  const auto answer = confirm(what + "?");
  if (!answer) return fail({"not confirmed", "--yes would do it: " + what}, kUsage);
  if (*answer) return kGood;
  complain("nothing was changed");
  return kFailure;
}

std::string outcome(const Setting &setting, const Change &change, bool unicode) {
  const auto &row = row_of(setting.kind);
  if (is_action(row)) return action_text(setting, row.action.done);
  if (change.obstacle == Obstacle::already_set) {
    return fmt::format("{}  {} already", row.name, value_text(setting, change, change.before));
  }
  if (!change.after) return fmt::format("{}  set to {}", row.name, target_text(setting, change));
  return fmt::format("{}  {} {} {}", row.name, value_text(setting, change, change.before), unicode ? "→" : "->",
                     value_text(setting, change, change.after));
}

std::string remark(const Setting &setting, const Change &change) {
  if (change.obstacle == Obstacle::already_set) return "";
  if (change.waits) return fmt::format(", from the next reset or restart on: {}", change.waits->what);
  if (row_of(setting.kind).effect == Effect::after_restart) return ", from the next restart of the machine on";
  return change.soon_forgotten ? ", until the driver unloads: persistence mode is off" : "";
}

std::string failure_text(const Setting &setting, const SettingError &error) {
  const auto &row = row_of(setting.kind);
  const bool needs_root = error.failure == SettingFailure::no_permission && ::geteuid() != 0;
  const auto what = is_action(row) ? action_text(setting, row.action.failed) : fmt::format("{} not changed", row.name);
  return fmt::format("{}: {}{}", what, error.what, needs_root ? ": run as root" : "");
}

// False if the change was not made.
bool report(const Setting &setting, const Change &change, bool unicode, std::string &out) {
  const auto device = device_label(change.device);
  if (change.error) {
    complain(fmt::format("{}: {}", device, failure_text(setting, *change.error)));
    return false;
  }
  if (change.ignored() && change.obstacle == Obstacle::none) {
    complain(fmt::format("{}: the driver took a {} of {}, but still shows {}", device, row_of(setting.kind).name,
                         target_text(setting, change), value_text(setting, change, change.after)));
    return false;
  }
  out += fmt::format("GPU {}  {}  {}{}\n", text(change.device.id), change.device.identity->name,
                     outcome(setting, change, unicode), remark(setting, change));
  return true;
}

// Asks, and makes the changes that nothing stands in the way of; the exit code if none were made.
std::expected<void, int> confirm_and_apply(const Setting &setting, std::span<Change> changes, const Options &options,
                                           feed::Feed &feed) {
  std::vector<const Change *> pending;
  for (const auto &change : changes) {
    if (change.obstacle == Obstacle::none) pending.push_back(&change);
  }
  if (pending.empty()) return {};
  const bool all = options.devices.empty() && pending.size() == changes.size();
  const int confirmed = options.yes ? kGood : ask(setting, pending, all);
  if (confirmed != kGood) return std::unexpected(confirmed);
  const SlowNotice notice("waiting for the driver to answer …");
  const Sysroot root(options.sysroot);
  {
    const AgentPause pause(is_held_up_by_monitors(setting));
    for (auto &change : changes) {
      if (change.obstacle == Obstacle::none) apply(setting, change, root);
    }
  }
  const auto now = feed.again();
  if (!now) return std::unexpected(fail(now.error()));
  read_back(setting, changes, **now);
  return {};
}

}  // namespace

int run_set(const Options &options) {
  const auto setting = parse_setting(options.setting);
  if (!setting) return fail(setting.error(), kUsage);
  if (options.demo || !options.replay.empty()) return fail({"a recording has no settings to change"}, kUsage);
  auto reading = feed_options(options);
  reading.only = needs_of(*setting);
  reading.rates = feed::Rates::never;
  reading.agent = false;  // what was set is read back at once
  const auto feed = open_feed(reading);
  if (!feed) return fail(feed.error());
  const auto snapshot = first_look(**feed);
  if (!snapshot) return fail(snapshot.error());
  const auto devices = choose(*snapshot, options);
  if (!devices) return devices.error();
  auto changes = plan(*setting, **snapshot, *devices);
  if (const int code = refuse_obstacles(*setting, changes); code != kGood) return code;
  if (auto done = confirm_and_apply(*setting, changes, options, **feed); !done) return done.error();
  const bool unicode = style_of(options, STDOUT_FILENO).unicode;
  std::string out;
  bool good = true;
  for (const auto &change : changes) good = report(*setting, change, unicode, out) && good;
  if (auto written = write_out(out); !written) return fail(written.error());
  return good ? kGood : kFailure;
}

}  // namespace gpulse::cli
