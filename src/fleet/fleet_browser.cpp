// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_browser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/moment.hpp"
#include "fleet/fleet_text.hpp"
#include "term/width.hpp"

namespace gpulse::fleet {

namespace {

using namespace std::chrono_literals;
using term::Colour;
using term::Key;
using term::KeyPress;

constexpr std::size_t kLongestTyped = 512;
constexpr auto kSlow = 2s;  // an answer that takes longer is told of
constexpr std::chrono::seconds kStep = 5min, kLongStep = 1h;

bool is_quoted(std::string_view text) { return text.contains(' ') || text.contains('\t'); }

// Blank-separated, but for blanks between quotes, which are left out.
std::vector<std::string> pieces_of(std::string_view text) {
  std::vector<std::string> pieces;
  std::string piece;
  bool is_open = false;
  for (const char letter : text) {
    if (letter == '"') {
      is_open = !is_open;
    } else if (!is_open && (letter == ' ' || letter == '\t')) {
      if (!piece.empty()) pieces.push_back(std::exchange(piece, {}));
    } else {
      piece += letter;
    }
  }
  if (!piece.empty()) pieces.push_back(std::move(piece));
  return pieces;
}

void erase_last_letter(std::string &text) {
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U) text.pop_back();
  if (!text.empty()) text.pop_back();
}

// So that it stands for this name alone.
std::string as_pattern(std::string_view name) {
  std::string pattern;
  for (const char letter : name) {
    const bool is_special = letter == '*' || letter == '?' || letter == '[';
    pattern += is_special ? fmt::format("[{}]", letter) : std::string(1, letter);
  }
  return pattern;
}

struct KeyHelp {
  std::string_view keys, what;
};
constexpr std::array kKeys{
    KeyHelp{"Enter", "open: a group's hosts, a host in the live view"},
    KeyHelp{"Esc Backspace", "back"},
    KeyHelp{"Up Down k j", "choose a line; also PgUp, PgDn, Home, End"},
    KeyHelp{"b B", "group by the next of host, cluster, user, job, account, pod,"},
    KeyHelp{"", "model; or by the one before"},
    KeyHelp{"s S", "sort by the next of health, waste, use, name; or the one before"},
    KeyHelp{"w", "sort by waste"},
    KeyHelp{"/ f", "filter: user=ann host=node1* state=lost, or any word"},
    KeyHelp{"x", "no filter"},
    KeyHelp{"t", "show another time: 01:00, yesterday 18:00, -3h, now"},
    KeyHelp{"Left Right", "5 minutes earlier, later; with Shift an hour"},
    KeyHelp{"n", "now, and from now on"},
    KeyHelp{"q F10 Ctrl-C", "quit"},
};

template <class Enum>
Enum next_of(Enum value, std::size_t count, std::ptrdiff_t by) {
  const auto all = static_cast<std::ptrdiff_t>(count);
  return static_cast<Enum>((static_cast<std::ptrdiff_t>(value) + by + all) % all);
}

}  // namespace

Result<std::vector<FleetFilter>> parse_fleet_filters(std::string_view text) {
  std::vector<FleetFilter> filters;
  for (const auto &piece : pieces_of(text)) {
    const bool is_plain = !piece.contains('=');
    auto filter = parse_fleet_filter(is_plain ? fmt::format("{}={}", kFilterAny, piece) : piece);
    if (!filter) return std::unexpected(std::move(filter.error()));
    filters.push_back(std::move(*filter));
  }
  return filters;
}

std::string fleet_filter_text(const std::vector<FleetFilter> &filters) {
  std::string text;
  for (const auto &filter : filters) {
    if (!text.empty()) text += ' ';
    if (filter.word != kFilterAny) text += filter.word + '=';
    text += is_quoted(filter.value) ? fmt::format("\"{}\"", filter.value) : filter.value;
  }
  return text;
}

void FleetBrowser::take(FleetNews news) {
  const bool is_other = news.fleet != news_.fleet;
  news_ = std::move(news);
  if (is_other) look_again();
}

std::optional<FleetHost> FleetBrowser::take_host() { return std::exchange(host_, std::nullopt); }

std::optional<FleetBrowser::Moment> FleetBrowser::take_moment() { return std::exchange(moment_, std::nullopt); }

// After another answer, or another question. What was selected stays so wherever it is now.
void FleetBrowser::look_again() {
  if (news_.fleet == nullptr) {
    view_ = {};
    return;
  }
  view_ = make_fleet_view(*news_.fleet, page().question);
  const auto same = std::ranges::find_if(view_.groups, [&](const FleetGroup &group) {
    return group.kind == page().kind && group.name == page().selected;
  });
  const bool is_first_look = page().selected.empty() && page().place == 0;
  const auto found = static_cast<std::size_t>(same - view_.groups.begin());
  select(same == view_.groups.end() || is_first_look ? page().place : found);
}

// What comes first now is what was asked for.
void FleetBrowser::start_over() {
  page().selected = {};
  page().place = 0;
  look_again();
}

