// SPDX-License-Identifier: Apache-2.0
// What encoder and decoder of a snapshot share: which bit says that which part follows.
#pragma once

#include "model/snapshot.hpp"

namespace gpulse::codec {

namespace part {
inline constexpr std::uint8_t kHostname = 1;
inline constexpr std::uint8_t kOrigin = 2;
inline constexpr std::uint8_t kHost = 4;
inline constexpr std::uint8_t kSelf = 8;
inline constexpr std::uint8_t kSources = 16;
inline constexpr std::uint8_t kEvents = 32;
inline constexpr std::uint8_t kCores = 64;
}  // namespace part

// Of a device or process. Without kMatch it goes on from the entry after the one that the previous went on from.
namespace field {
inline constexpr std::uint8_t kMatch = 1;   // 1 + position among those before, or 0: new
inline constexpr std::uint8_t kNumber = 2;  // a GPU's number; a process's pid
inline constexpr std::uint8_t kPlace = 4;   // the number of an instance on its GPU; a process's device
inline constexpr std::uint8_t kState = 8;   // a device's state; a process's types and flags
inline constexpr std::uint8_t kStateFor = 16;
inline constexpr std::uint8_t kTexts = 32;  // identity or texts
inline constexpr std::uint8_t kRow = 64;
}  // namespace field

inline constexpr std::uint8_t kForeign = 1;
inline constexpr std::uint8_t kGone = 2;

// What the first sample after a restart is compared with.
inline Snapshot blank_snapshot() {
  Snapshot blank;
  blank.host.fill(Reason::not_supported);
  blank.self.fill(Reason::not_supported);
  return blank;
}
inline Device blank_device() {
  Device blank;
  blank.row.fill(Reason::not_supported);
  return blank;
}
inline Process blank_process() {
  Process blank;
  blank.row.fill(Reason::not_supported);
  return blank;
}

inline CpuCore blank_core() {
  CpuCore blank;
  blank.row.fill(Reason::not_supported);
  return blank;
}

// Bytes of all its texts.
std::size_t text_size(const Snapshot &snapshot);

}  // namespace gpulse::codec
