// SPDX-License-Identifier: Apache-2.0
// The text of `nvidia-smi -q` is made into the elements that `-q -x` would have, by the labels of the same table, and
// read as those are. Lines that the table does not know are skipped with all that is indented below them.
#include <fmt/format.h>

#include <map>
#include <pugixml.hpp>
#include <vector>

#include "base/text.hpp"
#include "smi/log_row.hpp"
#include "smi/snapshot_parts.hpp"
#include "smi/xml_tree.hpp"

namespace gpulse::smi {

namespace {

constexpr std::string_view kBanner = "==============NVSMI LOG==============";
constexpr std::size_t kIndent = 4;
constexpr std::size_t kDeepest = 16;
constexpr std::size_t kMostLines = std::size_t{1} << 21U;

// What a label stands for, below that of the line it is indented under.
struct Label {
  std::string element;  // empty: a group of the text that XML does not have
  bool begins_group = false;
  List list = List::none;
  std::map<std::string, Label, std::less<>> below;
};

Label labels_of(std::span<const LogRow> rows) {
  Label root;
  std::vector<Label *> above{&root};  // by depth
  for (const auto &row : rows) {
    above.resize(std::min(above.size(), std::size_t{1} + row.depth - rows.front().depth));
    if (row.label.empty()) continue;
    auto &label = above.back()->below[lower(trim(row.label))];
    if (label.element.empty()) {
      label.element = element_name(row);
      label.begins_group = row.kind == RowKind::group || row.kind == RowKind::folded;
      label.list = row.list;
    }
    above.push_back(&label);
  }
  return root;
}

// Entries of lists: the label that begins one, and their elements.
struct EntryLabel {
  std::string_view label, element;
};
constexpr std::array kProcessLabels{
    EntryLabel{"gpu instance id", "gpu_instance_id"},
    EntryLabel{"compute instance id", "compute_instance_id"},
    EntryLabel{"process id", "pid"},
    EntryLabel{"type", "type"},
    EntryLabel{"name", "process_name"},
    EntryLabel{"used gpu memory", "used_memory"},
};
constexpr std::array kHeaderLabels{
    EntryLabel{"timestamp", "timestamp"},
    EntryLabel{"driver version", "driver_version"},
    EntryLabel{"cuda version", "cuda_version"},
    EntryLabel{"kmd version", "kmd_version"},
    EntryLabel{"cuda umd version", "cuda_umd_version"},
    EntryLabel{"attached gpus", "attached_gpus"},
};

std::string_view element_of(std::span<const EntryLabel> labels, std::string_view label) {
  for (const auto &known : labels) {
    if (known.label == label) return known.element;
  }
  return {};
}

void add_element(pugi::xml_node parent, std::string_view name, std::string_view text) {
  auto node = parent.append_child(std::string(name).c_str());
  if (!text.empty()) node.append_child(pugi::node_pcdata).set_value(std::string(text).c_str());
}

struct Line {
  std::size_t depth = 0;
  std::string label;  // small letters
  std::optional<std::string_view> value;
};

Line split_line(std::string_view text) {
  Line line;
  const auto start = text.find_first_not_of(' ');
  line.depth = start / kIndent;
  text = trim(text);
  auto colon = text.find(':');
  // Addresses and names have colons too, but no blank after them.
  while (colon != std::string_view::npos && colon + 1 < text.size() && text[colon + 1] != ' ') {
    colon = text.find(':', colon + 1);
  }
  if (colon != std::string_view::npos) line.value = trim(text.substr(colon + 1));
  line.label = lower(trim(text.substr(0, colon)));
  return line;
}

class TextLog {
 public:
  explicit TextLog(pugi::xml_document &document) : document_(document) {}

  void add(std::string_view text) {
    if (text == kBanner) return begin();
    if (text.empty()) return;
    const auto line = split_line(text);
    if (line.depth == 0) return add_header(text, line);
    if (line.depth > kDeepest) return;
    if (above_.empty()) return add_capability(line);
    add_row(line);
  }

 private:
  // The lines that a line is indented under; without an element where the table does not know them.
  struct Above {
    const Label *label = nullptr;
    pugi::xml_node node;  // that elements below it go to
    List list = List::none;
  };

  void begin() {
    root_ = document_.append_child(kRoot);
    above_.clear();
  }

