// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/json_writer.hpp"
#include "insight/catalogue.hpp"
#include "view/diagnosis.hpp"
#include "view/job_report.hpp"

namespace gpulse::view {

using insight::JobCurve;
using insight::JobGpu;
using insight::JobReport;

namespace {

constexpr double kThousand = 1000;

double rounded(double value) { return std::round(value * kThousand) / kThousand; }

// Members that are numbers or, collected for "unavailable", reasons.
class Numbers {
 public:
  explicit Numbers(JsonWriter &json) : json_(json) {}

  void add(std::string_view name, const Reading &reading) {
    json_.key(name);
    if (reading) return json_.value(rounded(reading.value()));
    json_.null();
    missing_.emplace_back(name, reason_text(reading));
  }
  void end() {
    json_.key("unavailable");
    json_.begin_object();
    for (const auto &[name, reason] : missing_) json_.member(name, reason);
    json_.end_object();
  }

 private:
  JsonWriter &json_;
  std::vector<std::pair<std::string, std::string>> missing_;
};

std::string_view name_of(Role role) { return describe(*find_role(Scope::process, role)).key; }

void write_curve(JsonWriter &json, std::string_view name, const JobCurve &curve) {
  if (curve.empty()) return;
  json.key(name);
  json.begin_object();
  json.member("step_seconds", curve.step_seconds());
  json.key("values");
  json.begin_array();
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const auto value = curve.at(i);
    value ? json.value(rounded(*value)) : json.null();
  }
  json.end_array();
  json.end_object();
}

void write_energy(JsonWriter &json, const std::optional<insight::JobEnergy> &energy, const JobReportOptions &options) {
  json.key("energy");
  if (!energy) return json.null();
  json.begin_object();
  json.member("joules", rounded(energy->joules));
  json.member("least_joules", rounded(energy->least));
  json.member("most_joules", rounded(energy->most));
  json.member("method", energy->counted ? "counter" : "power");
  if (options.price) {
    json.member("cost", options.price->of(energy->joules));
    json.key("currency");
    options.price->currency.empty() ? json.null() : json.value(options.price->currency);
  }
  json.end_object();
}

void write_gpu(JsonWriter &json, const JobGpu &gpu, const JobReportOptions &options) {
  json.begin_object();
  json.member("id", text(gpu.id));
  json.member("uuid", gpu.identity->uuid.str());
  json.member("name", gpu.identity->name.str());
  json.member("assumed", gpu.assumed);
  json.member("shared", gpu.shared);
  json.member("on_it_seconds", rounded(gpu.seconds));
  json.member("first_seconds", rounded(gpu.first_seconds));
  json.member("last_seconds", rounded(gpu.last_seconds));
  Numbers numbers(json);
  numbers.add("busy_seconds", gpu.busy_seconds);
  numbers.add("utilization_mean_percent", gpu.utilization_percent);
  numbers.add("activity_mean_percent", gpu.activity_percent);
  numbers.add("memory_peak_bytes", gpu.memory_bytes);
  numbers.add("device_memory_peak_bytes", gpu.device_memory_bytes);
  numbers.add("device_memory_bytes", gpu.total_memory_bytes);
  numbers.add("power_mean_watts", gpu.power_watts);
  numbers.end();
  json.key("activity_histogram_seconds");
  json.begin_array();
  for (const double seconds : gpu.activity_histogram) json.value(rounded(seconds));
  json.end_array();
  write_energy(json, gpu.energy, options);
  json.key("series");
  json.begin_object();
  write_curve(json, "utilization_percent", gpu.utilization);
  write_curve(json, "activity_percent", gpu.activity);
  write_curve(json, "job_memory_bytes", gpu.memory);
  write_curve(json, "device_memory_bytes", gpu.device_memory);
  write_curve(json, "power_watts", gpu.power);
  json.end_object();
  json.end_object();
}

void write_host(JsonWriter &json, const JobReport &report) {
  json.key("host");
  json.begin_object();
  Numbers numbers(json);
  numbers.add("cores", report.host_cores);
  numbers.add("cpu_seconds", report.use.cpu_seconds);
  numbers.add("memory_peak_bytes", report.memory_bytes);
  numbers.add("read_bytes", report.use.read_bytes);
  numbers.add("written_bytes", report.use.written_bytes);
  json.member("processes_most", report.processes);
  json.member("processes_left", report.left_running);
  numbers.end();
  json.key("series");
  json.begin_object();
  write_curve(json, "cores", report.cores);
  write_curve(json, "job_memory_bytes", report.host_memory);
  write_curve(json, "read_bytes_per_second", report.read_rate);
  write_curve(json, "written_bytes_per_second", report.write_rate);
  json.end_object();
  json.end_object();
}

void write_finding(JsonWriter &json, const JobReport &report, const insight::JobFinding &found) {
  json.begin_object();
  write_finding_members(json, found.finding, report.begin);
  json.member("seconds", rounded(found.seconds));
  json.key("stretches");
  json.begin_array();
  for (const auto &[from, to] : found.stretches) {
    json.begin_object();
    json.member("since_seconds", rounded(from));
    json.member("until_seconds", rounded(to));
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_neighbour(JsonWriter &json, const insight::JobNeighbour &other) {
  json.begin_object();
  json.member("pid", other.pid);
  json.member("gpu", text(other.device));
  json.member(name_of(Role::user), other.user.str());
  json.member("name", other.name.str());
  json.member("seconds", rounded(other.seconds));
  Numbers numbers(json);
  numbers.add("memory_peak_bytes", other.memory_bytes);
  numbers.end();
  json.end_object();
}

template <class Range, class Write>
void write_list(JsonWriter &json, std::string_view name, const Range &range, Write write) {
  json.key(name);
  json.begin_array();
  for (const auto &one : range) write(one);
  json.end_array();
}

}  // namespace

std::string job_report_json(const JobReport &report, const JobReportOptions &options) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.member("schema", "gpulse.run/1");
  write_list(json, name_of(Role::command), report.command,
             [&](const std::string &word) { json.value(printable(word)); });
  json.member("hostname", report.hostname.str());
  json.member("begin", iso8601_utc(report.begin));
  json.member("end", iso8601_utc(report.end));
  json.member("duration_seconds", rounded(report.seconds()));
  json.member("exit_code", report.how.code);
  json.key("signal");
  report.how.signal != 0 ? json.value(report.how.signal) : json.null();
  json.member("samples", report.samples);
  json.member("unseen_seconds", rounded(report.unseen_seconds));
  json.key("no_gpu");
  report.absence.empty() ? json.null() : json.value(report.absence);
  json.key("verdict");
  report.verdict ? json.value(insight::word(*report.verdict)) : json.null();
  write_list(json, "findings", report.findings, [&](const auto &finding) { write_finding(json, report, finding); });
  write_energy(json, report.energy(), options);
  write_list(json, "gpus", report.gpus, [&](const JobGpu &gpu) { write_gpu(json, gpu, options); });
  write_host(json, report);
  write_list(json, "phases", report.phases, [&](const insight::JobPhase &phase) {
    json.begin_object();
    json.member("kind", insight::word(phase.kind));
    json.member("from_seconds", rounded(phase.from_seconds));
    json.member("to_seconds", rounded(phase.to_seconds));
    json.end_object();
  });
  write_list(json, "others", report.neighbours, [&](const auto &other) { write_neighbour(json, other); });
  json.end_object();
  return out + "\n";
}

}  // namespace gpulse::view
