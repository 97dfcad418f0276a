// SPDX-License-Identifier: Apache-2.0
#include "sink/old_files.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/signals_blocked.hpp"
#include "base/text.hpp"
#include "sink/gzip.hpp"

namespace gpulse::sink {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kStampSize = 24;

std::string plain_name(const std::string &path, WallTime time) { return path + '.' + stamp_of(time); }

bool cut_suffix(std::string_view &text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

void remove_file(const std::string &path) {
  std::error_code unused;
  fs::remove(path, unused);
}

void remove_all_of(const std::string &path, WallTime time) {
  const auto plain = plain_name(path, time);
  remove_file(plain);
  remove_file(plain + std::string(kCompressed));
}

}  // namespace

std::string stamp_of(WallTime time) {
  auto stamp = iso8601_utc(time);
  std::ranges::replace(stamp, ':', '-');  // Windows' file systems and rsync take colons for something else
  return stamp;
}

std::optional<WallTime> parse_stamp(std::string_view text) {
  using namespace std::chrono;
  if (text.size() != kStampSize) return std::nullopt;
  const auto number = [&](std::size_t at, std::size_t size) {
    return parse_integer<unsigned>(text.substr(at, size)).value_or(0);
  };
  constexpr unsigned kFirst = 1970, kLast = 2261;  // what nanoseconds can tell
  const year_month_day date(year(static_cast<int>(number(0, 4))), month(number(5, 2)), day(number(8, 2)));
  if (number(0, 4) < kFirst || number(0, 4) > kLast || !date.ok()) return std::nullopt;
  const WallTime time = sys_days(date) + hours(number(11, 2)) + minutes(number(14, 2)) + seconds(number(17, 2)) +
                        milliseconds(number(20, 3));
  // Whatever else may stand between the numbers.
  return stamp_of(time) == text ? std::optional(time) : std::nullopt;
}

std::vector<OldFile> list_old_files(const std::string &path) {
  const fs::path log(path);
  const auto prefix = log.filename().string() + '.';
  std::map<WallTime, OldFile> found;
  std::error_code error;
  const auto folder = log.has_parent_path() ? log.parent_path() : fs::path(".");
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const auto name = at->path().filename().string();
    std::string_view rest = name;
    if (!rest.starts_with(prefix)) continue;
    rest.remove_prefix(prefix.size());
    const bool unfinished = cut_suffix(rest, kUnfinished);
    const bool compressed = cut_suffix(rest, kCompressed);
    const auto time = parse_stamp(rest);
    std::error_code unused;
    if (!time || (unfinished && !compressed) || !fs::is_regular_file(at->symlink_status(unused))) continue;
    auto &file = found[*time];
    file.time = *time;
    (unfinished ? file.unfinished : compressed ? file.compressed : file.plain) = true;
  }
  std::vector<OldFile> files;
  for (const auto &[time, file] : found) files.push_back(file);
  return files;
}

std::vector<Error> tidy_old_files(const std::string &path, std::size_t keep, const std::stop_token &stop) {
  auto files = list_old_files(path);
  for (const auto &file : files) {
    const auto plain = plain_name(path, file.time);
    if (file.unfinished) remove_file(plain + std::string(kCompressed) + std::string(kUnfinished));
    // The compressed one is whole: it gets its name last.
    if (file.compressed && file.plain) remove_file(plain);
  }
  std::erase_if(files, [](const OldFile &file) { return !file.plain && !file.compressed; });
  while (files.size() > keep) {
    remove_all_of(path, files.front().time);
    files.erase(files.begin());
  }
  std::vector<Error> errors;
  for (const auto &file : files) {
    if (file.compressed || stop.stop_requested()) continue;
    if (const auto done = compress_file(plain_name(path, file.time), stop); !done && !stop.stop_requested()) {
      errors.push_back(done.error());
    }
  }
  return errors;
}

struct OldFileKeeper::State {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::uint64_t asked = 1, done = 0;
  std::optional<Error> complaint;
  std::string told;
  std::stop_source stop;
};

OldFileKeeper::OldFileKeeper(std::string path, std::size_t keep) : state_(std::make_shared<State>()) {
  const SignalsBlocked quiet;
  // Not joined: nobody has to wait for a slow disk, nor a forked child for a thread that it does not have.
  std::thread([state = state_, path = std::move(path), keep] {
    constexpr int kLeastUrgent = 19;
    (void)::setpriority(PRIO_PROCESS, 0, kLeastUrgent);  // of this thread alone
    const auto stop = state->stop.get_token();
    std::unique_lock lock(state->mutex);
    while (state->changed.wait(lock, stop, [&] { return state->asked != state->done; })) {
      const auto turn = state->asked;
      lock.unlock();
      auto errors = tidy_old_files(path, keep, stop);
      lock.lock();
      // A turn that began late has already tried the file of the next one: each trouble is told once.
      const auto trouble = errors.empty() ? std::string() : errors.back().line();
      if (!errors.empty() && trouble != state->told) state->complaint = std::move(errors.back());
      state->told = trouble;
      state->done = turn;
      state->changed.notify_all();
    }
  }).detach();
}

OldFileKeeper::~OldFileKeeper() { state_->stop.request_stop(); }

void OldFileKeeper::added() {
  const std::scoped_lock lock(state_->mutex);
  ++state_->asked;
  state_->changed.notify_all();
}

void OldFileKeeper::wait(std::chrono::nanoseconds at_most) {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait_for(lock, at_most, [&] { return state_->asked == state_->done; });
}

std::optional<Error> OldFileKeeper::take_complaint() {
  const std::scoped_lock lock(state_->mutex);
  return std::exchange(state_->complaint, std::nullopt);
}

}  // namespace gpulse::sink
