// SPDX-License-Identifier: Apache-2.0
#include "tui/keys.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace gpulse::tui {

namespace {

using term::Key;
using term::KeyPress;

constexpr std::array kProcesses{
    Binding{Action::up, "Up k Alt-k Shift-Tab", "choose the process above"},
    Binding{Action::down, "Down j Alt-j Tab", "choose the process below"},
    Binding{Action::page_up, "PgUp Alt-K Ctrl-B", "a page up"},
    Binding{Action::page_down, "PgDn Alt-J Ctrl-F", "a page down"},
    Binding{Action::first, "Home", "the first process"},
    Binding{Action::last, "End G", "the last process"},
    Binding{Action::scroll_left, "Left Alt-h", "scroll the commands to the left"},
    Binding{Action::scroll_right, "Right l Alt-l", "scroll the commands to the right"},
    Binding{Action::row_start, "Ctrl-A ^", "the start of the commands"},
    Binding{Action::row_end, "Ctrl-E $", "the end of the commands"},
    Binding{Action::details, "Enter", "everything about the process, with its plots"},
    Binding{Action::environment, "e", "its environment variables"},
    Binding{Action::follow, "F", "keep the chosen process in sight"},
    Binding{Action::tree, "t", "tree: processes below their parents"},
    Binding{Action::totals, "v V", "totals per user, then per job"},
};

constexpr std::array kFind{
    Binding{Action::search, "/ F3", "search and jump; regular expressions"},
    Binding{Action::next_match, "n", "the next match"},
    Binding{Action::previous_match, "N", "the match before; without a search: sort by PID"},
    Binding{Action::filter, "\\ F4", "show only what matches: user:ann gpu:0,2-3 type:c cpu>50 train.*"},
    Binding{Action::user, "u", "only one user's processes"},
    Binding{Action::only_type, "x", "all, only compute, only graphics"},
    Binding{Action::clear, "Esc", "leave search, filter and tags"},
};

constexpr std::array kSort{
    Binding{Action::sort_menu, "s F6", "choose what to sort by"},
    Binding{Action::sort_previous, ", <", "sort by the column before"},
    Binding{Action::sort_next, ". >", "sort by the next column"},
    Binding{Action::sort_invert, "i", "the other way round"},
    Binding{Action::sort_ascending, "+", "ascending"},
    Binding{Action::sort_descending, "-", "descending"},
    Binding{Action::sort_memory, "M", "sort by GPU memory"},
    Binding{Action::sort_cpu, "P", "sort by CPU"},
    Binding{Action::sort_chord, "o",
            "then n p u g s b c m t: sort by GPU, PID, user, memory, use, bandwidth, CPU, host memory, time; a capital "
            "letter the other way round"},
    Binding{Action::columns, "C", "choose the columns"},
};

constexpr std::array kAct{
    Binding{Action::tag, "Space", "tag the process and go on; signals go to all that are tagged"},
    Binding{Action::untag, "U", "untag all"},
    Binding{Action::signal_menu, "K F9", "choose a signal to send; asks first"},
    Binding{Action::interrupt, "I Ctrl-C", "interrupt (SIGINT); asks first. Ctrl-C without a chosen process quits"},
    Binding{Action::terminate, "T", "terminate (SIGTERM); asks first"},
    Binding{Action::kill, "X", "kill (SIGKILL); asks first"},
    Binding{Action::less_nice, "] F7", "a higher priority (nice - 1)"},
    Binding{Action::nicer, "[ F8", "a lower priority (nice + 1)"},
};

constexpr std::array kScreen{
    Binding{Action::panel_devices, "1", "show or hide the GPUs"},
    Binding{Action::panel_plots, "2", "show or hide the plots"},
    Binding{Action::panel_processes, "3", "show or hide the processes"},
    Binding{Action::panel_host, "4", "show or hide the host"},
    Binding{Action::panel_events, "5", "show or hide the events"},
    Binding{Action::next_device, "b", "the next GPU: its plots, its processes marked"},
    Binding{Action::previous_device, "B", "the GPU before"},
    Binding{Action::layout_auto, "a", "as many lines per GPU as there is room for"},
    Binding{Action::layout_full, "f", "two lines per GPU"},
    Binding{Action::layout_compact, "c", "one line per GPU"},
    Binding{Action::plots_menu, "d", "choose what is plotted"},
    Binding{Action::plots_together, "m", "a plot per GPU, or all GPUs in each plot"},
    Binding{Action::zoom_in, "z", "plots: less time, more detail"},
    Binding{Action::zoom_out, "Z", "plots: more time"},
    Binding{Action::theme, "w", "the next theme"},
    Binding{Action::mouse, "y", "mouse on or off (off: the terminal selects text)"},
    Binding{Action::setup, "S F2", "setup: panels, plots, columns, look"},
    Binding{Action::save, "W F12", "save the setup now (it is also saved at the end)"},
    Binding{Action::redraw, "r R Ctrl-R Ctrl-L F5", "draw everything again"},
    Binding{Action::help, "? h H F1", "this help"},
    Binding{Action::quit, "q Q F10", "quit"},
};

constexpr std::array kTime{
    Binding{Action::pause, "p", "pause, and go on"},
    Binding{Action::step_back, "( Shift-Left", "one sample back"},
    Binding{Action::step_forward, ") Shift-Right", "one sample forward"},
    Binding{Action::jump_back, "{ Ctrl-Left", "a minute back"},
    Binding{Action::jump_forward, "} Ctrl-Right", "a minute forward"},
    Binding{Action::go_to_time, "g", "go to a time: 14:03:20, -5m, start, end"},
    Binding{Action::live, "L", "back to now (in a recording: to its end)"},
};

constexpr std::array kSections{
    Section{"Processes", kProcesses}, Section{"Find", kFind}, Section{"Sort", kSort}, Section{"Act", kAct},
    Section{"Screen", kScreen},       Section{"Time", kTime},
};

constexpr std::array kHabits{
    Habit{"nvtop", "h scrolls to the left there: here Left; Esc quits there: here q"},
    Habit{"nvitop", "/ reverses the sort there: here i; k kills there: here X (nothing is sent unasked)"},
    Habit{"htop", "F5 is the tree there: here t; k signals there: here K; I inverts there: here i; T is time: here ot"},
};

struct NamedKey {
  std::string_view name;
  Key key;
};
constexpr std::array kNamed{
    NamedKey{"Enter", Key::enter},  NamedKey{"Esc", Key::escape},
    NamedKey{"Tab", Key::tab},      NamedKey{"Backspace", Key::backspace},
    NamedKey{"Del", Key::remove},   NamedKey{"Ins", Key::insert},
    NamedKey{"Up", Key::up},        NamedKey{"Down", Key::down},
    NamedKey{"Left", Key::left},    NamedKey{"Right", Key::right},
    NamedKey{"Home", Key::home},    NamedKey{"End", Key::end},
    NamedKey{"PgUp", Key::page_up}, NamedKey{"PgDn", Key::page_down},
    NamedKey{"F1", Key::f1},        NamedKey{"F2", Key::f2},
    NamedKey{"F3", Key::f3},        NamedKey{"F4", Key::f4},
    NamedKey{"F5", Key::f5},        NamedKey{"F6", Key::f6},
    NamedKey{"F7", Key::f7},        NamedKey{"F8", Key::f8},
    NamedKey{"F9", Key::f9},        NamedKey{"F10", Key::f10},
    NamedKey{"F11", Key::f11},      NamedKey{"F12", Key::f12},
};

bool take_prefix(std::string_view &name, std::string_view prefix) {
  if (!name.starts_with(prefix) || name.size() == prefix.size()) return false;
  name.remove_prefix(prefix.size());
  return true;
}

struct Bound {
  KeyPress key;
  Action action;
};

std::vector<Bound> bind_all() {
  std::vector<Bound> all;
  for (const auto &section : kSections) {
    for (const auto &binding : section.bindings) {
      std::string_view rest = binding.keys;
      while (!rest.empty()) {
        const auto end = std::min(rest.find(' '), rest.size());
        if (const auto key = parse_key(rest.substr(0, end))) all.push_back({*key, binding.action});
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
  }
  return all;
}

}  // namespace

std::span<const Section> key_sections() { return kSections; }
std::span<const Habit> clashing_habits() { return kHabits; }

std::optional<KeyPress> parse_key(std::string_view name) {
  KeyPress press;
  for (bool more = true; more;) {
    more = false;
    if (take_prefix(name, "Ctrl-")) more = press.ctrl = true;
    if (take_prefix(name, "Alt-")) more = press.alt = true;
    if (take_prefix(name, "Shift-")) more = press.shift = true;
  }
  const auto *const found = std::ranges::find(kNamed, name, &NamedKey::name);
  if (found != kNamed.end()) {
    press.key = found->key;
    return press;
  }
  if (name == "Space") name = " ";
  if (name.size() != 1) return std::nullopt;
  char letter = name.front();
  if (press.ctrl && letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  press.character = static_cast<unsigned char>(letter);
  return press;
}

std::string key_name(const KeyPress &press) {
  std::string name;
  if (press.ctrl) name += "Ctrl-";
  if (press.alt) name += "Alt-";
  if (press.shift) name += "Shift-";
  if (press.key != Key::character) {
    return name + std::string(std::ranges::find(kNamed, press.key, &NamedKey::key)->name);
  }
  if (press.character == U' ') return name + "Space";
  const char32_t letter =
      press.ctrl && press.character >= U'a' && press.character <= U'z' ? press.character - 32 : press.character;
  return name + (letter < 128 ? static_cast<char>(letter) : '?');
}

std::optional<Action> action_for(const KeyPress &key) {
  static const auto kBound = bind_all();
  const auto found = std::ranges::find(kBound, key, &Bound::key);
  if (found == kBound.end()) return std::nullopt;
  return found->action;
}

}  // namespace gpulse::tui
