// SPDX-License-Identifier: Apache-2.0
// Findings about the device itself: what holds it back, what is broken.
#pragma once

#include "insight/catalogue.hpp"

namespace gpulse::insight {

inline constexpr FindingKind kHardwareRows[] = {
    {.id = FindingId::throttled_power,
     .word = "throttled-power",
     .title = "held back by the power limit",
     .aliases = {"power-cap"},
     .meaning =
         "The GPU lowers its clocks to stay below its power limit. At full load that is how most boards are meant to "
         "work, and then it is only a note. It is a problem where somebody has set the limit below the default.",
     .told = "The driver names the power cap as the reason for lower clocks, or counts time held back by it, while the "
             "GPU is busy.",
     .confirm =
         "Compare power_limit_watts with power_limit_default_watts; on NVIDIA `nvidia-smi -q -d PERFORMANCE,POWER` "
         "has both in words.",
     .fix = {"If the limit is below the default, set it back: `gpulse set power-limit default`.",
             "If it is at the default, leave it: a few per cent of the clock are all there is to win.",
             "Less power for the same work: mixed precision, fewer bytes moved."},
     .helped = "Run it again under `gpulse run -- CMD`: clock_sm_mhz should be nearer to its maximum",
     .see_also = {"throttle_reasons", "power_draw_watts", "power_limit_watts", "power_limit_default_watts",
                  "throttled_power_percent", "clock_sm_mhz"}},

    {.id = FindingId::throttled_thermal,
     .word = "throttled-thermal",
     .title = "held back by its temperature",
     .aliases = {"overheating", "too-hot"},
     .meaning =
         "The GPU lowers its clocks because it, or its memory, is too hot. It loses speed now and life in the long "
         "run.",
     .told = "The driver names heat as the reason for lower clocks, or counts time held back by it.",
     .confirm =
         "Watch temperature and clocks in `gpulse top` while the load starts: the clocks fall when the temperature "
         "reaches its limit.",
     .fix = {"Check the air: fans, dust, blocked slots, cables in the way, the temperature of the room.",
             "On servers check the fan profile of the machine and whether blanking panels are missing.",
             "Until then a lower power limit loses less than throttling does.",
             "An old board may need new thermal paste or pads."},
     .helped = "Run it again under `gpulse run -- CMD`: no time should be lost to heat",
     .see_also = {"temperature_gpu_celsius", "temperature_memory_celsius", "fan_speed_percent", "throttle_reasons",
                  "throttled_thermal_percent"}},

    {.id = FindingId::throttled_hardware,
     .word = "throttled-hardware",
     .title = "held back by the hardware",
     .aliases = {"power-brake", "hw-slowdown"},
     .meaning =
         "The board itself has cut the clocks, often to a half or less: because the power supply asked for it (power "
         "brake), because a power cable is missing or weak, or as the last protection against heat.",
     .told = "The driver names a hardware slowdown or the power brake as the reason for lower clocks, or counts time "
             "of it.",
     .confirm =
         "On NVIDIA `nvidia-smi -q -d PERFORMANCE` names the reason; the machine's management controller (BMC) logs "
         "events of its power supplies.",
     .fix = {"Check the power cables of the board and the power supplies: one of two may have failed.",
             "Check the machine's power cap, in its management controller and in the rack.",
             "If the board is hot as well, do what `gpulse explain throttled-thermal` says.",
             "If it stays, have the board replaced."},
     .helped = "Run it again under `gpulse run -- CMD`: throttle_reasons should not name the hardware any more",
     .see_also = {"throttle_reasons", "throttled_power_brake_seconds", "throttled_hw_thermal_seconds", "clock_sm_mhz"}},

    {.id = FindingId::link_degraded,
     .word = "link-degraded",
     .title = "the PCIe link is slower than it could be",
     .aliases = {"pcie-link"},
     .meaning =
         "The link between GPU and host runs with fewer lanes or at a lower generation than both ends could. Copies "
         "take longer by the same factor. Idle GPUs lower the generation to save power: only a link under load "
         "counts.",
     .told = "Under load, pcie_link_width or pcie_link_generation is below its maximum; for the generation, what the "
             "slot can do counts too.",
     .confirm = "`lspci -vv` (as root) shows LnkCap and LnkSta of the GPU and of every bridge above it.",
     .fix =
         {"Fewer lanes: reseat the card, clean the contacts, try another slot; check whether a neighbour takes half of "
          "the slot's lanes.",
          "Lower generation: check the slot's setting in the BIOS; risers and long cables often force it down.",
          "Many replays besides (pcie_replay_total): the signal is bad; replace riser or cable."},
     .helped = "`gpulse` under load again: link generation and width should be at their maximum",
     .see_also = {"pcie_link_width", "pcie_link_width_max", "pcie_link_generation", "pcie_link_generation_max",
                  "pcie_replay_total"}},

    {.id = FindingId::health,
     .word = "health",
     .title = "the hardware needs attention",
     .aliases = {"ecc", "unhealthy"},
     .meaning =
         "The driver reports errors of the device: memory errors that could not be corrected, rows of memory that "
         "were replaced or can no longer be, an error number (XID), or that a reset is needed. Results may be wrong "
         "or the next job may fail.",
     .told =
         "Row remapping has failed or is pending, there are uncorrected memory errors, the driver asks for a recovery "
         "action, or an XID came that is not a program's own fault.",
     .confirm =
         "`gpulse explain xid N` for an XID, `dmesg | grep -i xid` for the driver's words; a diagnosis program of the "
         "vendor (`dcgmi diag -r 3`) tests the board.",
     .fix = {"Take the GPU out of work when it can be spared.",
             "Repairs that are pending take effect at a reset: `gpulse set reset -i N` with nobody on the GPU, or a "
             "restart of the machine.",
             "If the repair has failed or errors come again, have the board replaced."},
     .helped = "`gpulse` again after the reset: no pending repair and no new errors",
     .see_also = {"xid_last", "recovery_action", "remapped_rows_pending", "remapped_rows_failure",
                  "ecc_uncorrected_volatile_total"}},
};

}  // namespace gpulse::insight
