// SPDX-License-Identifier: Apache-2.0
#include "history/writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/log.hpp"
#include "base/signals_blocked.hpp"
#include "base/unique_fd.hpp"

namespace gpulse::history {

namespace {

using namespace std::chrono_literals;

// What waits for a slow disk: five minutes at the usual rate.
constexpr std::size_t kMostWaiting = 300;
constexpr auto kLongestPause = 30s;
constexpr auto kOften = 950ms;  // two samples closer to each other are one second's
constexpr auto kLook = 60s;     // how often the file is tidied up and looked after
// A journal of this size stands for a reader that does not end: fewer and larger pieces then, which cost less of it.
constexpr std::uint64_t kLargeJournal = std::uint64_t{16} << 20U;
constexpr std::size_t kLargePiece = 30;

Result<void> prepare_file(const std::string &path) {
  std::error_code problem;
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, problem);
  constexpr mode_t kMode = 0644;
  const UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode));
  if (file) return {};
  return failure(fmt::format("{} cannot be written: {}", path, std::generic_category().message(errno)));
}

}  // namespace

Writer::Writer(std::string path, const Keep &keep) : path_(std::move(path)), keep_(keep) {
  status_.path = path_;
  const SignalsBlocked blocked;
  thread_ = std::jthread([this](const std::stop_token &stop) { run(stop); });
}

Writer::~Writer() {
  thread_.request_stop();
  thread_.join();
}

void Writer::add(const SnapshotPtr &snapshot, std::chrono::nanoseconds interval) {
  const auto now = monotonic_now();
  const std::lock_guard lock(mutex_);
  if (last_added_ != Monotonic{} && now - last_added_ < kOften) return;
  last_added_ = now;
  if (queue_.size() >= kMostWaiting) {
    const auto time = queue_.front().snapshot->time;
    if (lost_.samples == 0) {
      lost_.from = time;
      lost_.reason = status_.problem.empty() ? "the disk was too slow" : status_.problem;
    }
    lost_.to = time;
    ++lost_.samples;
    ++status_.lost;
    queue_.pop_front();
  }
  queue_.push_back({.snapshot = snapshot, .seconds = std::max(1.0, Seconds(interval).count())});
  status_.waiting = queue_.size();
  filled_.notify_one();
}

void Writer::set_keep(const Keep &keep) {
  const std::lock_guard lock(mutex_);
  keep_ = keep;
}

WriterStatus Writer::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void Writer::run(const std::stop_token &stop) {
  while (wait_for_samples(stop)) {
    if (open()) write();
  }
  if (open()) write();
}

// False: a stop was asked for.
bool Writer::wait_for_samples(const std::stop_token &stop) {
  std::unique_lock lock(mutex_);
  const auto enough = store_ && store_->journal_bytes() > kLargeJournal ? kLargePiece : std::size_t{1};
  filled_.wait(lock, stop, [&] { return queue_.size() >= enough; });
  // A file that cannot be written is tried again now and then.
  if (next_try_ > monotonic_now()) filled_.wait_until(lock, stop, next_try_, [] { return false; });
  return !stop.stop_requested();
}

// True: there is a file to write to.
bool Writer::open() {
  Keep keep;
  {
    const std::lock_guard lock(mutex_);
    keep = keep_;
  }
  if (store_ && opened_with_ == keep && store_->is_in_place()) return true;
  store_.reset();
  if (is_refused_ || next_try_ > monotonic_now()) return false;
  if (const auto made = prepare_file(path_); !made) {
    fail({made.error()});
    return false;
  }
  auto opened = Store::open(path_, keep);
  if (!opened && opened.error().kind == StoreFailure::Kind::damaged && set_aside()) opened = Store::open(path_, keep);
  if (!opened) {
    fail(opened.error());
    return false;
  }
  store_ = std::move(*opened);
  opened_with_ = keep;
  return true;
}

void Writer::write() {
  std::vector<TimedSample> samples;
  Lost lost;
  {
    const std::lock_guard lock(mutex_);
    samples.assign(queue_.begin(), queue_.end());
    lost = lost_;
  }
  if (samples.empty()) return;
  if (store_->is_held_up()) {
    return fail({{fmt::format("{} is held up by a program that does not end its reading", path_),
                  fmt::format("fuser {} tells which", path_)}});
  }
  if (lost.samples > 0) {
    if (const auto noted = store_->note(lost); !noted) return fail(noted.error());
    const std::lock_guard lock(mutex_);
    // More may have been lost in the meantime.
    lost_.samples -= lost.samples;
    lost_.from = lost.to;
  }
  if (const auto done = store_->append(samples); !done) return fail(done.error());
  const auto bytes = store_->bytes();
  {
    const std::lock_guard lock(mutex_);
    // Those at the front may have been given up while these were written.
    const auto last = samples.back().snapshot;
    while (!queue_.empty()) {
      const bool was_last = queue_.front().snapshot == last;
      queue_.pop_front();
      if (was_last) break;
    }
    status_.samples += samples.size();
    status_.waiting = queue_.size();
    status_.bytes = bytes;
  }
  say({});
  patience_ = 1s;
  const auto now = monotonic_now();
  if (now < next_look_) return;
  next_look_ = now + kLook;
  if (const auto done = store_->tidy(); !done) fail(done.error());
}

void Writer::fail(const StoreFailure &failure) {
  store_.reset();
  is_refused_ = failure.kind == StoreFailure::Kind::refused;
  if (failure.kind == StoreFailure::Kind::damaged && set_aside()) return;
  say(failure.error.line());
  next_try_ = monotonic_now() + patience_;
  patience_ = std::min<std::chrono::seconds>(patience_ * 2, kLongestPause);
}

// Once each: a disk that is full stays so for a while.
void Writer::say(std::string problem) {
  std::uint64_t lost = 0;
  {
    const std::lock_guard lock(mutex_);
    if (problem == status_.problem) return;
    std::swap(status_.problem, problem);
    problem = status_.problem.empty() ? fmt::format("{} is written again", path_) : status_.problem;
    lost = status_.lost;
  }
  const bool is_good = problem.ends_with("is written again");
  if (is_good && lost > 0) problem += fmt::format("; {} samples were lost", lost);
  log_line(is_good ? LogLevel::notice : LogLevel::error, "history: " + problem);
}

// A damaged file is kept for whoever wants to save something from it, the last one only.
bool Writer::set_aside() {
  store_.reset();
  const auto aside = path_ + ".damaged";
  std::error_code ignored;
  if (std::rename(path_.c_str(), aside.c_str()) != 0) return false;
  std::rename((path_ + "-wal").c_str(), (aside + "-wal").c_str());
  std::filesystem::remove(path_ + "-shm", ignored);
  log_line(LogLevel::error,
           fmt::format("history: {} is damaged: it is kept as {}, and a new one begins", path_, aside));
  return true;
}

}  // namespace gpulse::history
