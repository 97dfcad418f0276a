// SPDX-License-Identifier: Apache-2.0
#include "fleet/query_answer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace gpulse::fleet {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using Status = QueryAnswer::Status;

TEST(QueryAnswer, HasSeriesWithValues) {
  const auto answer = parse_query_answer(
      R"({"status":"success","data":{"resultType":"matrix","result":[)"
      R"({"metric":{"instance":"n1:9837","uuid":"GPU-1"},"values":[[1700000000,"1.5"],[1700000060.5,"NaN"],[1700000120,"+Inf"]]},)"
      R"({"metric":{},"values":[]}]}})");
  ASSERT_EQ(answer.status, Status::success);
  ASSERT_EQ(answer.series.size(), 2U);
  const auto &series = answer.series.front();
  EXPECT_THAT(series.labels, ElementsAre(Pair("instance", "n1:9837"), Pair("uuid", "GPU-1")));
  EXPECT_EQ(series.label("uuid"), "GPU-1");
  EXPECT_EQ(series.label("user"), "");
  ASSERT_EQ(series.points.size(), 3U);
  EXPECT_EQ(series.points[0].time, 1700000000);
  EXPECT_EQ(series.points[0].value, 1.5);
  EXPECT_TRUE(std::isnan(series.points[1].value));
  EXPECT_TRUE(std::isinf(series.points[2].value));
}

TEST(QueryAnswer, HasOneValueOfEachSeries) {
  const auto answer = parse_query_answer(
      R"({"data":{"result":[{"value":[1.7e9,"-3"],"metric":{"a":"b"}}],"resultType":"vector"},"status":"success"})");
  ASSERT_EQ(answer.status, Status::success);
  ASSERT_EQ(answer.series.size(), 1U);
  EXPECT_EQ(answer.series[0].points.at(0).value, -3);
}

TEST(QueryAnswer, HasLabelSetsAndWords) {
  const auto sets = parse_query_answer(R"({"status":"success","data":[{"__name__":"up","instance":"a"},{}]})");
  ASSERT_EQ(sets.status, Status::success);
  ASSERT_EQ(sets.series.size(), 2U);
  EXPECT_EQ(sets.series[0].label("instance"), "a");
  EXPECT_THAT(parse_query_answer(R"({"status":"success","data":["a","b"]})").words, ElementsAre("a", "b"));
}

TEST(QueryAnswer, HasTheEnginesOwnWordsCleaned) {
  const auto answer = parse_query_answer(
      R"({"status":"error","errorType":"bad_data","error":"1:5: parse error\n\u001b[31munexpected"})");
  EXPECT_EQ(answer.status, Status::error);
  EXPECT_EQ(answer.error_type, "bad_data");
  EXPECT_EQ(answer.error, "1:5: parse error  [31munexpected");
  const auto endless = parse_query_answer(R"({"status":"error","error":")" + std::string(100'000, 'x') + "\"}");
  EXPECT_LE(endless.error.size(), 8192U);
}

TEST(QueryAnswer, SaysWhereSomethingIsMissing) {
  EXPECT_EQ(parse_query_answer(R"({"status":"success","data":[],"warnings":["one store is away","b"]})").warning,
            "one store is away");
  EXPECT_EQ(parse_query_answer(R"({"status":"success","isPartial":true,"data":[]})").warning, "the answer is partial");
  EXPECT_EQ(parse_query_answer(R"({"status":"success","isPartial":false,"data":[]})").warning, "");
}

TEST(QueryAnswer, IsNoneWhereItIsSomethingElse) {
  for (const auto *text :
       {"", "<html></html>", "[]", "{}", "12", R"({"status":"success"})", R"({"status":"ok","data":[]})",
        R"({"status":"success","data":[)", R"({"status":"success","data":[]} x)"}) {
    EXPECT_EQ(parse_query_answer(text).status, Status::not_an_answer) << text;
  }
}

TEST(QueryAnswer, PassesOverWhatItDoesNotKnow) {
  const auto answer = parse_query_answer(
      R"({"status":"success","trace":{"a":[1,{}]},"data":{"resultType":"matrix","result":[)"
      R"({"metric":{"a":1,"b":"c"},"histograms":[[1,{"count":"1"}]],"values":[[1],["x","1"],[2,3],[3,"text"],7,[4,"5",6]]},9]}})");
  ASSERT_EQ(answer.status, Status::success);
  ASSERT_EQ(answer.series.size(), 1U);
  EXPECT_THAT(answer.series[0].labels, ElementsAre(Pair("b", "c")));
  ASSERT_EQ(answer.series[0].points.size(), 1U);
  EXPECT_EQ(answer.series[0].points[0].value, 5);
}

TEST(QueryAnswer, HasAnEnd) {
  std::string many = R"({"status":"success","data":[)";
  for (int i = 0; i < 100; ++i) many += R"({"a":"b"},)";
  many += "{}]}";
  EXPECT_EQ(parse_query_answer(many, {.series = 101, .values = 100}).status, Status::success);
  const auto cut = parse_query_answer(many, {.series = 100, .values = 100});
  EXPECT_EQ(cut.status, Status::too_much);
  EXPECT_TRUE(cut.series.empty());
  EXPECT_EQ(parse_query_answer(many, {.series = 101, .values = 99}).status, Status::too_much);
}

}  // namespace
}  // namespace gpulse::fleet
