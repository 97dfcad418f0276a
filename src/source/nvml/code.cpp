// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/code.hpp"

#include <array>

namespace gpulse::nvml {

Reading reason_of(Return code) {
  switch (code) {
    case Return::not_supported:
    case Return::function_not_found:
    case Return::argument_version_mismatch:
    case Return::invalid_argument:
      return Reason::not_supported;
    case Return::deprecated:
      return Reason::deprecated;
    case Return::no_permission:
    case Return::operating_system:
      return Reason::no_permission;
    case Return::gpu_is_lost:
      return Reason::lost;
    case Return::reset_required:
      return Reason::reset_required;
    case Return::no_data:
    case Return::not_ready:
      return Reason::not_sampled;
    default:
      return {Reason::error, static_cast<std::uint16_t>(code)};
  }
}

Outcome outcome_of(Return code) {
  switch (code) {
    case Return::not_supported:
    case Return::function_not_found:
    case Return::argument_version_mismatch:
    case Return::invalid_argument:
    case Return::deprecated:
    case Return::no_permission:
      return Outcome::unsupported;
    case Return::gpu_is_lost:
      return Outcome::lost;
    case Return::uninitialized:
    case Return::driver_not_loaded:
    case Return::lib_rm_version_mismatch:
      return Outcome::gone;
    default:
      return Outcome::ok;
  }
}

std::string_view code_text(Return code) {
  static constexpr std::array<std::string_view, 31> kTexts{
      "success",
      "not initialised",
      "invalid argument",
      "not supported",
      "no permission",
      "already initialised",
      "not found",
      "insufficient size",
      "power cable not attached",
      "driver not loaded",
      "timeout",
      "interrupt problem",
      "library not found",
      "function not found",
      "infoROM corrupted",
      "GPU is lost",
      "GPU requires a reset",
      "blocked by the operating system",
      "driver and library versions differ",
      "in use",
      "out of memory",
      "no data",
      "not supported on this vGPU",
      "out of resources",
      "frequency not supported",
      "argument version mismatch",
      "deprecated",
      "not ready",
      "GPU not found",
      "invalid state",
      "reset type not supported",
  };
  const auto number = static_cast<std::size_t>(code);
  return number < kTexts.size() ? kTexts[number] : "unknown error";
}

}  // namespace gpulse::nvml
