// SPDX-License-Identifier: Apache-2.0
#include "base/json_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace gpulse {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

using Kind = JsonReader::Kind;

bool is_json(std::string_view text) {
  JsonReader json(text);
  json.skip();
  return json.is_whole();
}

TEST(JsonReader, TakesWhatIsAskedFor) {
  JsonReader json(R"( {"status":"success", "data":{"a":[1,-2.5e1,0],"b":{"c":[[],{}]}},"last" : true} )");
  std::map<std::string, std::string> texts;
  std::vector<double> numbers;
  std::string name;
  for (json.begin_object(); json.member(name);) {
    if (name == "status") {
      texts[name] = json.text().value_or("none");
    } else if (name == "data") {
      for (json.begin_object(); json.member(name);) {
        if (name != "a") {
          json.skip();
          continue;
        }
        for (json.begin_array(); json.element();) numbers.push_back(json.number().value_or(-1));
      }
    } else {
      EXPECT_EQ(json.kind(), Kind::boolean);
      json.skip();
    }
  }
  EXPECT_TRUE(json.is_whole());
  EXPECT_THAT(texts, ElementsAre(Pair("status", "success")));
  EXPECT_THAT(numbers, ElementsAre(1, -25, 0));
}

TEST(JsonReader, UnescapesTexts) {
  const auto text = [](std::string_view json) { return JsonReader(json).text().value_or("none"); };
  EXPECT_EQ(text(R"("a\"b\\c\/d\n\tq")"), "a\"b\\c/d\n\tq");
  EXPECT_EQ(text(R"("\u00e9\u20ac\ud83d\ude00\u0041")"), "é€😀A");
  EXPECT_EQ(text(R"("\ud83d!")"), "\ufffd!") << "half a character";
  EXPECT_EQ(text(R"("\ud83dA")"), "\ufffdA");
  EXPECT_EQ(text(R"("\ude00")"), "\ufffd");
  EXPECT_EQ(text(R"("open)"), "none");
  EXPECT_EQ(text(R"("\u12g4")"), "none");
  EXPECT_EQ(text("\"line\nbreak\""), "none");
}

TEST(JsonReader, TellsJsonFromWhatIsNone) {
  for (const auto *good : {"0", "-0.5", "1E+9", "\"\"", "[]", "{}", "null", "[1,[2,[3]],{\"a\":[]}]", " true "}) {
    EXPECT_TRUE(is_json(good)) << good;
  }
  for (const auto *bad : {"",   " ",    "01",   "+1",    "1.",      ".5",       "1e",    "nan",        "inf",
                          "-",  "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}", "{a:1}", "{\"a\":1,}", "[1}",
                          "{]", "[",    "\"",   "tru",   "nul",     "1 1",      "{}x",   "<html>"}) {
    EXPECT_FALSE(is_json(bad)) << bad;
  }
}

TEST(JsonReader, IsNotDrivenDeeperThanItMay) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(is_json(nested(JsonReader::kMostDepth)));
  EXPECT_FALSE(is_json(nested(JsonReader::kMostDepth + 1)));
  EXPECT_FALSE(is_json(std::string(1'000'000, '[')));
}

TEST(JsonReader, IsDoneAfterTheFirstFault) {
  JsonReader json(R"([1, "two", 3])");
  json.begin_array();
  ASSERT_TRUE(json.element());
  EXPECT_EQ(json.number(), 1);
  ASSERT_TRUE(json.element());
  EXPECT_EQ(json.number(), std::nullopt) << "it is a text";
  EXPECT_FALSE(json.good());
  EXPECT_FALSE(json.element());
  EXPECT_EQ(json.text(), std::nullopt);
  EXPECT_EQ(json.kind(), Kind::none);
  EXPECT_FALSE(json.is_whole());
}

}  // namespace
}  // namespace gpulse
