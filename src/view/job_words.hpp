// SPDX-License-Identifier: Apache-2.0
// What the text and the HTML of a job's report say in the same words. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "insight/job_price.hpp"
#include "insight/job_report.hpp"

namespace gpulse::view {

// "python train.py", quoted where a shell would need it; safe to print.
std::string command_words(const insight::JobReport &report);
// "ended well", "failed with exit code 3", "was ended by signal 15 (TERM)".
std::string end_words(const insight::JobEnd &how);
// "12.3 Wh", "1.52 kWh", "840 J".
std::string energy_words(double joules);
// "12.1–12.5 Wh"; `dash` stands between.
std::string bounds_words(const insight::JobEnergy &energy, std::string_view dash);
std::string price_words(const insight::Price &price, double joules);
// Why there is nothing to say about a GPU; empty where there is.
std::string no_gpu_words(const insight::JobReport &report);
// "start-up 0:41, busy 11:20, stalled 0:30 (2 times)"; empty where there is only one.
std::string phase_words(const insight::JobReport &report);
// "3.2 cores of 16 in the mean, 38:01 CPU time".
std::string cpu_words(const insight::JobReport &report);
std::string io_words(const insight::JobReport &report);
std::string neighbour_words(const insight::JobReport &report, std::size_t most);
// The numbers that it rests on; what it costs is said in words of its own.
std::vector<std::string> evidence_words(const insight::Finding &finding);
// "0:12–3:40" of a finding that did not last all the time, "all the time" else.
std::string when_words(const insight::JobReport &report, const insight::JobFinding &finding, std::string_view dash);

}  // namespace gpulse::view
