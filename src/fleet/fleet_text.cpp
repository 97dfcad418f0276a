// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/counted.hpp"
#include "term/table.hpp"
#include "term/width.hpp"
#include "view/cell.hpp"

namespace gpulse::fleet {

using term::Align;
using term::Cell;
using term::Colour;
using term::Span;
using term::Style;

namespace {

using Lines = std::vector<std::string>;

constexpr double kFull = 100;

// What stands for a GPU that has no number.
struct Mark {
  std::string_view unicode, ascii;
  Colour colour;
};

Mark mark_of(const FleetGpu &gpu) {
  switch (gpu.state) {
    case GpuState::lost:
    case GpuState::gone:
      return {"✗", "X", Colour::bad};
    case GpuState::not_responding:
      return {"?", "?", Colour::bad};
    case GpuState::asleep:
      return {"z", "z", Colour::dim};
    case GpuState::silent:
      return {"░", "~", Colour::warn};
    case GpuState::ok:
      break;
  }
  return {"–", "-", Colour::dim};
}

// True activity says more; where nobody knows it, the use that the driver tells.
std::optional<double> heat_of(const FleetGpu &gpu) {
  const auto activity = gpu[FleetReading::true_activity];
  return activity ? activity : gpu[FleetReading::utilization];
}

std::string_view ramp(double percent, bool unicode) {
  constexpr std::array<std::string_view, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::array<std::string_view, 8> kLetters{".", ":", "-", "=", "+", "*", "%", "#"};
  const auto step = static_cast<std::size_t>(std::clamp(percent / kFull * 8, 0.0, 7.0));
  return (unicode ? kBlocks : kLetters)[step];
}

// Where there are too many GPUs a cell stands for several: for one that is not well, else for their mean.
Span cell_of(const FleetSnapshot &fleet, std::span<const std::size_t> gpus, const Style &style) {
  const auto worst = std::ranges::max(gpus, {}, [&](std::size_t index) { return fleet.gpus[index].state; });
  Known heat;
  for (const auto index : gpus) heat.add(heat_of(fleet.gpus[index]));
  const auto &gpu = fleet.gpus[worst];
  if (gpu.state <= GpuState::asleep && heat.mean()) {
    return {std::string(ramp(*heat.mean(), style.unicode)), view::load_colour(*heat.mean())};
  }
  const auto mark = mark_of(gpu);
  return {std::string(style.unicode ? mark.unicode : mark.ascii), mark.colour};
}

Cell strip(const FleetSnapshot &fleet, const FleetGroup &group, const Style &style) {
  constexpr int kWide = 120, kMiddling = 100;
  const std::size_t most = style.width >= kWide ? 32 : style.width >= kMiddling ? 16 : 12;
  const auto each = std::max<std::size_t>((group.gpus.size() + most - 1) / most, 1);
  Cell cell;
  for (std::size_t first = 0; first < group.gpus.size(); first += each) {
    const auto count = std::min(each, group.gpus.size() - first);
    auto next = cell_of(fleet, std::span(group.gpus).subspan(first, count), style);
    // Neighbours of one colour are one piece.
    if (!cell.spans.empty() && cell.spans.back().colour == next.colour) {
      cell.spans.back().text += next.text;
    } else {
      cell.spans.push_back(std::move(next));
    }
  }
  return cell;
}

std::string shown(std::string_view text, const Style &style) { return term::clean(text, style.unicode); }

Cell number(const std::optional<double> &value, const Style &style, Colour colour = Colour::plain) {
  return value ? Cell(fixed(*value, 0), colour) : view::missing_cell(style);
}

std::string name_of(const FleetGroup &group, FleetBy by) {
  if (group.kind == GroupKind::named) return group.name;
  if (group.kind == GroupKind::nobody) return "held by nobody";
  const bool is_owner = by != FleetBy::host && by != FleetBy::cluster && by != FleetBy::model;
  return is_owner ? fmt::format("no {} known", kFleetBy[static_cast<std::size_t>(by)])
                  : fmt::format("no {}", kFleetBy[static_cast<std::size_t>(by)]);
}

Colour colour_of(int severity) {
  constexpr std::array kColours{Colour::plain, Colour::warn, Colour::bad, Colour::bad};
  return kColours[static_cast<std::size_t>(severity)];
}

// Who tells of the group, where that is no agent.
std::string_view exporter_of(const FleetSnapshot &fleet, const FleetGroup &group) {
  for (const auto host : group.hosts) {
    if (fleet.hosts[host].exporter != Exporter::gpulse) return word(fleet.hosts[host].exporter);
  }
  return {};
}

std::string users_of(const FleetGroup &group, const Style &style) {
  constexpr std::size_t kMost = 3;
  std::string out;
  for (std::size_t i = 0; i < std::min(group.users.size(), kMost); ++i) {
    out += (out.empty() ? "" : ", ") + shown(group.users[i].str(), style);
  }
  return group.users.size() > kMost ? fmt::format("{} +{}", out, group.users.size() - kMost) : out;
}

std::vector<term::Column> columns_of(FleetBy by) {
  std::string title(kFleetBy[static_cast<std::size_t>(by)]);
  for (auto &letter : title) letter = static_cast<char>(letter - 'a' + 'A');
  return {{.title = title, .min = 14, .cap = 24},
          {.title = "EACH GPU", .gap = 2},
          {.title = "GPUS", .align = Align::right, .gap = 2, .keep = 850},
          {.title = "HELD", .align = Align::right, .keep = 840},
          {.title = "USE%", .align = Align::right, .keep = 900},
          {.title = "SM%", .align = Align::right, .floor = 3, .keep = 890},
          {.title = "MEM%", .align = Align::right, .keep = 800},
          {.title = "W", .align = Align::right, .floor = 4, .keep = 700},
          {.title = "HOT", .align = Align::right, .keep = 750},
          {.title = "WHO", .gap = 2, .min = 5, .cap = 24, .keep = 600},
          {.title = "WORST", .gap = 2, .min = 14, .cap = 32}};
}

// In front of the line that is selected, and of the others.
std::string_view pointer(bool is_selected, const Style &style) {
  if (!is_selected) return "  ";
  return style.unicode ? "▸ " : "> ";
}

std::vector<Cell> cells_of(const FleetSnapshot &fleet, const FleetGroup &group, FleetBy by, const Style &style,
                           std::optional<bool> is_selected) {
  const auto &totals = group.totals;
  const bool is_chosen = is_selected.value_or(false);
  const auto usual = group.kind == GroupKind::named ? Colour::plain : Colour::dim;
  Cell name(shown(name_of(group, by), style), is_chosen ? Colour::accent : usual);
  if (is_selected) name.spans.front().text.insert(0, pointer(is_chosen, style));
  if (const auto exporter = exporter_of(fleet, group); !exporter.empty()) {
    name.spans.push_back({fmt::format(" {}", exporter), Colour::dim});
  }
  const auto &heat = describe(kReadingMetrics[static_cast<std::size_t>(FleetReading::temperature)]);
  const auto hot = totals.hottest ? view::threshold_colour(heat, *totals.hottest) : Colour::plain;
  const auto held = totals.held_known > 0 ? std::optional(static_cast<double>(totals.held)) : std::nullopt;
  const auto users = users_of(group, style);
  return {std::move(name),
          strip(fleet, group, style),
          Cell(fmt::format("{}", totals.gpus)),
          number(held, style),
          number(totals.utilization.mean(), style),
          number(totals.true_activity.mean(), style),
          number(totals.memory_percent.mean(), style),
          number(totals.watts.total(), style),
          number(totals.hottest, style, hot),
          users.empty() ? view::missing_cell(style) : Cell(users),
          Cell(shown(group.worst.str(), style), colour_of(group.severity))};
}

// Pieces with dots between them, on as many lines as they need.
class Pieces {
 public:
  explicit Pieces(const Style &style) : style_(style), dot_(style.unicode ? " · " : ", ") {}

