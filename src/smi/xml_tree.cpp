// SPDX-License-Identifier: Apache-2.0
#include "smi/xml_tree.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "base/text.hpp"
#include "smi/log_row.hpp"
#include "smi/value.hpp"

namespace gpulse::smi {

namespace {

constexpr std::size_t kLongestName = 128;

// An element that has a metric, or some of its bits.
struct Element {
  MetricId metric;
  Form form;
  std::uint64_t mask = 0;  // 0: all bits
  int rank = 0;            // if several elements have the metric: the lowest is read first
};

// The content of an element in the document.
struct Found {
  enum class What : std::uint8_t { absent, text, elements };
  What what = What::absent;
  std::string_view text;
};
using AllFound = std::vector<Found>;

// The elements of the table as a tree of names.
struct Branch {
  std::map<std::string, Branch, std::less<>> below;
  std::vector<std::size_t> elements;
};

class Tree {
 public:
  Tree(std::span<const LogRow> rows, std::span<const ReadOnlyElement> read_only) {
    add(rows);
    for (const auto &element : read_only) {
      for (int i = 0; i < static_cast<int>(element.paths.size()); ++i) {
        const auto path = element.paths[static_cast<std::size_t>(i)];
        if (!path.empty()) add(path, {.metric = element.metric, .form = element.form, .rank = i});
      }
    }
    for (std::size_t i = 0; i < elements_.size(); ++i) order_.push_back(i);
    const auto key = [&](std::size_t i) { return std::tuple(elements_[i].metric.index, elements_[i].rank, i); };
    std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  }

  const Branch &root() const { return root_; }
  const std::vector<Element> &elements() const { return elements_; }
  // Sorted by metric, then by rank.
  const std::vector<std::size_t> &order() const { return order_; }

 private:
  void add(std::span<const LogRow> rows) {
    constexpr int kOlder = 1, kLast = 2;
    std::vector<Branch *> above{&root_};  // by depth
    const auto top = rows.front().depth;
    for (const auto &row : rows) {
      if (row.tag.empty() || row.kind == RowKind::list) continue;
      // A row below a value is indented in the text, but not nested in XML.
      above.resize(std::min(above.size(), std::size_t{1} + row.depth - top));
      auto &branch = above.back()->below[std::string(row.tag)];
      if (row.kind != RowKind::value) above.push_back(&branch);
      // Left to fill_event_reasons, which also counts reasons that are not in the table.
      if (!row.metric || row.metric == device_metric("throttle_reasons")) continue;
      const Element element{.metric = *row.metric, .form = row.form_in_xml(), .mask = row.mask};
      add(branch, element, row.read_last ? kLast : 0);
      if (!row.older.empty()) add(row.older, element, kOlder);
    }
  }
  void add(std::string_view path, const Element &element, int rank) {
    auto *branch = &root_;
    for (const auto name : split(path, '/')) branch = &branch->below[std::string(name)];
    add(*branch, element, rank);
  }
  void add(std::string_view path, const Element &element) { add(path, element, element.rank); }
  void add(Branch &branch, Element element, int rank) {
    element.rank = rank;
    branch.elements.push_back(elements_.size());
    elements_.push_back(element);
  }

