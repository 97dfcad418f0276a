// SPDX-License-Identifier: Apache-2.0
#include "source/host/self.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "base/sysroot.hpp"
#include "base/text.hpp"
#include "source/api/errno_reason.hpp"

namespace gpulse::host {

namespace {

std::chrono::microseconds length(const timeval &time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

Reading resident_bytes(KeptFile &file) {
  std::string text;
  if (!file.read(text, Sysroot(), "/proc/self/statm", 256)) return errno_reason(errno);
  std::string_view rest = text;
  next_word(rest);
  const auto pages = parse_integer<std::uint64_t>(next_word(rest));
  if (!pages) return Reason::error;
  return static_cast<double>(*pages) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

void read_self(Row &self, SelfUse &before, Monotonic now) {
  constexpr auto kShortest = std::chrono::milliseconds(20);
  if (before.at && now - *before.at < kShortest) return;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto cpu = length(usage.ru_utime) + length(usage.ru_stime);
  auto &percent = self[self_metric("cpu_percent")];
  percent = Reason::not_sampled;
  if (before.at) percent = std::max(0.0, 100 * Seconds(cpu - before.cpu).count() / Seconds(now - *before.at).count());
  self[self_metric("memory_bytes")] = resident_bytes(before.memory);
  before.at = now;
  before.cpu = cpu;
}

}  // namespace gpulse::host
