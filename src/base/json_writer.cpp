// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/text.hpp"

namespace gpulse {

[[gnu::hot]] void JsonWriter::append(std::uint64_t number) {
  std::array<char, 20> text;  // NOLINT(*-member-init): filled from its end
  auto *const end = text.data() + text.size();
  auto *begin = end;
  do {
    *--begin = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number > 0);
  out_.append(begin, end);
}

void JsonWriter::separate() {
  if (!fresh_) out_ += ',';
  fresh_ = false;
}

[[gnu::hot]] void JsonWriter::begin_object() {
  separate();
  out_ += '{';
  fresh_ = true;
}

[[gnu::hot]] void JsonWriter::end_object() {
  out_ += '}';
  fresh_ = false;
}

[[gnu::hot]] void JsonWriter::begin_array() {
  separate();
  out_ += '[';
  fresh_ = true;
}

[[gnu::hot]] void JsonWriter::end_array() {
  out_ += ']';
  fresh_ = false;
}

[[gnu::hot]] void JsonWriter::key(std::string_view name) {
  value(name);
  out_ += ':';
  fresh_ = true;
}

[[gnu::hot]] void JsonWriter::value(std::string_view text) {
  separate();
  out_ += '"';
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  if (std::all_of(text.begin(), text.end(), is_plain)) {
    out_ += text;
  } else {
    for (const char c : printable(text)) {
      if (c == '"' || c == '\\') out_ += '\\';
      out_ += c;
    }
  }
  out_ += '"';
}

void JsonWriter::value(bool flag) {
  separate();
  out_ += flag ? "true" : "false";
}

[[gnu::hot]] void JsonWriter::value(std::uint64_t number) {
  separate();
  append(number);
}

void JsonWriter::value(std::int64_t number) {
  separate();
  if (number < 0) out_ += '-';
  const auto bits = static_cast<std::uint64_t>(number);
  append(number < 0 ? 0 - bits : bits);
}

// Most readings have at most three digits after the point: then these are the shortest, and found in a quarter of the
// time.
[[gnu::hot]] bool JsonWriter::append_thousandths(double number) {
  constexpr double kScale = 1000, kMost = 1e9;
  constexpr std::uint64_t kThousand = 1000;
  const auto size = std::abs(number);
  if (!(size < kMost)) return false;
  const auto all = static_cast<std::uint64_t>(std::llround(size * kScale));
  if (static_cast<double>(all) / kScale != size) return false;
  if (number < 0) out_ += '-';
  append(all / kThousand);
  out_ += '.';
  for (auto rest = all % kThousand * 10; rest > 0; rest = rest % kThousand * 10) {
    out_ += static_cast<char>('0' + rest / kThousand);
  }
  return true;
}

[[gnu::hot]] void JsonWriter::value(double number) {
  // Whole numbers are written without exponent: parsers that read integers take them as such.
  if (std::abs(number) < 1e15) {
    const auto whole = static_cast<std::int64_t>(number);
    if (static_cast<double>(whole) == number) return value(whole);
  }
  if (!std::isfinite(number)) return null();
  separate();
  if (append_thousandths(number)) return;
  std::array<char, 32> text{};
  out_.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr);
}

[[gnu::hot]] void JsonWriter::written(std::string_view text) {
  if (text.empty()) return;
  separate();
  out_ += text;
}

[[gnu::hot]] void JsonWriter::null() {
  separate();
  out_ += "null";
}

}  // namespace gpulse
