// SPDX-License-Identifier: Apache-2.0
#include "term/table.hpp"

#include <gtest/gtest.h>

namespace gpulse::term {
namespace {

using Lines = std::vector<std::string>;

TEST(Table, AlignsByWhatStandsInTheColumns) {
  Table table({{.title = "N", .align = Align::right}, {.title = "NAME", .gap = 2}});
  table.add({Cell("7"), Cell("名前")});
  table.add({Cell("1234567"), Cell("x")});
  EXPECT_EQ(table.lines({}), (Lines{"      N  NAME", "      7  名前", "1234567  x"}));
}

TEST(Table, DropsSpareColumnsBeforeItShrinksOthersBeforeItDropsThem) {
  Table table({{.title = "A", .min = 3}, {.title = "B", .keep = 200}, {.title = "C", .keep = 50}});
  table.add({Cell("aaaaaa"), Cell("bb"), Cell("cc")});
  EXPECT_EQ(table.lines({.width = 12}).back(), "aaaaaa bb cc");
  EXPECT_EQ(table.lines({.width = 11}).back(), "aaaaaa bb");
  EXPECT_EQ(table.lines({.width = 8}).back(), "aaaa… bb");
  EXPECT_EQ(table.lines({.width = 5}).back(), "aaaa…");
  EXPECT_EQ(table.kept({.width = 11}), (std::vector<bool>{true, true, false}));
}

TEST(Table, GrowsACutTextBeforeABar) {
  Table table({{.title = "", .cap = 4, .grow_to = 8}, {.title = "C", .cap = 3}});
  Cell half;
  half.bar = 0.5;
  table.add({half, Cell("command")});
  EXPECT_EQ(table.lines({.width = 8}).back(), "━━── co…");
  EXPECT_EQ(table.lines({.width = 12}).back(), "━━── command");
  EXPECT_EQ(table.lines({.width = 80}).back(), "━━━━──── command");
}

TEST(Table, LetsOneCellTakeTheRestOfTheLine) {
  Table table({{.title = "N"}, {.title = "A"}, {.title = "B"}});
  table.add({Cell("0"), Cell("1"), Cell("2")});
  table.add({Cell("1")}, Cell("not there at all"));
  EXPECT_EQ(table.lines({.width = 12}), (Lines{"N A B", "0 1 2", "1  not ther…"}));
}

}  // namespace
}  // namespace gpulse::term
