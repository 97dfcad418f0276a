// SPDX-License-Identifier: Apache-2.0
#include "view/grafana.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/json_writer.hpp"
#include "insight/tally.hpp"
#include "metric/table.hpp"
#include "view/families.hpp"
#include "view/json_indent.hpp"

namespace gpulse::view {

namespace {

constexpr std::string_view kChosen = R"({instance=~"$host",gpu=~"$gpu"})";
constexpr std::string_view kHost = R"({instance=~"$host"})";
constexpr int kWide = 24, kHigh = 8, kStatHigh = 4;

struct Target {
  std::string expression, legend;
};

struct Panel {
  std::string kind;  // Grafana's: "timeseries", "stat", "table"
  std::string title;
  std::string unit;  // Grafana's
  std::vector<Target> targets;
  int width = kWide / 2;
  std::string description{};
};

std::string unit_word(Unit unit) {
  switch (unit) {
    case Unit::percent:
      return "percentunit";
    case Unit::bytes:
    case Unit::bits:
      return "bytes";
    case Unit::bytes_per_second:
      return "Bps";
    case Unit::watts:
      return "watt";
    case Unit::joules:
      return "joule";
    case Unit::celsius:
      return "celsius";
    case Unit::mhz:
      return "hertz";
    case Unit::seconds:
      return "s";
    case Unit::rpm:
      return "rotrpm";
    case Unit::volts:
      return "volt";
    case Unit::per_second:
      return "cps";
    case Unit::none:
      break;
  }
  return "short";
}

class Board {
 public:
  Board(std::string &out, const PageContents &contents) : json_(out), contents_(contents) {}

  void write();

 private:
  void variables();
  void variable(std::string_view name, std::string_view label, const std::string &query);
  void source();
  void overview();
  void between_scrapes();
  void group(Group group);
  void row(std::string_view title);
  void panel(const Panel &panel);
  void target(const Target &target, std::size_t number, bool is_table);
  void place(int width, int height);
  void end_line();

