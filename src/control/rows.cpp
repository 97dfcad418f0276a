// SPDX-License-Identifier: Apache-2.0
#include "control/rows.hpp"

#include <algorithm>
#include <array>

namespace gpulse::control {

namespace {

constexpr std::array kOnOff{
    Mode{1, "on", "ENABLED", "Enabled", "enable"},
    Mode{0, "off", "DISABLED", "Disabled", "disable"},
};
// Exclusive-thread is gone from today's drivers; only nvidia-smi still has a word for it.
constexpr std::array kComputeModes{
    Mode{0, "default", "DEFAULT"},
    Mode{3, "exclusive-process", "EXCLUSIVE_PROCESS"},
    Mode{2, "prohibited", "PROHIBITED"},
    Mode{1, "", "EXCLUSIVE_THREAD"},
};

constexpr std::array kErrorCounts{
    Mode{0, "volatile", "VOLATILE", "volatile"},
    Mode{1, "aggregate", "AGGREGATE", "aggregate"},
};

constexpr std::array kPersistenceMode{device_metric("persistence_mode")};
constexpr std::array kComputeMode{device_metric("compute_mode")};
constexpr std::array kPowerLimit{device_metric("power_limit_requested_watts"), device_metric("power_limit_watts")};
constexpr std::array kTargetTemperature{detail_metric("temperature_target_celsius")};
constexpr std::array kEccMode{device_metric("ecc_mode_pending")};
constexpr std::array kMigMode{device_metric("mig_mode_pending")};
constexpr std::array kAccountingMode{device_metric("accounting_mode")};

constexpr std::array kPersistenceOptions{SmiOption{"-pm", "--persistence-mode"}};
constexpr std::array kComputeOptions{SmiOption{"-c", "--compute-mode"}};
constexpr std::array kPowerOptions{SmiOption{"-pl", "--power-limit"}};
constexpr std::array kGraphicsOptions{SmiOption{"-lgc", "--lock-gpu-clocks"},
                                      SmiOption{"-rgc", "--reset-gpu-clocks", true}};
constexpr std::array kMemoryOptions{SmiOption{"-lmc", "--lock-memory-clocks"},
                                    SmiOption{"-rmc", "--reset-memory-clocks", true}};
constexpr std::array kApplicationOptions{SmiOption{"-ac", "--applications-clocks"},
                                         SmiOption{"-rac", "--reset-applications-clocks", true}};
constexpr std::array kTemperatureOptions{SmiOption{"-gtt", "--gpu-target-temp"}};
constexpr std::array kEccOptions{SmiOption{"-e", "--ecc-config"}};
constexpr std::array kMigOptions{SmiOption{"-mig", "--multi-instance-gpu"}};
constexpr std::array kAccountingOptions{SmiOption{"-am", "--accounting-mode"}};
constexpr std::array kEccErrorOptions{SmiOption{"-p", "--reset-ecc-errors"}};
constexpr std::array kAccountedOptions{SmiOption{"-caa", "--clear-accounted-apps"}};
constexpr std::array kResetOptions{SmiOption{"-r", "--gpu-reset"}};

constexpr std::string_view kNoPermissionForClocks =
    "The current user does not have permission to change clocks for GPU {gpu}.";

constexpr std::array kRows{
    SettingRow{
        .kind = SettingKind::persistence,
        .word = "persistence",
        .name = "persistence mode",
        .takes = Takes::mode,
        .modes = kOnOff,
        .shown_by = kPersistenceMode,
        .smi_options = kPersistenceOptions,
        .smi = {.done = "{state} persistence mode for GPU {gpu}.",
                .refused = "Unable to set persistence mode for GPU {gpu}: {why}",
                .already = "Persistence mode is already {state} for GPU {gpu}.",
                .mode_name = "persistence mode"},
    },
    SettingRow{
        .kind = SettingKind::compute_mode,
        .word = "compute-mode",
        .name = "compute mode",
        .takes = Takes::mode,
        .modes = kComputeModes,
        .shown_by = kComputeMode,
        .smi_options = kComputeOptions,
        .smi = {.done = "Set compute mode to {mode} for GPU {gpu}.",
                .refused = "Unable to set compute mode for GPU {gpu}: {why}",
                .already = "Compute mode is already set to {mode} for GPU {gpu}.",
                .mode_name = "compute mode"},
    },
    SettingRow{
        .kind = SettingKind::power_limit,
        .word = "power-limit",
        .name = "power limit",
        .takes = Takes::watts,
        .shown_by = kPowerLimit,
        .default_value = device_metric("power_limit_default_watts"),
        .minimum = device_metric("power_limit_min_watts"),
        .maximum = device_metric("power_limit_max_watts"),
        .effect = Effect::until_unload,
        .smi_options = kPowerOptions,
        .smi = {.done = "Power limit for GPU {gpu} was set to {after:.2f} W from {before:.2f} W.",
                .refused = "Failed to set power management limit for GPU {gpu}: {why}",
                .unsupported = "Changing power management limit is not supported for GPU: {gpu}.",
                .out_of_range =
                    "Provided power limit {target:.2f} W is not a valid power limit which should be between "
                    "{minimum:.2f} W and {maximum:.2f} W for GPU {gpu}"},
    },
    SettingRow{
        .kind = SettingKind::graphics_clocks,
        .word = "clocks",
        .name = "graphics clocks",
        .takes = Takes::clocks,
        .effect = Effect::until_unload,
        .smi_options = kGraphicsOptions,
        .smi = {.done = "GPU clocks set to \"(gpuClkMin {low}, gpuClkMax {high})\" for GPU {gpu}",
                .refused = "Unable to {verb} GPU clocks for GPU {gpu}: {why}",
                .no_permission = kNoPermissionForClocks,
                .unsupported = "Setting locked GPU clocks is not supported for GPU {gpu}.",
                .format = "'gpuClkMin,gpuClkMax' or 'gpuClkVal' e.g. '--lock-gpu-clocks=1500,1500', "
                          "'--lock-gpu-clocks=1500', or '--lock-gpu-clocks=tdp,unlimited'"},
    },
    SettingRow{
        .kind = SettingKind::memory_clocks,
        .word = "memory-clocks",
        .name = "memory clocks",
        .takes = Takes::clocks,
        .effect = Effect::until_unload,
        .smi_options = kMemoryOptions,
        .smi = {.done = "Memory clocks set to \"(memClkMin {low}, memClkMax {high})\" for GPU {gpu}",
                .refused = "Unable to {verb} memory clocks for GPU {gpu}: {why}",
                .no_permission = kNoPermissionForClocks,
                .unsupported = "Setting locked Memory clocks is not supported for GPU {gpu}.",
                .format = "'memClkMin,memClkMax' or 'memClkVal' e.g. --lock-memory-clocks=5100,5100 or "
                          "--lock-memory-clocks=5100"},
    },
    SettingRow{
        .kind = SettingKind::application_clocks,
        .word = "application-clocks",
        .name = "application clocks",
        .takes = Takes::clock_pair,
        .effect = Effect::until_unload,
        .smi_options = kApplicationOptions,
        .smi = {.done = "Applications clocks set to \"(MEM {low}, SM {high})\" for GPU {gpu}",
                .refused = "Unable to {verb} applications clocks for GPU {gpu}: {why}",
                .no_permission = kNoPermissionForClocks,
                .unsupported = "Setting applications clocks is not supported for GPU {gpu}.",
                .invalid = "Specified clock combination \"(MEM {low}, SM {high})\" is not supported for GPU {gpu}. Run "
                           "'nvidia-smi -q -d SUPPORTED_CLOCKS' to see list of supported clock combinations",
                .format = "memClk,smClk e.g. --applications-clocks=2000,300"},
    },
    SettingRow{
        .kind = SettingKind::target_temperature,
        .word = "target-temperature",
        .name = "target temperature",
        .takes = Takes::celsius,
        .shown_by = kTargetTemperature,
        .minimum = detail_metric("temperature_target_min_celsius"),
        .maximum = detail_metric("temperature_target_max_celsius"),
        .effect = Effect::until_unload,
        .smi_options = kTemperatureOptions,
        .smi = {.done = "GPU Target Temperature Threshold for GPU {gpu} was set to {after:.0f} C from {before:.0f} C.",
                .refused = "Unable to set GPU Target Temperature Threshold for GPU {gpu}: {why}",
                .unsupported = "GPU Target Temperature Threshold not supported for GPU {gpu}.",
                .out_of_range = "Provided GPU Target Temperature Threshold {target:.0f} C is not between {minimum:.0f} "
                                "C and {maximum:.0f} C for GPU {gpu}"},
    },
    SettingRow{
        .kind = SettingKind::ecc,
        .word = "ecc",
        .name = "ECC mode",
        .takes = Takes::mode,
        .modes = kOnOff,
        .shown_by = kEccMode,
        .effect = Effect::after_restart,
        .smi_options = kEccOptions,
        .smi = {.done = "{state} ECC support for GPU {gpu}.",
                .refused = "Unable to {verb} ECC support for GPU {gpu}: {why}",
                .already = "ECC support is already {state} for GPU {gpu}.",
                .mode_name = "ECC configuration code"},
    },
    SettingRow{
        .kind = SettingKind::mig,
        .word = "mig",
        .name = "MIG mode",
        .takes = Takes::mode,
        .modes = kOnOff,
        .shown_by = kMigMode,
        .smi_options = kMigOptions,
        .smi = {.done = "{state} MIG Mode for GPU {gpu}",
                .refused = "Unable to {verb} MIG Mode for GPU {gpu}: {why}",
                .waits = "Warning: MIG mode is in pending {verb} state for GPU {gpu}:{why}\n"
                         "Reboot the system or try nvidia-smi --gpu-reset to make MIG mode effective on GPU {gpu}",
                .waits_in_use =
                    "Warning: MIG mode is in pending {verb} state for GPU {gpu}:{why}\n"
                    "{gpu} is currently being used by one or more other processes (e.g. CUDA application or a "
                    "monitoring application such as another instance of nvidia-smi). Please first kill all processes "
                    "using the device and retry the command or reboot the system to make MIG mode effective.",
                .mode_name = "MIG Mode"},
    },
    SettingRow{
        .kind = SettingKind::accounting,
        .word = "accounting",
        .name = "accounting mode",
        .takes = Takes::mode,
        .modes = kOnOff,
        .shown_by = kAccountingMode,
        .smi_options = kAccountingOptions,
        .smi = {.done = "{state} Accounting Mode for GPU {gpu}.",
                .refused = "Unable to {verb} Accounting Mode for GPU {gpu}: {why}",
                .already = "Accounting Mode is already {state} for GPU {gpu}.",
                .mode_name = "accounting mode"},
    },
    SettingRow{
        .kind = SettingKind::ecc_errors,
        .word = "clear-ecc-errors",
        .name = "ECC error counts",
        .takes = Takes::which,
        .modes = kErrorCounts,
        .smi_options = kEccErrorOptions,
        .smi = {.done = "Reset {state} ECC errors to zero for GPU {gpu}.",
                .refused = "Unable to reset {state} ECC errors for GPU {gpu}: {why}",
                .unsupported = "Resetting ECC errors is not supported for GPU {gpu}.",
                .mode_name = "ECC type"},
        .action = {.intention = "Clear the {which} ECC error counts of {devices}",
                   .done = "{which} ECC error counts cleared",
                   .failed = "{which} ECC error counts not cleared"},
    },
    SettingRow{
        .kind = SettingKind::accounted_processes,
        .word = "clear-accounting",
        .name = "accounted processes",
        .takes = Takes::nothing,
        .smi_options = kAccountedOptions,
        .smi = {.done = "Cleared Accounted PIDs for GPU {gpu}.",
                .refused = "Unable to clear Accounted PIDs for GPU {gpu}: {why}",
                .unsupported = "Clearing Accounted PIDs is not supported for GPU {gpu}."},
        .action = {.intention = "Forget the accounted processes of {devices}",
                   .done = "accounted processes forgotten",
                   .failed = "accounted processes not forgotten"},
    },
    SettingRow{
        .kind = SettingKind::reset,
        .word = "reset",
        .name = "reset",
        .takes = Takes::nothing,
        .only_when_idle = true,
        .smi_options = kResetOptions,
        .smi = {.done = "GPU {gpu} was successfully reset.",
                .refused = "Unable to reset GPU {gpu}: {why}",
                .unsupported = "Resetting GPU {gpu} is not supported."},
        .action = {.intention = "Reset {devices}", .done = "reset", .failed = "not reset"},
    },
};

constexpr bool in_order_of_kinds() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].kind) != i) return false;
  }
  return kRows.size() == kSettingKinds;
}
static_assert(in_order_of_kinds(), "each SettingKind has one row, in the order of the kinds");

}  // namespace

std::span<const SettingRow> setting_rows() { return kRows; }

const SettingRow &row_of(SettingKind kind) { return kRows[static_cast<std::size_t>(kind)]; }

const Mode *find_mode(const SettingRow &row, double value) {
  const auto found =
      std::find_if(row.modes.begin(), row.modes.end(), [&](const Mode &mode) { return mode.value == value; });
  return found == row.modes.end() ? nullptr : &*found;
}

}  // namespace gpulse::control
