// SPDX-License-Identifier: Apache-2.0
#include "view/job_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "insight/catalogue.hpp"
#include "metric/format.hpp"
#include "term/table.hpp"
#include "term/width.hpp"
#include "view/cell.hpp"
#include "view/diagnosis.hpp"
#include "view/finding_cells.hpp"
#include "view/job_words.hpp"

namespace gpulse::view {

using insight::JobFinding;
using insight::JobGpu;
using insight::JobReport;
using insight::Weight;
using term::Align;
using term::Cell;
using term::Colour;
using term::Style;

namespace {

constexpr int kIndent = 2;

Cell percent_cell(const Style &style, const Reading &reading) {
  return reading ? Cell(fixed(reading.value(), 0) + "%", load_colour(reading.value())) : missing_cell(style);
}

Cell memory_cell(const Style &style, const JobGpu &gpu) {
  const auto &held = gpu.memory_bytes ? gpu.memory_bytes : gpu.device_memory_bytes;
  if (!held) return missing_cell(style);
  if (!gpu.total_memory_bytes) return short_bytes(held.value());
  const double total = gpu.total_memory_bytes.value();
  return {short_share(held.value(), total), memory_colour(gpu.device_memory_bytes.value_or(held.value()) / total)};
}

Cell energy_cell(const Style &style, const JobGpu &gpu) {
  return gpu.energy ? Cell(energy_words(gpu.energy->joules)) : missing_cell(style);
}

// How the activity was spread: a block per tenth, as high as the time spent in it.
std::string histogram_words(const Style &style, const JobGpu &gpu) {
  static constexpr std::array<std::string_view, 9> kBlocks{"·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr std::array<std::string_view, 9> kAscii{".", "_", "_", "-", "-", "=", "=", "#", "#"};
  const double most = std::ranges::max(gpu.activity_histogram);
  if (!gpu.activity_percent || most <= 0) return {};
  std::string words;
  for (const double seconds : gpu.activity_histogram) {
    const auto height = seconds > 0 ? static_cast<std::size_t>(seconds / most * 7) + 1 : 0;
    words += (style.unicode ? kBlocks : kAscii)[height];
  }
  return words;
}

std::vector<std::string> gpu_lines(const JobReport &report, const Style &style) {
  term::Table table({{.title = "GPU", .align = Align::right},
                     {.title = "NAME", .gap = 2, .min = 6, .cap = 24, .keep = 800},
                     {.title = "TIME", .align = Align::right, .gap = 2},
                     {.title = "BUSY", .align = Align::right, .gap = 2},
                     {.title = "ACTIVE", .align = Align::right, .gap = 2},
                     {.title = style.unicode ? "0–100 %" : "0-100 %", .gap = 2, .keep = 300},
                     {.title = "MEMORY", .align = Align::right, .gap = 2, .keep = 900},
                     {.title = "FREE", .align = Align::right, .gap = 2, .keep = 500},
                     {.title = "POWER", .align = Align::right, .gap = 2, .keep = 700},
                     {.title = "ENERGY", .align = Align::right, .gap = 2, .keep = 850}});
  for (const auto &gpu : report.gpus) {
    const auto free = gpu.total_memory_bytes && gpu.device_memory_bytes
                          ? Cell(short_bytes(gpu.total_memory_bytes.value() - gpu.device_memory_bytes.value()))
                          : missing_cell(style);
    table.add({Cell(text(gpu.id)), Cell(term::clean(short_name(*gpu.identity), style.unicode)),
               Cell(short_duration(gpu.seconds)), percent_cell(style, gpu.utilization_percent),
               percent_cell(style, gpu.activity_percent), Cell(histogram_words(style, gpu)), memory_cell(style, gpu),
               free, gpu.power_watts ? Cell(short_watts(gpu.power_watts.value()) + "W") : missing_cell(style),
               energy_cell(style, gpu)});
  }
  return table.lines(style);
}

class Page {
 public:
  explicit Page(const Style &style) : style_(style) {}

  void line(const std::vector<term::Span> &spans) { out_ += term::line(style_, spans) + "\n"; }
  void raw(const std::vector<std::string> &lines) {
    for (const auto &line : lines) out_ += line + "\n";
  }
  // Words that go on below themselves where there is no room.
  void paragraph(const std::vector<term::Span> &head, std::string_view words, int indent) {
    const auto clean = term::clean(words, style_.unicode);
    const int room = std::max(style_.width, indent + 20);
    auto spans = head;
    int at = term::width(head);
    bool fresh = true;
    for (const auto word : split_words(clean)) {
      if (!fresh && at + 1 + term::width(word) > room) {
        line(spans);
        spans = {{std::string(static_cast<std::size_t>(indent), ' ')}};
        at = indent;
        fresh = true;
      }
      spans.push_back({(fresh ? "" : " ") + std::string(word)});
      at += term::width(word) + (fresh ? 0 : 1);
      fresh = false;
    }
    line(spans);
  }
  void fact(std::string_view name, std::string_view words) {
    if (!words.empty()) paragraph({{fmt::format("{:<9} ", name), Colour::dim}}, words, 10);
  }
  std::string take() { return std::move(out_); }

 private:
  Style style_;
  std::string out_;
};

void add_energy(Page &page, const JobReport &report, const JobReportOptions &options) {
  const auto energy = report.energy();
  if (!energy) return;
  const std::string_view dash = options.style.unicode ? "–" : "-";
  auto words = fmt::format("{} ({})", energy_words(energy->joules), bounds_words(*energy, dash));
  if (options.price) words += fmt::format(", costs {}", price_words(*options.price, energy->joules));
  if (!energy->counted) words += ", added up from the power";
  if (std::ranges::any_of(report.gpus, &JobGpu::shared)) words += "; of the whole GPU, others on it included";
  page.fact("energy", words);
}

void add_finding(Page &page, const JobReport &report, const JobFinding &found, const Style &style) {
  const auto &finding = found.finding;
  std::string where;
  for (const auto &id : finding.devices) where += (where.empty() ? "GPU " : ", ") + text(id);
  const auto when = when_words(report, found, style.unicode ? "–" : "-");
  std::string note = where;
  if (!when.empty()) note += (note.empty() ? "" : ", ") + when;
  if (finding.estimated) note += (note.empty() ? "" : ", ") + std::string("estimated");
  page.line({{std::string(insight::word(finding.weight)) + " ", finding_colour(finding)},
             {std::string(insight::word(finding.id)), Colour::bold},
             {note.empty() ? "" : "  " + note, Colour::dim}});
  const std::string indent(kIndent, ' ');
  page.paragraph({{indent}}, finding.text + ".", kIndent);
  if (const auto cost = cost_words(finding); !cost.empty()) page.paragraph({{indent}}, "Costs " + cost + ".", kIndent);
  for (const auto &advice : finding.advice) page.paragraph({{indent + "> ", Colour::accent}}, advice, kIndent + 2);
}

}  // namespace

std::string render_job_report(const JobReport &report, const JobReportOptions &options) {
  const auto &style = options.style;
  Page page(style);
  const bool good = report.how.code == 0;
  const auto length = report.seconds() < 60 ? fixed(report.seconds(), 1) + " s" : short_duration(report.seconds());
  page.line({{"gpulse: ", Colour::dim},
             {end_words(report.how), good ? Colour::good : Colour::bad},
             {" after " + length + ": "},
             {term::clean(command_words(report), style.unicode), Colour::bold}});
  if (const auto none = no_gpu_words(report); !none.empty()) {
    page.fact("GPU", none);
  } else {
    page.raw(gpu_lines(report, style));
    add_energy(page, report, options);
  }
  if (report.samples > 0) page.fact("CPU", cpu_words(report));
  if (!report.gpus.empty()) {
    page.fact("storage", io_words(report));
    page.fact("phases", phase_words(report));
    page.fact("others", neighbour_words(report, 3));
  }
  if (std::ranges::any_of(report.gpus, &JobGpu::assumed)) {
    page.fact("told by", "memory that was taken meanwhile: the driver does not name the job's processes here");
  }
  if (report.left_running > 0) {
    page.fact("left", fmt::format("{} process{} of the job still run{}", report.left_running,
                                  report.left_running == 1 ? "" : "es", report.left_running == 1 ? "s" : ""));
  }
  for (const auto &finding : report.findings) {
    if (finding.finding.weight != Weight::ok) add_finding(page, report, finding, style);
  }
  return page.take();
}

}  // namespace gpulse::view
