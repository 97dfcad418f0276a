// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

namespace gpulse {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Text, TrimsBlanksAtBothEnds) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n "), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Text, ANumberIsTheWholeText) {
  EXPECT_EQ(parse_integer<int>("12"), 12);
  EXPECT_EQ(parse_integer<int>("-12"), -12);
  EXPECT_EQ(parse_integer<unsigned>("ff", 16), 255U);
  EXPECT_EQ(parse_integer<unsigned>("-1"), std::nullopt);
  EXPECT_EQ(parse_integer<std::uint8_t>("256"), std::nullopt);
  EXPECT_EQ(parse_integer<int>("12x"), std::nullopt);
  EXPECT_EQ(parse_integer<int>(" 12"), std::nullopt);
  EXPECT_EQ(parse_integer<int>(""), std::nullopt);
  EXPECT_EQ(parse_double("1.5"), 1.5);
  EXPECT_EQ(parse_double("1.5 "), std::nullopt);
  EXPECT_EQ(parse_double("1,5"), std::nullopt);
  EXPECT_EQ(parse_double(""), std::nullopt);
}

TEST(Text, TakesPiecesOffTheFront) {
  std::string_view rest = "a::b";
  EXPECT_EQ(next_piece(rest, ':'), "a");
  EXPECT_EQ(next_piece(rest, ':'), "");
  EXPECT_EQ(next_piece(rest, ':'), "b");
  EXPECT_TRUE(rest.empty());
}

TEST(Text, TakesWordsOffTheFront) {
  std::string_view rest = "  one \t two\n";
  EXPECT_EQ(next_word(rest), "one");
  EXPECT_EQ(next_word(rest), "two");
  EXPECT_EQ(next_word(rest), "");
  EXPECT_EQ(rest, "");
}

