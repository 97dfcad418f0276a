// SPDX-License-Identifier: Apache-2.0
#include "view/status.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.hpp"
#include "term/width.hpp"
#include "view/event_cells.hpp"
#include "view/finding_cells.hpp"
#include "view/status_parts.hpp"

namespace gpulse::view {

using term::Colour;
using term::Span;
using term::Style;

namespace {

constexpr std::size_t kEventsShown = 3;
constexpr std::size_t kFindingsShown = 6;
// With more devices than this a second row each would push the processes off the screen.
constexpr std::size_t kDevicesWithDetails = 4;
// Fewer process rows than this are not worth a second row per device.
constexpr std::size_t kProcessesAtLeast = 3;

// "nvidia 580.159.04": each vendor's driver once.
std::vector<std::string> drivers(const Snapshot &snapshot) {
  std::vector<std::string> found;
  for (const auto &device : snapshot.devices) {
    if (!device.identity || device.identity->driver.empty()) continue;
    auto text = fmt::format("{} {}", device.identity->vendor, device.identity->driver);
    if (std::find(found.begin(), found.end(), text) == found.end()) found.push_back(std::move(text));
  }
  return found;
}

std::string header_line(const Snapshot &snapshot, const Style &style) {
  std::vector<Span> spans;
  if (!snapshot.origin.empty()) {
    const auto mark = term::clean(snapshot.origin, style.unicode);
    spans.push_back({style.colour ? fmt::format(" {} ", mark) : fmt::format("[{}]", mark), Colour::mark});
    spans.push_back({" ", Colour::plain});
  }
  spans.push_back(
      {snapshot.hostname.empty() ? "host unknown" : term::clean(snapshot.hostname, style.unicode), Colour::bold});
  const auto time = has_time(snapshot) ? local_time(snapshot.time, "%a %Y-%m-%d %H:%M:%S") : "time unknown";
  spans.push_back({"  " + time, Colour::plain});
  for (const auto &driver : drivers(snapshot)) {
    spans.push_back({"  " + term::clean(driver, style.unicode), Colour::dim});
  }
  return term::line(style, spans);
}

Lines problem_lines(const Snapshot &snapshot, const Style &style) {
  Lines lines;
  for (const auto &source : snapshot.sources) {
    if (source.problem.empty()) continue;
    std::vector<Span> spans{{"! ", Colour::warn}, {term::clean(source.name, style.unicode) + ": ", Colour::bold}};
    spans.push_back({term::clean(source.problem, style.unicode), Colour::warn});
    if (!source.remedy.empty()) spans.push_back({": " + term::clean(source.remedy, style.unicode), Colour::plain});
    lines.push_back(term::line(style, spans));
  }
  return lines;
}

// The sentence goes on in the lines below where there is room for them.
void add_finding(Lines &lines, const insight::Finding &finding, const StatusOptions &options) {
  auto spans = finding_spans(finding, options.style.unicode);
  const auto sentence = std::move(spans.back().text);
  spans.pop_back();
  const int indent = term::width(spans);
  constexpr int kLeast = 20;
  if (options.height > 0 || options.style.width - indent < kLeast) {
    spans.push_back({sentence});
    return lines.push_back(term::line(options.style, spans));
  }
  for (auto &piece : term::wrap(sentence, options.style.width - indent)) {
    spans.push_back({std::move(piece)});
    lines.push_back(term::line(options.style, spans));
    spans = {{std::string(static_cast<std::size_t>(indent), ' ')}};
  }
}

// What is well takes no line.
Lines finding_lines(const StatusOptions &options) {
  Lines lines;
  const auto &style = options.style;
  std::size_t shown = 0, more = 0;
  for (const auto &finding : *options.findings) {
    if (finding.weight == insight::Weight::ok) continue;
    if (shown == kFindingsShown) {
      ++more;
      continue;
    }
    ++shown;
    add_finding(lines, finding, options);
  }
  if (lines.empty()) return lines;
  const auto others = more > 0 ? fmt::format("and {} more; ", more) : std::string();
  lines.push_back(term::line(style, {{fmt::format("  {}gpulse diagnose says more", others), Colour::dim}}));
  return lines;
}

Lines event_lines(const Snapshot &snapshot, const StatusOptions &options) {
  Lines lines;
  const auto &style = options.style;
  // What has been found just now has lines of its own.
  const auto is_finding = [](const Event &event) {
    return event.kind == EventKind::finding || event.kind == EventKind::finding_ended;
  };
  std::vector<const Event *> events;
  for (auto event = snapshot.events.rbegin(); event != snapshot.events.rend() && events.size() < kEventsShown;
       ++event) {
    if (options.findings == nullptr || !is_finding(*event)) events.push_back(&*event);
  }
  std::ranges::reverse(events);
  for (const auto *each : events) {
    const auto &event = *each;
    const auto place = term::clean(event_place(snapshot, event), style.unicode);
    const bool numbered = event.code != 0 && !is_finding(event);
    const auto kind = std::string(word(event.kind)) + (numbered ? fmt::format(" {}", event.code) : "");
    // "lost" says it all.
    const auto text = event.text == word(event.kind) ? "" : term::clean(event.text, style.unicode);
    lines.push_back(term::line(style, {{local_time(event.time, "%H:%M:%S "), Colour::dim},
                                       {place.empty() ? "" : place + " ", Colour::plain},
                                       {kind, Colour::bad},
                                       {text.empty() ? "" : " " + text, Colour::plain}}));
  }
  return lines;
}

void append(Lines &lines, const Lines &more, bool blank_before) {
  if (more.empty()) return;
  if (blank_before && !lines.empty()) lines.emplace_back();
  lines.insert(lines.end(), more.begin(), more.end());
}

// What does not depend on the room: the header above, host and troubles below.
struct Frame {
  std::string header;
  Lines below;
  std::size_t lines() const { return 1 + below.size(); }
};

Frame make_frame(const Snapshot &snapshot, const StatusOptions &options) {
  Frame frame{header_line(snapshot, options.style), {}};
  if (options.host) frame.below.push_back(host_line(snapshot, options.style));
  append(frame.below, problem_lines(snapshot, options.style), false);
  if (options.findings != nullptr) append(frame.below, finding_lines(options), false);
  append(frame.below, event_lines(snapshot, options), false);
  return frame;
}

std::size_t top_level(const Snapshot &snapshot) {
  return static_cast<std::size_t>(std::count_if(snapshot.devices.begin(), snapshot.devices.end(),
                                                [](const Device &device) { return !device.is_instance(); }));
}

// Without a device there is nothing to say about processes.
bool shows_processes(const Snapshot &snapshot, const StatusOptions &options) {
  return options.processes && (!snapshot.devices.empty() || !snapshot.processes.empty());
}

// Rows for the devices: two each where that leaves room for the processes, one each, several to a line.
Lines choose_device_lines(const Snapshot &snapshot, const StatusOptions &options, std::size_t room) {
  if (snapshot.devices.empty())
    return {
        term::line(options.style,
                   {{options.absence.empty() ? std::string(absence_words(snapshot)) : options.absence, Colour::warn}})};
  const std::size_t wanted = options.processes ? 1 + std::min(snapshot.processes.size(), kProcessesAtLeast) : 0;
  if (top_level(snapshot) <= kDevicesWithDetails) {
    auto lines = device_lines(snapshot, options.style, true);
    if (options.height == 0 || lines.size() + wanted <= room) return lines;
  }
  if (options.height > 0 && snapshot.devices.size() + 1 > room) return device_grid(snapshot, options.style, room);
  return device_lines(snapshot, options.style, false);
}

}  // namespace

MetricSet needs_of_status() {
  MetricSet set;
  add_device_needs(set);
  add_process_needs(set);
  add_host_needs(set);
  // Events come with the metric that counts them.
  set.add_roles(Scope::device, {Role::alarm});
  return set;
}

std::string render_status(const Snapshot &snapshot, const StatusOptions &options) {
  const Frame frame = make_frame(snapshot, options);
  const auto height = static_cast<std::size_t>(std::max(0, options.height));
  const std::size_t room = height > frame.lines() ? height - frame.lines() : 0;
  const Lines devices = choose_device_lines(snapshot, options, room);
  const std::size_t natural = devices.size() + (shows_processes(snapshot, options) ? 1 + snapshot.processes.size() : 0);
  // Blank lines between the parts are the first to go.
  const bool airy = height == 0 || natural + 2 <= room;

  Lines lines{frame.header};
  append(lines, devices, airy);
  if (shows_processes(snapshot, options) && (height == 0 || devices.size() < room)) {
    const auto left = height == 0 ? snapshot.processes.size() + 1 : room - devices.size() - (airy ? 2 : 0);
    append(lines, process_lines(snapshot, options.style, left), airy);
  }
  append(lines, frame.below, airy);
  if (height > 0 && lines.size() > height) lines.resize(height);
  std::string text;
  for (const auto &line : lines) text += line + '\n';
  return text;
}

}  // namespace gpulse::view
