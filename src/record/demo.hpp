// SPDX-License-Identifier: Apache-2.0
// The recording shipped in the binary: ten kinds of workload on one H200, for `--demo`.
#pragma once

#include <cstddef>
#include <span>

namespace gpulse::record {

std::span<const std::byte> demo_recording();

}  // namespace gpulse::record
