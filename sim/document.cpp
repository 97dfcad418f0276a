// SPDX-License-Identifier: Apache-2.0
#include "document.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include <toml++/toml.h>
#pragma GCC diagnostic pop

namespace gpulse::sim {
namespace {

Node plain(const toml::node &source);

void fill_scalar(const toml::node &source, Node &node) {
  if (const auto *text = source.as_string()) {
    node.kind = Node::Kind::text;
    node.text = text->get();
  } else if (const auto *integer = source.as_integer()) {
    node.kind = Node::Kind::number;
    node.number = static_cast<double>(integer->get());
  } else if (const auto *real = source.as_floating_point()) {
    node.kind = Node::Kind::number;
    node.number = real->get();
  } else if (const auto *truth = source.as_boolean()) {
    node.kind = Node::Kind::boolean;
    node.number = truth->get() ? 1 : 0;
  } else {
    node.kind = Node::Kind::text;  // dates: nothing here takes one, so it fails as the wrong type
  }
}

Node plain(const toml::node &source) {
  Node node;
  node.line = source.source().begin.line;
  if (const auto *list = source.as_array()) {
    node.kind = Node::Kind::list;
    for (const toml::node &item : *list) {
      node.items.push_back(plain(item));
    }
  } else if (const auto *table = source.as_table()) {
    for (const auto &[key, value] : *table) {
      Node member = plain(value);
      member.line = key.source().begin.line;
      member.name = key.str();
      node.items.push_back(std::move(member));
    }
  } else {
    fill_scalar(source, node);
  }
  return node;
}

}  // namespace

std::expected<Node, std::string> parse_toml(std::string_view text) {
  try {
    return plain(toml::parse(text));
  } catch (const toml::parse_error &error) {
    return std::unexpected(std::to_string(error.source().begin.line) + ": " + std::string(error.description()));
  }
}

}  // namespace gpulse::sim
