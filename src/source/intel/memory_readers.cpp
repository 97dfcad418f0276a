// SPDX-License-Identifier: Apache-2.0
// The readers of an Intel device's memory.
#include "model/plausible.hpp"
#include "source/intel/memory.hpp"
#include "source/intel/reader_calls.hpp"
#include "source/sysfs/attribute.hpp"

namespace gpulse::intel {

namespace {

constexpr auto kUsed = device_metric("memory_used_bytes");
constexpr auto kTotal = device_metric("memory_total_bytes");
constexpr auto kFree = device_metric("memory_free_bytes");
constexpr auto kVramUsed = device_metric("memory_vram_used_bytes");
constexpr auto kVramTotal = device_metric("memory_vram_total_bytes");
constexpr auto kGttUsed = device_metric("memory_gtt_used_bytes");

bool has_own_memory(const Device &device) { return !device.integrated && device.card.driver != kNpu; }

void put(Row &row, MetricId one, MetricId other, std::uint64_t bytes) {
  row[one] = row[other] = plausible(one, static_cast<double>(bytes));
}

}  // namespace

void write_client_memory(const Device &device, const drm::ClientSums &sums, Row &row) {
  const auto told = [&](const Reading &sum) {
    return !sum && sums.clients == 0 && sums.some_denied ? Reading(Reason::no_permission) : sum;
  };
  row[kGttUsed] = told(sums.system_memory_bytes);
  if (!has_own_memory(device))
    row[kUsed] = row[kGttUsed];
  else if (!device.memory_by_driver)
    row[kUsed] = row[kVramUsed] = told(sums.device_memory_bytes);
}

Outcome read_memory_size(const Call &in) {
  constexpr std::size_t kMaxText = 1U << 16U;
  auto &device = in.device;
  if (!has_own_memory(device) || device.card.pci.empty()) return Outcome::unsupported;
  if (!in.context.root.read_into(device.buffer, "/sys/fs/cgroup/dmem.capacity", kMaxText)) return Outcome::unsupported;
  const auto total = parse_dmem_capacity(device.buffer, device.card.pci);
  if (!total) return Outcome::unsupported;
  put(in.frame.row, kTotal, kVramTotal, *total);
  return Outcome::ok;
}

Outcome read_memory_by_driver(const Call &in) {
  auto &device = in.device;
  auto &row = in.frame.row;
  if (!in.context.root.is_machine() || !has_own_memory(device)) return Outcome::unsupported;
  const auto memory = query_memory(device.card);
  if (!memory) return Outcome::unsupported;
  put(row, kTotal, kVramTotal, memory->total);
  device.memory_by_driver = may_see_use(in.context.root.read("/proc/self/status").value_or(""));
  if (!device.memory_by_driver) {
    row[kFree] = Reason::no_permission;
    return Outcome::ok;
  }
  put(row, kUsed, kVramUsed, memory->used);
  row[kFree] = plausible(kFree, static_cast<double>(memory->total - memory->used));
  return Outcome::ok;
}

Outcome read_npu_memory(const Call &in) {
  if (in.device.card.driver != kNpu) return Outcome::unsupported;
  const auto path = in.device.card.device + "/npu_memory_utilization";
  const auto reading = sysfs::read_attribute(in.context.root, path, kUsed, 1, in.device.buffer);
  in.frame.row[kUsed] = in.frame.row[kGttUsed] = reading;
  return reading.is(Reason::not_supported) ? Outcome::unsupported : Outcome::ok;
}

}  // namespace gpulse::intel
