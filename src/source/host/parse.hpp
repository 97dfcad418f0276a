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

// What the kernel does not tell of is none.
struct TaskCounts {
  std::optional<std::uint64_t> interrupts;  // since boot
  std::optional<std::uint64_t> context_switches;
  std::optional<std::uint64_t> running;  // at the moment
  std::optional<std::uint64_t> blocked;
};

struct StatText {
  CpuTimes all{};
  std::vector<CoreTimes> cores;  // those that are switched on
  TaskCounts tasks;
};
bool parse_stat(std::string_view text, StatText &out);

// Over 1, 5 and 15 minutes.
std::optional<std::array<double, 3>> parse_loadavg(std::string_view text);

struct Memory {
  double total_bytes = 0;
  double available_bytes = 0;
  std::optional<double> free_bytes;
  std::optional<double> buffers_bytes;
  std::optional<double> cached_bytes;  // what the kernel can give back of its own tables included, as `free` has it
  std::optional<double> shared_bytes;
  std::optional<double> swap_total_bytes;  // none: the kernel has no swap
  std::optional<double> swap_free_bytes;
};
std::optional<Memory> parse_meminfo(std::string_view text);

// Pages moved between memory and swap space since boot; none: the kernel has no swap.
struct SwappedPages {
  std::optional<std::uint64_t> in;
  std::optional<std::uint64_t> out;
};
std::optional<SwappedPages> parse_vmstat(std::string_view text);

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
