// SPDX-License-Identifier: Apache-2.0
#include "codec/live_parts.hpp"

#include <gtest/gtest.h>

#include "codec/testing.hpp"

namespace gpulse::codec {
namespace {

using Words = std::vector<std::string>;

std::shared_ptr<const Words> words(Words all) { return std::make_shared<const Words>(std::move(all)); }

WireWriter encoded(const Snapshot &snapshot) {
  WireWriter out;
  encode_live_parts(out, snapshot);
  return out;
}

bool decode(std::span<const std::byte> bytes, Snapshot &snapshot) {
  WireReader in(bytes);
  const bool good = decode_live_parts(in, snapshot);
  EXPECT_EQ(good, !in.failed());
  return good && in.at_end();
}

// What a SnapshotDecoder makes of it: the live parts are missing.
Snapshot recorded(const Snapshot &snapshot) {
  WireWriter out;
  SnapshotEncoder encoder;
  EXPECT_TRUE(encoder.encode(out, snapshot));
  SnapshotDecoder decoder;
  decoder.restart(todays_schema().slots);
  decoder.current().time = snapshot.time;
  WireReader in(out.view());
  EXPECT_TRUE(decoder.decode(in));
  return decoder.current();
}

std::shared_ptr<const DeviceIdentity> gpu(std::string uuid, std::vector<PeerStatus> peers = {}) {
  DeviceIdentity identity;
  identity.uuid = std::move(uuid);
  identity.peers = std::move(peers);
  return std::make_shared<const DeviceIdentity>(std::move(identity));
}

Snapshot busy_machine() {
  Snapshot snapshot;
  snapshot.devices.resize(3);
  snapshot.devices[0].identity = gpu("GPU-1", {{},
                                               {.read = PeerAccess::ok,
                                                .write = PeerAccess::no_chipset,
                                                .atomics = PeerAccess::unsupported,
                                                .links = PeerAccess::no_topology,
                                                .pcie = PeerAccess::disabled}});
  snapshot.devices[1].identity = gpu("GPU-2");
  snapshot.processes.resize(3);
  snapshot.processes[0].pid = 560;
  snapshot.processes[0].place = 4;
  snapshot.processes[0].start_ticks = 0xFFFF'FFFF'FFFF'FFFF;
  snapshot.processes[0].inner_pids = {31, 1};
  snapshot.processes[0].arguments = words({"python3", "", "a\x1B[1m\xFF"});
  snapshot.processes[1].pid = 561;
  snapshot.processes[1].arguments = words({});
  SourceStatus nvml;
  nvml.name = "nvml";
  nvml.problem = "the driver does not answer";
  nvml.devices = 2;
  nvml.hangs = true;
  nvml.code = 999;
  nvml.driver = "580.65.06";
  nvml.excluded = {{"00000000:3B:00.0", "GPU-9"}};
  snapshot.sources = {nvml, SourceStatus{}};
  return snapshot;
}

TEST(LiveParts, EverythingComesBack) {
  const auto snapshot = busy_machine();
  auto back = recorded(snapshot);
  ASSERT_FALSE(testing::same_live_parts(back, snapshot));
  const auto plain = back.devices[1].identity;
  ASSERT_TRUE(decode(encoded(snapshot).view(), back));
  EXPECT_TRUE(testing::same_live_parts(back, snapshot));
  EXPECT_TRUE(testing::same(back, snapshot)) << "nothing else has changed";
  EXPECT_EQ(*back.processes[0].arguments, (Words{"python3", "", "a\x1B[1m\xFF"})) << "as the kernel has them";
  EXPECT_TRUE(back.processes[1].arguments->empty());
  EXPECT_EQ(back.processes[2].arguments, nullptr);
  EXPECT_EQ(back.processes[0].inner_pids, (std::vector<std::uint32_t>{31, 1}));
  EXPECT_EQ(back.sources[0], snapshot.sources[0]);
  EXPECT_EQ(back.devices[0].identity->peers[1].write, PeerAccess::no_chipset);
  EXPECT_EQ(back.devices[1].identity, plain) << "shared as before";
  EXPECT_EQ(back.devices[2].identity, nullptr);
}

TEST(LiveParts, NothingIsLeftOfTheSampleBefore) {
  auto snapshot = busy_machine();
  auto back = recorded(snapshot);
  ASSERT_TRUE(decode(encoded(snapshot).view(), back));
  const auto known = back.devices[0].identity;
  ASSERT_TRUE(decode(encoded(snapshot).view(), back));
  EXPECT_EQ(back.devices[0].identity, known) << "the same peers: the same identity";
  snapshot.processes[0] = Process();
  snapshot.sources = std::vector<SourceStatus>(2);
  snapshot.devices[0].identity = gpu("GPU-1");
  ASSERT_TRUE(decode(encoded(snapshot).view(), back));
  EXPECT_TRUE(testing::same_live_parts(back, snapshot));
}

TEST(LiveParts, RandomMachinesComeBack) {
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    testing::RandomMachine machine(seed);
    for (int round = 0; round < 50; ++round) {
      auto back = machine.next();
      const auto live = machine.with_live_parts();
      ASSERT_TRUE(decode(encoded(live).view(), back)) << seed << " " << round;
      ASSERT_TRUE(testing::same_live_parts(back, live)) << seed << " " << round;
      ASSERT_TRUE(testing::same(back, live)) << seed << " " << round;
    }
  }
}

TEST(LiveParts, ThoseOfAnotherSnapshotAreRefused) {
  const auto snapshot = busy_machine();
  const auto out = encoded(snapshot);
  const auto refused = [&](auto change) {
    auto other = recorded(snapshot);
    change(other);
    return !decode(out.view(), other);
  };
  EXPECT_FALSE(refused([](Snapshot &) {}));
  EXPECT_TRUE(refused([](Snapshot &other) { other.processes.pop_back(); }));
  EXPECT_TRUE(refused([](Snapshot &other) { other.processes.emplace_back(); }));
  EXPECT_TRUE(refused([](Snapshot &other) { other.sources.clear(); }));
  EXPECT_TRUE(refused([](Snapshot &other) { other.devices.emplace_back(); }));
  EXPECT_TRUE(refused([](Snapshot &other) { other.devices[0].identity = nullptr; })) << "whose peers?";
}

TEST(LiveParts, NonsenseIsRefused) {
  Snapshot one;
  one.processes.resize(1);
  one.sources = {SourceStatus{}};
  one.devices.resize(1);
  one.devices[0].identity = gpu("GPU-1");
  const auto takes = [&](std::vector<std::uint8_t> bytes) {
    auto snapshot = one;
    return decode(std::as_bytes(std::span(bytes)), snapshot);
  };
  // Process: place, start, inner pids, arguments. Source: hangs, code, driver, excluded. Device: peers.
  EXPECT_TRUE(takes({1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}));
  EXPECT_TRUE(takes({1, 0, 0, 1, 9, 2, 1, 'x', 1, 1, 0, 0, 0, 1, 1, 6, 6, 6, 6, 6}));
  EXPECT_FALSE(takes({1, 0, 0, 1, 9, 2, 1, 'x', 1, 1, 0, 0, 0, 1, 1, 6, 7, 6, 6, 6})) << "no such access";
  EXPECT_FALSE(takes({1, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1, 0})) << "hangs, or not";
  EXPECT_TRUE(takes({1, 0, 0, 0, 0, 1, 0, 0xFF, 0xFF, 0x03, 0, 0, 1, 0}));
  EXPECT_FALSE(takes({1, 0, 0, 0, 0, 1, 0, 0x80, 0x80, 0x04, 0, 0, 1, 0})) << "a code of 17 bits";
}

// One process, source and device, all bytes 0 but for the list that begins at the given byte.
bool takes_list(std::size_t at, std::size_t count, std::size_t zeros) {
  constexpr std::array<std::uint8_t, 12> kNothing{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  WireWriter out;
  for (std::size_t i = 0; i < kNothing.size(); ++i) {
    if (i != at) {
      out.u8(kNothing[i]);
      continue;
    }
    out.varint(count);
    for (std::size_t zero = 0; zero < zeros; ++zero) out.u8(0);
  }
  Snapshot one;
  one.processes.resize(1);
  one.sources = {SourceStatus{}};
  one.devices.resize(1);
  one.devices[0].identity = gpu("GPU-1");
  return decode(out.view(), one);
}

TEST(LiveParts, ListsAreBounded) {
  EXPECT_TRUE(takes_list(3, kMostInnerPids, kMostInnerPids));
  EXPECT_FALSE(takes_list(3, kMostInnerPids + 1, kMostInnerPids + 1));
  EXPECT_TRUE(takes_list(4, 1 + kMostArguments, kMostArguments));
  EXPECT_FALSE(takes_list(4, 1 + kMostArguments + 1, kMostArguments + 1));
  EXPECT_TRUE(takes_list(9, kMostExcluded, 2 * kMostExcluded));
  EXPECT_FALSE(takes_list(9, kMostExcluded + 1, 2 * (kMostExcluded + 1)));
  EXPECT_TRUE(takes_list(11, kMostDevices, 5 * kMostDevices));
  EXPECT_FALSE(takes_list(11, kMostDevices + 1, 5 * (kMostDevices + 1)));
}

TEST(LiveParts, ManyArgumentsAreCutOff) {
  Snapshot snapshot;
  snapshot.processes.resize(2);
  snapshot.processes[0].arguments = words(Words(kMostArguments + 1, "x"));
  snapshot.processes[1].arguments = words({"a", std::string(kLongestArguments - 1, 'b'), "c"});
  auto back = recorded(snapshot);
  ASSERT_TRUE(decode(encoded(snapshot).view(), back));
  EXPECT_EQ(*back.processes[0].arguments, Words(kMostArguments, "x"));
  EXPECT_EQ(*back.processes[1].arguments, (Words{"a", std::string(kLongestArguments - 1, 'b')}));
}

TEST(LiveParts, LongArgumentsDoNotTakeTheSampleAway) {
  constexpr std::size_t kFit = kMostArgumentBytes / kLongestArguments;
  Snapshot snapshot;
  snapshot.processes.resize(kFit + 2);
  for (auto &process : snapshot.processes) process.arguments = words({std::string(kLongestArguments, 'x')});
  snapshot.processes.back().arguments = words({});
  auto back = recorded(snapshot);
  ASSERT_TRUE(decode(encoded(snapshot).view(), back));
  EXPECT_EQ(back.processes[kFit - 1].arguments->front().size(), kLongestArguments);
  EXPECT_EQ(back.processes[kFit].arguments, nullptr) << "no room any more";
  EXPECT_NE(back.processes[kFit + 1].arguments, nullptr);
  // Bytes that have more of them than an encoder writes.
  auto more = snapshot;
  more.processes.clear();
  WireWriter out;
  out.varint(kFit + 1);
  more.processes.resize(kFit + 1);
  for (std::size_t i = 0; i <= kFit; ++i) {
    for (const auto field : {0U, 0U, 0U, 2U}) out.varint(field);
    out.text(std::string(kLongestArguments, 'x'));
  }
  out.varint(0);
  out.varint(0);
  EXPECT_FALSE(decode(out.view(), more));
}

TEST(LiveParts, CutAnywhereIsRefused) {
  testing::RandomMachine machine(7);
  for (int round = 0; round < 30; ++round) {
    const auto &now = round == 0 ? busy_machine() : machine.next();
    const auto live = round == 0 ? now : machine.with_live_parts();
    const auto out = encoded(live);
    for (std::size_t size = 0; size < out.size(); ++size) {
      auto back = recorded(live);
      ASSERT_FALSE(decode(out.view().first(size), back)) << size;
    }
  }
}

TEST(LiveParts, DamagedBytesAreRefusedOrLegal) {
  testing::RandomMachine machine(8);
  for (int i = 0; i < 40; ++i) machine.next();
  const auto plain = machine.next();
  const auto out = encoded(machine.with_live_parts());
  std::mt19937 dice(8);
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::byte> damaged(out.view().begin(), out.view().end());
    for (auto flips = 1 + dice() % 4; flips > 0; --flips) damaged[dice() % damaged.size()] = std::byte(dice());
    auto got = plain;
    WireReader in(damaged);
    if (!decode_live_parts(in, got)) continue;
    auto again = plain;
    ASSERT_TRUE(decode(encoded(got).view(), again));
    ASSERT_TRUE(testing::same_live_parts(again, got));
  }
}

}  // namespace
}  // namespace gpulse::codec
