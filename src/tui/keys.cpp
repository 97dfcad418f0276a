// SPDX-License-Identifier: Apache-2.0
#include "tui/keys.hpp"

#include <algorithm>
#include <array>
#include <csignal>

#include "base/text.hpp"
#include "tui/details_page.hpp"
#include "tui/device_commands.hpp"
#include "tui/event_page.hpp"
#include "tui/finding_list.hpp"
#include "tui/help_page.hpp"
#include "tui/host_process_page.hpp"
#include "tui/key_names.hpp"
#include "tui/labels.hpp"
#include "tui/list_commands.hpp"
#include "tui/process_commands.hpp"
#include "tui/screen_commands.hpp"
#include "tui/session.hpp"
#include "tui/setting_menus.hpp"
#include "tui/setup_page.hpp"

namespace gpulse::tui {

namespace {

constexpr int kSideways = 4;
constexpr int kFarRight = 100'000;
constexpr auto kJump = std::chrono::seconds(60);

constexpr std::array kProcesses{
    Binding{"Up k Alt-k Shift-Tab", "choose the process above", [](Session &s) { move_rows(s, -1); }, InDetails::moves},
    Binding{"Down j Alt-j Tab", "choose the process below", [](Session &s) { move_rows(s, 1); }, InDetails::moves},
    Binding{"PgUp Alt-K Ctrl-B", "a page up", [](Session &s) { move_pages(s, -1); }, InDetails::moves},
    Binding{"PgDn Alt-J Ctrl-F", "a page down", [](Session &s) { move_pages(s, 1); }, InDetails::moves},
    Binding{"Home", "the first process", choose_first, InDetails::moves},
    Binding{"End G", "the last process", choose_last, InDetails::moves},
    Binding{"Left Alt-h", "scroll the commands to the left",
            [](Session &s) { s.processes.scroll_commands(-kSideways); }, InDetails::moves},
    Binding{"Right l Alt-l", "scroll the commands to the right",
            [](Session &s) { s.processes.scroll_commands(kSideways); }, InDetails::moves},
    Binding{"Ctrl-A ^", "the start of the commands", [](Session &s) { s.processes.shift = 0; }, InDetails::moves},
    Binding{"Ctrl-E $", "the end of the commands", [](Session &s) { s.processes.scroll_commands(kFarRight); },
            InDetails::moves},
    Binding{"Enter",
            "everything about the process or the GPU, with its plots",
            open_chosen,
            InDetails::ignored,
            {7, "Details"}},
    Binding{"e", "its environment variables", open_environment, InDetails::closes},
    Binding{"F", "keep the chosen process in sight", toggle_follow},
    Binding{"t", "tree: processes below their parents", toggle_tree, InDetails::ignored, {6, "Tree"}},
    Binding{"J", "the job behind it: its children with CPU, state and IO", toggle_children},
    Binding{"v V", "totals per user, then per job", next_totals, InDetails::ignored, {12, "Totals"}},
};

constexpr std::array kFind{
    Binding{"/ F3", "search and jump; regular expressions", open_search, InDetails::ignored, {3, "Search"}},
    Binding{"n", "the next match", next_match},
    Binding{"N", "the match before; without a search: sort by PID", previous_match},
    Binding{"\\ F4",
            "show only what matches: user:ann gpu:0,2-3 type:c cpu>50 train.*",
            open_filter,
            InDetails::ignored,
            {4, "Filter"}},
    Binding{"u", "only one user's processes", open_user_menu},
    Binding{"x", "all, only compute, only graphics", next_type},
    Binding{"Esc", "leave search, filter and tags", clear},
};

constexpr std::array kSort{
    Binding{"s F6", "choose what to sort by", open_sort_menu, InDetails::ignored, {5, "Sort"}},
    Binding{", <", "sort by the column before", [](Session &s) { sort_by_neighbour(s, -1); }},
    Binding{". >", "sort by the next column", [](Session &s) { sort_by_neighbour(s, 1); }},
    Binding{"i", "the other way round", [](Session &s) { set_descending(s, !s.settings.descending); }},
    Binding{"M", "sort by GPU memory", [](Session &s) { sort_by(s, Role::memory_used); }},
    Binding{"P", "sort by CPU", [](Session &s) { sort_by(s, Role::cpu); }},
    Binding{"o",
            "then n p u g s b c m t: sort by GPU, PID, user, memory, use, bandwidth, CPU, host memory, time; a capital "
            "letter the other way round",
            [](Session &s) { s.processes.sort_letter_next = true; }},
    Binding{"C", "choose the columns", open_columns_menu},
};

constexpr std::array kAct{
    Binding{"Space", "tag the process and go on; signals go to all that are tagged", tag},
    Binding{"U", "untag all", untag_all},
    Binding{"K F9", "choose a signal to send; asks first", open_signal_menu, InDetails::works, {8, "Signal"}},
    Binding{"I Ctrl-C", "interrupt (SIGINT); asks first. Ctrl-C without a chosen process quits",
            [](Session &s) { ask_signal(s, SIGINT); }, InDetails::works},
    Binding{"T", "terminate (SIGTERM); asks first", [](Session &s) { ask_signal(s, SIGTERM); }, InDetails::works},
    Binding{"X", "kill (SIGKILL); asks first", [](Session &s) { ask_signal(s, SIGKILL); }, InDetails::works},
    Binding{"] F7", "a higher priority (nice - 1)", [](Session &s) { renice(s, -1); }, InDetails::works},
    Binding{"[ F8", "a lower priority (nice + 1)", [](Session &s) { renice(s, 1); }, InDetails::works},
};

constexpr std::array kScreen{
    Binding{"1", "show or hide the GPUs", [](Session &s) { s.settings.toggle(Panel::devices); }},
    Binding{"2", "show or hide the plots", [](Session &s) { s.settings.toggle(Panel::plots); }},
    Binding{"3", "show or hide the processes", [](Session &s) { s.settings.toggle(Panel::processes); }},
    Binding{"4", "show or hide the host", [](Session &s) { s.settings.toggle(Panel::host); }},
    Binding{"5", "show or hide the events", [](Session &s) { s.settings.toggle(Panel::events); }},
    Binding{"D", "what is wrong: evidence, and what to try", open_findings, InDetails::closes},
    Binding{"E", "what happened: all events, and what to do about one", open_events, InDetails::closes},
    Binding{"O", "the busiest other processes of the machine", open_host_processes, InDetails::closes},
    Binding{"=", "what the labels mean: one after the other", open_label_line, InDetails::works},
    Binding{"b", "the next GPU: its plots, its processes marked", [](Session &s) { choose_device(s, 1); }},
    Binding{"B", "the GPU before", [](Session &s) { choose_device(s, -1); }},
    Binding{"#", "sort the GPUs by a column", open_device_sort_menu},
    Binding{"@", "the GPUs by user, then by job", next_device_groups},
    Binding{"0", "hide or show idle GPUs", toggle_idle_devices},
    Binding{"a", "as many lines per GPU as there is room for",
            [](Session &s) { s.settings.rows = DeviceRows::automatic; }},
    Binding{"f", "two lines per GPU", [](Session &s) { s.settings.rows = DeviceRows::full; }},
    Binding{"c", "one line per GPU", [](Session &s) { s.settings.rows = DeviceRows::compact; }},
    Binding{"d", "choose what is plotted", open_plots_menu, InDetails::works, {11, "Plots"}},
    Binding{"m", "a plot per GPU, or all GPUs in each plot", toggle_plots_together, InDetails::works},
    Binding{";", "the plots of the next GPUs", [](Session &s) { next_plots(s, 1); }},
    Binding{":", "the plots of the GPUs before", [](Session &s) { next_plots(s, -1); }},
    Binding{"z", "plots: less time, more detail", zoom_in, InDetails::works},
    Binding{"Z", "plots: more time", zoom_out, InDetails::works},
    Binding{"+", "a longer time between samples", [](Session &s) { change_interval(s, 1); }, InDetails::works},
    Binding{"-", "a shorter time between samples", [](Session &s) { change_interval(s, -1); }, InDetails::works},
    Binding{"w", "the next theme", next_theme, InDetails::works, {13, "Theme"}},
    Binding{"y", "mouse on or off (off: the terminal selects text)", toggle_mouse},
    Binding{"S F2", "setup: panels, plots, columns, look", open_setup, InDetails::ignored, {9, "Setup"}},
    Binding{"W F12", "save the setup now (it is also saved at the end)", [](Session &s) { s.requests.save = true; }},
    Binding{"r R Ctrl-R Ctrl-L F5", "draw everything again", [](Session &s) { s.requests.redraw = true; },
            InDetails::works},
    Binding{"? h H F1", "this help", open_help, InDetails::closes, {1, "Help"}},
    Binding{"q Q F10", "quit", [](Session &s) { s.requests.quit = true; }, InDetails::ignored, {2, kQuitText}},
};

constexpr std::array kTime{
    Binding{"p",
            "pause, and go on",
            [](Session &s) { s.playback.toggle_pause(s.now); },
            InDetails::works,
            {10, "Pause"},
            {1, "Pause/Play"}},
    Binding{
        "( Shift-Left", "one sample back", [](Session &s) { s.playback.step(-1); }, InDetails::works, {}, {2, "Back"}},
    Binding{") Shift-Right",
            "one sample forward",
            [](Session &s) { s.playback.step(1); },
            InDetails::works,
            {},
            {3, "Forward"}},
    Binding{"{ Ctrl-Left",
            "a minute back",
            [](Session &s) { s.playback.jump(-kJump); },
            InDetails::works,
            {},
            {4, "-1 min"}},
    Binding{"} Ctrl-Right",
            "a minute forward",
            [](Session &s) { s.playback.jump(kJump); },
            InDetails::works,
            {},
            {5, "+1 min"}},
    Binding{"g", "go to a time: 14:03:20, -5m, start, end", open_time_prompt, InDetails::works, {}, {6, "Go to"}},
    Binding{"L",
            "back to now (in a recording: to its end)",
            [](Session &s) { s.playback.go_to_end(); },
            InDetails::works,
            {},
            {7, "Now"}},
};

constexpr std::array kSections{
    Section{"Processes", kProcesses}, Section{"Find", kFind}, Section{"Sort", kSort}, Section{"Act", kAct},
    Section{"Screen", kScreen},       Section{"Time", kTime},
};

constexpr std::array kHabits{
    Habit{"nvtop",
          "h scrolls to the left there: here Left; Esc quits there: here q; + and - turn the sort there: here i"},
    Habit{"nvitop", "/ reverses the sort there: here i; k kills there: here X (nothing is sent unasked)"},
    Habit{"htop", "F5 is the tree there: here t; k signals there: here K; I inverts there: here i; T is time: here ot"},
};

struct Bound {
  term::KeyPress key;
  const Binding *binding;
};

std::vector<Bound> bind_all() {
  std::vector<Bound> all;
  for (const auto &section : kSections) {
    for (const auto &binding : section.bindings) {
      for (const auto name : split_words(binding.keys)) {
        if (const auto key = parse_key(name)) all.push_back({*key, &binding});
      }
    }
  }
  return all;
}

// Help and how to leave come first, whatever goes on; what is for this moment next.
int bar_order(const Binding &binding, bool time) {
  constexpr int kAlwaysFirst = 2, kLater = 100;
  if (!time || (binding.bar.order > 0 && binding.bar.order <= kAlwaysFirst)) return binding.bar.order;
  if (binding.time_bar.order > 0) return kAlwaysFirst + binding.time_bar.order;
  return binding.bar.order > 0 ? kLater + binding.bar.order : 0;
}

std::vector<KeyHint> make_hints(bool time) {
  std::vector<const Binding *> shown;
  for (const auto &section : kSections) {
    for (const auto &binding : section.bindings) {
      if (bar_order(binding, time) > 0) shown.push_back(&binding);
    }
  }
  std::ranges::sort(shown, {}, [&](const Binding *binding) { return bar_order(*binding, time); });
  std::vector<KeyHint> hints;
  for (const auto *each : shown) {
    const auto text = time && each->time_bar.order > 0 ? each->time_bar.text : each->bar.text;
    hints.push_back({each->keys.substr(0, each->keys.find(' ')), text, each->run});
  }
  return hints;
}

}  // namespace

std::span<const Section> key_sections() { return kSections; }
std::span<const Habit> clashing_habits() { return kHabits; }

const Binding *binding_for(const term::KeyPress &key) {
  static const auto kBound = bind_all();
  const auto found = std::ranges::find(kBound, key, &Bound::key);
  return found == kBound.end() ? nullptr : found->binding;
}

const Binding *page_binding(const term::KeyPress &key) {
  const auto *binding = binding_for(key);
  const auto is_in = [&](std::span<const Binding> all) {
    return std::ranges::any_of(all, [&](const Binding &each) { return &each == binding; });
  };
  if (binding == nullptr || (!is_in(kScreen) && !is_in(kTime))) return nullptr;
  return binding->in_details == InDetails::ignored ? nullptr : binding;
}

const std::vector<KeyHint> &table_hints(bool time) {
  static const auto kHints = make_hints(false);
  static const auto kTimeHints = make_hints(true);
  return time ? kTimeHints : kHints;
}

}  // namespace gpulse::tui
