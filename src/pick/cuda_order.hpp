// SPDX-License-Identifier: Apache-2.0
// CUDA's own order of the GPUs, asked from CUDA in a short-lived process: cuInit in a process that forks later would
// spoil CUDA for its children. The asking side is for any thread of a program or library; the answering side is the
// whole work of the process that was started.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace gpulse::pick {

// The word that tells gpulse to answer.
inline constexpr const char *kCudaOrderCommand = "cuda-order";

// UUIDs of all GPUs that CUDA has without a mask, in its order. `program` is gpulse, or whatever answers as it does, a
// UUID per line; without a slash it is looked for in PATH.
Result<std::vector<std::string>> ask_cuda_order(const std::string &program,
                                                std::chrono::milliseconds patience = std::chrono::seconds(10),
                                                const std::stop_token &stop = {});

// Initialises CUDA. Never to be called in a process that does anything else.
Result<std::vector<std::string>> read_cuda_order();

}  // namespace gpulse::pick