void FleetBrowser::select(std::size_t place) {
  if (view_.groups.empty()) return;
  auto &now = page();
  now.place = std::min(place, view_.groups.size() - 1);
  now.selected = view_.groups[now.place].name;
  now.kind = view_.groups[now.place].kind;
}

void FleetBrowser::move(std::ptrdiff_t by) {
  const auto last = static_cast<std::ptrdiff_t>(view_.groups.size()) - 1;
  select(static_cast<std::size_t>(std::clamp(static_cast<std::ptrdiff_t>(page().place) + by, std::ptrdiff_t{0},
                                             std::max(last, std::ptrdiff_t{0}))));
}

void FleetBrowser::open_selected() {
  if (page().place >= view_.groups.size()) return;
  const auto &group = view_.groups[page().place];
  const auto by = page().question.by;
  if (group.kind != GroupKind::named) return say("this group has no name, so it cannot be opened");
  if (by != FleetBy::host) {
    auto question = page().question;
    question.by = FleetBy::host;
    const std::string word(kFleetBy[static_cast<std::size_t>(by)]);
    // Another name beside it would do as well.
    std::erase_if(question.filters, [&](const FleetFilter &filter) { return filter.word == word; });
    question.filters.push_back({word, as_pattern(group.name.str())});
    pages_.push_back({.question = std::move(question)});
    return look_again();
  }
  if (group.hosts.empty()) return;
  // A host that an agent and another exporter tell of is shown as its agent has it.
  const auto host = std::ranges::min(group.hosts, {}, [&](auto index) { return news_.fleet->hosts[index].exporter; });
  host_ = news_.fleet->hosts[host];
}

void FleetBrowser::go_back() {
  if (pages_.size() == 1) return say("q quits");
  pages_.pop_back();
  look_again();
}

void FleetBrowser::begin_asking(Asking what, std::string typed) {
  asking_ = what;
  typed_ = std::move(typed);
}

void FleetBrowser::handle(const KeyPress &press, WallTime now) {
  said_.clear();
  if (std::exchange(is_helping_, false)) return;
  if (asking_ != Asking::nothing) return handle_typing(press, now);
  const auto page_rows = static_cast<std::ptrdiff_t>(std::max<std::size_t>(shown_, 2)) - 1;
  switch (press.key) {
    case Key::up:
      return move(-1);
    case Key::down:
      return move(1);
    case Key::page_up:
      return move(-page_rows);
    case Key::page_down:
      return move(page_rows);
    case Key::home:
      return select(0);
    case Key::end:
      return select(view_.groups.empty() ? 0 : view_.groups.size() - 1);
    case Key::enter:
      return open_selected();
    case Key::escape:
    case Key::backspace:
      return go_back();
    case Key::left:
      return step_in_time(press.shift ? -kLongStep : -kStep, now);
    case Key::right:
      return step_in_time(press.shift ? kLongStep : kStep, now);
    case Key::f10:
      is_over_ = true;
      return;
    default:
      break;
  }
  if (press.key != Key::character || press.alt) return;
  if (!press.ctrl) return handle_letter(press.character);
  is_over_ = press.character == U'c' || press.character == U'd';
}

void FleetBrowser::handle_letter(char32_t letter) {
  auto &question = page().question;
  switch (letter) {
    case U'q':
      is_over_ = true;
      return;
    case U'k':
      return move(-1);
    case U'j':
      return move(1);
    case U'b':
    case U'B':
      question.by = next_of(question.by, kFleetBy.size(), letter == U'b' ? 1 : -1);
      return start_over();
    case U's':
    case U'S':
      question.sort = next_of(question.sort, kFleetSorts.size(), letter == U's' ? 1 : -1);
      return start_over();
    case U'w':
      question.sort = FleetSort::waste;
      return start_over();
    case U'/':
    case U'f':
      return begin_asking(Asking::filter, fleet_filter_text(question.filters));
    case U'x':
      question.filters.clear();
      return look_again();
    case U't':
      return begin_asking(Asking::moment, {});
    case U'n':
      if (news_.at) moment_ = Moment{};
      return;
    case U'?':
    case U'h':
      is_helping_ = true;
      return;
    default:
      return;
  }
}

void FleetBrowser::paste(std::string_view text) {
  if (asking_ != Asking::nothing)
    typed_ += first_bytes(printable(text), kLongestTyped - std::min(typed_.size(), kLongestTyped));
}

void FleetBrowser::handle_typing(const KeyPress &press, WallTime now) {
  if (press.key == Key::enter) return answer(now);
  if (press.key == Key::escape || (press.key == Key::character && press.ctrl && press.character == U'c')) {
    asking_ = Asking::nothing;
  } else if (press.key == Key::backspace) {
    erase_last_letter(typed_);
  } else if (press.key == Key::character && press.ctrl && press.character == U'u') {
    typed_.clear();
  } else if (press.key == Key::character && !press.ctrl && !press.alt) {
    std::array<char, 4> bytes{};
    const auto count = term::encode_utf8(press.character, bytes);
    if (typed_.size() + count <= kLongestTyped) typed_.append(bytes.data(), count);
  }
}

