// SPDX-License-Identifier: Apache-2.0
// Pause, step, jump: over what was seen, or over a recording.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "base/text.hpp"
#include "tui/app.hpp"

namespace gpulse::tui {

namespace {

using std::chrono::nanoseconds;

// "90s", "5m", "1h30m", "45": seconds.
std::optional<double> span_of_time(std::string_view text) {
  double total = 0;
  while (!text.empty()) {
    const auto end = text.find_first_not_of("0123456789.");
    const auto number = parse_double(text.substr(0, end));
    if (!number) return std::nullopt;
    const char unit = end == std::string_view::npos ? 's' : text[end];
    if (unit != 's' && unit != 'm' && unit != 'h' && unit != 'd') return std::nullopt;
    total += *number * (unit == 's' ? 1 : (unit == 'm' ? 60 : (unit == 'h' ? 3600 : 86400)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  // More than any recording is long.
  constexpr double kLongest = 1e9;
  return total >= 0 && total <= kLongest ? std::optional(total) : std::nullopt;
}

// "14:03" or "14:03:20" of the day that `near` is in, by the local clock.
std::optional<WallTime> clock_time(std::string_view text, WallTime near) {
  const auto parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
  std::array<int, 3> numbers{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = parse_integer<int>(parts[i]);
    if (!number || *number < 0 || *number > 59) return std::nullopt;
    numbers[i] = *number;
  }
  const auto seconds = std::chrono::floor<std::chrono::seconds>(near.time_since_epoch()).count();
  const auto then = static_cast<std::time_t>(seconds);
  std::tm day{};
  if (::localtime_r(&then, &day) == nullptr) return std::nullopt;
  day.tm_hour = numbers[0];
  day.tm_min = numbers[1];
  day.tm_sec = numbers[2];
  day.tm_isdst = -1;
  const auto made = std::mktime(&day);
  if (made == static_cast<std::time_t>(-1)) return std::nullopt;
  return WallTime(std::chrono::seconds(made));
}

nanoseconds from_seconds(double seconds) { return nanoseconds(static_cast<std::int64_t>(seconds * 1e9)); }

}  // namespace

void App::set_playing(bool playing, Monotonic now) {
  playing_ = playing;
  changed_ = true;
  if (!options_.replay || !playing || number_ + 1 >= timeline_.end()) return;
  // As long as it took then; a pause of the recording is no reason to wait for it.
  constexpr nanoseconds kLongest = std::chrono::seconds(60);
  auto pause = timeline_.time(number_ + 1) - timeline_.time(number_);
  if (pause < nanoseconds(0) || pause > kLongest) pause = std::chrono::seconds(1);
  play_due_ = now + from_seconds(std::chrono::duration<double>(pause).count() / std::max(options_.speed, 1e-6));
}

void App::step(std::int64_t by, Monotonic now) {
  if (current_ == nullptr) return;
  playing_ = false;
  const auto first = static_cast<std::int64_t>(timeline_.first());
  const auto last = static_cast<std::int64_t>(timeline_.end()) - 1;
  const auto wanted = std::clamp(static_cast<std::int64_t>(number_) + by, first, last);
  if (wanted != static_cast<std::int64_t>(number_)) show(static_cast<std::uint64_t>(wanted), now);
  changed_ = true;
}

void App::jump(std::chrono::seconds by, Monotonic now) {
  if (current_ == nullptr) return;
  playing_ = false;
  show(timeline_.find(timeline_.time(number_) + by), now);
}

void App::go_to(const std::string &text, Monotonic now) {
  const auto words = std::string(trim(text));
  if (words.empty() || current_ == nullptr) return;
  if (words == "start") return step(-static_cast<std::int64_t>(number_ - timeline_.first()), now);
  if (words == "end" || words == "now") return act(Action::live, now), void();
  std::optional<WallTime> time = clock_time(words, current_->time);
  if (!time && (words.front() == '-' || words.front() == '+')) {
    if (const auto seconds = span_of_time(std::string_view(words).substr(1))) {
      time = timeline_.time(number_) + from_seconds(words.front() == '-' ? -*seconds : *seconds);
    }
  } else if (!time) {
    if (const auto seconds = span_of_time(words)) time = timeline_.time(timeline_.first()) + from_seconds(*seconds);
  }
  if (!time)
    return say(fmt::format("\"{}\" is no time: 14:03:20, -5m, 90s from the start, start, end", words), now, true);
  playing_ = false;
  show(timeline_.find(*time), now);
}

bool App::act_time(Action action, Monotonic now) {
  constexpr auto kJump = std::chrono::seconds(60);
  switch (action) {
    case Action::pause:
      if (!playing_ && options_.replay && number_ + 1 >= timeline_.end()) show(timeline_.first(), now);
      set_playing(!playing_, now);
      if (playing_ && !options_.replay && !timeline_.empty()) show(timeline_.end() - 1, now);
      return true;
    case Action::step_back:
      return step(-1, now), true;
    case Action::step_forward:
      return step(1, now), true;
    case Action::jump_back:
      return jump(-kJump, now), true;
    case Action::jump_forward:
      return jump(kJump, now), true;
    case Action::go_to_time:
      prompt_ = Prompt{.question = "go to time:"};
      prompt_for_ = PromptFor::time;
      return true;
    case Action::live:
      if (!timeline_.empty()) show(timeline_.end() - 1, now);
      playing_ = !options_.replay;
      return true;
    default:
      return false;
  }
}

}  // namespace gpulse::tui
