// SPDX-License-Identifier: Apache-2.0
#include "view/smi/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "base/text.hpp"
#include "view/smi/log_lists.hpp"

namespace gpulse::view::smi {

namespace {

struct SectionName {
  std::string_view name;
  std::uint32_t bit;
};
constexpr std::array kSectionNames{
    SectionName{"MEMORY", section::kMemory},
    SectionName{"UTILIZATION", section::kUtilization},
    SectionName{"ECC", section::kEcc},
    SectionName{"TEMPERATURE", section::kTemperature},
    SectionName{"POWER", section::kPower},
    SectionName{"CLOCK", section::kClock},
    SectionName{"COMPUTE", section::kCompute},
    SectionName{"PIDS", section::kPids},
    SectionName{"PERFORMANCE", section::kPerformance},
    SectionName{"SUPPORTED_CLOCKS", section::kSupportedClocks},
    SectionName{"PAGE_RETIREMENT", section::kPageRetirement},
    SectionName{"ACCOUNTING", section::kAccounting},
    SectionName{"ENCODER_STATS", section::kEncoderStats},
    SectionName{"SUPPORTED_GPU_TARGET_TEMP", section::kTargetTemperature},
    SectionName{"VOLTAGE", section::kVoltage},
    SectionName{"FBC_STATS", section::kFbcStats},
    SectionName{"ROW_REMAPPER", section::kRowRemapper},
    SectionName{"GSP_FIRMWARE_VERSION", section::kGspVersion},
    SectionName{"POWER_SMOOTHING", section::kPowerSmoothing},
    SectionName{"POWER_PROFILES", section::kPowerProfiles},
};

bool in_text(const LogRow &row, std::uint32_t sections) {
  if (row.label.empty()) return false;
  return sections == 0 ? !row.on_request : (row.sections & sections) != 0;
}

bool in_xml(const LogRow &row) { return !row.tag.empty(); }

// Devices that report their margin to the limits report the limits as margins, too.
bool left_out(const LogRow &row, const Device &device) {
  if (row.condition != Condition::limits && row.condition != Condition::margins) return false;
  return reading(device, kMarginMetric).has_value() != (row.condition == Condition::margins);
}

bool has_place_in_rack(const Device &device) {
  const auto guid = text_reading(device, kRackMetric);
  return guid && guid.value().find_first_not_of("0x") != std::string::npos;
}

Cell value_of(const LogRow &row, const Form &form, const Snapshot &snapshot, const Device &device) {
  if (row.fact != Fact::none) return cell(snapshot, device, row.fact);
  if (row.condition == Condition::rack && !has_place_in_rack(device)) return not_available();
  return cell(device, *row.metric, form, row.mask);
}

std::string xml_value(const LogRow &row, const Snapshot &snapshot, const Device &device) {
  const auto &form = row.form_in_xml();
  auto value = value_of(row, form, snapshot, device);
  if (row.bare_in_xml && value.known) value.text.erase(0, std::string_view("0x").size());
  return xml_escape(value.with(form.unit));
}

// The end of the group at `at`, whose rows are those that are deeper.
std::size_t end_of(std::span<const LogRow> rows, std::size_t at) {
  auto next = at + 1;
  while (next < rows.size() && rows[next].depth > rows[at].depth) ++next;
  return next;
}

bool has_values(std::span<const LogRow> rows, std::size_t at, const Snapshot &snapshot, const Device &device) {
  const auto inside = rows.subspan(at + 1, end_of(rows, at) - at - 1);
  return std::any_of(inside.begin(), inside.end(), [&](const LogRow &row) {
    return row.kind == RowKind::value && value_of(row, row.form, snapshot, device).known;
  });
}

}  // namespace

std::string text_line(std::size_t depth, std::string_view label, std::string_view value, std::size_t column) {
  const auto indent = 4 * depth;
  return fmt::format("{:{}}{:<{}}: {}\n", "", indent, label, column > indent ? column - indent : 0, value);
}

std::string xml_escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

void text_rows(std::span<const LogRow> rows, const Snapshot &snapshot, const Device &device, std::uint32_t sections,
               std::string &out) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto &row = rows[i];
    if (!in_text(row, sections) || left_out(row, device)) continue;
    switch (row.kind) {
      case RowKind::value:
        out += text_line(row.depth, row.label, value_of(row, row.form, snapshot, device).with(row.form.unit));
        break;
      case RowKind::list:
        text_list(row, snapshot, device, out);
        break;
      case RowKind::folded:
        if (!has_values(rows, i, snapshot, device)) {
          out += text_line(row.depth, row.label, kNotAvailable);
          i = end_of(rows, i) - 1;
          break;
        }
        [[fallthrough]];
      case RowKind::group:
        out += fmt::format("{:{}}{}\n", "", 4 * row.depth, row.label);
        break;
    }
  }
}

