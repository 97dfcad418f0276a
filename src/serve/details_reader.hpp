// SPDX-License-Identifier: Apache-2.0
// Reads what is read only on request, on a thread of its own: a driver may take long. Many who ask at once get one
// answer. The drivers are let go of when nobody has asked for a while.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "feed/feed.hpp"
#include "share/message.hpp"

namespace gpulse::serve {

class DetailsReader {
 public:
  using Answer = std::function<void(const Result<share::DetailsAnswer> &)>;

  explicit DetailsReader(feed::Options options);
  DetailsReader(const DetailsReader &) = delete;
  DetailsReader &operator=(const DetailsReader &) = delete;
  ~DetailsReader();

  // Answers from its own thread. False: too many have asked.
  bool ask(const MetricSet &set, Answer answer);
  // Lets go of the drivers, and does not take them up before the time. Returns when that is done.
  void release(Monotonic until);

 private:
  struct Request {
    MetricSet set;
    Answer answer;
  };

  void work(const std::stop_token &stop);
  Result<share::DetailsAnswer> read(const MetricSet &set, const std::stop_token &stop);

  const feed::Options options_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Request> requests_;
  Monotonic released_until_{};
  bool open_ = false;  // a feed, or one being opened
  // Of the thread alone
  std::unique_ptr<feed::Feed> feed_;
  MetricSet read_set_;
  share::DetailsAnswer last_;
  Monotonic last_at_{};
  std::jthread thread_;
};

}  // namespace gpulse::serve
