// SPDX-License-Identifier: Apache-2.0
// What stands behind the handles of gpulse.h, and the way errors take to gpulse_last_error(). No exception passes the
// border: every function of the interface does its work inside guarded().
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

#include <gpulse/gpulse.h>
#include "base/result.hpp"
#include "monitor/monitor.hpp"

struct gpulse_monitor {
  explicit gpulse_monitor(const gpulse::monitor::Options &options) : monitor(options) {}
  gpulse::monitor::Monitor monitor;
};

struct gpulse_region {
  std::shared_ptr<gpulse::monitor::Region> region;
};

struct gpulse_table {
  std::shared_ptr<const gpulse::monitor::Table> table;
};

namespace gpulse::capi {

// The last failure on this thread.
std::string &last_error();

gpulse_status fail(gpulse_status status, std::string_view what);
inline gpulse_status fail(const Error &error) { return fail(GPULSE_FAILED, error.line()); }

// Runs `work`, which returns a gpulse_status, with no exception leaving it.
template <class Work>
gpulse_status guarded(Work work) noexcept {
  try {
    last_error().clear();
    return work();
  } catch (const std::exception &problem) {
    return fail(GPULSE_FAILED, problem.what());
  } catch (...) {
    return fail(GPULSE_FAILED, "something went wrong inside gpulse");
  }
}

// Fills what the caller has room for, as `size` says.
template <class Struct>
gpulse_status hand_out(const Struct &full, Struct *out) {
  if (out == nullptr || out->size < sizeof out->size || out->size > 4096)
    return fail(GPULSE_INVALID, "no struct, or one whose size is not set");
  const auto size = out->size;
  std::memcpy(out, &full, std::min(size, sizeof full));
  out->size = size;
  return GPULSE_OK;
}

// What the caller gave, with defaults for what it does not know of.
template <class Struct>
Struct take_in(const Struct *given, Struct defaults) {
  if (given == nullptr || given->size < sizeof given->size) return defaults;
  std::memcpy(&defaults, given, std::min(given->size, sizeof defaults));
  defaults.size = sizeof defaults;
  return defaults;
}

// A sample's handle is its address: programs hold it by the count inside it.
inline gpulse_sample *to_handle(monitor::SamplePtr sample) {
  // NOLINTNEXTLINE(*-const-cast,*-reinterpret-cast): C has no way to give back what is const, and never sees inside
  return reinterpret_cast<gpulse_sample *>(const_cast<monitor::Sample *>(sample.detach()));
}
inline const monitor::Sample *from_handle(const gpulse_sample *handle) {
  return reinterpret_cast<const monitor::Sample *>(handle);  // NOLINT(*-reinterpret-cast)
}

// Readings leave as doubles: the reason of one that is not there lies in the bits of a NaN.
double as_double(const Reading &reading);
Reading as_reading(double value);

}  // namespace gpulse::capi
