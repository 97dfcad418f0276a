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

// Older drivers do not tell the version of CUDA.
constexpr int kCudaSchema = 10;

int domain_digits(int schema) { return schema < 9 ? 4 : 8; }

bool in_xml(const LogRow &row) { return !row.tag.empty(); }

std::string architecture(const Device &device) { return text_reading(device, kArchitectureMetric).value_or(""); }

bool counts_ecc_by_bits(const Device &device) {
  static constexpr std::array<std::string_view, 5> kOld{"Fermi", "Kepler", "Maxwell", "Pascal", "Volta"};
  return std::find(kOld.begin(), kOld.end(), architecture(device)) != kOld.end();
}

bool left_out(const LogRow &row, const Device &device, int schema) {
  const auto parity = [&] { return schema >= 12 && architecture(device) != "Turing"; };
  switch (row.condition) {
    // Devices that report their margin to the limits report the limits as margins, too.
    case Condition::limits:
      return schema >= 12 && reading(device, kMarginMetric).has_value();
    case Condition::margins:
      return !reading(device, kMarginMetric).has_value();
    case Condition::ecc_bits:
      return !counts_ecc_by_bits(device);
    case Condition::ecc_places:
      return counts_ecc_by_bits(device);
    case Condition::ecc_sram:
      return counts_ecc_by_bits(device) || parity();
    case Condition::ecc_parity:
      return counts_ecc_by_bits(device) || !parity();
    default:
      return false;
  }
}

// In its own version, a log is written with the rows that it had.
bool is_own_version(const Device &device, int schema) {
  return device.details != nullptr && device.details->logged && device.details->logged->schema == schema;
}

bool is_written(std::span<const LogRow> rows, std::size_t at, const Device &device, int schema) {
  const auto &row = rows[at];
  if (is_own_version(device, schema)) {
    const auto &log = *device.details->logged;
    if (!(log.text ? row.label : row.tag).empty()) return log.rows[at];
  }
  return row.is_in(schema) && !left_out(row, device, schema);
}

// A log tells itself.
bool has_place_in_rack(const Device &device) {
  if (device.details != nullptr && device.details->logged) return true;
  const auto guid = text_reading(device, kRackMetric);
  return guid && guid.value().find_first_not_of("0x") != std::string::npos;
}

// Older drivers and devices have one reading of power. It is a mean from Ampere on, but of GA100.
bool takes_only_power(const LogRow &row, const Device &device) {
  if (row.condition != Condition::average_power && row.condition != Condition::instant_power) return false;
  if (reading(device, device_metric("power_average_watts")) || reading(device, device_metric("power_instant_watts"))) {
    return false;
  }
  const auto family = architecture(device);
  const bool is_mean = !counts_ecc_by_bits(device) && !family.empty() && family != "Turing";
  return is_mean == (row.condition == Condition::average_power);
}

Cell value_of(const LogRow &row, const Form &form, const Device &device) {
  if (!row.told.empty() && device.details != nullptr && device.details->told.contains(row.told)) {
    return told(device, row.told);
  }
  if (row.fact != Fact::none) return cell(device, row.fact);
  if (row.condition == Condition::rack && !has_place_in_rack(device)) return not_available();
  if (takes_only_power(row, device)) return cell(device, device_metric("power_draw_watts"), form);
  return cell(device, *row.metric, form, row.mask);
}

// Several entries stand each in an element of their own, on a line of its own.
std::string entries(const LogRow &row, std::string_view text, const std::string &indent) {
  std::string out = "\n";
  while (!text.empty()) {
    out += fmt::format("{0}\t<{1}>{2}</{1}>\n", indent, row.entry, xml_escape(trim(next_piece(text, ','))));
  }
  return out + indent;
}

std::string xml_value(const LogRow &row, const Device &device, int schema, const std::string &indent) {
  const auto &form = row.form_in_xml(schema);
  auto value = value_of(row, form, device);
  if (row.fact == Fact::bus_id) value.text = bus_id(device, domain_digits(schema));
  if (row.bare_in_xml && value.known) value.text.erase(0, std::string_view("0x").size());
  if (!row.entry.empty() && value.known) return entries(row, value.text, indent);
  return xml_escape(value.with(form.unit));
}

// The end of the group at `at`, whose rows are those that are deeper.
std::size_t end_of(std::span<const LogRow> rows, std::size_t at) {
  auto next = at + 1;
  while (next < rows.size() && rows[next].depth > rows[at].depth) ++next;
  return next;
}

// What is written in place of the rows of a group; empty if they are written.
std::optional<std::string> in_place_of(std::span<const LogRow> rows, std::size_t at, const Device &device, int schema) {
  std::optional<std::string> reason;
  bool written = false;
  bool known = false;
  for (auto i = at + 1; i < end_of(rows, at); ++i) {
    written = written || is_written(rows, i, device, schema);
    if (rows[i].kind != RowKind::value) continue;
    const auto value = value_of(rows[i], rows[i].form, device);
    known = known || value.known;
    if (!value.known && !reason) reason = value.text;
  }
  if (rows[at].kind == RowKind::folded && !known && !is_own_version(device, schema)) return std::string(kNotAvailable);
  return written ? std::nullopt : std::optional(reason.value_or(std::string(kNotAvailable)));
}

}  // namespace

std::string text_line(std::size_t depth, std::string_view label, std::string_view value, std::size_t column) {
  const auto indent = 4 * depth;
  return fmt::format("{:{}}{:<{}}: {}\n", "", indent, label, column > indent ? column - indent : 0, value);
}

