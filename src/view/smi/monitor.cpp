// SPDX-License-Identifier: Apache-2.0
#include "view/smi/monitor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "term/width.hpp"

namespace gpulse::view::smi {

namespace {

std::string megabytes_per_second(double bytes) { return fmt::format("{:.0f}", std::floor(bytes / 1e6)); }
std::string mebibytes_per_second(double bytes) { return fmt::format("{:.0f}", std::floor(bytes / (1024.0 * 1024.0))); }
std::string whole(double value) { return fmt::format("{:.0f}", std::floor(value)); }
std::string exceeded(double percent) { return percent > 0 ? "1" : "0"; }

struct LetterColumn {
  char letter;
  MonitorColumn column;
};

constexpr std::array kLetterColumns{
    LetterColumn{'p', {"pwr", "W", 6, device_metric("power_draw_watts"), whole}},
    LetterColumn{'p', {"gtemp", "C", 6, device_metric("temperature_gpu_celsius"), print::integer}},
    LetterColumn{'p', {"mtemp", "C", 6, device_metric("temperature_memory_celsius"), print::integer}},
    LetterColumn{'u', {"sm", "%", 6, device_metric("gpu_utilization_percent"), print::integer}},
    LetterColumn{'u', {"mem", "%", 6, device_metric("memory_utilization_percent"), print::integer}},
    LetterColumn{'u', {"enc", "%", 6, device_metric("encoder_utilization_percent"), print::integer}},
    LetterColumn{'u', {"dec", "%", 6, device_metric("decoder_utilization_percent"), print::integer}},
    LetterColumn{'u', {"jpg", "%", 6, device_metric("jpeg_utilization_percent"), print::integer}},
    LetterColumn{'u', {"ofa", "%", 6, device_metric("ofa_utilization_percent"), print::integer}},
    LetterColumn{'c', {"mclk", "MHz", 6, device_metric("clock_memory_mhz"), print::integer}},
    LetterColumn{'c', {"pclk", "MHz", 6, device_metric("clock_graphics_mhz"), print::integer}},
    LetterColumn{'v', {"pviol", "%", 6, device_metric("throttled_power_percent"), print::integer}},
    LetterColumn{'v', {"tviol", "bool", 6, device_metric("throttled_thermal_percent"), exceeded}},
    LetterColumn{'m', {"fb", "MB", 6, device_metric("memory_used_bytes"), print::mib_up}},
    LetterColumn{'m', {"bar1", "MB", 6, device_metric("bar1_used_bytes"), print::mib_down}},
    LetterColumn{'m', {"ccpm", "MB", 6, detail_metric("protected_memory_used_bytes"), print::mib_up}},
    LetterColumn{'e', {"sbecc", "errs", 6, device_metric("ecc_corrected_volatile_total"), print::integer}},
    LetterColumn{'e', {"dbecc", "errs", 6, device_metric("ecc_uncorrected_volatile_total"), print::integer}},
    LetterColumn{'e', {"pci", "errs", 6, device_metric("pcie_replay_total"), print::integer}},
    LetterColumn{'t', {"rxpci", "MB/s", 6, detail_metric("pcie_throughput_rx_bytes_per_second"), megabytes_per_second}},
    LetterColumn{'t', {"txpci", "MB/s", 6, detail_metric("pcie_throughput_tx_bytes_per_second"), megabytes_per_second}},
};

struct GpmColumn {
  int number;
  MonitorColumn column;
};
constexpr MonitorColumn share(std::string_view name, MetricId id) { return {name, "GPM:%", 10, id, whole}; }
constexpr MonitorColumn rate(std::string_view name, MetricId id) {
  return {name, "GPM:MiB/s", 10, id, mebibytes_per_second};
}
constexpr std::array kGpmColumns{
    GpmColumn{1, share("gract", device_metric("graphics_active_percent"))},
    GpmColumn{2, share("smutil", device_metric("sm_active_percent"))},
    GpmColumn{3, share("smocc", device_metric("sm_occupancy_percent"))},
    GpmColumn{4, share("intutil", device_metric("integer_active_percent"))},
    GpmColumn{5, share("mmaact", device_metric("tensor_active_percent"))},
    GpmColumn{6, share("dfmat", device_metric("tensor_fp64_active_percent"))},
    GpmColumn{7, share("hmmat", device_metric("tensor_fp16_active_percent"))},
    GpmColumn{9, share("immat", device_metric("tensor_integer_active_percent"))},
    GpmColumn{10, share("dram", device_metric("dram_active_percent"))},
    GpmColumn{11, share("fp64", device_metric("fp64_active_percent"))},
    GpmColumn{12, share("fp32", device_metric("fp32_active_percent"))},
    GpmColumn{13, share("fp16", device_metric("fp16_active_percent"))},
    GpmColumn{20, rate("pcitx", device_metric("pcie_tx_bytes_per_second"))},
    GpmColumn{21, rate("pcirx", device_metric("pcie_rx_bytes_per_second"))},
    GpmColumn{30, share("nvdec0", device_metric("decoder_0_active_percent"))},
    GpmColumn{31, share("nvdec1", device_metric("decoder_1_active_percent"))},
    GpmColumn{32, share("nvdec2", device_metric("decoder_2_active_percent"))},
    GpmColumn{33, share("nvdec3", device_metric("decoder_3_active_percent"))},
    GpmColumn{34, share("nvdec4", device_metric("decoder_4_active_percent"))},
    GpmColumn{35, share("nvdec5", device_metric("decoder_5_active_percent"))},
    GpmColumn{36, share("nvdec6", device_metric("decoder_6_active_percent"))},
    GpmColumn{37, share("nvdec7", device_metric("decoder_7_active_percent"))},
    GpmColumn{40, share("nvjpg0", device_metric("jpeg_0_active_percent"))},
    GpmColumn{41, share("nvjpg1", device_metric("jpeg_1_active_percent"))},
    GpmColumn{42, share("nvjpg2", device_metric("jpeg_2_active_percent"))},
    GpmColumn{43, share("nvjpg3", device_metric("jpeg_3_active_percent"))},
    GpmColumn{44, share("nvjpg4", device_metric("jpeg_4_active_percent"))},
    GpmColumn{45, share("nvjpg5", device_metric("jpeg_5_active_percent"))},
    GpmColumn{46, share("nvjpg6", device_metric("jpeg_6_active_percent"))},
    GpmColumn{47, share("nvjpg7", device_metric("jpeg_7_active_percent"))},
    GpmColumn{50, share("nvofa0", device_metric("ofa_0_active_percent"))},
    GpmColumn{60, rate("nvlrx", device_metric("nvlink_rx_bytes_per_second"))},
    GpmColumn{61, rate("nvltx", device_metric("nvlink_tx_bytes_per_second"))},
    GpmColumn{166, share("nvenc0", device_metric("encoder_0_active_percent"))},
    GpmColumn{167, share("nvenc1", device_metric("encoder_1_active_percent"))},
    GpmColumn{168, share("nvenc2", device_metric("encoder_2_active_percent"))},
    GpmColumn{169, share("nvenc3", device_metric("encoder_3_active_percent"))},
};

std::string cell_text(const Reading &value, std::string (*print)(double)) { return value ? print(value.value()) : "-"; }

// A line of cells, aligned or separated by commas.
class Line {
 public:
  Line(const MonitorStyle &style, std::string start) : csv_(style.csv), out_(std::move(start)) {}
  void add(std::string_view text, int columns) {
    if (csv_) {
      out_ += first_ ? std::string(text) : fmt::format(", {}", text);
    } else {
      out_ += fmt::format("{}{:>{}}", first_ ? "" : " ", text, columns);
    }
    first_ = false;
  }
  void add_left(std::string_view text, int columns) {
    if (csv_) return add(text, columns);
    out_ += fmt::format("{:<{}}", text, columns);
    first_ = false;
  }
  std::string end() { return end_with(csv_ ? "\n" : " \n"); }
  std::string end_with(std::string_view tail) { return out_ += tail; }

