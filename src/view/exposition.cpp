// SPDX-License-Identifier: Apache-2.0
#include "view/exposition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/json_writer.hpp"
#include "base/text.hpp"

namespace gpulse::view {

namespace {

// The longer ones first.
constexpr std::array<std::string_view, 9> kUnits{"bytes_per_second", "seconds", "bytes", "ratio", "watts",
                                                 "joules",           "celsius", "hertz", "volts"};
constexpr std::string_view kTotal = "_total";

// Backslashes and line breaks have a meaning in the format, and quotes in a label.
std::string escaped(std::string_view text, bool quotes) {
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    if (c == '\n') {
      safe += "\\n";
      continue;
    }
    if (c == '\\' || (quotes && c == '"')) safe += '\\';
    safe += c;
  }
  return safe;
}

std::string_view unit_of(std::string_view family) {
  const auto unit = std::ranges::find_if(kUnits, [&](std::string_view one) {
    return family.ends_with(one) && family.size() > one.size() && family[family.size() - one.size() - 1] == '_';
  });
  return unit != kUnits.end() ? *unit : std::string_view();
}

// One kind of text of an Accept header, with how much it is liked.
struct Liking {
  std::string type;
  std::string version;
  double quality = 1;
};

Liking liking_of(std::string_view range) {
  Liking liking;
  liking.type = lower(trim(next_piece(range, ';')));
  while (!range.empty()) {
    auto value = trim(next_piece(range, ';'));
    const auto name = lower(trim(next_piece(value, '=')));
    value = trim(value);
    if (value.size() > 1 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    if (name == "version") liking.version = value;
    if (name == "q") liking.quality = std::clamp(parse_double(value).value_or(0), 0.0, 1.0);
  }
  return liking;
}

}  // namespace

std::string_view content_type(Exposition exposition) {
  return exposition == Exposition::openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                               : "text/plain; version=0.0.4; charset=utf-8";
}

Exposition choose_exposition(std::string_view accept) {
  auto best = Exposition::text;
  double quality = 0;
  while (!accept.empty()) {
    const auto one = liking_of(next_piece(accept, ','));
    // Also where it is no number.
    if (!(one.quality > quality)) continue;
    const bool is_open = one.type == "application/openmetrics-text" && (one.version.empty() || one.version == "1.0.0");
    const bool is_text = (one.type == "text/plain" && (one.version.empty() || one.version == "0.0.4")) ||
                         one.type == "text/*" || one.type == "*/*";
    if (!is_open && !is_text) continue;
    best = is_open ? Exposition::openmetrics : Exposition::text;
    quality = one.quality;
  }
  return best;
}

std::string head_of(Exposition exposition, std::string_view name, std::string_view help, bool is_counter) {
  const std::string_view kind = is_counter ? "counter" : "gauge";
  if (exposition == Exposition::text) {
    return fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, escaped(help, false), name, kind);
  }
  const auto family = is_counter && name.ends_with(kTotal) ? name.substr(0, name.size() - kTotal.size()) : name;
  auto head = fmt::format("# HELP {} {}\n# TYPE {} {}\n", family, escaped(help, true), family, kind);
  if (const auto unit = unit_of(family); !unit.empty()) head += fmt::format("# UNIT {} {}\n", family, unit);
  return head;
}

std::string_view end_of(Exposition exposition) { return exposition == Exposition::openmetrics ? "# EOF\n" : ""; }

void append_label(std::string &labels, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  labels += fmt::format("{}{}=\"{}\"", labels.empty() ? '{' : ',', name, escaped(value, true));
}

std::string label_end(std::string_view name, std::string_view value) {
  return fmt::format(",{}=\"{}\"}} ", name, escaped(value, true));
}

[[gnu::hot]] void append_number(std::string &out, double number) {
  JsonWriter(out).value(number);
  out += '\n';
}

}  // namespace gpulse::view
