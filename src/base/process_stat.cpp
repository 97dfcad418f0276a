// SPDX-License-Identifier: Apache-2.0
#include "base/process_stat.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/clock.hpp"
#include "base/text.hpp"

namespace gpulse {

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  // Counted from the state, which is field 3 in proc(5).
  constexpr std::size_t kParent = 1, kUserTime = 11, kSystemTime = 12, kChildrenUser = 13, kChildrenSystem = 14,
                        kNice = 16, kThreads = 17, kStart = 19, kResident = 21;
  constexpr std::uint64_t kUsed = 1U << kParent | 1U << kUserTime | 1U << kSystemTime | 1U << kChildrenUser |
                                  1U << kChildrenSystem | 1U << kNice | 1U << kThreads | 1U << kStart | 1U << kResident;
  const auto open = text.find('(');
  // The name may hold brackets and line ends itself: nothing after the last bracket does.
  const auto *last = static_cast<const char *>(::memrchr(text.data(), ')', text.size()));
  const auto close = last != nullptr ? static_cast<std::size_t>(last - text.data()) : 0;
  if (open == std::string_view::npos || close < open) return std::nullopt;
  ProcessStat stat;
  stat.name = text.substr(open + 1, close - open - 1);
  auto rest = text.substr(close + 1);
  const auto state = next_word(rest);
  if (state.size() != 1) return std::nullopt;
  stat.state = state.front();
  std::array<std::int64_t, kResident + 1> fields{};
  for (std::size_t i = 1; i < fields.size(); ++i) {
    const auto word = next_word(rest);
    if ((kUsed >> i & 1U) == 0) continue;
    const auto value = parse_integer<std::int64_t>(word);
    if (!value) return std::nullopt;
    fields[i] = *value;
  }
  const auto count = [&](std::size_t field) {
    return fields[field] > 0 ? static_cast<std::uint64_t>(fields[field]) : 0;
  };
  stat.parent = static_cast<std::uint32_t>(count(kParent));
  stat.cpu_ticks = count(kUserTime) + count(kSystemTime);
  stat.children_cpu_ticks = count(kChildrenUser) + count(kChildrenSystem);
  stat.nice = static_cast<int>(fields[kNice]);
  stat.threads = count(kThreads);
  stat.start_ticks = count(kStart);
  stat.resident_pages = count(kResident);
  stat.rest = rest;
  return stat;
}

std::optional<std::uint64_t> disk_wait_ticks(const ProcessStat &stat) {
  // Field 42 in proc(5); `rest` begins with field 25.
  constexpr int kBefore = 42 - 25;
  auto rest = stat.rest;
  for (int i = 0; i < kBefore; ++i) next_word(rest);
  return parse_integer<std::uint64_t>(next_word(rest));
}

std::optional<ProcessIo> parse_process_io(std::string_view text) {
  std::optional<std::uint64_t> read, written;
  while (!text.empty() && (!read || !written)) {
    auto line = next_piece(text, '\n');
    const auto name = next_word(line);
    if (name == "read_bytes:") read = parse_integer<std::uint64_t>(next_word(line));
    if (name == "write_bytes:") written = parse_integer<std::uint64_t>(next_word(line));
  }
  if (!read || !written) return std::nullopt;
  return ProcessIo{.read_bytes = *read, .written_bytes = *written};
}

double ticks_per_second() {
  static const auto kTicks = static_cast<double>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
  return kTicks;
}

std::chrono::nanoseconds from_ticks(std::uint64_t ticks) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Seconds(static_cast<double>(ticks) / ticks_per_second()));
}

double page_bytes() {
  static const auto kBytes = static_cast<double>(std::max(1L, ::sysconf(_SC_PAGESIZE)));
  return kBytes;
}

}  // namespace gpulse
