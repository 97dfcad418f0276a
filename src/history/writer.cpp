// SPDX-License-Identifier: Apache-2.0
#include "history/writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/signals_blocked.hpp"
#include "base/unique_fd.hpp"
#include "history/store.hpp"

namespace gpulse::history {

namespace {

using namespace std::chrono_literals;

// How often the file is tidied up and looked after.
constexpr auto kLook = 60s;
// A journal of this size stands for a reader that does not end: fewer and larger pieces then, which cost less of it.
constexpr std::uint64_t kLargeJournal = std::uint64_t{16} << 20U;
constexpr std::size_t kLargePiece = 30;
// A disk that damages one file after the other is no place for a new one each second.
constexpr auto kBetweenDamages = 1h;

// An empty file is made here, so that everybody may read it. One that is there is not opened: closing it again would
// drop the locks that others in this process have on it.
std::expected<void, StoreFailure> prepare_file(const std::string &path) {
  const auto problem = [&](int code) {
    return std::unexpected(
        StoreFailure{{fmt::format("{} cannot be written: {}", path, std::generic_category().message(code))}});
  };
  struct stat file{};
  if (::stat(path.c_str(), &file) == 0) {
    if (!S_ISREG(file.st_mode)) {
      return std::unexpected(
          StoreFailure{{path + " is no file", "name another with --history"}, StoreFailure::Kind::refused});
    }
    if (::access(path.c_str(), R_OK | W_OK) != 0) return problem(errno);
    return {};
  }
  std::error_code ignored;
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  constexpr mode_t kMode = 0644;
  const UniqueFd made(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kMode));
  if (!made && errno != EEXIST) return problem(errno);
  return {};
}

}  // namespace

class Writer::Work {
 public:
  Work(std::string path, const Keep &keep, const WriterPace &pace)
      : path_(std::move(path)), pace_(pace), keep_(keep), patience_(pace.first_pause) {
    status_.path = path_;
  }

  void run(const std::stop_token &stop);
  void add(const SnapshotPtr &snapshot, std::chrono::nanoseconds interval);
  void set_keep(const Keep &keep);
  WriterStatus status() const;
  // False: it has not ended in time.
  bool wait_for_end(std::chrono::milliseconds time);

 private:
  void try_to_write();
  bool wait_for_samples(const std::stop_token &stop);
  bool open();
  void follow_file();
  void write();
  bool may_write();
  void look_after();
  void fail(const StoreFailure &failure);
  void pause(const Error &error, std::chrono::milliseconds least = {});
  void say(const std::string &problem);
  bool set_aside();
  void lose(const TimedSample &sample);

  const std::string path_;
  const WriterPace pace_;

  mutable std::mutex mutex_;  // guards up to the status; never held while the disk is asked for anything
  std::condition_variable_any filled_;
  std::condition_variable ended_;
  bool has_ended_ = false;
  std::deque<TimedSample> queue_;
  std::size_t in_flight_ = 0;  // of the queue's first ones, that are being written
  Keep keep_;
  Monotonic last_added_{};
  Lost lost_;  // and not noted in the file yet
  WriterStatus status_;

  // On the thread alone.
  std::unique_ptr<Store> store_;
  Keep opened_with_;
  std::uint64_t journal_bytes_ = 0;
  Monotonic next_try_{}, next_look_{}, last_failure_{};
  std::chrono::milliseconds patience_;
  std::optional<Monotonic> last_damage_;
};

Writer::Writer(std::string path, const Keep &keep, const WriterPace &pace)
    : pace_(pace), work_(std::make_shared<Work>(std::move(path), keep, pace)) {
  const SignalsBlocked blocked;
  thread_ = std::jthread([work = work_](const std::stop_token &stop) { work->run(stop); });
}

Writer::~Writer() {
  thread_.request_stop();
  if (work_->wait_for_end(pace_.longest_end)) return;
  const auto now = work_->status();
  log_line(LogLevel::error,
           fmt::format("history: the disk of {} does not answer: {} samples were not written", now.path, now.waiting));
  thread_.detach();
}

