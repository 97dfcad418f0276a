// SPDX-License-Identifier: Apache-2.0
// The subcommands of `gpulse smi` that look once: nvlink, mig, compute-policy, topo; and those that it does not have.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "cli/options.hpp"

namespace gpulse::cli {

int run_nvlink(std::span<const std::string_view> arguments, const Options &options);
int run_mig(std::span<const std::string_view> arguments, const Options &options);
int run_compute_policy(std::span<const std::string_view> arguments, const Options &options);
int run_topo(std::span<const std::string_view> arguments, const Options &options);

// Says what to use instead of a subcommand of nvidia-smi that there is no counterpart for; none for any other word.
std::optional<int> refuse_subcommand(std::string_view name);

}  // namespace gpulse::cli
