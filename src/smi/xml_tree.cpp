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
  int order = 0;           // of those with the same rank
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
  std::optional<std::size_t> row;  // its number in the table
  std::string_view told;
};

class Tree {
 public:
  Tree(std::span<const LogRow> rows, std::span<const ReadOnlyElement> read_only) : rows_(rows.size()) {
    add(rows);
    for (const auto &element : read_only) {
      for (int i = 0; i < static_cast<int>(element.paths.size()); ++i) {
        const auto path = element.paths[static_cast<std::size_t>(i)];
        if (path.empty()) continue;
        auto *branch = &root_;
        for (const auto name : split(path, '/')) branch = &branch->below[std::string(name)];
        add(*branch, {.metric = element.metric, .form = element.form, .rank = kSecond, .order = i});
      }
    }
    for (std::size_t i = 0; i < elements_.size(); ++i) order_.push_back(i);
    const auto key = [&](std::size_t i) {
      const auto &element = elements_[i];
      return std::tuple(element.metric.index, element.rank, element.order, i);
    };
    std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  }

  const Branch &root() const { return root_; }
  std::size_t rows() const { return rows_; }
  const std::vector<Element> &elements() const { return elements_; }
  // Sorted by metric, then by rank.
  const std::vector<std::size_t> &order() const { return order_; }

 private:
  static constexpr int kOlder = 1, kSecond = 2, kLast = 3;

  static int rank_of(const LogRow &row) {
    if (row.read_last) return kLast;
    return row.last_schema < kNewestSchema || row.as_logged ? kOlder : 0;
  }

  void add(std::span<const LogRow> rows) {
    std::vector<Branch *> above{&root_};  // by depth
    const auto top = rows.front().depth;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto &row = rows[i];
      // A row below a value is indented in the text, but not nested in XML.
      above.resize(std::min(above.size(), std::size_t{1} + row.depth - top));
      auto &branch = above.back()->below[element_name(row)];
      branch.row = i;
      if (row.kind == RowKind::group || row.kind == RowKind::folded) above.push_back(&branch);
      branch.told = row.told;
      // Left to fill_event_reasons, which also counts reasons that are not in the table.
      if (row.kind != RowKind::value || !row.metric || row.metric == device_metric("throttle_reasons")) continue;
      add(branch, {.metric = *row.metric, .form = row.form_in_xml(), .mask = row.mask, .rank = rank_of(row)});
    }
  }
  void add(Branch &branch, const Element &element) {
    branch.elements.push_back(elements_.size());
    elements_.push_back(element);
  }

  Branch root_;
  std::size_t rows_;
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

void walk(pugi::xml_node node, const Branch &branch, AllFound &all, DeviceDetails &details) {
  for (const auto child : node.children()) {
    if (child.type() != pugi::node_element) continue;
    const std::string_view name(child.name());
    if (name.size() > kLongestName) continue;
    const auto at = branch.below.find(name);
    if (at == branch.below.end()) continue;
    const auto text = plain_text(child);
    if (at->second.row) details.logged->rows[*at->second.row] = true;
    if (text && !at->second.told.empty()) details.told.try_emplace(at->second.told, short_text(*text));
    for (const auto element : at->second.elements) {
      auto &found = all[element];
      // If an element is repeated, the first one counts.
      if (found.what != Found::What::absent) continue;
      found = text ? Found{Found::What::text, *text} : Found{Found::What::elements, {}};
    }
    if (at->second.below.empty()) continue;
    if (text && !trim(*text).empty() && reason_in(*text)) found_in_place_of(at->second, *text, all);
    walk(child, at->second, all, details);
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
    // Some texts are empty, such as the serial number of a chassis.
    if (found.what == Found::What::text && trim(found.text).empty()) now = std::string();
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

std::string element_name(const LogRow &row) {
  return row.tag.empty() ? "text:" + lower(row.label) : std::string(row.tag);
}

void fill_device(pugi::xml_node node, const LogForm &log, XmlPart part, Row &row, TextRow &texts,
                 DeviceDetails &details) {
  const auto &tree = tree_of(part);
  AllFound all(tree.elements().size());
  details.logged = log;
  details.logged->rows.assign(tree.rows(), false);
  walk(node, tree.root(), all, details);
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
