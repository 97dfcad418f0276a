// SPDX-License-Identifier: Apache-2.0
#include "loader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>

namespace gpulse::sim {
namespace {

std::optional<std::string> slurp(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return std::nullopt;
  }
  std::ostringstream content;
  content << file.rdbuf();
  return std::move(content).str();
}

std::vector<std::string> split(const std::string &line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) {
    cells.push_back(cell);
  }
  return cells;
}

double cell_number(const std::string &cell, bool hex) {
  if (hex) {
    std::uint64_t bits = 0;
    std::from_chars(cell.data(), cell.data() + cell.size(), bits, 16);
    return static_cast<double>(bits);
  }
  double number = 0;  // words, such as a phase's name, read as 0
  std::from_chars(cell.data(), cell.data() + cell.size(), number);
  return number;
}

Trace parse_trace(const std::string &text) {
  Trace trace;
  std::istringstream stream(text);
  std::string line;
  std::getline(stream, line);
  const std::vector<std::string> header = split(line);
  std::vector<std::vector<double>> columns(header.size());
  while (std::getline(stream, line)) {
    const std::vector<std::string> cells = split(line);
    for (std::size_t i = 0; i < std::min(cells.size(), header.size()); ++i) {
      columns[i].push_back(cell_number(cells[i], header[i].ends_with("_hex")));
    }
  }
  if (columns.empty() || columns[0].empty()) {
    return trace;
  }
  const double start = columns[0][0];
  for (const double time : columns[0]) {
    trace.times.push_back(time - start);
  }
  const std::size_t rows = trace.times.size();
  const double step = rows > 1 ? trace.times[rows - 1] - trace.times[rows - 2] : 1;
  trace.period_s = trace.times.back() + std::max(step, 1e-3);
  for (std::size_t i = 1; i < header.size(); ++i) {
    columns[i].resize(rows);
    trace.columns.emplace(header[i], std::move(columns[i]));
  }
  return trace;
}

}  // namespace

void Loader::fail(const Node &node, const std::string &what) {
  if (problem_.empty()) {
    problem_ = file_ + ":" + std::to_string(node.line) + ": " + what;
  }
}

void Loader::members(const Node &table, const std::vector<Rule> &rules,
                     const std::function<bool(const std::string &, const Node &)> &other) {
  if (table.kind != Node::Kind::table) {
    return fail(table, "expected a table");
  }
  for (const Node &node : table.items) {
    const auto rule = std::ranges::find(rules, node.name, &Rule::first);
    if (rule != rules.end()) {
      rule->second(node);
    } else if (!other || !other(node.name, node)) {
      fail(node, "unknown key \"" + node.name + "\"");
    }
  }
}

double Loader::number(const Node &node) {
  if (node.kind != Node::Kind::number && node.kind != Node::Kind::boolean) {
    fail(node, "expected a number");
  }
  return node.number;
}

std::uint32_t Loader::u32(const Node &node) {
  const double value = number(node);
  if (value < 0 || value > 4294967295.0) {
    fail(node, "expected a number from 0 to 4294967295");
    return 0;
  }
  return static_cast<std::uint32_t>(value);
}

std::string Loader::text(const Node &node) {
  if (node.kind != Node::Kind::text) {
    fail(node, "expected a string");
  }
  return node.text;
}

const std::vector<Node> &Loader::items(const Node &node) {
  if (node.kind != Node::Kind::list) {
    fail(node, "expected an array");
  }
  return node.items;
}

std::vector<std::uint32_t> Loader::u32_list(const Node &node) {
  std::vector<std::uint32_t> list;
  for (const Node &item : items(node)) {
    list.push_back(u32(item));
  }
  return list;
}

Span Loader::span_of(const Node &pair) {
  const std::vector<Node> &ends = items(pair);
  if (ends.empty() || ends.size() > 2) {
    fail(pair, "expected [from, until] in seconds");
    return {};
  }
  return {.from_s = number(ends[0]), .until_s = ends.size() == 2 ? number(ends[1]) : kForever};
}

