// SPDX-License-Identifier: Apache-2.0
#include "record/demo.hpp"

// In demo_data.S.
extern "C" {
extern const std::byte gpulse_demo_begin[];
extern const std::byte gpulse_demo_end[];
}

namespace gpulse::record {

std::span<const std::byte> demo_recording() { return {&gpulse_demo_begin[0], &gpulse_demo_end[0]}; }

}  // namespace gpulse::record
