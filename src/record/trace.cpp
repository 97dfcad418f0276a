// SPDX-License-Identifier: Apache-2.0
#include "record/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/text.hpp"
#include "model/derived.hpp"
#include "model/plausible.hpp"

namespace gpulse::record {

namespace {

constexpr std::string_view kTimeColumn = "t_s";
constexpr double kLongest = 1e9;  // seconds; some thirty years
constexpr std::ptrdiff_t kMostColumns = 1024;
constexpr std::size_t kMostSamples = std::size_t{1} << 18U;  // about 2.5 kB each
constexpr double kMebi = 1048576;
constexpr std::uint32_t kTracePid = 560;

double as_is(double value) { return value; }
double mebi(double value) { return std::round(value * kMebi); }  // whole bytes
double mega(double value) { return value * 1e6; }
double milli(double value) { return value / 1e3; }
double nano(double value) { return value / 1e9; }
double cores(double value) { return std::round(value * 1e4) / 1e2; }  // two digits in the trace, times 100

struct Column {
  std::string_view name;
  MetricId metric;
  double (*convert)(double) = as_is;
};

constexpr std::array kDeviceColumns{
    Column{"util_gpu_pct", device_metric("gpu_utilization_percent")},
    Column{"util_mem_pct", device_metric("memory_utilization_percent")},
    Column{"mem_used_mib", device_metric("memory_used_bytes"), mebi},
    Column{"mem_total_mib", device_metric("memory_total_bytes"), mebi},
    Column{"mem_reserved_mib", device_metric("memory_reserved_bytes"), mebi},
    Column{"temp_gpu_c", device_metric("temperature_gpu_celsius")},
    Column{"temp_mem_c", device_metric("temperature_memory_celsius")},
    Column{"power_avg_w", device_metric("power_draw_watts")},
    Column{"power_avg_w", device_metric("power_average_watts")},
    Column{"power_instant_w", device_metric("power_instant_watts")},
    Column{"energy_mj", device_metric("energy_joules"), milli},
    Column{"clk_sm_mhz", device_metric("clock_sm_mhz")},
    Column{"clk_mem_mhz", device_metric("clock_memory_mhz")},
    Column{"pstate", device_metric("performance_state")},
    Column{"viol_power_ns", device_metric("throttled_power_seconds"), nano},
    Column{"viol_thermal_ns", device_metric("throttled_thermal_seconds"), nano},
    Column{"pcie_replay", device_metric("pcie_replay_total")},
    Column{"n_procs", device_metric("process_count")},
    Column{"gract", device_metric("graphics_active_percent")},
    Column{"smutil", device_metric("sm_active_percent")},
    Column{"smocc", device_metric("sm_occupancy_percent")},
    Column{"intutil", device_metric("integer_active_percent")},
    Column{"anytensor", device_metric("tensor_active_percent")},
    Column{"dfma_tensor", device_metric("tensor_fp64_active_percent")},
    Column{"hmma_tensor", device_metric("tensor_fp16_active_percent")},
    Column{"imma_tensor", device_metric("tensor_integer_active_percent")},
    Column{"dram_bw", device_metric("dram_active_percent")},
    Column{"fp64", device_metric("fp64_active_percent")},
    Column{"fp32", device_metric("fp32_active_percent")},
    Column{"fp16", device_metric("fp16_active_percent")},
    Column{"pcie_tx_mibs", device_metric("pcie_tx_bytes_per_second"), mebi},
    Column{"pcie_rx_mibs", device_metric("pcie_rx_bytes_per_second"), mebi},
};
constexpr std::array kHostColumns{
    Column{"host_busy_pct", host_metric("cpu_percent")},
    Column{"host_iowait_pct", host_metric("cpu_iowait_percent")},
};
constexpr std::array kProcessColumns{
    Column{"proc_mem_mib", process_metric("gpu_memory_bytes"), mebi},
    Column{"proc_sm_pct", process_metric("gpu_utilization_percent")},
    Column{"proc_cpu_cores", process_metric("cpu_percent"), cores},
    Column{"proc_read_mbs", process_metric("tree_read_bytes_per_second"), mega},
};

WallTime start_time() {
  using namespace std::chrono;
  return WallTime(sys_days(year(2026) / November / 15) + hours(2));
}

std::shared_ptr<const DeviceIdentity> board() {
  auto identity = std::make_shared<DeviceIdentity>();
  identity->source = "nvml";
  identity->vendor = "nvidia";
  identity->uuid = "GPU-00000000-0000-4000-8000-000000000000";
  identity->pci = "0000:00:06.0";
  identity->name = "NVIDIA H200";
  identity->driver = "580.159.04";
  identity->texts[device_metric("architecture")] = TextReading("Hopper");
  identity->texts[device_metric("brand")] = TextReading("NVIDIA");
  identity->texts[device_metric("cuda_version")] = TextReading("13.0");
  return identity;
}

void fill_limits(Row &row) {
  for (const auto id : {device_metric("power_limit_watts"), device_metric("power_limit_requested_watts"),
                        device_metric("power_limit_default_watts"), device_metric("power_limit_max_watts")}) {
    row[id] = 700.0;
  }
  row[device_metric("power_limit_min_watts")] = 200.0;
  row[device_metric("clock_max_graphics_mhz")] = 1980.0;
  row[device_metric("clock_max_sm_mhz")] = 1980.0;
  row[device_metric("clock_max_memory_mhz")] = 3201.0;
}

std::shared_ptr<const TextRow> process_texts() {
  auto texts = std::make_shared<TextRow>(Scope::process);
  (*texts)[process_metric("user")] = TextReading("root");
  (*texts)[process_metric("name")] = TextReading("python3");
  return texts;
}

class TraceImport {
 public:
  TraceImport(std::string name, std::string origin) : name_(std::move(name)), origin_(std::move(origin)) {}

