// SPDX-License-Identifier: Apache-2.0
// The words on nvidia-smi's own screens (its table, dmon, pmon), and what each means in plain words. Pure.
#pragma once

#include <span>
#include <string_view>

namespace gpulse::smi {

struct Heading {
  std::string_view name;
  std::string_view words;
  std::string_view key = {};  // of the metric that has it here; empty: none does
};

std::span<const Heading> headings();
// By its name in any case; null: it is none.
const Heading *find_heading(std::string_view name);

}  // namespace gpulse::smi
