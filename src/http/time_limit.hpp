// SPDX-License-Identifier: Apache-2.0
// How long a request may take, and the stop that ends it sooner. Internal to the client of src/http; one thread.
#pragma once

#include <chrono>
#include <stop_token>

#include "base/clock.hpp"
#include "base/unique_fd.hpp"

namespace gpulse::http {

class TimeLimit {
 public:
  TimeLimit(const std::stop_token &stop, Monotonic end);
  TimeLimit(const TimeLimit &) = delete;
  TimeLimit &operator=(const TimeLimit &) = delete;

  // Until the socket can be read (POLLIN) or written (POLLOUT). False: it is over first.
  bool wait(int fd, short events, Monotonic until) const;
  bool wait(int fd, short events) const { return wait(fd, events, end_); }

  Monotonic end() const { return end_; }
  // The earlier of both.
  void shorten(Monotonic end) { end_ = std::min(end_, end); }
  void set_end(Monotonic end) { end_ = end; }
  const std::stop_token &stop() const { return stop_; }

 private:
  struct Wake {
    int fd;
    void operator()() const noexcept;
  };

  std::stop_token stop_;
  Monotonic end_;
  UniqueFd wake_;
  std::stop_callback<Wake> callback_;
};

}  // namespace gpulse::http