  Result<std::vector<SnapshotPtr>> run(std::string_view csv);

 private:
  std::unexpected<Error> wrong(std::string_view what) const {
    return failure(fmt::format("{}, line {}: {}", name_, line_, what));
  }
  Result<void> read_header(std::string_view line);
  Result<SnapshotPtr> read_line(std::string_view line);
  std::optional<std::string_view> cell(std::string_view column) const;
  Result<Reading> reading(std::string_view column, double (*convert)(double)) const;
  Result<void> fill(Row &row, std::span<const Column> columns) const;
  Result<WallTime> time() const;
  Result<Device> device() const;
  Result<void> add_process(Snapshot &snapshot) const;
  void add_phase(Snapshot &snapshot);

  std::string name_;
  std::string origin_;
  std::size_t line_ = 0;
  std::vector<std::string_view> columns_;
  std::vector<std::string_view> cells_;
  Text phase_;
  std::shared_ptr<const DeviceIdentity> identity_ = board();
  std::shared_ptr<const TextRow> texts_ = process_texts();
};

Result<std::vector<SnapshotPtr>> TraceImport::run(std::string_view csv) {
  std::vector<SnapshotPtr> snapshots;
  while (!csv.empty()) {
    const auto line = trim(next_piece(csv, '\n'));
    ++line_;
    if (line_ == 1) {
      if (const auto good = read_header(line); !good) return std::unexpected(good.error());
      continue;
    }
    if (line.empty()) continue;
    if (snapshots.size() >= kMostSamples) return wrong(fmt::format("more than {} samples", kMostSamples));
    auto snapshot = read_line(line);
    if (!snapshot) return std::unexpected(snapshot.error());
    snapshots.push_back(std::move(*snapshot));
  }
  if (line_ == 0) return failure(fmt::format("{} is empty", name_));
  return snapshots;
}

Result<void> TraceImport::read_header(std::string_view line) {
  if (std::ranges::count(line, ',') >= kMostColumns) return wrong("too many columns");
  columns_ = split(line, ',');
  for (auto &column : columns_) column = trim(column);
  if (!cell(kTimeColumn)) return wrong("there is no column t_s: this is not a trace");
  return {};
}

Result<SnapshotPtr> TraceImport::read_line(std::string_view line) {
  const auto cells = static_cast<std::size_t>(std::ranges::count(line, ',')) + 1;
  if (cells != columns_.size()) {
    return wrong(fmt::format("{} cells where the header has {}", cells, columns_.size()));
  }
  cells_ = split(line, ',');
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->hostname = "h200";
  snapshot->origin = origin_;
  snapshot->host.fill(Reason::not_supported);
  snapshot->self.fill(Reason::not_supported);
  snapshot->sources.push_back({.name = "nvml", .problem = {}, .remedy = {}, .devices = 1});
  const auto when = time();
  if (!when) return std::unexpected(when.error());
  snapshot->time = *when;
  auto found = device();
  if (!found) return std::unexpected(found.error());
  snapshot->devices.push_back(std::move(*found));
  if (const auto good = fill(snapshot->host, kHostColumns); !good) return std::unexpected(good.error());
  if (const auto good = add_process(*snapshot); !good) return std::unexpected(good.error());
  add_phase(*snapshot);
  return snapshot;
}

// Of the line being read; of the header, the name itself.
std::optional<std::string_view> TraceImport::cell(std::string_view column) const {
  const auto &row = cells_.empty() ? columns_ : cells_;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i] == column) return trim(row[i]);
  }
  return std::nullopt;
}

