// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/code.hpp"

#include "model/nvml_error.hpp"

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

[[gnu::hot]] Outcome outcome_of(Return code) {
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

std::string_view code_text(Return code) { return nvml_error(static_cast<std::uint32_t>(code)).text; }

}  // namespace gpulse::nvml