void FleetBrowser::answer(WallTime now) {
  const auto what = std::exchange(asking_, Asking::nothing);
  if (what == Asking::filter) return set_filters(typed_);
  set_moment(typed_, now);
}

void FleetBrowser::set_filters(std::string_view text) {
  auto filters = parse_fleet_filters(text);
  if (!filters) {
    begin_asking(Asking::filter, std::string(text));
    return say(filters.error().line());
  }
  page().question.filters = std::move(*filters);
  look_again();
}

void FleetBrowser::set_moment(std::string_view text, WallTime now) {
  if (trim(text).empty()) return;
  const auto at = parse_moment(trim(text), now);
  if (at && *at <= now) {
    moment_ = Moment{trim(text) == "now" ? std::nullopt : at};
    return;
  }
  begin_asking(Asking::moment, std::string(text));
  say(at ? "that is in the future" : "not a time: try 01:00, yesterday 18:00, 2026-11-16 01:00 or -3h");
}

void FleetBrowser::step_in_time(std::chrono::seconds by, WallTime now) {
  // Several presses may come before the first is taken.
  const auto from = (moment_ ? moment_->at : news_.at).value_or(now);
  const auto to = from + by;
  if (to < now) {
    moment_ = Moment{to};
  } else if (news_.at || moment_) {
    moment_ = Moment{};
  }
}

// What is typed, what is to be said, or which keys there are.
std::string FleetBrowser::last_line(const term::Style &style, Monotonic now) const {
  if (!said_.empty()) return term::line(style, {{term::clean(said_, style.unicode), Colour::warn}});
  if (asking_ != Asking::nothing) {
    const std::string_view title = asking_ == Asking::filter ? "filter (user=ann host=node1* word): "
                                                             : "time (01:00, yesterday 18:00, -3h, now): ";
    // The end of it is where somebody types.
    std::string tail = term::clean(typed_, style.unicode);
    while (!tail.empty() && term::width(title) + term::width(tail) + 1 > style.width) {
      tail.erase(0, term::first_glyph(tail).bytes);
    }
    return term::line(style, {{std::string(title), Colour::accent}, {tail, Colour::bold}, {style.unicode ? "▏" : "_"}});
  }
  if (news_.is_asking && now - news_.asking_since >= kSlow) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(now - news_.asking_since).count();
    return term::line(
        style, {{fmt::format("asking the engine for {} s", seconds), Colour::warn}, {"   q quits", Colour::dim}});
  }
  if (is_helping_) return term::line(style, {{"any key goes back", Colour::dim}});
  const auto &question = pages_.back().question;
  auto what = fmt::format("by {}, sorted by {}", kFleetBy[static_cast<std::size_t>(question.by)],
                          kFleetSorts[static_cast<std::size_t>(question.sort)]);
  if (!question.filters.empty()) what = fmt::format("only {}, {}", fleet_filter_text(question.filters), what);
  const std::string_view back = pages_.size() > 1 ? "Esc back  " : "";
  const auto keys = fmt::format("? keys  q quit  Enter open  {}b by  s sort  / filter  t time", back);
  return term::line(style, {{term::clean(what, style.unicode), Colour::accent}, {"   "}, {keys, Colour::dim}});
}

std::vector<std::string> FleetBrowser::draw(const term::Style &style, int rows, Monotonic now) {
  std::vector<std::string> lines;
  const int room = std::max(rows - 1, 1);
  if (is_helping_) {
    for (const auto &[keys, what] : kKeys) {
      lines.push_back(term::line(style, {{fmt::format("{:<15}", keys), Colour::accent}, {std::string(what)}}));
    }
  } else if (news_.fleet == nullptr) {
    const auto what = !news_.trouble.empty() ? news_.trouble.str() : std::string("asking the engine …");
    for (const auto &line : term::wrap(term::clean(what, style.unicode), style.width)) {
      lines.push_back(term::line(style, {{line, news_.trouble.empty() ? Colour::dim : Colour::warn}}));
    }
  } else {
    auto &now_shown = page();
    FleetTextOptions options{.style = style, .top = view_.groups.size(), .height = room, .trouble = news_.trouble};
    options.is_past = news_.at.has_value();
    options.selected = now_shown.place;
    options.first = now_shown.first;
    const auto text = fleet_lines(*news_.fleet, view_, options);
    lines = text.lines;
    now_shown.first = text.first;
    shown_ = text.groups;
  }
  if (lines.size() > static_cast<std::size_t>(room)) lines.resize(static_cast<std::size_t>(room));
  while (lines.size() < static_cast<std::size_t>(room)) lines.emplace_back();
  if (rows > 1) lines.push_back(last_line(style, now));
  return lines;
}

}  // namespace gpulse::fleet
