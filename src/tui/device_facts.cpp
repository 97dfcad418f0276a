// SPDX-License-Identifier: Apache-2.0
#include "tui/device_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/clock.hpp"
#include "metric/limits.hpp"
#include "view/cell.hpp"
#include "view/device_cells.hpp"
#include "view/event_cells.hpp"
#include "view/process_cells.hpp"

namespace gpulse::tui {

using term::Colour;
using term::Span;
using term::Style;

namespace {

constexpr int kLabel = 9;

void heading(TextLines &lines, std::string_view title) {
  if (!lines.empty()) lines.emplace_back();
  lines.push_back({{std::string(title), Colour::bold}});
}

// One thing that is known: "PWR 690W of 700W  Power drawn by the board".
struct Fact {
  std::string_view label;
  std::vector<Span> value;
  std::string_view words{};
};

std::vector<Span> fact_spans(const Fact &fact, int value_width, int width, const Style &style) {
  std::vector<Span> spans{{term::pad(fact.label, kLabel), Colour::dim}};
  int used = kLabel;
  for (const auto &span : fact.value) {
    spans.push_back({term::cut(span.text, std::max(0, width - used), style.ellipsis()), span.colour});
    used += term::width(spans.back().text);
  }
  const int gap = std::max(kLabel + value_width, used) + 2;
  if (!fact.words.empty() && gap < width) {
    spans.push_back({std::string(static_cast<std::size_t>(gap - used), ' '), Colour::plain});
    spans.push_back({term::cut(fact.words, width - gap, style.ellipsis()), Colour::dim});
    used = gap + term::width(spans.back().text);
  }
  spans.push_back({std::string(static_cast<std::size_t>(std::max(0, width - used)), ' '), Colour::plain});
  return spans;
}

// Side by side as far as there is room, one below the other within a column, as a newspaper is read.
void add_facts(TextLines &lines, const std::vector<Fact> &facts, const Style &style, int least) {
  constexpr int kGap = 2, kWidest = 28;
  const auto across = static_cast<std::size_t>(std::max(1, (style.width + kGap) / (least + kGap)));
  const int width = (style.width + kGap) / static_cast<int>(across) - kGap;
  int value = 0;
  for (const auto &fact : facts) value = std::max(value, std::min(kWidest, term::width(fact.value)));
  const auto down = (facts.size() + across - 1) / across;
  for (std::size_t y = 0; y < down; ++y) {
    std::vector<Span> line;
    for (std::size_t x = 0; x < across && y + x * down < facts.size(); ++x) {
      if (x > 0) line.push_back({std::string(kGap, ' '), Colour::plain});
      auto spans = fact_spans(facts[y + x * down], value, width, style);
      line.insert(line.end(), spans.begin(), spans.end());
    }
    lines.push_back(std::move(line));
  }
}

// The reading, and what it is to be held against.
std::vector<Span> value_spans(const Device &device, MetricId id, const Style &style) {
  auto spans = view::value_cell(style, describe(id), device.row[id]).spans;
  const auto limit = limit_of(id);
  if (limit && device.row[*limit]) {
    spans.push_back({" of " + view::short_value(style, describe(*limit), device.row[*limit].value()), Colour::dim});
  }
  return spans;
}

bool is_identity(const Metric &metric) { return metric.group == Group::identity || metric.group == Group::modes; }

const Device *parent_of(const Snapshot &snapshot, const Device &device) {
  const auto found = std::ranges::find_if(
      snapshot.devices, [&](const Device &each) { return !each.is_instance() && each.id.index == device.id.index; });
  return device.is_instance() && found != snapshot.devices.end() ? &*found : nullptr;
}

}  // namespace

Reading MemoryHolders::by_nobody() const {
  if (!used || !all_known) return Reason::not_supported;
  return std::max(0.0, used.value() - by_processes);
}

std::vector<const Process *> processes_on(const Snapshot &snapshot, const Device &device) {
  std::vector<const Process *> found;
  for (const auto &process : snapshot.processes) {
    if (is_on(process.device, device)) found.push_back(&process);
  }
  std::ranges::stable_sort(found, [](const Process *a, const Process *b) {
    return view::by_role(a->row, Role::memory_used).value_or(-1) >
           view::by_role(b->row, Role::memory_used).value_or(-1);
  });
  return found;
}

MemoryHolders memory_holders(const Snapshot &snapshot, const Device &device) {
  MemoryHolders holders{.used = view::by_role(device.row, Role::memory_used)};
  const auto all = processes_on(snapshot, device);
  holders.processes = all.size();
  for (const auto *process : all) {
    const auto held = view::by_role(process->row, Role::memory_used);
    holders.all_known = holders.all_known && held.has_value();
    holders.by_processes += held.value_or(0);
  }
  // Where the list could not be read, nothing can be said of who is not on it.
  if (all.empty() && !view::by_role(device.row, Role::process_count)) holders.all_known = false;
  return holders;
}

std::string unheld_memory_text(const MemoryHolders &holders) {
  // A driver needs some hundred megabytes for itself.
  constexpr double kUsual = 768.0 * 1024 * 1024, kShare = 0.02;
  const auto rest = holders.by_nobody();
  if (!rest || rest.value() < std::max(kUsual, holders.used.value() * kShare)) return {};
  return fmt::format(
      "{} of {} in use is held by no process that can be seen here. Likely: processes in another container or "
      "namespace (look from the host, or as root), the driver's own needs, or the context of a program that has died "
      "(reset the device when it is idle).",
      view::short_bytes(rest.value()), view::short_bytes(holders.used.value()));
}

TextLines identity_lines(const Snapshot &snapshot, const Device &device, const Style &style) {
  constexpr int kLeast = 25;
  TextLines lines;
  if (!device.identity) return lines;
  const auto &identity = *device.identity;
  const auto *parent = parent_of(snapshot, device);
  std::vector<Fact> facts;
  const auto add = [&](std::string_view label, std::string_view value) {
    if (!value.empty()) facts.push_back({label, {{term::clean(value, style.unicode)}}});
  };
  // An instance is a part of its device, and has its bus and its firmware.
  const auto &board = parent != nullptr && parent->identity ? *parent->identity : identity;
  add("UUID", identity.uuid);
  add("BUS ID", identity.pci.empty() ? board.pci : identity.pci);
  if (parent != nullptr) add("PART OF", fmt::format("GPU {}, {}", text(parent->id), board.name.str()));
  add("DRIVER", identity.driver);
  for_each_metric(Scope::device, [&](MetricId id, const Metric &metric) {
    if (!is_identity(metric)) return;
    if (is_text(metric)) {
      const auto &own = identity.texts[id];
      const auto &value = own ? own : board.texts[id];
      if (value) add(metric.label, value.value());
      return;
    }
    const auto &holder = !device.row[id] && parent != nullptr ? *parent : device;
    if (holder.row[id]) facts.push_back({metric.label, value_spans(holder, id, style)});
  });
  // What is long has a line of its own: an identifier that is cut is none.
  const auto is_long = [](const Fact &fact) { return kLabel + term::width(fact.value) > kLeast; };
  for (const auto &fact : facts) {
    if (is_long(fact)) add_facts(lines, {fact}, style, style.width);
  }
  std::erase_if(facts, is_long);
  add_facts(lines, facts, style, kLeast);
  return lines;
}

TextLines reading_lines(const Device &device, const Style &style) {
  constexpr int kLeast = 60;
  TextLines lines;
  std::map<Group, std::vector<Fact>> groups;
  std::map<std::string, std::string> missing;  // labels by the reason why there is no reading
  for_each_metric(Scope::device, [&](MetricId id, const Metric &metric) {
    if (is_text(metric)) return;
    const auto &reading = device.row[id];
    if (!reading) {
      auto &labels = missing[reason_text(reading)];
      labels += (labels.empty() ? "" : ", ") + std::string(metric.label);
    } else if (!is_identity(metric)) {
      groups[metric.group].push_back({metric.label, value_spans(device, id, style), metric.help});
    }
  });
  for (const auto &[group, facts] : groups) {
    heading(lines, word(group));
    add_facts(lines, facts, style, kLeast);
  }
  for (const auto &[reason, labels] : missing) {
    heading(lines, reason);
    for (auto &piece : term::wrap(labels, std::max(20, style.width)))
      lines.push_back({{std::move(piece), Colour::dim}});
  }
  return lines;
}

TextLines process_lines(const Snapshot &snapshot, const Device &device, const Style &style) {
  TextLines lines;
  for (const auto *process : processes_on(snapshot, device)) {
    const auto held = find_role(Scope::process, Role::memory_used);
    std::vector<Span> line{{fmt::format("{:>8} ", process->pid), Colour::plain}};
    line.push_back({term::pad(view::process_text(*process, Role::user, style), 10) + ' ', Colour::plain});
    line.push_back({term::pad(view::type_letters(process->types), 3), Colour::dim});
    for (const auto role : {Role::memory_used, Role::utilization, Role::cpu}) {
      const auto id = find_role(Scope::process, role);
      if (!id) continue;
      auto cell = view::value_cell(style, describe(*id), process->row[*id]);
      const int width = id == held ? 6 : 5;
      line.push_back({term::pad(cell.spans.front().text, width, term::Align::right) + ' ', cell.spans.front().colour});
    }
    line.push_back({" ", Colour::plain});
    for (auto &span : view::command_cell(*process, style).spans) line.push_back(std::move(span));
    lines.push_back(std::move(line));
  }
  if (lines.empty()) {
    const auto count = view::by_role(device.row, Role::process_count);
    lines.push_back({{count && count.value() == 0 ? "none" : "not known", Colour::dim}});
  } else {
    lines.insert(
        lines.begin(),
        {{fmt::format("{:>8} {:<10} {:<3}{:>6} {:>5} {:>5}  {}", "PID", view::label_of(Scope::process, Role::user), "T",
                      "MEM", view::label_of(Scope::process, Role::utilization),
                      view::label_of(Scope::process, Role::cpu), view::label_of(Scope::process, Role::command)),
          Colour::dim}});
  }
  if (const auto text = unheld_memory_text(memory_holders(snapshot, device)); !text.empty()) {
    for (auto &piece : term::wrap(text, std::max(20, style.width))) lines.push_back({{std::move(piece), Colour::warn}});
  }
  return lines;
}

TextLines event_lines(const Snapshot &snapshot, const EventLog &log, const Device &device, const Style &style) {
  TextLines lines;
  const auto *parent = parent_of(snapshot, device);
  const auto concerns = [&](const Device *each, const Event &event) {
    return each != nullptr && each->identity && !event.device.empty() && each->identity->uuid == event.device;
  };
  for (auto logged = log.rbegin(); logged != log.rend(); ++logged) {
    const auto &event = logged->event;
    if (!concerns(&device, event) && !concerns(parent, event)) continue;
    lines.push_back({{local_time(event.time, "%H:%M:%S "), Colour::dim},
                     {term::clean(view::event_words(event), style.unicode), view::event_colour(event)},
                     {logged->times > 1 ? fmt::format("  {} times", logged->times) : "", Colour::dim}});
  }
  return lines;
}

}  // namespace gpulse::tui
