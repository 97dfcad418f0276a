// SPDX-License-Identifier: Apache-2.0
#include "fleet/remote_writer.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "fleet/delivery.hpp"
#include "fleet/write_request.hpp"

namespace gpulse::fleet {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostValues = 20'000;  // of a request
constexpr auto kLook = 1s;                   // how often for something new that is due
constexpr auto kClockSlack = 60s;            // that a clock may go back without being waited for
constexpr auto kWritten = 1500ms;            // that the history may need for a sample
constexpr auto kBetween = 250ms;             // requests that catch up
constexpr auto kFirstWait = 1s, kLongestWait = 60s;
constexpr std::string_view kFileEnd = ".remote-write";

WallTime wall_now() { return std::chrono::time_point_cast<WallTime::duration>(std::chrono::system_clock::now()); }

// The engine's clock as its answers tell it, to the second.
class EngineClock {
 public:
  void hear(const Answer &answer) {
    if (!answer.clock) return;
    told_ = *answer.clock;
    heard_ = monotonic_now();
  }
  // Not later than what it is there or here.
  WallTime now() const {
    const auto here = wall_now();
    return told_ ? std::min<WallTime>(here, *told_ + (monotonic_now() - heard_)) : here;
  }

 private:
  std::optional<WallTime> told_;
  Monotonic heard_{};
};

// Of one thread: everything that the writer knows.
class Session {
 public:
  Session(const RemoteWriteOptions &options, const std::stop_token &stop)
      : options_(options), stop_(stop), client_(options.client), path_(options.history + std::string(kFileEnd)) {
    const auto url = options.url.text();
    if (auto known = read_position(path_); known && known->url == url) {
      position_ = std::move(*known);
    } else {
      position_ = {.url = url};
      begin_at(wall_now() - options.since.value_or(0ns));
      return;
    }
    begin_at(position_.time);
  }

  // How long to wait until the next.
  std::chrono::nanoseconds turn() {
    if (!asked_) return ask();
    if (pending_.empty()) {
      if (const auto read = fetch(); !read) {
        problem_ = read.error().line();
        return complain(problem_, kLook);
      }
    }
    if (pending_.empty()) return until_news();
    return send();
  }

  view::AgentNumbers::RemoteWrite numbers() const {
    return {.url = position_.url,
            .problem = problem_,
            .taken = position_.taken,
            .refused = position_.refused,
            .failures = failures_,
            .up_to = position_.time};
  }

 private:
  // An empty request: whether the address is right, and what time it is there.
  std::chrono::nanoseconds ask() {
    auto answer = post(encode_write_request({}));
    // Some engines do not take an empty one, and say so as they say of a bad sample.
    if (answer.verdict == Verdict::taken || answer.verdict == Verdict::refused) {
      asked_ = true;
      return 0ns;
    }
    return wait_after(answer);
  }

  Answer post(std::string body) {
    http::ClientRequest request{.method = "POST", .url = options_.url, .body = std::move(body)};
    request.headers = {{"content-type", "application/x-protobuf"},
                       {"content-encoding", "snappy"},
                       {"x-prometheus-remote-write-version", "0.1.0"}};
    const auto response = client_.send(request, stop_);
    if (!response) return {.verdict = Verdict::later, .words = response.error().line()};
    auto answer = judge(*response, std::chrono::floor<std::chrono::seconds>(wall_now()));
    clock_.hear(answer);
    return answer;
  }

  void begin_at(WallTime time) {
    position_.time = time;
    replay_.emplace(options_.replay, time);
  }

  // Until the step that goes on is over, and the history has had time to write it.
  std::chrono::nanoseconds until_news() const {
    const auto ends = replay_->step_ends();
    if (!ends) return kLook;
    return std::clamp<std::chrono::nanoseconds>(*ends + kWritten - wall_now(), kLook, options_.replay.step);
  }

