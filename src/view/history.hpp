// SPDX-License-Identifier: Apache-2.0
// What was, over a stretch of time: as a page with a small plot per metric, as comma-separated values and as lines of
// JSON. Pure functions of plain values, which whoever reads a history fills in.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/json_writer.hpp"
#include "model/snapshot.hpp"
#include "term/style.hpp"

namespace gpulse::view {

struct HistoryPoint {
  WallTime time{};  // when its stretch of time begins
  double value = 0, least = 0, greatest = 0;
};

// Where nothing is known there is no point.
struct HistoryCurve {
  MetricId metric;
  std::size_t device = 0;  // its place in HistoryPage::devices; of no meaning for a metric of the host
  bool holds = false;      // a value is true until the next one
  std::vector<HistoryPoint> points{};
};

// One process on one device: `process.row` has the means, `most` the greatest values.
struct HistoryProcess {
  Process process{};
  std::size_t device = 0;    // its place in HistoryPage::devices
  WallTime first{}, last{};  // seen, also outside of the span
  double seconds = 0;        // within the span
  Row most{Scope::process};
};

// Samples that could not be kept.
struct HistoryLoss {
  WallTime from{}, to{};
  std::uint64_t samples = 0;
  Text reason;
};

// Nothing was recorded.
struct HistoryGap {
  WallTime from{}, to{};
};

// The parts of a page; what was not asked for is none.
struct HistoryPage {
  Text hostname;
  WallTime from{}, to{};
  std::vector<Device> devices{};  // their rows have nothing in them

  struct Curves {
    std::vector<MetricId> metrics{};  // in the order in which they are shown
    std::string origin{};             // "1 min steps"
    std::chrono::seconds step{1};
    std::chrono::seconds reach{1};  // a point that is followed by another within this time holds until then
    std::vector<HistoryCurve> curves{};
  };
  std::optional<Curves> curves{};
  std::optional<std::vector<HistoryProcess>> processes{};
  bool users = false, jobs = false;  // totals of the processes
  bool lists_processes = false;      // and the processes themselves
  std::optional<std::vector<Event>> events{};
  std::vector<HistoryLoss> lost{};
  std::vector<HistoryGap> gaps{};
  std::size_t most_rows = 0;  // of a list of processes or events; 0: all
};

// What one user's or job's processes took, added up over the devices.
struct HistoryTotal {
  std::string name{};  // empty: those that belong to no job
  std::size_t processes = 0, devices = 0;
  double seconds = 0;                   // on a GPU
  std::optional<double> gpu_seconds{};  // busy; none: nobody could tell
  std::optional<double> byte_seconds{};
  bool is_least = false;  // of some process no use was told
};
enum class HistoryOwner : std::uint8_t { user, job };
// Those that took the most GPU time first.
std::vector<HistoryTotal> history_totals(const std::vector<HistoryProcess> &processes, HistoryOwner by);
// How long the GPU was busy for it; none where that was not told.
std::optional<double> busy_seconds(const HistoryProcess &process);

// What a history shows unless told otherwise: how busy a device is, its memory, power and temperature.
std::vector<MetricId> history_metrics();

// "2026-11-16 01:00 – 04:00 UTC+01:00", in local time.
std::string span_words(WallTime from, WallTime to, const term::Style &style);

// Lines, each ended by a newline, none wider than the style.
std::string render_history(const HistoryPage &page, const term::Style &style);

// Gets the output piece by piece; false: it wants no more.
using HistoryWrite = std::function<bool(std::string_view)>;
// A line per time and device; `range`: with the least and the greatest.
void write_history_csv(const HistoryPage &page, bool range, const HistoryWrite &write);
// An object per time, in the form of `gpulse --json`.
void write_history_json(const HistoryPage &page, const HistoryWrite &write);

// The lists, each as a table or as an object per line.
std::string history_processes_csv(const HistoryPage &page);
std::string history_totals_csv(const HistoryPage &page, HistoryOwner by);
std::string history_events_csv(const HistoryPage &page);
std::string history_processes_json(const HistoryPage &page);
std::string history_totals_json(const HistoryPage &page, HistoryOwner by);
std::string history_events_json(const HistoryPage &page);
// As one array.
void write_history_processes(JsonWriter &json, const HistoryPage &page);
void write_history_totals(JsonWriter &json, const HistoryPage &page, HistoryOwner by);

}  // namespace gpulse::view
