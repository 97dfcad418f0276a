// SPDX-License-Identifier: Apache-2.0
#include "smi/csv_columns.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.hpp"
#include "smi/snapshot_parts.hpp"
#include "smi/value.hpp"

namespace gpulse::smi {

namespace {

using What = Column::What;

struct Title {
  std::string_view name;
  What what;
};
constexpr std::array kTitles{
    Title{"timestamp", What::timestamp},
    Title{"index", What::index},
    Title{"name", What::name},
    Title{"gpu_name", What::name},
    Title{"uuid", What::uuid},
    Title{"gpu_uuid", What::uuid},
    Title{"pci.bus_id", What::pci},
    Title{"gpu_bus_id", What::pci},
    Title{"driver_version", What::driver},
    Title{"pid", What::pid},
    Title{"process_name", What::process_name},
    Title{"used_gpu_memory", What::process_memory},
    Title{"used_memory", What::process_memory},
    Title{"count", What::ignored},
    // --query-accounted-apps, --query-retired-pages, --query-supported-clocks
    Title{"max_memory_usage", What::other_query},
    Title{"time", What::other_query},
    Title{"retired_pages.address", What::other_query},
    Title{"retired_pages.cause", What::other_query},
    Title{"graphics", What::other_query},
    Title{"memory", What::other_query},
};

// Short and older names, and those of metrics that are no field of their own.
struct Alias {
  std::string_view name;
  MetricId metric;
};
constexpr std::array kAliases{
    Alias{"gpu_serial", device_metric("serial")},
    Alias{"clocks.gr", device_metric("clock_graphics_mhz")},
    Alias{"clocks.sm", device_metric("clock_sm_mhz")},
    Alias{"clocks.mem", device_metric("clock_memory_mhz")},
    Alias{"clocks.video", device_metric("clock_video_mhz")},
    Alias{"clocks.max.gr", device_metric("clock_max_graphics_mhz")},
    Alias{"clocks.max.mem", device_metric("clock_max_memory_mhz")},
    Alias{"clocks.applications.gr", device_metric("clock_application_graphics_mhz")},
    Alias{"clocks.applications.mem", device_metric("clock_application_memory_mhz")},
    Alias{"clocks.default_applications.gr", detail_metric("clock_default_graphics_mhz")},
    Alias{"clocks.default_applications.mem", detail_metric("clock_default_memory_mhz")},
    Alias{"clocks_throttle_reasons.active", device_metric("throttle_reasons")},
    Alias{"clocks_throttle_reasons.supported", detail_metric("event_reasons_supported")},
    Alias{"pcie.link.gen.current", device_metric("pcie_link_generation")},
    Alias{"display_mode", detail_metric("display_attached")},
    Alias{"vbios", device_metric("vbios_version")},
    Alias{"ecc.errors.corrected.volatile.device_memory", device_metric("ecc_dram_corrected_volatile_total")},
    Alias{"ecc.errors.uncorrected.volatile.device_memory", device_metric("ecc_dram_uncorrected_volatile_total")},
    Alias{"ecc.errors.corrected.aggregate.device_memory", device_metric("ecc_dram_corrected_total")},
    Alias{"ecc.errors.uncorrected.aggregate.device_memory", device_metric("ecc_dram_uncorrected_total")},
    Alias{"retired_pages.sbe", device_metric("retired_pages_single_bit_total")},
    Alias{"retired_pages.dbe", device_metric("retired_pages_double_bit_total")},
};

struct Names {
  std::map<std::string_view, Column> known;

  Names() {
    for (const auto &[name, what] : kTitles) known[name] = {.what = what};
    for (const auto &[name, metric] : kAliases) known[name] = {.what = What::metric, .metric = metric};
    for (const auto scope : {Scope::device, Scope::detail}) {
      for_each_metric(scope, [&](MetricId id, const Metric &metric) {
        if (!metric.smi.empty()) known.try_emplace(metric.smi, Column{.what = What::metric, .metric = id});
      });
    }
  }
};

Column column_of(std::string_view title) {
  static const Names kNames;
  title = trim(title);
  std::string_view unit;
  if (const auto at = title.find(" ["); at != std::string_view::npos && title.ends_with(']')) {
    unit = title.substr(at + 2, title.size() - at - 3);
    title = title.substr(0, at);
  }
  if (const auto at = kNames.known.find(title); at != kNames.known.end()) {
    auto column = at->second;
    column.unit = unit;
    return column;
  }
  for (const std::string_view prefix : {"clocks_event_reasons.", "clocks_throttle_reasons."}) {
    if (!title.starts_with(prefix)) continue;
    const auto bit = event_reason_bit(title.substr(prefix.size()));
    if (bit != 0) return {.what = What::event_reason, .bit = bit};
  }
  return {};
}

}  // namespace

std::vector<Column> csv_columns(const std::vector<std::string_view> &titles) {
  std::vector<Column> columns;
  columns.reserve(titles.size());
  for (const auto title : titles) columns.push_back(column_of(title));
  // In the list of processes `name` is the process's.
  const bool of_processes =
      std::any_of(columns.begin(), columns.end(), [](const Column &column) { return column.what == What::pid; });
  for (std::size_t i = 0; of_processes && i < columns.size(); ++i) {
    if (trim(titles[i]) == "name") columns[i].what = What::process_name;
  }
  return columns;
}

// All titles must look like nvidia-smi's: many a table begins with a name.
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
