// SPDX-License-Identifier: Apache-2.0
#include "view/job_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "metric/format.hpp"
#include "view/cell.hpp"
#include "view/diagnosis.hpp"

namespace gpulse::view {

using insight::JobReport;
using insight::PhaseKind;

namespace {

constexpr double kWattHour = 3600;

// As many digits as tell something.
std::string digits(double number) { return fixed(number, number < 10 ? 2 : number < 100 ? 1 : 0); }

struct Scale {
  double factor;
  std::string_view unit;
};
Scale scale_of(double joules) {
  if (joules < kWattHour) return {1, "J"};
  return joules < 1000 * kWattHour ? Scale{kWattHour, "Wh"} : Scale{1000 * kWattHour, "kWh"};
}

std::string word_of(const std::string &word) {
  constexpr std::string_view kPlain = "+,-./:=@_%";
  const auto is_plain = [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || kPlain.contains(c);
  };
  auto shown = printable(word);
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return shown;
  return "'" + shown + "'";
}

}  // namespace

std::string command_words(const JobReport &report) {
  std::string words;
  for (const auto &word : report.command) words += (words.empty() ? "" : " ") + word_of(word);
  return words;
}

std::string end_words(const insight::JobEnd &how) {
  if (how.signal != 0) {
    const char *name = ::sigabbrev_np(how.signal);
    return name != nullptr ? fmt::format("was ended by signal {} ({})", how.signal, name)
                           : fmt::format("was ended by signal {}", how.signal);
  }
  return how.code == 0 ? "ended well" : fmt::format("failed with exit code {}", how.code);
}

std::string energy_words(double joules) {
  const auto [factor, unit] = scale_of(joules);
  return fmt::format("{} {}", digits(joules / factor), unit);
}

std::string bounds_words(const insight::JobEnergy &energy, std::string_view dash) {
  const auto [factor, unit] = scale_of(energy.most);
  return fmt::format("{}{}{} {}", digits(energy.least / factor), dash, digits(energy.most / factor), unit);
}

std::string price_words(const insight::Price &price, double joules) {
  const double cost = price.of(joules);
  const auto number = fixed(cost, cost < 1 ? 4 : 2);
  return price.currency.empty() ? number : fmt::format("{} {}", number, price.currency);
}

std::string no_gpu_words(const JobReport &report) {
  if (!report.gpus.empty()) return {};
  if (!report.absence.empty()) return report.absence;
  if (report.samples == 0) return "it ended before the GPUs could be read";
  return "it used no GPU";
}

std::string phase_words(const JobReport &report) {
  if (report.phases.size() < 2) return {};
  std::string words;
  for (const auto kind : {PhaseKind::start_up, PhaseKind::busy, PhaseKind::stalled, PhaseKind::off_gpu}) {
    double seconds = 0;
    int times = 0;
    for (const auto &phase : report.phases) {
      if (phase.kind == kind) seconds += phase.seconds(), ++times;
    }
    if (times == 0) continue;
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", insight::word(kind), short_duration(seconds));
    if (times > 1) words += fmt::format(" ({} times)", times);
  }
  return words;
}

std::string cpu_words(const JobReport &report) {
  const auto &used = report.use.cpu_seconds;
  if (!used || report.seconds() <= 0) return used ? std::string() : "CPU time " + reason_text(used);
  const auto of_all = report.host_cores ? fmt::format(" of {}", fixed(report.host_cores.value(), 0)) : std::string();
  auto words = fmt::format("{}{} cores in the mean, {} of CPU time", digits(used.value() / report.seconds()), of_all,
                           used.value() < 60 ? fixed(used.value(), 1) + " s" : short_duration(used.value()));
  if (report.memory_bytes) words += fmt::format(", {} of memory at most", format_bytes(report.memory_bytes.value()));
  return words;
}

std::string io_words(const JobReport &report) {
  const auto &[cpu, read, written, memory, processes] = report.use;
  if (!read && !written) return "bytes read and written: " + reason_text(read);
  if (!read) return fmt::format("{} written to storage; read: {}", format_bytes(written.value()), reason_text(read));
  if (!written)
    return fmt::format("{} read from storage; written: {}", format_bytes(read.value()), reason_text(written));
  return fmt::format("{} read from storage, {} written", format_bytes(read.value()), format_bytes(written.value()));
}

std::string neighbour_words(const JobReport &report, std::size_t most) {
  std::string words;
  for (std::size_t i = 0; i < std::min(most, report.neighbours.size()); ++i) {
    const auto &other = report.neighbours[i];
    words += fmt::format("{}{} {}", i == 0 ? "" : ", ", other.name.empty() ? "process" : other.name.str(), other.pid);
    if (!other.user.empty()) words += fmt::format(" of {}", other.user);
    if (other.memory_bytes) words += fmt::format(" ({})", format_bytes(other.memory_bytes.value()));
  }
  if (report.neighbour_count > most) words += fmt::format(" and {} more", report.neighbour_count - most);
  return words;
}

std::vector<std::string> evidence_words(const insight::Finding &finding) {
  std::vector<std::string> words;
  for (const auto &fact : finding.evidence) {
    if (!fact.name.starts_with("lost_")) words.push_back(fact_words(fact));
  }
  return words;
}

std::string when_words(const JobReport &report, const insight::JobFinding &finding, std::string_view dash) {
  constexpr double kNearlyAll = 0.95;
  if (finding.seconds >= kNearlyAll * report.seconds()) return "all the time";
  const auto count = finding.stretches.size();
  if (count > 1) return fmt::format("{} in {} stretches", short_duration(finding.seconds), count);
  if (count == 0) return {};
  const auto &[from, to] = finding.stretches.front();
  return fmt::format("{}{}{}", short_duration(from), dash, short_duration(to));
}

}  // namespace gpulse::view
