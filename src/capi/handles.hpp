// SPDX-License-Identifier: Apache-2.0
// What stands behind the handles of gpulse.h, and the way errors take to gpulse_last_error(). No exception passes the
// border: every function of the interface does its work inside guarded().
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gpulse/gpulse.h>
#include "base/result.hpp"
#include "monitor/fork_guard.hpp"
#include "monitor/monitor.hpp"

struct gpulse_monitor {
  explicit gpulse_monitor(const gpulse::monitor::Options &options) : monitor(options) {}
  gpulse::monitor::Monitor monitor;
};

struct gpulse_region {
  std::shared_ptr<gpulse::monitor::Region> region;
  gpulse::monitor::ForkMark mark{};
};

struct gpulse_table {
  std::shared_ptr<const gpulse::monitor::Table> table;
};

// With what C programs want to have as arrays of pointers.
struct gpulse_findings {
  struct Arrays {
    std::vector<const char *> devices{}, uuids{}, facts{}, advice{};
    std::vector<double> values{};
  };
  gpulse::monitor::FindingListPtr list;
  std::vector<Arrays> arrays{};  // of each finding
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

// No struct of the interface will ever be larger: a greater size was never set.
inline constexpr std::size_t kMostSize = 4096;

// Fills what the caller has room for, as `size` says, and zeroes what only a newer library would fill.
template <class Struct>
gpulse_status hand_out(const Struct &full, Struct *out) {
  if (out == nullptr) return fail(GPULSE_INVALID, "no place for the answer");
  const auto size = out->size;
  if (size < sizeof size || size > kMostSize) return fail(GPULSE_INVALID, "the struct's size is not set");
  std::memcpy(out, &full, std::min(size, sizeof full));
  if (size > sizeof full) std::memset(reinterpret_cast<char *>(out) + sizeof full, 0, size - sizeof full);
  out->size = size;
  return GPULSE_OK;
}

// What the caller gave, with defaults for what it does not know of. An option that only a newer library has must not
// be passed over in silence.
template <class Struct>
Result<Struct> take_in(const Struct *given, Struct defaults) {
  if (given == nullptr) return defaults;
  const auto size = given->size;
  if (size < sizeof size || size > kMostSize) return failure("the struct's size is not set", "set it to sizeof");
  const auto *bytes = reinterpret_cast<const char *>(given);
  if (size > sizeof defaults && std::any_of(bytes + sizeof defaults, bytes + size, [](char c) { return c != 0; }))
    return failure("an option is set that this version of the library does not have", "use a newer one");
  std::memcpy(&defaults, given, std::min(size, sizeof defaults));
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

inline gpulse_status forked() {
  return fail(GPULSE_FORKED,
              "this monitor belongs to the process that this one was forked from: open another one here");
}

// Devices, their processes and the host have metrics; those of gpulse itself and of `-q` stay inside.
inline bool is_offered(MetricId id) {
  const auto scope = brief(id).scope;
  return scope == Scope::device || scope == Scope::process || scope == Scope::host;
}
// A metric's number in the interface; none: it stands for no metric there.
inline std::optional<MetricId> metric_of(std::int32_t number) {
  if (number < 0 || static_cast<std::size_t>(number) >= kMetricCount) return std::nullopt;
  const MetricId id{static_cast<std::uint16_t>(number)};
  return is_offered(id) ? std::optional(id) : std::nullopt;
}

// Readings leave as doubles: the reason of one that is not there lies in the bits of a NaN.
double as_double(const Reading &reading);

}  // namespace gpulse::capi
