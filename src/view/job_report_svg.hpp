// SPDX-License-Identifier: Apache-2.0
// The plots of a job's report as SVG that stands inside of HTML; colours are classes of its style sheet. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "insight/job_report.hpp"
#include "view/html_page.hpp"

namespace gpulse::view {

struct JobPlotCurve {
  const insight::JobCurve *curve = nullptr;
  std::string_view name, style;  // in the legend; class of the style sheet
  bool filled = false;
};

struct JobPlot {
  std::string_view title;
  std::span<const JobPlotCurve> curves;
  double high = 100;  // at the top; the bottom is 0
  std::string (*label)(double value) = nullptr;
};

// With the phases above it and the findings behind it, those of `device` and of no device; none: those of the host.
std::string job_plot_svg(const insight::JobReport &report, const JobPlot &plot, std::optional<DeviceId> device);
std::string job_phases_svg(const insight::JobReport &report);
// The time spent at each tenth of the activity.
std::string job_histogram_svg(const insight::JobGpu &gpu);

}  // namespace gpulse::view
