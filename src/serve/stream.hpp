// SPDX-License-Identifier: Apache-2.0
// /api/v1/stream: every sample as it comes, as server-sent events. Those who ask for the same part of it share one
// channel, for which the text of each sample is made once, on a thread of its own. Clients come in on any thread; the
// agent's thread only leaves its sample.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "http/channel.hpp"
#include "http/message.hpp"
#include "insight/watch.hpp"
#include "serve/api_query.hpp"
#include "serve/board.hpp"
#include "view/json.hpp"

namespace gpulse::serve {

struct StreamOptions {
  std::string version{};
  std::function<WallTime()> now = wall_now;
  std::size_t channels = 64;                       // different filters at a time
  std::chrono::seconds linger{60};                 // of a channel without clients, so that one who comes back finds it
  std::size_t kept_samples = 120;                  // of a channel, for one who comes back
  std::size_t kept_bytes = std::size_t{1} << 18U;  // of them together
};

class Stream {
 public:
  // Listens to the board from now on, so before the first sample.
  Stream(Board &board, StreamOptions options);
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;
  // Ends every stream.
  ~Stream();

  void open(const http::Request &request, bool sees_commands, const http::Answer &answer);
  std::size_t channels();
  std::size_t clients();
  // That were passed on; one that was not taken in time is not among them.
  std::uint64_t samples() const { return samples_; }

 private:
  struct Inbox;
  // What one channel shows.
  struct Part {
    std::optional<MetricSet> metrics{};
    std::vector<std::string> uuids{};  // empty: all devices
    bool processes = true, commands = false;

    std::string key() const;
    SnapshotPtr of(const SnapshotPtr &sample) const;
    std::string text(const Snapshot &part, view::JsonMemory *memory) const;
  };
  struct Kept {
    std::int64_t id = 0;  // the sample's time in Unix milliseconds
    std::shared_ptr<const std::string> text;
  };
  struct Line {
    Part part;
    std::shared_ptr<http::Channel> channel;
    std::deque<Kept> kept{};  // the newest last, never empty
    std::size_t kept_bytes = 0;
    Monotonic used{};         // when it last had a client
    view::JsonMemory memory;  // of the thread alone
  };
  // What is new with a sample, besides the sample.
  struct News {
    std::vector<Event> events{};
    std::vector<insight::LastingFinding> begun{}, ended{};
  };

  Asked<Part> part_asked_for(const http::Request &request, bool sees_commands) const;
  std::shared_ptr<Line> line_for(const Part &part, const Snapshot &sample);
  std::string greeting(const http::Request &request, const Line &line, const Snapshot &part) const;
  void keep(Line &line, Kept sample) const;
  void work(const std::stop_token &stop);
  News news_of(const Snapshot &sample);
  void publish(Line &line, const SnapshotPtr &sample, const News &news);

  Board &board_;
  const StreamOptions options_;
  const std::shared_ptr<Inbox> inbox_;  // the board's too, which may outlive this
  // Of the thread alone.
  SharedVector<Event> events_;
  std::map<std::uint64_t, insight::LastingFinding> findings_;
  bool has_begun_ = false;
  std::atomic<std::uint64_t> samples_ = 0;
  std::mutex mutex_;  // guards these
  SnapshotPtr newest_;
  SnapshotPtr greeted_;  // the first sample, where a client has it and the thread has not
  std::map<std::string, std::shared_ptr<Line>> lines_;
  std::jthread thread_;  // the last to be made and the first to end: it uses the rest
};

}  // namespace gpulse::serve
