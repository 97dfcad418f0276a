// SPDX-License-Identifier: Apache-2.0
// Part of gpulse.hpp: samples in the background, what a stretch of a program took, the past, and files to write to.
#ifndef GPULSE_MONITOR_HPP
#define GPULSE_MONITOR_HPP

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "findings.hpp"
#include "gpulse.h"
#include "sample.hpp"

namespace gpulse {
inline namespace v1 {

using Seconds = std::chrono::duration<double>;

struct Options {
  Seconds interval{1};      // between samples: 0.01 to 86400 seconds
  Seconds history{900};     // how much of the past is kept
  std::string metrics{};    // keys with commas; empty or "default": what a status page shows; "all": everything
  bool agent = true;        // take the samples of the machine's agent, where there is one
  bool only_agent = false;  // fail where there is none: for helper processes that should not read the drivers too
  bool findings = false;    // watch for findings from the start, not from the first question on
};

namespace detail {

inline std::string joined(const std::vector<std::string> &all) {
  std::string text;
  for (const auto &one : all) text += (text.empty() ? "" : ",") + one;
  return text;
}

// What the C interface takes for "not given".
inline const char *or_null(const std::string &text) { return text.empty() ? nullptr : text.c_str(); }

inline gpulse_options options_of(const Options &given) {
  auto options = sized<gpulse_options>();
  options.interval = given.interval.count();
  options.history = given.history.count();
  options.metrics = or_null(given.metrics);
  if (!given.agent) options.flags |= static_cast<std::uint32_t>(GPULSE_NO_AGENT);
  if (given.only_agent) options.flags |= static_cast<std::uint32_t>(GPULSE_ONLY_AGENT);
  if (given.findings) options.flags |= static_cast<std::uint32_t>(GPULSE_FINDINGS);
  return options;
}

}  // namespace detail

// One sample without a monitor.
inline Sample look(const Options &options = {}) {
  const auto given = detail::options_of(options);
  gpulse_sample *handle = nullptr;
  detail::check(gpulse_look(&given, &handle));
  return Sample(handle);
}

// What a region took of one device. gpulse.h has a line on each.
struct Use {
  Seconds wall;
  std::uint32_t samples;  // taken within it
  bool settled;           // false: figures may still get better
  Value memory_begin, memory_end, memory_peak, memory_total;
  Value process_memory_begin, process_memory_end, process_memory_peak;
  Value utilization, true_activity;
  Value energy;                  // joules; empty where the region is too short for a figure, ...
  Value energy_min, energy_max;  // ... but it was not less and not more than this
};

// A stretch of the program, from its construction to end() or its destruction. Regions may nest and overlap.
class Region {
 public:
  // Takes over the handle, which is not null. Monitor::region() makes one.
  explicit Region(gpulse_region *handle) noexcept : handle_(handle) {}

  // Only the first call counts.
  void end() noexcept { gpulse_region_end(handle_.get()); }
  // Of the device with this UUID, so far or until its end. Empty: no sample had that device.
  std::optional<Use> use(std::string_view uuid) const {
    auto told = detail::sized<gpulse_region_use>();
    const auto status = gpulse_region_get(handle_.get(), std::string(uuid).c_str(), &told);
    if (status == GPULSE_INVALID) return std::nullopt;
    detail::check(status);
    return Use{Seconds(told.seconds),
               told.samples,
               told.settled != 0,
               Value(told.memory_begin),
               Value(told.memory_end),
               Value(told.memory_peak),
               Value(told.memory_total),
               Value(told.process_memory_begin),
               Value(told.process_memory_end),
               Value(told.process_memory_peak),
               Value(told.utilization),
               Value(told.true_activity),
               Value(told.energy),
               Value(told.energy_min),
               Value(told.energy_max)};
  }

 private:
  struct Free {
    void operator()(gpulse_region *region) const noexcept { gpulse_region_free(region); }
  };
  std::unique_ptr<gpulse_region, Free> handle_;
};

// Readings of the past in columns: "time", "monotonic", "step", "gpu", "uuid", then the keys of metrics.
class Table {
 public:
  // Takes over the handle, which is not null. Monitor::history() makes one.
  explicit Table(gpulse_table *handle) noexcept : handle_(handle) {}

  std::uint64_t rows() const noexcept { return gpulse_table_rows(handle_.get()); }
  std::uint32_t columns() const noexcept { return gpulse_table_columns(handle_.get()); }
  std::string_view name(std::uint32_t column) const { return info(column).name; }
  gpulse_column_type type(std::uint32_t column) const { return info(column).type; }
  // Where a column of that name is. Empty: there is none.
  std::optional<std::uint32_t> find(std::string_view name) const {
    for (std::uint32_t i = 0; i < columns(); ++i) {
      if (this->name(i) == name) return i;
    }
    return std::nullopt;
  }
  // As many as rows, NaN where there is none; null for a column of another type. They live as long as the table.
  const double *numbers(std::uint32_t column) const {
    const auto told = info(column);
    return told.type == GPULSE_NUMBER ? static_cast<const double *>(told.values) : nullptr;
  }
  // Of a time (nanoseconds since 1970) or an integer.
  const std::int64_t *integers(std::uint32_t column) const {
    const auto told = info(column);
    const bool whole = told.type == GPULSE_TIME || told.type == GPULSE_INTEGER;
    return whole ? static_cast<const std::int64_t *>(told.values) : nullptr;
  }
  std::string_view text(std::uint32_t column, std::uint64_t row) const {
    return detail::view(gpulse_table_text(handle_.get(), column, row));
  }
  bool has_value(std::uint32_t column, std::uint64_t row) const {
    const auto *bits = info(column).validity;
    return row < rows() && (bits == nullptr || (bits[row / 8] >> (row % 8) & 1U) != 0);
  }
  // `stream`: a struct ArrowArrayStream, which keeps what it needs.
  void arrow(void *stream) const { detail::check(gpulse_table_arrow(handle_.get(), stream)); }

 private:
  gpulse_column info(std::uint32_t column) const {
    auto info = detail::sized<gpulse_column>();
    detail::check(gpulse_get_column(handle_.get(), column, &info));
    return info;
  }

  struct Free {
    void operator()(gpulse_table *table) const noexcept { gpulse_table_free(table); }
  };
  std::unique_ptr<gpulse_table, Free> handle_;
};

struct History {
  std::optional<std::chrono::system_clock::time_point> since{}, until{};
  Seconds every{0};                  // so many seconds become one row; 0: every sample is one
  bool host = false;                 // of the machine, rather than of its devices
  std::vector<std::string> uuids{};  // devices; none: all
};

// What becomes of a file that is there.
enum class Existing : std::int32_t { refuse = GPULSE_REFUSE, append = GPULSE_APPEND, overwrite = GPULSE_OVERWRITE };

// Where a monitor writes its samples. gpulse.h has a line on each.
struct SinkOptions {
  std::string format{};               // "tensorboard", "csv", "jsonl", "prometheus"
  std::string path{};                 // TensorBoard's log directory; else a file
  std::vector<std::string> fields{};  // keys; none: what matters most
  std::vector<std::string> uuids{};   // devices; none: all
  std::string run{};                  // TensorBoard's run directory; empty: "gpu"
  Existing existing = Existing::refuse;
  bool steps = false;  // training steps will be set, and what comes before the first is left out
};

// A descriptor that becomes readable with every sample, for an event loop. It must not outlive its monitor.
class Subscription {
 public:
  explicit Subscription(gpulse_monitor *monitor) : monitor_(monitor), descriptor_(gpulse_subscribe(monitor)) {
    if (descriptor_ < 0) throw Error(GPULSE_FAILED, gpulse_last_error());
  }
  Subscription(Subscription &&other) noexcept
      : monitor_(std::exchange(other.monitor_, nullptr)), descriptor_(std::exchange(other.descriptor_, -1)) {}
  Subscription &operator=(Subscription &&other) noexcept {
    std::swap(monitor_, other.monitor_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Subscription() { gpulse_unsubscribe(monitor_, descriptor_); }

  int descriptor() const noexcept { return descriptor_; }

 private:
  gpulse_monitor *monitor_;
  int descriptor_;
};

// Samples in the background, until it is destroyed.
class Monitor {
 public:
  explicit Monitor(const Options &options = {}) {
    const auto given = detail::options_of(options);
    gpulse_monitor *handle = nullptr;
    detail::check(gpulse_open(&given, &handle));
    handle_.reset(handle);
  }

  // The newest sample. Empty: there is none yet, or none can be taken any more.
  std::optional<Sample> latest() const noexcept {
    auto *handle = gpulse_latest(handle_.get());
    return handle == nullptr ? std::nullopt : std::optional<Sample>(Sample(handle));
  }
  // One whose number is greater. Empty: none within the time; gpulse_last_error() says why.
  std::optional<Sample> wait(Seconds timeout, std::uint64_t number = 0) const {
    gpulse_sample *handle = nullptr;
    const auto status = gpulse_wait(handle_.get(), number, timeout.count(), &handle);
    return taken(status, handle);
  }
  // One that is taken from now on, out of turn. Empty: none within the time.
  std::optional<Sample> refresh(Seconds timeout) {
    gpulse_sample *handle = nullptr;
    const auto status = gpulse_refresh(handle_.get(), timeout.count(), &handle);
    return taken(status, handle);
  }

  // The step of the training that goes on: samples carry it from now on. Negative: none.
  void set_step(std::int64_t step) noexcept { gpulse_set_step(handle_.get(), step); }

  // Every further sample is written there too, by the monitor's thread.
  void add_sink(const SinkOptions &given) {
    auto options = detail::sized<gpulse_sink_options>();
    const auto fields = detail::joined(given.fields);
    const auto uuids = detail::joined(given.uuids);
    options.format = given.format.c_str();
    options.path = given.path.c_str();
    options.fields = detail::or_null(fields);
    options.uuids = detail::or_null(uuids);
    options.run = detail::or_null(given.run);
    options.existing = static_cast<std::int32_t>(given.existing);
    options.steps = given.steps ? 1 : 0;
    detail::check(gpulse_add_sink(handle_.get(), &options));
  }
  // What last went wrong with a sink; empty: nothing.
  std::string sink_error() const { return gpulse_sink_error(handle_.get()); }

  [[nodiscard]] Region region(const std::string &name) {
    auto *handle = gpulse_region_begin(handle_.get(), name.c_str());
    if (handle == nullptr) throw Error(GPULSE_FORKED, gpulse_last_error());
    return Region(handle);
  }

  Table history(const History &asked = {}) const {
    auto options = detail::sized<gpulse_history_options>();
    const auto nanoseconds = [](const auto &time) -> std::int64_t {
      return time ? std::chrono::duration_cast<std::chrono::nanoseconds>(time->time_since_epoch()).count() : 0;
    };
    options.since = nanoseconds(asked.since);
    options.until = nanoseconds(asked.until);
    options.every = asked.every.count();
    options.scope = asked.host ? GPULSE_HOST : GPULSE_DEVICE;
    const auto uuids = detail::joined(asked.uuids);
    options.uuids = detail::or_null(uuids);
    gpulse_table *table = nullptr;
    detail::check(gpulse_history(handle_.get(), &options, &table));
    return Table(table);
  }

  // Problems and notes that last, the worst first. The first call begins to watch, unless Options::findings did.
  Findings findings() {
    gpulse_findings *handle = nullptr;
    detail::check(gpulse_get_findings(handle_.get(), &handle));
    return detail::findings_of(handle);
  }
  // The last so many seconds judged as one, also what is well. Empty: less than 3 seconds were seen.
  std::optional<Findings> diagnose(Seconds last = Seconds(30)) {
    gpulse_findings *handle = nullptr;
    const auto status = gpulse_diagnose(handle_.get(), last.count(), &handle);
    if (status == GPULSE_TIMEOUT) return std::nullopt;
    detail::check(status);
    return detail::findings_of(handle);
  }

  // What it costs: gpulse.h has a line on each figure.
  gpulse_stats stats() const {
    auto stats = detail::sized<gpulse_stats>();
    detail::check(gpulse_get_stats(handle_.get(), &stats));
    return stats;
  }

  [[nodiscard]] Subscription subscribe() { return Subscription(handle_.get()); }

  gpulse_monitor *handle() const noexcept { return handle_.get(); }

 private:
  static std::optional<Sample> taken(gpulse_status status, gpulse_sample *handle) {
    if (status == GPULSE_TIMEOUT) return std::nullopt;
    detail::check(status);
    return Sample(handle);
  }

  struct Close {
    void operator()(gpulse_monitor *monitor) const noexcept { gpulse_close(monitor); }
  };
  std::unique_ptr<gpulse_monitor, Close> handle_;
};

}  // namespace v1
}  // namespace gpulse

#endif
