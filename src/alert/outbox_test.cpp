// SPDX-License-Identifier: Apache-2.0
// What goes into one message, who still has to get it, and what outlasts the agent.
#include "alert/outbox.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <fstream>

#include "alert/state.hpp"
#include "alert/testing.hpp"
#include "base/child_process.hpp"
#include "base/temporary_folder.hpp"

namespace gpulse::alert {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Audience kBoth = [](const Message &) { return std::vector<Text>{"a", "b"}; };

TEST(Outbox, WhatComesTogetherIsOneMessage) {
  Outbox outbox;
  outbox.add(std::vector{told("GpuLost", "0"), told("GpuLost", "1"), told("GpuXid", "0")}, "n1", kBegin);
  outbox.add(std::vector{told("GpuLost", "2")}, "n1", kBegin + 4s);
  EXPECT_FALSE(outbox.close(kBegin + 4s, 5s, kBoth));
  EXPECT_TRUE(outbox.close(kBegin + 5s, 5s, kBoth));
  ASSERT_THAT(outbox.messages, SizeIs(2));
  EXPECT_THAT(outbox.messages[0].message.alerts, SizeIs(3));
  EXPECT_NE(outbox.messages[0].message.key, outbox.messages[1].message.key);
  outbox.add(std::vector{told("GpuLost", "3")}, "n1", kBegin + 6s);
  EXPECT_TRUE(outbox.close(kBegin + 11s, 5s, kBoth));
  EXPECT_THAT(outbox.messages, SizeIs(3));
}

TEST(Outbox, WhatIsOverIsToldBehindWhatBegan) {
  Outbox outbox;
  auto over = told("GpuLost", "0");
  over.phase = Phase::over;
  outbox.add(std::vector{told("GpuLost", "0")}, "n1", kBegin);
  outbox.add(std::vector{over}, "n1", kBegin);
  outbox.close(kBegin, 0s, kBoth);
  ASSERT_THAT(outbox.messages, SizeIs(2));
  EXPECT_TRUE(outbox.messages[0].message.is_firing);
  EXPECT_FALSE(outbox.messages[1].message.is_firing);
}

TEST(Outbox, EachReceiverGetsItOnceItIsKept) {
  Outbox outbox;
  outbox.put({.key = "1"}, {"a", "b"});
  outbox.put({.key = "2"}, {"b"});
  EXPECT_EQ(outbox.next("a"), nullptr) << "not on the disk";
  outbox.set_kept();
  ASSERT_NE(outbox.next("a"), nullptr);
  outbox.done("a", "1");
  EXPECT_EQ(outbox.next("a"), nullptr);
  EXPECT_EQ(outbox.next("b")->message.key, "1");
  EXPECT_EQ(outbox.waiting("b"), 2U);
  outbox.done("b", "1");
  EXPECT_EQ(outbox.next("b")->message.key, "2");
  EXPECT_EQ(outbox.drop_others(std::vector<Text>{"a"}), 1U);
  EXPECT_THAT(outbox.messages, IsEmpty());
}

TEST(Outbox, TheOldestIsGivenUpWhenThereIsTooMuch) {
  Outbox outbox;
  for (std::size_t i = 0; i < kMostMessages + 3; ++i) outbox.put({.key = std::to_string(i)}, {"a"});
  EXPECT_THAT(outbox.messages, SizeIs(kMostMessages));
  EXPECT_EQ(outbox.messages.front().message.key, "3");
  EXPECT_EQ(outbox.take_overflow(), 3U);
}

State full_state() {
  State state;
  state.memory.alerts = {told("GpuLost", "0"), told("GpuXid", "1")};
  state.memory.alerts[1].value = 91.5;
  state.memory.growths[{"ecc_uncorrected_total", "GPU-0"}] = {.last = 7, .parts = {{kBegin, 2}}};
  state.outbox.put({.key = "1", .rule = "GpuLost", .host = "n1", .time = kBegin, .alerts = {told("GpuLost", "0")}},
                   {"a"});
  state.outbox.add(std::vector{told("GpuXid", "3")}, "n1", kBegin);
  state.silences = {{.rule = "Gpu*", .gpu = "2", .until = kBegin + 1h}};
  return state;
}

std::vector<std::byte> bytes_of(const State &state) { return encode_state(state.memory, state.outbox, state.silences); }

TEST(State, ComesBackAsItWas) {
  auto state = full_state();
  const auto back = decode_state(bytes_of(state));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->memory.alerts, state.memory.alerts);
  EXPECT_EQ(back->memory.growths, state.memory.growths);
  EXPECT_EQ(back->outbox.groups, state.outbox.groups);
  state.outbox.set_kept();
  EXPECT_EQ(back->outbox.messages, state.outbox.messages);
  EXPECT_EQ(back->silences, state.silences);
}

TEST(State, NoDamageIsTakenForState) {
  const auto good = bytes_of(full_state());
  for (std::size_t i = 0; i < good.size(); ++i) {
    auto bytes = good;
    bytes[i] ^= std::byte{0x10};
    EXPECT_FALSE(decode_state(bytes).has_value()) << i;
    EXPECT_FALSE(decode_state(std::span(good).first(i)).has_value()) << i;
  }
}

TEST(StateFile, ADamagedOneIsPutAside) {
  const TemporaryFolder folder;
  const auto path = folder.path() + "/alerts.state";
  {
    auto file = StateFile::open(path);
    ASSERT_TRUE(file.has_value());
    EXPECT_EQ(file->problem(), "");
    ASSERT_TRUE(file->write(bytes_of(full_state())));
    EXPECT_FALSE(StateFile::open(path).has_value()) << "another one has it";
  }
  struct stat info{};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  EXPECT_THAT(StateFile::open(path)->take().memory.alerts, SizeIs(2));
  ASSERT_EQ(::truncate(path.c_str(), info.st_size / 2), 0);
  auto file = StateFile::open(path);
  ASSERT_TRUE(file.has_value());
  EXPECT_THAT(file->problem(), HasSubstr("damaged"));
  EXPECT_THAT(file->take().memory.alerts, IsEmpty());
  EXPECT_EQ(::access((path + ".damaged").c_str(), F_OK), 0);
}

TEST(StateFile, ADiskThatTakesNothingLeavesTheOldOne) {
  const TemporaryFolder folder;
  const auto path = folder.path() + "/alerts.state";
  auto file = StateFile::open(path);
  ASSERT_TRUE(file && file->write(bytes_of(full_state())));
  // As fsync() on a full disk.
  EXPECT_EQ(in_child([&] {
              if (!refuse_call(SYS_fsync, ENOSPC)) return std::string("not refused");
              const auto written = file->write(bytes_of({}));
              return written ? std::string("written") : written.error().line();
            }),
            "cannot write " + path + ": No space left on device");
  EXPECT_EQ(::access((path + ".new").c_str(), F_OK), -1);
  file = failure("");
  EXPECT_THAT(StateFile::open(path)->take().memory.alerts, SizeIs(2));
}

}  // namespace
}  // namespace gpulse::alert
