// SPDX-License-Identifier: Apache-2.0
#include "tui/list_commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "tui/menu.hpp"
#include "tui/process_panel.hpp"
#include "tui/prompt.hpp"
#include "tui/session.hpp"
#include "view/cell.hpp"

namespace gpulse::tui {

namespace {

void sort_this_way(Session &session, const ProcessColumn &column, bool descending) {
  session.settings.sort = column;
  session.settings.descending = descending;
  session.processes.scroll_to_chosen = true;
  session.refresh();
}

// A prompt whose text is a query that takes effect with every letter; while it cannot be parsed, nothing changes, and
// if it is left so, what was before holds again.
void open_query_prompt(Session &session, std::string question, Query ProcessTable::*query,
                       void (*changed)(Session &session), void (*done)(Session &session)) {
  const auto change = [query, changed](Session &on, const std::string &text) -> std::string {
    auto parsed = Query::parse(text);
    if (!parsed) return parsed.error().line();
    on.processes.*query = std::move(*parsed);
    changed(on);
    on.refresh();
    return {};
  };
  const auto finish = [query, done, before = session.processes.*query](Session &on, const std::string &text) {
    if (!Query::parse(text)) {
      on.processes.*query = before;
      on.refresh();
    }
    done(on);
  };
  session.open(std::make_unique<Prompt>(std::move(question), (session.processes.*query).text(), change, finish));
}

}  // namespace

void move_rows(Session &session, std::ptrdiff_t by) {
  auto &table = session.processes;
  session.devices.is_newest = false;
  const auto row = static_cast<std::ptrdiff_t>(table.chosen_row.value_or(0)) + by;
  table.choose(table.chosen_row ? static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, row)) : table.first);
  table.scroll_to_chosen = true;
}

void move_pages(Session &session, std::ptrdiff_t by) { move_rows(session, by * std::max(1, session.processes.page)); }

void choose_first(Session &session) {
  session.devices.is_newest = false;
  session.processes.choose(0);
  session.processes.scroll_to_chosen = true;
}

void choose_last(Session &session) {
  session.devices.is_newest = false;
  session.processes.choose(session.processes.list.rows.size());
  session.processes.scroll_to_chosen = true;
}

void scroll_processes(Session &session, const term::MouseEvent &wheel) {
  scroll_by_wheel(session.processes.first, wheel, static_cast<std::size_t>(std::max(1, session.processes.page)));
}

void open_search(Session &session) {
  open_query_prompt(
      session, "search:", &ProcessTable::search, [](Session &on) { on.processes.jump_to_match(true, true); },
      [](Session &on) {
        const auto &table = on.processes;
        if (!table.search.empty() && !table.anything_matches()) on.say("nothing matches " + table.search.text());
      });
}

void open_filter(Session &session) {
  open_query_prompt(session, "filter:", &ProcessTable::filter, [](Session &) {}, [](Session &) {});
}

void next_match(Session &session) {
  if (session.processes.search.empty()) return session.say("nothing is searched for: / starts a search");
  session.processes.jump_to_match(true);
}

void previous_match(Session &session) {
  if (session.processes.search.empty()) return sort_by(session, {ProcessColumn::Kind::pid});
  session.processes.jump_to_match(false);
}

void open_user_menu(Session &session) {
  if (session.snapshot == nullptr) return;
  std::set<std::string> users;
  for (const auto &process : session.snapshot->processes) {
    if (const auto user = view::text_by_role(process.texts.get(), Role::user); !user.empty()) users.emplace(user);
  }
  Menu menu{.title = "Processes of", .items = {{"everybody"}}};
  for (const auto &user : users) menu.items.push_back({term::clean(user, session.options.unicode)});
  session.open(std::make_unique<MenuDialogue>(std::move(menu), [](Session &on, const Menu &chosen) {
    const auto &user = chosen.items[chosen.at].label;
    on.processes.filter = chosen.at == 0 ? Query() : Query::parse("user:" + user).value_or(Query());
    on.refresh();
  }));
}

void clear(Session &session) {
  auto &table = session.processes;
  if (!table.search.empty()) {
    table.search = {};
  } else if (!table.tagged.empty()) {
    table.tagged.clear();
  } else if (!table.filter.empty() || (session.settings.only != OnlyType::all && !session.options.goes_back)) {
    // What is remembered from another day holds nobody back from going back.
    table.filter = {};
    session.settings.only = OnlyType::all;
  } else if (session.devices.chosen) {
    session.devices.chosen.reset();
  } else if (table.chosen_row) {
    table.chosen.reset();
  } else if (session.options.goes_back) {
    session.requests.quit = true;
  } else {
    session.say("q quits");
  }
  session.refresh();
}

