// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "insight/catalogue.hpp"
#include "metric/format.hpp"
#include "view/cell.hpp"
#include "view/diagnosis.hpp"
#include "view/job_report.hpp"
#include "view/job_report_svg.hpp"
#include "view/job_words.hpp"

namespace gpulse::view {

using insight::JobGpu;
using insight::JobReport;
using insight::Weight;

namespace {

std::string percent(double value) { return fixed(value, 0) + " %"; }
std::string watts(double value) { return fixed(value, 0) + " W"; }
std::string plain(double value) { return fixed(value, value < 10 && value != std::floor(value) ? 1 : 0); }
std::string per_second(double value) { return format_bytes(value) + "/s"; }
std::string length(double seconds) { return seconds < 60 ? fixed(seconds, 1) + " s" : short_duration(seconds); }
std::string or_dash(const Reading &reading, std::string (*words)(double)) {
  return reading ? words(reading.value())
                 : fmt::format(R"(<span class="dim" title="{}">–</span>)", html_escaped(reason_text(reading)));
}

// A round number at or above it, for the top of an axis.
double round_up(double value) {
  if (value <= 0) return 1;
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 4.0, 5.0, 8.0, 10.0}) {
    if (value <= step * power) return step * power;
  }
  return 10 * power;
}
double round_up_bytes(double value) {
  double high = 1024;
  while (high < value) high *= 2;
  return high;
}

// The mean over the GPUs, weighted by the time on each; none where nobody tells.
Reading mean_of(const JobReport &report, Reading JobGpu::*member) {
  insight::TimeMean mean;
  for (const auto &gpu : report.gpus) mean.add(gpu.*member, gpu.seconds);
  return mean.mean();
}

std::string memory_card(const JobReport &report) {
  const JobGpu *fullest = nullptr;
  for (const auto &gpu : report.gpus) {
    if (gpu.memory_bytes && (fullest == nullptr || gpu.memory_bytes.value() > fullest->memory_bytes.value()))
      fullest = &gpu;
  }
  if (fullest == nullptr) return {};
  const auto of_all =
      fullest->total_memory_bytes ? " of " + format_bytes(fullest->total_memory_bytes.value()) : std::string();
  return html_card(format_bytes(fullest->memory_bytes.value()), "GPU memory at most" + of_all);
}

std::string cards(const JobReport &report, const JobReportOptions &options) {
  auto out = std::string(R"(<div class="cards">)") + html_card(length(report.seconds()), "duration");
  if (const auto busy = mean_of(report, &JobGpu::utilization_percent))
    out += html_card(percent(busy.value()), "of the time a kernel ran");
  if (const auto active = mean_of(report, &JobGpu::activity_percent))
    out += html_card(percent(active.value()), "of the GPU at work: true activity");
  out += memory_card(report);
  if (const auto energy = report.energy()) {
    out += html_card(energy_words(energy->joules), "energy, " + bounds_words(*energy, "–"));
    if (options.price) out += html_card(price_words(*options.price, energy->joules), "for that energy");
  }
  if (report.use.cpu_seconds && report.seconds() > 0) {
    const auto of_all = report.host_cores ? " of " + plain(report.host_cores.value()) : std::string();
    out += html_card(plain(report.use.cpu_seconds.value() / report.seconds()), "CPU cores in the mean" + of_all);
  }
  return out + "</div>\n";
}

std::string finding_html(const JobReport &report, const insight::JobFinding &found) {
  const auto &finding = found.finding;
  std::string where;
  for (const auto &id : finding.devices) where += (where.empty() ? "GPU " : ", ") + text(id);
  const auto when = when_words(report, found, "–");
  auto out = fmt::format(R"(<section class="finding {}"><h3>{}</h3><p class="dim">{}{}{}{}{}</p><p>{}</p>)",
                         insight::word(finding.weight), html_escaped(insight::describe(finding.id).title),
                         insight::word(finding.id), where.empty() ? "" : " · ", where, when.empty() ? "" : " · ", when,
                         html_escaped(finding.text + "."));
  if (const auto cost = cost_words(finding); !cost.empty()) out += fmt::format("<p>Costs {}.</p>", cost);
  out += "<p>";
  for (const auto &fact : evidence_words(finding)) out += fmt::format("<code>{}</code> ", html_escaped(fact));
  out += "</p>";
  if (!finding.advice.empty()) {
    out += "<ul>";
    for (const auto &advice : finding.advice) out += fmt::format("<li>{}</li>", html_escaped(advice));
    out += "</ul>";
  }
  return out + "</section>\n";
}

std::string findings_html(const JobReport &report) {
  std::string out;
  for (const auto &found : report.findings) {
    if (found.finding.weight != Weight::ok) out += finding_html(report, found);
  }
  if (out.empty()) return {};
  return "<h2>What was found</h2>\n" + out;
}

