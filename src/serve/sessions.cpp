// SPDX-License-Identifier: Apache-2.0
#include "serve/sessions.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.hpp"

namespace gpulse::serve {

namespace {

// More do not log in at a time; the one that would end first makes room.
constexpr std::size_t kMost = 256;

// Browsers send the cookies of one port to all others of the same host. Whoever looks at several machines over ssh -L
// has them all on localhost: each needs a name of its own.
std::string cookie_name(const http::Request &request) {
  const auto host = request.header("host").value_or("");
  const auto colon = host.rfind(':');
  const auto port = colon == std::string_view::npos ? std::string_view() : host.substr(colon + 1);
  const bool is_number = !port.empty() && std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? fmt::format("gpulse_{}", port) : "gpulse";
}

// Several may have the name: one for each folder in which somebody has logged in, and the newest need not be the first.
std::vector<std::string_view> cookies(const http::Request &request) {
  const auto name = cookie_name(request);
  std::vector<std::string_view> found;
  for (const auto part : split(request.header("cookie").value_or(""), ';')) {
    auto rest = trim(part);
    if (next_piece(rest, '=') == name) found.push_back(rest);
  }
  return found;
}

// Without a path it counts for the folder that the page lies in, whatever a proxy calls that.
std::string set_cookie(const http::Request &request, std::string_view value, std::chrono::seconds age) {
  const bool is_secure = request.peer.is_secure || request.header("x-forwarded-proto") == "https";
  return fmt::format("{}={}; HttpOnly; SameSite=Strict; Max-Age={}{}", cookie_name(request), value, age.count(),
                     is_secure ? "; Secure" : "");
}

}  // namespace

std::string Sessions::begin(const http::Request &request, Reader reader, Monotonic now) {
  std::array<unsigned char, 32> bytes{};
  // The kernel gives so few at once, or none at all; then nobody logs in.
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return end(request);
  std::string number;
  for (const auto byte : bytes) number += fmt::format("{:02x}", byte);
  const std::lock_guard lock(mutex_);
  std::erase_if(sessions_, [&](const auto &one) { return one.second.until <= now; });
  if (sessions_.size() >= kMost) {
    sessions_.erase(std::ranges::min_element(sessions_, {}, [](const auto &one) { return one.second.until; }));
  }
  sessions_[number] = {std::move(reader), now + kLifetime};
  return set_cookie(request, number, kLifetime);
}

std::optional<Reader> Sessions::find(const http::Request &request, Monotonic now) const {
  const std::lock_guard lock(mutex_);
  for (const auto given : cookies(request)) {
    const auto found = sessions_.find(given);
    if (found != sessions_.end() && found->second.until > now) return found->second.reader;
  }
  return std::nullopt;
}

std::string Sessions::end(const http::Request &request) {
  const std::lock_guard lock(mutex_);
  for (const auto given : cookies(request)) {
    if (const auto found = sessions_.find(given); found != sessions_.end()) sessions_.erase(found);
  }
  return set_cookie(request, "", std::chrono::seconds(0));
}

void Sessions::end_all() {
  const std::lock_guard lock(mutex_);
  sessions_.clear();
}

}  // namespace gpulse::serve
