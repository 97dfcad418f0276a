// SPDX-License-Identifier: Apache-2.0
#include "fleet/position.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/file.hpp"

namespace gpulse::fleet {

namespace {

constexpr std::string_view kTitle = "gpulse remote write 1";

// "name value" of the next line.
bool take_line(std::string_view &text, std::string_view name, std::string_view &value) {
  const auto end = text.find('\n');
  if (end == std::string_view::npos) return false;
  value = text.substr(0, end);
  text.remove_prefix(end + 1);
  if (!value.starts_with(name) || value.size() <= name.size() || value[name.size()] != ' ') return false;
  value.remove_prefix(name.size() + 1);
  return true;
}

template <class Number>
bool take_number(std::string_view &text, std::string_view name, Number &number) {
  std::string_view value;
  if (!take_line(text, name, value)) return false;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc() && end == value.data() + value.size();
}

}  // namespace

std::string position_text(const Position &position) {
  return fmt::format("{}\nurl {}\ntime {}\ntaken {}\nrefused {}\n", kTitle, position.url,
                     position.time.time_since_epoch().count(), position.taken, position.refused);
}

std::optional<Position> parse_position(std::string_view text) {
  if (!text.starts_with(kTitle) || text.size() <= kTitle.size() || text[kTitle.size()] != '\n') return std::nullopt;
  text.remove_prefix(kTitle.size() + 1);
  Position position;
  std::string_view url;
  WallTime::duration::rep time = 0;
  if (!take_line(text, "url", url) || !take_number(text, "time", time) || !take_number(text, "taken", position.taken) ||
      !take_number(text, "refused", position.refused)) {
    return std::nullopt;
  }
  position.url = url;
  position.time = WallTime(WallTime::duration(time));
  return position;
}

std::optional<Position> read_position(const std::string &path) {
  const auto text = read_small_file(path);
  return text ? parse_position(*text) : std::nullopt;
}

Result<void> write_position(const std::string &path, const Position &position) {
  return replace_file(path, position_text(position));
}

}  // namespace gpulse::fleet
