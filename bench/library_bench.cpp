// SPDX-License-Identifier: Apache-2.0
// What the C interface costs the loop of a program, while a monitor samples 8 simulated GPUs in the background. Prints
// nanoseconds per call: the least and the median of many blocks. Fails when a look at the newest sample takes more than
// 200 ns.
#include <gpulse/gpulse.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "simulator.hpp"

namespace gpulse::bench {

namespace {

constexpr int kBlocks = 2000;
constexpr int kCalls = 500;
constexpr double kMostForALook = 200;

struct Figures {
  double least, median;
};

template <class Call>
Figures measure(Call call) {
  std::vector<double> blocks;
  for (int block = 0; block < kBlocks; ++block) {
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) call(i);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begun;
    blocks.push_back(took.count() / kCalls);
  }
  std::ranges::sort(blocks);
  return {blocks.front(), blocks[blocks.size() / 2]};
}

Figures show(const char *name, Figures figures) {
  std::printf("%-44s %8.1f %8.1f\n", name, figures.least, figures.median);
  return figures;
}

gpulse_monitor *open_monitor(double interval) {
  gpulse_options options;
  gpulse_options_init(&options);
  options.interval = interval;
  options.flags = GPULSE_NO_AGENT;
  gpulse_monitor *monitor = nullptr;
  gpulse_sample *sample = nullptr;
  if (gpulse_open(&options, &monitor) != GPULSE_OK || gpulse_wait(monitor, 0, 10, &sample) != GPULSE_OK) {
    std::fprintf(stderr, "%s\n", gpulse_last_error());
    std::exit(1);
  }
  gpulse_release(sample);
  return monitor;
}

Figures look(const char *name, gpulse_monitor *monitor) {
  return show(name, measure([&](int) { gpulse_release(gpulse_latest(monitor)); }));
}

bool run() {
  const Simulator simulator;
  simulator.load(8, false);
  std::printf("%-44s %8s %8s\n", "Nanoseconds per call", "least", "median");
  auto *monitor = open_monitor(1);
  const auto newest = look("latest and release, samples at 1 Hz", monitor);

  const auto power = gpulse_metric("power_draw_watts");
  auto *sample = gpulse_latest(monitor);
  volatile double watts = 0;
  show("value", measure([&](int i) { watts = gpulse_value(sample, power, static_cast<std::uint32_t>(i % 8)); }));
  show("latest, value and release", measure([&](int i) {
         auto *now = gpulse_latest(monitor);
         watts = gpulse_value(now, power, static_cast<std::uint32_t>(i % 8));
         gpulse_release(now);
       }));
  gpulse_release(sample);
  show("set_step", measure([&](int i) { gpulse_set_step(monitor, i); }));
  show("region: begin, end and free", measure([&](int) {
         auto *region = gpulse_region_begin(monitor, "step");
         gpulse_region_end(region);
         gpulse_region_free(region);
       }));
  gpulse_close(monitor);

  auto *fast = open_monitor(0.01);
  look("latest and release, samples at 100 Hz", fast);
  std::atomic<bool> done{false};
  std::thread other([&] {
    while (!done.load(std::memory_order_relaxed)) gpulse_release(gpulse_latest(fast));
  });
  look("the same while another thread does so too", fast);
  done = true;
  other.join();
  gpulse_close(fast);
  return newest.median <= kMostForALook;
}

}  // namespace

}  // namespace gpulse::bench

int main() { return gpulse::bench::run() ? 0 : 1; }
