// SPDX-License-Identifier: Apache-2.0
// Questions to an engine that many ask at once: each is asked once, on threads of their own, and its answer is kept for
// a while. Any thread.
#pragma once

#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "http/message.hpp"
#include "http/workers.hpp"

namespace gpulse::serve {

struct SharedAsksLimits {
  std::size_t threads = 4;
  std::size_t waiting = 64;
  std::size_t kept = 32;  // answers
  std::size_t kept_bytes = std::size_t{32} << 20U;
  // One that has not begun by then is not asked any more.
  std::chrono::nanoseconds patience = std::chrono::seconds(10);
};

template <class Value>
class SharedAsks {
 public:
  struct Told {
    Value value{};
    std::chrono::nanoseconds kept_for{0};
  };
  using Work = std::function<Told(const std::stop_token &)>;
  using Ready = std::function<void(const Value &)>;

  explicit SharedAsks(const SharedAsksLimits &limits = {})
      : limits_(limits), workers_(limits.threads, limits.waiting) {}
  SharedAsks(const SharedAsks &) = delete;
  SharedAsks &operator=(const SharedAsks &) = delete;
  ~SharedAsks() { stop_.request_stop(); }

  // Lets go of answers whose time is over.
  void tidy() {
    const std::lock_guard lock(mutex_);
    forget(monotonic_now());
  }

  // Calls back at once where the answer is known. False: too many questions wait.
  bool ask(const std::string &key, Work work, const Ready &ready) {
    std::optional<Value> known;
    {
      const std::lock_guard lock(mutex_);
      forget(monotonic_now());
      const auto [found, is_new] = entries_.try_emplace(key);
      auto &entry = found->second;
      known = entry.value;
      if (!known && !is_new) {
        entry.waiting.push_back(ready);
        return true;
      }
      if (!known) {
        entry.waiting.push_back(ready);
        const auto begun = monotonic_now();
        if (!workers_.post([this, key, begun, work = std::move(work)] { run(key, begun, work); })) {
          entries_.erase(found);
          return false;
        }
      }
    }
    if (known) ready(*known);
    return true;
  }

 private:
  // Without a value it is asked for.
  struct Entry {
    std::optional<Value> value{};
    Monotonic until{};
    std::vector<Ready> waiting{};
  };

  void run(const std::string &key, Monotonic posted, const Work &work) {
    if (monotonic_now() - posted > limits_.patience || stop_.stop_requested()) {
      const std::lock_guard lock(mutex_);
      entries_.erase(key);
      return;
    }
    const auto told = try_to(work);
    std::vector<Ready> waiting;
    {
      const std::lock_guard lock(mutex_);
      auto &entry = entries_[key];
      waiting.swap(entry.waiting);
      if (told) {
        entry.value = told->value;
        entry.until = monotonic_now() + told->kept_for;
      } else {
        entries_.erase(key);
      }
    }
    // Without an answer those who wait are told so when their time is up.
    for (const auto &ready : told ? waiting : std::vector<Ready>()) ready(told->value);
  }

  std::optional<Told> try_to(const Work &work) {
    try {
      return work(stop_.get_token());
    } catch (const std::exception &fault) {
      log_line(LogLevel::error, std::string("a question failed: ") + fault.what());
      return std::nullopt;
    }
  }

  static std::size_t size_of(const Entry &entry) {
    if constexpr (std::is_same_v<Value, http::Response>) {
      return entry.value && entry.value->body != nullptr ? entry.value->body->size() : 0;
    } else {
      return 0;
    }
  }

  // With the mutex held.
  void forget(Monotonic now) {
    std::erase_if(entries_, [&](const auto &entry) { return entry.second.value && entry.second.until <= now; });
    const auto is_before = [](const auto &a, const auto &b) {
      if (a.second.value.has_value() != b.second.value.has_value()) return a.second.value.has_value();
      return a.second.until < b.second.until;
    };
    std::size_t bytes = 0;
    for (const auto &[key, entry] : entries_) bytes += size_of(entry);
    while (!entries_.empty() && (entries_.size() >= limits_.kept || bytes > limits_.kept_bytes)) {
      const auto oldest = std::ranges::min_element(entries_, is_before);
      if (!oldest->second.value) return;
      bytes -= size_of(oldest->second);
      entries_.erase(oldest);
    }
  }

  const SharedAsksLimits limits_;
  std::stop_source stop_;
  std::mutex mutex_;  // guards these
  std::map<std::string, Entry> entries_;
  http::Workers workers_;  // the last to be made and the first to end: it uses the rest
};

}  // namespace gpulse::serve
