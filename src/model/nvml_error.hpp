// SPDX-License-Identifier: Apache-2.0
// What NVML's return codes mean: in our words, and in those that nvidia-smi prints.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpulse {

struct NvmlError {
  std::uint16_t code;
  std::string_view text;       // ours
  std::string_view smi_words;  // nvidia-smi's
};

namespace nvml_code {
inline constexpr std::uint16_t kNotSupported = 3, kNoPermission = 4, kNotFound = 6, kTimeout = 10,
                               kFunctionNotFound = 13, kLost = 15, kResetRequired = 16, kNoData = 21, kDeprecated = 26,
                               kUnknown = 999;
}  // namespace nvml_code

// A code that has no entry is an unknown error.
const NvmlError &nvml_error(std::uint32_t code);

// By nvidia-smi's words, in any case. Null where they stand for no code.
const NvmlError *find_nvml_error(std::string_view smi_words);

}  // namespace gpulse
