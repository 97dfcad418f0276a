// SPDX-License-Identifier: Apache-2.0
// A message as each kind of receiver takes it. The same message gives the same bytes each time. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alert/alert.hpp"

namespace gpulse::alert {

// "GpuLost: 3 GPUs of node7: 0, 1, 5"; of one alert its own sentence.
std::string title(const Message &message);
// For people: a line for each alert, then what to do.
std::string plain_text(const Message &message);

// docs/alerts.md has what is in it.
std::string json_body(const Message &message);
// For an incoming webhook of Slack, and of those who take the same.
std::string slack_body(const Message &message);

using Headers = std::vector<std::pair<std::string, std::string>>;
// Title, priority and tags; the body is plain_text().
Headers ntfy_headers(const Message &message);

// GPULSE_ALERT_… for a program.
Headers environment_of(const Message &message);

// One that shows that a receiver can be reached.
Message test_message(const std::string &host, WallTime now);

}  // namespace gpulse::alert
