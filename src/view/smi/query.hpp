// SPDX-License-Identifier: Apache-2.0
// nvidia-smi --query-gpu and the other queries: selected fields as CSV.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "metric/set.hpp"
#include "smi/query_row.hpp"
#include "view/smi/cell.hpp"

namespace gpulse::view::smi {

std::string_view switch_name(QueryKind kind);  // "query-gpu"

// The fields of a list such as "index,name"; fails if a name is unknown.
Result<std::vector<const QueryField *>> parse_fields(QueryKind kind, std::string_view list);
MetricSet needs_of_query(QueryKind kind, std::span<const QueryField *const> fields);

struct QueryStyle {
  bool header = true, units = true;
};
std::string query_header(std::span<const QueryField *const> fields);
std::string query_rows(QueryKind kind, std::span<const QueryField *const> fields, const Selection &selection,
                       const QueryStyle &style);
// All fields with their descriptions.
std::string query_help(QueryKind kind);

}  // namespace gpulse::view::smi
