// SPDX-License-Identifier: Apache-2.0
// What receivers are sent, and programs that are run.
#include "alert/receiver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "alert/body.hpp"
#include "alert/testing.hpp"
#include "base/temporary_folder.hpp"

namespace gpulse::alert {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using End = Delivery::End;

Message message(std::vector<Alert> alerts) {
  return {.key = "0123",
          .rule = "GpuLost",
          .level = AlertLevel::critical,
          .host = "n1",
          .time = kBegin,
          .alerts = std::move(alerts)};
}

TEST(Body, ATitleForOneAndForMany) {
  EXPECT_EQ(title(message({told("GpuLost", "3")})), "GPU 3 of n1 is lost");
  EXPECT_EQ(title(message({told("GpuLost", "3"), told("GpuLost", "5")})), "GpuLost: 2 GPUs of n1: 3, 5");
  auto first = told("GpuXid", "3"), second = told("GpuXid", "3");
  first.detail = "48";
  second.detail = "63";
  EXPECT_EQ(title(message({first, second})), "GpuLost: GPU 3 of n1: 48, 63");
}

TEST(Body, SlackTakesNothingForACommand) {
  auto alert = told("GpuLost", "3");
  alert.summary = "<!channel> & \"x\" \\";
  EXPECT_EQ(slack_body(message({alert})),
            R"({"text":"*[firing] critical* &lt;!channel&gt; &amp; \"x\" \\\nWhat to do."})");
}

TEST(Body, HeadersOfNtfyAreAscii) {
  auto alert = told("GpuLost", "3");
  EXPECT_THAT(ntfy_headers(message({alert})), Contains(Pair("Title", "[firing] GPU 3 of n1 is lost")));
  EXPECT_THAT(ntfy_headers(message({alert})), Contains(Pair("Priority", "urgent")));
  alert.summary = "heiß\r\nX-Evil: 1";
  // printf '[firing] heiß  X-Evil: 1' | base64
  EXPECT_THAT(ntfy_headers(message({alert})),
              Contains(Pair("Title", "=?UTF-8?B?W2ZpcmluZ10gaGVpw58gIFgtRXZpbDogMQ==?=")));
}

std::string content(const std::string &file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST(RunProgram, GetsItsInputAndItsEnd) {
  const TemporaryFolder folder;
  const auto out = folder.path() + "/out";
  const auto done = run_program({"/bin/sh", "-c", R"(cat > "$0"; printf %s "$X" >> "$0")", out}, "input\n",
                                {{"X", "$(date) \"'"}}, 5s, {});
  EXPECT_EQ(done.end, End::arrived) << done.words;
  EXPECT_EQ(content(out), "input\n$(date) \"'");
}

TEST(RunProgram, SaysWhyItFailed) {
  const auto failed = run_program({"/bin/sh", "-c", "echo first >&2; echo no such pager >&2; exit 3"}, "", {}, 5s, {});
  EXPECT_EQ(failed.end, End::refused);
  EXPECT_EQ(failed.words, "it ended with 3: no such pager");
  EXPECT_EQ(run_program({"/bin/sh", "-c", "kill -SEGV $$"}, "", {}, 5s, {}).words, "signal 11 ended it");
  EXPECT_EQ(run_program({"/nonexistent"}, "", {}, 5s, {}).words, "cannot run /nonexistent: No such file or directory");
}

TEST(RunProgram, IsEndedWithAllThatItStarted) {
  const TemporaryFolder folder;
  const auto out = folder.path() + "/pid";
  const auto begun = monotonic_now();
  const auto late =
      run_program({"/bin/sh", "-c", R"(trap "" TERM; sleep 1000 & echo $! > "$0"; wait; wait; sleep 1000)", out}, "",
                  {}, 200ms, {});
  EXPECT_EQ(late.end, End::refused);
  EXPECT_EQ(late.words, "it took longer than 200ms");
  EXPECT_LT(monotonic_now() - begun, 10s);
  const auto child = std::stoi(content(out));
  for (int i = 0; i < 500 && ::kill(child, 0) == 0; ++i) std::this_thread::sleep_for(10ms);
  // Gone, or a zombie that nobody has asked for.
  const auto state = content("/proc/" + std::to_string(child) + "/stat");
  EXPECT_TRUE(state.empty() || state.contains(") Z ")) << state;
}

TEST(RunProgram, AStopEndsIt) {
  std::stop_source stop;
  std::jthread later([&] {
    std::this_thread::sleep_for(100ms);
    stop.request_stop();
  });
  const auto begun = monotonic_now();
  EXPECT_EQ(run_program({"/bin/sleep", "1000"}, "", {}, 1000s, stop.get_token()).end, End::later);
  EXPECT_LT(monotonic_now() - begun, 5s);
}

TEST(RunProgram, DoesNotWaitForWhoeverItLeavesBehind) {
  const auto begun = monotonic_now();
  EXPECT_EQ(run_program({"/bin/sh", "-c", "sleep 20 & exit 0"}, "", {}, 15s, {}).end, End::arrived);
  EXPECT_LT(monotonic_now() - begun, 10s);
}

TEST(RunProgram, NobodyHasToReadALargeInput) {
  EXPECT_EQ(run_program({"/bin/true"}, std::string(1 << 20, 'x'), {}, 5s, {}).end, End::arrived);
}

TEST(Receiver, WantsWhatItIsTheFor) {
  Receiver receiver{.least = AlertLevel::warning, .rules = {"GpuL*"}, .resolved = false};
  auto one = message({told("GpuLost", "0")});
  EXPECT_TRUE(receiver.wants(one));
  one.is_firing = false;
  EXPECT_FALSE(receiver.wants(one));
  one.is_firing = true;
  one.level = AlertLevel::info;
  EXPECT_FALSE(receiver.wants(one));
  one.level = AlertLevel::critical;
  one.rule = "GpuXid";
  EXPECT_FALSE(receiver.wants(one));
}

}  // namespace
}  // namespace gpulse::alert
