// SPDX-License-Identifier: Apache-2.0
// nvidia-smi's selective queries: chosen fields as comma-separated values.
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

// The fields of "index,name"; a name that is none is the error.
Result<std::vector<const QueryField *>> parse_fields(QueryKind kind, std::string_view list);
MetricSet needs(QueryKind kind, std::span<const QueryField *const> fields);

struct QueryStyle {
  bool header = true, units = true;
};
std::string query_header(std::span<const QueryField *const> fields);
std::string query_rows(QueryKind kind, std::span<const QueryField *const> fields, const Scene &scene,
                       const QueryStyle &style);
// The list of fields with their meaning.
std::string query_help(QueryKind kind);

}  // namespace gpulse::view::smi
