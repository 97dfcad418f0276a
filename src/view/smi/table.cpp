// SPDX-License-Identifier: Apache-2.0
#include "view/smi/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "term/width.hpp"

namespace gpulse::view::smi {

namespace {

constexpr std::string_view kRule =
    "+-----------------------------------------------------------------------------------------+\n";
constexpr std::string_view kDeviceRule =
    "+-----------------------------------------+------------------------+----------------------+\n";
constexpr std::string_view kInstanceRule =
    "+------------------+----------------------------------+-----------+-----------------------+\n";

constexpr std::array kTableMetrics{
    device_metric("persistence_mode"),
    device_metric("display_active"),
    device_metric("ecc_mode"),
    device_metric("ecc_uncorrected_volatile_total"),
    device_metric("fan_speed_percent"),
    device_metric("temperature_gpu_celsius"),
    device_metric("performance_state"),
    device_metric("power_draw_watts"),
    device_metric("power_limit_watts"),
    device_metric("memory_used_bytes"),
    device_metric("memory_total_bytes"),
    device_metric("gpu_utilization_percent"),
    device_metric("compute_mode"),
    device_metric("mig_mode"),
    device_metric("process_count"),
    device_metric("cuda_version"),
    device_metric("multiprocessor_count"),
    device_metric("bar1_used_bytes"),
};
constexpr std::array kInstanceMetrics{
    detail_metric("gpu_instance_id"),
    detail_metric("copy_engine_count"),
    detail_metric("ecc_sram_uncorrected_volatile_total"),
};

// The value, "N/A" if the device does not have it, or "ERR!".
std::string cell_text(const Reading &value, std::string (*print)(double)) {
  if (value) return print(value.value());
  if (value.is(Reason::not_supported) || value.is(Reason::not_sampled) || value.is(Reason::asleep)) return "N/A";
  return "ERR!";
}
std::string cell_text(const Device &device, MetricId id, std::string (*print)(double)) {
  return cell_text(reading(device, id), print);
}

// The end of a long path is more useful than its beginning.
std::string keep_tail(const std::string &text, int columns) {
  if (term::width(text) <= columns) return text;
  auto from = text.size() - static_cast<std::size_t>(columns - 3);
  // Do not cut through a character.
  while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0U) == 0x80U) ++from;
  return "..." + text.substr(from);
}

std::string on_off(double value) { return value != 0 ? "On" : "Off"; }
std::string percent(double value) { return fmt::format("{:.0f}%", value); }
std::string celsius(double value) { return fmt::format("{:.0f}C", value); }
std::string watts(double value) { return fmt::format("{:.0f}W", std::floor(value)); }
std::string mib(double value) { return print::mib_up(value) + "MiB"; }
std::string mib_down(double value) { return print::mib_down(value) + "MiB"; }
std::string compute_mode(double value) {
  static constexpr std::array<std::string_view, 4> kNames{"Default", "E. Thread", "Prohibited", "E. Process"};
  return value < kNames.size() ? std::string(kNames[static_cast<std::size_t>(value)]) : "N/A";
}

std::string ecc_cell(const Device &device) {
  const auto mode = reading(device, device_metric("ecc_mode"));
  if (!mode) return cell_text(mode, print::integer);
  if (mode.value() == 0) return "Off";
  // With MIG, errors are counted by the instances.
  if (reading(device, device_metric("mig_mode")).value_or(0) != 0) return "On";
  return cell_text(device, device_metric("ecc_uncorrected_volatile_total"), print::integer);
}

// On Windows, devices have driver models in place of the persistence mode.
constexpr std::string_view kDriverModel = "driver_model.current";
bool has_driver_models(const Selection &selection) {
  return std::any_of(selection.devices.begin(), selection.devices.end(),
                     [](const Device *device) { return told(*device, kDriverModel).known; });
}

void add_device(const Device &device, bool models, std::string &out) {
  constexpr int kNameColumns = 27;
  const auto mode = models ? fmt::format("{:>6}  ", told(device, kDriverModel).text)
                           : fmt::format("    {:<4}", cell_text(device, device_metric("persistence_mode"), on_off));
  out += fmt::format("| {:>3}  {}{}|   {:>16}{:>4} | {:>20} |\n", device.id.index,
                     term::pad(term::cut(device.identity->name, kNameColumns, "..."), kNameColumns), mode,
                     bus_id(device), cell_text(device, device_metric("display_active"), on_off), ecc_cell(device));
  const auto used = cell_text(device, device_metric("memory_used_bytes"), mib);
  const auto total = cell_text(device, device_metric("memory_total_bytes"), mib);
  out += fmt::format("|{:>4} {:>5}    {:<4}     {:>9} / {:>5} | {:>10} / {:>9} |{:>8} {:>12} |\n",
                     cell_text(device, device_metric("fan_speed_percent"), percent),
                     cell_text(device, device_metric("temperature_gpu_celsius"), celsius),
                     cell_text(device, device_metric("performance_state"), print::performance),
                     cell_text(device, device_metric("power_draw_watts"), watts),
                     cell_text(device, device_metric("power_limit_watts"), watts), used, total,
                     cell_text(device, device_metric("gpu_utilization_percent"), percent),
                     cell_text(device, device_metric("compute_mode"), compute_mode));
  out += fmt::format("|{:41}|{:24}| {:>20} |\n", "", "", cell_text(device, device_metric("mig_mode"), kEnabled.print));
}

