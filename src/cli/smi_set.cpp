// SPDX-License-Identifier: Apache-2.0
#include "cli/smi_set.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/agent_pause.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "control/change.hpp"
#include "control/setting_words.hpp"
#include "control/smi_words.hpp"
#include "view/smi/cell.hpp"

namespace gpulse::cli {

namespace {

using namespace control;
using view::smi::bus_id;
using view::smi::driver_words;

// NVML's number for a failure, which nvidia-smi also exits with. Other drivers' failures get the nearest one.
std::uint16_t nvml_code(const SettingError &error) {
  if (error.driver_code) return *error.driver_code;
  switch (error.failure) {
    case SettingFailure::invalid:
      return 2;
    case SettingFailure::not_supported:
      return 3;
    case SettingFailure::no_permission:
      return 4;
    case SettingFailure::in_use:
      return 19;
    case SettingFailure::failed:
      break;
  }
  return 999;
}

SmiRefusal refused(const Setting &setting, const Change &change, const SettingError &error) {
  const auto code = nvml_code(error);
  return {smi_refused(setting, change, error.failure, bus_id(change.device), driver_words(code)),
          std::min<int>(code, kOther)};
}

SmiResult<void> check_range(const Setting &setting, std::span<const Change> changes) {
  for (const auto &change : changes) {
    if (change.obstacle != Obstacle::out_of_range) continue;
    return std::unexpected(SmiRefusal{smi_out_of_range(setting, change, bus_id(change.device)), kBadArgument});
  }
  return {};
}

SmiResult<void> check_users(std::span<const Change> changes) {
  std::string lines;
  std::size_t count = 0;
  for (const auto &change : changes) {
    if (change.obstacle != Obstacle::in_use) continue;
    std::string users;
    for (const auto &[pid, name] : change.users) users += fmt::format("{}{} {}", users.empty() ? "" : ", ", pid, name);
    const auto in_use = nvml_code({.failure = SettingFailure::in_use});
    lines += fmt::format("  GPU {}: {} ({})\n", bus_id(change.device), driver_words(in_use), users);
    ++count;
  }
  if (count == 0) return {};
  return std::unexpected(SmiRefusal{
      fmt::format("The following GPUs could not be reset:\n{}\n{} currently being used by one or more other processes "
                  "(e.g., Fabric Manager, CUDA application, graphics application such as an X server, or a monitoring "
                  "application such as another instance of nvidia-smi). Please first kill all processes using {} and "
                  "all compute applications running in the system.\n",
                  lines, count == 1 ? "1 device is" : fmt::format("{} devices are", count),
                  count == 1 ? "this device" : "these devices"),
      kOther});
}

// Who types nvidia-smi's own words means them. Only somebody at a terminal is asked, and only before a reset, which
// nothing brings back.
SmiResult<void> check_confirmed(const Setting &setting, std::span<const Change> changes, const SmiCommand &command) {
  if (!row_of(setting.kind).only_when_idle || command.yes || changes.empty()) return {};
  // Without permission there is nothing to ask.
  if (::geteuid() != 0) return {};
  std::vector<const Change *> pending;
  for (const auto &change : changes) pending.push_back(&change);
  const auto answer = confirm(intention(setting, pending, command.devices.empty()) + "?");
  if (!answer || *answer) return {};
  complain("nothing was changed");
  return std::unexpected(SmiRefusal{"", kBadArgument});
}

// One device after the other, up to the first that fails.
SmiRefusal change_all(const Setting &setting, std::span<Change> changes, const Sysroot &root, feed::Feed &feed) {
  SmiRefusal said;
  bool changed = false;
  for (auto &change : changes) {
    const auto gpu = bus_id(change.device);
    if (!smi_would_set(setting, change)) {
      said.text += smi_already(setting, change, gpu);
      continue;
    }
    apply(setting, change, root);
    if (change.error) {
      const auto refusal = refused(setting, change, *change.error);
      said.text += refusal.text;
      if (!smi_stops_at(setting, change.error->failure)) continue;
      said.code = refusal.code;
      return said;
    }
    changed = true;
    // nvidia-smi reports the new limit as the device shows it; modes and clocks as they were asked for.
    const auto takes = row_of(setting.kind).takes;
    if (takes == Takes::watts || takes == Takes::celsius) {
      if (const auto now = feed.again()) read_back(setting, std::span(&change, 1), **now);
    }
    said.text += smi_done(setting, change, gpu, change.waits ? driver_words(nvml_code(*change.waits)) : "");
  }
  said.text += smi_closing(setting, changed);
  return said;
}

}  // namespace

int run_smi_setting(const SmiCommand &command, const Options &options) {
  const auto setting = parse_smi_setting(command.setting.option, command.setting.value, command.setting.typed);
  if (!setting && !setting.error().late) return say({setting.error().text, kBadArgument});
  if (options.demo || !options.replay.empty()) return fail({"a recording has no settings to change"}, kUsage);
  auto reading = feed_options(options);
  reading.only = setting ? needs_of(*setting) : MetricSet{};
  reading.rates = feed::Rates::never;
  reading.agent = false;  // what was set is read back at once
  const auto feed = open_feed(reading);
  if (!feed) return say({feed.error().line() + "\n", kOther});
  const auto snapshot = first_look(**feed);
  if (!snapshot) return say({snapshot.error().line() + "\n", kOther});
  const auto selection = view::smi::select_devices(**snapshot, command.devices);
  if ((*snapshot)->devices.empty()) return say(nothing_found(**snapshot));
  if (!selection) return say({"No devices were found\n", kNotFound});
  if (selection->devices.empty()) return say(nothing_found(**snapshot));
  if (!setting) return say({setting.error().text, kBadArgument});
  std::vector<Device> devices;
  for (const auto *device : selection->devices) devices.push_back(*device);
  auto changes = plan(*setting, **snapshot, devices);
  auto checked = check_range(*setting, changes);
  if (checked) checked = check_users(changes);
  if (checked) checked = check_confirmed(*setting, changes, command);
  if (!checked) return say(checked.error());
  const SlowNotice notice("waiting for the driver to answer …");
  const AgentPause pause(is_held_up_by_monitors(*setting));
  return say(change_all(*setting, changes, Sysroot(options.sysroot), **feed));
}

}  // namespace gpulse::cli
