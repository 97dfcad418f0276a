// SPDX-License-Identifier: Apache-2.0
// Whether a rule holds, of each thing that it can be about. What a single sample does not tell is looked up in what was
// counted. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alert/alert.hpp"
#include "alert/growth.hpp"
#include "insight/tally.hpp"

namespace gpulse::alert {

// What the agent sees.
struct Sight {
  WallTime now{};
  bool is_fresh = false;   // samples come
  SnapshotPtr snapshot{};  // null: there is none yet
  insight::TallyReport tally{};
  std::optional<std::uint64_t> dropped{};  // samples that the history had to drop; none: there is no history
};

// By what it counts ("" and a metric's key, or its key and a word of it) and the UUID.
using Growths = std::map<std::pair<std::string, std::string>, Growth>;

struct Verdict {
  enum class Holds : std::uint8_t { no, nearly, yes };  // nearly: goes on, but does not begin
  Text uuid{}, detail{};
  AlertLevel level = AlertLevel::info;
  Holds holds = Holds::no;
  Reading value{};
  std::string value_text{};
  WallTime event{};
};

struct Judged {
  std::vector<Verdict> verdicts{};
  bool counts = false;  // something worth keeping has been counted
};

// Of everything that can be told now; of what is missing nothing can.
Judged judge(const insight::AlertRule &rule, const Sight &sight, Growths &growths);

// Of an alert that judge() said nothing of: none where nobody knows.
std::optional<Verdict> judge_missing(const insight::AlertRule &rule, const Alert &alert, const Sight &sight);

}  // namespace gpulse::alert
