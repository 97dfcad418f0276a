// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/zeroed_memory.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <thread>
#include <vector>

namespace gpulse::nvml {
namespace {

constexpr std::uintptr_t kPageSizes[] = {4096, 16384, 65536};

class WholePages : public testing::TestWithParam<std::uintptr_t> {};

TEST_P(WholePages, AreAllThatFitAndNoMore) {
  const auto page = GetParam();
  const auto base = 16 * page;
  for (const std::uintptr_t before : {std::uintptr_t{0}, std::uintptr_t{1}, page / 2, page - 1}) {
    for (const std::uintptr_t size : {std::uintptr_t{0}, std::uintptr_t{1}, page - 1, page, page + 1, 2 * page - 1,
                                      2 * page, 5 * page + 7, 8 * page}) {
      const AddressRange range{base + before, base + before + size};
      const auto pages = whole_pages(range, page);
      std::uintptr_t expected = 0;  // counted page by page
      for (auto at = base; at < range.end; at += page) {
        if (at >= range.begin && at + page <= range.end) expected += page;
      }
      EXPECT_EQ(pages.size(), expected) << before << " " << size;
      if (pages.empty()) continue;
      EXPECT_TRUE(range.contains(pages)) << before << " " << size;
      EXPECT_EQ(pages.begin % page, 0U);
      EXPECT_EQ(pages.end % page, 0U);
    }
  }
}

TEST_P(WholePages, NoneInsideOnePage) {
  const auto page = GetParam();
  EXPECT_TRUE(whole_pages({page + 1, 2 * page - 1}, page).empty());
  EXPECT_TRUE(whole_pages({page + 1, 2 * page + 1}, page).empty()) << "across a boundary, but none is whole";
}

TEST_P(WholePages, AtTheEndOfTheAddresses) {
  const auto page = GetParam();
  constexpr auto kLast = std::numeric_limits<std::uintptr_t>::max();
  EXPECT_TRUE(whole_pages({kLast - 1, kLast}, page).empty());
  EXPECT_EQ(whole_pages({kLast - 3 * page, kLast}, page), (AddressRange{kLast - 3 * page + 1, kLast - page + 1}));
  EXPECT_TRUE(whole_pages({kLast - 10, 20}, page).empty()) << "wraps around";
}

INSTANTIATE_TEST_SUITE_P(PageSizes, WholePages, testing::ValuesIn(kPageSizes));

TEST(WholePagesTest, NoneOfAnUnknownSize) { EXPECT_TRUE(whole_pages({0, 1U << 20U}, 0).empty()); }

TEST(PublishedRangeTest, GivesBackWhatWasStored) {
  PublishedRange range;
  EXPECT_TRUE(range.load().empty());
  const AddressRange high{0x7fff'fff0'0000, 0x7fff'fff1'0000};
  range.store(high);
  EXPECT_EQ(range.load(), high);
  range.clear();
  EXPECT_TRUE(range.load().empty());
}

TEST(PublishedRangeTest, NeverPromisesMore) {
  PublishedRange range;
  range.store({0x1001, 0x4001});
  EXPECT_EQ(range.load(), (AddressRange{0x2000, 0x4000}));
  const AddressRange huge{0x1000'0000, 0x1000'0000 + (std::uintptr_t{1} << 40U)};
  range.store(huge);
  EXPECT_TRUE(huge.contains(range.load()));
  EXPECT_GT(range.load().size(), std::uintptr_t{4} << 29U);
  range.store({std::uintptr_t{1} << 60U, (std::uintptr_t{1} << 60U) + (1U << 20U)});
  EXPECT_TRUE(range.load().empty()) << "an address that does not fit";
}

TEST(PublishedRangeTest, IsNeverTorn) {
  constexpr AddressRange kLow{1U << 20U, 2U << 20U};
  constexpr AddressRange kHigh{std::uintptr_t{1} << 40U, (std::uintptr_t{1} << 40U) + (7U << 20U)};
  PublishedRange range;
  std::atomic<bool> stop{false};
  std::atomic<int> torn{0};
  std::vector<std::jthread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      while (!stop) {
        const auto seen = range.load();
        if (!seen.empty() && seen != kLow && seen != kHigh) ++torn;
      }
    });
  }
  for (int i = 0; i < 20'000; ++i) {
    range.store(kLow);
    range.store(kHigh);
    range.clear();
  }
  stop = true;
  readers.clear();
  EXPECT_EQ(torn, 0);
}

}  // namespace
}  // namespace gpulse::nvml
