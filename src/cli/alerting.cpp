// SPDX-License-Identifier: Apache-2.0
#include "cli/alerting.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/counted.hpp"
#include "base/log.hpp"

namespace gpulse::cli {

namespace {

constexpr std::chrono::milliseconds kOftenest{100}, kRarest{1000};

std::string own_host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "localhost";
}

alert::Sight sight_of(const serve::Board &board) {
  alert::Sight sight{.snapshot = board.latest(), .tally = board.tally().report()};
  sight.is_fresh = insight::is_fresh(sight.tally.pace, monotonic_now());
  if (const auto numbers = board.numbers(); numbers.history) sight.dropped = numbers.history->lost;
  return sight;
}

view::AgentNumbers::Alerts numbers_of(const alert::Alerts &alerts) {
  const auto numbers = alerts.numbers();
  view::AgentNumbers::Alerts out{.firing = numbers.firing};
  for (const auto &one : numbers.receivers) {
    out.receivers.push_back(
        {.name = one.name, .sent = one.sent, .given_up = one.given_up, .waiting = one.waiting, .failed = one.failed});
  }
  return out;
}

}  // namespace

Result<alert::Config> alert_config(const Options &options) {
  return alert::parse_config(section(options.sections, "alerts"));
}

std::string alert_state_file(const std::string &history, const std::string &usual_history) {
  const auto &beside = history.empty() ? usual_history : history;
  return beside.empty() ? beside : beside.substr(0, beside.rfind('/') + 1) + "alerts.state";
}

Result<std::shared_ptr<Alerting>> Alerting::open(const Options &options, std::string state_file) {
  auto config = alert_config(options);
  if (!config) return std::unexpected(config.error());
  if (!config->state.empty()) state_file = config->state;
  return std::shared_ptr<Alerting>(new Alerting(options, std::move(*config), std::move(state_file)));
}

Alerting::Alerting(const Options &options, alert::Config config, std::string state_file)
    : is_recording_(options.demo || !options.replay.empty()),
      every_(std::clamp<std::chrono::nanoseconds>(options.interval, kOftenest, kRarest)),
      config_(std::move(config)),
      state_file_(std::move(state_file)) {}

// With the mutex held.
std::shared_ptr<alert::Alerts> Alerting::make(alert::Config config) const {
  if (!config.is_there) return nullptr;
  return std::make_shared<alert::Alerts>(alert::AlertsOptions{.config = std::move(config),
                                                              .host = own_host(),
                                                              .state_file = state_file_,
                                                              .look = [board = board_] { return sight_of(*board); },
                                                              .every = every_});
}

std::shared_ptr<alert::Alerts> Alerting::running() const {
  const std::lock_guard lock(mutex_);
  return alerts_;
}

serve::AlertAccess Alerting::access() {
  return {.numbers =
              [this] {
                const auto alerts = running();
                return alerts ? std::optional(numbers_of(*alerts)) : std::nullopt;
              },
          .report =
              [this] {
                const auto alerts = running();
                return alerts ? alerts->report() : share::AlertsAnswer{};
              },
          .silence = [this](const share::SilenceRequest &request) -> Result<void> {
            const auto alerts = running();
            return alerts ? alerts->silence(request) : failure("this agent sends no alerts", "docs/alerts.md says how");
          }};
}

void Alerting::start(const serve::Board &board) {
  const std::lock_guard lock(mutex_);
  board_ = &board;
  // What was is no reason to wake somebody.
  if (config_.is_there && is_recording_) log_line(LogLevel::notice, "no alerts are sent of a recording");
  config_.is_there = config_.is_there && !is_recording_;
  alerts_ = make(config_);
  if (alerts_) log_line(LogLevel::info, "sends alerts to " + counted(config_.receivers.size(), "receiver"));
}

void Alerting::reload(alert::Config config) {
  std::shared_ptr<alert::Alerts> former;
  config.is_there = config.is_there && !is_recording_;
  {
    const std::lock_guard lock(mutex_);
    if (board_ == nullptr) return;
    config_ = config;
    if (!config.is_there) former = std::exchange(alerts_, nullptr);
    if (config.is_there && !alerts_) {
      alerts_ = make(std::move(config));
      return;
    }
  }
  // Outside of the lock: it waits for what is being sent.
  if (const auto alerts = running()) alerts->reload(std::move(config));
}

void Alerting::stop() {
  std::shared_ptr<alert::Alerts> former;
  const std::lock_guard lock(mutex_);
  former.swap(alerts_);
  board_ = nullptr;
}

}  // namespace gpulse::cli
