// SPDX-License-Identifier: Apache-2.0
// The answers are those that Prometheus 2.42 and VictoriaMetrics 1.79.5 gave.
#include "fleet/answer.hpp"

#include <gtest/gtest.h>

namespace gpulse::fleet {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::sys_seconds kNow{1'000'000'000s};  // Sun, 09 Sep 2001 01:46:40 GMT

Answer told(int status, std::string body = {}, http::Fields headers = {}) {
  return judge({.status = status, .headers = std::move(headers), .body = std::move(body)}, kNow);
}

TEST(Answer, IsWhatTheEngineMeans) {
  EXPECT_EQ(told(204).verdict, Verdict::taken);
  EXPECT_EQ(told(200).verdict, Verdict::taken);
  EXPECT_EQ(told(400, "out of bounds\n").verdict, Verdict::refused);
  EXPECT_EQ(told(400, "out of order sample\n").verdict, Verdict::refused);
  EXPECT_EQ(told(413).verdict, Verdict::too_large);
  EXPECT_EQ(told(429).verdict, Verdict::later);
  EXPECT_EQ(told(503, "starting up").verdict, Verdict::later);
  for (const int status : {301, 401, 403, 404, 405}) EXPECT_EQ(told(status).verdict, Verdict::wrong) << status;
}

// Prometheus until 2.50 calls a sample that is older than its window a fault of its own.
TEST(Answer, TooOldIsForGoodWhateverTheStatus) {
  EXPECT_EQ(told(500, "too old sample\n").verdict, Verdict::refused);
  EXPECT_EQ(told(500, "disk full\n").verdict, Verdict::later);
}

TEST(Answer, SaysHowLongToWait) {
  EXPECT_EQ(told(429, "", {{"retry-after", "30"}}).wait, 30s);
  EXPECT_EQ(told(503, "", {{"retry-after", "Sun, 09 Sep 2001 01:47:00 GMT"}}).wait, 20s);
  EXPECT_EQ(told(503, "", {{"retry-after", "Sun, 09 Sep 2001 01:46:00 GMT"}}).wait, 0s);
  EXPECT_EQ(told(429, "", {{"retry-after", "999999999"}}).wait, 600s);
  EXPECT_EQ(told(429, "", {{"retry-after", "soon"}}).wait, 0s);
  // By the engine's own clock, where it tells it.
  EXPECT_EQ(
      told(503, "", {{"date", "Sun, 09 Sep 2001 00:46:50 GMT"}, {"retry-after", "Sun, 09 Sep 2001 00:47:00 GMT"}}).wait,
      10s);
}

TEST(Answer, TellsTheEnginesClock) {
  EXPECT_EQ(told(204, "", {{"date", "Sun, 09 Sep 2001 01:46:30 GMT"}}).clock, kNow - 10s);
  EXPECT_EQ(told(204, "", {{"date", "yesterday"}}).clock, std::nullopt);
  EXPECT_EQ(told(204).clock, std::nullopt);
}

TEST(Answer, QuotesOneShortLine) {
  EXPECT_EQ(told(400, "out of bounds\nand more").words, "status 400: out of bounds");
  EXPECT_EQ(told(502).words, "status 502");
  EXPECT_EQ(told(500, std::string(100'000, 'x')).words, "status 500: " + std::string(200, 'x'));
  EXPECT_EQ(told(204, "whatever").words, "");
}

}  // namespace
}  // namespace gpulse::fleet
