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
using testing::form_value;
using ::testing::HasSubstr;
using testing::Said;
using ::testing::SizeIs;
using ::testing::StartsWith;

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

TEST(HostCurves, OfACounterAreWhatItGrewByInEachStep) {
  const auto energy = device_metric("energy_joules");
  FakeEngine engine([](const http::Request &request) -> Said {
    const auto query = form_value(request, "query");
    // 40 samples in ten minutes.
    if (query.starts_with("max(quantile")) {
      return {.body = answer_of(R"({"metric":{},"value":[1700000060,"40"]})")};
    }
    return {.body = answer_of(R"({"metric":{"uuid":"GPU-a"},"values":[[1700000015,"300"]]})")};
  });
  HostAsker asker(engine.options(), kHost);
  const auto curves = asker.curves(kFirst, kLast, 15s, std::span(&energy, 1));
  ASSERT_TRUE(curves);
  ASSERT_THAT(curves->curves, SizeIs(1));
  EXPECT_THAT(engine.queries().back(), StartsWith("rate(gpulse_energy_joules_total{"));
  EXPECT_THAT(engine.queries().back(), HasSubstr("[38s])")) << "2.5 intervals have two samples at least";
  EXPECT_DOUBLE_EQ(curves->curves[0].mean[0], 300 * 15) << "at 300 a second";
}

TEST(HostCurves, OfInstancesThatDcgmTellsOfAreApart) {
  const FakeEngine engine(
      Said{.body = answer_of(R"({"metric":{"UUID":"GPU-a","GPU_I_ID":"1"},"values":[[1700000010,"100"]]},)"
                             R"({"metric":{"UUID":"GPU-a","GPU_I_ID":"2"},"values":[[1700000010,"50"]]})")});
  HostAsker asker(engine.options(), {.instance = "d1:9400", .name = "d1", .exporter = Exporter::dcgm});
  const auto curves = asker.curves(kFirst, kLast, 10s, std::span(&kPower, 1));
  ASSERT_TRUE(curves);
  ASSERT_THAT(curves->curves, SizeIs(2));
  EXPECT_EQ(curves->curves[0].uuid, "GPU-a/1");
  EXPECT_DOUBLE_EQ(curves->curves[0].mean[0], 100);
  EXPECT_DOUBLE_EQ(curves->curves[1].mean[0], 50);
}

TEST(HostSamples, OfALongSpanAreAskedForInPieces) {
  const FakeEngine engine;
  HostAsker asker(engine.options(), kHost);
  ASSERT_TRUE(asker.samples(kFirst, kFirst + 12h, 1s));
  for (const auto &request : engine.asked()) {
    const auto seconds = std::stod(form_value(request, "end")) - std::stod(form_value(request, "start"));
    EXPECT_LT(seconds, 11'000) << "Prometheus gives no more at once";
  }
  EXPECT_THAT(engine.asked(), SizeIs(4));
}

TEST(HostCurves, KnowTheIntervalOfAHostThatIsSilentInTheEnd) {
  const FakeEngine engine;
  HostAsker asker(engine.options(), kHost);
  ASSERT_TRUE(asker.curves(kFirst, kFirst + 24h, 60s, std::span(&kPower, 1)));
  EXPECT_THAT(engine.queries().front(), HasSubstr("[600s])[87000s:1728s]))")) << "fifty looks all over the span";
}

}  // namespace
}  // namespace gpulse::fleet
