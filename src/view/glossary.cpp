// SPDX-License-Identifier: Apache-2.0
#include "view/glossary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace gpulse::view {

namespace {

constexpr std::array kTerms{
    Term{"GPU", "Number of the GPU, as drivers count them; 0:1 is instance 1 of GPU 0"},
    Term{"NAME", "Name of the GPU, without its maker's; of an instance its size"},
    Term{"POWER", "Power drawn by the board, and the limit in force"},
    Term{"MEMORY", "Device memory in use, and all there is: how full it is, not how busy"},
    Term{"LOOK AT", "What holds the GPU back now, and every reading beyond its threshold; grey is usual under load"},
    Term{"PID", "Number of the process"},
    Term{"T", "What the process does on the GPU: C computes, G draws, M computes through MPS"},
    Term{"TYPE", "What the process does on the GPU: compute, graphics, or compute through MPS"},
    Term{"JOB", "Its batch job, else its pod, else its container"},
    Term{"CORES", "A block for each core of the host: its height is its load"},
    Term{"UUID", "The GPU's own identifier, the same after a restart and on another machine"},
    Term{"BUS ID", "PCI address of the GPU: domain, bus, device and function"},
    Term{"PART OF", "The GPU that the instance is a part of"},
    Term{"DRIVER", "Version of the driver that is loaded"},
    Term{"S", "What the process does: R runs, S waits, D waits for a disk, T is stopped, Z has ended"},
    Term{"READ/s", "Bytes per second the process has read from storage; only its owner and root may know"},
    Term{"WRITE/s", "Bytes per second the process wrote to storage; only its owner and root may know"},
};

// Detail is for other programs, self for who looks after gpulse.
bool is_on_screens(Scope scope) { return scope != Scope::detail && scope != Scope::self; }

}  // namespace

std::span<const Term> terms() { return kTerms; }

const Term *find_term(std::string_view label) {
  const auto *const found = std::ranges::find(kTerms, label, &Term::label);
  return found == kTerms.end() ? nullptr : found;
}

std::vector<MetricId> labelled_metrics(std::string_view label) {
  std::vector<MetricId> shown;
  std::vector<MetricId> others;
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    const auto &metric = kMetrics[i];
    if (metric.label != label) continue;
    (is_on_screens(metric.scope) ? shown : others).push_back(MetricId{static_cast<std::uint16_t>(i)});
  }
  return shown.empty() ? others : shown;
}

std::string_view label_in_any_case(std::string_view name) {
  const auto wanted = lower(name);
  for (const auto &term : kTerms) {
    if (lower(term.label) == wanted) return term.label;
  }
  for (const auto &metric : kMetrics) {
    if (lower(metric.label) == wanted) return metric.label;
  }
  return {};
}

std::string label_line(std::string_view label) {
  std::vector<std::pair<std::string_view, std::string_view>> meanings;  // of what, and what it means
  if (const auto *term = find_term(label)) meanings.emplace_back("", term->words);
  for (const auto id : labelled_metrics(label)) meanings.emplace_back(word(describe(id).scope), describe(id).help);
  std::string line;
  for (const auto &[scope, words] : meanings) {
    if (!line.empty()) line += "; ";
    line += meanings.size() > 1 && !scope.empty() ? fmt::format("{}: {}", scope, words) : std::string(words);
  }
  return line;
}

}  // namespace gpulse::view
