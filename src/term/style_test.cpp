// SPDX-License-Identifier: Apache-2.0
#include "term/style.hpp"

#include <gtest/gtest.h>

namespace gpulse::term {
namespace {

constexpr TerminalFacts kTerminal{.terminal = true, .columns = 132, .term = "xterm-256color", .lang = "en_US.UTF-8"};

TEST(StyleFor, TakesATerminalAsItIs) {
  const auto style = style_for(kTerminal);
  EXPECT_TRUE(style.colour);
  EXPECT_TRUE(style.unicode);
  EXPECT_EQ(style.width, 132);
}

TEST(StyleFor, HasNoColourWhereNobodyWantsIt) {
  auto facts = kTerminal;
  facts.no_color = "1";
  EXPECT_FALSE(style_for(facts).colour);
  facts = kTerminal;
  facts.term = "dumb";
  EXPECT_FALSE(style_for(facts).colour);
  facts = kTerminal;
  facts.terminal = false;
  EXPECT_FALSE(style_for(facts).colour);
}

TEST(StyleFor, FollowsTheFirstLocaleThatIsSet) {
  auto facts = kTerminal;
  facts.lc_all = "C";
  EXPECT_FALSE(style_for(facts).unicode);
  facts.lc_all = "";
  facts.lc_ctype = "de_DE.utf8";
  EXPECT_TRUE(style_for(facts).unicode);
  EXPECT_FALSE(style_for({}).unicode);
}

TEST(StyleFor, FindsAWidth) {
  EXPECT_EQ(style_for({}).width, 80);
  EXPECT_EQ(style_for({.columns_variable = "100"}).width, 100);
  EXPECT_EQ(style_for({.columns_variable = "junk"}).width, 80);
  EXPECT_EQ(style_for({.columns_variable = "-4"}).width, 80);
}

TEST(Paint, IsPlainWithoutColour) {
  EXPECT_EQ(paint({.colour = false}, Colour::bad, "x"), "x");
  EXPECT_EQ(paint({.colour = true}, Colour::bad, "x"), "\033[31mx\033[0m");
  EXPECT_EQ(paint({.colour = true}, Colour::plain, "x"), "x");
}

TEST(Line, CutsWhatIsTooWideAndDropsBlanksAtTheEnd) {
  EXPECT_EQ(line({.width = 10}, {{"abc"}, {"  "}, {"de  "}, {"  "}}), "abc  de");
  EXPECT_EQ(line({.width = 6}, {{"abc"}, {"defgh"}}), "abcde…");
  EXPECT_EQ(line({.width = 3}, {{"abc"}, {"d"}}), "ab…");
  EXPECT_EQ(line({.width = 4}, {{"abc"}, {"de"}}), "abc…");
  EXPECT_EQ(line({.unicode = false, .width = 4}, {{"abc"}, {"de"}}), "ab..");
  EXPECT_EQ(line({.width = 10}, {{"   "}}), "");
}

TEST(Bar, IsAsFullAsTheFraction) {
  const auto text = [](const std::vector<Span> &spans) {
    std::string all;
    for (const auto &span : spans) all += span.text;
    return all;
  };
  EXPECT_EQ(text(bar({}, 0.5, 4, Colour::plain)), "━━──");
  EXPECT_EQ(text(bar({}, 0.125, 4, Colour::plain)), "╸───");
  EXPECT_EQ(text(bar({}, 7, 4, Colour::plain)), "━━━━");
  EXPECT_EQ(text(bar({.unicode = false}, 0.5, 4, Colour::plain)), "##--");
  EXPECT_TRUE(bar({}, 0.5, 0, Colour::plain).empty());
}

}  // namespace
}  // namespace gpulse::term
