// SPDX-License-Identifier: Apache-2.0
#include "smi/xml_tree.hpp"

#include <map>
#include <vector>

#include "base/text.hpp"
#include "smi/value.hpp"

namespace gpulse::smi {

namespace {

constexpr std::size_t kLongestName = 128;

// What the document says at the paths of a row.
struct Found {
  enum class What : std::uint8_t { absent, text, elements };
  What what = What::absent;
  std::string_view text;
};

// The tables' paths as a tree of names, made once for each table.
struct Branch {
  std::map<std::string, Branch, std::less<>> below;
  struct Target {
    std::size_t row, path;
  };
  std::vector<Target> targets;
};

Branch make_tree(std::span<const XmlRow> rows) {
  Branch root;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t path = 0; path < kMostPaths; ++path) {
      if (rows[row].paths[path].empty()) break;
      auto *branch = &root;
      for (const auto name : split(rows[row].paths[path], '/')) branch = &branch->below[std::string(name)];
      branch->targets.push_back({row, path});
    }
  }
  return root;
}

const Branch &tree_of(std::span<const XmlRow> rows) {
  static const Branch kDevice = make_tree(xml_rows::kDevice);
  static const Branch kInstance = make_tree(xml_rows::kInstance);
  return rows.data() == xml_rows::kDevice.data() ? kDevice : kInstance;
}

using AllFound = std::vector<std::array<Found, kMostPaths>>;

// "N/A" in place of elements is said of all of them.
void found_above(const Branch &branch, std::string_view text, AllFound &all) {
  for (const auto &[name, below] : branch.below) {
    for (const auto &[row, path] : below.targets) {
      if (all[row][path].what == Found::What::absent) all[row][path] = {Found::What::text, text};
    }
    found_above(below, text, all);
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
    for (const auto &[row, path] : at->second.targets) {
      auto &found = all[row][path];
      // An element that is there twice: the first counts.
      if (found.what != Found::What::absent) continue;
      found = text ? Found{Found::What::text, *text} : Found{Found::What::elements, {}};
    }
    if (at->second.below.empty()) continue;
    if (text && !trim(*text).empty() && reason_in(*text)) found_above(at->second, *text, all);
    walk(child, at->second, all);
  }
}

Reading number_of(const XmlRow &row, const std::array<Found, kMostPaths> &all) {
  std::optional<Reading> first;
  for (const auto &found : all) {
    if (found.what == Found::What::absent) continue;
    const auto reading =
        found.what == Found::What::text ? read_number(row.metric, found.text, {}, row.base) : Reading(Reason::error);
    if (reading) return reading;
    if (!first) first = reading;
  }
  return first.value_or(Reason::not_supported);
}

TextReading text_of(const std::array<Found, kMostPaths> &all) {
  TextReading first = Reason::not_supported;
  for (const auto &found : all) {
    if (found.what == Found::What::absent) continue;
    auto reading = found.what == Found::What::text ? read_text(found.text) : TextReading(Reason::error);
    if (reading) return reading;
    if (first.reason() == Reason::not_supported) first = std::move(reading);
  }
  return first;
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

void fill_device(pugi::xml_node node, std::span<const XmlRow> rows, Row &row, TextRow &texts, DeviceDetails &details) {
  AllFound all(rows.size());
  walk(node, tree_of(rows), all);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto id = rows[i].metric;
    const bool detail = describe(id).scope == Scope::detail;
    if (is_text(describe(id))) {
      (detail ? details.texts : texts)[id] = text_of(all[i]);
    } else {
      (detail ? details.row : row)[id] = number_of(rows[i], all[i]);
    }
  }
}

}  // namespace gpulse::smi
