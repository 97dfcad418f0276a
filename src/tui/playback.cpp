// SPDX-License-Identifier: Apache-2.0
#include "tui/playback.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "base/moment.hpp"
#include "base/text.hpp"

namespace gpulse::tui {

namespace {

using std::chrono::nanoseconds;

// "90s", "5m", "1h30m", "45": seconds.
std::optional<double> parse_span(std::string_view text) {
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
  // Longer than any recording; keeps the sum of times from overflowing.
  constexpr double kLongest = 1e9;
  return total >= 0 && total <= kLongest ? std::optional(total) : std::nullopt;
}

// "14:03" or "14:03:20" on the day of `near`, by the local clock; so late that it is not over by `last`, on the day
// before.
std::optional<WallTime> parse_clock_time(std::string_view text, WallTime near, WallTime last) {
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
  const auto time_on = [&](int days_before) -> std::optional<WallTime> {
    auto parts_of_it = day;
    parts_of_it.tm_mday -= days_before;
    parts_of_it.tm_isdst = -1;
    const auto made = std::mktime(&parts_of_it);
    if (made == static_cast<std::time_t>(-1)) return std::nullopt;
    return WallTime(std::chrono::seconds(made));
  };
  const auto time = time_on(0);
  return time && *time > last ? time_on(1) : time;
}

nanoseconds from_seconds(double seconds) { return nanoseconds(static_cast<std::int64_t>(seconds * 1e9)); }

}  // namespace

Playback::Playback(feed::Timeline &timeline, const PlaybackOptions &options, Show show)
    : timeline_(timeline),
      options_(options),
      show_(std::move(show)),
      number_(options.start),
      playing_(!options.paused) {}

bool Playback::in_the_past() const { return !options_.replay && !timeline_.empty() && number_ + 1 < timeline_.end(); }

void Playback::show(std::uint64_t number) {
  if (!show_(number)) return;
  number_ = number;
  started_ = true;
}

void Playback::sample_came() {
  if (timeline_.empty()) return;
  if (playing_ || !started_) return show(timeline_.end() - 1);
  // The sample on the screen may have left the timeline.
  if (number_ < timeline_.first()) show(timeline_.first());
}

void Playback::tick(Monotonic now) {
  if (!options_.replay) return;
  if (!started_) {
    if (timeline_.empty()) return;
    show(std::min(number_, timeline_.end() - 1));
    return set_playing(playing_, now);
  }
  // When it is late it shows every sample it missed, so that none of their events is lost; but not all in one go,
  // because a key must not have to wait for that.
  constexpr int kMostAtOnce = 64;
  for (int i = 0; i < kMostAtOnce && playing_ && now >= due_; ++i) {
    if (number_ + 1 >= timeline_.end()) {
      playing_ = false;
      break;
    }
    show(number_ + 1);
    set_playing(true, due_);
  }
}

std::optional<Monotonic> Playback::due() const {
  return options_.replay && playing_ && started_ ? std::optional(due_) : std::nullopt;
}

void Playback::set_playing(bool playing, Monotonic now) {
  playing_ = playing;
  if (!options_.replay || !playing || number_ + 1 >= timeline_.end()) return;
  // A long gap in the recording is not worth waiting for.
  constexpr nanoseconds kLongest = std::chrono::seconds(60);
  auto gap = timeline_.time(number_ + 1) - timeline_.time(number_);
  if (gap < nanoseconds(0) || gap >= kLongest) gap = std::chrono::seconds(1);
  due_ = now + from_seconds(std::chrono::duration<double>(gap).count() / std::max(options_.speed, 1e-6));
}

void Playback::toggle_pause(Monotonic now) {
  if (!playing_ && options_.replay && number_ + 1 >= timeline_.end()) show(timeline_.first());
  set_playing(!playing_, now);
  if (playing_ && !options_.replay && !timeline_.empty()) show(timeline_.end() - 1);
}

bool Playback::put_off(std::function<void()> wish) {
  if (!timeline_.can_reach_back()) return false;
  wish_ = std::move(wish);
  return true;
}

Result<void> Playback::reach_back() {
  const auto wish = std::exchange(wish_, nullptr);
  const auto reached = timeline_.reach_back();
  if (reached && wish) wish();
  return reached;
}

void Playback::step(std::int64_t samples) {
  if (!started_) return;
  playing_ = false;
  const auto first = static_cast<std::int64_t>(timeline_.first());
  const auto last = static_cast<std::int64_t>(timeline_.end()) - 1;
  const auto wanted = static_cast<std::int64_t>(number_) + samples;
  if (wanted < first && put_off([this, samples] { step(samples); })) return;
  const auto there = static_cast<std::uint64_t>(std::clamp(wanted, first, last));
  if (there != number_) show(there);
}

void Playback::jump(std::chrono::seconds by) {
  if (!started_) return;
  playing_ = false;
  const auto time = timeline_.time(number_) + by;
  if (time < timeline_.time(timeline_.first()) && put_off([this, by] { jump(by); })) return;
  const auto there = timeline_.find(time);
  // Where nothing was sampled for longer than that, what comes after it is meant.
  const bool is_in_gap = by.count() > 0 && there <= number_ && number_ + 1 < timeline_.end();
  show(is_in_gap ? number_ + 1 : there);
}

void Playback::go_to_end() {
  if (!timeline_.empty()) show(timeline_.end() - 1);
  playing_ = !options_.replay;
}

std::optional<WallTime> Playback::time_meant(std::string_view words) const {
  if (const auto time = parse_clock_time(words, timeline_.time(number_), timeline_.time(timeline_.end() - 1)))
    return time;
  const bool relative = words.front() == '-' || words.front() == '+';
  const auto seconds = parse_span(relative ? words.substr(1) : words);
  if (!seconds) return relative ? std::nullopt : parse_moment(words, timeline_.time(timeline_.end() - 1));
  if (!relative) return timeline_.time(timeline_.first()) + from_seconds(*seconds);
  return timeline_.time(number_) + from_seconds(words.front() == '-' ? -*seconds : *seconds);
}

bool Playback::go_to(std::string_view text) {
  const auto words = trim(text);
  if (words.empty() || !started_) return true;
  const auto again = [this, kept = std::string(words)] { go_to(kept); };
  const bool is_from_start = words == "start" || parse_span(words).has_value();
  if (is_from_start && put_off(again)) return true;
  if (words == "start") {
    step(-static_cast<std::int64_t>(number_ - timeline_.first()));
    return true;
  }
  if (words == "end" || words == "now") {
    go_to_end();
    return true;
  }
  const auto time = time_meant(words);
  if (!time) return false;
  playing_ = false;
  if (*time < timeline_.time(timeline_.first()) && put_off(again)) return true;
  show(timeline_.find(*time));
  return true;
}

}  // namespace gpulse::tui
