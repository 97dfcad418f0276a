// SPDX-License-Identifier: Apache-2.0
#include "view/job_report_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "insight/catalogue.hpp"
#include "view/cell.hpp"

namespace gpulse::view {

using insight::JobCurve;
using insight::JobReport;

namespace {

// In units of the drawing.
constexpr double kWidth = 900, kHeight = 118, kLeft = 58, kRight = 8, kTop = 8, kBottom = 20;
constexpr double kWhole = 0.9;  // of the job
constexpr double kPlotWidth = kWidth - kLeft - kRight, kPlotHeight = kHeight - kTop - kBottom;

double x_of(const JobReport &report, double seconds) {
  const double all = std::max(report.seconds(), 1e-3);
  return kLeft + std::clamp(seconds / all, 0.0, 1.0) * kPlotWidth;
}
double y_of(const JobPlot &plot, double value) {
  const double share = plot.high > 0 ? std::clamp(value / plot.high, 0.0, 1.0) : 0;
  return kTop + (1 - share) * kPlotHeight;
}

// A step that people count in, of which about six go into the time.
double tick_seconds(double all) {
  constexpr std::array kSteps{1.0,   2.0,    5.0,    10.0,   15.0,    30.0,    60.0,    120.0,   300.0,    600.0,
                              900.0, 1800.0, 3600.0, 7200.0, 10800.0, 21600.0, 43200.0, 86400.0, 172800.0, 604800.0};
  for (const double step : kSteps) {
    if (all / step <= 7) return step;
  }
  return kSteps.back() * std::ceil(all / kSteps.back() / 7);
}

std::string time_axis(const JobReport &report) {
  std::string out;
  const double all = report.seconds(), step = tick_seconds(all);
  const auto ticks = static_cast<int>(all / step);
  for (int tick = 0; tick <= ticks; ++tick) {
    const double at = tick * step;
    const double x = x_of(report, at);
    out +=
        fmt::format(R"(<line class="grid" x1="{0:.1f}" y1="{1}" x2="{0:.1f}" y2="{2}"/>)", x, kTop, kTop + kPlotHeight);
    const auto *anchor = x > kWidth - 40 ? "end" : tick == 0 ? "start" : "middle";
    out += fmt::format(R"(<text x="{:.1f}" y="{}" text-anchor="{}">{}</text>)", x, kHeight - 5, anchor,
                       short_duration(at));
  }
  return out;
}

std::string value_axis(const JobPlot &plot) {
  std::string out;
  for (const double share : {0.0, 0.5, 1.0}) {
    const double y = y_of(plot, share * plot.high);
    out +=
        fmt::format(R"(<line class="grid" x1="{1}" y1="{0:.1f}" x2="{2}" y2="{0:.1f}"/>)", y, kLeft, kWidth - kRight);
    out += fmt::format(R"(<text x="{}" y="{:.1f}" text-anchor="end">{}</text>)", kLeft - 6, y + 4,
                       html_escaped(plot.label(share * plot.high)));
  }
  return out;
}

std::string bands(const JobReport &report, std::optional<DeviceId> device) {
  std::string out;
  for (const auto &found : report.findings) {
    const auto &finding = found.finding;
    const bool here =
        finding.devices.empty() || (device && std::ranges::find(finding.devices, *device) != finding.devices.end());
    if (!here || finding.weight == insight::Weight::ok) continue;
    for (const auto &[from, to] : found.stretches) {
      // What is true of the whole time is nothing to point at.
      if (to - from >= kWhole * report.seconds()) continue;
      const double left = x_of(report, from), width = std::max(x_of(report, to) - left, 1.5);
      out +=
          fmt::format(R"(<rect class="band {}" x="{:.1f}" y="{}" width="{:.1f}" height="{}"><title>{}</title></rect>)",
                      insight::word(finding.weight), left, kTop, width, kPlotHeight, insight::word(finding.id));
    }
  }
  return out;
}

// A path per stretch without a gap; a lone point is drawn as wide as its time.
std::string curve_path(const JobReport &report, const JobPlot &plot, const JobPlotCurve &shown) {
  const auto &curve = *shown.curve;
  std::string line, area;
  const auto close = [&](double x) {
    if (!area.empty() && shown.filled) area += fmt::format("L{:.1f} {:.1f}Z", x, kTop + kPlotHeight);
  };
  bool drawing = false;
  double x = 0;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const auto value = curve.at(i);
    if (!value) {
      if (drawing) close(x);
      drawing = false;
      continue;
    }
    const double y = y_of(plot, *value);
    const auto begin = static_cast<double>(i) * curve.step_seconds();
    if (!drawing) {
      x = x_of(report, begin);
      line += fmt::format("M{:.1f} {:.1f}", x, y);
      area += fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", x, kTop + kPlotHeight, x, y);
    }
    x = x_of(report, begin + curve.step_seconds());
    const auto middle = x_of(report, begin + curve.step_seconds() / 2);
    line += fmt::format("L{:.1f} {:.1f}", middle, y);
    area += fmt::format("L{:.1f} {:.1f}", middle, y);
    const bool last = i + 1 == curve.size() || !curve.at(i + 1);
    if (last) {
      line += fmt::format("L{:.1f} {:.1f}", x, y);
      area += fmt::format("L{:.1f} {:.1f}", x, y);
    }
    drawing = true;
  }
  if (drawing) close(x);
  auto out = shown.filled ? fmt::format(R"(<path class="area {}" d="{}"/>)", shown.style, area) : std::string();
  return out + fmt::format(R"(<path class="curve {}" d="{}"/>)", shown.style, line);
}

}  // namespace

