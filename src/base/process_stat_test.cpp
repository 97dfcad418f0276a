// SPDX-License-Identifier: Apache-2.0
#include "base/process_stat.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gpulse {
namespace {

std::string stat_line(std::string_view name, std::string_view state = "S") {
  return "560 (" + std::string(name) + ") " + std::string(state) +
         " 417 560 560 0 -1 4194560 100 0 5 0 1234 66 9 9 20 -5 8 0 150000 900000000 2500 18446744073709551615 1 1\n";
}

TEST(ParseProcessStat, FieldsAfterTheLastBracket) {
  for (const std::string name : {"python3", "", "(sd-pam)", "a) S 1 2 (b", "new\nline", "tail)"}) {
    const auto text = stat_line(name);
    const auto stat = parse_process_stat(text);
    ASSERT_TRUE(stat) << name;
    EXPECT_EQ(stat->name, name);
    EXPECT_EQ(stat->state, 'S');
    EXPECT_EQ(stat->parent, 417U);
    EXPECT_EQ(stat->cpu_ticks, 1300U);
    EXPECT_EQ(stat->children_cpu_ticks, 18U);
    EXPECT_EQ(stat->nice, -5);
    EXPECT_EQ(stat->threads, 8U);
    EXPECT_EQ(stat->start_ticks, 150000U);
    EXPECT_EQ(stat->resident_pages, 2500U);
    EXPECT_FALSE(stat->is_over());
  }
}

TEST(ParseProcessStat, AZombieWithThreadsIsNotOver) {
  EXPECT_FALSE(parse_process_stat(stat_line("leader", "Z"))->is_over());
  EXPECT_TRUE(parse_process_stat("1 (z) Z 1 1 1 0 -1 0 0 0 0 0 5 5 0 0 20 0 1 0 7 0 0\n")->is_over());
  EXPECT_TRUE(parse_process_stat("1 (x) X 1 1 1 0 -1 0 0 0 0 0 5 5 0 0 20 0 9 0 7 0 0\n")->is_over());
}

TEST(ParseProcessStat, TheTimeWaitedForDisksIsFarBack) {
  // A line of Linux 6.18, with 77 in the place of delayacct_blkio_ticks.
  const auto stat = parse_process_stat(
      "16 (cat) R 1 1 1 0 -1 4194560 80 0 0 0 3 4 0 0 20 0 1 0 11690 2772992 349 18446744073709551615 1 2 3 0 0 0 0 0 "
      "0 0 0 0 17 1 0 0 77 8 9 4 5 6 7 8 9 10 0\n");
  ASSERT_TRUE(stat);
  EXPECT_EQ(disk_wait_ticks(*stat), 77U);
  EXPECT_EQ(disk_wait_ticks(*parse_process_stat(stat_line("an old kernel"))), std::nullopt);
}

TEST(ParseProcessStat, RefusesNonsense) {
  for (const auto *bad : {"", "1", "1 (a", "1 a)", "1 )a( S", "1 (a)", "1 (a) S 1 2 3", "1 (a) SS 1",
                          "1 (a) S 1 1 1 0 -1 0 0 0 0 0 x 5 0 0 20 0 9 0 7 0 0\n"}) {
    EXPECT_FALSE(parse_process_stat(bad)) << bad;
  }
}

}  // namespace
}  // namespace gpulse
