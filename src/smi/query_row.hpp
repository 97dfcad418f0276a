// SPDX-License-Identifier: Apache-2.0
// A field of nvidia-smi's selective queries: --query-gpu and the like write it, and columns of CSV are known by it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "smi/fact.hpp"
#include "smi/form.hpp"

namespace gpulse::smi {

struct QueryField {
  std::string_view name;
  std::string_view alias = {};
  std::optional<MetricId> metric = {};  // what it shows
  std::uint64_t mask = 0;               // the bits of the metric that it shows; 0: all
  Form form = {};
  Fact fact = Fact::none;      // what it shows where that is no metric
  bool bare = false;           // no brackets around what is no value
  std::string_view help = {};  // where no metric has one
};

enum class QueryKind : std::uint8_t {
  gpu,
  compute_apps,
  accounted_apps,
  retired_pages,
  remapped_rows,
  supported_clocks
};
inline constexpr std::size_t kQueryKinds = 6;

std::span<const QueryField> fields_of(QueryKind kind);

// Titles of columns that --query-gpu once had.
std::span<const QueryField> older_fields();

}  // namespace gpulse::smi