  void add_header(std::string_view text, const Line &line) {
    static const auto kDevice = labels_of(log_rows());
    above_.clear();
    if (!root_) begin();
    if (!line.value && text.starts_with("GPU ")) {
      auto gpu = root_.append_child("gpu");
      gpu.append_attribute("id").set_value(std::string(trim(text.substr(4))).c_str());
      above_.push_back({&kDevice, gpu});
    } else if (const auto element = element_of(kHeaderLabels, line.label); line.value && !element.empty()) {
      add_element(root_, element, *line.value);
    }
  }

  void add_capability(const Line &line) {
    if (!root_ || line.label != "heterogenous multi-vgpu" || !line.value) return;
    add_element(root_.append_child("vgpu_driver_capability"), "heterogenous_multivGPU", *line.value);
  }

  void add_row(const Line &line) {
    // Some values stand in place of lines that are indented further.
    above_.resize(std::min(above_.size(), line.depth));
    above_.resize(line.depth);
    auto &parent = above_.back();
    if (parent.list != List::none) return add_entry(line);
    if (parent.label == nullptr) return above_.push_back({});
    const auto found = parent.label->below.find(line.label);
    if (found == parent.label->below.end()) return above_.push_back({});
    const auto &label = found->second;
    if (label.list == List::instances) return begin_instance(parent.node, label);
    const bool none = label.list != List::none && line.value && lower(*line.value) == "none";
    auto node = parent.node.append_child(label.element.c_str());
    if (line.value && !none) node.append_child(pugi::node_pcdata).set_value(std::string(*line.value).c_str());
    // In XML, a value has no elements below it: they follow it.
    above_.push_back({&label, label.begins_group || label.list != List::none ? node : parent.node, label.list});
  }

  void begin_instance(pugi::xml_node gpu, const Label &label) {
    static const auto kInstance = labels_of(instance_rows());
    auto list = gpu.child(label.element.c_str());
    if (!list) list = gpu.append_child(label.element.c_str());
    above_.push_back({&kInstance, list.append_child("mig_device")});
  }

  void add_entry(const Line &line) {
    const auto list = above_.back();
    above_.push_back(list);  // entries have lines that are indented further
    if (!line.value) return;
    switch (list.list) {
      case List::processes:
        return add_process(list.node, line);
      case List::accounted:
        return add_accounted(list.node, line);
      case List::clocks:
        return add_clock(list.node, line);
      case List::samples:
        return add_element(list.node, "text:" + line.label, *line.value);
      default:
        return;
    }
  }

  // A process begins with its instance, or before MIG with its number.
  static void add_process(pugi::xml_node list, const Line &line) {
    const auto element = element_of(kProcessLabels, line.label);
    if (element.empty()) return;
    auto entry = list.last_child();
    const bool begins =
        !entry || entry.child(std::string(element).c_str()) || (element == "gpu_instance_id" && entry.child("pid"));
    if (begins) entry = list.append_child("process_info");
    add_element(entry, element, *line.value);
  }

  static void add_accounted(pugi::xml_node list, const Line &line) {
    if (line.label == "process id") {
      return add_element(list.append_child("accounted_process_info"), "pid", *line.value);
    }
    auto entry = list.last_child();
    if (!entry) return;
    if (line.label == "is running") return add_element(entry, "is_running", *line.value);
    for (const auto &row : accounted_rows()) {
      if (lower(row.label) == line.label) add_element(entry, row.tag, *line.value);
    }
  }

  static void add_clock(pugi::xml_node list, const Line &line) {
    if (line.label == "memory") {
      add_element(list.append_child("supported_mem_clock"), "value", *line.value);
    } else if (auto entry = list.last_child(); entry && line.label == "graphics") {
      add_element(entry, "supported_graphics_clock", *line.value);
    }
  }

  pugi::xml_document &document_;
  pugi::xml_node root_;
  std::vector<Above> above_;  // empty before the first GPU
};

}  // namespace

bool is_text_log(std::string_view start) { return start.find(kBanner) != std::string_view::npos; }

Result<std::vector<SnapshotPtr>> read_text_log(std::string_view text, const std::string &name) {
  pugi::xml_document document;
  TextLog log(document);
  std::size_t lines = 0;
  while (!text.empty()) {
    if (++lines > kMostLines) return failure(fmt::format("{}: too many lines for a log of nvidia-smi", name));
    auto line = next_piece(text, '\n');
    const auto end = line.find_last_not_of(" \t\r");
    line = line.substr(0, end == std::string_view::npos ? 0 : end + 1);
    log.add(line);
  }
  return read_tree(document, true, name);
}

}  // namespace gpulse::smi
