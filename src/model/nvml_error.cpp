// SPDX-License-Identifier: Apache-2.0
#include "model/nvml_error.hpp"

#include <algorithm>
#include <array>

namespace gpulse {

namespace {

// In the order of the codes; the last entry stands for all others.
constexpr std::array kErrors{
    NvmlError{0, "success", "Success"},
    NvmlError{1, "not initialised", "Uninitialized"},
    NvmlError{2, "invalid argument", "Invalid Argument"},
    NvmlError{3, "not supported", "Not Supported"},
    NvmlError{4, "no permission", "Insufficient Permissions"},
    NvmlError{5, "already initialised", "Already Initialized"},
    NvmlError{6, "not found", "Not Found"},
    NvmlError{7, "insufficient size", "Insufficient Size"},
    NvmlError{8, "power cable not attached", "Insufficient External Power"},
    NvmlError{9, "driver not loaded", "Driver Not Loaded"},
    NvmlError{10, "timeout", "Timeout"},
    NvmlError{11, "interrupt problem", "Interrupt Request Issue"},
    NvmlError{12, "library not found", "NVML Shared Library Not Found"},
    NvmlError{13, "function not found", "Function Not Found"},
    NvmlError{14, "infoROM corrupted", "Corrupted infoROM"},
    NvmlError{15, "GPU is lost", "GPU is lost"},
    NvmlError{16, "GPU requires a reset", "GPU requires reset"},
    NvmlError{17, "blocked by the operating system", "GPU access blocked by the operating system"},
    NvmlError{18, "driver and library versions differ", "Driver/library version mismatch"},
    NvmlError{19, "in use", "In use by another client"},
    NvmlError{20, "out of memory", "Insufficient Memory"},
    NvmlError{21, "no data", "No data"},
    NvmlError{22, "not supported on this vGPU", "vGPU ECC Not Supported"},
    NvmlError{23, "out of resources", "Insufficient Resources"},
    NvmlError{24, "frequency not supported", "Frequency Not Supported"},
    NvmlError{25, "argument version mismatch", "Argument Version Mismatch"},
    NvmlError{26, "deprecated", "Requested functionality has been deprecated"},
    NvmlError{27, "not ready", "System is not in ready state"},
    NvmlError{28, "GPU not found", "No GPUs were found"},
    NvmlError{29, "invalid state", "Invalid State"},
    NvmlError{30, "reset type not supported", "Reset Type Not Supported"},
    NvmlError{nvml_code::kUnknown, "unknown error", "Unknown Error"},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i + 1 < kErrors.size(); ++i) {
    if (kErrors[i].code != i) return false;
  }
  return true;
}
static_assert(in_order());

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_words(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

const NvmlError &nvml_error(std::uint32_t code) { return kErrors[std::min<std::size_t>(code, kErrors.size() - 1)]; }

const NvmlError *find_nvml_error(std::string_view smi_words) {
  const auto *const found = std::find_if(
      kErrors.begin(), kErrors.end(), [&](const NvmlError &error) { return same_words(error.smi_words, smi_words); });
  return found != kErrors.end() ? found : nullptr;
}

}  // namespace gpulse
