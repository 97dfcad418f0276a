// SPDX-License-Identifier: Apache-2.0
#include "share/slots.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <limits>
#include <thread>

#include "base/child_process.hpp"
#include "codec/testing.hpp"
#include "share/past.hpp"
#include "share/segment.hpp"
#include "share/testing.hpp"

namespace gpulse::share {
namespace {

using testing::device_mark;
using testing::host_mark;
using testing::mark_of;
using testing::marked_devices;
using testing::marked_snapshot;
using testing::Memory;

constexpr Room kRoom{.devices = 4, .bytes = 16384, .past_bytes = 4096};

SnapshotPtr decoded(const SlotCopy &copy) {
  return decode_sample(copy.view(), copy.wall_time, codec::todays_schema().slots);
}

std::optional<std::uint64_t> newest_mark(Memory &memory) {
  const auto copy = newest_sample(memory.words(), memory.layout());
  const auto snapshot = copy ? decoded(*copy) : nullptr;
  return snapshot ? mark_of(*snapshot) : std::nullopt;
}

TEST(Slots, WhatIsWrittenComesBackToTheLastBit) {
  codec::testing::RandomMachine machine(7);
  Memory memory({.devices = 5, .bytes = 1U << 20U, .past_bytes = 4096});
  for (std::uint64_t number = 1; number <= 300; ++number) {
    machine.next();
    const auto snapshot = std::make_shared<const Snapshot>(machine.with_live_parts());
    memory.write(number, snapshot, 1000 * number);
    const auto copy = newest_sample(memory.words(), memory.layout());
    ASSERT_TRUE(copy);
    EXPECT_EQ(copy->number, number);
    EXPECT_EQ(copy->boot_time, 1000 * number);
    EXPECT_EQ(newest_time(memory.words(), memory.layout()), 1000 * number);
    const auto back = decoded(*copy);
    ASSERT_TRUE(back);
    EXPECT_TRUE(codec::testing::same(*back, *snapshot)) << number;
    EXPECT_TRUE(codec::testing::same_live_parts(*back, *snapshot)) << number;
    for (std::size_t i = 0; i < snapshot->devices.size(); ++i) {
      const auto readings = snapshot->devices[i].row.readings();
      for (std::size_t k = 0; k < readings.size(); ++k) {
        const auto reading = device_reading(memory.words(), memory.layout(), i, k);
        ASSERT_TRUE(reading && codec::identical(*reading, readings[k])) << i << ' ' << k;
      }
    }
    for (std::size_t k = 0; k < snapshot->host.readings().size(); ++k) {
      const auto reading = host_reading(memory.words(), memory.layout(), k);
      ASSERT_TRUE(reading && codec::identical(*reading, snapshot->host.readings()[k])) << k;
    }
  }
}

TEST(Slots, ThereIsNothingBeforeTheFirstSampleAndBeyondTheLastDevice) {
  Memory memory(kRoom);
  EXPECT_FALSE(newest_sample(memory.words(), memory.layout()));
  EXPECT_FALSE(newest_time(memory.words(), memory.layout()));
  EXPECT_FALSE(device_reading(memory.words(), memory.layout(), 0, 0));
  EXPECT_FALSE(host_reading(memory.words(), memory.layout(), 0));
  memory.write(1, marked_snapshot(1));  // two devices
  EXPECT_TRUE(device_reading(memory.words(), memory.layout(), 1, 0));
  EXPECT_FALSE(device_reading(memory.words(), memory.layout(), 2, 0));
  EXPECT_FALSE(device_reading(memory.words(), memory.layout(), 1000, 0));
  EXPECT_FALSE(device_reading(memory.words(), memory.layout(), 0, number_count(Scope::device)));
  EXPECT_FALSE(host_reading(memory.words(), memory.layout(), number_count(Scope::host)));
}

TEST(Slots, WhatDoesNotFitIsKnownBefore) {
  const Memory memory(kRoom);
  Snapshot snapshot;
  const std::vector<std::byte> bytes(memory.layout().most_bytes + 1);
  const auto content = [&](std::size_t size) { return SlotContent{snapshot, std::span(bytes).first(size)}; };
  EXPECT_TRUE(fits(memory.layout(), content(memory.layout().most_bytes)));
  EXPECT_FALSE(fits(memory.layout(), content(memory.layout().most_bytes + 1)));
  snapshot.devices.resize(4);
  EXPECT_TRUE(fits(memory.layout(), content(0)));
  snapshot.devices.resize(5);
  EXPECT_FALSE(fits(memory.layout(), content(0)));
}

// The writer stores the sequence first and last, and is killed after any of the words between.
TEST(Slots, AWriterKilledAtAnyWordLeavesTheSampleBefore) {
  Memory before(kRoom);
  for (std::uint64_t number = 1; number <= 9; ++number) before.write(number, marked_snapshot(number), number);
  Memory after(before);
  after.write(10, marked_snapshot(10), 10);

  const auto begin = before.layout().slot_at(10);
  Memory torn(before);
  const auto expect_the_ninth = [&](std::size_t words) {
    ASSERT_EQ(newest_mark(torn), 9) << words;
    ASSERT_EQ(newest_time(torn.words(), torn.layout()), 9) << words;
    ASSERT_EQ(device_reading(torn.words(), torn.layout(), 0, 0), device_mark(9, 0)) << words;
    ASSERT_EQ(host_reading(torn.words(), torn.layout(), 0), host_mark(9)) << words;
  };
  expect_the_ninth(0);
  torn.words()[begin + slot::sequence] = 2 * 10 - 1;
  for (std::size_t i = 1; i < before.layout().slot_words; ++i) {
    const auto word = after.words()[begin + i].load();
    if (torn.words()[begin + i].exchange(word) == word && i > slot::head_words) continue;
    ASSERT_NO_FATAL_FAILURE(expect_the_ninth(i));
  }
  torn.words()[begin + slot::sequence] = 2 * 10;
  expect_the_ninth(before.layout().slot_words);
  torn.words()[head::newest] = 10;
  EXPECT_EQ(newest_mark(torn), 10);
}

// A real one: the bytes it copies end where the memory does.
TEST(Slots, AWriterThatDiesInTheMiddleHasMarkedTheSlot) {
  const auto layout = make_layout(kRoom, 0, 0);
  constexpr auto kShared = MAP_SHARED | MAP_ANONYMOUS;
  const Mapping mapping(::mmap(nullptr, layout.bytes, PROT_READ | PROT_WRITE, kShared, -1, 0), layout.bytes);
  const auto words = mapping.words();
  for (std::uint64_t number = 1; number <= 9; ++number)
    testing::write_sample(words, layout, number, marked_snapshot(number), number);

  constexpr std::size_t kPage = 4096;
  const Mapping pages(::mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, kShared, -1, 0), 2 * kPage);
  ASSERT_EQ(::mprotect(&pages.words()[kPage / sizeof(Word)], kPage, PROT_NONE), 0);
  const auto bytes = std::as_bytes(pages.words());
  for (const std::size_t before : {0U, 8U, 800U, 4096U}) {
    Child writer(::fork());
    if (writer.id() == 0) {
      ::signal(SIGSEGV, SIG_DFL);
      write_slot(words, layout, 10,
                 {.snapshot = *marked_snapshot(10), .bytes = bytes.subspan(kPage - before, before + 8)});
      ::_exit(0);
    }
    ASSERT_EQ(writer.wait(), SIGSEGV);
    EXPECT_EQ(words[layout.slot_at(10) + slot::number], 10);
    EXPECT_EQ(words[layout.slot_at(10) + slot::sequence], 19);
    const auto copy = newest_sample(words, layout);
    ASSERT_TRUE(copy);
    EXPECT_EQ(copy->number, 9);
    EXPECT_EQ(host_reading(words, layout, 0), host_mark(9));
  }
}

TEST(Slots, TheFirstSampleIsSeenOnlyWhole) {
  Memory memory(kRoom);
  Memory after(memory);
  after.write(1, marked_snapshot(1));
  const auto begin = memory.layout().slot_at(1);
  for (std::size_t i = 1; i < memory.layout().slot_words; ++i)
    memory.words()[begin + i] = after.words()[begin + i].load();
  memory.words()[begin + slot::sequence] = 1;
  memory.words()[head::newest] = 1;  // even if it were
  EXPECT_FALSE(newest_mark(memory));
  EXPECT_FALSE(host_reading(memory.words(), memory.layout(), 0));
}

TEST(Slots, ADamagedWordIsNotShown) {
  Memory memory(kRoom);
  memory.write(1, marked_snapshot(3));
  ASSERT_EQ(newest_mark(memory), 3);
  const auto begin = memory.layout().slot_at(1);
  const auto end = memory.layout().bytes_at(marked_devices(3));
  for (std::size_t i = slot::sum; i < end; ++i) {
    const auto good = memory.words()[begin + i].fetch_xor(std::uint64_t{1} << (i % 64));
    EXPECT_FALSE(newest_sample(memory.words(), memory.layout())) << i;
    memory.words()[begin + i] = good;
  }
  EXPECT_EQ(newest_mark(memory), 3);
}

TEST(Slots, BitsThatAreNoReadingAreNone) {
  Memory memory(kRoom);
  memory.write(1, marked_snapshot(1));
  auto &word = memory.words()[memory.layout().slot_at(1) + slot::head_words + device::head_words];
  word = std::bit_cast<std::uint64_t>(Reading(kLastReason)) + 1;
  EXPECT_FALSE(device_reading(memory.words(), memory.layout(), 0, 0));
  word = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());
  EXPECT_EQ(device_reading(memory.words(), memory.layout(), 0, 0), Reading(Reason::out_of_range));
}

