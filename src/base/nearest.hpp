// SPDX-License-Identifier: Apache-2.0
// What somebody meant who has mistyped a name: a command, an option, a metric, a theme.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpulse {

// The name that `typed` is nearest to; of equally near ones the first. Empty: it is like none of them.
std::string_view nearest(std::string_view typed, std::span<const std::string_view> names);

// What to do about a name that is none: "did you mean top?", or `otherwise`.
std::string did_you_mean(std::string_view typed, std::span<const std::string_view> names, std::string_view otherwise);

}  // namespace gpulse
