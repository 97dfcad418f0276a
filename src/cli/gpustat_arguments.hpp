// SPDX-License-Identifier: Apache-2.0
// gpustat's command line, read as Python's argparse reads it: clustered letters, optional values, unique beginnings of
// long names, and the same complaints.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "view/gpustat.hpp"

namespace gpulse::cli {

struct GpustatCommand {
  view::GpustatOptions view;  // without `devices`: which there are is not known yet
  bool json = false, debug = false;
  bool colour = false, no_colour = false;
  bool all = false;
  std::optional<std::string> id;
  double interval_seconds = 0;        // above 0: again and again
  std::optional<std::string> answer;  // to be printed instead: help, version, completions
};

// The error is what stands behind "gpustat: error: ".
Result<GpustatCommand> parse_gpustat(std::span<const std::string_view> arguments);

struct GpustatOption {
  enum class Takes : std::uint8_t { nothing, perhaps, one };

  std::string_view names;  // "-i/--interval/--watch"
  Takes takes;
  std::string_view value;                     // what the help calls it
  std::span<const std::string_view> choices;  // of the value; empty: any
  std::string_view help;
  Result<void> (*apply)(GpustatCommand &, std::optional<std::string_view> value);
};
std::span<const GpustatOption> gpustat_options();

std::string gpustat_usage();
std::string gpustat_help();
// `shell`: bash, zsh or tcsh.
std::string gpustat_completion(std::string_view shell);

}  // namespace gpulse::cli
