// SPDX-License-Identifier: Apache-2.0
// Readings in columns, ready for programs that think in columns. A plain value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/reading.hpp"

namespace gpulse::monitor {

// A bit per row, the least significant first, as Arrow has it.
class Validity {
 public:
  void add(bool valid) {
    if (count_ % 8 == 0) bits_.push_back(0);
    if (valid) {
      bits_.back() = static_cast<std::uint8_t>(bits_.back() | (1U << (count_ % 8)));
    } else {
      ++missing_;
    }
    ++count_;
  }
  std::size_t missing() const { return missing_; }
  const std::uint8_t *data() const { return bits_.data(); }

 private:
  std::vector<std::uint8_t> bits_;
  std::size_t count_ = 0, missing_ = 0;
};

struct Times {
  std::vector<std::int64_t> values;  // nanoseconds since 1970
};
struct Integers {
  std::vector<std::int64_t> values;
  Validity validity;
  void add(std::optional<std::int64_t> value) {
    values.push_back(value.value_or(0));
    validity.add(value.has_value());
  }
};
struct Numbers {
  std::vector<double> values;  // NaN where there is none
  Validity validity;
  void add(const Reading &reading);
};
struct Strings {
  std::vector<std::int32_t> offsets{0};  // of each in `text`, and the end, as Arrow has it
  std::string text;
  std::vector<std::string> values;
  void add(const std::string &value);
};

struct Column {
  std::string name;
  std::variant<Times, Integers, Numbers, Strings> data;
};

struct Table {
  std::vector<Column> columns;
  std::size_t rows = 0;
};

}  // namespace gpulse::monitor
