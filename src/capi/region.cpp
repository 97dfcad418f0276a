// SPDX-License-Identifier: Apache-2.0
#include "monitor/region.hpp"

#include <fmt/format.h>

#include "capi/handles.hpp"

using namespace gpulse;
using capi::as_double;

gpulse_region *gpulse_region_begin(gpulse_monitor *monitor, const char *name) {
  gpulse_region *made = nullptr;
  capi::guarded([&] {
    if (monitor == nullptr) return capi::fail(GPULSE_INVALID, "no monitor");
    if (monitor->monitor.is_forked()) return capi::forked();
    made = new gpulse_region{monitor->monitor.begin_region(name == nullptr ? "" : name)};
    return GPULSE_OK;
  });
  return made;
}

void gpulse_region_end(gpulse_region *region) {
  // In a forked child its lock may be held by a thread that is not there.
  if (region != nullptr && !region->mark.is_forked()) region->region->end(monotonic_now());
}

void gpulse_region_free(gpulse_region *region) {
  delete region;  // the monitor lets go of it by itself
}

gpulse_status gpulse_region_get(const gpulse_region *region, const char *uuid, gpulse_region_use *use) {
  return capi::guarded([&] {
    if (region == nullptr || uuid == nullptr) return capi::fail(GPULSE_INVALID, "no region, or no UUID");
    if (region->mark.is_forked()) return capi::forked();
    const auto told = region->region->use(uuid);
    if (!told) return capi::fail(GPULSE_INVALID, fmt::format("no sample of the region has the device {}", Text(uuid)));
    const gpulse_region_use full{.size = 0,
                                 .seconds = told->wall.count(),
                                 .samples = told->samples,
                                 .settled = told->settled ? 1 : 0,
                                 .memory_begin = as_double(told->memory_begin),
                                 .memory_end = as_double(told->memory_end),
                                 .memory_peak = as_double(told->memory_peak),
                                 .process_memory_begin = as_double(told->process_memory_begin),
                                 .process_memory_end = as_double(told->process_memory_end),
                                 .process_memory_peak = as_double(told->process_memory_peak),
                                 .memory_total = as_double(told->memory_total),
                                 .utilization = as_double(told->utilization),
                                 .true_activity = as_double(told->true_activity),
                                 .energy = as_double(told->energy),
                                 .energy_min = as_double(told->energy_min),
                                 .energy_max = as_double(told->energy_max)};
    return capi::hand_out(full, use);
  });
}
