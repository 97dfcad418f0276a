// SPDX-License-Identifier: Apache-2.0
#include "view/smi/log_lists.hpp"

#include <fmt/format.h>

#include <cmath>

namespace gpulse::view::smi {

namespace {

// nvidia-smi aligns the values of processes further to the left.
constexpr std::size_t kProcessColumn = 42;

// Before MIG, processes had no instance.
constexpr int kInstanceSchema = 11;
// Before v10, retired pages had no time.
constexpr int kPageTimeSchema = 10;

std::string text_of(const Reading &value, const Form &form) { return cell(value, form).with(form.unit); }

std::string memory_of(const Process &process) { return text_of(process.row[process_metric("gpu_memory_bytes")], kMib); }

std::string instance_id(const Device &device, MetricId id) {
  return device.is_instance() ? cell(device, id, kCount).text : std::string(kNotAvailable);
}

void text_samples(const LogRow &row, const Device &device, std::string &out) {
  constexpr Form kSeconds{"sec", print::two_digits, nullptr};
  const SampleWindow none;
  const auto &window = device.details != nullptr ? (*device.details)[row.samples] : none;
  out += fmt::format("    {}\n", row.label);
  out += text_line(2, "Duration", text_of(window.seconds, kSeconds));
  out += text_line(2, "Number of Samples", text_of(window.count, kCount));
  out += text_line(2, "Max", text_of(window.max, row.form));
  out += text_line(2, "Min", text_of(window.min, row.form));
  // nvidia-smi truncates means of integers.
  const bool whole = row.form.print == print::integer;
  const auto mean = window.mean && whole ? Reading(std::floor(window.mean.value())) : window.mean;
  out += text_line(2, "Avg", text_of(mean, row.form));
}

void text_processes(const LogRow &row, const Snapshot &snapshot, const Device &device, std::string &out) {
  const auto all = processes_on(snapshot, device);
  const auto count = reading(device, device_metric("process_count"));
  if (all.empty()) {
    out += text_line(1, row.label, count ? "None" : reason_cell(count.reason(), count.code()).text);
    return;
  }
  out += fmt::format("    {}\n", row.label);
  for (const auto &[process, on] : all) {
    out += text_line(2, "GPU instance ID", instance_id(*on, detail_metric("gpu_instance_id")), kProcessColumn);
    out += text_line(2, "Compute instance ID", instance_id(*on, detail_metric("compute_instance_id")), kProcessColumn);
    out += text_line(2, "Process ID", fmt::format("{}", process->pid), kProcessColumn);
    out += text_line(3, "Type", type_letters(*process), kProcessColumn);
    out += text_line(3, "Name", program(*process), kProcessColumn);
    out += text_line(3, "Used GPU Memory", memory_of(*process), kProcessColumn);
  }
}

void xml_processes(const LogRow &row, const Snapshot &snapshot, const Device &device, const LogStyle &style,
                   std::string &out) {
  const auto all = processes_on(snapshot, device);
  const auto count = reading(device, device_metric("process_count"));
  if (all.empty() && !count) {
    out += fmt::format("\t\t<{0}>{1}</{0}>\n", row.tag, reason_cell(count.reason(), count.code()).text);
    return;
  }
  out += fmt::format("\t\t<{}>\n", row.tag);
  for (const auto &[process, on] : all) {
    out += "\t\t\t<process_info>\n";
    if (style.schema >= kInstanceSchema) {
      out += fmt::format(
          "\t\t\t\t<gpu_instance_id>{}</gpu_instance_id>\n\t\t\t\t<compute_instance_id>{}</compute_instance_id>\n",
          instance_id(*on, detail_metric("gpu_instance_id")), instance_id(*on, detail_metric("compute_instance_id")));
    }
    out += fmt::format(
        "\t\t\t\t<pid>{}</pid>\n"
        "\t\t\t\t<type>{}</type>\n"
        "\t\t\t\t<process_name>{}</process_name>\n"
        "\t\t\t\t<used_memory>{}</used_memory>\n"
        "\t\t\t</process_info>\n",
        process->pid, type_letters(*process), xml_escape(program(*process)), memory_of(*process));
  }
  out += fmt::format("\t\t</{}>\n", row.tag);
}

// The text in place of the list of clocks; empty if there is a list.
std::optional<std::string> no_clocks(const Device &device) {
  const auto count = reading(device, detail_metric("supported_clock_count"));
  if (!count) return reason_cell(count.reason(), count.code()).text;
  if (device.details == nullptr || device.details->clocks.empty()) return std::string(kNotAvailable);
  return std::nullopt;
}

void text_clocks(const LogRow &row, const Device &device, std::string &out) {
  if (const auto why = no_clocks(device)) {
    out += text_line(1, row.label, *why);
    return;
  }
  out += fmt::format("    {}\n", row.label);
  for (const auto &clocks : device.details->clocks) {
    out += text_line(2, "Memory", fmt::format("{:.0f} MHz", clocks.memory_mhz));
    for (const auto mhz : clocks.graphics_mhz) out += text_line(3, "Graphics", fmt::format("{:.0f} MHz", mhz));
  }
}

void xml_clocks(const LogRow &row, const Device &device, std::string &out) {
  if (const auto why = no_clocks(device)) {
    out += fmt::format("\t\t<{0}>{1}</{0}>\n", row.tag, *why);
    return;
  }
  out += fmt::format("\t\t<{}>\n", row.tag);
  for (const auto &clocks : device.details->clocks) {
    out += fmt::format("\t\t\t<supported_mem_clock>\n\t\t\t\t<value>{:.0f} MHz</value>\n", clocks.memory_mhz);
    for (const auto mhz : clocks.graphics_mhz) {
      out += fmt::format("\t\t\t\t<supported_graphics_clock>{:.0f} MHz</supported_graphics_clock>\n", mhz);
    }
    out += "\t\t\t</supported_mem_clock>\n";
  }
  out += fmt::format("\t\t</{}>\n", row.tag);
}

void text_accounted(const LogRow &row, const Device &device, std::string &out) {
  if (device.details == nullptr || device.details->accounted.empty()) {
    const auto count = reading(device, detail_metric("accounted_process_count"));
    out += text_line(1, row.label, count ? "None" : reason_cell(count.reason(), count.code()).text);
    return;
  }
  out += fmt::format("    {}\n", row.label);
  for (const auto &process : device.details->accounted) {
    out += text_line(2, "Process ID", fmt::format("{}", process.pid));
    for (const auto &value : accounted_rows())
      out += text_line(3, value.label, text_of(process.*value.value, value.form));
    out += text_line(3, "Is Running", process.running ? "1" : "0");
  }
}

void xml_accounted(const LogRow &row, const Device &device, std::string &out) {
  out += fmt::format("\t\t<{}>\n", row.tag);
  if (device.details != nullptr) {
    for (const auto &process : device.details->accounted) {
      out += fmt::format("\t\t\t<accounted_process_info>\n\t\t\t\t<pid>{}</pid>\n", process.pid);
      for (const auto &value : accounted_rows()) {
        out += fmt::format("\t\t\t\t<{0}>{1}</{0}>\n", value.tag, text_of(process.*value.value, value.form));
      }
      out += fmt::format("\t\t\t\t<is_running>{}</is_running>\n\t\t\t</accounted_process_info>\n",
                         process.running ? 1 : 0);
    }
  }
  out += fmt::format("\t\t</{}>\n", row.tag);
}

void text_instances(const LogRow &row, const Snapshot &snapshot, const Device &device, const LogStyle &style,
                    std::string &out) {
  for (const auto *instance : instances_of(snapshot, device)) {
    out += fmt::format("    {}\n", row.label);
    text_rows(instance_rows(), snapshot, *instance, {.sections = 0, .schema = style.schema}, out);
  }
}

void xml_instances(const LogRow &row, const Snapshot &snapshot, const Device &device, const LogStyle &style,
                   std::string &out) {
  const auto instances = instances_of(snapshot, device);
  out += fmt::format("\t\t<{}>\n", row.tag);
  if (instances.empty()) out += "\t\t\tNone\n";
  for (const auto *instance : instances) {
    out += "\t\t\t<mig_device>\n";
    xml_rows(instance_rows(), snapshot, *instance, style, out);
    out += "\t\t\t</mig_device>\n";
  }
  out += fmt::format("\t\t</{}>\n", row.tag);
}

void xml_pages(const LogRow &row, const Device &device, const LogStyle &style, std::string &out) {
  constexpr auto kSingle = device_metric("retired_pages_single_bit_total");
  constexpr auto kDouble = device_metric("retired_pages_double_bit_total");
  const bool double_bit = row.list == List::double_bit_pages;
  const auto count = cell(device, double_bit ? kDouble : kSingle, kCount);
  if (!count.known || device.details == nullptr) {
    out += fmt::format("\t\t\t\t<{0}>{1}</{0}>\n", row.tag, count.text);
    return;
  }
  out += fmt::format("\t\t\t\t<{}>\n", row.tag);
  for (const auto &page : device.details->retired_pages) {
    if (page.double_bit != double_bit) continue;
    if (style.schema < kPageTimeSchema) {
      out += fmt::format("\t\t\t\t\t<retired_page_address>0x{:016x}</retired_page_address>\n", page.address);
      continue;
    }
    out += fmt::format("\t\t\t\t\t<retired_page>\n\t\t\t\t\t\t<retired_page_address>0x{:016x}</retired_page_address>\n",
                       page.address);
    if (page.time != 0) {
      out += fmt::format("\t\t\t\t\t\t<retired_page_timestamp>{}</retired_page_timestamp>\n",
                         long_time(WallTime(std::chrono::seconds(page.time))));
    }
    out += "\t\t\t\t\t</retired_page>\n";
  }
  out += fmt::format("\t\t\t\t</{}>\n", row.tag);
}

}  // namespace

void text_list(const LogRow &row, const Snapshot &snapshot, const Device &device, const LogStyle &style,
               std::string &out) {
  switch (row.list) {
    case List::instances:
      return text_instances(row, snapshot, device, style, out);
    case List::samples:
      return text_samples(row, device, out);
    case List::clocks:
      return text_clocks(row, device, out);
    case List::processes:
      return text_processes(row, snapshot, device, out);
    case List::accounted:
      return text_accounted(row, device, out);
    // Only in XML.
    case List::single_bit_pages:
    case List::double_bit_pages:
    case List::none:
      break;
  }
}

void xml_list(const LogRow &row, const Snapshot &snapshot, const Device &device, const LogStyle &style,
              std::string &out) {
  switch (row.list) {
    case List::instances:
      return xml_instances(row, snapshot, device, style, out);
    case List::clocks:
      return xml_clocks(row, device, out);
    case List::processes:
      return xml_processes(row, snapshot, device, style, out);
    case List::accounted:
      return xml_accounted(row, device, out);
    case List::single_bit_pages:
    case List::double_bit_pages:
      return xml_pages(row, device, style, out);
    // Only in the text.
    case List::samples:
    case List::none:
      break;
  }
}

}  // namespace gpulse::view::smi