  Result<void> fetch() {
    if (!reader_) {
      if (::access(options_.history.c_str(), F_OK) != 0) return {};  // the agent has only just begun
      auto opened = history::Reader::open(options_.history, stop_);
      if (!opened) return std::unexpected(opened.error());
      reader_.emplace(std::move(*opened));
    }
    if (const auto known = reader_->refresh(); !known) return known;
    if (position_.time > wall_now() + kClockSlack) {
      static_cast<void>(complain("this machine's clock went back: goes on from now", 0s));
      begin_at(wall_now());
    }
    auto steps = replay_->next(*reader_, clock_.now(), wall_now(), kMostValues);
    reader_->release_memory();
    if (!steps) {
      reader_.reset();
      return std::unexpected(steps.error());
    }
    pending_ = std::move(*steps);
    return {};
  }

  std::chrono::nanoseconds send() {
    const bool catches_up = pending_.size() > 1;
    const auto done = deliver(pending_, [this](std::string body) { return post(std::move(body)); });
    if (done.steps > 0) {
      position_.time = WallTime(std::chrono::milliseconds(pending_[done.steps - 1].time_ms) + 1ms - 1ns);
      position_.taken += done.taken;
      position_.refused += done.refused;
      pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(done.steps));
      if (const auto kept = write_position(path_, position_); !kept)
        static_cast<void>(complain(kept.error().line(), 0s));
    }
    if (done.refused > 0 && done.refusal) {
      static_cast<void>(complain("values are refused, and not sent again: " + done.refusal->words, 0s));
    }
    if (done.stopped) return wait_after(*done.stopped);
    if (!problem_.empty()) log_line(LogLevel::notice, "remote write: goes on");
    problem_.clear();
    wait_ = kFirstWait;
    return catches_up ? std::chrono::nanoseconds(kBetween) : until_news();
  }

  std::chrono::nanoseconds wait_after(const Answer &answer) {
    ++failures_;
    problem_ = answer.words;
    static_cast<void>(complain(answer.words, 0s));
    const auto wait = answer.verdict == Verdict::wrong ? kLongestWait : wait_;
    wait_ = std::min<std::chrono::seconds>(wait_ * 2, kLongestWait);
    return std::max<std::chrono::nanoseconds>(wait, answer.wait);
  }

  // Once for each new reason: an engine that is away for hours does not fill a log.
  std::chrono::nanoseconds complain(const std::string &words, std::chrono::nanoseconds wait) {
    const auto now = monotonic_now();
    if (stop_.stop_requested() || (words == said_ && now - said_at_ < 1h)) return wait;
    if (now - said_at_ < 10s && said_at_ != Monotonic{}) return wait;
    said_ = words;
    said_at_ = now;
    log_line(LogLevel::warning, "remote write: " + words);
    return wait;
  }

  const RemoteWriteOptions &options_;
  const std::stop_token &stop_;
  http::Client client_;
  const std::string path_;
  Position position_;
  std::optional<Replay> replay_;
  std::optional<history::Reader> reader_;
  EngineClock clock_;
  std::vector<Step> pending_;  // of the replay, not dealt with yet
  bool asked_ = false;
  std::string problem_;  // that it has now; empty: none
  std::chrono::seconds wait_ = kFirstWait;
  std::uint64_t failures_ = 0;
  std::string said_;
  Monotonic said_at_{};
};

}  // namespace

RemoteWriter::RemoteWriter(RemoteWriteOptions options)
    : options_(std::move(options)), thread_([this](const std::stop_token &stop) { work(stop); }) {}

void RemoteWriter::work(const std::stop_token &stop) {
  Session session(options_, stop);
  while (!stop.stop_requested()) {
    const auto wait = session.turn();
    if (options_.tell) options_.tell(session.numbers());
    if (wait > 0ns && !sleep_until(monotonic_now() + wait, stop)) return;
  }
}

}  // namespace gpulse::fleet
