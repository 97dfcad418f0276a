// SPDX-License-Identifier: Apache-2.0
// The alerts of `gpulse serve`, as [alerts] of the configuration says: none where there is no such section.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "alert/alerts.hpp"
#include "cli/options.hpp"
#include "serve/agent.hpp"

namespace gpulse::cli {

// What the configuration says, on top of the rules that there are.
Result<alert::Config> alert_config(const Options &options);

// Beside the history; else where it would be; empty: nowhere.
std::string alert_state_file(const std::string &history, const std::string &usual_history);

// One for as long as the agent runs; any thread.
class Alerting {
 public:
  // `state_file`: where nobody names another; empty: nothing outlasts the agent.
  static Result<std::shared_ptr<Alerting>> open(const Options &options, std::string state_file);

  // For the agent, which is made before there is something to look at. It must not outlive this.
  serve::AlertAccess access();
  void start(const serve::Board &board);
  void reload(alert::Config config);
  void stop();

 private:
  Alerting(const Options &options, alert::Config config, std::string state_file);
  std::shared_ptr<alert::Alerts> running() const;

  std::shared_ptr<alert::Alerts> make(alert::Config config) const;

  const bool is_recording_;
  const std::chrono::nanoseconds every_;  // as samples come, but at least once a second
  mutable std::mutex mutex_;              // guards everything below
  alert::Config config_;
  std::string state_file_;
  const serve::Board *board_ = nullptr;  // null: not started
  std::shared_ptr<alert::Alerts> alerts_;
};

}  // namespace gpulse::cli
