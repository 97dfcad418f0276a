// SPDX-License-Identifier: Apache-2.0
// [alerts] of the configuration. For whoever starts the agent, and for `gpulse rules`.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "alert/alert.hpp"
#include "alert/receiver.hpp"
#include "base/result.hpp"

namespace gpulse::alert {

struct Config {
  bool is_there = false;  // else nobody is told of anything
  std::vector<insight::AlertRule> rules{};
  std::vector<Receiver> receivers{};
  std::vector<Silence> silences{};
  std::chrono::nanoseconds keep = std::chrono::minutes(1);    // of rules that do not say
  std::chrono::nanoseconds group = std::chrono::seconds(5);   // what comes within it goes into one message
  std::chrono::nanoseconds give_up = std::chrono::hours(24);  // on a message that did not arrive
  std::string state{};                                        // the file; empty: where the history is
};

// TOML in which nothing but [alerts] stands.
Result<Config> parse_config(std::string_view text);

}  // namespace gpulse::alert
