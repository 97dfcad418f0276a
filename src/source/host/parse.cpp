// SPDX-License-Identifier: Apache-2.0
#include "source/host/parse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.hpp"

namespace gpulse::host {

namespace {

// /proc/diskstats always counts in these, whatever the disk's sector size.
constexpr std::uint64_t kSectorBytes = 512;

std::optional<double> amount(std::string_view word) {
  const auto value = parse_double(word);
  if (!value || !std::isfinite(*value) || std::signbit(*value)) return std::nullopt;
  return value;
}

bool parse_cpu_times(std::string_view rest, CpuTimes &out) {
  // The first kernels had four fields; later ones only added more.
  constexpr std::size_t kLeast = 4;
  out.fill(0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto word = next_word(rest);
    if (word.empty()) return i >= kLeast;
    const auto ticks = parse_integer<std::uint64_t>(word);
    if (!ticks) return false;
    out[i] = *ticks;
  }
  return true;
}

// "ctxt 4711": the lines of all that is wanted come in this order, most of them after a long one that is not.
bool parse_tasks(std::string_view text, TaskCounts &out) {
  out = {};
  const std::pair<std::string_view, std::optional<std::uint64_t> *> wanted[] = {
      {"intr", &out.interrupts},
      {"ctxt", &out.context_switches},
      {"procs_running", &out.running},
      {"procs_blocked", &out.blocked},
  };
  while (!text.empty() && !out.blocked) {
    auto line = next_piece(text, '\n');
    const auto name = next_word(line);
    for (const auto &[key, count] : wanted) {
      if (name != key) continue;
      *count = parse_integer<std::uint64_t>(next_word(line));
      if (!*count) return false;
    }
  }
  // Whoever reads this is a running task that was switched to: a kernel that says 0 does not count.
  if (out.interrupts == 0) out.interrupts.reset();
  if (out.context_switches == 0) out.context_switches.reset();
  if (out.running == 0) out.running = out.blocked = std::nullopt;
  return true;
}

// "MemTotal:       16384 kB"
std::optional<double> kilobytes(std::string_view rest) { return amount(next_word(rest)); }

bool skip_words(std::string_view &rest, int count) {
  for (int i = 0; i < count; ++i) {
    if (next_word(rest).empty()) return false;
  }
  return true;
}

}  // namespace

bool parse_stat(std::string_view text, StatText &out) {
  out.cores.clear();
  bool found = false;
  while (text.starts_with("cpu")) {
    auto line = next_piece(text, '\n');
    auto name = next_word(line);
    name.remove_prefix(3);
    if (name.empty()) {
      if (!parse_cpu_times(line, out.all)) return false;
      found = true;
      continue;
    }
    CoreTimes core;
    const auto id = parse_integer<std::uint32_t>(name);
    if (!id || !parse_cpu_times(line, core.times)) return false;
    core.id = *id;
    out.cores.push_back(core);
  }
  return found && parse_tasks(text, out.tasks);
}

std::optional<std::array<double, 3>> parse_loadavg(std::string_view text) {
  std::array<double, 3> load{};
  for (auto &value : load) {
    const auto read = amount(next_word(text));
    if (!read) return std::nullopt;
    value = *read;
  }
  return load;
}

std::optional<Memory> parse_meminfo(std::string_view text) {
  std::optional<double> total, available, free, buffers, cached, reclaimable, shared, swap_total, swap_free;
  const std::pair<std::string_view, std::optional<double> *> wanted[] = {
      {"MemTotal:", &total},  {"MemAvailable:", &available}, {"MemFree:", &free},
      {"Buffers:", &buffers}, {"Cached:", &cached},          {"SReclaimable:", &reclaimable},
      {"Shmem:", &shared},    {"SwapTotal:", &swap_total},   {"SwapFree:", &swap_free}};
  auto missing = std::size(wanted);
  while (!text.empty() && missing > 0) {
    auto line = next_piece(text, '\n');
    const auto name = next_word(line);
    for (const auto &[key, value] : wanted) {
      if (name != key || *value) continue;
      *value = kilobytes(line);
      if (!*value) return std::nullopt;
      --missing;
    }
  }
  // Kernels before 3.14 have no MemAvailable.
  if (!available && free && buffers && cached) available = *free + *buffers + *cached;
  // Kernels before 2.6.19 do not tell it apart.
  if (cached && reclaimable) *cached += *reclaimable;
  const auto bytes = [](std::optional<double> kilobytes) -> std::optional<double> {
    constexpr double kUnit = 1024;
    return kilobytes && std::isfinite(*kilobytes * kUnit) ? std::optional(*kilobytes * kUnit) : std::nullopt;
  };
  const auto total_bytes = bytes(total);
  const auto available_bytes = bytes(available);
  if (!total_bytes || !available_bytes) return std::nullopt;
  Memory memory{.total_bytes = *total_bytes,
                .available_bytes = *available_bytes,
                .free_bytes = bytes(free),
                .buffers_bytes = bytes(buffers),
                .cached_bytes = bytes(cached),
                .shared_bytes = bytes(shared),
                .swap_total_bytes = bytes(swap_total),
                .swap_free_bytes = bytes(swap_free)};
  if (!memory.swap_total_bytes || !memory.swap_free_bytes) memory.swap_total_bytes = memory.swap_free_bytes = {};
  return memory;
}

std::optional<SwappedPages> parse_vmstat(std::string_view text) {
  SwappedPages pages;
  const std::pair<std::string_view, std::optional<std::uint64_t> *> wanted[] = {{"pswpin", &pages.in},
                                                                                {"pswpout", &pages.out}};
  bool counters = false;
  // Two of two hundred lines: nothing behind them is looked at.
  while (!text.empty() && (!pages.in || !pages.out)) {
    auto line = next_piece(text, '\n');
    const auto name = next_word(line);
    if (counters && !name.starts_with("pswp")) continue;
    const auto count = parse_integer<std::uint64_t>(next_word(line));
    if (!count || !next_word(line).empty()) return std::nullopt;
    counters = true;
    for (const auto &[key, value] : wanted) {
      if (name == key) *value = count;
    }
  }
  if (!counters) return std::nullopt;
  return pages;
}

bool parse_diskstats(std::string_view text, std::vector<Flow> &out) {
  constexpr auto kMax = std::numeric_limits<std::uint64_t>::max() / kSectorBytes;
  out.clear();
  while (!text.empty()) {
    auto line = next_piece(text, '\n');
    if (trim(line).empty()) continue;
    if (!skip_words(line, 2)) return false;
    const auto name = next_word(line);
    if (!skip_words(line, 2)) return false;
    const auto read = parse_integer<std::uint64_t>(next_word(line));
    if (!skip_words(line, 3)) return false;
    const auto written = parse_integer<std::uint64_t>(next_word(line));
    if (!read || !written || *read > kMax || *written > kMax) return false;
    out.push_back({name, *read * kSectorBytes, *written * kSectorBytes});
  }
  return true;
}

bool parse_net_dev(std::string_view text, std::vector<Flow> &out) {
  out.clear();
  while (!text.empty()) {
    auto line = next_piece(text, '\n');
    const bool heading = line.find('|') != std::string_view::npos;
    if (heading || trim(line).empty()) continue;
    // The last colon: an alias such as eth0:1 has one in its name, the numbers have none.
    const auto colon = line.rfind(':');
    if (colon == std::string_view::npos) return false;
    const auto name = trim(line.substr(0, colon));
    line.remove_prefix(colon + 1);
    const auto received = parse_integer<std::uint64_t>(next_word(line));
    if (!skip_words(line, 7)) return false;
    const auto sent = parse_integer<std::uint64_t>(next_word(line));
    if (name.empty() || !received || !sent) return false;
    out.push_back({name, *received, *sent});
  }
  return true;
}

std::optional<Pressure> parse_pressure(std::string_view text) {
  constexpr std::string_view kTen = "avg10=";
  std::optional<double> some, full;
  while (!text.empty()) {
    auto line = next_piece(text, '\n');
    const auto kind = next_word(line);
    auto average = next_word(line);
    if (kind != "some" && kind != "full") continue;
    if (!average.starts_with(kTen)) return std::nullopt;
    average.remove_prefix(kTen.size());
    const auto value = amount(average);
    if (!value || *value > 100) return std::nullopt;
    (kind == "some" ? some : full) = value;
  }
  if (!some) return std::nullopt;
  return Pressure{*some, full};
}

std::optional<double> parse_uptime(std::string_view text) { return amount(next_word(text)); }

}  // namespace gpulse::host
