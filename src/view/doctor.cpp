// SPDX-License-Identifier: Apache-2.0
#include "view/doctor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/counted.hpp"
#include "insight/checkup.hpp"
#include "metric/format.hpp"
#include "term/table.hpp"
#include "view/cell.hpp"
#include "view/device_cells.hpp"

namespace gpulse::view {

using term::Cell;
using term::Colour;
using term::Span;
using term::Style;

namespace {

// Which keys are missing, by the reason's text.
using Missing = std::map<std::string, std::vector<std::string_view>>;

std::string_view remedy_for(Reason reason) {
  switch (reason) {
    case Reason::not_sampled:
      return "read too seldom to have come in the time that this took: leave gpulse running";
    case Reason::not_supported:
      return "this device or its driver does not have them: nothing to do";
    case Reason::no_permission:
      return "there, but not for this user: run as root, or let the administrator open them";
    case Reason::asleep:
      return "the device sleeps and is not woken for a reading: they come when something uses it";
    case Reason::lost:
      return "the device does not answer on the bus: see the kernel's log, then restart the machine";
    case Reason::not_responding:
      return "the driver has not answered in time: see the kernel's log";
    case Reason::out_of_range:
      return "the driver gave a number that cannot be: a newer driver may do better";
    case Reason::reset_required:
      return "reset the device";
    case Reason::error:
      return "the driver refused: see the kernel's log";
    case Reason::deprecated:
      return "this driver has given them up: nothing to do";
  }
  return {};
}

class Report {
 public:
  explicit Report(const Style &style) : style_(style) {}

  void title(std::string_view text) {
    if (!text_.empty()) text_ += '\n';
    add({{std::string(text), Colour::bold}});
  }
  void add(const std::vector<Span> &spans) { text_ += term::line(style_, spans) + '\n'; }
  void paragraph(std::string_view text, int indent, Colour colour) {
    for (auto &piece : term::wrap(term::clean(text, style_.unicode), std::max(1, style_.width - indent))) {
      add({{std::string(static_cast<std::size_t>(indent), ' '), Colour::plain}, {std::move(piece), colour}});
    }
  }
  void table(const term::Table &table) {
    for (const auto &line : table.lines(style_)) text_ += line + '\n';
  }
  const Style &style() const { return style_; }
  std::string take() { return std::move(text_); }

