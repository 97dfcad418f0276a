// SPDX-License-Identifier: Apache-2.0
// gpulse set: changes a setting once it is confirmed, and shows the old and the new value.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/change.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "cli/setting_words.hpp"
#include "model/select.hpp"

namespace gpulse::cli {

namespace {

std::string called(const Device &device) { return fmt::format("GPU {} ({})", device.index, device.identity->name); }

// Whole devices, by -i or all; the exit code where there are none.
std::expected<std::vector<Device>, int> choose(const SnapshotPtr &snapshot, const Options &options) {
  if (snapshot->devices.empty()) {
    const auto why = absence(*snapshot);
    return std::unexpected(fail({"no GPU found", why}, kNoDevice));
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

// What keeps the command from being carried out at all: then nothing is changed anywhere.
int refuse_obstacles(const Setting &setting, std::span<const Change> changes) {
  int code = kGood;
  for (const auto &change : changes) {
    if (change.obstacle == Obstacle::out_of_range) {
      complain(fmt::format("{}: a power limit of {} is not between {} and {}", called(change.device),
                           value_text(setting, change, change.target), value_text(setting, change, change.least),
                           value_text(setting, change, change.most)));
      code = kUsage;
    } else if (change.obstacle == Obstacle::in_use) {
      complain(fmt::format("{}: not reset: in use by {}", called(change.device), list_users(change)));
      code = std::max(code, kFailure);
    }
  }
  return code;
}

// Good where it may go on.
int ask(const Setting &setting, std::span<const Change *const> pending, bool all) {
  const auto what = intention(setting, pending, all);
  const auto answer = confirm(what + "?");
  if (!answer) return fail({"not confirmed", "--yes would do it: " + what}, kUsage);
  if (*answer) return kGood;
  complain("nothing was changed");
  return kFailure;
}

std::string outcome(const Setting &setting, const Change &change, bool unicode) {
  const auto name = setting_name(setting.kind);
  if (setting.kind == SettingKind::reset) return std::string(name);
  if (change.obstacle == Obstacle::already) {
    return fmt::format("{}  {} already", name, value_text(setting, change, change.before));
  }
  if (!change.after) return fmt::format("{}  set to {}", name, target_text(setting, change));
  return fmt::format("{}  {} {} {}", name, value_text(setting, change, change.before), unicode ? "→" : "->",
                     value_text(setting, change, change.after));
}

std::string_view remark(const Setting &setting, const Change &change) {
  if (change.obstacle == Obstacle::already) return "";
  if (setting.kind == SettingKind::ecc) return ", from the next restart of the machine on";
  const bool lasts = setting.to_default || !change.lasting || change.lasting.value() != 0;
  return lasts ? "" : ", until the driver unloads: persistence mode is off";
}

// False where the change was not made.
bool report(const Setting &setting, const Change &change, bool unicode, std::string &out) {
  const auto who = called(change.device);
  if (change.error) {
    const bool root = change.error->code == SettingError::kNoPermission && ::geteuid() != 0;
    const auto what = setting.kind == SettingKind::reset ? std::string("not reset")
                                                         : fmt::format("{} not changed", setting_name(setting.kind));
    complain(fmt::format("{}: {}: {}{}", who, what, change.error->what, root ? ": run as root" : ""));
    return false;
  }
  if (change.ignored() && change.obstacle == Obstacle::none) {
    complain(fmt::format("{}: the driver took a {} of {}, but still shows {}", who, setting_name(setting.kind),
                         target_text(setting, change), value_text(setting, change, change.after)));
    return false;
  }
  out += fmt::format("GPU {}  {}  {}{}\n", change.device.index, change.device.identity->name,
                     outcome(setting, change, unicode), remark(setting, change));
  return true;
}

}  // namespace

int run_set(const Options &options) {
  const auto setting = parse_setting(options.setting);
  if (!setting) return fail(setting.error(), kUsage);
  if (options.demo || !options.replay.empty()) return fail({"a recording has no settings to change"}, kUsage);
  auto reading = feed_options(options);
  reading.only = needs_of(*setting);
  reading.rates = feed::Rates::never;
  const auto feed = open_feed(reading);
  if (!feed) return fail(feed.error());
  const auto snapshot = first_look(**feed);
  if (!snapshot) return fail(snapshot.error());
  const auto devices = choose(*snapshot, options);
  if (!devices) return devices.error();
  auto changes = plan(*setting, **snapshot, *devices);
  if (const int code = refuse_obstacles(*setting, changes); code != kGood) return code;
  std::vector<const Change *> pending;
  for (const auto &change : changes) {
    if (change.obstacle == Obstacle::none) pending.push_back(&change);
  }
  if (!pending.empty()) {
    const bool all = options.devices.empty() && pending.size() == changes.size();
    const int confirmed = options.yes ? kGood : ask(*setting, pending, all);
    if (confirmed != kGood) return confirmed;
    const SlowNotice notice("waiting for the driver to answer …");
    const Sysroot root(options.sysroot);
    for (auto &change : changes) {
      if (change.obstacle == Obstacle::none) apply(*setting, change, root);
    }
    if (auto read = read_back(*setting, changes, **feed); !read) return fail(read.error());
  }
  const bool unicode = style_of(options, STDOUT_FILENO).unicode;
  std::string out;
  bool good = true;
  for (const auto &change : changes) good = report(*setting, change, unicode, out) && good;
  if (auto written = write_out(out); !written) return fail(written.error());
  return good ? kGood : kFailure;
}

}  // namespace gpulse::cli
