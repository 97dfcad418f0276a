// SPDX-License-Identifier: Apache-2.0
// The bytes of Prometheus' remote write 1.0: a protobuf message, compressed by snappy's block format. Pure.
#pragma once

#include <span>
#include <string>

#include "fleet/series.hpp"

namespace gpulse::fleet {

// Labels have to be sorted by their names.
std::string encode_labels(std::span<const Label> labels);

// One request for all of these moments, which have to be in order. Each series has its labels once.
std::string encode_write_request(std::span<const Step> steps);

}  // namespace gpulse::fleet