void Writer::add(const SnapshotPtr &snapshot, std::chrono::nanoseconds interval) { work_->add(snapshot, interval); }
void Writer::set_keep(const Keep &keep) { work_->set_keep(keep); }
WriterStatus Writer::status() const { return work_->status(); }

void Writer::Work::add(const SnapshotPtr &snapshot, std::chrono::nanoseconds interval) {
  const auto now = monotonic_now();
  const std::lock_guard lock(mutex_);
  if (last_added_ != Monotonic{} && now - last_added_ < pace_.often) return;
  last_added_ = now;
  queue_.push_back({.snapshot = snapshot, .seconds = std::max(1.0, Seconds(interval).count())});
  if (queue_.size() > pace_.most_waiting) {
    // The oldest that is not on its way to the disk.
    const auto given_up = queue_.begin() + static_cast<std::ptrdiff_t>(std::min(in_flight_, pace_.most_waiting));
    lose(*given_up);
    queue_.erase(given_up);
  }
  status_.waiting = queue_.size();
  filled_.notify_one();
}

// With the mutex held.
void Writer::Work::lose(const TimedSample &sample) {
  if (lost_.samples == 0) {
    lost_.from = sample.snapshot->time;
    lost_.reason = status_.problem.empty() ? "the disk was too slow" : status_.problem;
  }
  lost_.to = sample.snapshot->time;
  ++lost_.samples;
  ++status_.lost;
}

void Writer::Work::set_keep(const Keep &keep) {
  const std::lock_guard lock(mutex_);
  keep_ = keep;
}

WriterStatus Writer::Work::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

bool Writer::Work::wait_for_end(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, time, [&] { return has_ended_; });
}

void Writer::Work::run(const std::stop_token &stop) {
  while (wait_for_samples(stop)) try_to_write();
  next_try_ = {};
  try_to_write();
  store_.reset();
  const auto left = status().waiting;
  if (left > 0) log_line(LogLevel::error, fmt::format("history: {} samples were not written", left));
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
  ended_.notify_all();
}

void Writer::Work::try_to_write() {
  try {
    if (open()) write();
  } catch (const std::exception &error) {
    // No memory: that costs samples, not the agent.
    fail({{fmt::format("{} cannot be written: {}", path_, error.what())}});
    const std::lock_guard lock(mutex_);
    in_flight_ = 0;
  }
}

// False: a stop was asked for.
bool Writer::Work::wait_for_samples(const std::stop_token &stop) {
  const auto enough = journal_bytes_ > kLargeJournal ? kLargePiece : std::size_t{1};
  std::unique_lock lock(mutex_);
  filled_.wait(lock, stop, [&] { return queue_.size() >= enough; });
  // A file that cannot be written is tried again now and then.
  if (next_try_ > monotonic_now()) filled_.wait_until(lock, stop, next_try_, [] { return false; });
  return !stop.stop_requested();
}

// True: there is a file to write to.
bool Writer::Work::open() {
  Keep keep;
  {
    const std::lock_guard lock(mutex_);
    keep = keep_;
  }
  follow_file();
  if (store_ && opened_with_ == keep) return true;
  store_.reset();
  auto made = prepare_file(path_);
  if (!made) {
    fail(made.error());
    return false;
  }
  auto opened = Store::open(path_, keep);
  if (!opened && opened.error().kind == StoreFailure::Kind::damaged && set_aside()) {
    made = prepare_file(path_);
    opened = Store::open(path_, keep);
  }
  if (!opened) {
    fail(opened.error());
    return false;
  }
  store_ = std::move(*opened);
  opened_with_ = keep;
  return true;
}

// The file may have been removed, or another put in its place.
void Writer::Work::follow_file() {
  if (!store_ || store_->is_in_place()) return;
  log_line(LogLevel::warning,
           fmt::format("history: {} was taken away: what comes goes into the one of that name", path_));
  store_->remove_journal();
  store_.reset();
}

