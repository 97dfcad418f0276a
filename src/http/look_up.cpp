// SPDX-License-Identifier: Apache-2.0
#include "http/look_up.hpp"

#include <fmt/format.h>
#include <netdb.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/signals_blocked.hpp"

namespace gpulse::http {

namespace {

struct Found {
  int error = 0;
  std::vector<Address::Raw> all;
};

struct Question {
  std::mutex mutex;
  std::condition_variable_any answered;
  std::optional<Found> found;
};

// A resolver that hangs must not gather threads without end.
constexpr int kMostThreads = 16;
std::atomic<int> threads{0};

Found ask(const std::string &host, std::uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_flags = flags | AI_NUMERICSERV;
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo *first = nullptr;
  Found found;
  found.error = ::getaddrinfo(host.c_str(), fmt::format("{}", port).c_str(), &hints, &first);
  if (found.error != 0) return found;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(first, &::freeaddrinfo);
  for (const auto *one = first; one != nullptr; one = one->ai_next) {
    auto &raw = found.all.emplace_back();
    std::memcpy(&raw.bytes, one->ai_addr, one->ai_addrlen);
    raw.size = one->ai_addrlen;
  }
  return found;
}

std::optional<Found> ask_on_thread(const std::string &host, std::uint16_t port, const TimeLimit &limit) {
  if (threads.fetch_add(1) >= kMostThreads) {
    threads.fetch_sub(1);
    return std::nullopt;
  }
  auto question = std::make_shared<Question>();
  const SignalsBlocked blocked;
  std::thread([question, host, port] {
    auto found = ask(host, port, AI_ADDRCONFIG);
    threads.fetch_sub(1);
    const std::lock_guard lock(question->mutex);
    question->found = std::move(found);
    question->answered.notify_all();
  }).detach();
  std::unique_lock lock(question->mutex);
  question->answered.wait_until(lock, limit.stop(), limit.end(), [&] { return question->found.has_value(); });
  return std::move(question->found);
}

}  // namespace

Result<std::vector<Address::Raw>> look_up(const std::string &host, std::uint16_t port, const TimeLimit &limit) {
  auto found = is_ip_address(host) ? ask(host, port, AI_NUMERICHOST) : ask_on_thread(host, port, limit);
  if (!found)
    return failure(fmt::format("the name {} was not found in time", host), "check this machine's name servers");
  if (found->error != 0) {
    return failure(fmt::format("the name {} cannot be found: {}", host, ::gai_strerror(found->error)),
                   "check how it is written, and this machine's name servers");
  }
  return std::move(found->all);
}

}  // namespace gpulse::http
