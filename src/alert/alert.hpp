// SPDX-License-Identifier: Apache-2.0
// Alerts and the messages that tell of them, as plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "insight/alert_rules.hpp"
#include "model/reading.hpp"

namespace gpulse::alert {

using insight::AlertLevel;

enum class Phase : std::uint8_t {
  pending,  // it holds, but not for long enough
  firing,
  over,  // remembered for an hour: what comes and goes is then told ever more rarely
};

// A rule that holds of one thing.
struct Alert {
  Text rule;
  AlertLevel level = AlertLevel::info;
  Text uuid{};    // empty: it is about the machine
  Text detail{};  // the number of an XID, what holds a GPU back
  Text id{};      // the same from its beginning to its end, and another the next time
  Phase phase = Phase::pending;
  Text gpu{}, name{};                  // "0", "NVIDIA H200"; empty where it is about the machine
  WallTime since{}, fired{}, ended{};  // it holds, and is an alert, and is over
  WallTime seen{};                     // when it held last
  WallTime event{};                    // when what it looks back at happened
  Reading value{};
  Text value_text{};  // with its unit
  Text summary{}, description{};
  Text ending{};            // why it is over, where that is not plain
  bool told = false;        // receivers are told of it
  std::uint32_t fires = 0;  // within about an hour

  bool operator==(const Alert &) const = default;
};

// What receivers are told at once: alerts of one rule that have begun, or are over.
struct Message {
  Text key{};  // the same however often it is sent
  bool is_firing = true;
  bool is_test = false;
  Text rule{};
  AlertLevel level = AlertLevel::info;
  Text host{};
  WallTime time{};
  std::vector<Alert> alerts{};

  bool operator==(const Message &) const = default;
};

// What is not to be told, for a while.
struct Silence {
  Text rule{};       // its name; * stands for anything
  Text gpu{};        // its index, or the beginning of its UUID; empty: any
  WallTime until{};  // no time: for good

  bool operator==(const Silence &) const = default;
};

// "Gpu*" for "GpuLost".
bool fits(std::string_view pattern, std::string_view name);
bool covers(const Silence &silence, const Alert &alert, WallTime now);

// Bits that nobody can guess, as so many hexadecimal digits.
std::string random_word(std::size_t digits);

}  // namespace gpulse::alert