 private:
  bool csv_;
  bool first_ = true;
  std::string out_;
};

// The start of a header line, up to the index of the GPU.
Line header_line(const MonitorStyle &style, std::string_view date, std::string_view time, std::string_view gpu) {
  if (style.csv || style.date || style.time) {
    Line line(style, "#");
    if (style.date) line.add_left(date, 12);
    if (style.time) line.add_left(time, 12);
    if (style.csv) {
      line.add(gpu, 0);
    } else {
      line.add_left("", 0);
      line.add(gpu, 3);
    }
    return line;
  }
  Line line(style, "# ");
  line.add(gpu, 3);
  return line;
}

Line value_line(const MonitorStyle &style, const Snapshot &snapshot, std::uint32_t device) {
  const auto number = fmt::format("{}", device);
  Line line(style, style.csv || style.date || style.time ? " " : "");
  const auto now = [&](const char *format) { return has_time(snapshot) ? local_time(snapshot.time, format) : "-"; };
  if (style.date) line.add_left(now("%Y%m%d"), 12);
  if (style.time) line.add_left(now("%H:%M:%S"), 12);
  if (style.csv) {
    line.add(number, 0);
  } else if (style.date || style.time) {
    line.add_left("", 0);
    line.add(number, 3);
  } else {
    line.add(number, 5);
  }
  return line;
}

}  // namespace

std::vector<MonitorColumn> device_columns(std::string_view letters) {
  std::vector<MonitorColumn> columns;
  for (const auto &one : kLetterColumns) {
    if (letters.find(one.letter) != std::string_view::npos) columns.push_back(one.column);
  }
  return columns;
}

Result<std::vector<MonitorColumn>> gpm_columns(std::string_view numbers) {
  constexpr int kHighest = 209;
  std::vector<MonitorColumn> columns;
  while (!numbers.empty()) {
    const auto word = next_piece(numbers, ',');
    const auto number = parse_integer<int>(word);
    if (!number) return failure(fmt::format("Could not parse metric: {}", word));
    if (*number > kHighest) return failure(fmt::format("Metric value too high: {}", *number));
    const auto found = std::find_if(kGpmColumns.begin(), kGpmColumns.end(),
                                    [&](const GpmColumn &one) { return one.number == *number; });
    if (found == kGpmColumns.end()) return failure(fmt::format("Metric is not known: {}", *number));
    columns.push_back(found->column);
  }
  return columns;
}

MetricSet needs_of_columns(const std::vector<MonitorColumn> &columns) {
  MetricSet set;
  for (const auto &column : columns) set.add(column.metric);
  return set;
}

std::string device_header(const std::vector<MonitorColumn> &columns, const MonitorStyle &style) {
  auto names = header_line(style, "Date", "Time", "gpu");
  auto units = header_line(style, "YYYYMMDD", "HH:MM:SS", "Idx");
  for (const auto &column : columns) {
    names.add(column.name, column.width);
    units.add(column.unit, column.width);
  }
  return (style.names ? names.end() : "") + (style.units ? units.end() : "");
}

std::string device_lines(const Selection &selection, const std::vector<MonitorColumn> &columns,
                         const MonitorStyle &style) {
  std::string out;
  for (const auto *device : selection.devices) {
    auto line = value_line(style, *selection.snapshot, device->id.index);
    for (const auto &column : columns) line.add(cell_text(reading(*device, column.metric), column.print), column.width);
    out += line.end();
  }
  return out;
}

namespace {

struct ProcessColumn {
  std::string_view name, unit;
  MetricId metric;
  std::string (*print)(double);
  bool memory;
};
constexpr std::array kProcessColumns{
    ProcessColumn{"sm", "%", process_metric("gpu_utilization_percent"), print::integer, false},
    ProcessColumn{"mem", "%", process_metric("memory_utilization_percent"), print::integer, false},
    ProcessColumn{"enc", "%", process_metric("encoder_utilization_percent"), print::integer, false},
    ProcessColumn{"dec", "%", process_metric("decoder_utilization_percent"), print::integer, false},
    ProcessColumn{"jpg", "%", process_metric("jpeg_utilization_percent"), print::integer, false},
    ProcessColumn{"ofa", "%", process_metric("ofa_utilization_percent"), print::integer, false},
    ProcessColumn{"fb", "MB", process_metric("gpu_memory_bytes"), print::mib_up, true},
};

bool shown(const ProcessColumn &column, const ProcessColumns &wanted) {
  return column.memory ? wanted.memory : wanted.use;
}

// Idle processes and idle engines have a dash instead of 0.
std::string use_cell(const Process &process, const ProcessColumn &column) {
  const auto &value = process.row[column.metric];
  if (column.memory) return cell_text(value, column.print);
  const bool idle = process.row[process_metric("gpu_utilization_percent")].value_or(0) == 0 &&
                    process.row[process_metric("memory_utilization_percent")].value_or(0) == 0;
  const bool engine = column.name != "sm" && column.name != "mem";
  if ((engine || idle) && value.value_or(0) == 0) return "-";
  return cell_text(value, column.print);
}

std::string base_name(const std::string &program) {
  const auto slash = program.rfind('/');
  return slash == std::string::npos ? program : program.substr(slash + 1);
}

}  // namespace

MetricSet needs_of_processes(const ProcessColumns &columns) {
  MetricSet set{device_metric("process_count")};
  if (columns.use) set.add(process_metric("gpu_utilization_percent"));
  return set;
}

std::string process_header(const ProcessColumns &columns, const MonitorStyle &style) {
  auto names = header_line(style, "Date", "Time", "gpu");
  auto units = header_line(style, "YYYYMMDD", "HH:MM:SS", "Idx");
  const auto add = [&](std::string_view name, std::string_view unit, int width) {
    names.add(name, width);
    units.add(unit, width);
  };
  add("pid", "#", 11);
  add("type", "C/G", 6);
  for (const auto &column : kProcessColumns) {
    if (shown(column, columns)) add(column.name, column.unit, 6);
  }
  if (columns.memory) add("ccpm", "MB", 6);
  names.add_left("    command", 0);
  units.add_left("    name", 0);
  return names.end() + units.end();
}

std::string process_lines(const Selection &selection, const ProcessColumns &columns, const MonitorStyle &style) {
  std::string out;
  for (const auto *device : selection.devices) {
    const auto all = processes_on(*selection.snapshot, *device);
    const auto add = [&](const Process *process) {
      auto line = value_line(style, *selection.snapshot, device->id.index);
      line.add(process != nullptr ? fmt::format("{}", process->pid) : "-", 10);
      line.add(process != nullptr ? type_letters(*process) : "-", 5);
      for (const auto &column : kProcessColumns) {
        if (!shown(column, columns)) continue;
        line.add(process != nullptr ? use_cell(*process, column) : "-", 6);
      }
      // Protected memory of a process: nvidia-smi always prints 0.
      if (columns.memory) line.add(process != nullptr ? "0" : "-", 6);
      const auto name = process != nullptr ? base_name(program(*process)) : "-";
      constexpr int kNameColumns = 15;
      line.add_left("    " + term::pad(term::cut(name, kNameColumns, ""), kNameColumns), 0);
      out += line.end_with("\n");
    };
    if (all.empty()) add(nullptr);
    for (const auto &found : all) add(found.process);
  }
  return out;
}

}  // namespace gpulse::view::smi