  Branch root_;
  std::vector<Element> elements_;
  std::vector<std::size_t> order_;
};

const Tree &tree_of(XmlPart part) {
  static const Tree kDevice(log_rows(), read_only_elements());
  static const Tree kInstance(instance_rows(), read_only_instance_elements());
  return part == XmlPart::device ? kDevice : kInstance;
}

// "N/A" in place of child elements applies to all of them.
void found_in_place_of(const Branch &branch, std::string_view text, AllFound &all) {
  for (const auto &[name, below] : branch.below) {
    for (const auto element : below.elements) {
      if (all[element].what == Found::What::absent) all[element] = {Found::What::text, text};
    }
    found_in_place_of(below, text, all);
  }
}

void walk(pugi::xml_node node, const Branch &branch, AllFound &all) {
  for (const auto child : node.children()) {
    if (child.type() != pugi::node_element) continue;
    const std::string_view name(child.name());
    if (name.size() > kLongestName) continue;
    const auto at = branch.below.find(name);
    if (at == branch.below.end()) continue;
    const auto text = plain_text(child);
    for (const auto element : at->second.elements) {
      auto &found = all[element];
      // If an element is repeated, the first one counts.
      if (found.what != Found::What::absent) continue;
      found = text ? Found{Found::What::text, *text} : Found{Found::What::elements, {}};
    }
    if (at->second.below.empty()) continue;
    if (text && !trim(*text).empty() && reason_in(*text)) found_in_place_of(at->second, *text, all);
    walk(child, at->second, all);
  }
}

// The elements of one metric.
struct MetricElements {
  const Tree &tree;
  const AllFound &all;
  std::span<const std::size_t> elements;

  // Calls visit(element, found) until it returns true.
  void each(const auto &visit) const {
    for (const auto i : elements) {
      if (all[i].what != Found::What::absent && visit(tree.elements()[i], all[i])) return;
    }
  }
};

Reading read_element(const Element &element, const Found &found) {
  return found.what == Found::What::text ? read(element.metric, element.form, found.text) : Reading(Reason::error);
}

Reading number_of(const MetricElements &elements) {
  std::optional<Reading> reading;
  elements.each([&](const Element &element, const Found &found) {
    const auto now = read_element(element, found);
    if (now || !reading) reading = now;
    return now.has_value();
  });
  return reading.value_or(Reason::not_supported);
}

// A set with an element for every bit.
Reading set_of(const MetricElements &elements) {
  std::optional<std::uint64_t> bits;
  Reading reason = Reason::not_supported;
  elements.each([&](const Element &element, const Found &found) {
    const auto now = read_element(element, found);
    if (!now) {
      if (!reason.is(Reason::error)) reason = now;
      return false;
    }
    bits =
        bits.value_or(0) | (static_cast<std::uint64_t>(now.value()) << std::countr_zero(element.mask) & element.mask);
    return false;
  });
  return bits && !reason.is(Reason::error) ? Reading(static_cast<double>(*bits)) : reason;
}

TextReading text_of(const MetricElements &elements) {
  TextReading reading = Reason::not_supported;
  elements.each([&](const Element &, const Found &found) {
    auto now = found.what == Found::What::text ? read_text(found.text) : TextReading(Reason::error);
    const bool good = now.has_value();
    if (good || reading.reason() == Reason::not_supported) reading = std::move(now);
    return good;
  });
  return reading;
}

}  // namespace

std::optional<std::string_view> plain_text(pugi::xml_node node) {
  const auto content = node.first_child();
  if (!node) return std::nullopt;
  if (!content) return std::string_view{};
  const bool is_text = content.type() == pugi::node_pcdata || content.type() == pugi::node_cdata;
  if (!is_text || content.next_sibling()) return std::nullopt;
  return std::string_view(content.value());
}

std::optional<std::string_view> child_text(pugi::xml_node node, const char *name) {
  return plain_text(node.child(name));
}

void fill_device(pugi::xml_node node, XmlPart part, Row &row, TextRow &texts, DeviceDetails &details) {
  const auto &tree = tree_of(part);
  AllFound all(tree.elements().size());
  walk(node, tree.root(), all);
  const std::span order(tree.order());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    const auto &first = tree.elements()[order[begin]];
    while (end < order.size() && tree.elements()[order[end]].metric == first.metric) ++end;
    const MetricElements elements{.tree = tree, .all = all, .elements = order.subspan(begin, end - begin)};
    const bool detail = describe(first.metric).scope == Scope::detail;
    if (is_text(describe(first.metric))) {
      (detail ? details.texts : texts)[first.metric] = text_of(elements);
    } else {
      (detail ? details.row : row)[first.metric] = first.mask != 0 ? set_of(elements) : number_of(elements);
    }
  }
}

}  // namespace gpulse::smi
