// SPDX-License-Identifier: Apache-2.0
#include "insight/catalogue.hpp"

#include <algorithm>
#include <array>

namespace gpulse::insight {

namespace {

using enum FindingId;

constexpr std::array<FindingKind, kFindingIds> kKinds{{
    {input_cpu, "input-cpu", "starved by preprocessing on the CPU"},
    {input_io, "input-io", "starved by a disk or the network"},
    {launch_bound, "launch-bound", "kernels too small to fill the GPU"},
    {memory_bandwidth, "memory-bandwidth", "limited by the GPU's memory"},
    {tensor_unused, "tensor-unused", "tensor cores unused"},
    {wrong_precision, "wrong-precision", "computing in double precision"},
    {copy_bound, "copy-bound", "copying instead of computing"},
    {throttled_power, "throttled-power", "held back by the power limit"},
    {throttled_thermal, "throttled-thermal", "held back by its temperature"},
    {throttled_hardware, "throttled-hardware", "held back by the hardware"},
    {memory_leak, "memory-leak", "memory grows until it runs out"},
    {memory_full, "memory-full", "nearly no GPU memory left"},
    {out_of_memory, "out-of-memory", "a job ran out of GPU memory"},
    {memory_headroom, "memory-headroom", "room for a larger batch"},
    {memory_held_idle, "memory-held-idle", "memory held without work"},
    {host_memory, "host-memory", "the host's memory is nearly used up"},
    {spinning, "spinning", "busy without work"},
    {hung, "hung", "holds the GPU, does nothing"},
    {periodic_stalls, "periodic-stalls", "work stops again and again"},
    {imbalance, "imbalance", "some GPUs of the job wait for others"},
    {link_degraded, "link-degraded", "the PCIe link is slower than it could be"},
    {health, "health", "the hardware needs attention"},
    {healthy, "healthy", "the GPU computes"},
    {idle, "idle", "nobody uses the GPU"},
    {unknown, "unknown", "the cause cannot be told"},
}};

}  // namespace

std::string_view word(Weight weight) {
  switch (weight) {
    case Weight::ok:
      return "ok";
    case Weight::note:
      return "note";
    case Weight::problem:
      break;
  }
  return "problem";
}

std::span<const FindingKind> finding_kinds() { return kKinds; }

const FindingKind &describe(FindingId id) { return kKinds[static_cast<std::size_t>(id)]; }

std::string_view word(FindingId id) { return describe(id).word; }

std::optional<FindingId> finding_named(std::string_view word) {
  const auto found = std::ranges::find(kKinds, word, &FindingKind::word);
  return found == kKinds.end() ? std::nullopt : std::optional(found->id);
}

}  // namespace gpulse::insight
