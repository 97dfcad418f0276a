// SPDX-License-Identifier: Apache-2.0
#include "term/width.hpp"

#include <gtest/gtest.h>

#include <array>

namespace gpulse::term {
namespace {

TEST(Width, CountsColumnsNotBytes) {
  EXPECT_EQ(width(""), 0);
  EXPECT_EQ(width("train.py"), 8);
  EXPECT_EQ(width("64°C"), 4);
  EXPECT_EQ(width("名前"), 4);
  EXPECT_EQ(width("e\u0301"), 1);     // e and a combining accent
  EXPECT_EQ(width("\U0001F600"), 2);  // an emoji
  EXPECT_EQ(width("━━╸──"), 5);
}

TEST(Glyph, IsOneCharacterOfTheText) {
  const auto is = [](std::string_view text, char32_t code, std::size_t bytes, int columns) {
    const Glyph glyph = first_glyph(text);
    EXPECT_EQ(glyph.code, code) << text;
    EXPECT_EQ(glyph.bytes, bytes) << text;
    EXPECT_EQ(glyph.columns, columns) << text;
  };
  is("abc", U'a', 1, 1);
  is("°C", U'°', 2, 1);
  is("名前", U'名', 3, 2);
  is("\u0301e", 0x301, 2, 0);
  is("\xff!", 0xFFFD, 1, 1);
  std::array<char, 4> bytes{};
  for (const std::string_view text : {"a", "°", "名", "\U0001F600"}) {
    const auto count = encode_utf8(first_glyph(text).code, bytes);
    EXPECT_EQ(std::string_view(bytes.data(), count), text);
  }
}

TEST(Glyph, WhatIsWrittenIsReadBack) {
  std::array<char, 4> bytes{};
  for (char32_t code = 1; code <= 0x10FFFF; code += code < 0x10000 ? 1 : 97) {
    if (code >= 0xD800 && code < 0xE000) continue;
    const auto count = encode_utf8(code, bytes);
    const Glyph glyph = first_glyph({bytes.data(), count});
    ASSERT_EQ(glyph.code, code);
    ASSERT_EQ(glyph.bytes, count);
  }
}

TEST(Glyph, ABadByteIsOneCharacter) {
  for (const std::string_view text : {"\xE2", "\xE2\x94", "\xE2\x28\xA1", "\xE2\x94\x28", "\xE0\x80\x80",
                                      "\xED\xA0\x80", "\xF8\x88\x80\x80", "\x80"}) {
    const Glyph glyph = first_glyph(text);
    EXPECT_EQ(glyph.code, U'\xFFFD');
    EXPECT_EQ(glyph.bytes, 1U);
  }
}

TEST(Cut, EndsAtABorderBetweenCharacters) {
  EXPECT_EQ(cut("train.py", 8, "…"), "train.py");
  EXPECT_EQ(cut("train.py", 5, "…"), "trai…");
  EXPECT_EQ(cut("train.py", 5, ".."), "tra..");
  EXPECT_EQ(cut("名前名前", 5, "…"), "名前…");
  EXPECT_EQ(cut("名前名前", 4, "…"), "名…");  // a wide character does not fit in one column
  EXPECT_EQ(cut("e\u0301e\u0301e\u0301", 2, "…"), "e\u0301…");
  EXPECT_EQ(cut("train.py", 1, ".."), "t");
  EXPECT_EQ(cut("train.py", 0, "…"), "");
  EXPECT_EQ(cut("train.py", -3, "…"), "");
}

TEST(Pad, FillsToTheWidthOnEitherSide) {
  EXPECT_EQ(pad("名", 4), "名  ");
  EXPECT_EQ(pad("7", 3, Align::right), "  7");
  EXPECT_EQ(pad("long", 2), "long");
}

TEST(Clean, RemovesWhatATerminalWouldActOn) {
  EXPECT_EQ(clean("a\x1b[31mb\n"), "a [31mb ");
  EXPECT_EQ(clean("a\u202Eb"), "a b");
  EXPECT_EQ(clean("a\xff"), "a\uFFFD");
  EXPECT_EQ(clean("a\u009bb"), "a b");
  EXPECT_EQ(clean("名前 x", false), "?? x");
}

TEST(Wrap, BreaksBetweenWords) {
  EXPECT_EQ(wrap("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrap("abcdefgh", 3), (std::vector<std::string>{"abc", "def", "gh"}));
  EXPECT_TRUE(wrap("", 10).empty());
  EXPECT_TRUE(wrap("名前", 1).empty());
}

}  // namespace
}  // namespace gpulse::term
