// SPDX-License-Identifier: Apache-2.0
#include "term/screen.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "term/width.hpp"

namespace gpulse::term {
namespace {

constexpr int kHuge = std::numeric_limits<int>::max();
constexpr int kFarLeft = std::numeric_limits<int>::min();
constexpr Ink kRed{.fore = Tint::ansi(1)};

TEST(Rect, SharesWhatBothHave) {
  EXPECT_EQ((Rect{0, 0, 10, 5} & Rect{5, 2, 10, 10}), (Rect{5, 2, 5, 3}));
  EXPECT_TRUE((Rect{0, 0, 4, 4} & Rect{4, 0, 4, 4}).empty());
  EXPECT_TRUE((Rect{0, 0, 4, 4} & Rect{1, 1, -3, 2}).empty());
  EXPECT_EQ((Rect{2, 2, kHuge, kHuge} & Rect{0, 0, 10, 5}), (Rect{2, 2, 8, 3}));
  EXPECT_TRUE((Rect{2, 2, kHuge, kHuge}.contains(kHuge, 100)));
}

TEST(Screen, PutsTextAndTellsItsWidth) {
  Screen screen({10, 2});
  EXPECT_EQ(screen.put(1, 0, "64°C", kRed), 4);
  EXPECT_EQ(screen.put(7, 1, "train.py", {}), 8);  // cut off, yet as wide as it is
  EXPECT_EQ(screen.text(), " 64°C\n       tra\n");
  EXPECT_EQ(screen.at(3, 0).text(), "°");
  EXPECT_EQ(screen.at(3, 0).ink, kRed);
  EXPECT_EQ(screen.at(0, 0).ink, Ink{});
}

TEST(Screen, StaysInsideTheClip) {
  Screen screen({10, 3});
  screen.put(-2, 1, "abcdefghijklmnop", {}, {2, 0, 4, 2});
  EXPECT_EQ(screen.lines(), (std::vector<std::string>{"", "  efgh", ""}));
  screen.put(0, 2, "below", {}, {2, 0, 4, 2});
  EXPECT_EQ(screen.lines()[2], "");
}

TEST(Screen, GivesWideCharactersTwoColumns) {
  Screen screen({6, 1});
  EXPECT_EQ(screen.put(0, 0, "a名b", {}), 4);
  EXPECT_EQ(screen.at(1, 0).text(), "名");
  EXPECT_EQ(screen.at(2, 0).text(), "");
  EXPECT_EQ(screen.at(3, 0).text(), "b");
  EXPECT_EQ(screen.text(), "a名b\n");
}

TEST(Screen, LeavesABlankWhereAWideCharacterIsCutInHalf) {
  Screen screen({5, 3});
  screen.put(0, 0, "abcd名", kRed);
  screen.put(-1, 1, "名xyz", kRed);
  screen.put(0, 2, "名名", kRed, {1, 2, 2, 1});
  EXPECT_EQ(screen.lines(), (std::vector<std::string>{"abcd", " xyz", ""}));
  EXPECT_EQ(screen.at(4, 0).text(), " ");
  EXPECT_EQ(screen.at(4, 0).ink, kRed);
  EXPECT_EQ(screen.at(0, 1).ink, kRed);
  EXPECT_EQ(screen.at(2, 2).ink, kRed);
  EXPECT_EQ(screen.at(3, 2).ink, Ink{});
}

TEST(Screen, BlanksTheOtherHalfOfAWideCharacter) {
  const auto with = [](auto change) {
    Screen screen({6, 1});
    screen.put(0, 0, "名前名", {});
    change(screen);
    return screen.text();
  };
  EXPECT_EQ(with([](Screen &s) { s.put(2, 0, "x", {}); }), "名x 名\n");
  EXPECT_EQ(with([](Screen &s) { s.put(3, 0, "x", {}); }), "名 x名\n");
  EXPECT_EQ(with([](Screen &s) { s.put(1, 0, "語", {}); }), " 語 名\n");
  EXPECT_EQ(with([](Screen &s) { s.put_char(1, 0, U'━', {}); }), " ━前名\n");
  EXPECT_EQ(with([](Screen &s) { s.fill({1, 0, 2, 1}, {}); }), "    名\n");
  EXPECT_EQ(with([](Screen &s) { s.fill({2, 0, 3, 1}, {}); }), "名\n");
}

TEST(Screen, JoinsMarksToTheCharacterBefore) {
  Screen screen({4, 1});
  EXPECT_EQ(screen.put(0, 0, "e\u0301x", {}), 2);
  EXPECT_EQ(screen.at(0, 0).text(), "e\u0301");
  EXPECT_EQ(screen.at(1, 0).text(), "x");
  // Three marks of two bytes and a letter are what a cell holds.
  screen.put(0, 0, "e\u0301\u0302\u0303\u0304", {});
  EXPECT_EQ(screen.at(0, 0).text(), "e\u0301\u0302\u0303");
  // A mark with nothing before it has no place.
  EXPECT_EQ(screen.put(2, 0, "\u0301z", {}), 1);
  EXPECT_EQ(screen.at(2, 0).text(), "z");
  EXPECT_EQ(screen.at(1, 0).text(), "x");
  // Nor has that of a character outside.
  screen.put(3, 0, "yw\u0301", {});
  EXPECT_EQ(screen.at(3, 0).text(), "y");
}

TEST(Screen, CountsAsWidthDoes) {
  Screen screen({4, 1});
  for (const std::string_view text : {"", "abc", "e\u0301", "名前名前名前", "\U0001F600!", "━━╸──", "a\u200Bb"}) {
    EXPECT_EQ(screen.put(-1, 0, text, {}), width(text)) << text;
    EXPECT_EQ(screen.put(0, 7, text, {}), width(text)) << text;
  }
}

TEST(Screen, FillsAndHighlights) {
  Screen screen({4, 2});
  screen.put(0, 0, "abcd", kRed);
  screen.highlight({1, 0, 2, 1}, Tint::ansi(4), kBold);
  EXPECT_EQ(screen.at(0, 0).ink, kRed);
  EXPECT_EQ(screen.at(1, 0).ink, (Ink{Tint::ansi(1), Tint::ansi(4), kBold}));
  EXPECT_EQ(screen.at(1, 0).text(), "b");
  screen.fill({2, 0, 9, 9}, {.back = Tint::ansi(2)});
  EXPECT_EQ(screen.lines(), (std::vector<std::string>{"ab", ""}));
  EXPECT_EQ(screen.at(3, 1).ink.back(), Tint::ansi(2));
  screen.fill({1, 0, 2, 2}, kRed, U'─');
  EXPECT_EQ(screen.lines(), (std::vector<std::string>{"a──", " ──"}));
  EXPECT_EQ(screen.at(2, 1).ink, kRed);
}

TEST(Screen, ClearedIsBlankEverywhere) {
  for (const Size size : {Size{7, 5}, Size{1, 1}, Size{8, 1}, Size{3, 64}}) {
    Screen screen(size);
    for (int y = 0; y < size.rows; ++y) screen.put(0, y, "名abcdefg", {});
    screen.clear(kRed);
    for (int y = 0; y < size.rows; ++y) {
      for (int x = 0; x < size.columns; ++x) {
        EXPECT_EQ(screen.at(x, y).text(), " ") << x << "," << y;
        EXPECT_EQ(screen.at(x, y).ink, kRed) << x << "," << y;
      }
    }
  }
}

TEST(Screen, BearsAnyPlaceAndAnySize) {
  for (const Size size : {Size{0, 0}, Size{0, 5}, Size{5, 0}, Size{-3, -3}, Size{3, 2}}) {
    Screen screen(size);
    for (const int x : {kFarLeft, -1, 0, 2, 3, kHuge}) {
      for (const int y : {kFarLeft, -1, 0, 1, 2, kHuge}) {
        EXPECT_EQ(screen.put(x, y, "a名b", {}), 4);
        screen.put_char(x, y, U'━', {});
        screen.fill({x, y, kHuge, kHuge}, kRed);
        screen.highlight({x, y, kHuge, 1}, Tint::ansi(3));
        screen.fill({x, y, -5, 0}, kRed);
        screen.fill({x, y, 2, 2}, kRed, U'─');
      }
    }
    screen.clear(kRed);
    EXPECT_EQ(screen.lines().size(), static_cast<std::size_t>(std::max(size.rows, 0)));
  }
}

TEST(Area, HasItsOwnOriginAndNoWayOut) {
  Screen screen({8, 4});
  const Area area(screen, {2, 1, 4, 2});
  EXPECT_EQ(area.put(0, 0, "abcdef", {}), 6);
  area.put(-1, 1, "uvwxyz", {});
  area.put(0, 2, "no", {});
  area.put_char(4, 0, U'!', {});
  area.put_char(-1, 0, U'!', {});
  EXPECT_EQ(screen.lines(), (std::vector<std::string>{"", "  abcd", "  vwxy", ""}));
  const Area inner = area.part({1, 1, 99, 99});
  EXPECT_EQ(inner.rect(), (Rect{3, 2, 3, 1}));
  inner.fill({});
  EXPECT_EQ(screen.lines()[2], "  v");
  EXPECT_TRUE(area.row(2).empty());
  EXPECT_TRUE(Area(screen, {99, 99, 5, 5}).empty());
  EXPECT_EQ(Area(screen, {6, 0, 99, 99}).columns(), 2);
}

}  // namespace
}  // namespace gpulse::term
