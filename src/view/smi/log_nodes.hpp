// SPDX-License-Identifier: Apache-2.0
// The shape of the log: a flat list of lines, each deeper than its group. Text and XML are two renderings of it.
#pragma once

#include <array>
#include <span>

#include "view/smi/log.hpp"

namespace gpulse::view::smi {

enum class NodeKind : std::uint8_t {
  value,   // a label and a value
  group,   // a label with lines below it
  folded,  // a group that is one "N/A" where none of its lines has a value
  list,    // made by a function of its own
};

struct Node {
  using Special = Cell (*)(const Snapshot &, const Device &);
  using List = void (*)(const Snapshot &, const Device &, std::string &out);
  using More = std::array<std::optional<MetricId>, 6>;

  std::uint8_t depth = 1;
  NodeKind kind = NodeKind::value;
  std::string_view label = {};  // empty: not in the text
  std::string_view tag = {};    // empty: not in the XML
  std::uint32_t sections = 0;   // which -d shows it
  bool filtered = false;        // in the text only where -d asks for it
  std::optional<MetricId> metric = {};
  Form form = {};
  Form xml_form = {};  // where XML writes it otherwise
  Special special = nullptr;
  // Lines of a list, for one of the two renderings.
  List text_list = nullptr;
  List xml_list = nullptr;
  // Metrics beside `metric` that it needs.
  More more = {};
};

std::span<const Node> log_nodes();

// Where the values of text lines stand.
std::string text_line(std::size_t depth, std::string_view label, std::string_view value, std::size_t column = 55);
std::string xml_escape(std::string_view text);

// The lists.
void text_samples(const Device &device, SampleKind kind, std::string_view title, const Form &form, std::string &out);
void text_processes(const Snapshot &snapshot, const Device &device, std::string &out);
void xml_processes(const Snapshot &snapshot, const Device &device, std::string &out);
void text_clocks(const Snapshot &snapshot, const Device &device, std::string &out);
void xml_clocks(const Snapshot &snapshot, const Device &device, std::string &out);
void text_accounted(const Snapshot &snapshot, const Device &device, std::string &out);
void xml_accounted(const Snapshot &snapshot, const Device &device, std::string &out);
void text_instances(const Snapshot &snapshot, const Device &device, std::string &out);
void xml_instances(const Snapshot &snapshot, const Device &device, std::string &out);
void xml_pages(const Device &device, bool double_bit, std::string &out);

}  // namespace gpulse::view::smi
