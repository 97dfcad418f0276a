// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <string_view>
#include <utility>

#include "base/text.hpp"

namespace gpulse {

// One system call: a loop that does little else than sleep pays for each.
[[gnu::hot]] bool Sleeper::sleep_until(Monotonic time) {
  const auto until = timespec_of(time);
  while (stopped_ == 0 && monotonic_now() < time)
    ::syscall(SYS_futex, &stopped_, FUTEX_WAIT_BITSET_PRIVATE, 0, &until, nullptr, FUTEX_BITSET_MATCH_ANY);
  return stopped_ == 0;
}

void Sleeper::wake() noexcept {
  stopped_ = 1;
  ::syscall(SYS_futex, &stopped_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

[[gnu::hot]] std::string iso8601_utc(WallTime time) {
  using namespace std::chrono;
  const auto day = floor<days>(time);
  const year_month_day date{day};
  const hh_mm_ss<milliseconds> clock{floor<milliseconds>(time - day)};
  std::string text = "0000-00-00T00:00:00.000Z";
  const auto put = [&](std::size_t last, std::int64_t number) {
    for (; number > 0; number /= 10, --last) text[last] = static_cast<char>('0' + number % 10);
  };
  put(3, static_cast<int>(date.year()));
  put(6, static_cast<unsigned>(date.month()));
  put(9, static_cast<unsigned>(date.day()));
  put(12, clock.hours().count());
  put(15, clock.minutes().count());
  put(18, clock.seconds().count());
  put(22, clock.subseconds().count());
  return text;
}

std::string local_time(WallTime time, const char *format) {
  const std::time_t seconds =
      std::chrono::system_clock::to_time_t(std::chrono::time_point_cast<std::chrono::system_clock::duration>(
          std::chrono::floor<std::chrono::seconds>(time)));
  std::tm parts{};
  if (localtime_r(&seconds, &parts) == nullptr) return {};
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), format, &parts)};
}

bool parse_duration(std::string_view text, std::chrono::nanoseconds &out) {
  static constexpr std::array<std::pair<std::string_view, double>, 6> kUnits{
      {{"ms", 1e-3}, {"us", 1e-6}, {"s", 1.0}, {"m", 60.0}, {"h", 3600.0}, {"d", 86400.0}}};
  double scale = 1.0;
  for (const auto &[suffix, seconds] : kUnits) {
    if (text.ends_with(suffix)) {
      scale = seconds;
      text.remove_suffix(suffix.size());
      break;
    }
  }
  const auto number = parse_double(text);
  if (!number || !std::isfinite(*number) || *number < 0 || *number * scale > 1e9) return false;
  out = std::chrono::nanoseconds(static_cast<std::int64_t>(std::llround(*number * scale * 1e9)));
  return true;
}

}  // namespace gpulse