// One writer that does nothing but write, and readers on the same memory: none of them ever sees a mixture of two
// samples.
class Busy {
 public:
  static constexpr std::uint64_t kReads = 2000;
  static constexpr std::uint64_t kMarks = 48;

  // What sample `number` is marked with.
  static std::uint64_t mark(std::uint64_t number) { return number % kMarks; }
  // Whether a reader may find no whole sample.
  static bool may_miss(const Memory &memory) { return memory.layout().slots < 4; }

  explicit Busy(std::optional<std::uint64_t> slots = {}) : memory_(kRoom, slots) {}

  void run(const std::vector<bool (*)(Memory &)> &reads) {
    struct Prepared {
      SnapshotPtr snapshot;
      codec::WireWriter bytes;
    };
    std::vector<Prepared> all(kMarks);
    codec::SnapshotEncoder encoder;
    for (std::uint64_t i = 0; i < kMarks; ++i) {
      all[i].snapshot = marked_snapshot(i);
      ASSERT_TRUE(encode_sample(all[i].bytes, encoder, all[i].snapshot));
    }
    const auto write = [&](std::uint64_t number) {
      const auto &[snapshot, bytes] = all[mark(number)];
      write_slot(memory_.words(), memory_.layout(), number, {.snapshot = *snapshot, .bytes = bytes.view()});
    };
    std::uint64_t number = 1;
    write(number);
    {
      std::vector<std::jthread> threads;
      for (const auto read : reads) {
        ++reading_;
        threads.emplace_back([this, read] {
          for (std::uint64_t i = 0; i < kReads && wrong_ == 0; ++i) {
            if (!read(memory_)) ++wrong_;
          }
          --reading_;
        });
      }
      while (reading_ > 0) write(++number);
    }
    EXPECT_EQ(wrong_, 0);
    EXPECT_GT(number, kReads);
  }

