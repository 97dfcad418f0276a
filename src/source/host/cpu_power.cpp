// SPDX-License-Identifier: Apache-2.0
#include "source/host/cpu_power.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "source/api/errno_reason.hpp"
#include "source/sysfs/attribute.hpp"

namespace gpulse::host {

namespace {

constexpr std::string_view kFolder = "/sys/class/powercap/";
constexpr double kMicro = 1e-6;

// One missing part makes the sum unknown: one of two sockets is not the machine.
void add(Reading &sum, bool first, const Reading &more) {
  if (first) {
    sum = more;
  } else if (sum) {
    sum = more ? Reading(sum.value() + more.value()) : more;
  }
}

}  // namespace

Reading power_between(std::uint64_t before, std::uint64_t now, std::uint64_t range, Seconds elapsed) {
  // More than any socket draws: the counter did not wrap but was reset, as after the machine has slept.
  constexpr double kMaxWatts = 5000;
  if (now < before && before > range) return Reason::not_sampled;
  // A running processor always draws power: a counter that stands still, as in virtual machines, does not count.
  if (now == before) return Reason::out_of_range;
  const auto used = now > before ? now - before : range - before + now;
  const double watts = static_cast<double>(used) * kMicro / elapsed.count();
  return watts <= kMaxWatts ? Reading(watts) : Reason::not_sampled;
}

// "intel-rapl:0" is a socket (of AMD too), "intel-rapl:0:2" a part of it; "intel-rapl-mmio:0" is the same socket again,
// and "psys" the whole machine.
void CpuPower::find(const Sysroot &root) {
  counters_.clear();
  for (const auto &entry : root.list(kFolder)) {
    if (!entry.starts_with("intel-rapl:")) continue;
    const auto folder = std::string(kFolder) + entry;
    const auto name = sysfs::read_word(root, folder + "/name");
    if (!name.starts_with("package") && name != "dram") continue;
    counters_.push_back({.file = folder + "/energy_uj",
                         .memory = name == "dram",
                         .range = root.read_number(folder + "/max_energy_range_uj").value_or(0),
                         .before = {}});
  }
}

Reading CpuPower::advance(const Sysroot &root, Counter &counter, Seconds elapsed) {
  const auto before = std::exchange(counter.before, std::nullopt);
  const auto text = root.read(counter.file, 64);
  if (!text) return errno_reason(errno);
  counter.before = parse_integer<std::uint64_t>(trim(*text));
  if (!counter.before) return Reason::error;
  if (!before) return Reason::not_sampled;
  return power_between(*before, *counter.before, counter.range, elapsed);
}

CpuPower::Readings CpuPower::read(const Sysroot &root, Monotonic now) {
  const Seconds elapsed = at_ ? Seconds(now - *at_) : Seconds(0);
  if (at_ && elapsed <= Seconds(0)) return last_;
  const auto vanished = [&](const Counter &counter) { return !root.exists(counter.file); };
  constexpr auto kLookAgain = std::chrono::seconds(10);
  const bool none = counters_.empty() && (!root.is_machine() || !looked_ || now - *looked_ >= kLookAgain);
  if (none || std::any_of(counters_.begin(), counters_.end(), vanished)) {
    find(root);
    looked_ = now;
  }
  at_ = now;
  last_ = {};
  bool first_processor = true;
  bool first_memory = true;
  for (auto &counter : counters_) {
    const auto reading = advance(root, counter, elapsed);
    add(counter.memory ? last_.memory : last_.processors, counter.memory ? first_memory : first_processor, reading);
    (counter.memory ? first_memory : first_processor) = false;
  }
  return last_;
}

}  // namespace gpulse::host
