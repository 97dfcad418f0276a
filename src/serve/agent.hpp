// SPDX-License-Identifier: Apache-2.0
// The agent: samples the machine once for everybody, publishes every sample in shared memory, and answers readers over
// its socket.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>

#include "base/result.hpp"
#include "base/service_manager.hpp"
#include "feed/feed.hpp"
#include "history/writer.hpp"
#include "serve/board.hpp"
#include "serve/demand.hpp"
#include "serve/details_reader.hpp"
#include "serve/finding_thread.hpp"
#include "serve/socket_server.hpp"
#include "share/findings.hpp"
#include "share/place.hpp"
#include "share/segment.hpp"

namespace gpulse::serve {

// The way to what sends alerts; any thread. Empty where there is nothing like it.
struct AlertAccess {
  std::function<std::optional<view::AgentNumbers::Alerts>()> numbers{};
  std::function<share::AlertsAnswer()> report{};
  std::function<Result<void>(const share::SilenceRequest &)> silence{};
};

struct AgentOptions {
  feed::Options feed;  // how the machine is read; its interval is that of the limits
  Limits limits;
  share::Place place;
  std::string version;
  std::string history = {};  // the file to keep samples in; empty: none
  history::Keep keep = {};
  AlertAccess alerts = {};
};

class Agent {
 public:
  // Takes the place. An error where somebody has it, or it is not ours.
  static Result<std::unique_ptr<Agent>> open(AgentOptions options);
  Agent(const Agent &) = delete;
  Agent &operator=(const Agent &) = delete;

  // Until a stop is asked for.
  Result<void> run(const std::stop_token &stop, const ServiceManager &manager);
  // From now on; any thread.
  void set_limits(const Limits &limits, const history::Keep &keep);
  // What is published, for others in this process.
  Board &board() { return board_; }

 private:
  Agent(AgentOptions options, share::PlaceLock lock, std::unique_ptr<SocketServer> server);

  // A client that is told when readers see that the drivers are let go of, or taken up again.
  struct Waiting {
    std::uint64_t client = 0;
    bool for_release = false;
  };

  bool is_sampling();
  // On the thread of run().
  Result<void> sample(const std::stop_token &stop, const ServiceManager &manager);
  bool publish(const SnapshotPtr &snapshot, bool released, const ServiceManager &manager);
  void post_numbers(bool released);
  void close(std::shared_ptr<feed::Feed> feed);
  bool has_closed();
  void answer(std::vector<Waiting> &waiting, bool released);
  SnapshotPtr released_words(const Snapshot &snapshot, std::chrono::nanoseconds rest) const;
  // On the thread of the socket.
  void handle(const Client &client, const share::Frame &frame);
  void want(const Client &client, const share::Frame &frame);
  void drop(const Client &client);
  void details(const Client &client, const share::Frame &frame);
  void release(const Client &client, std::chrono::nanoseconds time);
  void silence(const Client &client, const share::Frame &frame);
  share::AgentStatus status();
  share::HistoryStatus history_status() const;
  share::RemoteWriteStatus remote_write_status() const;
  // With the mutex held.
  std::chrono::nanoseconds rest_of_release() const;
  // With the mutex held: the interval, and what is sampled at it.
  std::pair<std::chrono::nanoseconds, std::optional<MetricSet>> asked_for() const {
    return {demand_.interval(limits_), demand_.focus(limits_)};
  }
  // Of any: makes run() look at what is asked for.
  void change();

  const AgentOptions options_;
  const Monotonic started_ = monotonic_now();
  share::PlaceLock place_;
  std::unique_ptr<SocketServer> server_;
  std::unique_ptr<history::Writer> history_;  // null: nothing is kept; ends last, because the disk may take its time
  share::Publisher publisher_;
  DetailsReader details_;
  Board board_;
  share::FindingsFile findings_file_;
  FindingThread findings_;  // writes that file and posts on the board
  // Of the thread that samples alone
  Monotonic numbers_posted_{};
  bool numbers_released_ = false;

  std::mutex mutex_;  // guards everything below
  Limits limits_;
  Demand demand_;
  std::stop_source round_;      // of run(): ends when what is asked for has changed
  Monotonic released_until_{};  // zero: not released
  std::chrono::nanoseconds release_time_{0};
  std::vector<Waiting> waiting_;
  enum class Closing : std::uint8_t { done, going_on, failed } closing_ = Closing::done;  // of what was released
  std::weak_ptr<const feed::Feed> feed_;                                                  // that samples are taken from
  std::chrono::nanoseconds interval_{0};
  Monotonic overdue_ = Monotonic::max();  // when the next sample must have come
  bool is_ready_ = false;                 // and the service manager knows
  std::uint64_t samples_ = 0, segment_bytes_ = 0;
  std::string complaint_;  // about what could not be published last

  std::jthread closer_;  // the last to be made and the first to end: it uses the rest
};

}  // namespace gpulse::serve