Result<Reading> TraceImport::reading(std::string_view column, double (*convert)(double)) const {
  const auto text = cell(column);
  if (!text) return Reading(Reason::not_supported);
  if (text->empty()) return Reading(Reason::not_sampled);
  const auto value = parse_double(*text);
  if (!value) return wrong(fmt::format("{} is not a number: {}", column, text->substr(0, 40)));
  const auto converted = convert(*value);
  return converted;
}

Result<void> TraceImport::fill(Row &row, std::span<const Column> columns) const {
  for (const auto &column : columns) {
    const auto found = reading(column.name, column.convert);
    if (!found) return std::unexpected(found.error());
    row[column.metric] = *found ? plausible(column.metric, found->value()) : *found;
  }
  return {};
}

Result<WallTime> TraceImport::time() const {
  const auto seconds = reading(kTimeColumn, as_is);
  if (!seconds) return std::unexpected(seconds.error());
  if (!seconds->has_value() || std::fabs(seconds->value()) > kLongest) return wrong("t_s is no time");
  return start_time() + std::chrono::nanoseconds(std::llround(seconds->value() * 1e9));
}

Result<Device> TraceImport::device() const {
  Device device;
  device.identity = identity_;
  auto &row = device.row;
  row.fill(Reason::not_supported);
  fill_limits(row);
  if (const auto good = fill(row, kDeviceColumns); !good) return std::unexpected(good.error());
  keep_plausible(row);
  const auto &used = row[device_metric("memory_used_bytes")];
  const auto &total = row[device_metric("memory_total_bytes")];
  const auto &reserved = row[device_metric("memory_reserved_bytes")];
  // As the driver defines it: what is neither used nor kept for itself.
  if (used && total && reserved) {
    constexpr auto kFree = device_metric("memory_free_bytes");
    row[kFree] = plausible(kFree, total.value() - used.value() - reserved.value());
  }
  derive(row);
  if (const auto hex = cell("event_reasons_hex")) {
    const auto set = parse_integer<std::uint64_t>(*hex, 16);
    if (!set || *set >= (std::uint64_t{1} << 52U)) return wrong("event_reasons_hex is not a set of bits");
    // The driver's bits are in the order of the words.
    row[device_metric("throttle_reasons")] = static_cast<double>(*set);
  }
  return device;
}

Result<void> TraceImport::add_process(Snapshot &snapshot) const {
  const auto processes = reading("n_procs", as_is);
  if (!processes) return std::unexpected(processes.error());
  if (!(processes->value_or(0) > 0)) return {};
  Process process;
  process.pid = kTracePid;
  process.types = static_cast<std::uint8_t>(ProcessType::compute);
  process.texts = texts_;
  process.row.fill(Reason::not_supported);
  if (const auto good = fill(process.row, kProcessColumns); !good) return good;
  auto &share = process.row[process_metric("gpu_utilization_percent")];
  const auto told = reading("proc_sm_pct", as_is);
  if (told && told->value_or(0) == -1) share = Reason::not_sampled;  // the call had not answered
  snapshot.processes.push_back(std::move(process));
  return {};
}

void TraceImport::add_phase(Snapshot &snapshot) {
  const auto label = cell("phase");
  if (!label) return;
  Text phase = *label;
  if (phase == phase_) return;
  phase_ = std::move(phase);
  snapshot.events.push_back({.time = snapshot.time, .device = {}, .kind = EventKind::phase, .code = 0, .text = phase_});
}

}  // namespace

bool is_trace(std::string_view start) {
  for (const auto column : split(start.substr(0, start.find('\n')), ',')) {
    if (trim(column) == kTimeColumn) return true;
  }
  return false;
}

Result<std::vector<SnapshotPtr>> import_trace(std::string_view csv, const std::string &name,
                                              const std::string &origin) {
  return TraceImport(name, origin).run(csv);
}

}  // namespace gpulse::record
