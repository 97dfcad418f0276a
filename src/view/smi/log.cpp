// SPDX-License-Identifier: Apache-2.0
#include "view/smi/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "base/text.hpp"
#include "view/smi/log_nodes.hpp"

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

bool in_text(const Node &node, std::uint32_t sections) {
  if (node.label.empty() && node.text_list == nullptr) return false;
  return sections == 0 ? !node.filtered : (node.sections & sections) != 0;
}

bool in_xml(const Node &node) { return !node.tag.empty() || node.xml_list != nullptr; }

Cell value_of(const Node &node, const Snapshot &snapshot, const Device &device) {
  if (node.special != nullptr) return node.special(snapshot, device);
  return cell(device, *node.metric, node.form);
}

// The lines that belong to the group at `at`: those deeper than it.
std::size_t end_of(std::span<const Node> nodes, std::size_t at) {
  auto next = at + 1;
  while (next < nodes.size() && nodes[next].depth > nodes[at].depth) ++next;
  return next;
}

bool has_values(std::span<const Node> nodes, std::size_t at, const Snapshot &snapshot, const Device &device) {
  const auto lines = nodes.subspan(at + 1, end_of(nodes, at) - at - 1);
  return std::any_of(lines.begin(), lines.end(), [&](const Node &node) {
    return node.kind == NodeKind::value && value_of(node, snapshot, device).known;
  });
}

void text_of(const Snapshot &snapshot, const Device &device, std::uint32_t sections, std::string &out) {
  const auto nodes = log_nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto &node = nodes[i];
    if (!in_text(node, sections)) continue;
    switch (node.kind) {
      case NodeKind::value:
        out += text_line(node.depth, node.label, value_of(node, snapshot, device).with(node.form.unit));
        break;
      case NodeKind::list:
        node.text_list(snapshot, device, out);
        break;
      case NodeKind::folded:
        if (!has_values(nodes, i, snapshot, device)) {
          out += text_line(node.depth, node.label, not_available().text);
          i = end_of(nodes, i) - 1;
          break;
        }
        [[fallthrough]];
      case NodeKind::group:
        out += fmt::format("{:{}}{}\n", "", 4 * node.depth, node.label);
        break;
    }
  }
}

void xml_of(const Snapshot &snapshot, const Device &device, std::string &out) {
  const auto nodes = log_nodes();
  std::vector<const Node *> open;
  const auto indent = [&] { return std::string(2 + open.size(), '\t'); };
  const auto close_to = [&](std::size_t depth) {
    while (!open.empty() && open.back()->depth >= depth) {
      const auto *group = open.back();
      open.pop_back();
      out += fmt::format("{}</{}>\n", indent(), group->tag);
    }
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto &node = nodes[i];
    close_to(node.depth);
    if (!in_xml(node)) continue;
    switch (node.kind) {
      case NodeKind::value: {
        auto form = node.xml_form.text != nullptr ? node.xml_form : node.form;
        const auto value = node.special != nullptr ? node.special(snapshot, device) : cell(device, *node.metric, form);
        out += fmt::format("{0}<{1}>{2}</{1}>\n", indent(), node.tag, xml_escape(value.with(form.unit)));
        break;
      }
      case NodeKind::list:
        node.xml_list(snapshot, device, out);
        break;
      case NodeKind::folded:
        if (!has_values(nodes, i, snapshot, device)) {
          out += fmt::format("{0}<{1}>{2}</{1}>\n", indent(), node.tag, not_available().text);
          i = end_of(nodes, i) - 1;
          break;
        }
        [[fallthrough]];
      case NodeKind::group:
        out += fmt::format("{}<{}>\n", indent(), node.tag);
        open.push_back(&node);
        break;
    }
  }
  close_to(0);
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
      default:
        out += c;
    }
  }
  return out;
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
  for (const auto &node : log_nodes()) {
    if (!(xml ? in_xml(node) : in_text(node, sections))) continue;
    if (node.metric) set.add(*node.metric);
    for (const auto &id : node.more) {
      if (id) set.add(*id);
    }
  }
  return set;
}

std::string log_text(const Scene &scene, std::uint32_t sections) {
  std::string out = "\n==============NVSMI LOG==============\n\n";
  out += text_line(0, "Timestamp", long_time(scene.snapshot->time));
  out += text_line(0, "Driver Version", driver_version(scene));
  out += text_line(0, "CUDA Version", cuda_version(scene));
  out += '\n';
  out += text_line(0, "Attached GPUs", fmt::format("{}", scene.attached));
  for (const auto *device : scene.devices) {
    out += fmt::format("GPU {}\n", bus_id(*device));
    text_of(*scene.snapshot, *device, sections, out);
    out += '\n';
  }
  return out;
}

std::string log_xml(const Scene &scene) {
  std::string out = "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v13.dtd\">\n";
  out += fmt::format("<nvidia_smi_log>\n\t<timestamp>{}</timestamp>\n", long_time(scene.snapshot->time));
  out += fmt::format("\t<driver_version>{}</driver_version>\n", xml_escape(driver_version(scene)));
  out += fmt::format("\t<cuda_version>{}</cuda_version>\n", cuda_version(scene));
  out += fmt::format("\t<attached_gpus>{}</attached_gpus>\n", scene.attached);
  for (const auto *device : scene.devices) {
    out += fmt::format("\t<gpu id=\"{}\">\n", xml_escape(bus_id(*device)));
    xml_of(*scene.snapshot, *device, out);
    out += "\t</gpu>\n\n";
  }
  out += "</nvidia_smi_log>\n";
  return out;
}

}  // namespace gpulse::view::smi