std::string table_html(const JobReport &report) {
  std::string out =
      "<h2>GPUs</h2><div class=\"wide\"><table><tr><th>GPU</th><th>Name</th><th>Time</th><th>Utilisation</th>"
      "<th>True activity</th><th>0–100 %</th><th>Memory</th><th>Free</th><th>Power</th><th>Energy</th></tr>\n";
  for (const auto &gpu : report.gpus) {
    const auto free = gpu.total_memory_bytes && gpu.device_memory_bytes
                          ? Reading(gpu.total_memory_bytes.value() - gpu.device_memory_bytes.value())
                          : gpu.device_memory_bytes;
    const auto energy = gpu.energy ? fmt::format(R"(<span title="{}">{}</span>)", bounds_words(*gpu.energy, "–"),
                                                 energy_words(gpu.energy->joules))
                                   : std::string("–");
    out += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</"
        "td><td>{}</td></tr>\n",
        text(gpu.id), html_escaped(gpu.identity->name), length(gpu.seconds), or_dash(gpu.utilization_percent, percent),
        or_dash(gpu.activity_percent, percent), job_histogram_svg(gpu), or_dash(gpu.memory_bytes, format_bytes),
        or_dash(free, format_bytes), or_dash(gpu.power_watts, watts), energy);
  }
  return out + "</table></div>\n";
}

std::string gpu_plots(const JobReport &report, const JobGpu &gpu) {
  const std::array busy{JobPlotCurve{&gpu.utilization, "utilisation", "b"},
                        JobPlotCurve{&gpu.activity, "true activity", "a", true}};
  const std::array memory{JobPlotCurve{&gpu.device_memory, "in use", "b"},
                          JobPlotCurve{&gpu.memory, "the job's", "a", true}};
  const std::array power{JobPlotCurve{&gpu.power, "power", "c", true}};
  auto out =
      fmt::format("<h2>GPU {} <span class=\"dim\">{}</span></h2>\n", text(gpu.id), html_escaped(gpu.identity->name));
  out += job_plot_svg(report, {"Activity", busy, 100, percent}, gpu.id);
  const double most = gpu.total_memory_bytes.value_or(round_up_bytes(gpu.device_memory.most()));
  out += job_plot_svg(report, {"Memory", memory, most, format_bytes}, gpu.id);
  return out + job_plot_svg(report, {"Power", power, round_up(gpu.power.most()), watts}, gpu.id);
}

std::string host_html(const JobReport &report) {
  const std::array cores{JobPlotCurve{&report.cores, "cores in use", "b", true}};
  const std::array memory{JobPlotCurve{&report.host_memory, "memory of all its processes", "a", true}};
  const std::array storage{JobPlotCurve{&report.read_rate, "read", "b", true},
                           JobPlotCurve{&report.write_rate, "written", "c"}};
  std::string out = "<h2>Host</h2>\n";
  out += job_plot_svg(report, {"CPU", cores, round_up(report.cores.most()), plain}, std::nullopt);
  out += job_plot_svg(report, {"Host memory", memory, round_up_bytes(report.host_memory.most()), format_bytes},
                      std::nullopt);
  const double most = std::max(report.read_rate.most(), report.write_rate.most());
  if (most > 0) out += job_plot_svg(report, {"Storage", storage, round_up_bytes(most), per_second}, std::nullopt);
  return out;
}

std::string facts_html(const JobReport &report) {
  std::string out = "<h2>Facts</h2><dl>";
  const auto fact = [&](std::string_view name, std::string_view words) {
    if (!words.empty()) out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, html_escaped(words));
  };
  fact("Phases", phase_words(report));
  fact("CPU", cpu_words(report));
  fact("Storage", io_words(report));
  fact("Others on its GPUs", neighbour_words(report, 10));
  if (const auto energy = report.energy()) {
    const bool shared = std::ranges::any_of(report.gpus, &JobGpu::shared);
    fact("Energy", fmt::format("{} ({}), {}{}", energy_words(energy->joules), bounds_words(*energy, "–"),
                               energy->counted ? "counted by the GPU, while the job was on it"
                                               : "added up from the power while the job was on it",
                               shared ? "; of the whole GPU, others on it included" : ""));
  }
  if (std::ranges::any_of(report.gpus, &JobGpu::assumed)) {
    fact("GPUs", "told by memory that was taken meanwhile: the driver does not name the job's processes here");
  }
  fact("Samples", fmt::format("{}, over {}", report.samples, length(report.seconds())));
  return out + "</dl>\n";
}

}  // namespace

std::string job_report_html(const JobReport &report, const JobReportOptions &options) {
  const auto words = html_escaped(command_words(report));
  const bool good = report.how.code == 0;
  auto out = html_page_head(kJobHtmlHead, words + ": gpulse run", words);
  out += fmt::format("<p class=\"dim\"><span class=\"end{}\">{}</span>{} · {} to {}</p>\n", good ? "" : " bad",
                     end_words(report.how), html_escaped(report.hostname),
                     local_time(report.begin, "%Y-%m-%d %H:%M:%S"), local_time(report.end, "%Y-%m-%d %H:%M:%S %Z"));
  out += cards(report, options);
  if (const auto none = no_gpu_words(report); !none.empty()) {
    out += fmt::format("<p>GPU: {}.</p>\n", html_escaped(none));
  }
  out += findings_html(report);
  if (!report.gpus.empty()) out += table_html(report) + job_phases_svg(report);
  for (const auto &gpu : report.gpus) out += gpu_plots(report, gpu);
  out += host_html(report) + facts_html(report);
  return out +
         "<footer>Made by gpulse run. Shaded stretches of a plot are those that a finding is "
         "about.</footer>\n</main></body></html>\n";
}

}  // namespace gpulse::view
