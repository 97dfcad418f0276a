// SPDX-License-Identifier: Apache-2.0
// Files of lines: titles once, whole lines only, and nothing of anybody else's lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"
#include "sink/sink.hpp"
#include "sink/testing.hpp"
#include "view/testing.hpp"

namespace gpulse::sink {
namespace {

using testing::bytes_of;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Snapshot sample(int devices = 1) {
  Snapshot snapshot;
  snapshot.time = WallTime(std::chrono::seconds(1700000000));
  for (int i = 0; i < devices; ++i)
    snapshot.devices.push_back(view::testing::make_device(static_cast<std::uint32_t>(i)));
  return snapshot;
}

class TextSinkTest : public ::testing::Test {
 protected:
  SinkOptions csv(Existing existing = Existing::refuse) const {
    return {.format = Format::csv,
            .path = folder.path("/log"),
            .fields = {"index", "temperature_gpu_celsius"},
            .existing = existing};
  }
  SinkOptions jsonl(Existing existing = Existing::refuse) const {
    return {.format = Format::jsonl, .path = folder.path("/log"), .fields = {"power.draw"}, .existing = existing};
  }
  // Opens, writes samples of two devices with these steps, closes.
  static std::string log(const SinkOptions &options, const std::vector<std::optional<std::int64_t>> &steps) {
    auto sink = open(options);
    if (!sink) return sink.error().line();
    for (const auto step : steps) {
      if (const auto written = (*sink)->write(sample(2), step); !written) return written.error().line();
    }
    return "";
  }
  std::string content() const { return bytes_of(folder.path("/log")); }
  void put(std::string_view text) const { folder.write("/log", text); }

  TemporaryFolder folder;
};

constexpr auto kNone = std::nullopt;

TEST_F(TextSinkTest, TitlesStandOnceAtTheTop) {
  EXPECT_EQ(log(csv(), {kNone, kNone}), "");
  EXPECT_EQ(content(), "index,temperature_gpu_celsius\n0,64\n1,64\n0,64\n1,64\n");
  EXPECT_EQ(log(csv(Existing::append), {kNone}), "");
  EXPECT_EQ(content(), "index,temperature_gpu_celsius\n0,64\n1,64\n0,64\n1,64\n0,64\n1,64\n");
}

TEST_F(TextSinkTest, AStepHasAColumn) {
  EXPECT_EQ(log(csv(), {3, kNone, 4}), "");
  EXPECT_EQ(content(), "step,index,temperature_gpu_celsius\n3,0,64\n3,1,64\n3,0,64\n3,1,64\n4,0,64\n4,1,64\n");
  // Gone on with as it was begun, also where no step is given.
  EXPECT_EQ(log(csv(Existing::append), {kNone}), "");
  EXPECT_THAT(content(), ::testing::EndsWith("4,1,64\n,0,64\n,1,64\n"));
}

TEST_F(TextSinkTest, WhereStepsArePromisedTheColumnIsThereFromTheStart) {
  auto options = csv();
  options.steps = true;
  EXPECT_EQ(log(options, {kNone, -1}), "");
  EXPECT_EQ(content(), "step,index,temperature_gpu_celsius\n,0,64\n,1,64\n-1,0,64\n-1,1,64\n");
}

TEST_F(TextSinkTest, TheStepMayStandWhereTheFieldsSay) {
  auto options = csv();
  options.fields = {"index", "step"};
  EXPECT_EQ(log(options, {9}), "");
  EXPECT_EQ(content(), "index,step\n0,9\n1,9\n");
}

TEST_F(TextSinkTest, NothingIsOverwrittenByAccident) {
  put("years of work\n");
  EXPECT_THAT(log(csv(), {kNone}), HasSubstr("is there already"));
  EXPECT_THAT(log(csv(Existing::append), {kNone}), HasSubstr("is no log of this format with these fields"));
  EXPECT_THAT(log(jsonl(Existing::append), {kNone}), HasSubstr("is no log of this format"));
  EXPECT_EQ(content(), "years of work\n");
  EXPECT_EQ(log(csv(Existing::overwrite), {kNone}), "");
  EXPECT_THAT(content(), StartsWith("index,"));
  // Other columns
  auto other = csv(Existing::append);
  other.fields = {"index"};
  EXPECT_THAT(log(other, {kNone}), HasSubstr("with these fields"));
}

TEST_F(TextSinkTest, ATornLineIsCutOffBeforeMoreComes) {
  put("index,temperature_gpu_celsius\n0,64\n1,6");
  EXPECT_EQ(log(csv(Existing::append), {kNone}), "");
  EXPECT_EQ(content(), "index,temperature_gpu_celsius\n0,64\n0,64\n1,64\n");
  put("{\"schema\":\"gpulse/1\",\"ti");
  EXPECT_EQ(log(jsonl(Existing::append), {kNone}), "");
  EXPECT_EQ(std::ranges::count(content(), '\n'), 1);
}

TEST_F(TextSinkTest, ASecondWriterIsRefused) {
  const auto sink = open(csv());
  ASSERT_TRUE(sink);
  EXPECT_THAT(log(csv(Existing::append), {kNone}), HasSubstr("is being written by another gpulse"));
}

TEST_F(TextSinkTest, JsonHasALinePerSampleWithItsStep) {
  EXPECT_EQ(log(jsonl(), {kNone, 12}), "");
  const auto text = content();
  EXPECT_EQ(std::ranges::count(text, '\n'), 2);
  EXPECT_THAT(text, StartsWith(R"({"schema":"gpulse/1","time":"2023-11-14T22:13:20.000Z","hostname":null)"));
  EXPECT_THAT(text, HasSubstr(R"("time":"2023-11-14T22:13:20.000Z","step":12,)"));
  EXPECT_THAT(text, HasSubstr(R"("metrics":{"power_draw_watts":690.7})"));
}

TEST_F(TextSinkTest, OnlyTheDevicesThatWereAskedFor) {
  auto options = csv();
  options.devices = {"GPU-00000001-0000"};
  EXPECT_EQ(log(options, {kNone}), "");
  EXPECT_EQ(content(), "index,temperature_gpu_celsius\n1,64\n");
}

TEST_F(TextSinkTest, AFullDiskIsAnErrorAndNoHalfLine) {
  auto options = csv();
  options.path = "/dev/full";
  EXPECT_THAT(log(options, {kNone}), HasSubstr("cannot write /dev/full: No space left on device"));
}

}  // namespace
}  // namespace gpulse::sink
