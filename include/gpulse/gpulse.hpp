// SPDX-License-Identifier: Apache-2.0
//
// gpulse for C++17: gpulse.h with owners instead of handles. Header only; link libgpulse.so.
//
//     gpulse::Monitor monitor;                              // samples once a second, in the background
//     const gpulse::Metric power("power_draw_watts");       // a typo throws, here and not in the loop
//     for (int step = 0; step < 1000; ++step) {
//       monitor.set_step(step);
//       train();
//       if (const auto sample = monitor.latest()) {         // no lock, no call to a driver
//         for (const auto &device : sample->devices()) {
//           if (const auto watts = device[power]) std::cout << *watts << " W\n";
//           else std::cout << watts.reason() << '\n';       // "not supported", "asleep", ...
//         }
//       }
//     }
//
// A reading is a number or a reason: a `Value` is like std::optional<double> and can say why it is empty.
//
// Errors: what cannot be done throws gpulse::Error, whose what() is one sentence. What is merely not there (no sample
// yet, no such device, nothing within the given time) is an empty optional. latest(), set_step() and values of a sample
// never throw.
//
// Lifetime: a Sample, and each Device and Process of one, keeps what it shows alive, also after the monitor has gone.
// Strings are std::string_view into the sample: they live as long as any copy of it. A Region may outlive its monitor,
// a Subscription may not.
//
// Threads: one object may be used by many threads as long as nobody moves or destroys it meanwhile.
// Fork: a monitor belongs to the process that opened it. In a forked child latest() is empty, the others throw an Error
// whose status() is GPULSE_FORKED, and it can be destroyed; open another one there.
#ifndef GPULSE_HPP
#define GPULSE_HPP

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpulse.h"

namespace gpulse {
inline namespace v1 {

class Error : public std::runtime_error {
 public:
  Error(gpulse_status status, const std::string &sentence) : std::runtime_error(sentence), status_(status) {}
  gpulse_status status() const noexcept { return status_; }

 private:
  gpulse_status status_;
};

namespace detail {

inline void check(gpulse_status status) {
  if (status != GPULSE_OK) throw Error(status, gpulse_last_error());
}

// A struct of the C interface with its size set.
template <class Struct>
Struct sized() {
  Struct made{};
  made.size = sizeof made;
  return made;
}

inline std::string_view view(const char *text) { return text == nullptr ? std::string_view() : std::string_view(text); }

}  // namespace detail

inline std::string_view version() { return gpulse_version(); }

// A number, or the reason why there is none.
class Value {
 public:
  Value() : number_(std::nan("")) {}
  explicit Value(double number) : number_(number) {}

  bool has_value() const noexcept { return !std::isnan(number_); }
  explicit operator bool() const noexcept { return has_value(); }
  // Only where there is one.
  double operator*() const noexcept { return number_; }
  double value() const {
    if (!has_value()) throw Error(GPULSE_FAILED, reason());
    return number_;
  }
  double value_or(double other) const noexcept { return has_value() ? number_ : other; }
  operator std::optional<double>() const { return has_value() ? std::optional<double>(number_) : std::nullopt; }

  // "not supported", "no permission", "asleep", ...; empty for a number.
  std::string reason() const { return gpulse_reason(number_); }
  // As the C interface has it: a NaN that carries the reason.
  double raw() const noexcept { return number_; }

 private:
  double number_;
};

// Which reading: looked up by its key once, when the program starts. `gpulse explain --all` lists the keys.
class Metric {
 public:
  explicit Metric(const std::string &key) : number_(gpulse_metric(key.c_str())) {
    if (number_ < 0) throw Error(GPULSE_INVALID, gpulse_last_error());
  }

  std::int32_t number() const noexcept { return number_; }
  std::string_view key() const { return info().key; }
  gpulse_scope scope() const { return info().scope; }
  gpulse_kind kind() const { return info().kind; }
  std::string_view unit() const { return info().unit; }    // "watts", "bytes", ...; empty where there is none
  std::string_view label() const { return info().label; }  // a few capitals for a column
  std::string_view help() const { return info().help; }    // one line
  // Of a state or set: "P0", "power cap, sw thermal".
  std::string words(const Value &value) const {
    std::string text(gpulse_words(number_, value.raw(), nullptr, 0) + 1, '\0');
    text.resize(gpulse_words(number_, value.raw(), text.data(), text.size()));
    return text;
  }

 private:
  gpulse_metric_info info() const {
    auto info = detail::sized<gpulse_metric_info>();
    detail::check(gpulse_describe(number_, &info));
    return info;
  }

  std::int32_t number_;
};

class Device;
class Process;

// Things of one kind in a sample, for a range-for. They are made as they are looked at.
template <class Item, class Owner>
class Items {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Item;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Item;

    Iterator(const Owner *owner, std::uint32_t at) : owner_(owner), at_(at) {}
    Item operator*() const { return Item(*owner_, at_); }
    Iterator &operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(owner_, at_++); }
    friend bool operator==(const Iterator &a, const Iterator &b) { return a.at_ == b.at_; }
    friend bool operator!=(const Iterator &a, const Iterator &b) { return a.at_ != b.at_; }

   private:
    const Owner *owner_;
    std::uint32_t at_;
  };

