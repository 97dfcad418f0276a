// SPDX-License-Identifier: Apache-2.0
// What the fleet, the report, the alerts, the sums and the board ask an engine for is among what agents write unless
// told otherwise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>

#include "fleet/fleet_queries.hpp"
#include "fleet/usage_plan.hpp"
#include "insight/alert_rules.hpp"
#include "insight/tally.hpp"
#include "view/alert_rules.hpp"
#include "view/families.hpp"
#include "view/grafana.hpp"
#include "view/recording_rules.hpp"

namespace gpulse::fleet {
namespace {

namespace families = view::families;
using ::testing::IsEmpty;

std::set<std::string> families_of(const view::PageContents &contents) {
  std::set<std::string> all;
  for (const auto family :
       {families::kTime, families::kGpus, families::kInfo, families::kState, families::kOwner, families::kXids,
        families::kXidTime, families::kFinding, families::kFindingLost, families::kUp, families::kDropped}) {
    all.emplace(family);
  }
  for (const auto scope : {Scope::device, Scope::host, Scope::self}) {
    contents.metrics.for_each(scope, [&](MetricId id) { all.insert(prometheus_name(describe(id))); });
  }
  for (const auto id : insight::totalled()) {
    if (contents.metrics.contains(id)) all.insert(prometheus_name(total_of(describe(id))));
  }
  for (const auto id : insight::peaked()) {
    if (contents.peaks.contains(id)) all.insert(prometheus_name(peak_of(describe(id))));
  }
  return all;
}

void add_names(std::set<std::string> &all, const std::string &text) {
  static const std::regex name("gpulse_[a-z0-9_]+");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    // A sum has a name of its own.
    if (line.find("- record:") != std::string::npos) continue;
    for (std::sregex_iterator each(line.begin(), line.end(), name), end; each != end; ++each) all.insert(each->str());
  }
}

std::set<std::string> asked_for() {
  std::set<std::string> all;
  for (std::size_t i = 0; i < kFleetParts; ++i) add_names(all, fleet_query(static_cast<FleetPart>(i)));
  for (const auto part : kUsageParts) {
    add_names(all, usage_query(part, {}, std::chrono::minutes(5), std::chrono::seconds(15)));
  }
  add_names(all, interval_query());
  add_names(all, last_alive_query({"n1"}));
  add_names(all, view::prometheus_rules(insight::alert_rules()));
  add_names(all, view::recording_rules());
  add_names(all, view::grafana_dashboard(view::usual_page()));
  return all;
}

TEST(Usual, HasAllThatIsAskedFor) {
  const auto asked = asked_for();
  EXPECT_GT(asked.size(), 50U);
  std::set<std::string> missing;
  std::ranges::set_difference(asked, families_of(view::usual_page()), std::inserter(missing, missing.end()));
  EXPECT_THAT(missing, IsEmpty());
}

TEST(Usual, SaysOfEachMetricThatGpusAreComparedByIt) {
  std::set<std::string_view> said, compared_by;
  for (const auto &metric : kMetrics) {
    if (metric.compared) said.insert(metric.key);
  }
  for (const auto id : kSteadyMetrics) compared_by.insert(describe(id).key);
  EXPECT_EQ(said, compared_by);
}

TEST(Usual, IsWhatTheReportRestsOnToo) {
  const auto usual = families_of(view::usual_page());
  for (const auto *name : {"gpulse_busy_seconds_total", "gpulse_sm_busy_seconds_total", "gpulse_energy_joules_total",
                           "gpulse_throttled_seconds_total", "gpulse_tensor_active_ratio", "gpulse_throttle_reasons",
                           "gpulse_clock_graphics_hertz", "gpulse_nvlink_rx_bytes_per_second"}) {
    EXPECT_TRUE(usual.contains(name)) << name;
  }
  EXPECT_LT(usual.size(), families_of(view::whole_page()).size() / 2);
}

}  // namespace
}  // namespace gpulse::fleet
