// SPDX-License-Identifier: Apache-2.0
// What a history costs: bytes, writes, time. Eight H200 as the simulator has them, 40 processes, and made-up workloads
// with noise in every gauge; times are generated, so that months take minutes.
//
//   history_bench FOLDER [DAYS]     the tables; DAYS (90) of them for the total
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "history/reader.hpp"
#include "history/store.hpp"
#include "sample/sampler.hpp"
#include "simulator.hpp"
#include "source/registry.hpp"

namespace {

std::uint64_t flushes = 0;

}  // namespace

// SQLite calls these; the library's own are not linked in then.
extern "C" int fdatasync(int file) {
  ++flushes;
  return static_cast<int>(::syscall(SYS_fdatasync, file));
}
extern "C" int fsync(int file) {
  ++flushes;
  return static_cast<int>(::syscall(SYS_fsync, file));
}

namespace gpulse::bench {

namespace {

using namespace std::chrono_literals;
using history::Database;
using history::Store;
using history::TimedSample;

constexpr std::uint32_t kGpus = 8, kProcesses = 40;
constexpr std::int64_t kHour = 3600;
constexpr std::int64_t kBegin = 1'767'225'600;  // 2026-01-01

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

template <class T>
auto must(T &&result) {
  if (!result) {
    if constexpr (requires { result.error().error; }) {
      fmt::print(stderr, "{}\n", result.error().error.line());
    } else {
      fmt::print(stderr, "{}\n", result.error().line());
    }
    std::exit(1);
  }
  if constexpr (!std::is_void_v<typename std::remove_cvref_t<T>::value_type>) return std::move(*result);
}

// One sample of the simulator, which has every reading that an H200 has.
Snapshot look() {
  const Simulator simulator;
  simulator.load(kGpus, false);
  Sampler sampler(*make_sources("nvml", Sysroot(), {.texts = false, .events = false}), Sysroot(), {.tick = 100ms});
  SnapshotPtr snapshot;
  for (int i = 0; i < 4; ++i) {
    snapshot = sampler.sample(Pass::everything);
    ::usleep(120'000);
  }
  return *snapshot;
}

// Readings that change from second to second as those of a machine at work do.
class Machine {
 public:
  Machine() : first_(look()) {
    first_.hostname = "n1";
    first_.processes.clear();
    for (std::uint32_t i = 0; i < kProcesses; ++i) first_.processes.push_back(make_process(i));
    now_ = first_;
    levels_.assign(kGpus, 1);
    until_.assign(kGpus, 0);
  }

  // `length`: how many seconds the sample stands for.
  SnapshotPtr next(std::int64_t second, double length) {
    now_.time = WallTime(std::chrono::seconds(second)) + std::chrono::microseconds(random_() % 2000);
    for (std::size_t i = 0; i < now_.devices.size(); ++i) {
      if (second >= until_[i]) begin_phase(i, second);
      change(first_.devices[i].row, now_.devices[i].row, levels_[i], length);
    }
    for (std::size_t i = 0; i < now_.processes.size(); ++i) {
      if (second >= ends_of_processes_[i]) begin_process(i, second);
      change_process(i, length);
    }
    change(first_.host, now_.host, 0.5 + 0.1 * noise(), length);
    return std::make_shared<const Snapshot>(now_);
  }
  std::uint64_t values() const {
    std::uint64_t all = count(now_.host);
    for (const auto &device : now_.devices) all += count(device.row);
    for (const auto &process : now_.processes) all += count(process.row);
    return all;
  }
  std::size_t values_of_device() const { return count(now_.devices[0].row); }

 private:
  static std::size_t count(const Row &row) {
    return static_cast<std::size_t>(
        std::ranges::count_if(row.readings(), [](const Reading &reading) { return reading.has_value(); }));
  }
  double noise() { return normal_(random_); }

  Process make_process(std::uint32_t i) {
    Process process;
    process.pid = 1000 + i;
    process.device = {.index = i % kGpus};
    process.types = static_cast<std::uint8_t>(ProcessType::compute);
    process.start_ticks = 5000 + i;
    auto texts = std::make_shared<TextRow>(Scope::process);
    (*texts)[process_metric("user")] = TextReading(Text(fmt::format("user{}", i % 7)));
    (*texts)[process_metric("name")] = TextReading(Text("python3"));
    (*texts)[process_metric("command")] =
        TextReading(Text(fmt::format("python3 train.py --config configs/experiment_{}.yaml --seed {}", i, i * 7)));
    process.texts = texts;
    auto &row = process.row;
    row[process_metric("gpu_memory_bytes")] = 2e9 + i * 1048576.0;
    for (const auto metric : {process_metric("gpu_utilization_percent"), process_metric("memory_utilization_percent"),
                              process_metric("cpu_percent")}) {
      row[metric] = 20;
    }
    for (const auto metric : {process_metric("encoder_utilization_percent"), process_metric("nice"),
                              process_metric("decoder_utilization_percent")}) {
      row[metric] = 0;
    }
    row[process_metric("host_memory_bytes")] = 4e9;
    row[process_metric("running_seconds")] = 0;
    row[process_metric("parent_pid")] = 1;
    row[process_metric("threads")] = 64;
    return process;
  }

  // Idle, waiting for its input, or busy; for some minutes.
  void begin_phase(std::size_t device, std::int64_t second) {
    constexpr std::array kLevels{0.0, 0.35, 0.7, 1.0, 1.0, 1.0};
    levels_[device] = kLevels[random_() % kLevels.size()];
    until_[device] = second + 60 + static_cast<std::int64_t>(random_() % 3000);
  }

  // Each lives for half an hour to four hours.
  void begin_process(std::size_t i, std::int64_t second) {
    if (ends_of_processes_[i] != 0) {
      now_.processes[i] = make_process(static_cast<std::uint32_t>(i));
      now_.processes[i].pid = next_pid_++;
      now_.processes[i].start_ticks = next_pid_;
    }
    ends_of_processes_[i] = second + 1800 + static_cast<std::int64_t>(random_() % 12'600);
  }

  void change_process(std::size_t i, double length) {
    auto &process = now_.processes[i];
    const auto level = levels_[process.device.index];
    auto &row = process.row;
    row[process_metric("gpu_utilization_percent")] = std::round(std::clamp(level * (18 + 4 * noise()), 0.0, 100.0));
    row[process_metric("memory_utilization_percent")] = std::round(std::clamp(level * (7 + 2 * noise()), 0.0, 100.0));
    row[process_metric("cpu_percent")] = std::max(0.0, 5 + 95 * level + 3 * noise());
    if (random_() % 5 == 0) {
      auto &memory = row[process_metric("host_memory_bytes")];
      memory = std::max(1e8, memory.value() + 4096 * std::round(500 * noise()));
    }
    if (random_() % 100 == 0) {
      auto &memory = row[process_metric("gpu_memory_bytes")];
      memory = std::max(1e8, memory.value() + 2097152 * std::round(20 * noise()));
    }
    auto &running = row[process_metric("running_seconds")];
    running = running.value() + length;
  }

  void change(const Row &first, Row &now, double level, double length) {
    for_each_metric(first.scope(), [&](MetricId id, const Metric &metric) {
      if (metric.kind == Kind::text || !first[id].has_value()) return;
      auto &reading = now[id];
      const auto usual = first[id].value();
      if (metric.kind == Kind::counter) {
        const bool grows = metric.unit == Unit::joules || (metric.unit == Unit::seconds && usual != 0);
        if (grows)
          reading = std::round((reading.value() + length * (0.1 + level * (600 + 20 * noise()))) * 1000) / 1000;
        return;
      }
      if (metric.kind != Kind::gauge || metric.window == Window::fixed || usual == 0) return;
      reading = gauge(metric, usual, reading.value(), level);
    });
  }

  double gauge(const Metric &metric, double usual, double before, double level) {
    const auto busy = usual * std::max(0.0, level * (1 + 0.05 * noise()));
    switch (metric.unit) {
      case Unit::watts:
        // Limits stay, the rest is told in milliwatts.
        if (metric.group == Group::limits) return usual;
        return std::round((0.17 * usual + 0.83 * busy) * 1000) / 1000;
      case Unit::celsius:
        return metric.group == Group::limits
                   ? usual
                   : std::round(before + 0.2 * (usual * (0.6 + 0.4 * level) - before) + 0.4 * noise());
      case Unit::mhz:
        return metric.group == Group::limits || level == 0 ? usual : 15 * std::round((usual + 20 * noise()) / 15);
      case Unit::bytes:
        return random_() % 50 == 0 ? std::max(0.0, before + 2097152 * std::round(10 * noise())) : before;
      case Unit::percent:
        // The driver's own figures are whole, those of counters anything.
        return metric.window == Window::driver_average ? std::round(std::min(100.0, busy)) : std::min(100.0, busy);
      case Unit::bytes_per_second:
      case Unit::per_second:
        return usual * (0.1 + std::fabs(level * (1 + 0.3 * noise())));
      default:
        return usual;
    }
  }

  Snapshot first_, now_;
  std::mt19937_64 random_{1};
  std::normal_distribution<> normal_;
  std::vector<double> levels_;
  std::vector<std::int64_t> until_;
  std::array<std::int64_t, kProcesses> ends_of_processes_{};
  std::uint32_t next_pid_ = 100'000;
};

std::uint64_t written_bytes() {
  std::ifstream file("/proc/self/io");
  std::string key;
  std::uint64_t value = 0;
  while (file >> key >> value) {
    if (key == "wchar:") return value;
  }
  return 0;
}

// Writes samples from `from` on, so many seconds apart; gives the processor's time for each.
double fill(Store &store, Machine &machine, std::int64_t from, std::int64_t to, std::int64_t apart,
            std::size_t at_once) {
  double used = 0;
  std::uint64_t count = 0;
  std::vector<TimedSample> samples;
  std::int64_t tidied = from;
  for (auto second = from; second < to; second += apart) {
    samples.push_back({machine.next(second, static_cast<double>(apart)), static_cast<double>(apart)});
    ++count;
    if (samples.size() < at_once && second + apart < to) continue;
    const auto begun = processor_seconds();
    must(store.append(samples));
    if (second - tidied >= 60 * apart) {
      tidied = second;
      must(store.tidy());
    }
    must(store.write_back());
    used += processor_seconds() - begun;
    samples.clear();
  }
  return used / static_cast<double>(std::max<std::uint64_t>(count, 1));
}

std::uint64_t on_disk(const std::string &path) {
  std::uint64_t all = 0;
  for (const auto *end : {"", "-wal", "-shm"}) {
    std::error_code none;
    const auto size = std::filesystem::file_size(path + end, none);
    if (!none) all += size;
  }
  return all;
}

void print_tables(const std::string &path) {
  auto database = must(Database::open(path, Database::Mode::read));
  fmt::print("{:<16}{:>12}{:>16}{:>12}\n", "table", "rows", "bytes", "a row");
  for (const auto *table :
       {"raw", "device_10s", "device_1min", "host_10s", "host_1min", "process_1min", "process", "change", "event"}) {
    const auto rows = must(database.integer(fmt::format("SELECT count(*) FROM {}", table))).value_or(0);
    const auto bytes =
        must(database.integer(fmt::format("SELECT sum(pgsize) FROM dbstat WHERE name='{0}' OR name LIKE '{0}\\_by\\_%' "
                                          "ESCAPE '\\'",
                                          table)))
            .value_or(0);
    fmt::print("{:<16}{:>12}{:>16}{:>12.1f}\n", table, rows, bytes,
               static_cast<double>(bytes) / static_cast<double>(std::max<std::int64_t>(rows, 1)));
  }
}

// Twelve hours second by second.
void measure_raw(const std::string &path, Machine &machine) {
  constexpr std::int64_t kHours = 12 * kHour;
  {
    auto store = must(Store::open(path, {.free_bytes = 0}));
    const auto each = fill(*store, machine, kBegin, kBegin + kHours, 1, 60);
    fmt::print("== 12 hours, 8 GPUs with {} values each, 40 processes; {} values a second ==\n",
               machine.values_of_device(), machine.values());
    fmt::print("processor per sample, 60 at once: {:.0f} us\n", each * 1e6);
  }
  auto database = must(Database::open(path, Database::Mode::read));
  const auto samples = must(database.integer("SELECT sum(samples) FROM raw")).value_or(0);
  const auto packed = must(database.integer("SELECT sum(length(data)) FROM raw")).value_or(0);
  const auto stored =
      must(database.integer("SELECT sum(pgsize) FROM dbstat WHERE name IN ('raw', 'raw_by_time')")).value_or(0);
  const auto values = static_cast<double>(samples) * static_cast<double>(machine.values());
  fmt::print("raw: {:.2f} bytes a value as packed, {:.2f} as it lies in the file\n",
             static_cast<double>(packed) / values, static_cast<double>(stored) / values);
  print_tables(path);
}

void measure_range(const std::string &path, std::int64_t end) {
  auto reader = must(history::Reader::open(path));
  const auto time = [](std::int64_t second) { return WallTime(std::chrono::seconds(second)); };
  history::RangeQuery query{.span = {time(end - 12 * kHour), time(end)},
                            .metrics = {device_metric("gpu_utilization_percent"), device_metric("memory_used_bytes"),
                                        device_metric("power_draw_watts"), device_metric("temperature_gpu_celsius"),
                                        device_metric("sm_active_percent"), device_metric("clock_graphics_mhz"),
                                        device_metric("pcie_rx_bytes_per_second")}};
  for (const auto step : {0s, 10s}) {
    query.step = step;
    std::vector<double> times;
    history::Range range;
    for (int i = 0; i < 15; ++i) {
      const auto begun = monotonic_now();
      range = must(reader.range(query));
      times.push_back(Seconds(monotonic_now() - begun).count() * 1e3);
    }
    std::ranges::sort(times);
    std::size_t points = 0;
    for (const auto &series : range.series) points += series.points.size();
    fmt::print(
        "12 h of 7 metrics of 8 GPUs, step {} s from the tier of {}: {} series, {} points; least {:.2f} ms, median "
        "{:.2f} ms\n",
        range.step.count(), history::word(range.tier), range.series.size(), points, times[0], times[times.size() / 2]);
  }
}

// As an agent does it: one at a time.
void measure_writes(const std::string &path, Machine &machine) {
  auto store = must(Store::open(path, {.free_bytes = 0}));
  fill(*store, machine, kBegin, kBegin + 600, 1, 1);
  const auto before = written_bytes();
  const auto flushed = flushes;
  const auto each = fill(*store, machine, kBegin + 600, kBegin + 600 + 3600, 1, 1);
  fmt::print(
      "== An hour, one sample at a time ==\nwritten {:.1f} MB, flushed {} times; {:.0f} us of processor per sample "
      "({:.3f} % of a core)\n",
      static_cast<double>(written_bytes() - before) / 1e6, flushes - flushed, each * 1e6, each * 100);
}

// What lies further back than a tier keeps is written in that tier's steps: the same rows, in minutes.
void measure_total(const std::string &path, Machine &machine, std::int64_t days) {
  constexpr std::int64_t kDay = 24 * kHour;
  const auto end = kBegin + days * kDay;
  {
    auto store = must(Store::open(path, {.free_bytes = 0}));
    fill(*store, machine, kBegin, end - 7 * kDay, 60, 60);
    fill(*store, machine, end - 7 * kDay, end - kDay, 10, 60);
    fill(*store, machine, end - kDay, end, 1, 60);
    for (int i = 0; i < 200; ++i) {
      must(store->tidy());
      must(store->write_back());
    }
    fmt::print("== {} days ==\non the disk, with the journal: {:.1f} MiB\n", days,
               static_cast<double>(on_disk(path)) / 1048576.0);
  }
  print_tables(path);
  const auto begun = monotonic_now();
  {
    auto store = must(Store::open(path, {.free_bytes = 0}));
  }
  fmt::print("opened again in {:.0f} ms\n", Seconds(monotonic_now() - begun).count() * 1e3);
  measure_range(path, end);
}

}  // namespace

}  // namespace gpulse::bench

int main(int argc, char **argv) {
  using namespace gpulse::bench;
  if (argc < 2) {
    fmt::print(stderr, "history_bench FOLDER [DAYS]\n");
    return 2;
  }
  const std::string folder = argv[1];
  const auto days = argc > 2 ? std::atoll(argv[2]) : 90;
  Machine machine;
  measure_writes(folder + "/hour.db", machine);
  measure_raw(folder + "/raw.db", machine);
  measure_range(folder + "/raw.db", kBegin + 12 * kHour);
  measure_total(folder + "/total.db", machine, days);
  return 0;
}
