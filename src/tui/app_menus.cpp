// SPDX-License-Identifier: Apache-2.0
// The menus and the setup screen.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <set>

#include "tui/app.hpp"
#include "view/cell.hpp"

namespace gpulse::tui {

namespace {

constexpr std::array kLookItems{"theme", "GPU lines", "plots", "newest value", "mouse", "types of processes", "totals"};

std::string column_label(const ProcessColumn &column) { return fmt::format("{:<10}", label(column)); }

}  // namespace

void App::open_sort_menu() {
  Menu menu{.title = "Sort by", .items = {}};
  for (const auto &column : settings_.columns) {
    if (column == settings_.sort) menu.at = menu.items.size();
    menu.items.push_back({column_label(column), std::string(help(column))});
  }
  menu_ = std::move(menu);
  menu_for_ = MenuFor::sort;
}

void App::open_signal_menu() {
  Menu menu{.title = "Send signal", .items = {}};
  for (int number = 1; number < 32; ++number) {
    const char *name = ::sigabbrev_np(number);
    const char *text = ::sigdescr_np(number);
    if (number == SIGTERM) menu.at = menu.items.size();
    menu.items.push_back(
        {fmt::format("{:>2} SIG{}", number, name != nullptr ? name : "?"), text != nullptr ? text : ""});
  }
  menu_ = std::move(menu);
  menu_for_ = MenuFor::signal;
}

void App::open_user_menu() {
  if (current_ == nullptr) return;
  std::set<std::string> users;
  for (const auto &process : current_->processes) {
    if (const auto user = view::text_by_role(process.texts.get(), Role::user); !user.empty()) users.emplace(user);
  }
  Menu menu{.title = "Processes of", .items = {{"everybody"}}};
  for (const auto &user : users) menu.items.push_back({term::clean(user, options_.unicode)});
  menu_ = std::move(menu);
  menu_for_ = MenuFor::user;
}

Menu App::make_columns_menu() const {
  Menu menu{.title = "Columns", .items = {}, .checks = true, .ordered = true};
  for (const auto &column : settings_.columns)
    menu.items.push_back({std::string(key(column)), std::string(help(column)), true});
  for (const auto &column : all_columns()) {
    if (std::ranges::find(settings_.columns, column) == settings_.columns.end()) {
      menu.items.push_back({std::string(key(column)), std::string(help(column))});
    }
  }
  return menu;
}

Menu App::make_plots_menu() const {
  Menu menu{
      .title = fmt::format("Plots (at most {})", Settings::kMostPlots), .items = {}, .checks = true, .ordered = true};
  for (const auto id : settings_.plots)
    menu.items.push_back({std::string(describe(id).key), std::string(describe(id).help), true});
  for (const auto id : plottable_metrics()) {
    const bool chosen = std::ranges::find(settings_.plots, id) != settings_.plots.end();
    // What no device here has would stay empty.
    const bool there = current_ == nullptr || std::ranges::any_of(current_->devices, [&](const Device &device) {
                         return !device.row[id].is(Reason::not_supported);
                       });
    if (!chosen && there) menu.items.push_back({std::string(describe(id).key), std::string(describe(id).help)});
  }
  return menu;
}

Menu App::make_panels_menu() const {
  Menu menu{.title = "Panels", .items = {}, .checks = true, .ordered = true};
  for (const auto &each : settings_.panels) menu.items.push_back({std::string(word(each.panel)), "", each.shown});
  return menu;
}

Menu App::make_look_menu() const {
  Menu menu{.title = "Look", .items = {}};
  const std::array<std::string_view, kLookItems.size()> values{
      word(settings_.theme),          word(settings_.rows),
      word(settings_.plot_mode),      settings_.newest_left ? "left" : "right",
      settings_.mouse ? "on" : "off", word(settings_.only),
      word(settings_.totals)};
  for (std::size_t i = 0; i < kLookItems.size(); ++i) menu.items.push_back({kLookItems[i], std::string(values[i])});
  return menu;
}

void App::open_columns_menu() {
  menu_ = make_columns_menu();
  menu_for_ = MenuFor::columns;
}

void App::open_plots_menu() {
  menu_ = make_plots_menu();
  menu_for_ = MenuFor::plots;
}

void App::take_columns(const Menu &menu) {
  std::vector<ProcessColumn> columns;
  for (const auto &item : menu.items) {
    if (const auto column = column_named(item.label); column && item.checked) columns.push_back(*column);
  }
  // A list without columns would show nothing to bring them back by.
  settings_.columns = columns.empty() ? default_columns() : std::move(columns);
  refresh();
}

// False: there were too many, and the last one is taken back.
bool App::take_plots(Menu &menu) {
  std::vector<MetricId> plots;
  for (const auto &item : menu.items) {
    if (const auto id = find_metric(Scope::device, item.label); id && item.checked) plots.push_back(*id);
  }
  if (plots.size() > Settings::kMostPlots) {
    menu.items[menu.at].checked = false;
    return false;
  }
  settings_.plots = std::move(plots);
  changed_ = true;
  return true;
}

void App::take_panels(const Menu &menu) {
  std::vector<Settings::Shown> panels;
  for (const auto &item : menu.items) {
    for (const auto &each : settings_.panels) {
      if (word(each.panel) == item.label) panels.push_back({each.panel, item.checked});
    }
  }
  settings_.panels = std::move(panels);
  changed_ = true;
}

void App::turn_look(std::size_t item) {
  const auto turn = [](auto &value, int count) {
    value = static_cast<std::remove_reference_t<decltype(value)>>((static_cast<int>(value) + 1) % count);
  };
  switch (item) {
    case 0:
      turn(settings_.theme, static_cast<int>(kThemes.size()));
      break;
    case 1:
      turn(settings_.rows, 3);
      break;
    case 2:
      turn(settings_.plot_mode, 3);
      break;
    case 3:
      settings_.newest_left = !settings_.newest_left;
      break;
    case 4:
      settings_.mouse = !settings_.mouse;
      break;
    case 5:
      turn(settings_.only, 3);
      break;
    default:
      turn(settings_.totals, 3);
      break;
  }
  refresh();
}

void App::open_setup() {
  setup_ = {make_panels_menu(), make_plots_menu(), make_columns_menu(), make_look_menu()};
  setup_page_ = std::min<std::size_t>(setup_page_, setup_.size() - 1);
  view_ = View::setup;
}

void App::menu_chosen(Monotonic now) {
  const auto at = menu_->at;
  const auto purpose = menu_for_;
  const auto text = menu_->items[at].label;
  menu_.reset();
  if (purpose == MenuFor::sort && at < settings_.columns.size()) {
    if (settings_.sort != settings_.columns[at]) sort_by(settings_.columns[at]);
  } else if (purpose == MenuFor::signal) {
    ask_signal(static_cast<int>(at) + 1, now);
  } else if (purpose == MenuFor::user) {
    auto query = at == 0 ? Query() : Query::parse("user:" + text).value_or(Query());
    filter_ = std::move(query);
    refresh();
  }
}

void App::menu_changed(Monotonic now) {
  if (menu_for_ == MenuFor::columns) {
    take_columns(*menu_);
  } else if (menu_for_ == MenuFor::plots && !take_plots(*menu_)) {
    say(fmt::format("at most {} at once", Settings::kMostPlots), now);
  }
}

}  // namespace gpulse::tui
