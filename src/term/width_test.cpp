// SPDX-License-Identifier: Apache-2.0
#include "term/width.hpp"

#include <gtest/gtest.h>

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
