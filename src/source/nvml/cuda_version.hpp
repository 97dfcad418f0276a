// SPDX-License-Identifier: Apache-2.0
// The CUDA version, from libcuda itself, on a thread of its own: loading it takes milliseconds, which the start of the
// driver's library would otherwise wait for.
#pragma once

#include <future>
#include <optional>

namespace gpulse::nvml {

// As CUDA counts: 13000 is 13.0. None where there is no libcuda, or it does not tell.
std::future<std::optional<int>> ask_cuda_version();

}  // namespace gpulse::nvml
