// SPDX-License-Identifier: Apache-2.0
#include "smi/log_rows.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace gpulse::smi {

namespace {

using table::det;
using table::dev;

// Elements that fill a second metric.
constexpr ReadOnlyElement kReadOnly[] = {
    {det("platform_module"), kCount, {"platformInfo/module_id"}},
    {det("display_attached"), kYesNo, {"display_mode"}},
    // Before v6.
    {dev("memory_total_bytes"), kMib, {"memory_usage/total"}},
    {dev("memory_used_bytes"), kMib, {"memory_usage/used"}},
    {dev("memory_free_bytes"), kMib, {"memory_usage/free"}},
    {dev("power_draw_watts"),
     kWatts,
     {"gpu_power_readings/average_power_draw", "gpu_power_readings/power_draw", "power_readings/power_draw",
      "gpu_power_readings/instant_power_draw"}},
    {dev("pcie_tx_bytes_per_second"), kKilobytes, {"pci/tx_util"}},
    {dev("pcie_rx_bytes_per_second"), kKilobytes, {"pci/rx_util"}},
};

constexpr ReadOnlyElement kReadOnlyInstance[] = {
    {det("ecc_sram_uncorrected_volatile_total"), kCount, {"ecc_error_count/volatile_count/sram_uncorrectable"}},
};

constexpr AccountedRow kAccounted[] = {
    {"GPU Utilization", "gpu_util", &AccountedProcess::gpu_percent, kPercent},
    {"Memory Utilization", "memory_util", &AccountedProcess::memory_percent, kPercent},
    {"Max memory usage", "max_memory_usage", &AccountedProcess::memory_max_bytes, kMib},
    {"Time", "time", &AccountedProcess::running_seconds, kMilli},
};

}  // namespace

std::span<const AccountedRow> accounted_rows() { return kAccounted; }
std::span<const LogRow> log_rows() { return table::kDevice; }
std::span<const LogRow> instance_rows() { return table::kInstance; }
std::span<const ReadOnlyElement> read_only_elements() { return kReadOnly; }
std::span<const ReadOnlyElement> read_only_instance_elements() { return kReadOnlyInstance; }

int schema_of_driver(std::string_view version) {
  struct First {
    int driver;
    int schema;
  };
  constexpr std::array kFirsts{First{580, 13}, First{525, 12}, First{450, 11}, First{390, 10},
                               First{378, 9},  First{367, 8},  First{352, 7},  First{0, 6}};
  const auto branch = parse_integer<int>(version.substr(0, version.find('.')));
  if (!branch) return kNewestSchema;
  const auto *const first =
      std::find_if(kFirsts.begin(), kFirsts.end(), [&](const First &one) { return *branch >= one.driver; });
  return first != kFirsts.end() ? first->schema : kNewestSchema;
}

std::uint64_t event_reason_bit(std::string_view name) {
  constexpr std::string_view kPrefix = "clocks_event_reason_";
  // No longer in the log.
  if (name == "user_defined_clocks") return state_names::throttle_bit("application clocks");
  if (name == "unknown") return state_names::throttle_bit("other");
  for (const auto &row : log_rows()) {
    if (row.metric == dev("throttle_reasons") && row.tag.starts_with(kPrefix) &&
        row.tag.substr(kPrefix.size()) == name) {
      return row.mask;
    }
  }
  return 0;
}

}  // namespace gpulse::smi
