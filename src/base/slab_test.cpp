// SPDX-License-Identifier: Apache-2.0
#include "base/slab.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <thread>

namespace gpulse {
namespace {

constexpr std::size_t kSize = 600;  // about a hundred of them are in a piece

TEST(Slab, BlocksDoNotOverlap) {
  Slab slab;
  std::vector<unsigned char *> blocks;
  for (int i = 0; i < 1000; ++i) {
    auto *const block = static_cast<unsigned char *>(slab.take(kSize));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignof(std::max_align_t), 0U);
    std::memset(block, i % 251, kSize);
    blocks.push_back(block);
  }
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(blocks[static_cast<std::size_t>(i)][0], i % 251);
    EXPECT_EQ(blocks[static_cast<std::size_t>(i)][kSize - 1], i % 251);
  }
  for (auto *block : blocks) slab.give_back(block, kSize);
}

TEST(Slab, NothingIsLeftOfManyButOnePiece) {
  Slab slab;
  std::vector<void *> blocks;
  for (int i = 0; i < 1000; ++i) blocks.push_back(slab.take(kSize));
  EXPECT_GE(slab.pieces(), 1000 * kSize / (64 << 10));
  std::ranges::shuffle(blocks, std::mt19937(7));
  for (auto *block : blocks) slab.give_back(block, kSize);
  EXPECT_EQ(slab.pieces(), 1U);
}

TEST(Slab, WhoStaysKeepsOnePieceNotAll) {
  Slab slab;
  std::vector<void *> blocks;
  for (int i = 0; i < 1000; ++i) blocks.push_back(slab.take(kSize));
  for (std::size_t i = 1; i < blocks.size(); ++i) slab.give_back(blocks[i], kSize);
  EXPECT_LE(slab.pieces(), 2U);
  // Those who come now are beside it.
  std::set<std::uintptr_t> seen;
  std::vector<void *> more;
  for (int i = 0; i < 50; ++i) more.push_back(slab.take(kSize));
  EXPECT_LE(slab.pieces(), 2U);
  for (auto *block : more) EXPECT_TRUE(seen.insert(reinterpret_cast<std::uintptr_t>(block)).second);
  for (auto *block : more) slab.give_back(block, kSize);
  slab.give_back(blocks[0], kSize);
}

TEST(Slab, WhoComesAndGoesFindsAPieceBesideFullOnes) {
  Slab slab;
  std::vector<void *> blocks;
  while (slab.pieces() < 2) blocks.push_back(slab.take(kSize));
  slab.give_back(blocks.back(), kSize);
  blocks.pop_back();
  EXPECT_EQ(slab.pieces(), 2U) << "the first one is full";
  for (auto *block : blocks) slab.give_back(block, kSize);
  EXPECT_EQ(slab.pieces(), 1U);
}

TEST(Slab, WhatDoesNotFitComesFromTheHeap) {
  Slab slab;
  void *const usual = slab.take(100);
  void *const larger = slab.take(5000);
  std::memset(larger, 1, 5000);
  EXPECT_EQ(slab.pieces(), 1U);
  slab.give_back(larger, 5000);
  slab.give_back(usual, 100);

  Slab large;
  void *const huge = large.take(1 << 20U);
  std::memset(huge, 1, 1 << 20U);
  EXPECT_EQ(large.pieces(), 0U);
  large.give_back(huge, 1 << 20U);
}

// An object may go on a thread other than its own, and outlive whoever made the slab.
TEST(Slab, SharedObjectsKeepIt) {
  using Large = std::array<int, 200>;
  std::vector<std::shared_ptr<Large>> all;
  {
    const auto slab = std::make_shared<Slab>();
    for (int i = 0; i < 500; ++i) {
      all.push_back(std::allocate_shared<Large>(SlabAllocator<Large>(slab)));
      all.back()->fill(i);
    }
    EXPECT_GT(slab->pieces(), 1U);
  }
  for (int i = 0; i < 500; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)]->back(), i);
  std::vector<std::jthread> threads;
  for (std::size_t part = 0; part < 4; ++part) {
    threads.emplace_back([&all, part] {
      for (std::size_t i = part; i < all.size(); i += 4) all[i].reset();
    });
  }
}

}  // namespace
}  // namespace gpulse