void add_instances(const Selection &selection, std::string &out) {
  bool first = true;
  for (const auto *device : selection.devices) {
    for (const auto *instance : instances_of(*selection.snapshot, *device)) {
      if (first) {
        out += '\n';
        out += kRule;
        out += fmt::format("| {:<87} |\n", "MIG devices:");
        out += kInstanceRule;
        out +=
            "| GPU  GI  CI  MIG |              Shared Memory-Usage |        Vol|        Shared         |\n"
            "|      ID  ID  Dev |                Shared BAR1-Usage | SM     Unc| CE ENC  DEC  OFA  JPG |\n"
            "|                  |                                  |        ECC|                       |\n"
            "|==================+==================================+===========+=======================|\n";
        first = false;
      }
      const auto part = [&](MetricId id) { return cell_text(*instance, id, print::integer); };
      out += fmt::format(
          "|{:>3}  {:>3} {:>3} {:>3}  |  {:>17} / {:>8}    |{:>3}  {:>5} | {:>2} {:>3}  {:>3}  {:>3}  {:>3} |\n",
          device->id.index, part(detail_metric("gpu_instance_id")), part(detail_metric("compute_instance_id")),
          *instance->id.instance, cell_text(*instance, device_metric("memory_used_bytes"), mib),
          cell_text(*instance, device_metric("memory_total_bytes"), mib), part(device_metric("multiprocessor_count")),
          part(detail_metric("ecc_sram_uncorrected_volatile_total")), part(detail_metric("copy_engine_count")),
          part(detail_metric("encoder_count")), part(detail_metric("decoder_count")), part(detail_metric("ofa_count")),
          part(detail_metric("jpeg_count")));
      out += fmt::format("|{:18}|  {:>17} / {:>8}    |{:11}|{:23}|\n", "",
                         cell_text(*instance, device_metric("bar1_used_bytes"), mib_down),
                         cell_text(*instance, device_metric("bar1_total_bytes"), mib_down), "", "");
      out += kInstanceRule;
    }
  }
}

void add_processes(const Selection &selection, std::string &out) {
  out += '\n';
  out += kRule;
  out +=
      "| Processes:                                                                              |\n"
      "|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |\n"
      "|        ID   ID                                                               Usage      |\n"
      "|=========================================================================================|\n";
  bool any = false;
  for (const auto *device : selection.devices) {
    for (const auto &[process, on] : processes_on(*selection.snapshot, *device)) {
      const auto id = [&](MetricId metric, int columns) {
        const auto text = on->is_instance() ? cell_text(*on, metric, print::integer) : "N/A";
        return text == "N/A" ? fmt::format("{:>{}} ", text, columns + 1) : fmt::format("{:>{}}  ", text, columns);
      };
      constexpr int kNameColumns = 32;
      out +=
          fmt::format("|{:>5}{}{}{:>15}{:>7}   {}{:>14} |\n", device->id.index, id(detail_metric("gpu_instance_id"), 5),
                      id(detail_metric("compute_instance_id"), 3), process->pid, type_letters(*process),
                      term::pad(keep_tail(program(*process), kNameColumns), kNameColumns),
                      cell_text(process->row[process_metric("gpu_memory_bytes")], mib));
      any = true;
    }
  }
  if (!any) {
    const auto known = std::all_of(selection.devices.begin(), selection.devices.end(), [](const Device *device) {
      const auto count = reading(*device, device_metric("process_count"));
      return count || count.is(Reason::asleep);
    });
    out += fmt::format("|  {:<86} |\n", known ? "No running processes found" : "Running processes are not known");
  }
  out += kRule;
}

}  // namespace

MetricSet needs_of_table() {
  MetricSet set;
  set.add(kTableMetrics);
  set.add(kInstanceMetrics);
  return set;
}

MetricSet needs_of_instances() {
  MetricSet set;
  set.add(kInstanceMetrics);
  return set;
}

std::string table(const Selection &selection) {
  const auto version = driver_version(selection);
  std::string out = long_time_of(*selection.snapshot) + "       \n";
  out += kRule;
  out += fmt::format("| NVIDIA-SMI {:<22} Driver Version: {:<14} CUDA Version: {:<8} |\n", version, version,
                     cuda_version(selection));
  out += kDeviceRule;
  const bool models = has_driver_models(selection);
  out += fmt::format("| GPU  Name {:>29} | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n",
                     models ? "Driver-Model" : "Persistence-M");
  out +=
      "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
      "|                                         |                        |               MIG M. |\n"
      "|=========================================+========================+======================|\n";
  for (const auto *device : selection.devices) {
    add_device(*device, models, out);
    out += kDeviceRule;
  }
  add_instances(selection, out);
  add_processes(selection, out);
  return out;
}

MetricSet needs_of_list() { return {detail_metric("gpu_instance_id")}; }

std::string device_list(const Selection &selection) {
  std::string out;
  for (const auto *device : selection.devices) {
    out += fmt::format("GPU {}: {} (UUID: {})\n", device->id.index, device->identity->name, device->identity->uuid);
    for (const auto *instance : instances_of(*selection.snapshot, *device)) {
      out += fmt::format("  MIG {:<11} Device {:>2}: (UUID: {})\n", instance->identity->label, *instance->id.instance,
                         instance->identity->uuid);
    }
  }
  return out;
}

}  // namespace gpulse::view::smi
