// SPDX-License-Identifier: Apache-2.0
#include "serve/history_readers.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/heap.hpp"
#include "base/log.hpp"
#include "serve/api_parts.hpp"

namespace gpulse::serve {

namespace {

constexpr int kSoon = 1;  // seconds

}  // namespace

HistoryReaders::HistoryReaders(std::string path, const ReadersLimits &limits)
    : path_(std::move(path)), limits_(limits), workers_(limits.threads, limits.waiting) {}

HistoryReaders::~HistoryReaders() { stop_.request_stop(); }

void HistoryReaders::ask(Read read, const http::Answer &answer) {
  if (path_.empty()) return answer(http::error(404, "this agent keeps no history: start it with --history FILE"));
  const auto deadline = monotonic_now() + limits_.time;
  const auto work = [this, read = std::move(read), answer, deadline] { answer(answer_with(read, deadline)); };
  if (!workers_.post(work)) answer(try_later("too many are reading the history", kSoon));
}

http::Response HistoryReaders::answer_with(const Read &read, Monotonic deadline) {
  if (monotonic_now() >= deadline) return try_later("too many are reading the history", kSoon);
  auto response = answer_from_file(read, deadline);
  if (response) return std::move(*response);
  if (monotonic_now() >= deadline) {
    return try_later(fmt::format("reading took more than {:g} s: ask for a shorter span or fewer metrics",
                                 Seconds(limits_.time).count()),
                     kSoon);
  }
  // What is wrong with a file of this machine is nothing for others.
  complain(response.error());
  return try_later("the history cannot be read at the moment: the agent's log says why", kSoon);
}

Result<http::Response> HistoryReaders::answer_from_file(const Read &read, Monotonic deadline) {
  auto reader = take();
  if (!reader) return std::unexpected(reader.error());
  reader->end_with(stop_.get_token(), deadline);
  // Who is there may have changed since.
  if (const auto done = reader->refresh(); !done) return std::unexpected(done.error());
  auto response = read(*reader);
  // One that has failed is not used again: the file may be another one by now.
  if (response) give_back(std::move(*reader));
  return response;
}

// Once: what is wrong stays so for a while.
void HistoryReaders::complain(const Error &error) {
  const std::lock_guard lock(mutex_);
  auto line = error.line();
  if (line != complaint_ && !stop_.stop_requested()) log_line(LogLevel::warning, line);
  complaint_ = std::move(line);
}

Result<history::Reader> HistoryReaders::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto reader = std::move(idle_.back());
      idle_.pop_back();
      return reader;
    }
  }
  return history::Reader::open(path_, stop_.get_token());
}

void HistoryReaders::give_back(history::Reader reader) {
  reader.release_memory();
  trim_heap();
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(reader));
}

}  // namespace gpulse::serve
