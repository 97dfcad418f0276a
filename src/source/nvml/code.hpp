// SPDX-License-Identifier: Apache-2.0
// What the driver's return codes mean for a reading and for the device.
#pragma once

#include "model/row.hpp"
#include "source/api/source.hpp"
#include "source/nvml/abi.hpp"

namespace gpulse::nvml {

// The reason for a missing number, for a call that did not succeed.
Reading reason_of(Return code);

// What it means for the reader: whether to call again, and whether the device is still there.
Outcome outcome_of(Return code);

// The driver lacks the function or this version of it: an older one may answer.
constexpr bool try_older(Return code) {
  return code == Return::function_not_found || code == Return::argument_version_mismatch ||
         code == Return::invalid_argument || code == Return::deprecated || code == Return::not_supported;
}

// The same for a text.
inline TextReading text_reason_of(Return code) {
  const auto reading = reason_of(code);
  return {reading.reason(), reading.code()};
}

// The driver's text for a code.
std::string_view code_text(Return code);

}  // namespace gpulse::nvml