 private:
  const Style &style_;
  std::string text_;
};

insight::Reader reader_of(const Snapshot &snapshot, const DoctorOptions &options) {
  if (!snapshot.origin.empty()) return insight::Reader::recording;
  return options.agent ? insight::Reader::agent : insight::Reader::this_program;
}

void report_verdict(Report &report, const Snapshot &snapshot, const DoctorOptions &options) {
  const auto remarks = insight::check_up(snapshot, reader_of(snapshot, options));
  report.paragraph(insight::verdict(snapshot, remarks), 0, Colour::bold);
  if (!remarks.empty()) report.title("What to do first");
  for (const auto &remark : remarks) {
    const auto line = remark.remedy.empty() ? remark.what : remark.what + ": " + remark.remedy;
    report.paragraph(line, 2, remark.weight == insight::Remark::Weight::trouble ? Colour::warn : Colour::plain);
  }
}

void report_agent(Report &report, const Snapshot &snapshot, const std::optional<AgentNote> &agent) {
  if (!snapshot.origin.empty()) return;  // a recording asks nobody
  report.title("Agent");
  report.paragraph(
      agent ? fmt::format("pid {} in {} reads the GPUs for everybody, every {:g} s; this sample is {:.1f} s old",
                          agent->pid, agent->folder, agent->interval_seconds, agent->age_seconds)
            : "none: this program reads the GPUs by itself",
      2, agent ? Colour::good : Colour::dim);
}

void report_sources(Report &report, const Snapshot &snapshot) {
  report.title("Sources");
  if (snapshot.sources.empty()) report.paragraph("none", 2, Colour::dim);
  for (const auto &source : snapshot.sources) {
    const auto name = term::clean(source.name, report.style().unicode);
    const auto found = counted(source.devices, "device");
    report.add({{"  " + term::pad(name, 10), Colour::plain}, {found, source.devices > 0 ? Colour::good : Colour::dim}});
    if (!source.problem.empty()) report.paragraph(source.problem, 4, Colour::warn);
    if (!source.remedy.empty()) report.paragraph("what to do: " + source.remedy, 4, Colour::plain);
  }
}

// Those one can do something about first; what the hardware does not have last.
constexpr std::array kOrder{Reason::no_permission,  Reason::error,        Reason::reset_required, Reason::lost,
                            Reason::not_responding, Reason::out_of_range, Reason::asleep,         Reason::not_sampled,
                            Reason::deprecated,     Reason::not_supported};

// Whether any device of that kind has such a reading.
bool is_readable(const Device &device, MetricId id, const DoctorOptions &options) {
  if (device.identity == nullptr) return true;
  const auto known = options.readable.find(device.identity->source);
  return known == options.readable.end() || known->second.contains(id);
}

std::size_t count_readable(const Device &device, const DoctorOptions &options) {
  std::size_t count = 0;
  for_each_metric(Scope::device, [&](MetricId id, const Metric &metric) {
    if (!is_text(metric) && is_readable(device, id, options)) ++count;
  });
  return count;
}

Missing missing_readings(const Device &device, Reason reason, const DoctorOptions &options) {
  Missing missing;
  for_each_metric(Scope::device, [&](MetricId id, const Metric &metric) {
    if (is_text(metric) || !device.row[id].is(reason) || !is_readable(device, id, options)) return;
    missing[reason_text(device.row[id])].push_back(metric.key);
  });
  return missing;
}

struct Lack {
  std::string text;  // of the reason
  std::vector<std::string_view> keys;
  std::size_t of = 0;  // how many readings such a device may have
  auto operator<=>(const Lack &) const = default;
};

void report_missing(Report &report, const Lack &lack, Reason reason, const std::vector<std::string> &devices) {
  const bool usual = reason == Reason::not_supported || reason == Reason::deprecated;
  report.add(
      {{fmt::format("  {} ", lack.text), usual ? Colour::plain : Colour::warn},
       {fmt::format("on GPU {}: {} of {}", fmt::join(devices, ", "), lack.keys.size(), lack.of), Colour::plain}});
  report.paragraph(remedy_for(reason), 4, Colour::plain);
  report.paragraph(fmt::format("{}", fmt::join(lack.keys, " ")), 4, Colour::dim);
}

// Devices that lack the same are told of together: eight equal boards would say it eight times.
void report_devices(Report &report, const Snapshot &snapshot, const DoctorOptions &options) {
  report.title("Readings that are missing");
  bool any = false;
  for (const auto reason : kOrder) {
    std::map<Lack, std::vector<std::string>> devices;
    for (const auto *device : ordered_devices(snapshot)) {
      for (auto &[text, keys] : missing_readings(*device, reason, options))
        devices[{text, keys, count_readable(*device, options)}].push_back(gpulse::text(device->id));
    }
    for (const auto &[lack, indices] : devices) report_missing(report, lack, reason, indices);
    any = any || !devices.empty();
  }
  if (!any) report.paragraph("none: every reading is there", 2, Colour::good);
}

// "12.3 ms" where the metric's own "0.012300 s" is hard to read.
std::string cost_text(const Metric &metric, double value) {
  const bool small = metric.unit == Unit::seconds && value < 1;
  return small ? fmt::format("{:.1f} ms", value * 1e3) : format_value(metric, value);
}

void report_cost(Report &report, const Snapshot &snapshot, std::span<const ReaderCost> costs) {
  report.title("What gpulse itself costs");
  for_each_metric(Scope::self, [&](MetricId id, const Metric &metric) {
    if (is_text(metric)) return;
    const auto &reading = snapshot.self[id];
    report.add({{"  " + term::pad(reading ? cost_text(metric, reading.value()) : reason_text(reading), 18),
                 reading ? Colour::plain : Colour::dim},
                {std::string(metric.help), Colour::dim}});
  });
  if (costs.empty()) return;
  std::vector<const ReaderCost *> dearest;
  for (const auto &cost : costs) dearest.push_back(&cost);
  std::sort(dearest.begin(), dearest.end(),
            [](const auto *a, const auto *b) { return std::tuple(-a->mean_us, a) < std::tuple(-b->mean_us, b); });
  report.title("Calls, the dearest first");
  term::Table table({{.title = "", .gap = 0},
                     {.title = "MEAN", .align = term::Align::right},
                     {.title = "RHYTHM", .gap = 2},
                     {.title = "CALL", .gap = 2, .min = 8},
                     {.title = "", .gap = 2}});
  for (const auto *cost : dearest) {
    const auto unit = report.style().unicode ? "µs" : "us";
    table.add({Cell(" "), Cell(fmt::format("{:.1f} {}", cost->mean_us, unit)), Cell(cost->tier),
               Cell(term::clean(cost->call, report.style().unicode)),
               cost->slowed ? Cell("slowed down", Colour::warn) : Cell()});
  }
  report.table(table);
}

}  // namespace

std::string render_doctor(const Snapshot &snapshot, std::span<const ReaderCost> costs, const DoctorOptions &options) {
  Report report(options.style);
  report_verdict(report, snapshot, options);
  report_agent(report, snapshot, options.agent);
  report_sources(report, snapshot);
  if (snapshot.devices.empty()) {
    report.title("Devices");
    report.paragraph(fmt::format("{}: see the sources above for why", absence_words(snapshot)), 2, Colour::warn);
  } else {
    report_devices(report, snapshot, options);
  }
  report_cost(report, snapshot, costs);
  return report.take();
}

}  // namespace gpulse::view
