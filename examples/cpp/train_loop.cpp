// SPDX-License-Identifier: Apache-2.0
//
// A training loop that knows what it costs: the newest reading at every step, and what the whole of it took.
//
//     c++ -std=c++17 train_loop.cpp $(pkg-config --cflags --libs gpulse) -o train_loop
//     ./train_loop [STEPS]
#include <chrono>
#include <cstdlib>
#include <gpulse/gpulse.hpp>
#include <iostream>
#include <thread>

namespace {

using namespace std::chrono_literals;

void train_step() { std::this_thread::sleep_for(5ms); }

double mebibytes(const gpulse::Value &bytes) { return bytes.value_or(0) / (1 << 20); }

void train(int steps) {
  gpulse::Options options;
  options.interval = 100ms;
  gpulse::Monitor monitor(options);
  const gpulse::Metric power("power_draw_watts");
  const gpulse::Metric activity("sm_active_percent");

  // Only an example has to wait for the first sample: a training takes longer.
  const auto first = monitor.wait(10s);
  if (!first || first->devices().empty()) {
    std::cout << (first ? first->absence() : "no sample within ten seconds") << '\n';
    return;
  }

  auto region = monitor.region("train");
  for (int step = 0; step < steps; ++step) {
    monitor.set_step(step);
    train_step();
    if (step % 100 != 0) continue;
    // Takes a fraction of a microsecond, and calls no driver.
    if (const auto sample = monitor.latest()) {
      for (const auto &device : sample->devices()) {
        std::cout << "step " << step << " GPU " << device.id() << ": ";
        if (const auto watts = device[power]) {
          std::cout << *watts << " W, ";
        } else {
          std::cout << "power " << watts.reason() << ", ";
        }
        std::cout << device[activity].value_or(0) << " % active\n";
      }
    }
  }
  region.end();

  monitor.refresh(5s);  // so that a sample from after its end is in
  for (const auto &device : first->devices()) {
    const auto use = region.use(device.uuid());
    if (!use) continue;
    std::cout << "trained for " << use->wall.count() << " s on GPU " << device.id() << ": peak memory "
              << mebibytes(use->memory_peak) << " of " << mebibytes(use->memory_total) << " MiB, ";
    if (use->energy) {
      std::cout << *use->energy << " J\n";
    } else {
      std::cout << use->energy_min.value_or(0) << " to " << use->energy_max.value_or(0) << " J\n";
    }
  }
}

}  // namespace

int main(int argc, char **argv) {
  try {
    train(argc > 1 ? std::atoi(argv[1]) : 400);
  } catch (const gpulse::Error &error) {
    std::cerr << "train_loop: " << error.what() << '\n';
    return 1;
  }
}