std::string job_plot_svg(const JobReport &report, const JobPlot &plot, std::optional<DeviceId> device) {
  std::string legend;
  for (const auto &shown : plot.curves) {
    if (!shown.curve->empty()) legend += fmt::format(R"(<span class="key {}">{}</span>)", shown.style, shown.name);
  }
  if (legend.empty()) return {};
  auto out = fmt::format(
      R"(<figure><figcaption><b>{}</b> {}</figcaption><svg viewBox="0 0 {} {}" role="img" aria-label="{}">)",
      plot.title, legend, kWidth, kHeight, plot.title);
  out += bands(report, device) + value_axis(plot) + time_axis(report);
  for (const auto &shown : plot.curves) {
    if (!shown.curve->empty()) out += curve_path(report, plot, shown);
  }
  return out + "</svg></figure>\n";
}

std::string job_phases_svg(const JobReport &report) {
  constexpr double kStrip = 22;
  if (report.phases.size() < 2) return {};
  auto out = fmt::format(
      R"(<figure><figcaption><b>Phases</b></figcaption><svg viewBox="0 0 {} {}" role="img" aria-label="Phases">)",
      kWidth, kStrip + 2);
  for (const auto &phase : report.phases) {
    const double left = x_of(report, phase.from_seconds), width = x_of(report, phase.to_seconds) - left;
    const auto words = fmt::format("{} {}", insight::word(phase.kind), short_duration(phase.seconds()));
    out +=
        fmt::format(R"(<rect class="phase p{}" x="{:.1f}" y="1" width="{:.1f}" height="{}"><title>{}</title></rect>)",
                    static_cast<int>(phase.kind), left, std::max(width - 1, 0.5), kStrip, words);
    if (width > 7.0 * static_cast<double>(words.size())) {
      out +=
          fmt::format(R"(<text class="in" x="{:.1f}" y="16" text-anchor="middle">{}</text>)", left + width / 2, words);
    }
  }
  return out + "</svg></figure>\n";
}

std::string job_histogram_svg(const insight::JobGpu &gpu) {
  constexpr double kBar = 14, kTall = 36;
  const double most = std::ranges::max(gpu.activity_histogram);
  if (!gpu.activity_percent || most <= 0) return "–";
  auto out = fmt::format(R"(<svg class="histogram" viewBox="0 0 {} {}" role="img" aria-label="Time at each activity">)",
                         kBar * static_cast<double>(insight::kActivitySteps), kTall);
  for (std::size_t i = 0; i < gpu.activity_histogram.size(); ++i) {
    const double seconds = gpu.activity_histogram[i];
    const double height = seconds > 0 ? std::max(seconds / most * kTall, 1.5) : 0;
    out += fmt::format(
        R"(<rect class="bar" x="{:.1f}" y="{:.1f}" width="{}" height="{:.1f}"><title>{}–{} %: {}</title></rect>)",
        kBar * static_cast<double>(i) + 1, kTall - height, kBar - 2, height, i * 10, i * 10 + 10,
        short_duration(seconds));
  }
  return out + "</svg>";
}

}  // namespace gpulse::view