TEST(Text, Splits) {
  EXPECT_THAT(split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_THAT(split_words("  a\tb \n c"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(split_words(" \n"), IsEmpty());
}

TEST(Text, MakesCapitalsSmall) {
  EXPECT_EQ(lower("GPU-1a2B \xC3\x84"), "gpu-1a2b \xC3\x84");
  EXPECT_EQ(lower(""), "");
}

std::string printed(double number, int digits) {
  std::array<char, 400> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.*f", digits, number);
  return {text.data(), static_cast<std::size_t>(length)};
}

TEST(Fixed, IsWhatPrintfWrites) {
  for (const double number : {0.0,  -0.0,  0.5,  1.5,   2.5,      -0.04,     0.05,
                              0.15, 0.25,  0.45, 1.005, 99.95,    9.995,     999.9995,
                              1e15, -1e15, 1e22, 1e300, 4.9e-324, 0.1 + 0.2, std::numeric_limits<double>::infinity()}) {
    for (int digits = 0; digits < 6; ++digits) EXPECT_EQ(fixed(number, digits), printed(number, digits));
  }
}

TEST(Fixed, IsWhatPrintfWritesOfAnyNumber) {
  std::mt19937_64 random(1);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same numbers every time
  for (int i = 0; i < 200'000; ++i) {
    const int digits = static_cast<int>(random() % 5);
    // Numbers as they are measured, with few digits and often on a tie; and any bits at all.
    const double few = static_cast<double>(static_cast<std::int64_t>(random() % 4'000'001) - 2'000'000) / 1000;
    const double any = std::bit_cast<double>(random());
    ASSERT_EQ(fixed(few, digits), printed(few, digits)) << digits;
    if (!std::isfinite(any)) continue;
    ASSERT_EQ(fixed(any, digits), printed(any, digits)) << digits;
  }
}

TEST(Printable, KeepsGoodText) {
  EXPECT_EQ(printable("python3 train.py"), "python3 train.py");
  EXPECT_EQ(printable("caf\u00E9 \u4E2D \U0001F600"), "caf\u00E9 \u4E2D \U0001F600");
  EXPECT_EQ(printable("\u00A0"), "\u00A0");  // the first character after the C1 controls
}

TEST(Printable, ControlCharactersBecomeBlanks) {
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a b");
  EXPECT_EQ(printable("\x1B[31mred\x7F"), " [31mred ");
  EXPECT_EQ(printable("a\xC2\x9B"
                      "31m"),
            "a 31m");  // C1 CSI, which some terminals act on
  EXPECT_EQ(printable("\xC2\x80\xC2\x9F"), "  ");
}

TEST(Printable, BadBytesBecomeTheReplacementCharacter) {
  constexpr auto kBad = "\uFFFD";
  const std::string bad = kBad;
  EXPECT_EQ(printable("a\xFFz"), "a" + bad + "z");
  EXPECT_EQ(printable("\x80"), bad);                      // continuation without a start
  EXPECT_EQ(printable("\xC3"), bad);                      // cut off
  EXPECT_EQ(printable("\xE4\xB8"), bad + bad);            // cut off
  EXPECT_EQ(printable("\xC0\xAF"), bad + bad);            // overlong /
  EXPECT_EQ(printable("\xE0\x80\xAF"), bad + bad + bad);  // overlong /
  EXPECT_EQ(printable("\xF0\x80\x80\xAF"), bad + bad + bad + bad);
  EXPECT_EQ(printable("\xED\xA0\x80"), bad + bad + bad);            // surrogate
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), bad + bad + bad + bad);  // beyond U+10FFFF
  EXPECT_EQ(printable("\xC3(\xC3\xA9"), bad + "(\u00E9");
}

TEST(Printable, WhatTurnsOrBreaksALineBecomesABlank) {
  EXPECT_EQ(printable("gnp.\u202Eexe"), "gnp. exe");  // shown as "gnp.exe" backwards
  EXPECT_EQ(printable("\u202A\u202B\u202C\u202D\u2066\u2067\u2068\u2069\u200E\u200F\u061C"), std::string(11, ' '));
  EXPECT_EQ(printable("a\u2028b\u2029c\u0085d"), "a b c d");
}

TEST(Printable, WhatCannotBeSeenBecomesABlank) {
  EXPECT_EQ(printable("ro\u200Bot"), "ro ot");
  EXPECT_EQ(printable("ro\uFEFFot\u2060 ro\u00ADot"), "ro ot  ro ot");
  EXPECT_EQ(printable("ro\U000E0041ot \u3164"), "ro ot  ");
}

TEST(Printable, WhatIsNoCharacterBecomesABlank) {
  EXPECT_EQ(printable("a\uFFFEb\uFFFFc\U0001FFFEd\uFDD0"), "a b c d ");
}

TEST(Printable, JoinersStayWhereTheyJoin) {
  EXPECT_EQ(printable("\U0001F468\u200D\U0001F469"), "\U0001F468\u200D\U0001F469");  // a couple, one picture
  EXPECT_EQ(printable("\u2764\uFE0F\u200D\U0001F525"), "\u2764\uFE0F\u200D\U0001F525");
  EXPECT_EQ(printable("\u0645\u06CC\u200C\u062E"), "\u0645\u06CC\u200C\u062E");  // Persian
  EXPECT_EQ(printable("ro\u200Dot\u200C\uFE0F"), "ro ot  ");
}

TEST(Text, IsCutBetweenCharacters) {
  EXPECT_EQ(first_bytes("aä€", 6), "aä€");
  EXPECT_EQ(first_bytes("aä€", 5), "aä");
  EXPECT_EQ(first_bytes("aä€", 3), "aä");
  EXPECT_EQ(first_bytes("aä€", 2), "a");
  EXPECT_EQ(first_bytes("€", 2), "");
}

TEST(Text, IsPrintableWhateverItIsMadeFrom) {
  const std::string hostile = "a\x1b[2Jb\n";
  for (const auto &text : {Text(hostile), Text(std::string_view(hostile)), Text(hostile.c_str())}) {
    EXPECT_EQ(text.str(), "a [2Jb ");
  }
  Text later;
  later = hostile;
  EXPECT_EQ(later, "a [2Jb ");
  EXPECT_EQ(std::string("<") + later + ">", "<a [2Jb >");
}

TEST(Printable, IsItsOwnFixedPointOnAnything) {
  constexpr std::array<std::string_view, 8> kPieces{"\u200D", "\u202E", "\uFE0F", "\u00E9",
                                                    "\uFFFE", "\u2028", "a",      "\U0001F468"};
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 40, '\0');
    for (auto &c : text) c = static_cast<char>(random());
    for (int i = 0; i < 8; ++i) text.insert(random() % (text.size() + 1), kPieces[random() % kPieces.size()]);
    const auto once = printable(text);
    EXPECT_EQ(printable(once), once);
    for (const char c : once) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
  }
}

}  // namespace
}  // namespace gpulse