  void say(const std::string &text, Colour colour = Colour::plain) {
    if (!line_.empty() && term::width(line_) + term::width({{dot_ + text, colour}}) > style_.width) end();
    if (!line_.empty()) line_.push_back({dot_, Colour::dim});
    line_.push_back({text, colour});
  }
  void count(std::size_t number, std::string_view words, Colour colour) {
    if (number > 0) say(fmt::format("{} {}", number, words), colour);
  }
  void end() {
    if (!line_.empty()) lines_.push_back(term::line(style_, line_));
    line_.clear();
  }
  bool is_empty() const { return line_.empty(); }
  Lines take() { return std::move(lines_); }

 private:
  const Style &style_;
  std::string dot_;
  std::vector<Span> line_{};
  Lines lines_{};
};

// "3 hosts, 24 GPUs · 20 held · truly used 41 % · 12.3 kW · 8.2 GPUs wasted", and what is wrong.
Lines total_lines(const FleetTotals &totals, const Style &style) {
  const std::string dash(style.dash());
  const auto activity = totals.true_activity.mean(), watts = totals.watts.total();
  Pieces pieces(style);
  pieces.say(counted(totals.hosts, "host") + ", " + counted(totals.gpus, "GPU"), Colour::bold);
  pieces.say((totals.held_known > 0 ? fmt::format("{}", totals.held) : dash) + " held");
  pieces.say("truly used " + (activity ? fixed(*activity, 0) + " %" : dash));
  pieces.say((watts ? fixed(*watts / 1e3, 1) : dash) + " kW");
  if (totals.wasted.count > 0) pieces.say(fixed(totals.wasted.sum, 1) + " GPUs wasted");
  pieces.end();
  const auto of = [&](GpuState state) { return totals.states[static_cast<std::size_t>(state)]; };
  pieces.count(of(GpuState::lost), "lost", Colour::bad);
  pieces.count(of(GpuState::not_responding), "not responding", Colour::bad);
  pieces.count(of(GpuState::gone), "gone", Colour::bad);
  pieces.count(totals.silent_hosts, totals.silent_hosts == 1 ? "host silent" : "hosts silent", Colour::bad);
  pieces.count(totals.errors, "with errors of the driver", Colour::bad);
  pieces.count(totals.problems, "with problems", Colour::bad);
  pieces.count(totals.remarked, totals.remarked == 1 ? "differs from its sisters" : "differ from their sisters",
               Colour::warn);
  pieces.count(totals.idle, "held but idle", Colour::warn);
  pieces.count(totals.notes, "with notes", Colour::plain);
  const bool is_well = pieces.is_empty();
  pieces.count(of(GpuState::asleep), "asleep", Colour::dim);
  // They are in no mean.
  if (activity) {
    pieces.count(totals.gpus - totals.true_activity.count, "of unknown true activity", Colour::dim);
  }
  if (is_well && totals.gpus > 0) {
    const auto unknown = totals.gpus - totals.judged;
    if (unknown == 0) {
      pieces.say("nothing is wrong", Colour::good);
    } else if (totals.judged == 0) {
      pieces.say("nobody tells whether anything is wrong");
    } else {
      pieces.say(
          fmt::format("nothing is wrong with {}, of {} it is not known", counted(totals.judged, "GPU"), unknown));
    }
  }
  pieces.end();
  return pieces.take();
}

std::string at_words(WallTime at) { return local_time(at, "%H:%M:%S"); }

Lines fault_lines(const FleetSnapshot &fleet, const FleetTextOptions &options) {
  Lines lines;
  const auto &style = options.style;
  const auto add = [&](const std::string &text) {
    for (const auto &line : term::wrap(shown(text, style), style.width)) {
      lines.push_back(term::line(style, {{line, Colour::warn}}));
    }
  };
  if (!options.trouble.empty()) add(fmt::format("nothing newer than {}: {}", at_words(fleet.at), options.trouble));
  if (!fleet.warning.empty()) add(fmt::format("something is missing: {}", fleet.warning));
  for (const auto &fault : fleet.faults) {
    const auto old = fault.as_of ? fmt::format(" (as of {})", at_words(*fault.as_of)) : std::string();
    add(fmt::format("{}{}: {}", fault.what, old, fault.why));
  }
  constexpr std::size_t kMost = 6;
  if (lines.size() > kMost) lines.resize(kMost);
  return lines;
}

// "n3 GPU 5: hotter than its sisters: …", the worst first, as many as are seen at a glance. `height`: of the screen, 0
// where there is none; most of it is for the groups.
Lines remark_lines(const FleetSnapshot &fleet, const FleetView &view, const Style &style, int height) {
  const std::size_t kMost = height > 0 ? static_cast<std::size_t>(std::clamp(height / 10, 1, 5)) : 5;
  struct Said {
    const FleetGpu *gpu;
    const FleetRemark *remark;
  };
  std::vector<Said> said;
  for (const auto index : view.gpus) {
    for (const auto &remark : fleet.gpus[index].remarks) said.push_back({&fleet.gpus[index], &remark});
  }
  std::ranges::stable_sort(said, [](const Said &a, const Said &b) { return a.remark->weight > b.remark->weight; });
  Lines lines;
  for (std::size_t i = 0; i < std::min(said.size(), kMost); ++i) {
    const auto &[gpu, remark] = said[i];
    const auto text = fmt::format("{} GPU {}: {}", fleet.hosts[gpu->host].name, gpu->id, remark->text);
    const auto colour = remark->weight == insight::Weight::problem ? Colour::bad : Colour::warn;
    for (const auto &line : term::wrap(shown(text, style), style.width))
      lines.push_back(term::line(style, {{line, colour}}));
  }
  if (said.size() > kMost) {
    const auto more =
        fmt::format("{} {} more: see --filter remark=* and --json", style.ellipsis(), said.size() - kMost);
    lines.push_back(term::line(style, {{more, Colour::dim}}));
  }
  if (!lines.empty()) lines.insert(lines.begin(), std::string());
  return lines;
}

// "… 812 others, all well"; "… 12 above and 800 below, 3 of them need a look"
std::string rest_line(const FleetView &view, const FleetLines &seen, const Style &style) {
  std::size_t unwell = 0, unknown = 0;
  for (std::size_t i = 0; i < view.groups.size(); ++i) {
    if (i >= seen.first && i < seen.first + seen.groups) continue;
    const auto &group = view.groups[i];
    if (group.severity > 0) {
      ++unwell;
    } else if (group.totals.judged < group.totals.gpus) {
      ++unknown;
    }
  }
  const auto count = view.groups.size() - seen.groups;
  const auto where = seen.first == 0 ? fmt::format("{} other{}", count, count == 1 ? "" : "s")
                                     : fmt::format("{} above and {} below", seen.first, count - seen.first);
  const auto words = unwell > 0    ? fmt::format("{} of them {} a look", unwell, unwell == 1 ? "needs" : "need")
                     : unknown > 0 ? fmt::format("of {} it is not known how they are", unknown)
                                   : std::string("all well");
  return term::line(
      style, {{fmt::format("{} {}, {}", style.ellipsis(), where, words), unwell == 0 ? Colour::dim : Colour::warn}});
}

}  // namespace

FleetLines fleet_lines(const FleetSnapshot &fleet, const FleetView &view, const FleetTextOptions &options) {
  const auto &style = options.style;
  FleetLines out;
  auto &lines = out.lines;
  std::vector<Span> title{{shown(fleet.place.str(), style), Colour::bold},
                          {"  " + local_time(fleet.at, "%Y-%m-%d %H:%M:%S")}};
  if (options.is_past) title.push_back({"  the past", Colour::warn});
  lines.push_back(term::line(style, title));
  for (auto &line : fault_lines(fleet, options)) lines.push_back(std::move(line));
  for (auto &line : total_lines(view.totals, style)) lines.push_back(std::move(line));
  lines.emplace_back();
  // Of what is too much for a small screen the groups are left.
  constexpr std::size_t kTitleAndGroup = 2;
  while (options.height > 0 && lines.size() > 1 &&
         lines.size() + kTitleAndGroup > static_cast<std::size_t>(options.height)) {
    lines.pop_back();
  }
  const auto remarks = remark_lines(fleet, view, style, options.height);
  // Titles, and a line for the rest.
  const auto others = static_cast<int>(lines.size() + remarks.size()) + 2;
  const auto all = view.groups.size();
  out.groups = std::min(all, options.top);
  if (options.height > 0) {
    out.groups = std::min(out.groups, static_cast<std::size_t>(std::max(1, options.height - others)));
  }
  if (options.selected) {
    const auto last_first = std::min(*options.selected, all - std::min(all, out.groups));
    const auto least = *options.selected + 1 - std::min(*options.selected + 1, out.groups);
    out.first = std::clamp(options.first, std::min(least, last_first), last_first);
  }
  term::Table table(columns_of(view.question.by));
  for (std::size_t i = out.first; i < out.first + out.groups; ++i) {
    const auto is_selected = options.selected ? std::optional(i == *options.selected) : std::nullopt;
    table.add(cells_of(fleet, view.groups[i], view.question.by, style, is_selected));
  }
  for (auto &line : table.lines(style)) lines.push_back(std::move(line));
  if (view.groups.empty()) {
    const auto *const why =
        view.question.filters.empty() ? "the engine knows of no GPUs at that time" : "no GPU fits the filters";
    lines.push_back(term::line(style, {{why, Colour::dim}}));
  }
  if (out.groups < all) lines.push_back(rest_line(view, out, style));
  for (const auto &line : remarks) lines.push_back(line);
  return out;
}

std::string render_fleet(const FleetSnapshot &fleet, const FleetView &view, const FleetTextOptions &options) {
  std::string out;
  for (const auto &line : fleet_lines(fleet, view, options).lines) out += line + '\n';
  return out;
}

}  // namespace gpulse::fleet
