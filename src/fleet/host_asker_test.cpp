// SPDX-License-Identifier: Apache-2.0
// How the curves of a host are asked of an engine, and what is made of its answers.
#include "fleet/host_asker.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/testing.hpp"

namespace gpulse::fleet {
namespace {

using namespace std::chrono_literals;
using testing::FakeEngine;
using testing::Said;
using ::testing::SizeIs;

const HostPlace kHost{.instance = "n1:9837", .name = "n1", .exporter = Exporter::gpulse};
const WallTime kFirst(1'700'000'000s), kLast(1'700'000'060s);
constexpr MetricId kPower = role_metric<Scope::device>(Role::power);

std::string answer_of(const std::string &series) {
  return R"({"status":"success","data":{"resultType":"matrix","result":[)" + series + "]}}";
}

TEST(HostCurves, AreOfNoMoreDevicesThanAHostCanHave) {
  std::string series;
  for (int i = 0; i < 3000; ++i) {
    series += fmt::format(R"({}{{"metric":{{"uuid":"GPU-{}"}},"values":[[1700000010,"100"]]}})", i > 0 ? "," : "", i);
  }
  const FakeEngine engine(Said{.body = answer_of(series)});
  HostAsker asker(engine.options(), kHost);
  const auto curves = asker.curves(kFirst, kLast, 10s, std::span(&kPower, 1));
  ASSERT_TRUE(curves);
  EXPECT_THAT(curves->curves, SizeIs(1024));
}

}  // namespace
}  // namespace gpulse::fleet
