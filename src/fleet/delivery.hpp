// SPDX-License-Identifier: Apache-2.0
// Brings steps to an engine in their order, and finds what it refuses by halving: first by time, then by series. Any
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "fleet/answer.hpp"
#include "fleet/series.hpp"

namespace gpulse::fleet {

// Sends a request of that body.
using Post = std::function<Answer(std::string)>;

struct Delivered {
  std::size_t steps = 0;                 // dealt with: taken, or refused for good
  std::uint64_t taken = 0, refused = 0;  // samples of those
  std::optional<Answer> refusal{};       // the last one
  std::optional<Answer> stopped{};       // why the rest was not sent
};

Delivered deliver(std::span<const Step> steps, const Post &post);

}  // namespace gpulse::fleet
