// SPDX-License-Identifier: Apache-2.0
// make_history FILE END MINUTES GPUS PROCESSES: a history of which every value can be told by hand. It ends at END
// (seconds since 1970). GPU i is busy to 10 i + 0…9 percent, by the last digit of the second; it draws 100 + i watts,
// and holds i + 1 GiB. Process j is on GPU j modulo GPUS, of ann where j is even, else of bob, in job-j; it takes j + 1
// percent and as many GiB. The host is busy to 25 percent. An XID 79 of GPU 0 comes in the middle.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "history/store.hpp"

namespace {

using namespace gpulse;

constexpr double kGiB = 1U << 30U;

Snapshot machine(std::int64_t second, std::uint32_t gpus, std::uint32_t processes) {
  Snapshot now;
  now.time = WallTime(std::chrono::seconds(second));
  now.hostname = "made-up";
  now.host[host_metric("cpu_percent")] = 25;
  for (std::uint32_t i = 0; i < gpus; ++i) {
    Device device;
    device.id = {.index = i};
    auto identity = std::make_shared<DeviceIdentity>();
    identity->source = "nvml";
    identity->vendor = "nvidia";
    identity->uuid = "GPU-00000000-0000-0000-0000-00000000000" + std::to_string(i);
    identity->name = "NVIDIA H200";
    device.identity = identity;
    device.row[device_metric("gpu_utilization_percent")] = 10.0 * i + static_cast<double>(second % 10);
    device.row[device_metric("power_draw_watts")] = 100.0 + i;
    device.row[device_metric("energy_joules")] = (100.0 + i) * static_cast<double>(second % 1'000'000);
    device.row[device_metric("memory_used_bytes")] = (i + 1) * kGiB;
    device.row[device_metric("memory_total_bytes")] = 141 * kGiB;
    device.row[device_metric("temperature_gpu_celsius")] = 40;
    device.row[device_metric("process_count")] = (processes + gpus - 1 - i) / gpus;
    now.devices.push_back(std::move(device));
  }
  for (std::uint32_t j = 0; j < processes; ++j) {
    Process process;
    process.pid = 1000 + j;
    process.device = {.index = j % gpus};
    process.types = static_cast<std::uint8_t>(ProcessType::compute);
    process.start_ticks = 1;
    process.row[process_metric("gpu_utilization_percent")] = j + 1;
    process.row[process_metric("gpu_memory_bytes")] = (j + 1) * kGiB;
    auto texts = std::make_shared<TextRow>(Scope::process);
    (*texts)[process_metric("user")] = TextReading(Text(j % 2 == 0 ? "ann" : "bob"));
    (*texts)[process_metric("name")] = TextReading(Text("python"));
    (*texts)[process_metric("command")] = TextReading(Text("python train.py --part " + std::to_string(j)));
    (*texts)[process_metric("job")] = TextReading(Text("job-" + std::to_string(j)));
    process.texts = texts;
    now.processes.push_back(std::move(process));
  }
  return now;
}

int make(const std::string &path, std::int64_t end, std::int64_t minutes, std::uint32_t gpus, std::uint32_t processes) {
  auto store = history::Store::open(path, {});
  if (!store) {
    std::fprintf(stderr, "%s\n", store.error().error.line().c_str());
    return 1;
  }
  const auto begin = end - minutes * 60;
  std::vector<history::TimedSample> batch;
  for (auto second = begin; second < end; ++second) {
    auto now = machine(second, gpus, processes);
    if (second == begin + minutes * 30) {
      now.events = std::vector<Event>{{.time = now.time,
                                       .device = now.devices[0].identity->uuid,
                                       .kind = EventKind::xid,
                                       .code = 79,
                                       .text = "GPU has fallen off the bus"}};
    }
    batch.push_back({std::make_shared<const Snapshot>(std::move(now)), 1});
    if (batch.size() < 600 && second + 1 < end) continue;
    if (const auto done = (*store)->append(batch); !done) return 1;
    batch.clear();
  }
  return 0;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 6) {
    std::fputs("make_history FILE END MINUTES GPUS PROCESSES\n", stderr);
    return 2;
  }
  const auto number = [&](int i) { return std::strtoll(argv[i], nullptr, 10); };
  return make(argv[1], number(2), number(3), static_cast<std::uint32_t>(number(4)),
              static_cast<std::uint32_t>(number(5)));
}
