// SPDX-License-Identifier: Apache-2.0
// A reading is a number or the reason why there is none. There is no default number.
#pragma once

#include <cassert>
#include <cstdint>
#include <string>

namespace gpulse {

enum class Reason : std::uint8_t {
  not_sampled,     // asked for, but not read yet
  not_supported,   // this device, driver or vendor does not have it
  no_permission,   // there, but not for this user
  asleep,          // reading it would wake the device
  lost,            // the device has fallen off the bus
  not_responding,  // the driver has not answered in time
  out_of_range,    // the driver gave a number that cannot be
  reset_required,  // the device answers nothing until it is reset
  error,           // the driver refused, with a code of its own
  deprecated,      // the driver had it once, and does no longer
};

inline constexpr Reason kLastReason = Reason::deprecated;

class Reading {
 public:
  Reading() : Reading(Reason::not_sampled) {}
  Reading(double value) : value_(value) {}        // NOLINT(google-explicit-constructor): a number is a reading
  Reading(Reason reason, std::uint16_t code = 0)  // NOLINT(google-explicit-constructor): and so is a reason
      : code_(code), reason_(static_cast<std::uint8_t>(reason)) {}

  bool has_value() const { return reason_ == kNone; }
  explicit operator bool() const { return has_value(); }
  double value() const {
    assert(has_value());
    return value_;
  }
  double value_or(double other) const { return has_value() ? value_ : other; }
  Reason reason() const {
    assert(!has_value());
    return static_cast<Reason>(reason_);
  }
  bool is(Reason reason) const { return reason_ == static_cast<std::uint8_t>(reason); }
  // The driver's own number behind Reason::error.
  std::uint16_t code() const { return code_; }

  bool operator==(const Reading &other) const {
    return reason_ == other.reason_ && code_ == other.code_ && (reason_ != kNone || value_ == other.value_);
  }

 private:
  static constexpr std::uint8_t kNone = 0xFF;

  double value_ = 0;
  std::uint16_t code_ = 0;
  std::uint8_t reason_ = kNone;
};

// "not supported", "no permission", … "error: driver code 999".
std::string text(Reason reason, std::uint16_t code = 0);
inline std::string reason_text(const Reading &reading) { return text(reading.reason(), reading.code()); }

}  // namespace gpulse
