// SPDX-License-Identifier: Apache-2.0
// The alerts of an agent: one thread looks once a second at what the agent sees, and one for each receiver tells it.
// What has to arrive is on the disk before it is sent, so that it arrives also when the agent is killed; a receiver
// that is away, or a disk that is slow, keeps nobody else waiting.
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "alert/config.hpp"
#include "alert/evaluator.hpp"
#include "alert/outbox.hpp"
#include "alert/state.hpp"
#include "share/message.hpp"

namespace gpulse::alert {

// How it is going, for the metrics of the agent itself.
struct Numbers {
  struct OfReceiver {
    std::string name{};
    std::uint64_t sent = 0, failed = 0, given_up = 0, waiting = 0;
  };
  std::uint64_t firing = 0;
  std::vector<OfReceiver> receivers{};
};

struct AlertsOptions {
  Config config{};
  std::string host{};
  std::string state_file{};       // empty: nothing outlasts the agent
  std::function<Sight()> look{};  // on a thread of its own; all but the time, which is set here
  std::chrono::nanoseconds every = std::chrono::seconds(1);
  std::chrono::milliseconds first_wait = std::chrono::seconds(1);  // before a message is sent again
};

class Alerts {
 public:
  explicit Alerts(AlertsOptions options);
  Alerts(const Alerts &) = delete;
  Alerts &operator=(const Alerts &) = delete;
  ~Alerts();

  // All of these on any thread. From now on; waits for what is being sent, a tenth of a second at most.
  void reload(Config config);
  // What fires and who waits for it.
  share::AlertsAnswer report() const;
  // Never waits for what goes on here.
  Numbers numbers() const;
  // No time: the silence ends. An error where there is no such rule.
  Result<void> silence(const share::SilenceRequest &request);

 private:
  struct Courier {
    explicit Courier(Receiver told) : receiver(std::move(told)), name(receiver.name) {}

    const Receiver receiver;
    const Text name;
    std::uint64_t sent = 0, failed = 0, given_up = 0;
    unsigned tries = 0;  // of the message that is next
    Monotonic next{};    // not before
    Text problem{};      // why the last one failed; empty: it arrived
    Monotonic said{};    // when the problem was logged
    std::jthread thread{};
  };

  void work(const std::stop_token &stop);
  void look();
  void follow_clock(WallTime now);
  void save();
  void complain(const std::string &problem);
  void configure();
  void start_couriers();
  void carry(Courier &courier, const std::stop_token &stop);
  void note(Courier &courier, const Waiting &waiting, const Delivery &delivery);
  void note_failure(Courier &courier, const Waiting &waiting, const Delivery &delivery);
  std::vector<Text> audience(const Message &message) const;
  void count();

  const std::function<Sight()> see_;
  const std::chrono::nanoseconds every_;
  const std::chrono::milliseconds first_wait_;
  std::optional<StateFile> file_;  // none: nothing outlasts the agent; of the thread that looks

  mutable std::mutex numbers_mutex_;
  Numbers numbers_;
  mutable std::mutex mutex_;  // guards everything below
  mutable std::condition_variable_any changed_;
  Config config_;
  std::string host_;
  Evaluator evaluator_;
  Outbox outbox_;
  std::vector<Silence> silences_;  // of the command line
  bool must_save_ = false, may_save_ = false;
  Monotonic saved_{};
  std::string problem_;                            // with the file
  std::optional<std::chrono::nanoseconds> clock_;  // wall clock before the monotonic one
  std::list<Courier> couriers_;
  std::jthread thread_;
};

}  // namespace gpulse::alert
