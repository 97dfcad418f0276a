// SPDX-License-Identifier: Apache-2.0
// Asks libcuda for the CUDA version, on a thread of its own: loading it takes milliseconds, in which the driver's
// library can start.
#pragma once

#include <future>
#include <optional>

namespace gpulse::nvml {

// 13000 is version 13.0. None when there is no libcuda, or it does not answer.
std::future<std::optional<int>> ask_cuda_version();

}  // namespace gpulse::nvml
