// SPDX-License-Identifier: Apache-2.0
// Browsers that have logged in: each has a cookie with a number that nobody can guess, and that says nothing by itself.
// They end with the agent, by logging out, after a while, or when tokens and users change. Any thread.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "http/message.hpp"
#include "serve/reader.hpp"

namespace gpulse::serve {

class Sessions {
 public:
  static constexpr auto kLifetime = std::chrono::hours(12);

  // The value of the Set-Cookie field.
  std::string begin(const http::Request &request, Reader reader, Monotonic now);
  std::optional<Reader> find(const http::Request &request, Monotonic now) const;
  // The value of the field that takes the cookie away.
  std::string end(const http::Request &request);
  void end_all();

 private:
  struct Session {
    Reader reader;
    Monotonic until;
  };
  mutable std::mutex mutex_;
  std::map<std::string, Session, std::less<>> sessions_;
};

}  // namespace gpulse::serve
