// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "base/text.hpp"

namespace gpulse {

void JsonWriter::separate() {
  if (!fresh_) out_ += ',';
  fresh_ = false;
}

void JsonWriter::begin_object() {
  separate();
  out_ += '{';
  fresh_ = true;
}

void JsonWriter::end_object() {
  out_ += '}';
  fresh_ = false;
}

void JsonWriter::begin_array() {
  separate();
  out_ += '[';
  fresh_ = true;
}

void JsonWriter::end_array() {
  out_ += ']';
  fresh_ = false;
}

void JsonWriter::key(std::string_view name) {
  value(name);
  out_ += ':';
  fresh_ = true;
}

void JsonWriter::value(std::string_view text) {
  separate();
  out_ += '"';
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') out_ += '\\';
    out_ += c;
  }
  out_ += '"';
}

void JsonWriter::value(bool flag) {
  separate();
  out_ += flag ? "true" : "false";
}

void JsonWriter::value(std::uint64_t number) {
  separate();
  fmt::format_to(std::back_inserter(out_), "{}", number);
}

void JsonWriter::value(std::int64_t number) {
  separate();
  fmt::format_to(std::back_inserter(out_), "{}", number);
}

void JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  separate();
  // Whole numbers are written without exponent: parsers that read integers take them as such.
  if (number == std::trunc(number) && std::abs(number) < 1e15) {
    fmt::format_to(std::back_inserter(out_), "{}", static_cast<std::int64_t>(number));
    return;
  }
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  out_.append(text.data(), end);
}

void JsonWriter::null() {
  separate();
  out_ += "null";
}

}  // namespace gpulse
