// SPDX-License-Identifier: Apache-2.0
// A reading is a number or the reason why there is none. There is no default number.
#pragma once

#include <bit>
#include <cassert>
#include <cmath>
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

// Eight bytes, because every sample holds thousands: a reason is a NaN with a mark that no arithmetic makes.
class Reading {
 public:
  Reading() : Reading(Reason::not_sampled) {}
  // NOLINTNEXTLINE(google-explicit-constructor): a number is a reading; what is not finite is out of range
  Reading(double value) : Reading(Reason::out_of_range) {
    if (std::isfinite(value)) bits_ = std::bit_cast<std::uint64_t>(value);
  }
  Reading(Reason reason, std::uint16_t code = 0)  // NOLINT(google-explicit-constructor): and so is a reason
      : bits_(kMark | (std::uint64_t{code} << 8U) | static_cast<std::uint8_t>(reason)) {}

  bool has_value() const { return (bits_ & kMarkBits) != kMark; }
  explicit operator bool() const { return has_value(); }
  double value() const {
    assert(has_value());
    return std::bit_cast<double>(bits_);
  }
  double value_or(double other) const { return has_value() ? std::bit_cast<double>(bits_) : other; }
  Reason reason() const {
    assert(!has_value());
    return static_cast<Reason>(bits_ & 0xFFU);
  }
  bool is(Reason reason) const { return !has_value() && (bits_ & 0xFFU) == static_cast<std::uint8_t>(reason); }
  // The driver's own number behind Reason::error.
  std::uint16_t code() const { return has_value() ? std::uint16_t{0} : static_cast<std::uint16_t>(bits_ >> 8U); }

  bool operator==(const Reading &other) const {
    if (!has_value() || !other.has_value()) return bits_ == other.bits_;
    return std::bit_cast<double>(bits_) == std::bit_cast<double>(other.bits_);
  }

 private:
  static constexpr std::uint64_t kMark = 0xFFFC'6770'0000'0000, kMarkBits = 0xFFFF'FFFF'0000'0000;

  std::uint64_t bits_;
};

// "not supported", "no permission", … "error: driver code 999".
std::string text(Reason reason, std::uint16_t code = 0);
inline std::string reason_text(const Reading &reading) { return text(reading.reason(), reading.code()); }

}  // namespace gpulse
