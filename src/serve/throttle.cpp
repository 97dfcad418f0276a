// SPDX-License-Identifier: Apache-2.0
#include "serve/throttle.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

namespace gpulse::serve {

namespace {

using namespace std::chrono_literals;

constexpr auto kFirstStep = 100ms, kLongestStep = 2000ms;
constexpr auto kMostWaiting = 5s;
constexpr auto kForgottenAfter = 10min;
constexpr std::size_t kMostRemembered = 1024;

std::chrono::milliseconds step(std::uint64_t failures) {
  return failures > 5 ? kLongestStep : std::min(kLongestStep, kFirstStep * (1U << failures));
}

// Whoever has one address of IPv6 has 2^64 of them.
std::string key_of(std::string_view address) {
  in6_addr bytes{};
  if (::inet_pton(AF_INET6, std::string(address).c_str(), &bytes) != 1) return std::string(address);
  std::fill(std::begin(bytes.s6_addr) + 8, std::end(bytes.s6_addr), std::uint8_t{0});
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET6, &bytes, text.data(), text.size());
  return std::string(text.data()) + "/64";
}

std::chrono::milliseconds up_to(Monotonic time, Monotonic now) {
  return std::chrono::ceil<std::chrono::milliseconds>(std::max<std::chrono::nanoseconds>(time - now, 0ns));
}

}  // namespace

std::optional<std::chrono::milliseconds> Throttle::turn(std::string_view address, Monotonic now) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key_of(address));
  if (found == entries_.end()) return 0ms;
  const auto wait = up_to(found->second.free, now);
  if (wait > kMostWaiting) return std::nullopt;
  return wait;
}

Throttle::Failure Throttle::failed(std::string_view address, Monotonic now) {
  const std::lock_guard lock(mutex_);
  const auto key = key_of(address);
  if (!entries_.contains(key) && entries_.size() >= kMostRemembered) {
    entries_.erase(std::ranges::min_element(entries_, {}, [](const auto &entry) { return entry.second.last; }));
  }
  auto &entry = entries_[key];
  entry.free = std::max(entry.free, now) + step(entry.failures++);
  entry.last = now;
  return {.delay = up_to(entry.free, now), .is_first = entry.failures == 1};
}

std::map<std::string, std::uint64_t> Throttle::forget(Monotonic now) {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::uint64_t> gone;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const bool is_over = now - entry->second.last > kForgottenAfter;
    if (is_over) gone[entry->first] = entry->second.failures;
    entry = is_over ? entries_.erase(entry) : std::next(entry);
  }
  return gone;
}

std::size_t Throttle::remembered() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace gpulse::serve
