// SPDX-License-Identifier: Apache-2.0
#include "smi/csv_columns.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "smi/log_row.hpp"
#include "smi/snapshot_parts.hpp"
#include "smi/value.hpp"

namespace gpulse::smi {

namespace {

using What = Column::What;

Column column_for(const QueryField &field) {
  if (field.is_told()) return {.what = What::told, .fact = field.fact, .told = field.name};
  if (!field.metric) return {.what = What::fact, .fact = field.fact};
  return {.what = What::metric, .metric = *field.metric, .mask = field.mask, .form = field.form};
}

// The fields of all queries by name and alias. If two queries share a name, --query-gpu wins.
std::map<std::string_view, Column> all_titles() {
  std::map<std::string_view, Column> known;
  for (const auto &field : older_fields()) known.try_emplace(field.name, column_for(field));
  for (std::size_t kind = 0; kind < kQueryKinds; ++kind) {
    for (const auto &field : fields_of(static_cast<QueryKind>(kind))) {
      known.try_emplace(field.name, column_for(field));
      if (!field.alias.empty()) known.try_emplace(field.alias, column_for(field));
    }
  }
  return known;
}

// Event reasons that --query-gpu of today has no field for.
Column older_reason(std::string_view title) {
  for (const std::string_view prefix : {"clocks_event_reasons.", "clocks_throttle_reasons."}) {
    if (!title.starts_with(prefix)) continue;
    if (const auto bit = event_reason_bit(title.substr(prefix.size())); bit != 0) {
      return {.what = What::metric, .metric = device_metric("throttle_reasons"), .mask = bit, .form = kActive};
    }
  }
  return {};
}

Column column_of(std::string_view title) {
  static const auto kTitles = all_titles();
  title = trim(title);
  std::string_view unit;
  if (const auto at = title.find(" ["); at != std::string_view::npos && title.ends_with(']')) {
    unit = title.substr(at + 2, title.size() - at - 3);
    title = title.substr(0, at);
  }
  const auto known = kTitles.find(title);
  auto column = known != kTitles.end() ? known->second : older_reason(title);
  column.unit = unit;
  return column;
}

}  // namespace

std::vector<Column> csv_columns(const std::vector<std::string_view> &titles) {
  std::vector<Column> columns;
  columns.reserve(titles.size());
  for (const auto title : titles) columns.push_back(column_of(title));
  // In a list of processes, `name` is the process, not the GPU.
  const bool of_processes =
      std::any_of(columns.begin(), columns.end(), [](const Column &column) { return column.is(Fact::pid); });
  for (std::size_t i = 0; of_processes && i < columns.size(); ++i) {
    if (trim(titles[i]) == "name") columns[i].fact = Fact::program;
  }
  return columns;
}

// Every title must look like one of nvidia-smi's: other tables have a "name" column too.
bool is_csv_header(std::string_view line) {
  const auto titles = split(line, ',');
  if (titles.size() > kMostColumns) return false;
  const auto columns = csv_columns(titles);
  bool known = false;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const bool here = columns[i].what != What::ignored;
    if (!here && titles[i].find_first_of("._") == std::string_view::npos && trim(titles[i]) != "count") return false;
    known = known || here;
  }
  return known;
}

bool is_csv_row(std::string_view line) {
  const auto cells = split(line, ',');
  if (cells.size() < 2 || cells.size() > kMostColumns) return trim(line).starts_with("GPU-");
  return std::any_of(cells.begin(), cells.end(), [](std::string_view cell) {
    cell = trim(cell);
    return cell.starts_with("GPU-") || cell.starts_with("NVIDIA ") || !pci_address(cell).empty() || read_time(cell) ||
           (cell.starts_with('[') && reason_in(cell));
  });
}

}  // namespace gpulse::smi
