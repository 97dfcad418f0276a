// SPDX-License-Identifier: Apache-2.0
#include "cli/session.hpp"

#include <csignal>
#include <optional>
#include <thread>

#include "cli/output.hpp"

namespace gpulse::cli {

namespace {

constexpr const char *kWaiting = "waiting for the driver to answer …";

std::string readable_name(const std::string &file) { return file == "-" ? "the standard input" : file; }

// An agent reads this machine as it is, and everything of it.
bool may_use_agent(const Options &options) {
  const bool here = options.replay.empty() && !options.demo && options.sysroot.empty() && options.source == "auto";
  return here && !options.no_agent && !options.wake;
}

}  // namespace

feed::Options feed_options(const Options &options) {
  return {.source = options.source,
          .sysroot = options.sysroot,
          .replay = options.replay,
          .columns = options.columns,
          .demo = options.demo,
          .wake = options.wake,
          .interval = options.interval,
          .window = options.window,
          .agent = may_use_agent(options),
          .notice = [](const std::string &line) { complain(line); },
          .speed = options.speed,
          .at = options.at};
}

Result<feed::Feed *> open_feed(const feed::Options &options, const std::stop_token &stop) {
  auto feed = [&] {
    // A pipe may be slow, or have no writer yet.
    std::optional<SlowNotice> notice;
    if (!options.replay.empty()) notice.emplace("waiting for all of " + readable_name(options.replay) + " …");
    return feed::open(options, stop);
  }();
  if (!feed) return std::unexpected(feed.error());
  if (const auto warning = (*feed)->warning(); !warning.empty()) complain(warning);
  return feed->release();
}

Result<SnapshotPtr> first_look(feed::Feed &feed) {
  const SlowNotice notice(kWaiting);
  return feed.once();
}

Result<SnapshotPtr> first_next(feed::Feed &feed, const std::stop_token &stop) {
  const SlowNotice notice(kWaiting);
  return feed.next(stop);
}

std::stop_token stop_on_signals(std::function<void()> hangup) {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&signals, signal);
  // Threads started from here on inherit the mask, so that only the one below gets them.
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const std::stop_source source;
  std::thread([source, signals, hangup = std::move(hangup)]() mutable {
    int signal = 0;
    while (::sigwait(&signals, &signal) == 0 && signal == SIGHUP && hangup) hangup();
    source.request_stop();
  }).detach();
  return source.get_token();
}

}  // namespace gpulse::cli
