// SPDX-License-Identifier: Apache-2.0
// Parsers for the kernel's files about the machine (/proc/stat, /proc/meminfo, …). Pure functions: no file, no state.
// They never return a negative, infinite or NaN value; a text that cannot be parsed gives no result at all.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gpulse::host {

// Clock ticks per state since boot. Guest time is part of user and nice already.
struct CpuField {
  enum : std::uint8_t { user, nice, system, idle, iowait, irq, softirq, steal };
};
using CpuTimes = std::array<std::uint64_t, 8>;

struct CoreTimes {
  std::uint32_t id = 0;
  CpuTimes times{};
};

struct CpuText {
  CpuTimes all{};
  std::vector<CoreTimes> cores;  // those that are switched on
};
bool parse_stat(std::string_view text, CpuText &out);

// Over 1, 5 and 15 minutes.
std::optional<std::array<double, 3>> parse_loadavg(std::string_view text);

struct Memory {
  double total_bytes = 0;
  double available_bytes = 0;
  std::optional<double> swap_total_bytes;  // none: the kernel has no swap
  std::optional<double> swap_free_bytes;
};
std::optional<Memory> parse_meminfo(std::string_view text);

// Bytes that a disk or an interface has moved since boot; the name points into the text.
struct Flow {
  std::string_view name;
  std::uint64_t in = 0;
  std::uint64_t out = 0;
};
bool parse_diskstats(std::string_view text, std::vector<Flow> &out);
bool parse_net_dev(std::string_view text, std::vector<Flow> &out);

// Percent of the last ten seconds in which some, or all, tasks were stalled.
struct Pressure {
  double some_percent = 0;
  std::optional<double> full_percent;
};
std::optional<Pressure> parse_pressure(std::string_view text);

std::optional<double> parse_uptime(std::string_view text);

}  // namespace gpulse::host
