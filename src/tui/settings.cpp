// SPDX-License-Identifier: Apache-2.0
#include "tui/settings.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "base/text.hpp"

namespace gpulse::tui {

namespace {

using namespace std::string_view_literals;

constexpr std::array kPanelWords{"gpus"sv, "plots"sv, "processes"sv, "host"sv, "events"sv};
constexpr std::array kRowWords{"auto"sv, "full"sv, "compact"sv};
constexpr std::array kPlotModeWords{"auto"sv, "per-gpu"sv, "together"sv};
constexpr std::array kOnlyWords{"all"sv, "compute"sv, "graphics"sv};
constexpr std::array kTotalsWords{"off"sv, "user"sv, "job"sv};

template <class Enum, std::size_t N>
std::optional<Enum> find_word(const std::array<std::string_view, N> &words, std::string_view word) {
  const auto *const found = std::ranges::find(words, word);
  if (found == words.end()) return std::nullopt;
  return static_cast<Enum>(found - words.begin());
}

template <std::size_t N>
std::string list_of(const std::array<std::string_view, N> &words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

// Reads one file's keys into settings and remembers the first thing that is wrong.
class Reader {
 public:
  explicit Reader(const toml::table &table) : table_(table) {}

  void read(Settings &settings) {
    for (const auto &[key, value] : table_) {
      if (!take(key.str(), value, settings)) wrong(key.str(), "is no setting");
    }
  }
  const std::string &problem() const { return problem_; }

 private:
  void wrong(std::string_view key, std::string_view what) {
    if (problem_.empty()) problem_ = fmt::format("{}: {}", key, what);
  }

  template <class Enum, std::size_t N>
  void choose(std::string_view key, const toml::node &node, const std::array<std::string_view, N> &words, Enum &out) {
    const auto found = find_word<Enum>(words, node.value_or(""sv));
    found ? void(out = *found) : wrong(key, "one of " + list_of(words));
  }

  void flag(std::string_view key, const toml::node &node, bool &out) {
    node.is_boolean() ? void(out = node.value_or(false)) : wrong(key, "true or false");
  }

  template <class Take>
  void list(std::string_view key, const toml::node &node, Take take) {
    const auto *array = node.as_array();
    if (array == nullptr) return wrong(key, "a list of names in brackets");
    for (const auto &item : *array) {
      const auto name = item.value_or(""sv);
      if (!take(name)) wrong(key, fmt::format("\"{}\" is not known", name));
    }
  }

  void panels(const toml::node &node, Settings &settings) {
    std::vector<Settings::Shown> chosen;
    list("panels", node, [&](std::string_view name) {
      const auto panel = find_word<Panel>(kPanelWords, name);
      if (!panel) return false;
      if (std::ranges::find(chosen, *panel, &Settings::Shown::panel) == chosen.end()) chosen.push_back({*panel, true});
      return true;
    });
    for (const auto &each : settings.panels) {
      if (std::ranges::find(chosen, each.panel, &Settings::Shown::panel) == chosen.end()) {
        chosen.push_back({each.panel, false});
      }
    }
    settings.panels = std::move(chosen);
  }

  void plots(const toml::node &node, Settings &settings) {
    settings.plots.clear();
    list("plots", node, [&](std::string_view name) {
      const auto id = find_metric(Scope::device, name);
      if (!id || !can_be_plotted(describe(*id))) return false;
      if (settings.plots.size() == Settings::kMostPlots) {
        wrong("plots", fmt::format("at most {}", Settings::kMostPlots));
      } else if (std::ranges::find(settings.plots, *id) == settings.plots.end()) {
        settings.plots.push_back(*id);
      }
      return true;
    });
  }

  void columns(const toml::node &node, Settings &settings) {
    settings.columns.clear();
    list("columns", node, [&](std::string_view name) {
      const auto column = column_named(name);
      if (column && std::ranges::find(settings.columns, *column) == settings.columns.end()) {
        settings.columns.push_back(*column);
      }
      return column.has_value();
    });
    if (settings.columns.empty()) settings.columns = default_columns();
  }

  void sort(const toml::node &node, Settings &settings) {
    auto name = node.value_or(""sv);
    const bool ascending = name.starts_with('+');
    const bool descending = name.starts_with('-');
    if (ascending || descending) name.remove_prefix(1);
    const auto column = column_named(name);
    if (!column) return wrong("sort", "a column, with + or - before it");
    settings.sort = *column;
    settings.descending = descending || (!ascending && descends(*column));
  }

  void theme(const toml::node &node, Settings &settings) {
    const auto found = theme_named(node.value_or(""sv));
    found ? void(settings.theme = *found) : wrong("theme", "one of dark, light, colour-blind, mono");
  }

  void zoom(const toml::node &node, Settings &settings) {
    const auto value = node.value_or(std::int64_t{0});
    if (value < 1 || value > Settings::kMostZoom) {
      return wrong("zoom", fmt::format("a number from 1 to {}", Settings::kMostZoom));
    }
    settings.zoom = static_cast<int>(value);
  }

  bool take(std::string_view key, const toml::node &node, Settings &settings) {
    if (key == "panels") return panels(node, settings), true;
    if (key == "rows") return choose(key, node, kRowWords, settings.rows), true;
    if (key == "plots") return plots(node, settings), true;
    if (key == "plot_mode") return choose(key, node, kPlotModeWords, settings.plot_mode), true;
    if (key == "zoom") return zoom(node, settings), true;
    if (key == "columns") return columns(node, settings), true;
    if (key == "sort") return sort(node, settings), true;
    if (key == "tree") return flag(key, node, settings.tree), true;
    if (key == "only") return choose(key, node, kOnlyWords, settings.only), true;
    if (key == "totals") return choose(key, node, kTotalsWords, settings.totals), true;
    if (key == "theme") return theme(node, settings), true;
    if (key == "mouse") return flag(key, node, settings.mouse), true;
    if (key == "newest_left") return flag(key, node, settings.newest_left), true;
    return false;
  }

  const toml::table &table_;
  std::string problem_;
};

std::string quoted_list(const std::vector<std::string_view> &names) {
  return names.empty() ? "[]" : fmt::format("[\"{}\"]", fmt::join(names, "\", \""));
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

std::string_view word(Panel panel) { return kPanelWords[static_cast<std::size_t>(panel)]; }
std::string_view word(DeviceRows rows) { return kRowWords[static_cast<std::size_t>(rows)]; }
std::string_view word(PlotMode mode) { return kPlotModeWords[static_cast<std::size_t>(mode)]; }
std::string_view word(OnlyType type) { return kOnlyWords[static_cast<std::size_t>(type)]; }
std::string_view word(Totals totals) { return kTotalsWords[static_cast<std::size_t>(totals)]; }

bool Settings::shows(Panel panel) const {
  return std::ranges::any_of(panels, [&](const Shown &each) { return each.panel == panel && each.shown; });
}

void Settings::toggle(Panel panel) {
  for (auto &each : panels) {
    if (each.panel == panel) each.shown = !each.shown;
  }
}

bool can_be_plotted(const Metric &metric) {
  return metric.scope == Scope::device && metric.kind == Kind::gauge && metric.window != Window::fixed;
}

std::vector<MetricId> plottable_metrics() {
  std::vector<MetricId> ids;
  for_each_metric(Scope::device, [&](MetricId id, const Metric &metric) {
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
  const auto keep = [&](auto... members) {
    const bool untouched = (std::equal_to<>()(now.*members, began.*members) && ...);
    if (untouched) ((now.*members = file.*members), ...);
  };
  keep(&Settings::panels);
  keep(&Settings::rows);
  keep(&Settings::plots);
  keep(&Settings::plot_mode);
  keep(&Settings::zoom);
  keep(&Settings::columns);
  keep(&Settings::sort, &Settings::descending);
  keep(&Settings::tree);
  keep(&Settings::only);
  keep(&Settings::totals);
  keep(&Settings::theme);
  keep(&Settings::mouse);
  keep(&Settings::newest_left);
  return now;
}

Result<Settings> parse_settings(std::string_view text, std::string_view name) {
  try {
    const auto table = toml::parse(text);
    auto settings = default_settings();
    Reader reader(table);
    reader.read(settings);
    if (!reader.problem().empty()) return failure(fmt::format("{}: {}", name, reader.problem()));
    return settings;
  } catch (const toml::parse_error &error) {
    return failure(fmt::format("{}, line {}: {}", name, error.source().begin.line, error.description()));
  }
}

std::string write_settings(const Settings &settings, std::string_view before) {
  std::vector<std::string_view> panels;
  std::vector<std::string_view> plots;
  std::vector<std::string_view> columns;
  for (const auto &each : settings.panels) {
    if (each.shown) panels.push_back(word(each.panel));
  }
  for (const auto id : settings.plots) plots.push_back(describe(id).key);
  for (const auto &column : settings.columns) columns.push_back(key(column));
  auto comments = leading_comments(before);
  if (comments.empty())
    comments = "# How `gpulse top` looks. Edit it, share it; the keys are explained in docs/top.md.\n";
  return comments + fmt::format(
                        "panels = {}\nrows = \"{}\"\nplots = {}\nplot_mode = \"{}\"\nzoom = {}\ncolumns = {}\n"
                        "sort = \"{}{}\"\ntree = {}\nonly = \"{}\"\ntotals = \"{}\"\ntheme = \"{}\"\nmouse = {}\n"
                        "newest_left = {}\n",
                        quoted_list(panels), word(settings.rows), quoted_list(plots), word(settings.plot_mode),
                        settings.zoom, quoted_list(columns), settings.descending ? '-' : '+', key(settings.sort),
                        settings.tree, word(settings.only), word(settings.totals), word(settings.theme), settings.mouse,
                        settings.newest_left);
}

}  // namespace gpulse::tui