const Series *Loader::keep(Series series) { return &scenario.series.emplace_back(std::move(series)); }

Number Loader::value(const Node &node) {
  switch (node.kind) {
    case Node::Kind::boolean:
    case Node::Kind::number:
      return Number::of(node.number);
    case Node::Kind::text:
      if (node.text == "not supported") {
        return {};
      }
      break;
    case Node::Kind::table:
      return table_value(node);
    case Node::Kind::list:
      break;
  }
  fail(node, "expected a number, \"not supported\", { code }, { steps } or { trace }");
  return {};
}

Number Loader::table_value(const Node &node) {
  Number value{.code = Return::success};
  std::vector<Keyframe> frames;
  std::string path, name;
  bool linear = false;
  double period = 0;
  const auto step = [&](const Node &pair) {
    const std::vector<Node> &ends = items(pair);
    if (ends.size() != 2) {
      return fail(pair, "expected [time, value]");
    }
    if (!frames.empty() && number(ends[0]) <= frames.back().time_s) {
      return fail(pair, "steps must rise in time");
    }
    frames.push_back({.time_s = number(ends[0]), .value = number(ends[1])});
  };
  members(node, {{"code", [&](const Node &n) { value.code = Return{u32(n)}; }},
                 {"steps", [&](const Node &n) { std::ranges::for_each(items(n), step); }},
                 {"linear", [&](const Node &n) { linear = number(n) != 0; }},
                 {"period", [&](const Node &n) { period = number(n); }},
                 {"stagger", [&](const Node &n) { value.shift_s = number(n); }},
                 {"trace", [&](const Node &n) { path = text(n); }},
                 {"column", [&](const Node &n) { name = text(n); }},
                 {"scale", [&](const Node &n) { value.scale = number(n); }}});
  if (!path.empty()) {
    value.series = column(node, path, name);
  } else if (!frames.empty()) {
    value.series = keep(Series(std::move(frames), linear, period));
  } else if (value.code == Return::success) {
    fail(node, "expected steps, trace or code");
  }
  return value;
}

const Trace *Loader::trace(const Node &node, const std::string &path) {
  const std::string full = path.starts_with('/') ? path : origin_.folder + "/" + path;
  const auto known = traces_.find(full);
  if (known != traces_.end()) {
    return &known->second;
  }
  const std::optional<std::string> text = slurp(full);
  if (!text) {
    fail(node, "cannot read trace \"" + path + "\"");
    return nullptr;
  }
  Trace trace = parse_trace(*text);
  if (trace.times.empty()) {
    fail(node, "trace \"" + path + "\" has no rows");
    return nullptr;
  }
  return &traces_.emplace(full, std::move(trace)).first->second;
}

const Series *Loader::column(const Node &node, const std::string &path, const std::string &name) {
  const auto known = columns_.find({path, name});
  if (known != columns_.end()) {
    return known->second;
  }
  const Trace *source = trace(node, path);
  if (source == nullptr) {
    return nullptr;
  }
  const auto values = source->columns.find(name);
  if (values == source->columns.end()) {
    fail(node, "trace \"" + path + "\" has no column \"" + name + "\"");
    return nullptr;
  }
  std::vector<Keyframe> frames;
  for (std::size_t i = 0; i < source->times.size(); ++i) {
    frames.push_back({.time_s = source->times[i], .value = values->second[i]});
  }
  const Series *series = keep(Series(std::move(frames), false, source->period_s));
  columns_.emplace(std::pair(path, name), series);
  return series;
}

std::optional<Node> Loader::data_file(const Node &node, const std::string &relative) {
  const std::optional<std::string> text = slurp(origin_.data + "/" + relative);
  if (!text) {
    fail(node, "no such file: " + relative);
    return std::nullopt;
  }
  std::expected<Node, std::string> document = parse_toml(*text);
  if (!document) {
    if (problem_.empty()) {
      problem_ = relative + ":" + document.error();
    }
    return std::nullopt;
  }
  return std::move(*document);
}

}  // namespace gpulse::sim