void text_rows(std::span<const LogRow> rows, const Snapshot &snapshot, const Device &device, const LogStyle &style,
               std::string &out) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto &row = rows[i];
    const bool is_group = row.kind == RowKind::group || row.kind == RowKind::folded;
    if (!in_text(row, style.sections) || !is_written(rows, i, device, style.schema)) {
      if (is_group) i = end_of(rows, i) - 1;
      continue;
    }
    if (row.kind == RowKind::value) {
      out += text_line(row.depth, row.label, value_of(row, row.form, device).with(row.form.unit));
    } else if (row.kind == RowKind::list) {
      text_list(row, snapshot, device, style, out);
    } else if (const auto instead = in_place_of(rows, i, device, style.schema)) {
      out += text_line(row.depth, row.label, *instead);
      i = end_of(rows, i) - 1;
    } else {
      out += fmt::format("{:{}}{}\n", "", 4 * row.depth, row.label);
    }
  }
}

void xml_rows(std::span<const LogRow> rows, const Snapshot &snapshot, const Device &device, const LogStyle &style,
              std::string &out) {
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
    const bool is_group = row.kind == RowKind::group || row.kind == RowKind::folded;
    close_to(row.depth);
    if (!in_xml(row) || !is_written(rows, i, device, style.schema)) {
      if (is_group) i = end_of(rows, i) - 1;
      continue;
    }
    if (row.kind == RowKind::value) {
      out += fmt::format("{0}<{1}>{2}</{1}>\n", indent(), row.tag, xml_value(row, device, style.schema, indent()));
    } else if (row.kind == RowKind::list) {
      xml_list(row, snapshot, device, style, out);
    } else if (const auto instead = in_place_of(rows, i, device, style.schema)) {
      out += fmt::format("{0}<{1}>{2}</{1}>\n", indent(), row.tag, *instead);
      i = end_of(rows, i) - 1;
    } else {
      out += fmt::format("{}<{}>\n", indent(), row.tag);
      open.push_back(&row);
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

std::optional<int> parse_schema(std::string_view word) {
  if (word.starts_with('v')) word.remove_prefix(1);
  const auto schema = parse_integer<int>(word);
  return schema && *schema >= kOldestSchema && *schema <= kNewestSchema ? schema : std::nullopt;
}

MetricSet needs_of_log(const LogStyle &style, bool xml) {
  MetricSet set{device_metric("cuda_version")};
  for (const auto &row : log_rows()) {
    if (!row.is_in(style.schema) || !(xml ? in_xml(row) : in_text(row, style.sections))) continue;
    if (row.metric) set.add(*row.metric);
    for (const auto &id : row.also_needs) {
      if (id) set.add(*id);
    }
  }
  return set;
}

namespace {

// Of the driver, but told with each device.
std::optional<std::string> told_of_driver(const Selection &selection, std::string_view name) {
  for (const auto *device : selection.devices) {
    if (device->details != nullptr && device->details->told.contains(name)) return told(*device, name).text;
  }
  return std::nullopt;
}

}  // namespace

std::string log_text(const Selection &selection, const LogStyle &style) {
  std::string out = "\n==============NVSMI LOG==============\n\n";
  out += text_line(0, "Timestamp", long_time_of(*selection.snapshot));
  out += text_line(0, "Driver Version", driver_version(selection));
  if (style.schema >= kCudaSchema) out += text_line(0, "CUDA Version", cuda_version(selection));
  for (std::size_t i = 0; i < kNewerVersions.size(); ++i) {
    static constexpr std::array<std::string_view, kNewerVersions.size()> kLabels{"KMD Version", "CUDA UMD Version"};
    if (const auto version = told_of_driver(selection, kNewerVersions[i])) out += text_line(0, kLabels[i], *version);
  }
  if (const auto capability = told_of_driver(selection, kVgpuDriverCapability)) {
    out += "vGPU Driver Capability\n";
    out += text_line(2, "Heterogenous Multi-vGPU", *capability);
  }
  out += '\n';
  out += text_line(0, "Attached GPUs", fmt::format("{}", selection.attached));
  for (const auto *device : selection.devices) {
    out += fmt::format("GPU {}\n", bus_id(*device));
    text_rows(log_rows(), *selection.snapshot, *device, style, out);
    out += '\n';
  }
  return out;
}

std::string log_xml(const Selection &selection, const LogStyle &style) {
  std::string out = fmt::format("<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v{}.dtd\">\n",
                                style.schema);
  out += fmt::format("<nvidia_smi_log>\n\t<timestamp>{}</timestamp>\n", long_time_of(*selection.snapshot));
  out += fmt::format("\t<driver_version>{}</driver_version>\n", xml_escape(driver_version(selection)));
  if (style.schema >= kCudaSchema) {
    out += fmt::format("\t<cuda_version>{}</cuda_version>\n", xml_escape(cuda_version(selection)));
  }
  if (const auto capability = told_of_driver(selection, kVgpuDriverCapability)) {
    out += fmt::format(
        "\t<vgpu_driver_capability>\n\t\t<heterogenous_multivGPU>{}</heterogenous_multivGPU>\n"
        "\t</vgpu_driver_capability>\n",
        xml_escape(*capability));
  }
  out += fmt::format("\t<attached_gpus>{}</attached_gpus>\n", selection.attached);
  for (const auto *device : selection.devices) {
    out += fmt::format("\t<gpu id=\"{}\">\n", xml_escape(bus_id(*device, domain_digits(style.schema))));
    xml_rows(log_rows(), *selection.snapshot, *device, style, out);
    out += "\t</gpu>\n\n";
  }
  out += "</nvidia_smi_log>\n";
  return out;
}

}  // namespace gpulse::view::smi
