// SPDX-License-Identifier: Apache-2.0
#include "term/fit.hpp"

#include <gtest/gtest.h>

namespace gpulse::term {
namespace {

constexpr FitRules kRules{.spare = 445, .in_turn = true};

TEST(Fit, NeverTakesMoreThanThereIs) {
  const std::vector<FitColumn> columns{{.width = 3, .keep = 1000},
                                       {.width = 14, .min = 6, .keep = 1000},
                                       {.width = 10, .min = 6, .max = 30, .keep = 690},
                                       {.width = 4, .keep = 900},
                                       {.width = 7, .keep = 100, .gap = 2}};
  for (int available = 0; available < 100; ++available) {
    const auto widths = fit_columns(columns, available, kRules);
    int used = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (widths[i] > 0) used += widths[i] + (used > 0 ? columns[i].gap : 0);
      ASSERT_GE(widths[i], 0);
    }
    ASSERT_LE(used, available) << available;
  }
}

TEST(Fit, SpareColumnsGoFirstThenWidthsThenTheLeastImportant) {
  const std::vector<FitColumn> columns{
      {.width = 10, .min = 4, .keep = 1000}, {.width = 5, .keep = 600}, {.width = 5, .keep = 100}};
  EXPECT_EQ(fit_columns(columns, 22, kRules), (std::vector<int>{10, 5, 5}));
  EXPECT_EQ(fit_columns(columns, 21, kRules), (std::vector<int>{10, 5, 0}));
  EXPECT_EQ(fit_columns(columns, 12, kRules), (std::vector<int>{6, 5, 0}));
  EXPECT_EQ(fit_columns(columns, 9, kRules), (std::vector<int>{9, 0, 0}));
  EXPECT_EQ(fit_columns(columns, 2, kRules), (std::vector<int>{2, 0, 0}));
}

}  // namespace
}  // namespace gpulse::term
