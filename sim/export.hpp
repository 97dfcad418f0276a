// SPDX-License-Identifier: Apache-2.0
// What every exported function begins with: counting, cost, faults, the handle. Its body answers from the scenario.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "source/nvml/abi.hpp"
#include "state.hpp"

#define GPULSE_SIM_EXPORT extern "C" __attribute__((visibility("default")))

#define GPULSE_SIM_BEGIN(name, ...)                     \
  const Call call(Fn::name __VA_OPT__(, ) __VA_ARGS__); \
  if (!call) {                                          \
    return call.result();                               \
  }

// A function that returns one number, multiplied by `scale` to get the caller's unit.
#define GPULSE_SIM_NUMBER(name, type, key, scale)           \
  GPULSE_SIM_EXPORT Return name(Handle device, type *out) { \
    GPULSE_SIM_BEGIN(name, device)                          \
    return call.give(Key::key, out, scale);                 \
  }

#define GPULSE_SIM_TEXT(name, key)                                                   \
  GPULSE_SIM_EXPORT Return name(Handle device, char *buffer, std::uint32_t length) { \
    GPULSE_SIM_BEGIN(name, device)                                                   \
    return copy_text(call.target()[Text::key], buffer, length);                      \
  }

#define GPULSE_SIM_NEED(condition)   \
  if (!(condition)) {                \
    return Return::invalid_argument; \
  }

namespace gpulse::sim {

inline constexpr double kMib = 1048576;

// Whether the caller's struct has the version we know; the real library returns 25 otherwise.
template <class T>
bool version_is(const T &value, std::uint32_t version) {
  return value.version == nvml::version_word<T>(version);
}

}  // namespace gpulse::sim
