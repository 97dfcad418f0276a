// SPDX-License-Identifier: Apache-2.0
// Part of gpulse.hpp: metrics, values, and a sample with its devices and processes.
#ifndef GPULSE_SAMPLE_HPP
#define GPULSE_SAMPLE_HPP

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

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
  // With its unit, as a person reads it: "85 %", "1.1 GiB"; or the reason why it is not there.
  std::string format(const Value &value) const {
    std::string text(gpulse_format(number_, value.raw(), nullptr, 0) + 1, '\0');
    text.resize(gpulse_format(number_, value.raw(), text.data(), text.size()));
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

}  // namespace v1
}  // namespace gpulse

#endif