  JsonWriter json_;
  const PageContents &contents_;
  int number_ = 0, x_ = 0, y_ = 0, line_ = 0;
};

void Board::source() {
  json_.key("datasource");
  json_.begin_object();
  json_.member("type", "prometheus");
  json_.member("uid", "${datasource}");
  json_.end_object();
}

void Board::variable(std::string_view name, std::string_view label, const std::string &query) {
  json_.begin_object();
  json_.member("name", name);
  json_.member("label", label);
  json_.member("type", "query");
  source();
  json_.member("query", query);
  json_.member("definition", query);
  json_.member("refresh", 2);
  json_.member("sort", 3);
  json_.member("multi", true);
  json_.member("includeAll", true);
  json_.member("allValue", ".*");
  json_.key("current");
  json_.begin_object();
  json_.member("text", "All");
  json_.member("value", "$__all");
  json_.end_object();
  json_.end_object();
}

void Board::variables() {
  json_.key("templating");
  json_.begin_object();
  json_.key("list");
  json_.begin_array();
  json_.begin_object();
  json_.member("name", "datasource");
  json_.member("label", "data source");
  json_.member("type", "datasource");
  json_.member("query", "prometheus");
  json_.end_object();
  variable("host", "host", fmt::format("label_values({}, instance)", families::kGpus));
  variable("gpu", "GPU", fmt::format("label_values({}{}, gpu)", families::kInfo, kHost));
  json_.end_array();
  json_.end_object();
}

void Board::end_line() {
  y_ += line_;
  x_ = line_ = 0;
}

void Board::place(int width, int height) {
  if (x_ + width > kWide) end_line();
  json_.member("id", ++number_);
  json_.key("gridPos");
  json_.begin_object();
  json_.member("x", x_);
  json_.member("y", y_);
  json_.member("w", width);
  json_.member("h", height);
  json_.end_object();
  x_ += width;
  line_ = std::max(line_, height);
}

void Board::row(std::string_view title) {
  end_line();
  json_.begin_object();
  json_.member("type", "row");
  json_.member("title", title);
  json_.member("collapsed", false);
  place(kWide, 1);
  json_.key("panels");
  json_.begin_array();
  json_.end_array();
  json_.end_object();
  end_line();
}

void Board::target(const Target &target, std::size_t number, bool is_table) {
  json_.begin_object();
  json_.member("refId", fmt::format("Q{}", number));
  source();
  json_.member("expr", target.expression);
  json_.member("legendFormat", target.legend);
  if (is_table) {
    json_.member("instant", true);
    json_.member("format", "table");
  }
  json_.end_object();
}

void Board::panel(const Panel &panel) {
  json_.begin_object();
  json_.member("type", panel.kind);
  json_.member("title", panel.title);
  if (!panel.description.empty()) json_.member("description", panel.description);
  place(panel.width, panel.kind == "stat" ? kStatHigh : kHigh);
  source();
  json_.key("fieldConfig");
  json_.begin_object();
  json_.key("defaults");
  json_.begin_object();
  json_.member("unit", panel.unit);
  json_.end_object();
  json_.key("overrides");
  json_.begin_array();
  json_.end_array();
  json_.end_object();
  json_.key("targets");
  json_.begin_array();
  for (std::size_t i = 0; i < panel.targets.size(); ++i) target(panel.targets[i], i, panel.kind == "table");
  json_.end_array();
  json_.end_object();
}

void Board::overview() {
  row("What is wrong");
  const auto stat = [&](std::string title, std::string expression) {
    panel({.kind = "stat",
           .title = std::move(title),
           .unit = "short",
           .targets = {{std::move(expression), ""}},
           .width = kWide / 4});
  };
  stat("GPUs", fmt::format("sum({}{})", families::kGpus, kHost));
  stat("not well",
       fmt::format(R"(sum({}{{instance=~"$host",state=~"lost|not responding"}}) or vector(0))", families::kState));
  stat("findings", fmt::format("count({}{}) or vector(0)", families::kFinding, kHost));
  stat("agents without samples", fmt::format("count({}{} == 0) or vector(0)", families::kUp, kHost));
  panel({.kind = "table",
         .title = "findings",
         .unit = "short",
         .targets = {{fmt::format("{}{}", families::kFinding, kHost), ""}}});
  panel({.kind = "table",
         .title = "driver errors (XIDs)",
         .unit = "short",
         .targets = {{fmt::format("{}{}", families::kXids, kChosen), ""}}});
  panel({.kind = "timeseries",
         .title = "GPU time lost to findings",
         .unit = "percentunit",
         .targets = {{fmt::format("sum by (finding) (rate({}{}[$__rate_interval]))", families::kFindingLost, kHost),
                      "{{finding}}"}}});
  panel({.kind = "table",
         .title = "who holds the GPUs",
         .unit = "short",
         .targets = {{fmt::format("{}{}", families::kOwner, kHost), ""}}});
}

// Counters and peaks: what a gauge that is looked at every minute misses.
void Board::between_scrapes() {
  row("Between scrapes");
  for (const auto id : insight::totalled()) {
    if (!contents_.metrics.contains(id)) continue;
    const auto total = total_of(describe(id));
    const bool is_set = key_of(id).kind == Kind::set;
    const bool is_share = total.unit == Unit::seconds;
    panel({.kind = "timeseries",
           .title = fmt::format("{}, per second", prometheus_name(total)),
           .unit =
               is_share ? "percentunit" : unit_word(total.unit == Unit::joules ? Unit::watts : Unit::bytes_per_second),
           .targets = {{fmt::format("rate({}{}[$__rate_interval])", prometheus_name(total), kChosen),
                        is_set ? "{{instance}} {{gpu}} {{reason}}" : "{{instance}} {{gpu}}"}},
           .width = kWide / 3,
           .description = std::string(total.help)});
  }
  for (const auto id : insight::peaked()) {
    if (!contents_.peaks.contains(id)) continue;
    const auto peak = peak_of(describe(id));
    panel({.kind = "timeseries",
           .title = prometheus_name(peak),
           .unit = unit_word(peak.unit),
           .targets = {{fmt::format("{}{}", prometheus_name(peak), kChosen), "{{instance}} {{gpu}}"}},
           .width = kWide / 3,
           .description = fmt::format("{}: the highest of the last minute", peak.help)});
  }
}

// A panel for each unit in the group, of what is worth keeping.
void Board::group(Group group) {
  std::vector<Panel> panels;
  for_each_metric(Scope::device, [&](MetricId id, const Metric &metric) {
    if (!contents_.metrics.contains(id)) return;
    const bool is_kept = kept(metric) == Kept::fold || kept(metric) == Kept::range;
    if (metric.group != group || !is_kept || (metric.kind != Kind::gauge && metric.kind != Kind::counter)) return;
    const bool counts = metric.kind == Kind::counter;
    const auto unit = unit_word(counts && metric.unit == Unit::joules ? Unit::watts : metric.unit);
    auto place = std::ranges::find(panels, unit, &Panel::unit);
    if (place == panels.end()) {
      panels.push_back({.kind = "timeseries", .title = std::string(word(group)), .unit = unit, .targets = {}});
      place = panels.end() - 1;
    }
    const auto name = prometheus_name(metric) + std::string(kChosen);
    place->targets.push_back({counts ? fmt::format("rate({}[$__rate_interval])", name) : name,
                              fmt::format("{{{{instance}}}} {{{{gpu}}}} {}", metric.label)});
    place->description += fmt::format("{}{}: {}.", place->description.empty() ? "" : " ", metric.label, metric.help);
  });
  if (panels.empty()) return;
  row(word(group));
  for (const auto &one : panels) panel(one);
}

void Board::write() {
  json_.begin_object();
  json_.member("uid", "gpulse");
  json_.member("title", "GPUs (gpulse)");
  json_.member("schemaVersion", 36);
  json_.member("editable", true);
  json_.member("refresh", "30s");
  json_.key("time");
  json_.begin_object();
  json_.member("from", "now-1h");
  json_.member("to", "now");
  json_.end_object();
  variables();
  json_.key("panels");
  json_.begin_array();
  overview();
  std::vector<Group> groups;
  for_each_metric(Scope::device, [&](MetricId, const Metric &metric) {
    if (std::ranges::find(groups, metric.group) == groups.end()) groups.push_back(metric.group);
  });
  for (const auto one : groups) group(one);
  between_scrapes();
  json_.end_array();
  json_.end_object();
}

}  // namespace

std::string grafana_dashboard(const PageContents &contents) {
  std::string out;
  Board(out, contents).write();
  return indent_json(out);
}

}  // namespace gpulse::view
