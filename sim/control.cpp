// SPDX-License-Identifier: Apache-2.0
// What tests call besides NVML: replace the scenario, inject faults, count calls, stop the clock.
#include "control.hpp"

#include <algorithm>

#include "state.hpp"

namespace {

[[gnu::constructor]] void load_scenario_at_start() { gpulse::sim::load_from_environment(); }

}  // namespace

int gpulse_sim_load(const char *toml_text) {
  using namespace gpulse::sim;
  const std::string folder = data_folder();
  return load_text(toml_text, {.file = "text", .folder = folder + "/scenarios", .data = folder}) ? 0 : 999;
}

const char *gpulse_sim_error() { return gpulse::sim::last_error(); }

void gpulse_sim_fault(const char *call, int device, int code) { gpulse::sim::set_fault(call, device, code); }

void gpulse_sim_release() { gpulse::sim::release_hung(); }

void gpulse_sim_clear() { gpulse::sim::clear_faults(); }

void gpulse_sim_set_time(double seconds) { gpulse::sim::freeze(seconds); }

unsigned long gpulse_sim_calls(const char *call) {
  using namespace gpulse::sim;
  const std::string_view name = call;
  unsigned long total = 0;
  for (std::size_t i = 0; i < kFnCount; ++i) {
    if (name == "*" || kFunctions[i].name == name) {
      total += g_sim.calls[i].load(std::memory_order_relaxed);
    }
  }
  return total;
}