void xml_rows(std::span<const LogRow> rows, const Snapshot &snapshot, const Device &device, std::string &out) {
  const std::size_t top = rows.front().depth;
  std::vector<const LogRow *> open;
  const auto indent = [&] { return std::string(2 * top + open.size(), '\t'); };
  const auto close_to = [&](std::size_t depth) {
    while (!open.empty() && open.back()->depth >= depth) {
      const auto *group = open.back();
      open.pop_back();
      out += fmt::format("{}</{}>\n", indent(), group->tag);
    }
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto &row = rows[i];
    close_to(row.depth);
    if (!in_xml(row) || left_out(row, device)) continue;
    switch (row.kind) {
      case RowKind::value:
        out += fmt::format("{0}<{1}>{2}</{1}>\n", indent(), row.tag, xml_value(row, snapshot, device));
        break;
      case RowKind::list:
        xml_list(row, snapshot, device, out);
        break;
      case RowKind::folded:
        if (!has_values(rows, i, snapshot, device)) {
          out += fmt::format("{0}<{1}>{2}</{1}>\n", indent(), row.tag, kNotAvailable);
          i = end_of(rows, i) - 1;
          break;
        }
        [[fallthrough]];
      case RowKind::group:
        out += fmt::format("{}<{}>\n", indent(), row.tag);
        open.push_back(&row);
        break;
    }
  }
  close_to(0);
}

std::optional<std::uint32_t> parse_sections(std::string_view list) {
  std::uint32_t sections = 0;
  while (!list.empty()) {
    auto word = std::string(next_piece(list, ','));
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::toupper(c); });
    const auto found = std::find_if(kSectionNames.begin(), kSectionNames.end(),
                                    [&](const SectionName &section) { return section.name == word; });
    if (found == kSectionNames.end()) return std::nullopt;
    sections |= found->bit;
  }
  return sections == 0 ? std::nullopt : std::optional(sections);
}

MetricSet needs_of_log(std::uint32_t sections, bool xml) {
  MetricSet set{device_metric("cuda_version")};
  for (const auto &row : log_rows()) {
    if (!(xml ? in_xml(row) : in_text(row, sections))) continue;
    if (row.metric) set.add(*row.metric);
    for (const auto &id : row.also_needs) {
      if (id) set.add(*id);
    }
  }
  return set;
}

std::string log_text(const Selection &selection, std::uint32_t sections) {
  std::string out = "\n==============NVSMI LOG==============\n\n";
  out += text_line(0, "Timestamp", long_time(selection.snapshot->time));
  out += text_line(0, "Driver Version", driver_version(selection));
  out += text_line(0, "CUDA Version", cuda_version(selection));
  out += '\n';
  out += text_line(0, "Attached GPUs", fmt::format("{}", selection.attached));
  for (const auto *device : selection.devices) {
    out += fmt::format("GPU {}\n", bus_id(*device));
    text_rows(log_rows(), *selection.snapshot, *device, sections, out);
    out += '\n';
  }
  return out;
}

std::string log_xml(const Selection &selection) {
  std::string out = "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v13.dtd\">\n";
  out += fmt::format("<nvidia_smi_log>\n\t<timestamp>{}</timestamp>\n", long_time(selection.snapshot->time));
  out += fmt::format("\t<driver_version>{}</driver_version>\n", xml_escape(driver_version(selection)));
  out += fmt::format("\t<cuda_version>{}</cuda_version>\n", cuda_version(selection));
  out += fmt::format("\t<attached_gpus>{}</attached_gpus>\n", selection.attached);
  for (const auto *device : selection.devices) {
    out += fmt::format("\t<gpu id=\"{}\">\n", xml_escape(bus_id(*device)));
    xml_rows(log_rows(), *selection.snapshot, *device, out);
    out += "\t</gpu>\n\n";
  }
  out += "</nvidia_smi_log>\n";
  return out;
}

}  // namespace gpulse::view::smi