void Writer::Work::write() {
  if (!may_write()) return;
  std::vector<TimedSample> samples;
  Lost lost;
  {
    const std::lock_guard lock(mutex_);
    samples.assign(queue_.begin(), queue_.end());
    in_flight_ = samples.size();
    lost = std::exchange(lost_, {});
  }
  if (samples.empty()) return;
  const auto done = store_->append(samples, lost);
  const auto bytes = done ? store_->bytes() : 0;
  {
    const std::lock_guard lock(mutex_);
    in_flight_ = 0;
    if (done) {
      queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(samples.size()));
      status_.samples += samples.size();
      status_.waiting = queue_.size();
      status_.bytes = bytes;
    } else if (lost.samples > 0) {
      if (lost_.samples > 0) lost.to = lost_.to;
      lost.samples += lost_.samples;
      lost_ = std::move(lost);
    }
  }
  if (!done) return fail(done.error());
  look_after();
}

// Whether it would harm nobody. The file stays open: to open it anew costs what is not there.
bool Writer::Work::may_write() {
  journal_bytes_ = store_->journal_bytes();
  const auto held_up = store_->is_held_up();
  if (!held_up) return fail(held_up.error()), false;
  if (*held_up) {
    pause({fmt::format("{} is held up by a program that does not end its reading", path_),
           fmt::format("fuser {} tells which", path_)});
    return false;
  }
  auto room = store_->has_room();
  if (room && !*room) {
    if (const auto done = store_->tidy(); !done) return fail(done.error()), false;
    room = store_->has_room();
  }
  if (!room) return fail(room.error()), false;
  if (!*room) pause({fmt::format("the disk of {} is nearly full", path_), "make room on it"});
  return *room;
}

// After what waited was written: the rest may fail without harm to it.
void Writer::Work::look_after() {
  const auto now = monotonic_now();
  say({});
  if (now - last_failure_ > kLook) patience_ = pace_.first_pause;
  if (now >= next_look_) {
    next_look_ = now + kLook;
    if (const auto done = store_->tidy(); !done) return fail(done.error());
  }
  if (const auto done = store_->write_back(); !done) fail(done.error());
}

void Writer::Work::fail(const StoreFailure &failure) {
  store_.reset();
  if (failure.kind == StoreFailure::Kind::damaged && set_aside()) return;
  pause(failure.error, failure.kind == StoreFailure::Kind::passing ? pace_.first_pause : pace_.longest_pause);
}

void Writer::Work::pause(const Error &error, std::chrono::milliseconds least) {
  say(error.line());
  last_failure_ = monotonic_now();
  next_try_ = last_failure_ + std::max(patience_, least);
  patience_ = std::min(patience_ * 2, pace_.longest_pause);
}

// Once each: a disk that is full stays so for a while.
void Writer::Work::say(const std::string &problem) {
  std::uint64_t lost = 0;
  {
    const std::lock_guard lock(mutex_);
    if (problem == status_.problem) return;
    status_.problem = problem;
    lost = status_.lost;
  }
  if (!problem.empty()) return log_line(LogLevel::error, "history: " + problem);
  const auto losses = lost == 0 ? std::string() : fmt::format("; {} samples were lost so far", lost);
  log_line(LogLevel::notice, fmt::format("history: {} is written again{}", path_, losses));
}

// A damaged file is kept for whoever wants to save something from it, the last one only.
bool Writer::Work::set_aside() {
  store_.reset();
  const auto now = monotonic_now();
  if (last_damage_ && now - *last_damage_ < kBetweenDamages) return false;
  const auto aside = path_ + ".damaged";
  if (std::rename(path_.c_str(), aside.c_str()) != 0) return false;
  last_damage_ = now;
  std::error_code ignored;
  std::filesystem::remove(aside + "-wal", ignored);
  std::filesystem::rename(path_ + "-wal", aside + "-wal", ignored);
  std::filesystem::remove(path_ + "-shm", ignored);
  log_line(LogLevel::error,
           fmt::format("history: {} is damaged: it is kept as {}, and a new one begins", path_, aside));
  return true;
}

}  // namespace gpulse::history
