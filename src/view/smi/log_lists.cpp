// SPDX-License-Identifier: Apache-2.0
// The parts of the log that have as many lines as there is to tell.
#include <fmt/format.h>

#include <cmath>

#include "view/smi/log_nodes.hpp"

namespace gpulse::view::smi {

namespace {

// Lines about processes have their values further left than the rest.
constexpr std::size_t kProcessColumn = 42;

Cell known(const Reading &value, const Form &form) {
  if (!value) return in_words(value.reason(), value.code());
  return {form.text(value.value())};
}

std::string memory_words(const Process &process) {
  return known(process.row[process_metric("gpu_memory_bytes")], {"", form::mib_up}).with("MiB");
}

std::string instance_word(const Device &device, MetricId id) {
  return device.parent ? cell(device, id, {"", form::integer}).text : not_available().text;
}

// What an instance has of its own, as both renderings show it.
struct Part {
  std::string_view label, tag;
  MetricId metric;
};
constexpr std::array kParts{
    Part{"Multiprocessor count", "multiprocessor_count", device_metric("multiprocessor_count")},
    Part{"Copy Engine count", "copy_engine_count", detail_metric("copy_engine_count")},
    Part{"Encoder count", "encoder_count", detail_metric("encoder_count")},
    Part{"Decoder count", "decoder_count", detail_metric("decoder_count")},
    Part{"OFA count", "ofa_count", detail_metric("ofa_count")},
    Part{"JPG count", "jpg_count", detail_metric("jpeg_count")},
};
constexpr std::array kFrameBuffer{
    Part{"Total", "total", device_metric("memory_total_bytes")},
    Part{"Reserved", "reserved", device_metric("memory_reserved_bytes")},
    Part{"Used", "used", device_metric("memory_used_bytes")},
    Part{"Free", "free", device_metric("memory_free_bytes")},
};

std::string number(const Device &device, MetricId id) { return cell(device, id, {"", form::integer}).text; }
std::string mib(const Device &device, MetricId id) { return cell(device, id, {"", form::mib_up}).with("MiB"); }

// Total, used and free of the window to the host.
std::array<std::string, 3> bar1(const Device &device) {
  constexpr auto kTotal = device_metric("bar1_total_bytes"), kUsed = device_metric("bar1_used_bytes");
  const auto total = reading(device, kTotal);
  const auto used = reading(device, kUsed);
  const auto free = total && used ? Reading(total.value() - used.value()) : total ? used : total;
  return {known(total, {"", form::mib_down}).with("MiB"), known(used, {"", form::mib_down}).with("MiB"),
          known(free, {"", form::mib_up}).with("MiB")};
}

}  // namespace

void text_samples(const Device &device, SampleKind kind, std::string_view title, const Form &form, std::string &out) {
  const SampleWindow none;
  const auto &window = device.details != nullptr ? (*device.details)[kind] : none;
  out += fmt::format("    {}\n", title);
  out += text_line(2, "Duration", known(window.seconds, {"", form::two_digits}).with("sec"));
  out += text_line(2, "Number of Samples", known(window.count, {"", form::integer}).text);
  out += text_line(2, "Max", known(window.max, form).with(form.unit));
  out += text_line(2, "Min", known(window.min, form).with(form.unit));
  // Means of whole numbers are cut, not rounded.
  const auto mean = window.mean && form.text == form::integer ? Reading(std::floor(window.mean.value())) : window.mean;
  out += text_line(2, "Avg", known(mean, form).with(form.unit));
}

void text_processes(const Snapshot &snapshot, const Device &device, std::string &out) {
  const auto all = holders(snapshot, device);
  const auto count = reading(device, device_metric("process_count"));
  if (all.empty()) {
    out += text_line(1, "Processes", count ? "None" : in_words(count.reason(), count.code()).text);
    return;
  }
  out += "    Processes\n";
  for (const auto &[process, on] : all) {
    out += text_line(2, "GPU instance ID", instance_word(*on, detail_metric("gpu_instance_id")), kProcessColumn);
    out +=
        text_line(2, "Compute instance ID", instance_word(*on, detail_metric("compute_instance_id")), kProcessColumn);
    out += text_line(2, "Process ID", fmt::format("{}", process->pid), kProcessColumn);
    out += text_line(3, "Type", type_letters(*process), kProcessColumn);
    out += text_line(3, "Name", program(*process), kProcessColumn);
    out += text_line(3, "Used GPU Memory", memory_words(*process), kProcessColumn);
  }
}

void xml_processes(const Snapshot &snapshot, const Device &device, std::string &out) {
  out += "\t\t<processes>\n";
  for (const auto &[process, on] : holders(snapshot, device)) {
    out += fmt::format(
        "\t\t\t<process_info>\n"
        "\t\t\t\t<gpu_instance_id>{}</gpu_instance_id>\n"
        "\t\t\t\t<compute_instance_id>{}</compute_instance_id>\n"
        "\t\t\t\t<pid>{}</pid>\n"
        "\t\t\t\t<type>{}</type>\n"
        "\t\t\t\t<process_name>{}</process_name>\n"
        "\t\t\t\t<used_memory>{}</used_memory>\n"
        "\t\t\t</process_info>\n",
        instance_word(*on, detail_metric("gpu_instance_id")), instance_word(*on, detail_metric("compute_instance_id")),
        process->pid, type_letters(*process), xml_escape(program(*process)), memory_words(*process));
  }
  out += "\t\t</processes>\n";
}

void text_clocks(const Snapshot &, const Device &device, std::string &out) {
  const auto count = reading(device, detail_metric("supported_clock_count"));
  if (!count || device.details == nullptr || device.details->clocks.empty()) {
    out += text_line(1, "Supported Clocks", count ? "N/A" : in_words(count.reason(), count.code()).text);
    return;
  }
  out += "    Supported Clocks\n";
  for (const auto &clocks : device.details->clocks) {
    out += text_line(2, "Memory", fmt::format("{:.0f} MHz", clocks.memory_mhz));
    for (const auto mhz : clocks.graphics_mhz) out += text_line(3, "Graphics", fmt::format("{:.0f} MHz", mhz));
  }
}

void xml_clocks(const Snapshot &, const Device &device, std::string &out) {
  const auto count = reading(device, detail_metric("supported_clock_count"));
  if (!count || device.details == nullptr || device.details->clocks.empty()) {
    const auto word = count ? not_available() : in_words(count.reason(), count.code());
    out += fmt::format("\t\t<supported_clocks>{}</supported_clocks>\n", word.text);
    return;
  }
  out += "\t\t<supported_clocks>\n";
  for (const auto &clocks : device.details->clocks) {
    out += fmt::format("\t\t\t<supported_mem_clock>\n\t\t\t\t<value>{:.0f} MHz</value>\n", clocks.memory_mhz);
    for (const auto mhz : clocks.graphics_mhz) {
      out += fmt::format("\t\t\t\t<supported_graphics_clock>{:.0f} MHz</supported_graphics_clock>\n", mhz);
    }
    out += "\t\t\t</supported_mem_clock>\n";
  }
  out += "\t\t</supported_clocks>\n";
}

void text_accounted(const Snapshot &, const Device &device, std::string &out) {
  if (device.details == nullptr || device.details->accounted.empty()) {
    const auto count = reading(device, detail_metric("accounted_process_count"));
    out += text_line(1, "Accounted Processes", count ? "None" : in_words(count.reason(), count.code()).text);
    return;
  }
  out += "    Accounted Processes\n";
  for (const auto &process : device.details->accounted) {
    out += text_line(2, "Process ID", fmt::format("{}", process.pid));
    out += text_line(3, "GPU Utilization", known(process.gpu_percent, {"", form::integer}).with("%"));
    out += text_line(3, "Memory Utilization", known(process.memory_percent, {"", form::integer}).with("%"));
    out += text_line(3, "Max memory usage", known(process.memory_max_bytes, {"", form::mib_up}).with("MiB"));
    out += text_line(3, "Time", known(process.running_seconds, {"", form::milli}).with("ms"));
    out += text_line(3, "Is Running", process.running ? "1" : "0");
  }
}

void xml_accounted(const Snapshot &, const Device &device, std::string &out) {
  out += "\t\t<accounted_processes>\n";
  if (device.details != nullptr) {
    for (const auto &process : device.details->accounted) {
      out += fmt::format(
          "\t\t\t<accounted_process_info>\n"
          "\t\t\t\t<pid>{}</pid>\n"
          "\t\t\t\t<gpu_util>{}</gpu_util>\n"
          "\t\t\t\t<memory_util>{}</memory_util>\n"
          "\t\t\t\t<max_memory_usage>{}</max_memory_usage>\n"
          "\t\t\t\t<time>{}</time>\n"
          "\t\t\t\t<is_running>{}</is_running>\n"
          "\t\t\t</accounted_process_info>\n",
          process.pid, known(process.gpu_percent, {"", form::integer}).with("%"),
          known(process.memory_percent, {"", form::integer}).with("%"),
          known(process.memory_max_bytes, {"", form::mib_up}).with("MiB"),
          known(process.running_seconds, {"", form::milli}).with("ms"), process.running ? 1 : 0);
    }
  }
  out += "\t\t</accounted_processes>\n";
}

void text_instances(const Snapshot &snapshot, const Device &device, std::string &out) {
  std::size_t place = 0;
  for (const auto *instance : instances_of(snapshot, device)) {
    out += "    MIG Device\n";
    out += text_line(2, "Index", fmt::format("{}", place++));
    out += text_line(2, "GPU Instance ID", number(*instance, detail_metric("gpu_instance_id")));
    out += text_line(2, "Compute Instance ID", number(*instance, detail_metric("compute_instance_id")));
    out += "        Device Attributes\n            Shared\n";
    for (const auto &part : kParts) out += text_line(4, part.label, number(*instance, part.metric));
    out += "        ECC Errors\n            Volatile\n";
    out += text_line(4, "SRAM Uncorrectable", number(*instance, device_metric("ecc_uncorrected_volatile_total")));
    out += "        Shared FB Memory Usage\n";
    for (const auto &part : kFrameBuffer) out += text_line(3, part.label, mib(*instance, part.metric));
    out += "        Shared BAR1 Memory\n";
    const auto [total, used, free] = bar1(*instance);
    out += text_line(3, "Total", total) + text_line(3, "Used", used) + text_line(3, "Free", free);
  }
}

void xml_instances(const Snapshot &snapshot, const Device &device, std::string &out) {
  const auto instances = instances_of(snapshot, device);
  out += "\t\t<mig_devices>\n";
  if (instances.empty()) out += "\t\t\tNone\n";
  for (std::size_t i = 0; i < instances.size(); ++i) {
    const auto &one = *instances[i];
    out += fmt::format(
        "\t\t\t<mig_device>\n"
        "\t\t\t\t<index>{}</index>\n"
        "\t\t\t\t<gpu_instance_id>{}</gpu_instance_id>\n"
        "\t\t\t\t<compute_instance_id>{}</compute_instance_id>\n"
        "\t\t\t\t<device_attributes>\n"
        "\t\t\t\t\t<shared>\n",
        i, number(one, detail_metric("gpu_instance_id")), number(one, detail_metric("compute_instance_id")));
    for (const auto &part : kParts) {
      out += fmt::format("\t\t\t\t\t\t<{0}>{1}</{0}>\n", part.tag, number(one, part.metric));
    }
    out += fmt::format(
        "\t\t\t\t\t</shared>\n"
        "\t\t\t\t</device_attributes>\n"
        "\t\t\t\t<ecc_error_count>\n"
        "\t\t\t\t\t<volatile_count>\n"
        "\t\t\t\t\t\t<sram_uncorrectable>{}</sram_uncorrectable>\n"
        "\t\t\t\t\t</volatile_count>\n"
        "\t\t\t\t</ecc_error_count>\n"
        "\t\t\t\t<fb_memory_usage>\n",
        number(one, device_metric("ecc_uncorrected_volatile_total")));
    for (const auto &part : kFrameBuffer) {
      out += fmt::format("\t\t\t\t\t<{0}>{1}</{0}>\n", part.tag, mib(one, part.metric));
    }
    const auto [total, used, free] = bar1(one);
    out += fmt::format(
        "\t\t\t\t</fb_memory_usage>\n"
        "\t\t\t\t<bar1_memory_usage>\n"
        "\t\t\t\t\t<total>{}</total>\n"
        "\t\t\t\t\t<used>{}</used>\n"
        "\t\t\t\t\t<free>{}</free>\n"
        "\t\t\t\t</bar1_memory_usage>\n"
        "\t\t\t</mig_device>\n",
        total, used, free);
  }
  out += "\t\t</mig_devices>\n";
}

void xml_pages(const Device &device, bool double_bit, std::string &out) {
  constexpr auto kSingle = device_metric("retired_pages_single_bit_total");
  constexpr auto kDouble = device_metric("retired_pages_double_bit_total");
  const auto tag = double_bit ? "double_bit_retirement" : "multiple_single_bit_retirement";
  const auto count = cell(device, double_bit ? kDouble : kSingle, {"", form::integer});
  out += fmt::format("\t\t\t<{}>\n\t\t\t\t<retired_count>{}</retired_count>\n", tag, count.text);
  if (!count.known || device.details == nullptr) {
    out += fmt::format("\t\t\t\t<retired_pagelist>{}</retired_pagelist>\n", count.text);
  } else {
    out += "\t\t\t\t<retired_pagelist>\n";
    for (const auto &page : device.details->retired_pages) {
      if (page.double_bit != double_bit) continue;
      out +=
          fmt::format("\t\t\t\t\t<retired_page>\n\t\t\t\t\t\t<retired_page_address>0x{:016x}</retired_page_address>\n",
                      page.address);
      if (page.time != 0) {
        out += fmt::format("\t\t\t\t\t\t<retired_page_timestamp>{}</retired_page_timestamp>\n",
                           long_time(WallTime(std::chrono::seconds(page.time))));
      }
      out += "\t\t\t\t\t</retired_page>\n";
    }
    out += "\t\t\t\t</retired_pagelist>\n";
  }
  out += fmt::format("\t\t\t</{}>\n", tag);
}

}  // namespace gpulse::view::smi
