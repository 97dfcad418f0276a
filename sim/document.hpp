// SPDX-License-Identifier: Apache-2.0
// A TOML document as a plain tree that remembers its lines; keeps the TOML library in one translation unit.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace gpulse::sim {

struct Node {
  enum class Kind : std::uint8_t { boolean, number, text, list, table };

  Kind kind = Kind::table;
  std::uint32_t line = 0;
  double number = 0;  // also 0 or 1 for a boolean
  std::string text;
  std::string name;         // its key, in a table
  std::vector<Node> items;  // of a list or a table

  [[nodiscard]] const Node *find(std::string_view key) const {
    for (const Node &item : items) {
      if (item.name == key) {
        return &item;
      }
    }
    return nullptr;
  }
};

// The error is "LINE: what is wrong", without the file's name.
std::expected<Node, std::string> parse_toml(std::string_view text);

}  // namespace gpulse::sim
