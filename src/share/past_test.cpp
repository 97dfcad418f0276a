// SPDX-License-Identifier: Apache-2.0
#include "share/past.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "codec/testing.hpp"
#include "share/testing.hpp"

namespace gpulse::share {
namespace {

using testing::mark_of;
using testing::marked_snapshot;
using testing::Memory;

constexpr std::uint64_t kSecond = 1'000'000'000;
// Any moment; a machine has always been up for a while.
constexpr std::uint64_t kStart = 1000 * kSecond;

Room room_for(std::size_t past_bytes) { return {.devices = 4, .bytes = 4096, .past_bytes = past_bytes}; }

class Past {
 public:
  explicit Past(std::size_t bytes) : memory(room_for(bytes)), writer(memory.words(), memory.layout()) {}

  std::vector<PastSample> read() { return read_past(memory.words(), memory.layout(), codec::todays_schema().slots); }

  Memory memory;
  PastWriter writer;
};

// With texts that no difference makes small.
SnapshotPtr large_snapshot(std::size_t bytes) {
  Snapshot snapshot = *marked_snapshot(1);
  snapshot.hostname = std::string(bytes, 'x');
  return std::make_shared<const Snapshot>(std::move(snapshot));
}

TEST(Past, IsEmptyAtFirst) { EXPECT_TRUE(Past(1U << 16U).read().empty()); }

TEST(Past, ComesBackAsItWasOldestFirst) {
  Past past(4U << 20U);
  codec::testing::RandomMachine machine(11);
  std::vector<SnapshotPtr> written;
  for (std::uint64_t i = 0; i < 50; ++i) {
    written.push_back(std::make_shared<const Snapshot>(machine.next()));
    past.writer.append(written.back(), kStart + i * kSecond);
    const auto read = past.read();
    ASSERT_EQ(read.size(), written.size());
    for (std::size_t k = 0; k < read.size(); ++k) {
      ASSERT_TRUE(codec::testing::same(*read[k].snapshot, *written[k])) << i << ' ' << k;
      ASSERT_EQ(read[k].boot_time, kStart + k * kSecond);
    }
  }
}

TEST(Past, HoldsBetweenOneAndTwoMinutes) {
  Past past(1U << 20U);
  for (std::uint64_t second = 0; second < 250; ++second) {
    const auto now = kStart + second * kSecond;
    past.writer.append(marked_snapshot(second), now);
    const auto read = past.read();
    ASSERT_FALSE(read.empty());
    ASSERT_EQ(read.back().boot_time, now);
    const auto covers = (now - read.front().boot_time) / kSecond;
    ASSERT_GE(covers, std::min<std::uint64_t>(second, 60)) << second;
    ASSERT_LE(covers, 120) << second;
    ASSERT_EQ(read.size(), covers + 1) << second;
    for (const auto *sample : {&read.front(), &read.back()})
      ASSERT_EQ(mark_of(*sample->snapshot, false), (sample->boot_time - kStart) / kSecond) << second;
  }
}

TEST(Past, TakesASampleASecondOfAFasterAgent) {
  Past past(1U << 20U);
  for (std::uint64_t i = 0; i <= 300; ++i) past.writer.append(marked_snapshot(i), kStart + i * kSecond / 10);
  const auto read = past.read();
  EXPECT_GE(read.size(), 30);
  EXPECT_LE(read.size(), 35);
  for (std::size_t i = 1; i < read.size(); ++i)
    EXPECT_GE(read[i].boot_time - read[i - 1].boot_time, 9 * kSecond / 10) << i;
}

TEST(Past, TakesEverySampleOfAnAgentThatIsALittleEarly) {
  Past past(1U << 20U);
  for (std::uint64_t i = 0; i < 30; ++i)
    past.writer.append(marked_snapshot(i), kStart + i * kSecond - (i % 2) * kSecond / 20);
  EXPECT_EQ(past.read().size(), 30);
}

TEST(Past, StaysInItsRoom) {
  Past past(8192);  // a few samples
  Memory &memory = past.memory;
  Memory before(memory);
  std::size_t most = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    past.writer.append(marked_snapshot(i), kStart + i * kSecond);
    const auto read = past.read();
    most = std::max(most, read.size());
    // Those that are there are the last ones, without a gap.
    ASSERT_FALSE(read.empty());
    for (std::size_t k = 0; k < read.size(); ++k)
      ASSERT_EQ(mark_of(*read[k].snapshot, false), i + 1 - read.size() + k) << i;
  }
  EXPECT_GT(most, 2);
  EXPECT_LT(most, 60);
  for (std::size_t i = kHeadWords; i < memory.layout().past_at; ++i)
    ASSERT_EQ(memory.words()[i], before.words()[i]) << i;
}

TEST(Past, ASampleThatIsTooLargeCostsNoOther) {
  Past past(8192);
  past.writer.append(marked_snapshot(1), kStart);
  past.writer.append(large_snapshot(20000), kStart + kSecond);
  past.writer.append(large_snapshot(20001), kStart + 2 * kSecond);
  past.writer.append(marked_snapshot(4), kStart + 3 * kSecond);
  past.writer.append(marked_snapshot(5), kStart + 4 * kSecond);
  const auto read = past.read();
  ASSERT_EQ(read.size(), 3);
  for (std::size_t i = 0; i < read.size(); ++i) EXPECT_EQ(mark_of(*read[i].snapshot, false), (std::array{1, 4, 5})[i]);
}

TEST(Past, EndsBeforeADamagedSample) {
  Past past(1U << 16U);
  for (std::uint64_t i = 0; i < 10; ++i) past.writer.append(marked_snapshot(i), kStart + i * kSecond);
  const auto begin = past.memory.layout().past_half_at(1);
  const auto used = past.memory.words()[head::past_used + 1].load();
  for (std::size_t i = 0; i < used; ++i) {
    const auto good = past.memory.words()[begin + i].fetch_xor(1U << (i % 7));
    const auto read = past.read();
    ASSERT_LT(read.size(), 10) << i;
    for (std::size_t k = 0; k < read.size(); ++k) ASSERT_EQ(mark_of(*read[k].snapshot, false), k) << i;
    past.memory.words()[begin + i] = good;
  }
  EXPECT_EQ(past.read().size(), 10);
}

// Entries of a few bytes can each ask for a machine of thousands of cores.
TEST(Past, AsksForNoMoreMemoryThanTheWholeMayTake) {
  Past past(512U << 10U);
  Snapshot wide;
  wide.cores.resize(codec::kMostCores);
  for (std::uint32_t i = 0; i < wide.cores.size(); ++i) wide.cores[i].id = i;
  const auto snapshot = std::make_shared<const Snapshot>(std::move(wide));
  const auto row = sizeof(CpuCore) + number_count(Scope::core) * sizeof(Reading);
  past.writer.append(snapshot, kStart);
  past.writer.append(snapshot, kStart + kSecond);
  // The second entry again and again, as no agent would write it.
  auto &words = past.memory;
  const auto begin = words.layout().past_half_at(1);
  const auto used = words.words()[head::past_used + 1].load();
  const auto head = [&](std::uint64_t at) { return words.words()[begin + at].load(); };
  const auto first = 4 + words_for(head(0));
  const auto second = used - first;
  const auto copies = (words.layout().past_words - first) / second;
  for (std::uint64_t i = 1; i < copies; ++i)
    for (std::uint64_t k = 0; k < second; ++k) words.words()[begin + first + i * second + k] = head(first + k);
  words.words()[head::past_used + 1] = first + copies * second;
  const auto read = past.read();
  EXPECT_GE(copies * codec::kMostCores * row, std::uint64_t{4} << 30U);
  EXPECT_GT(read.size(), 100);
  EXPECT_LE(read.size() * codec::kMostCores * row, std::uint64_t{512} << 20U);
}

// The halves take turns every few samples, while others read: what they get was written, and in this order. A sample
// has so much text that hardly any half is copied without a turn.
TEST(Past, ReadersNeverGetWhatWasNotWritten) {
  Past past(256U << 10U);
  const auto origin = [](std::uint64_t mark) { return std::string(40'000, static_cast<char>('a' + mark % 26)); };
  const auto snapshot_of = [&](std::uint64_t mark) {
    auto snapshot = *marked_snapshot(mark);
    snapshot.origin = origin(mark);
    return std::make_shared<const Snapshot>(std::move(snapshot));
  };
  std::atomic<int> reading{0};
  std::atomic<int> wrong{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    ++reading;
    threads.emplace_back([&] {
      for (int read = 0; read < 500 && wrong == 0;) {
        std::uint64_t last = 0;
        for (const auto &sample : past.read()) {
          ++read;
          const auto mark = (sample.boot_time - kStart) / kSecond;
          if (mark_of(*sample.snapshot, false) != mark || sample.snapshot->origin != origin(mark)) ++wrong;
          if (sample.boot_time <= last) ++wrong;
          last = sample.boot_time;
        }
      }
      --reading;
    });
  }
  std::uint64_t written = 0;
  for (; reading > 0; ++written) past.writer.append(snapshot_of(written), kStart + written * kSecond);
  threads.clear();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(written, 100);
}

}  // namespace
}  // namespace gpulse::share
