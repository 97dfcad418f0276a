// SPDX-License-Identifier: Apache-2.0
#include "insight/job_findings.hpp"

#include <gtest/gtest.h>

#include "insight/job_price.hpp"

namespace gpulse::insight {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kBegin{1'800'000'000s};

Finding finding(FindingId id, Weight weight, std::chrono::seconds from, std::chrono::seconds to, double lost,
                std::uint32_t device = 0) {
  return {.id = id,
          .weight = weight,
          .devices = {{device}},
          .since = kBegin + from,
          .until = kBegin + to,
          .lost_share = lost};
}

TEST(JobFindings, OneThatComesBackIsToldOnce) {
  std::vector<JobFinding> all;
  add_finding(all, finding(FindingId::input_cpu, Weight::problem, 10s, 20s, 0.4), kBegin);
  add_finding(all, finding(FindingId::input_cpu, Weight::problem, 60s, 100s, 0.6), kBegin);
  add_finding(all, finding(FindingId::input_cpu, Weight::problem, 60s, 100s, 0.6, 1), kBegin);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_DOUBLE_EQ(all[0].seconds, 50);
  ASSERT_EQ(all[0].stretches.size(), 2U);
  EXPECT_DOUBLE_EQ(all[0].stretches[1].from_seconds, 60);
  // In the words of the longest.
  EXPECT_EQ(all[0].finding.lost_share, 0.6);
  EXPECT_EQ(all[0].finding.since, kBegin + 10s);
  EXPECT_EQ(all[0].finding.until, kBegin + 100s);
}

TEST(JobFindings, TheWorstComesFirst) {
  std::vector<JobFinding> all;
  add_finding(all, finding(FindingId::throttled_power, Weight::note, 0s, 500s, 0), kBegin);
  add_finding(all, finding(FindingId::launch_bound, Weight::problem, 0s, 10s, 0.9), kBegin);
  add_finding(all, finding(FindingId::input_io, Weight::problem, 0s, 400s, 0.3), kBegin);
  add_finding(all, finding(FindingId::out_of_memory, Weight::problem, 499s, 500s, 0), kBegin);
  sort_findings(all);
  EXPECT_EQ(all[0].finding.id, FindingId::out_of_memory);
  EXPECT_EQ(all[1].finding.id, FindingId::input_io);
  EXPECT_EQ(all[2].finding.id, FindingId::launch_bound);
  EXPECT_EQ(all[3].finding.id, FindingId::throttled_power);
}

TEST(APrice, IsANumberAndACurrency) {
  EXPECT_EQ(parse_price("0.30")->per_kwh, 0.30);
  EXPECT_EQ(parse_price(" 0.30 EUR ")->currency, "EUR");
  EXPECT_EQ(parse_price("30ct")->currency, "ct");
  EXPECT_DOUBLE_EQ(parse_price("0.5 €")->of(7.2e6), 1);
  for (const auto *bad : {"", "EUR", "-1", "1e3000", "0.30 a currency of many words", "1.2.3"})
    EXPECT_FALSE(parse_price(bad)) << bad;
}

}  // namespace
}  // namespace gpulse::insight
