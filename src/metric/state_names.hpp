// SPDX-License-Identifier: Apache-2.0
// Words for the metrics that are a state or a set, in the order of the value or the bit.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gpulse::state_names {

using namespace std::string_view_literals;

inline constexpr std::array kOffOn{"off"sv, "on"sv};
inline constexpr std::array kNoYes{"no"sv, "yes"sv};
inline constexpr std::array kTimeslice{"default"sv, "short"sv, "medium"sv, "long"sv};
inline constexpr std::array kPerformance{"P0"sv, "P1"sv, "P2"sv,  "P3"sv,  "P4"sv,  "P5"sv,  "P6"sv,  "P7"sv,
                                         "P8"sv, "P9"sv, "P10"sv, "P11"sv, "P12"sv, "P13"sv, "P14"sv, "P15"sv};
inline constexpr std::array kThrottle{"idle"sv,           "application clocks"sv, "power cap"sv,   "hw slowdown"sv,
                                      "sync boost"sv,     "sw thermal"sv,         "hw thermal"sv,  "power brake"sv,
                                      "display clocks"sv, "board limit"sv,        "reliability"sv, "current limit"sv,
                                      "other"sv};
// The bit of the set that stands for the word; one that is none does not compile.
consteval std::uint64_t throttle_bit(std::string_view word) {
  for (std::size_t i = 0; i < kThrottle.size(); ++i) {
    if (kThrottle[i] == word) return std::uint64_t{1} << i;
  }
  throw "no such word";
}
// Idle, application clocks, sync boost and display clocks are somebody's wish; slowdown by the hardware, heat and the
// power brake cost speed that was paid for.
inline constexpr std::uint64_t kCalmThrottle = 0x113;
inline constexpr std::uint64_t kGraveThrottle = 0xE8;
// A board at full load draws what it may: that is what the limit is for.
inline constexpr std::uint64_t kUsualThrottle = throttle_bit("power cap");
inline constexpr std::array kPerformanceLevel{"auto"sv,
                                              "low"sv,
                                              "high"sv,
                                              "manual"sv,
                                              "profile standard"sv,
                                              "profile min sclk"sv,
                                              "profile min mclk"sv,
                                              "profile peak"sv,
                                              "profile exit"sv,
                                              "perf determinism"sv};
inline constexpr std::array kComputeMode{"default"sv, "exclusive thread"sv, "prohibited"sv, "exclusive process"sv};
inline constexpr std::array kVirtualization{"none"sv, "passthrough"sv, "guest"sv, "host vGPU"sv, "host vSGA"sv};
inline constexpr std::array kRecovery{"none"sv,      "reset"sv,           "reboot"sv,
                                      "drain P2P"sv, "drain and reset"sv, "recover IMEX domain"sv};
inline constexpr std::array kPowerSource{"mains"sv, "battery"sv, "undersized"sv};
inline constexpr std::array kInvalidValid{"invalid"sv, "valid"sv};
inline constexpr std::array kPeerType{"direct"sv, "switch"sv};
inline constexpr std::array kOperationMode{"all on"sv, "compute"sv, "low double precision"sv};
inline constexpr std::array kFabricState{"not supported"sv, "not started"sv, "in progress"sv, "completed"sv};
inline constexpr std::array kAddressing{"none"sv, "HMM"sv, "ATS"sv};

}  // namespace gpulse::state_names
