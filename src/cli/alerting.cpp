// SPDX-License-Identifier: Apache-2.0
#include "cli/alerting.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/log.hpp"

namespace gpulse::cli {

namespace {

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

std::shared_ptr<alert::Alerts> make_alerts(alert::Config config, const std::string &state_file,
                                           const serve::Board &board) {
  if (!config.is_there) return nullptr;
  return std::make_shared<alert::Alerts>(
      alert::AlertsOptions{.config = std::move(config), .host = own_host(), .state_file = state_file, .look = [&board] {
                             return sight_of(board);
                           }});
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
  // What was is no reason to wake somebody.
  const bool is_recording = options.demo || !options.replay.empty();
  if (config->is_there && is_recording) log_line(LogLevel::notice, "no alerts are sent of a recording");
  if (!config->state.empty()) state_file = config->state;
  return std::shared_ptr<Alerting>(new Alerting(std::move(*config), std::move(state_file), is_recording));
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
  config_.is_there = config_.is_there && !is_recording_;
  alerts_ = make_alerts(config_, state_file_, board);
  if (alerts_) log_line(LogLevel::info, fmt::format("sends alerts to {} receivers", config_.receivers.size()));
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
      alerts_ = make_alerts(std::move(config), state_file_, *board_);
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
