// SPDX-License-Identifier: Apache-2.0
// nvidia-smi's selective queries: chosen fields as comma-separated values.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "metric/set.hpp"
#include "view/smi/cell.hpp"

namespace gpulse::view::smi {

// What a row of a query speaks of, beside its device.
struct QueryRow {
  const Scene *scene = nullptr;
  const Device *device = nullptr;
  const Process *process = nullptr;
  const AccountedProcess *accounted = nullptr;
  const RetiredPage *page = nullptr;
  bool double_bit = false;
  double memory_mhz = 0, graphics_mhz = 0;
};

struct QueryField {
  std::string_view name;
  std::string_view alias = {};
  std::optional<MetricId> metric = {};
  std::string_view unit = {};
  std::string (*form)(double) = nullptr;
  Cell (*special)(const QueryRow &) = nullptr;
  bool bare = false;           // no brackets around words
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

std::string_view switch_name(QueryKind kind);  // "query-gpu"
std::span<const QueryField> fields_of(QueryKind kind);

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
