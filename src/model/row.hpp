// SPDX-License-Identifier: Apache-2.0
// The readings of one device, process or host: one per number in the table for that scope, addressed by metric.
#pragma once

#include <cassert>
#include <concepts>
#include <span>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "metric/table.hpp"
#include "model/reading.hpp"

namespace gpulse {

class Row {
 public:
  explicit Row(Scope scope, Reading initial = {}) : scope_(scope), readings_(number_count(scope), initial) {}

  Scope scope() const { return scope_; }

  Reading &operator[](MetricId id) {
    assert(key_of(id).scope == scope_ && !is_text(key_of(id)));
    return readings_[slot(id)];
  }
  const Reading &operator[](MetricId id) const {
    assert(key_of(id).scope == scope_ && !is_text(key_of(id)));
    return readings_[slot(id)];
  }

  std::span<Reading> readings() { return readings_; }
  std::span<const Reading> readings() const { return readings_; }
  void fill(Reading reading) { readings_.assign(readings_.size(), reading); }

  bool operator==(const Row &) const = default;

 private:
  Scope scope_;
  std::vector<Reading> readings_;
};

// The reading of the metric that plays the role in the row's scope.
inline Reading by_role(const Row &row, Role role) {
  const auto id = find_role(row.scope(), role);
  return id ? row[*id] : Reading(Reason::not_supported);
}

// A text of the driver's or the kernel's, or the reason why there is none.
class TextReading {
 public:
  TextReading() = default;
  template <std::convertible_to<Text> From>
  TextReading(From &&value) : value_(std::forward<From>(value)), has_value_(true) {}  // NOLINT(*-explicit-constructor)
  TextReading(Reason reason, std::uint16_t code = 0)  // NOLINT(google-explicit-constructor)
      : reason_(reason), code_(code) {}

  bool has_value() const { return has_value_; }
  explicit operator bool() const { return has_value_; }
  const std::string &value() const {
    assert(has_value_);
    return value_;
  }
  std::string value_or(std::string_view other) const { return has_value_ ? value_.str() : std::string(other); }
  Reason reason() const { return reason_; }
  std::uint16_t code() const { return code_; }
  bool operator==(const TextReading &) const = default;

 private:
  Text value_;
  bool has_value_ = false;
  Reason reason_ = Reason::not_sampled;
  std::uint16_t code_ = 0;
};

// As Row, for the texts of a scope.
class TextRow {
 public:
  explicit TextRow(Scope scope, const TextReading &initial = Reason::not_supported)
      : scope_(scope), texts_(text_count(scope), initial) {}

  TextReading &operator[](MetricId id) {
    assert(key_of(id).scope == scope_ && is_text(key_of(id)));
    return texts_[slot(id)];
  }
  const TextReading &operator[](MetricId id) const {
    assert(key_of(id).scope == scope_ && is_text(key_of(id)));
    return texts_[slot(id)];
  }
  std::span<const TextReading> texts() const { return texts_; }
  std::span<TextReading> texts() { return texts_; }
  bool operator==(const TextRow &) const = default;

 private:
  Scope scope_;
  std::vector<TextReading> texts_;
};

}  // namespace gpulse
