// SPDX-License-Identifier: Apache-2.0
// The two texts that a scraper takes, Prometheus' own 0.0.4 and OpenMetrics 1.0: heads of families, labels, numbers.
// They differ in the heads, the escaping and the last line. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpulse::view {

enum class Exposition : std::uint8_t { text, openmetrics };

std::string_view content_type(Exposition exposition);
// The one that an Accept header likes best, the first of equals; 0.0.4 for everybody who does not care.
Exposition choose_exposition(std::string_view accept);

// Of a gauge, or of a counter, whose name ends in "_total".
std::string head_of(Exposition exposition, std::string_view name, std::string_view help, bool is_counter = false);
// What a text ends with.
std::string_view end_of(Exposition exposition);

// `labels` begins with a brace as soon as there is one; an empty value is the same as no label.
void append_label(std::string &labels, std::string_view name, std::string_view value);
// One more label and the closing brace, for labels that have one already.
std::string label_end(std::string_view name, std::string_view value);
// With the line's end.
void append_number(std::string &out, double number);

// Puts the head of a family before its first series, once.
class Head {
 public:
  explicit Head(const std::string &text) : text_(text) {}
  void put(std::string &out) {
    if (!done_) out += text_;
    done_ = true;
  }

 private:
  const std::string &text_;
  bool done_ = false;
};

}  // namespace gpulse::view
