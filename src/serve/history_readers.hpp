// SPDX-License-Identifier: Apache-2.0
// Reads the agent's own history for those who ask over HTTP, on threads of its own: a long span holds up neither the
// one who writes the file nor those who ask for something else. Any thread may ask.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "history/reader.hpp"
#include "http/message.hpp"
#include "http/workers.hpp"

namespace gpulse::serve {

struct ReadersLimits {
  std::size_t threads = 2;
  std::size_t waiting = 64;
  std::chrono::milliseconds time{5000};  // for waiting and reading together
};

class HistoryReaders {
 public:
  using Read = std::function<Result<http::Response>(history::Reader &)>;

  // Without a path there is no history, which is what everybody is told.
  explicit HistoryReaders(std::string path, const ReadersLimits &limits = {});
  HistoryReaders(const HistoryReaders &) = delete;
  HistoryReaders &operator=(const HistoryReaders &) = delete;
  ~HistoryReaders();

  // Answers with what `read` brings, or with what has stood in the way.
  void ask(Read read, const http::Answer &answer);

 private:
  http::Response answer_with(const Read &read, Monotonic deadline);
  Result<http::Response> answer_from_file(const Read &read, Monotonic deadline);
  void complain(const Error &error);
  Result<history::Reader> take();
  void give_back(history::Reader reader);

  const std::string path_;
  const ReadersLimits limits_;
  std::stop_source stop_;
  std::mutex mutex_;  // guards these
  std::vector<history::Reader> idle_;
  std::string complaint_;  // about what could not be read last
  http::Workers workers_;  // the last to be made and the first to end: it uses the rest
};

}  // namespace gpulse::serve
