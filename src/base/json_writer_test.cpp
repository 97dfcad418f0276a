// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>

namespace gpulse {
namespace {

template <class Write>
std::string written(Write write) {
  std::string out;
  JsonWriter json(out);
  write(json);
  return out;
}

template <class T>
std::string one(T value) {
  return written([&](JsonWriter &json) { json.value(value); });
}

TEST(JsonWriter, CommasAndNesting) {
  EXPECT_EQ(written([](JsonWriter &json) {
              json.begin_object();
              json.member("a", 1);
              json.key("b");
              json.begin_array();
              json.begin_object();
              json.end_object();
              json.begin_array();
              json.end_array();
              json.value("x");
              json.null();
              json.end_array();
              json.member("c", true);
              json.end_object();
            }),
            R"({"a":1,"b":[{},[],"x",null],"c":true})");
}

TEST(JsonWriter, WritesTheShortestTextOfAnyNumber) {
  std::mt19937_64 random(1);
  const auto check = [](double number) {
    std::array<char, 32> text{};
    const std::string shortest(text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr);
    EXPECT_EQ(one(number), shortest);
  };
  for (int i = 0; i < 100'000; ++i) {
    const auto thousandths = static_cast<std::int64_t>(random() % 2'000'000'000'000) - 1'000'000'000'000;
    // A whole number has its own way.
    if (thousandths % 1000 != 0) check(static_cast<double>(thousandths) / 1000);
    check(std::bit_cast<double>((random() >> 4U) | 0x3000000000000000U));
  }
  for (const auto number : {0.001, -0.001, 0.5, 999'999'999.999, 1e9 + 0.5, 0.0005, 1.0005, 0.1 + 0.2, 1e-7})
    check(number);
}

TEST(JsonWriter, Numbers) {
  EXPECT_EQ(one(85.0), "85");
  EXPECT_EQ(one(-0.5), "-0.5");
  EXPECT_EQ(one(0.1), "0.1");
  EXPECT_EQ(one(151000000000.0), "151000000000");
  EXPECT_EQ(one(1e300), "1e+300");
  EXPECT_EQ(one(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(one(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(one(std::uint32_t{7}), "7");
}

TEST(JsonWriter, WhatIsNoNumberIsNull) {
  EXPECT_EQ(one(std::nan("")), "null");
  EXPECT_EQ(one(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(written([](JsonWriter &json) {
              json.begin_array();
              json.value(1.0);
              json.value(-std::numeric_limits<double>::infinity());
              json.end_array();
            }),
            "[1,null]");
}

TEST(JsonWriter, EscapesText) {
  EXPECT_EQ(one(R"(a"b\c)"), R"("a\"b\\c")");
  EXPECT_EQ(one("line\nend\x01"), R"("line end ")");
  EXPECT_EQ(one("\xFF"), "\"\uFFFD\"");
  EXPECT_EQ(one(std::string_view()), "\"\"");
  EXPECT_EQ(written([](JsonWriter &json) {
              json.begin_object();
              json.member("k\"", std::string("v"));
              json.end_object();
            }),
            R"({"k\"":"v"})");
}

}  // namespace
}  // namespace gpulse
