// SPDX-License-Identifier: Apache-2.0
#include "cli/smi_set.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "cli/change.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "cli/setting_words.hpp"
#include "view/smi/cell.hpp"

namespace gpulse::cli {

namespace {

using view::smi::bus_id;
using view::smi::driver_words;

constexpr std::string_view kTerminating = "Terminating early due to previous errors.\n";

struct OptionKind {
  std::string_view option;
  SettingKind kind;
  bool to_default = false;
};
constexpr std::array kOptions{
    OptionKind{"-pm", SettingKind::persistence},
    OptionKind{"-c", SettingKind::compute_mode},
    OptionKind{"-pl", SettingKind::power_limit},
    OptionKind{"-lgc", SettingKind::graphics_clocks},
    OptionKind{"-rgc", SettingKind::graphics_clocks, true},
    OptionKind{"-lmc", SettingKind::memory_clocks},
    OptionKind{"-rmc", SettingKind::memory_clocks, true},
    OptionKind{"-e", SettingKind::ecc},
    OptionKind{"-r", SettingKind::reset},
};

constexpr std::array<std::string_view, 2> kSwitch{"DISABLED", "ENABLED"};
constexpr std::array<std::string_view, 4> kComputeModes{"DEFAULT", "EXCLUSIVE_THREAD", "PROHIBITED",
                                                        "EXCLUSIVE_PROCESS"};

// Clocks that have no number yet: the driver knows these as numbers of its own.
struct ClockWord {
  std::string_view word;
  std::uint32_t number;
};
constexpr std::array kClockWords{ClockWord{"tdp", 0xFFFFFF01}, ClockWord{"unlimited", 0xFFFFFF02}};

std::span<const std::string_view> modes_of(SettingKind kind) {
  if (kind == SettingKind::compute_mode) return kComputeModes;
  return kSwitch;
}

SmiRefusal invalid_value(const SmiSetting &option) {
  return {fmt::format("ERROR: Option {} is invalid for {}. Please run 'nvidia-smi -h' for help.\n\n", option.value,
                      option.option),
          kBadArgument};
}

SmiResult<double> parse_mode(SettingKind kind, const SmiSetting &option) {
  const auto modes = modes_of(kind);
  const auto number = parse_integer<std::int64_t>(option.value);
  if (!number) {
    const auto found = std::find(modes.begin(), modes.end(), option.value);
    if (found == modes.end()) return std::unexpected(invalid_value(option));
    return static_cast<double>(found - modes.begin());
  }
  if (*number >= 0 && *number < static_cast<std::int64_t>(modes.size())) return static_cast<double>(*number);
  const std::string_view name = kind == SettingKind::persistence    ? "persistence mode"
                                : kind == SettingKind::compute_mode ? "compute mode"
                                                                    : "ECC mode";
  return std::unexpected(SmiRefusal{fmt::format("Invalid {}: {}\n{}", name, *number, kTerminating), kBadArgument});
}

std::optional<double> parse_clock(std::string_view text) {
  for (const auto &[word, number] : kClockWords) {
    if (text == word) return number;
  }
  return parse_integer<std::uint32_t>(text);
}

SmiResult<void> parse_clocks(const SmiSetting &option, Setting &setting) {
  const std::string_view text = option.value;
  const auto comma = text.find(',');
  const auto low = parse_clock(text.substr(0, comma));
  const auto high = comma == std::string_view::npos ? low : parse_clock(text.substr(comma + 1));
  if (low && high) {
    setting.low = *low;
    setting.high = *high;
    return {};
  }
  const bool memory = setting.kind == SettingKind::memory_clocks;
  constexpr std::string_view kGraphics =
      "'gpuClkMin,gpuClkMax' or 'gpuClkVal' e.g. '--lock-gpu-clocks=1500,1500', '--lock-gpu-clocks=1500', or "
      "'--lock-gpu-clocks=tdp,unlimited'";
  constexpr std::string_view kMemory =
      "'memClkMin,memClkMax' or 'memClkVal' e.g. '--lock-memory-clocks=5100,5100' or '--lock-memory-clocks=5100'";
  return std::unexpected(SmiRefusal{fmt::format("Specified clocks \"{}\" are not valid. Please format input as {}\n{}",
                                                text, memory ? kMemory : kGraphics, kTerminating),
                                    kBadArgument});
}

std::string clock_text(double value) {
  for (const auto &[word, number] : kClockWords) {
    if (value == number) return std::string(word);
  }
  return fmt::format("{:.0f}", value);
}

std::string_view mode_text(const Setting &setting) {
  return modes_of(setting.kind)[static_cast<std::size_t>(setting.low)];
}

std::string already_line(const Setting &setting, const std::string &gpu) {
  const auto word = view::smi::form::enabled(setting.low);
  switch (setting.kind) {
    case SettingKind::compute_mode:
      return fmt::format("Compute mode is already set to {} for GPU {}.\n", mode_text(setting), gpu);
    case SettingKind::ecc:
      return fmt::format("ECC support is already {} for GPU {}.\n", word, gpu);
    default:
      return fmt::format("Persistence mode is already {} for GPU {}.\n", word, gpu);
  }
}

std::string done_line(const Setting &setting, const Change &change) {
  const auto gpu = bus_id(change.device);
  switch (setting.kind) {
    case SettingKind::persistence:
      return fmt::format("{} persistence mode for GPU {}.\n", view::smi::form::enabled(setting.low), gpu);
    case SettingKind::compute_mode:
      return fmt::format("Set compute mode to {} for GPU {}.\n", mode_text(setting), gpu);
    case SettingKind::power_limit:
      return fmt::format("Power limit for GPU {} was set to {:.2f} W from {:.2f} W.\n", gpu,
                         change.after.value_or(setting.low), change.before.value_or(0));
    case SettingKind::graphics_clocks:
    case SettingKind::memory_clocks: {
      if (setting.to_default) return "";
      const bool memory = setting.kind == SettingKind::memory_clocks;
      const std::string_view prefix = memory ? "mem" : "gpu";
      return fmt::format("{} clocks set to \"({}ClkMin {}, {}ClkMax {})\" for GPU {}\n", memory ? "Memory" : "GPU",
                         prefix, clock_text(setting.low), prefix, clock_text(setting.high), gpu);
    }
    case SettingKind::ecc:
      return fmt::format("{} ECC support for GPU {}.\n", view::smi::form::enabled(setting.low), gpu);
    case SettingKind::reset:
      return fmt::format("GPU {} was successfully reset.\n", gpu);
  }
  return "";
}

// A limit or lock is forgotten as soon as nobody uses the driver.
std::string warning(const Setting &setting, const Change &change) {
  if (setting.to_default || !change.lasting || change.lasting.value() != 0) return "";
  return fmt::format(
      "\nWarning: persistence mode is disabled on device {}. See the Known Issues section of the nvidia-smi(1) man "
      "page "
      "for more information. Run with [--help | -h] switch to get more information on how to enable persistence "
      "mode.\n",
      bus_id(change.device));
}

std::string refused_line(const Setting &setting, const std::string &gpu, std::uint16_t code) {
  const auto words = driver_words(code);
  const bool permission = code == SettingError::kNoPermission;
  switch (setting.kind) {
    case SettingKind::persistence:
      return fmt::format("Unable to set persistence mode for GPU {}: {}\n", gpu, words);
    case SettingKind::compute_mode:
      return fmt::format("Unable to set compute mode for GPU {}: {}\n", gpu, words);
    case SettingKind::power_limit:
      return fmt::format("Failed to set power management limit for GPU {}: {}\n", gpu, words);
    case SettingKind::graphics_clocks:
    case SettingKind::memory_clocks: {
      if (permission)
        return fmt::format("The current user does not have permission to change clocks for GPU {}.\n", gpu);
      const std::string_view which = setting.kind == SettingKind::memory_clocks ? "memory" : "GPU";
      return fmt::format("Unable to {} {} clocks for GPU {}: {}\n", setting.to_default ? "reset" : "set", which, gpu,
                         words);
    }
    case SettingKind::ecc:
      return fmt::format("Unable to {} ECC support for GPU {}: {}\n", setting.low != 0 ? "enable" : "disable", gpu,
                         words);
    case SettingKind::reset:
      return fmt::format("Unable to reset GPU {}: {}\n", gpu, words);
  }
  return "";
}

// What a device cannot do is no failure, but for a reset.
std::string unsupported_line(const Setting &setting, const std::string &gpu) {
  constexpr std::string_view kMovingOn = "Treating as warning and moving on.\n";
  switch (setting.kind) {
    case SettingKind::power_limit:
      return fmt::format("Changing power management limit is not supported for GPU: {}.\n{}", gpu, kMovingOn);
    case SettingKind::graphics_clocks:
      return fmt::format("Setting locked GPU clocks is not supported for GPU {}.\n{}", gpu, kMovingOn);
    case SettingKind::memory_clocks:
      return fmt::format("Setting locked Memory clocks is not supported for GPU {}.\n{}", gpu, kMovingOn);
    case SettingKind::reset:
      return fmt::format("Resetting GPU {} is not supported.\n", gpu);
    default:
      return refused_line(setting, gpu, SettingError::kNotSupported) + std::string(kMovingOn);
  }
}

int exit_of(std::uint16_t code) { return code < kOther ? code : kOther; }

SmiRefusal refused(const Setting &setting, const Change &change, std::uint16_t code) {
  const auto gpu = bus_id(change.device);
  if (code == SettingError::kNotSupported) return {unsupported_line(setting, gpu), exit_of(code)};
  return {refused_line(setting, gpu, code) + std::string(kTerminating), exit_of(code)};
}

SmiResult<void> check_range(std::span<const Change> changes) {
  for (const auto &change : changes) {
    if (change.obstacle != Obstacle::out_of_range) continue;
    return std::unexpected(SmiRefusal{
        fmt::format("Provided power limit {:.2f} W is not a valid power limit which should be between {:.2f} W and "
                    "{:.2f} W for GPU {}\n{}",
                    change.target.value(), change.least.value_or(0), change.most.value_or(0), bus_id(change.device),
                    kTerminating),
        kBadArgument});
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
    lines += fmt::format("  GPU {}: {} ({})\n", bus_id(change.device), driver_words(SettingError::kInUse), users);
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

// The original sets a limit also where it is so already.
bool is_pending(const Setting &setting, const Change &change) {
  return change.obstacle == Obstacle::none || setting.kind == SettingKind::power_limit;
}

// Nothing where it may go on. Who has no permission hears of that first, as from the original.
SmiResult<void> check_confirmed(const Setting &setting, std::span<const Change> changes, const SmiCommand &command) {
  std::vector<const Change *> pending;
  for (const auto &change : changes) {
    if (is_pending(setting, change)) pending.push_back(&change);
  }
  if (pending.empty() || command.yes) return {};
  if (::geteuid() != 0) return std::unexpected(refused(setting, *pending.front(), SettingError::kNoPermission));
  const auto what = intention(setting, pending, command.devices.empty() && pending.size() == changes.size());
  const auto answer = confirm(what + "?");
  if (answer && *answer) return {};
  complain(answer ? "nothing was changed" : "not confirmed: --yes would do it: " + what);
  return std::unexpected(SmiRefusal{"", kBadArgument});
}

// All devices, one after the other, until one fails.
SmiRefusal change_all(const Setting &setting, std::span<Change> changes, const Sysroot &root, feed::Feed &feed) {
  SmiRefusal said;
  bool changed = false;
  for (auto &change : changes) {
    if (!is_pending(setting, change)) {
      said.text += already_line(setting, bus_id(change.device));
      continue;
    }
    apply(setting, change, root);
    const auto refusal = change.error ? refused(setting, change, change.error->code) : SmiRefusal{};
    said.text += refusal.text;
    if (change.error && (change.error->code != SettingError::kNotSupported || setting.kind == SettingKind::reset)) {
      said.code = refusal.code;
      return said;
    }
    if (change.error) continue;
    changed = true;
    // What the original says of it stands in what it asked for.
    if (setting.kind == SettingKind::power_limit) (void)read_back(setting, std::span(&change, 1), feed);
    said.text += done_line(setting, change) + warning(setting, change);
  }
  if (setting.kind != SettingKind::reset) said.text += "All done.\n";
  if (changed && setting.kind == SettingKind::ecc) said.text += "Reboot required.\n";
  return said;
}

}  // namespace

SmiResult<Setting> parse_smi_setting(const SmiSetting &option) {
  const auto found = std::find_if(kOptions.begin(), kOptions.end(),
                                  [&](const OptionKind &one) { return one.option == option.option; });
  if (found == kOptions.end()) return std::unexpected(invalid_value(option));
  Setting setting{.kind = found->kind, .to_default = found->to_default};
  if (setting.to_default || setting.kind == SettingKind::reset) return setting;
  if (setting.kind == SettingKind::graphics_clocks || setting.kind == SettingKind::memory_clocks) {
    if (auto parsed = parse_clocks(option, setting); !parsed) return std::unexpected(parsed.error());
    return setting;
  }
  if (setting.kind == SettingKind::power_limit) {
    const auto watts = parse_double(option.value);
    if (!watts) return std::unexpected(invalid_value(option));
    setting.low = *watts;
    return setting;
  }
  const auto mode = parse_mode(setting.kind, option);
  if (!mode) return std::unexpected(mode.error());
  setting.low = *mode;
  return setting;
}

int run_smi_setting(const SmiCommand &command, const Options &options) {
  const auto setting = parse_smi_setting(command.setting);
  if (!setting) return say(setting.error());
  if (options.demo || !options.replay.empty()) return fail({"a recording has no settings to change"}, kUsage);
  auto reading = feed_options(options);
  reading.only = needs_of(*setting);
  reading.rates = feed::Rates::never;
  const auto feed = open_feed(reading);
  if (!feed) return say({feed.error().line() + "\n", kOther});
  const auto snapshot = first_look(**feed);
  if (!snapshot) return say({snapshot.error().line() + "\n", kOther});
  const auto scene = view::smi::choose(**snapshot, command.devices);
  if (!scene) return say({"No devices were found\n", kNotFound});
  if (scene->devices.empty()) return say(nothing_found(**snapshot));
  std::vector<Device> devices;
  for (const auto *device : scene->devices) devices.push_back(*device);
  auto changes = plan(*setting, **snapshot, devices);
  auto checked = check_range(changes);
  if (checked) checked = check_users(changes);
  if (checked) checked = check_confirmed(*setting, changes, command);
  if (!checked) return say(checked.error());
  const SlowNotice notice("waiting for the driver to answer …");
  return say(change_all(*setting, changes, Sysroot(options.sysroot), **feed));
}

}  // namespace gpulse::cli
