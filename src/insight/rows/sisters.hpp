// SPDX-License-Identifier: Apache-2.0
// Remarks about a GPU beside its sisters, in the order of RemarkId.
#pragma once

#include "insight/catalogue.hpp"

namespace gpulse::insight {

inline constexpr FindingKind kSisterRows[] = {
    {.word = "job-straggler",
     .title = "holds its job back",
     .meaning =
         "One GPU of a job on several hosts is clearly apart from the others, and there is a reason to take it for the "
         "one that they wait for: its hardware is slower, or it alone is busy while all others wait. In training "
         "that keeps step, every GPU loses what this one does.",
     .told =
         "The true activity of the job's GPUs over ten minutes (utilization and power where nobody tells that) is "
         "compared with the median of the others. Apart means 25 points and three tenths, and five times the usual "
         "spread. A lower clock, heat, the power brake, a slower link or an error of the driver explain it; so does "
         "being the only one, and 40 points busier than the rest.",
     .confirm =
         "Run the job without this GPU's host, or exchange two ranks: if the slow one stays where it is, it is the "
         "hardware; if it moves with the rank, it is the work.",
     .fix = {"Mend what the remark names: heat, power, link, errors. `gpulse explain` has a page for each.",
             "Take the host out of work until then: the job gains more than the GPU gives.",
             "If nothing is wrong with the GPU, give its rank less work, or equal shards."},
     .helped = "`gpulse fleet --by job` ten minutes later: the remark should be gone and SM% of the job higher",
     .see_also = {"sm_active_percent", "clock_graphics_mhz", "throttle_reasons", "power_draw_watts"}},

    {.word = "job-differs",
     .title = "differs from the rest of its job",
     .meaning =
         "A GPU of a job on several hosts does clearly more or less than the others, and nothing says that it is its "
         "hardware. It may have other work by design (a stage of a pipeline, a parameter server), too little of it, or "
         "its host feeds it more slowly.",
     .told =
         "As for job-straggler, where no reason is known. Nothing is said where more than a quarter of the job's GPUs "
         "are apart: then that is how the job works.",
     .confirm =
         "Look at what its host says: `gpulse fleet --filter job=NAME`, and `gpulse diagnose` there while it runs.",
     .fix = {"Compare the hosts: free cores, where the data comes from, other jobs.",
             "Give every rank the same amount: shards of equal size, samples of similar length."},
     .helped = "`gpulse fleet --by job` ten minutes later: the remark should be gone",
     .see_also = {"sm_active_percent", "gpu_utilization_percent", "power_draw_watts"}},

    {.word = "slower-clock",
     .title = "slower clocked than its sisters",
     .aliases = {"slow-clock"},
     .meaning =
         "A GPU that is as busy as others of its model runs at a clearly lower clock, and it does not draw more power, "
         "which would explain that. What runs on it takes longer by about the same factor.",
     .told =
         "Of all GPUs of the model that were at least 85 % busy for ten minutes, at least six: the clock in the middle "
         "of these minutes is a tenth below the median of the others, and five times the usual spread. It is a problem "
         "from a quarter on, or where the agent of the host names heat or the hardware as the reason.",
     .confirm =
         "`gpulse` on the host under load shows clock, throttle reasons, temperature and power limit of the GPU.",
     .fix = {"If the agent names a reason (throttled-thermal, throttled-hardware), begin there.",
             "Clocks that somebody has locked are free again after `gpulse set clocks default`.",
             "Compare its power limit with that of its sisters.", "If a reset does not help, have the board tested."},
     .helped = "`gpulse fleet --filter remark=slower-clock` ten minutes later should be empty",
     .see_also = {"clock_graphics_mhz", "throttle_reasons", "power_draw_watts", "power_limit_watts"}},

    {.word = "hotter",
     .title = "hotter than its sisters",
     .meaning = "A GPU is clearly hotter than others of its model that draw about the same power: less air or water "
                "reaches it. It is the next to be throttled, and ages faster.",
     .told =
         "Of all GPUs of the model that were at least 85 % busy for ten minutes, those within about a tenth of its "
         "power, "
         "at least six: its temperature is 10 °C above the median of the others, and five times the usual spread. It "
         "is a problem from 20 °C on, where the agent names heat as a reason for lower clocks, and where the "
         "temperature is bad in itself.",
     .confirm = "Move the load to a sister in another host: if that stays cooler at the same power, it is the place or "
                "the board.",
     .fix = {"Check the air of the host: fans, filters, blanking panels, cables; or flow and temperature of the water.",
             "Compare the hosts around it: a hot spot of the room warms several.",
             "An old board may need its cooler seated anew."},
     .helped = "`gpulse fleet --filter remark=hotter` ten minutes later should be empty",
     .see_also = {"temperature_gpu_celsius", "power_draw_watts", "fan_speed_percent", "throttle_reasons"}},

    {.word = "lower-limit",
     .title = "allowed less than its sisters",
     .aliases = {"low-limit"},
     .meaning = "The power limit or the highest clock of a GPU is set clearly lower than that of others of its model. "
                "That may be wanted; often it is a setting that was forgotten, or a board of another make.",
     .told =
         "power_limit_watts or clock_max_graphics_mhz is a tenth below the median of the others, at least five, and "
         "no more than a quarter of them have so little. It is a problem from three tenths on.",
     .confirm = "`gpulse smi -q -d POWER,CLOCK` on the host shows the limit, its default and what is possible.",
     .fix = {"If nobody wants it: `gpulse set power-limit default` on the host.",
             "Set limits where hosts are set up, so that all have the same after a restart."},
     .helped = "`gpulse fleet --filter remark=lower-limit` should be empty a minute later",
     .see_also = {"power_limit_watts", "power_limit_default_watts", "clock_max_graphics_mhz"}},

    {.word = "slower-link",
     .title = "slower PCIe link than its sisters",
     .aliases = {"slow-link"},
     .meaning = "The link between a GPU and its host has fewer lanes or a lower generation than that of others of its "
                "model. Copies, and traffic to other hosts, take longer by the same factor.",
     .told =
         "Of all GPUs of the model that were in use in the last ten minutes, at least six: the best generation and "
         "width that the link had in this time is below the median of the others, and no more than a quarter of them "
         "have so little. It is a problem where a quarter of the speed or less is left.",
     .confirm = "`lspci -vv` (as root) on both hosts: LnkCap and LnkSta of the GPU and of every bridge above it.",
     .fix =
         {"Where the agent says link-degraded too, the slot could do more: reseat the card, try another riser.",
          "Where it does not, the slot is a slower one: another slot, another setting in the BIOS, or another host."},
     .helped = "`gpulse fleet --filter remark=slower-link` under load should be empty",
     .see_also = {"pcie_link_generation", "pcie_link_width", "pcie_link_generation_max", "pcie_link_width_max"}},
};

}  // namespace gpulse::insight
