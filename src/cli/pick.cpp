// SPDX-License-Identifier: Apache-2.0
#include "pick/pick.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/counted.hpp"
#include "base/json_writer.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "pick/cuda_order.hpp"

namespace gpulse::cli {

namespace {

using namespace std::chrono_literals;

constexpr int kCannotRun = 126, kNotThere = 127;

pick::Request request_of(const Options &options) {
  pick::Request request{.count = options.wanted, .max_util_percent = options.max_util};
  if (const auto size = pick::parse_size(options.min_free)) {
    request.min_free_bytes = size->bytes;
    request.min_free_share = size->share.value_or(request.min_free_share);
  }
  return request;
}

std::vector<int> open_files() {
  std::vector<int> files;
  std::error_code none;
  for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd", none)) {
    if (const auto number = parse_integer<int>(entry.path().filename().string())) files.push_back(*number);
  }
  // One of them was the listing itself.
  std::erase_if(files, [](int file) { return ::fcntl(file, F_GETFD) < 0; });
  return files;
}

// What a driver's library has opened is nothing for the program that comes next.
void keep_only(const std::vector<int> &before, const std::vector<pick::Lease> &leases) {
  auto kept = before;
  for (const auto &lease : leases) {
    for (const int file : lease.descriptors()) kept.push_back(file);
  }
  for (const int file : open_files()) {
    if (std::find(kept.begin(), kept.end(), file) == kept.end()) ::fcntl(file, F_SETFD, FD_CLOEXEC);
  }
}

// A line when it takes long, and again when what is waited for has changed, but not all the time.
class WaitingWords {
 public:
  void say(const pick::Progress &now) {
    if (now.waited < 2s) return;
    const auto held = std::count_if(now.refused.begin(), now.refused.end(),
                                    [](const pick::DeviceReason &one) { return one.reason.starts_with("held by"); });
    const auto words =
        fmt::format("waiting for {}: {} free, {} held by others, {} busy or full", counted(now.wanted, "GPU"), now.free,
                    held, static_cast<std::ptrdiff_t>(now.refused.size()) - held);
    if (!last_.empty() && (words == last_ || now.waited < next_)) return;
    complain(words + " …");
    last_ = words;
    next_ = now.waited + 10s;
  }

 private:
  std::string last_;
  std::chrono::nanoseconds next_{0};
};

void explain(const std::vector<pick::Ignored> &ignored) {
  // What stands behind the first that does not count is lost because of it.
  if (ignored.empty() || ignored.front().variable.empty()) return;
  const auto &[variable, entry, reason] = ignored.front();
  complain(fmt::format("{}: \"{}\" shows no GPU: {}", variable, entry, reason));
}

int refuse(const pick::NotPicked &why, const Options &options) {
  if (why.why != pick::Why::none_free) explain(why.ignored);
  auto error = why.error;
  if (why.why == pick::Why::none_free && !options.wait) error.remedy = "--wait 10m waits for one";
  const int code = fail(error, why.why == pick::Why::no_device ? kNoDevice : kFailure);
  for (const auto &[id, uuid, name, reason] : why.refused) tell(fmt::format("  GPU {}: {}\n", text(id), Text(reason)));
  return code;
}

std::string json_of(const pick::Picked &picked) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.key("devices");
  json.begin_array();
  for (const auto &device : picked.devices) {
    json.begin_object();
    json.member("id", text(device.id));
    json.member("uuid", device.identity->uuid.str());
    json.member("vendor", device.identity->vendor.str());
    json.member("name", device.identity->name.str());
    json.end_object();
  }
  json.end_array();
  json.key("variables");
  json.begin_object();
  for (const auto &[name, value] : picked.variables) json.member(name, value);
  json.end_object();
  json.end_object();
  return out + "\n";
}

int print(const pick::Picked &picked, const Options &options) {
  std::string out;
  for (const auto &[name, value] : picked.variables) out += fmt::format("{}={}\n", name, value);
  const auto written = write_out(options.json ? json_of(picked) : out);
  return written ? kGood : fail(written.error());
}

// In place of this process, so that its end is the lease's.
int become(const std::vector<std::string> &command, pick::Picked &picked, const std::vector<int> &files_before,
           const sigset_t &signals) {
  for (auto &lease : picked.leases) {
    if (const auto good = lease.pass_on(); !good) return fail(good.error());
  }
  keep_only(files_before, picked.leases);
  for (const auto &[name, value] : picked.variables) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<std::string> words = command;
  std::vector<char *> arguments;
  for (auto &word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  // The program begins with the signals that we began with.
  ::pthread_sigmask(SIG_SETMASK, &signals, nullptr);
  ::execvp(arguments.front(), arguments.data());
  const int error = errno;
  return fail({fmt::format("{} cannot be run: {}", command.front(), std::strerror(error))},
              error == ENOENT ? kNotThere : kCannotRun);
}

}  // namespace

int run_pick(const Options &options) {
  const auto files_before = open_files();
  sigset_t signals;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &signals);
  const auto stop = stop_on_signals();
  auto reading = pick::feed_options();
  reading.source = options.source;
  reading.sysroot = options.sysroot;
  const auto feed = open_feed(reading, stop);
  if (!feed) return fail(feed.error());
  WaitingWords words;
  pick::Options how{.request = request_of(options), .wait = options.wait, .stop = stop};
  how.progress = [&](const pick::Progress &now) { words.say(now); };
  how.cuda_order = [&] { return pick::ask_cuda_order("/proc/self/exe", 10s, stop); };
  auto picked = pick::pick(**feed, how);
  if (!picked) return refuse(picked.error(), options);
  explain(picked->ignored);
  if (options.command.empty()) return print(*picked, options);
  if (stop.stop_requested()) return kFailure;
  return become(options.command, *picked, files_before, signals);
}

int run_cuda_order() {
  const auto uuids = pick::read_cuda_order();
  std::string out;
  if (uuids) {
    for (const auto &uuid : *uuids) out += uuid + "\n";
  } else {
    out = uuids.error().line() + "\n";
  }
  return write_out(out) && uuids ? kGood : kFailure;
}

}  // namespace gpulse::cli