void next_type(Session &session) {
  cycle(session.settings.only);
  session.refresh();
}

void next_totals(Session &session) {
  cycle(session.settings.totals);
  session.processes.first = 0;
  session.refresh();
}

void toggle_tree(Session &session) {
  session.settings.tree = !session.settings.tree;
  session.settings.totals = Totals::off;
  session.processes.scroll_to_chosen = true;
  session.refresh();
}

void toggle_children(Session &session) {
  const auto *process = session.processes.chosen_process();
  if (process == nullptr) return session.say("choose a process first");
  if (session.options.replay || session.options.elsewhere || session.playback.in_the_past()) {
    return session.say("what a process had started is not recorded", true);
  }
  auto &unfolded = session.processes.unfolded;
  const auto pid = process->pid;
  const bool opened = unfolded.erase(pid) == 0;
  if (opened) {
    unfolded.insert(pid);
    session.host_processes.look(session.now);
    if (session.host_processes.below(pid).empty()) session.say(fmt::format("{} has started no other process", pid));
  }
  session.refresh();
}

void toggle_follow(Session &session) {
  auto &table = session.processes;
  if (!table.follow && table.chosen_line() == nullptr) return session.say("choose a process to follow first");
  table.follow = !table.follow;
  table.scroll_to_chosen = true;
  session.refresh();
}

void tag(Session &session) {
  auto &tagged = session.processes.tagged;
  if (const auto *process = session.processes.chosen_process()) {
    if (tagged.erase(process->pid) == 0) tagged.emplace(process->pid, process->start_ticks);
  }
  move_rows(session, 1);
  session.refresh();
}

void untag_all(Session &session) {
  session.processes.tagged.clear();
  session.refresh();
}

void open_sort_menu(Session &session) {
  Menu menu{.title = "Sort by", .items = {}};
  for (const auto &column : session.settings.columns) {
    if (column == session.settings.sort) menu.at = menu.items.size();
    menu.items.push_back({fmt::format("{:<10}", label(column)), std::string(help(column))});
  }
  session.open(std::make_unique<MenuDialogue>(std::move(menu), [](Session &on, const Menu &chosen) {
    const auto &columns = on.settings.columns;
    if (chosen.at < columns.size() && on.settings.sort != columns[chosen.at]) sort_by(on, columns[chosen.at]);
  }));
}

void sort_by(Session &session, const ProcessColumn &column) {
  const bool same = session.settings.sort == column;
  sort_this_way(session, column, same ? !session.settings.descending : descends(column));
}

void sort_by(Session &session, Role role) {
  if (const auto column = column_of(role)) sort_by(session, *column);
}

void sort_by_neighbour(Session &session, int by) {
  const auto columns = shown_columns(session.processes.list, session.settings);
  if (columns.empty()) return;
  const auto at = std::ranges::find(columns, session.settings.sort);
  const auto count = static_cast<int>(columns.size());
  const int place = at == columns.end() ? (by > 0 ? -1 : 0) : static_cast<int>(at - columns.begin());
  const auto &column = columns[static_cast<std::size_t>((place + by + count) % count)];
  sort_this_way(session, column, descends(column));
}

void sort_by_letter(Session &session, const term::KeyPress &key) {
  struct Letter {
    char32_t letter;
    std::optional<ProcessColumn> column;
  };
  const std::array letters{Letter{U'n', ProcessColumn{ProcessColumn::Kind::device}},
                           Letter{U'p', ProcessColumn{ProcessColumn::Kind::pid}},
                           Letter{U'u', column_of(Role::user)},
                           Letter{U'g', column_of(Role::memory_used)},
                           Letter{U's', column_of(Role::utilization)},
                           Letter{U'b', column_of(Role::memory_bandwidth)},
                           Letter{U'c', column_of(Role::cpu)},
                           Letter{U'm', column_of(Role::host_memory)},
                           Letter{U't', column_of(Role::age)}};
  const bool capital = key.character >= U'A' && key.character <= U'Z';
  const auto letter = capital ? key.character + 32 : key.character;
  const auto *const found = std::ranges::find(letters, letter, &Letter::letter);
  if (key.key != term::Key::character || found == letters.end() || !found->column) return;
  sort_this_way(session, *found->column, descends(*found->column) != capital);
}

void set_descending(Session &session, bool descending) {
  session.settings.descending = descending;
  session.refresh();
}

}  // namespace gpulse::tui
