// SPDX-License-Identifier: Apache-2.0
// Shared by the scenario's readers: the first problem found, typed access to nodes, values and recorded traces.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "document.hpp"
#include "scenario.hpp"

namespace gpulse::sim {

struct Trace {
  std::vector<double> times;
  std::map<std::string, std::vector<double>, std::less<>> columns;
  double period_s = 0;
};

class Loader {
 public:
  using Rule = std::pair<std::string_view, std::function<void(const Node &)>>;

  Loader(Scenario &target, Origin origin) : scenario(target), origin_(std::move(origin)), file_(origin_.file) {}

  void fail(const Node &node, const std::string &what);
  [[nodiscard]] bool failed() const { return !problem_.empty(); }
  [[nodiscard]] const std::string &problem() const { return problem_; }

  // Walks a table; a member no rule names goes to `other`, which says whether it knew it.
  void members(const Node &table, const std::vector<Rule> &rules,
               const std::function<bool(const std::string &, const Node &)> &other = {});

  double number(const Node &node);
  std::uint32_t u32(const Node &node);
  std::string text(const Node &node);
  std::vector<std::uint32_t> u32_list(const Node &node);
  Span span_of(const Node &pair);
  const std::vector<Node> &items(const Node &node);
  // A constant, "not supported", { code }, { steps } or { trace }. The shift is the stagger per device index.
  Number value(const Node &node);

  const Trace *trace(const Node &node, const std::string &path);
  const Series *column(const Node &node, const std::string &path, const std::string &name);

  // A file of the shipped data, e.g. profiles/h200.toml; problems inside it are reported under its own name.
  std::optional<Node> data_file(const Node &node, const std::string &relative);
  template <class Body>
  void within(const std::string &file, Body &&body) {
    const std::string outer = std::exchange(file_, file);
    body();
    file_ = outer;
  }

  Scenario &scenario;

 private:
  Number table_value(const Node &node);
  const Series *keep(Series series);

  Origin origin_;
  std::string file_, problem_;
  std::map<std::string, Trace> traces_;
  std::map<std::pair<std::string, std::string>, const Series *> columns_;
};

// The readers of the parts of a scenario.
void read_driver(Loader &loader, const Node &table);
void read_devices(Loader &loader, const Node &list);
void read_processes(Loader &loader, const Node &list);
void read_faults(Loader &loader, const Node &list);
void read_events(Loader &loader, const Node &list);
void read_topology(Loader &loader, const Node &table);
void read_cost(Loader &loader, const Node &table);

// "535.54" and 535 alike, as major * 1000 + minor.
std::uint32_t driver_number(const std::string &version);
std::optional<std::uint32_t> gpm_metric(std::string_view name);

}  // namespace gpulse::sim