 private:
  Memory memory_;
  std::atomic<int> reading_{0}, wrong_{0};
};

bool newest_is_whole(Memory &memory) {
  const auto copy = newest_sample(memory.words(), memory.layout());
  if (!copy) return Busy::may_miss(memory);
  const auto snapshot = decoded(*copy);
  return snapshot && mark_of(*snapshot) == Busy::mark(copy->number);
}
bool readings_are_written_ones(Memory &memory) {
  for (std::size_t i = 0; i < memory.layout().host_numbers; ++i) {
    const auto host = host_reading(memory.words(), memory.layout(), i);
    if (!host && Busy::may_miss(memory)) continue;
    if (!host || !host->has_value()) return false;
    const auto mark = static_cast<std::uint64_t>(-host->value());
    if (*host != host_mark(mark) || mark >= Busy::kMarks) return false;
    const auto device = i % 3;
    const auto reading = device_reading(memory.words(), memory.layout(), device, i);
    if (!reading && device == 0 && !Busy::may_miss(memory)) return false;
    if (!reading) continue;  // the newest has fewer devices
    if (!reading->has_value()) return false;
    const auto other = static_cast<std::uint64_t>(reading->value()) / 8;
    if (*reading != device_mark(other, device) || marked_devices(other) <= device) return false;
  }
  return true;
}

TEST(Slots, ReadersNeverSeeAMixtureOfTwoSamples) {
  Busy().run({newest_is_whole, newest_is_whole, readings_are_written_ones, readings_are_written_ones});
}

// A reader is overtaken all the time where there are two slots: what it gets is whole still.
TEST(Slots, ReadersThatAreOvertakenGetNothingOrAWholeSample) {
  Busy(2).run({newest_is_whole, newest_is_whole, readings_are_written_ones, readings_are_written_ones});
}

