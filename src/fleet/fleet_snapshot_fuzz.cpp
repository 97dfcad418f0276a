// SPDX-License-Identifier: Apache-2.0
// Answers of an engine with whatever labels and values: they become a fleet that every view can show, in which nothing
// is counted more often than it is there, and no reading is a number that cannot be.
#include "fleet/fleet_snapshot.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "fleet/fleet_clocks.hpp"
#include "fleet/fleet_groups.hpp"
#include "fleet/fleet_page.hpp"
#include "fleet/fleet_text.hpp"
#include "fleet/foreign.hpp"
#include "fleet/host_past.hpp"
#include "fleet/host_samples.hpp"

namespace {

using namespace gpulse;
using namespace gpulse::fleet;

constexpr double kNow = 1'700'000'000;
constexpr std::array<const char *, 16> kNames{"instance", "cluster", "uuid",  "UUID",    "GPU_I_ID", "gpu",
                                              "parent",   "state",   "user",  "pci",     "xid",      "batch_job",
                                              "gpu_pod",  "finding", "index", "Hostname"};
constexpr std::array<const char *, 16> kValues{"",     "n1:9837", "n1:9400", "a",    "a/x", "x/",     "0",        "0:1",
                                               "east", "lost",    "ok",      "w/a/", "79",  "\n\xff", "\x1b[31m", "1"};
const std::array<double, 16> kNumbers{0,
                                      1,
                                      -1,
                                      0.5,
                                      kNow,
                                      kNow - 60,
                                      kNow - 600,
                                      kNow + 3600,
                                      1e300,
                                      -1e300,
                                      5e-324,
                                      900,
                                      2,
                                      1e18,
                                      std::numeric_limits<double>::infinity(),
                                      std::numeric_limits<double>::quiet_NaN()};

class Bytes {
 public:
  Bytes(const std::uint8_t *data, std::size_t size) : data_(data), size_(size) {}
  std::uint8_t next() { return place_ < size_ ? data_[place_++] : std::uint8_t{0}; }
  bool is_over() const { return place_ >= size_; }

 private:
  const std::uint8_t *data_;
  std::size_t size_, place_ = 0;
};

std::vector<EngineSeries> some_series(Bytes &bytes) {
  std::vector<EngineSeries> all(bytes.next() % 6);
  for (auto &series : all) {
    for (auto labels = bytes.next() % 8; labels > 0; --labels) {
      const auto both = bytes.next();
      series.labels.emplace_back(kNames[both >> 4U], kValues[both & 15U]);
    }
    const auto number = bytes.next();
    if (number < 250) series.points.push_back({.time = kNow, .value = kNumbers[number & 15U]});
  }
  return all;
}

void check(const FleetSnapshot &fleet) {
  for (const auto &gpu : fleet.gpus) {
    if (gpu.host >= fleet.hosts.size()) std::abort();
    for (const auto &reading : gpu.readings) {
      if (reading && !std::isfinite(*reading)) std::abort();
    }
  }
  for (std::size_t by = 0; by < kFleetBy.size(); ++by) {
    const auto view = make_fleet_view(fleet, {.by = static_cast<FleetBy>(by)});
    if (view.totals.gpus > fleet.gpus.size() || view.totals.held > view.totals.held_known) std::abort();
    static_cast<void>(fleet_json(fleet, view));
    static_cast<void>(fleet_page_json(fleet, view, {}));
    static_cast<void>(render_fleet(fleet, view, {}));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Bytes bytes(data, size);
  const auto infos = some_series(bytes), last = some_series(bytes);
  std::array<std::vector<EngineSeries>, kFleetParts> parts;
  FleetAnswers answers{.infos = infos, .parts = {}, .last_alive = last, .knows_silent = (bytes.next() & 1U) != 0};
  for (std::size_t i = 0; i < kFleetParts; ++i) {
    parts[i] = some_series(bytes);
    if (bytes.next() != 255) answers.parts[i] = &parts[i];
  }
  std::vector<std::vector<EngineSeries>> present, readings;
  std::vector<ForeignAnswers> foreign;
  present.reserve(foreign_exporters().size());
  readings.reserve(16);
  for (const auto &exporter : foreign_exporters()) {
    auto &one = foreign.emplace_back(
        ForeignAnswers{.exporter = &exporter, .present = present.emplace_back(some_series(bytes))});
    for (std::size_t i = 0; i < exporter.readings.size(); ++i)
      one.readings.push_back(&readings.emplace_back(some_series(bytes)));
  }
  const WallTime at{std::chrono::seconds(static_cast<std::int64_t>(kNow))};
  const auto fleet = make_fleet(answers, foreign, at, Seconds(15));
  check(fleet);
  static_cast<void>(missing_hosts(answers));
  static_cast<void>(has_slow_clock(answers.parts));
  for (const auto &host : fleet.hosts) {
    static_cast<void>(host_samples(parts[0], infos, place_of(host)));
    static_cast<void>(error_events(parts[1], at - std::chrono::hours(1), at));
    static_cast<void>(finding_stretches(parts[2], at - std::chrono::hours(1), at, std::chrono::seconds(60)));
  }
  return 0;
}
