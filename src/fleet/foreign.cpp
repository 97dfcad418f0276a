// SPDX-License-Identifier: Apache-2.0
#include "fleet/foreign.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "fleet/engine_values.hpp"

namespace gpulse::fleet {

namespace {

constexpr double kMiB = 1 << 20, kPercent = 100;

constexpr std::array kDcgm{
    ForeignReading{FleetReading::utilization, "DCGM_FI_DEV_GPU_UTIL"},
    ForeignReading{FleetReading::true_activity, "DCGM_FI_PROF_SM_ACTIVE", kPercent},
    ForeignReading{FleetReading::memory_used, "DCGM_FI_DEV_FB_USED", kMiB},
    // What the driver keeps for itself is off unless it is asked for.
    ForeignReading{FleetReading::memory_total, "DCGM_FI_DEV_FB_USED", kMiB, "DCGM_FI_DEV_FB_FREE"},
    ForeignReading{FleetReading::power, "DCGM_FI_DEV_POWER_USAGE"},
    ForeignReading{FleetReading::temperature, "DCGM_FI_DEV_GPU_TEMP"},
};
constexpr std::array kNvidiaSmi{
    ForeignReading{FleetReading::utilization, "nvidia_smi_utilization_gpu_ratio", kPercent},
    ForeignReading{FleetReading::memory_used, "nvidia_smi_memory_used_bytes"},
    ForeignReading{FleetReading::memory_total, "nvidia_smi_memory_total_bytes"},
    ForeignReading{FleetReading::power, "nvidia_smi_power_draw_watts"},
    ForeignReading{FleetReading::temperature, "nvidia_smi_temperature_gpu"},
};
constexpr std::array kExporters{
    ForeignExporter{Exporter::dcgm, "DCGM_FI_DEV_GPU_TEMP", "UUID", "UUID,GPU_I_ID",
                    ",gpu,modelName,Hostname,hostname,hpc_job", ":9400", kDcgm},
    ForeignExporter{Exporter::nvidia_smi, "nvidia_smi_gpu_info", "uuid", "uuid", ",index,name", ":9835", kNvidiaSmi},
};

}  // namespace

std::span<const ForeignExporter> foreign_exporters() { return kExporters; }

ForeignNames foreign_names(const ForeignExporter &exporter, const EngineSeries &series) {
  const auto either = [&](std::string_view one, std::string_view other) {
    return series.label(series.label(one).empty() ? other : one);
  };
  const auto number = either("gpu", "index"), instance = series.label("GPU_I_ID");
  ForeignNames names{.uuid = std::string(series.label(exporter.uuid)),
                     .id = short_text(number.empty() ? "?" : number),
                     .name = short_text(either("modelName", "name"))};
  if (instance.empty()) return names;
  names.parent = names.uuid;
  names.uuid += fmt::format("/{}", short_text(instance));
  names.id = fmt::format("{}:{}", names.id, short_text(instance));
  return names;
}

std::string present_query(const ForeignExporter &exporter) {
  return fmt::format("max by (instance,cluster,{}{}) (timestamp({}) or max_over_time(timestamp({})[1h:1m]))",
                     exporter.labels, exporter.more, exporter.present, exporter.present);
}

std::string reading_query(const ForeignExporter &exporter, const ForeignReading &reading) {
  auto value = fmt::format("max by (instance,cluster,{}) ({})", exporter.labels, reading.family);
  if (reading.plus.empty()) return value;
  return fmt::format("{} + max by (instance,cluster,{}) ({})", value, exporter.labels, reading.plus);
}

std::string plain_uuid(std::string_view uuid) {
  auto plain = lower(uuid);
  if (plain.starts_with("gpu-")) plain.erase(0, 4);
  return plain;
}

}  // namespace gpulse::fleet
