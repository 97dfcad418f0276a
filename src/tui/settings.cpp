// SPDX-License-Identifier: Apache-2.0
#include "tui/settings.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <span>
#include <type_traits>

#include "base/text.hpp"
#include "base/toml_text.hpp"

namespace gpulse::tui {

namespace {

using namespace std::string_view_literals;

// A setting on the setup page "Look", where each has a few values to cycle through.
struct LookRow {
  int place = 0;  // in the page; 0: it is not there
  std::string_view label{};
  std::span<const std::string_view> words{};
  std::size_t (*index)(const Settings &settings) = nullptr;  // of its word
  void (*cycle)(Settings &settings) = nullptr;
};

// All there is to know about one setting.
struct Row {
  std::string_view key;  // in the file
  // Takes the value from the file; returns what is wrong with it.
  std::string (*read)(const toml::node &node, Settings &settings);
  std::string (*write)(const Settings &settings);
  bool (*same)(const Settings &a, const Settings &b);
  void (*copy)(const Settings &from, Settings &to);
  LookRow look{};
};

template <auto... Members>
constexpr Row row(std::string_view key, decltype(Row::read) read, decltype(Row::write) write) {
  return {key, read, write, [](const Settings &a, const Settings &b) { return ((a.*Members == b.*Members) && ...); },
          [](const Settings &from, Settings &to) { ((to.*Members = from.*Members), ...); }};
}

template <auto Member>
constexpr Row choice(std::string_view key, int place, std::string_view label) {
  using Enum = std::remove_cvref_t<decltype(std::declval<Settings>().*Member)>;
  auto made = row<Member>(
      key,
      [](const toml::node &node, Settings &settings) -> std::string {
        const auto found = from_word<Enum>(node.value_or(""sv));
        if (!found) return fmt::format("one of {}", fmt::join(kWords<Enum>, ", "));
        settings.*Member = *found;
        return {};
      },
      [](const Settings &settings) { return fmt::format("\"{}\"", word(settings.*Member)); });
  made.look = {place, label, kWords<Enum>,
               [](const Settings &settings) { return static_cast<std::size_t>(settings.*Member); },
               [](Settings &settings) { cycle(settings.*Member); }};
  return made;
}

template <auto Member>
constexpr Row flag(std::string_view key, int place = 0, std::string_view label = {},
                   std::span<const std::string_view> words = {}) {
  auto made = row<Member>(
      key,
      [](const toml::node &node, Settings &settings) -> std::string {
        if (!node.is_boolean()) return "true or false";
        settings.*Member = node.value_or(false);
        return {};
      },
      [](const Settings &settings) { return fmt::format("{}", settings.*Member); });
  made.look = {place, label, words, [](const Settings &settings) { return static_cast<std::size_t>(settings.*Member); },
               [](Settings &settings) { settings.*Member = !(settings.*Member); }};
  return made;
}

// Calls `take` with each name of a list; it returns what is wrong with the name.
template <class Take>
std::string read_list(const toml::node &node, const Take &take) {
  const auto *array = node.as_array();
  if (array == nullptr) return "a list of names in brackets";
  for (const auto &item : *array) {
    if (auto problem = take(item.value_or(""sv)); !problem.empty()) return problem;
  }
  return {};
}

std::string unknown(std::string_view name) { return fmt::format("\"{}\" is not known", name); }

// Adds a value unless it is there already; no value means that the name is unknown.
template <class Value>
std::string add_once(std::vector<Value> &values, const std::optional<Value> &value, std::string_view name) {
  if (!value) return unknown(name);
  if (std::ranges::find(values, *value) == values.end()) values.push_back(*value);
  return {};
}

template <class Values, class Name>
std::string write_list(const Values &values, const Name &name) {
  std::string text;
  for (const auto &value : values) text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", name(value));
  return "[" + text + "]";
}

std::string read_panels(const toml::node &node, Settings &settings) {
  std::vector<Panel> shown;
  auto problem = read_list(node, [&](std::string_view name) { return add_once(shown, from_word<Panel>(name), name); });
  std::vector<Settings::PanelSetting> panels;
  for (const auto panel : shown) panels.push_back({panel, true});
  for (const auto &each : settings.panels) {
    if (std::ranges::find(shown, each.panel) == shown.end()) panels.push_back({each.panel, false});
  }
  settings.panels = std::move(panels);
  return problem;
}

std::string write_panels(const Settings &settings) {
  std::vector<Panel> shown;
  for (const auto &each : settings.panels) {
    if (each.shown) shown.push_back(each.panel);
  }
  return write_list(shown, word<Panel>);
}

template <auto Plots, Scope Of>
std::string read_plots(const toml::node &node, Settings &settings) {
  (settings.*Plots).clear();
  return read_list(node, [&](std::string_view name) {
    const auto id = find_metric(Of, name);
    if (!id || !can_be_plotted(describe(*id))) return unknown(name);
    if ((settings.*Plots).size() == Settings::kMostPlots) return fmt::format("at most {}", Settings::kMostPlots);
    return add_once(settings.*Plots, id, name);
  });
}

template <auto Plots>
std::string write_plots(const Settings &settings) {
  return write_list(settings.*Plots, [](MetricId id) { return describe(id).key; });
}

std::string read_columns(const toml::node &node, Settings &settings) {
  settings.columns.clear();
  auto problem =
      read_list(node, [&](std::string_view name) { return add_once(settings.columns, column_named(name), name); });
  if (settings.columns.empty()) settings.columns = default_columns();
  return problem;
}

std::string write_columns(const Settings &settings) {
  return write_list(settings.columns, [](const ProcessColumn &column) { return key(column); });
}

std::string read_sort(const toml::node &node, Settings &settings) {
  auto name = node.value_or(""sv);
  const bool ascending = name.starts_with('+');
  const bool descending = name.starts_with('-');
  if (ascending || descending) name.remove_prefix(1);
  const auto column = column_named(name);
  if (!column) return "a column, with + or - before it";
  settings.sort = *column;
  settings.descending = descending || (!ascending && descends(*column));
  return {};
}

std::string write_sort(const Settings &settings) {
  return fmt::format("\"{}{}\"", settings.descending ? '-' : '+', key(settings.sort));
}

// "-power_draw_watts"; numbers and names go up unless a sign says otherwise, as readings go down.
std::string read_device_order(const toml::node &node, Settings &settings) {
  auto name = node.value_or(""sv);
  const bool ascending = name.starts_with('+');
  const bool descending = name.starts_with('-');
  if (ascending || descending) name.remove_prefix(1);
  DeviceOrder order;
  if (const auto id = find_metric(Scope::device, name); id && !is_text(describe(*id))) {
    order = {DeviceOrder::Kind::metric, *id, !ascending};
  } else if (name == "name" || name == "index") {
    order = {name == "name" ? DeviceOrder::Kind::name : DeviceOrder::Kind::number, {}, descending};
  } else {
    return "index, name or a GPU metric, with + or - before it";
  }
  settings.device_order = order;
  return {};
}

std::string write_device_order(const Settings &settings) {
  const auto &order = settings.device_order;
  const auto name = order.kind == DeviceOrder::Kind::metric ? describe(order.metric).key
                    : order.kind == DeviceOrder::Kind::name ? "name"sv
                                                            : "index"sv;
  return fmt::format("\"{}{}\"", order.descending ? '-' : '+', name);
}

std::string read_zoom(const toml::node &node, Settings &settings) {
  const auto value = node.value_or(std::int64_t{0});
  if (value < 1 || value > Settings::kMostZoom) return fmt::format("a number from 1 to {}", Settings::kMostZoom);
  settings.zoom = static_cast<int>(value);
  return {};
}

std::string write_zoom(const Settings &settings) { return fmt::format("{}", settings.zoom); }

constexpr auto kOffOn = make_words("off", "on");
constexpr auto kShownHidden = make_words("shown", "hidden");
constexpr auto kRightLeft = make_words("right", "left");

// In the order in which the file has them.
constexpr std::array kRows{
    row<&Settings::panels>("panels", read_panels, write_panels),
    choice<&Settings::rows>("rows", 2, "GPU lines"),
    row<&Settings::device_order>("gpu_sort", read_device_order, write_device_order),
    choice<&Settings::device_groups>("gpu_groups", 8, "GPU groups"),
    flag<&Settings::hide_idle>("hide_idle_gpus", 9, "idle GPUs", kShownHidden),
    row<&Settings::plots>("plots", read_plots<&Settings::plots, Scope::device>, write_plots<&Settings::plots>),
    row<&Settings::host_plots>("host_plots", read_plots<&Settings::host_plots, Scope::host>,
                               write_plots<&Settings::host_plots>),
    choice<&Settings::plot_mode>("plot_mode", 3, "plots"),
    row<&Settings::zoom>("zoom", read_zoom, write_zoom),
    row<&Settings::columns>("columns", read_columns, write_columns),
    row<&Settings::sort, &Settings::descending>("sort", read_sort, write_sort),
    flag<&Settings::tree>("tree"),
    choice<&Settings::only>("only", 6, "types of processes"),
    choice<&Settings::totals>("totals", 7, "totals"),
    choice<&Settings::theme>("theme", 1, "theme"),
    flag<&Settings::mouse>("mouse", 5, "mouse", kOffOn),
    flag<&Settings::newest_left>("newest_left", 4, "newest value", kRightLeft),
};

// The rows of the setup page "Look".
std::vector<const LookRow *> look_rows() {
  std::vector<const LookRow *> rows;
  for (const auto &each : kRows) {
    if (each.look.place > 0) rows.push_back(&each.look);
  }
  std::ranges::sort(rows, {}, &LookRow::place);
  return rows;
}

std::string leading_comments(std::string_view text) {
  std::string kept;
  while (text.starts_with('#')) {
    const auto end = std::min(text.find('\n'), text.size());
    kept += std::string(text.substr(0, end)) + '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return kept;
}

}  // namespace

bool Settings::shows(Panel panel) const {
  return std::ranges::any_of(panels, [&](const PanelSetting &each) { return each.panel == panel && each.shown; });
}

void Settings::toggle(Panel panel) {
  for (auto &each : panels) {
    if (each.panel == panel) each.shown = !each.shown;
  }
}

bool can_be_plotted(const Metric &metric) {
  const bool scope = metric.scope == Scope::device || metric.scope == Scope::host;
  return scope && metric.kind == Kind::gauge && metric.window != Window::fixed;
}

std::vector<MetricId> plottable_metrics(Scope scope) {
  std::vector<MetricId> ids;
  for_each_metric(scope, [&](MetricId id, const Metric &metric) {
    if (can_be_plotted(metric)) ids.push_back(id);
  });
  return ids;
}

MetricSet focus_of(const Settings &settings) {
  MetricSet focus;
  for (const auto scope : {Scope::process, Scope::host, Scope::core, Scope::self}) {
    for_each_metric(scope, [&](MetricId id, const Metric &) { focus.add(id); });
  }
  for_each_metric(Scope::device, [&](MetricId id, const Metric &metric) {
    const bool shown = metric.rank > 0 || metric.role != Role::none || metric.kind == Kind::set ||
                       std::min(metric.warn, metric.bad) < kNoThreshold;
    if (shown && metric.kind != Kind::counter) focus.add(id);
  });
  focus.add(settings.plots);
  return focus;
}

Settings default_settings() {
  Settings settings;
  settings.panels = {{Panel::devices, true},
                     {Panel::plots, true},
                     {Panel::host, true},
                     {Panel::processes, true},
                     {Panel::events, true}};
  for (const auto role : {Role::utilization, Role::true_activity, Role::memory_bandwidth, Role::memory_used}) {
    if (const auto id = find_role(Scope::device, role)) settings.plots.push_back(*id);
  }
  settings.columns = default_columns();
  settings.sort = column_of(Role::memory_used).value_or(ProcessColumn{});
  return settings;
}

Settings to_remember(const Settings &file, const Settings &began, Settings now) {
  for (const auto &each : kRows) {
    if (each.same(now, began)) each.copy(file, now);
  }
  return now;
}

std::vector<LookItem> look_items(const Settings &settings) {
  std::vector<LookItem> items;
  for (const auto *each : look_rows()) items.push_back({each->label, each->words[each->index(settings)]});
  return items;
}

void cycle_look_item(Settings &settings, std::size_t item) {
  const auto rows = look_rows();
  if (item < rows.size()) rows[item]->cycle(settings);
}

Result<Settings> parse_settings(std::string_view text, std::string_view name) {
  if (const auto line = stray_line(text); line > 0) {
    return failure(fmt::format("{}, line {}: {}", name, line, kStrayText), kStrayRemedy);
  }
  try {
    const auto table = toml::parse(text);
    auto settings = default_settings();
    for (const auto &[key, value] : table) {
      const auto *const found = std::ranges::find(kRows, key.str(), &Row::key);
      const auto problem = found == kRows.end() ? "is no setting" : found->read(value, settings);
      if (!problem.empty()) return failure(fmt::format("{}: {}: {}", name, key.str(), problem));
    }
    return settings;
  } catch (const toml::parse_error &error) {
    return failure(fmt::format("{}, line {}: {}", name, error.source().begin.line, error.description()));
  }
}

std::string write_settings(const Settings &settings, std::string_view before) {
  auto text = leading_comments(before);
  if (text.empty()) text = "# How `gpulse top` looks. Edit it, share it; the keys are explained in docs/top.md.\n";
  for (const auto &each : kRows) text += fmt::format("{} = {}\n", each.key, each.write(settings));
  return text;
}

}  // namespace gpulse::tui
