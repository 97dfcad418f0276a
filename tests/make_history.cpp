// SPDX-License-Identifier: Apache-2.0
// make_history FILE END MINUTES GPUS PROCESSES: a history of which every value can be told by hand. It ends at END
// (seconds since 1970). GPU i is busy to 10 i + 0…9 percent, by the last digit of the second; it draws 100 + i watts,
// and holds i + 1 GiB. Process j is on GPU j modulo GPUS, of ann where j is even, else of bob, in job-j; it takes j + 1
// percent and as many GiB. The host is busy to 25 percent. An XID 79 of GPU 0 comes in the middle.
//
// make_history FILE END MINUTES GPUS PROCESSES report: the same with a sample every ten seconds, for reports. Even GPUs
// tell their true activity, 4 i + 3 percent; the last GPU has no counter of energy. Process j is away in every third
// hour; from a quarter of the time on nothing is recorded for a tenth of it. input-cpu is found on GPU 0 in every
// fourth hour, imbalance on GPU 0 and 1 for the first two hours. The user of process 3 has a hostile name.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "history/store.hpp"

namespace {

using namespace gpulse;

constexpr double kGiB = 1U << 30U;
constexpr std::int64_t kHour = 3600, kStepOfReports = 10;

struct Wanted {
  std::int64_t begin, end;
  std::uint32_t gpus, processes;
  bool is_report;
};

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

void change_for_report(Snapshot &now, const Wanted &wanted, std::int64_t second) {
  for (auto &device : now.devices) {
    if (device.id.index % 2 == 0) device.row[device_metric("sm_active_percent")] = 4.0 * device.id.index + 3;
  }
  now.devices.back().row[device_metric("energy_joules")] = Reason::not_supported;
  const auto hour = (second - wanted.begin) / kHour;
  std::erase_if(now.processes, [&](const Process &process) { return (hour + process.pid) % 3 == 0; });
  for (auto &process : now.processes) {
    if (process.pid != 1003) continue;
    auto texts = std::make_shared<TextRow>(*process.texts);
    (*texts)[process_metric("user")] = TextReading(Text("<img src=x onerror=alert(1)>\n\"eve\",\x1b[31m"));
    process.texts = texts;
  }
}

// What begins or ends with the sample of this second.
std::vector<Event> findings_of(const Snapshot &now, const Wanted &wanted, std::int64_t second) {
  std::vector<Event> events;
  const auto after = second - wanted.begin;
  const auto add = [&](EventKind kind, Text device, std::int64_t code, Text text) {
    events.push_back(
        {.time = now.time, .device = std::move(device), .kind = kind, .code = code, .text = std::move(text)});
  };
  const auto hour = after / kHour;
  const auto &first = now.devices[0].identity->uuid;
  if (after % kHour == 0 && hour % 4 == 1) add(EventKind::finding, first, 10 + hour, "input-cpu: The GPU waits");
  if (after % kHour == 0 && hour % 4 == 2) add(EventKind::finding_ended, first, 9 + hour, "input-cpu after 1 h 0 min");
  if (after == 0) add(EventKind::finding, {}, 1, "imbalance on GPU 0, 1: One waits for the other");
  if (after == 2 * kHour) add(EventKind::finding_ended, {}, 1, "imbalance on GPU 0, 1 after 2 h 0 min");
  return events;
}

bool is_recorded(const Wanted &wanted, std::int64_t second) {
  const auto length = wanted.end - wanted.begin, gap = wanted.begin + length / 4 / 60 * 60;
  return !wanted.is_report || second < gap || second >= gap + length / 10 / 60 * 60;
}

int make(const std::string &path, const Wanted &wanted) {
  const auto [begin, end, gpus, processes, is_report] = wanted;
  const auto step = is_report ? kStepOfReports : 1;
  auto store = history::Store::open(path, {});
  if (!store) {
    std::fprintf(stderr, "%s\n", store.error().error.line().c_str());
    return 1;
  }
  std::vector<history::TimedSample> batch;
  std::vector<Event> events;
  for (auto second = begin; second < end; second += step) {
    if (!is_recorded(wanted, second)) continue;
    auto now = machine(second, gpus, processes);
    if (second == begin + (end - begin) / 2) {
      events.push_back({.time = now.time,
                        .device = now.devices[0].identity->uuid,
                        .kind = EventKind::xid,
                        .code = 79,
                        .text = "GPU has fallen off the bus"});
    }
    if (is_report) {
      change_for_report(now, wanted, second);
      std::ranges::move(findings_of(now, wanted, second), std::back_inserter(events));
    }
    now.events = std::exchange(events, {});
    batch.push_back({std::make_shared<const Snapshot>(std::move(now)), static_cast<double>(step)});
    if (batch.size() < 600 && second + step < end) continue;
    if (const auto done = (*store)->append(batch); !done) return 1;
    batch.clear();
  }
  return 0;
}

}  // namespace

int main(int argc, char **argv) {
  const bool is_report = argc == 7 && std::string_view(argv[6]) == "report";
  if (argc != 6 && !is_report) {
    std::fputs("make_history FILE END MINUTES GPUS PROCESSES [report]\n", stderr);
    return 2;
  }
  const auto number = [&](int i) { return std::strtoll(argv[i], nullptr, 10); };
  return make(argv[1], {.begin = number(2) - number(3) * 60,
                        .end = number(2),
                        .gpus = static_cast<std::uint32_t>(number(4)),
                        .processes = static_cast<std::uint32_t>(number(5)),
                        .is_report = is_report});
}