  Items(Owner owner, std::uint32_t count) : owner_(std::move(owner)), count_(count) {}
  Iterator begin() const { return Iterator(&owner_, 0); }
  Iterator end() const { return Iterator(&owner_, count_); }
  std::uint32_t size() const noexcept { return count_; }
  bool empty() const noexcept { return count_ == 0; }
  Item operator[](std::uint32_t at) const { return Item(owner_, at); }

 private:
  Owner owner_;
  std::uint32_t count_;
};

// What the machine looked like at one moment. Never changes; a copy costs as much as one of std::shared_ptr.
class Sample {
 public:
  // Takes over the handle, which is not null.
  explicit Sample(gpulse_sample *handle) noexcept : handle_(handle) {}
  Sample(const Sample &other) noexcept : handle_(other.handle_) { gpulse_retain(handle_); }
  Sample(Sample &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Sample &operator=(Sample other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Sample() { gpulse_release(handle_); }

  // 1, 2, 3, ... of its monitor; 0 of look().
  std::uint64_t number() const { return info().number; }
  std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds> time() const {
    return std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>(
        std::chrono::nanoseconds(info().time));
  }
  std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds> monotonic() const {
    return std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>(
        std::chrono::nanoseconds(info().monotonic));
  }
  std::optional<std::int64_t> step() const {
    const auto step = info().step;
    return step < 0 ? std::nullopt : std::optional<std::int64_t>(step);
  }
  bool from_agent() const { return info().from_agent != 0; }
  std::string_view hostname() const { return info().hostname; }
  // Why there is no device; empty where there are some.
  std::string_view absence() const { return info().absence; }

  Items<Device, Sample> devices() const;
  // A process that is on several devices is listed with each of them.
  Items<Process, Sample> processes() const;
  // By number ("0", "0:1"), UUID or its beginning, or PCI address. Empty: none, or several.
  std::optional<Device> find(const std::string &selector) const;

  // A metric of the host.
  Value operator[](const Metric &metric) const noexcept { return Value(gpulse_value(handle_, metric.number(), 0)); }
  // As `gpulse --json` prints it.
  std::string_view json() const {
    const char *text = gpulse_json(handle_);
    if (text == nullptr) throw Error(GPULSE_FAILED, gpulse_last_error());
    return text;
  }

  const gpulse_sample *handle() const noexcept { return handle_; }

 private:
  gpulse_sample_info info() const {
    auto info = detail::sized<gpulse_sample_info>();
    detail::check(gpulse_get_info(handle_, &info));
    return info;
  }

  gpulse_sample *handle_;
};

// A GPU, or an instance of one, as a sample shows it.
class Device {
 public:
  Device(Sample sample, std::uint32_t position) : sample_(std::move(sample)), position_(position) {
    info_ = detail::sized<gpulse_device_info>();
    detail::check(gpulse_get_device(sample_.handle(), position, &info_));
  }

  std::uint32_t position() const noexcept { return position_; }
  std::uint32_t index() const noexcept { return info_.index; }       // as nvidia-smi counts
  bool is_instance() const noexcept { return info_.instance >= 0; }  // of MIG
  std::int32_t instance() const noexcept { return info_.instance; }  // its number on its GPU; -1: a whole GPU
  std::string_view id() const noexcept { return info_.id; }          // "0", "0:1"
  std::string_view uuid() const noexcept { return info_.uuid; }      // stands for the device, also after a restart
  std::string_view name() const noexcept { return info_.name; }
  std::string_view vendor() const noexcept { return info_.vendor; }  // "nvidia", "amd", "intel", ...
  std::string_view pci() const noexcept { return info_.pci; }        // "0000:00:06.0", or empty
  std::string_view driver() const noexcept { return info_.driver; }  // version
  std::string_view parent() const noexcept { return info_.parent; }  // UUID of an instance's GPU, else empty
  std::string_view state() const noexcept { return info_.state; }    // "ok", "asleep", "lost", "not responding"

  Value operator[](const Metric &metric) const noexcept {
    return Value(gpulse_value(sample_.handle(), metric.number(), position_));
  }
  // A metric of the kind text, such as "serial"; empty: not there.
  std::string_view text(const Metric &metric) const noexcept {
    return detail::view(gpulse_text(sample_.handle(), metric.number(), position_));
  }
  const Sample &sample() const noexcept { return sample_; }

 private:
  Sample sample_;
  std::uint32_t position_;
  gpulse_device_info info_;
};

// A process on a device.
class Process {
 public:
  Process(Sample sample, std::uint32_t position) : sample_(std::move(sample)), position_(position) {
    info_ = detail::sized<gpulse_process_info>();
    detail::check(gpulse_get_process(sample_.handle(), position, &info_));
  }

  std::uint32_t pid() const noexcept { return info_.pid; }
  std::string_view type() const noexcept { return info_.type; }  // "compute", "graphics", ...
  bool is_self() const noexcept { return info_.is_self != 0; }   // the process that asks
  // Empty: the sample does not have it.
  std::optional<Device> device() const {
    return info_.device == UINT32_MAX ? std::nullopt : std::optional<Device>(Device(sample_, info_.device));
  }

  Value operator[](const Metric &metric) const noexcept {
    return Value(gpulse_value(sample_.handle(), metric.number(), position_));
  }
  // Such as "process.user", "process.command"; empty: not there.
  std::string_view text(const Metric &metric) const noexcept {
    return detail::view(gpulse_text(sample_.handle(), metric.number(), position_));
  }

 private:
  Sample sample_;
  std::uint32_t position_;
  gpulse_process_info info_;
};

inline Items<Device, Sample> Sample::devices() const { return {*this, info().devices}; }
inline Items<Process, Sample> Sample::processes() const { return {*this, info().processes}; }
inline std::optional<Device> Sample::find(const std::string &selector) const {
  const auto position = gpulse_find_device(handle_, selector.c_str());
  if (position < 0) return std::nullopt;
  return Device(*this, static_cast<std::uint32_t>(position));
}

using Seconds = std::chrono::duration<double>;

struct Options {
  Seconds interval{1};    // between samples: 0.01 to 86400 seconds
  Seconds history{900};   // how much of the past is kept
  std::string metrics{};  // keys with commas; empty: what a status page shows; "all": everything
  bool agent = true;      // take the samples of the machine's agent, where there is one
};

namespace detail {

inline gpulse_options options_of(const Options &given) {
  auto options = sized<gpulse_options>();
  options.interval = given.interval.count();
  options.history = given.history.count();
  options.metrics = given.metrics.empty() ? nullptr : given.metrics.c_str();
  options.flags = given.agent ? 0U : static_cast<std::uint32_t>(GPULSE_NO_AGENT);
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
    std::string uuids;
    for (const auto &uuid : asked.uuids) uuids += (uuids.empty() ? "" : ",") + uuid;
    options.uuids = uuids.empty() ? nullptr : uuids.c_str();
    gpulse_table *table = nullptr;
    detail::check(gpulse_history(handle_.get(), &options, &table));
    return Table(table);
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
