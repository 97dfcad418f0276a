// SPDX-License-Identifier: Apache-2.0
#include "sink/event_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "sink/event_record.hpp"
#include "view/tensorboard.hpp"

namespace gpulse::sink {

namespace {

constexpr int kMostRuns = 10000;

std::unexpected<Error> cannot(const char *what, const std::string &path, int why) {
  return failure(fmt::format("cannot {} {}", what, path), std::strerror(why));
}

// Makes the run's directory and gives its path.
Result<std::string> make_run(const std::string &folder, const std::string &run) {
  constexpr mode_t kMode = 0777;
  const auto wanted = std::filesystem::path(folder) / run;
  std::error_code error;
  std::filesystem::create_directories(wanted.parent_path(), error);
  if (error) return cannot("make", wanted.parent_path().string(), error.value());
  for (int i = 0; i < kMostRuns; ++i) {
    auto path = i == 0 ? wanted.string() : fmt::format("{}_{}", wanted.string(), i);
    if (::mkdir(path.c_str(), kMode) == 0) return path;
    if (errno != EEXIST) return cannot("make", path, errno);
  }
  return failure(fmt::format("{} has {} runs called {}", folder, kMostRuns, run), "choose another name or folder");
}

std::string host_name() {
  constexpr std::size_t kMost = 64;
  std::array<char, kMost + 1> name{};
  if (::gethostname(name.data(), kMost) != 0) return "localhost";
  std::string text = name.data();
  for (auto &c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-') c = '-';
  }
  return text.empty() ? "localhost" : text;
}

// TensorBoard knows an event file by the word in it, and reads those of a run in the order of their names.
std::string file_name(WallTime now) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
  return fmt::format("events.out.tfevents.{:010}.{}.{}.0", seconds, host_name(), ::getpid());
}

}  // namespace

Result<void> check_run(std::string_view run) {
  const std::filesystem::path path(run);
  bool good = !run.empty() && run.find('\0') == std::string_view::npos && path.is_relative() && path.has_filename();
  for (const auto &part : path) good = good && part != ".." && part != ".";
  if (!good) return failure(fmt::format("'{}' cannot be the name of a run", run), "a folder below the log directory");
  return {};
}

Result<EventFile> EventFile::create(const std::string &folder, const std::string &run) {
  constexpr mode_t kMode = 0666;
  if (const auto good = check_run(run); !good) return std::unexpected(good.error());
  auto made = make_run(folder, run);
  if (!made) return std::unexpected(made.error());
  const auto now = wall_now();
  const auto path = *made + "/" + file_name(now);
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kMode));
  if (!fd) return cannot("write", path, errno);
  EventFile file(std::move(*made), std::move(fd));
  std::string head;
  view::append_tensorboard_head(head, now, "gpulse");
  if (const auto written = file.append(head); !written) return std::unexpected(written.error());
  return file;
}

Result<void> EventFile::append(std::string_view event) {
  record_.clear();
  append_record(record_, event);
  if (!append_whole(file_.get(), record_)) return cannot("write", folder_, errno);
  size_ += record_.size();
  return {};
}

}  // namespace gpulse::sink
