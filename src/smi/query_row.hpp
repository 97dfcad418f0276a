// SPDX-License-Identifier: Apache-2.0
// A field of --query-gpu and the other queries. It is used both to write the CSV and to recognise its columns.
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
  std::optional<MetricId> metric = {};
  std::uint64_t mask = 0;  // the bits of the metric that are shown; 0: all
  Form form = {};
  Fact fact = Fact::none;      // for fields without a metric
  bool bare = false;           // no brackets around N/A and errors
  std::string_view help = {};  // for fields whose metric has none

  // Known only from logs: its name is that in DeviceDetails::told.
  constexpr bool is_told() const { return fact == Fact::not_available || fact == Fact::deprecated; }
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

// Titles that only older versions of nvidia-smi print.
std::span<const QueryField> older_fields();

}  // namespace gpulse::smi
