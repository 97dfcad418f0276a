// SPDX-License-Identifier: Apache-2.0
#include "http/time_limit.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

namespace gpulse::http {

TimeLimit::TimeLimit(const std::stop_token &stop, Monotonic end)
    : stop_(stop), end_(end), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), callback_(stop, Wake{wake_.get()}) {}

void TimeLimit::Wake::operator()() const noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(::write(fd, &one, sizeof one));
}

bool TimeLimit::wait(int fd, short events, Monotonic until) const {
  // Where there was no descriptor left to wake it, it looks for the stop from time to time.
  constexpr std::chrono::milliseconds kLook{100};
  until = std::min(until, end_);
  while (!stop_.stop_requested()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - monotonic_now());
    if (left.count() <= 0) return false;
    std::array<pollfd, 2> waiting{pollfd{fd, events, 0}, pollfd{wake_.get(), POLLIN, 0}};
    const auto time = wake_ ? left : std::min(left, kLook);
    const auto ready = ::poll(waiting.data(), waiting.size(), static_cast<int>(time.count()));
    if (ready < 0 && errno != EINTR) return false;
    if (ready > 0 && waiting[0].revents != 0) return true;
  }
  return false;
}

}  // namespace gpulse::http
