// SPDX-License-Identifier: Apache-2.0
// Frames of the live view without a terminal: 8 GPUs, 40 processes, 200x50 cells, a new sample before each frame.
//
//     frame_bench [FRAMES]
//
// `run.sh` counts the instructions of two runs of different length and divides the difference.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "term/painter.hpp"
#include "tui/app.hpp"

namespace gpulse {

namespace {

constexpr std::uint32_t kDevices = 8;
constexpr std::uint32_t kProcesses = 40;
constexpr int kPeriod = 60;
constexpr double kGiB = 1024.0 * 1024 * 1024;

Device make_device(std::uint32_t index, int second) {
  auto identity = std::make_shared<DeviceIdentity>();
  identity->uuid = fmt::format("GPU-{:08}", index);
  identity->name = "H100 80GB HBM3";
  identity->driver = "580.159.04";
  Device device;
  device.id.index = index;
  device.identity = std::move(identity);
  device.row.fill(Reason::not_supported);
  const double use = (second * 5 + static_cast<int>(index) * 13) % 100;
  device.row[device_metric("gpu_utilization_percent")] = use;
  device.row[device_metric("sm_active_percent")] = use / 2;
  device.row[device_metric("dram_active_percent")] = use / 3;
  device.row[device_metric("memory_used_bytes")] = (20 + use / 2) * kGiB;
  device.row[device_metric("memory_total_bytes")] = 80 * kGiB;
  device.row[device_metric("power_draw_watts")] = 200 + 4 * use;
  device.row[device_metric("power_limit_watts")] = 700;
  device.row[device_metric("temperature_gpu_celsius")] = 40 + use / 4;
  device.row[device_metric("clock_graphics_mhz")] = 1980;
  return device;
}

Process make_process(std::uint32_t number, int second) {
  Process process;
  process.pid = 5000 + number;
  process.device.index = number % kDevices;
  process.types = static_cast<std::uint8_t>(ProcessType::compute);
  process.row.fill(Reason::not_supported);
  process.row[process_metric("gpu_memory_bytes")] = (1 + number % 7) * kGiB;
  process.row[process_metric("gpu_utilization_percent")] = (second * 3 + static_cast<int>(number)) % 100;
  process.row[process_metric("cpu_percent")] = 100 + second % 9;
  process.row[process_metric("host_memory_bytes")] = 12 * kGiB;
  process.row[process_metric("running_seconds")] = 4000 + second;
  TextRow texts(Scope::process);
  texts[process_metric("user")] = std::string(number % 3 == 0 ? "bob" : "ann");
  texts[process_metric("name")] = std::string("python3");
  texts[process_metric("command")] = fmt::format("python3 train.py --rank {}", number);
  process.texts = std::make_shared<TextRow>(std::move(texts));
  return process;
}

SnapshotPtr make_snapshot(int second) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->time = WallTime(std::chrono::seconds(1'794'709'878 + second));
  snapshot->hostname = "node7";
  snapshot->host.fill(Reason::not_supported);
  snapshot->self.fill(Reason::not_supported);
  snapshot->host[host_metric("cpu_percent")] = second % 100;
  snapshot->host[host_metric("memory_used_bytes")] = 182 * kGiB;
  snapshot->host[host_metric("memory_total_bytes")] = 1007 * kGiB;
  for (std::uint32_t i = 0; i < kDevices; ++i) snapshot->devices.push_back(make_device(i, second));
  for (std::uint32_t i = 0; i < kProcesses; ++i) snapshot->processes.push_back(make_process(i, second));
  return snapshot;
}

// A minute that repeats, so that only the frames take time.
class RepeatingTimeline final : public feed::Timeline {
 public:
  RepeatingTimeline() {
    for (int i = 0; i < kPeriod; ++i) minute_.push_back(make_snapshot(i));
  }
  void grow() { ++end_; }

  std::uint64_t first() const override { return 0; }
  std::uint64_t end() const override { return end_; }
  WallTime time(std::uint64_t number) const override { return minute_[number % kPeriod]->time; }
  Result<SnapshotPtr> at(std::uint64_t number) override { return minute_[number % kPeriod]; }
  std::uint64_t find(WallTime) override { return 0; }

 private:
  std::vector<SnapshotPtr> minute_;
  std::uint64_t end_ = 0;
};

int run(int frames) {
  RepeatingTimeline timeline;
  tui::App app({.settings = tui::default_settings()}, timeline);
  app.resize({200, 50});
  term::Painter painter(term::Depth::indexed256);
  std::string bytes;
  std::size_t written = 0;
  Monotonic now{std::chrono::seconds(1000)};
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < frames; ++i) {
    now += std::chrono::seconds(1);
    timeline.grow();
    app.sample_came(now);
    bytes.clear();
    painter.paint(app.draw(now), bytes);
    written += bytes.size();
  }
  const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
  fmt::print("{} frames, {:.0f} us and {} bytes each\n", frames, taken.count() / frames,
             written / static_cast<std::size_t>(frames));
  return 0;
}

}  // namespace

}  // namespace gpulse

int main(int argc, char **argv) { return gpulse::run(argc > 1 ? std::max(1, std::atoi(argv[1])) : 500); }