// Reads whatever a head that was taken leads to; a sanitizer sees what lies outside.
void read_everything(std::span<const Word> words, const Layout &layout) {
  newest_sample(words, layout);
  newest_time(words, layout);
  for (const std::uint64_t device : {std::uint64_t{0}, layout.most_devices - 1, layout.most_devices})
    for (const std::uint64_t reading : {std::uint64_t{0}, layout.device_numbers - 1})
      device_reading(words, layout, device, reading);
  host_reading(words, layout, 0);
  host_reading(words, layout, layout.host_numbers - 1);
  read_past(words, layout, codec::todays_schema().slots);
}

TEST(Head, ComesBackAsItWasWritten) {
  Memory memory(kRoom);
  const auto head = read_head(memory.words(), memory.layout().bytes);
  EXPECT_EQ(head.fault, HeadFault::none);
  EXPECT_EQ(head.layout, memory.layout());
  EXPECT_EQ(memory.layout().pid, static_cast<std::uint64_t>(::getpid()));
}

TEST(Head, AChangedBitIsRefusedOrOfNoConsequence) {
  Memory memory(kRoom);
  for (std::uint64_t number = 1; number <= 5; ++number) memory.write(number, marked_snapshot(number));
  const auto layout = memory.layout();
  for (std::size_t at = 0; at < kHeadWords; ++at) {
    for (unsigned bit = 0; bit < 64; ++bit) {
      const auto good = memory.words()[at].fetch_xor(std::uint64_t{1} << bit);
      const auto head = read_head(memory.words(), layout.bytes);
      EXPECT_TRUE(at > head::kSumAt || head.fault != HeadFault::none) << at;
      if (head.fault == HeadFault::none) {
        EXPECT_EQ(head.layout, layout) << at;
        read_everything(memory.words(), head.layout);
      }
      memory.words()[at] = good;
    }
  }
}

TEST(Head, SaysWhatIsWrong) {
  Memory memory(kRoom);
  const auto bytes = memory.layout().bytes;
  const auto fault = [&](std::size_t at, std::uint64_t value) {
    const auto good = memory.words()[at].exchange(value);
    const auto found = read_head(memory.words(), bytes).fault;
    memory.words()[at] = good;
    return found;
  };
  EXPECT_EQ(fault(head::kMagicAt, 0), HeadFault::foreign);
  EXPECT_EQ(fault(head::kVersionAt, kLayoutVersion + 1), HeadFault::other_version);
  EXPECT_EQ(fault(head::kSumAt, 0), HeadFault::damaged);
  EXPECT_EQ(fault(head::kLayoutAt, 0), HeadFault::damaged);
  EXPECT_EQ(read_head(memory.words(), bytes - 1).fault, HeadFault::truncated);
  EXPECT_EQ(read_head(memory.words().first(kHeadWords - 1), bytes).fault, HeadFault::truncated);
  EXPECT_EQ(read_head({}, 0).fault, HeadFault::truncated);
}

// A head that somebody has summed anew.
TEST(Head, NoSizeLeadsOutsideOfTheFile) {
  const Memory memory(kRoom);
  constexpr std::array kFields{&Layout::bytes,        &Layout::slots,        &Layout::slot_words,
                               &Layout::slots_at,     &Layout::most_devices, &Layout::most_bytes,
                               &Layout::keys_at,      &Layout::keys_bytes,   &Layout::device_numbers,
                               &Layout::host_numbers, &Layout::past_at,      &Layout::past_words};
  std::vector<std::uint64_t> values;
  for (unsigned bit = 0; bit < 64; ++bit)
    for (const std::uint64_t less : {0U, 1U}) values.push_back((std::uint64_t{1} << bit) - less);
  values.push_back(~std::uint64_t{0});
  std::size_t taken = 0;
  for (const auto field : kFields) {
    for (const auto value : values) {
      Memory changed(memory);
      changed.write(1, marked_snapshot(5));
      changed.words()[head::past_turn] = 2;
      changed.words()[head::past_used] = ~std::uint64_t{0};
      changed.words()[head::past_used + 1] = ~std::uint64_t{0};
      auto layout = memory.layout();
      layout.*field = value;
      write_head(changed.words(), layout);
      const auto head = read_head(changed.words(), memory.layout().bytes);
      if (head.fault != HeadFault::none) continue;
      ++taken;
      read_everything(changed.words(), head.layout);
    }
  }
  EXPECT_GT(taken, 0);
  EXPECT_LT(taken, kFields.size() * values.size() / 2);
}

}  // namespace
}  // namespace gpulse::share
