// SPDX-License-Identifier: Apache-2.0
#include "codec/details_codec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "codec/testing.hpp"

namespace gpulse::codec {
namespace {

constexpr auto kDetail = static_cast<std::size_t>(Scope::detail);

WireWriter encoded(const DeviceDetails &details) {
  WireWriter out;
  encode_details(out, details);
  return out;
}

// None: refused.
std::optional<DeviceDetails> decoded(std::span<const std::byte> bytes, const SlotMap &slots = todays_schema().slots) {
  WireReader in(bytes);
  auto details = decode_details(in, slots);
  EXPECT_EQ(details.has_value(), !in.failed());
  EXPECT_TRUE(!details || in.at_end());
  return details;
}

DeviceDetails round_trip(const DeviceDetails &details) {
  const auto out = encoded(details);
  auto back = decoded(out.view());
  EXPECT_TRUE(back.has_value());
  return back.value_or(DeviceDetails());
}

// A number and a text of the table, whichever they are.
MetricId some_metric(bool text, std::size_t at) {
  std::optional<MetricId> found;
  for_each_metric(Scope::detail, [&](MetricId id, const Metric &metric) {
    if (is_text(metric) == text && slot(id) == at) found = id;
  });
  return found.value();
}

// An H100 split in two, as its driver describes it.
DeviceDetails of_an_h100() {
  DeviceDetails details;
  details.row[some_metric(false, 0)] = 3.0;
  details.row[some_metric(false, 1)] = Reading(Reason::error, 999);
  details.texts[some_metric(true, 0)] = "96.00.5E.00.01";
  details.texts[some_metric(true, 1)] = TextReading(Reason::no_permission, 4);
  details[SampleKind::power] = {119.0, 2.41, 70.03, 69.85, 69.941};
  details.clocks = {{2619, {1980, 1965, 345}}, {1593, {}}};
  details.retired_pages = {{0xFFFF'FFFF'FFFF'F000, 1'700'000'000, true}, {4096, 0, false}, {0, -1, false}};
  details.accounted = {{.pid = 4'000'000'000, .gpu_percent = 97.0, .running_seconds = 0.0, .running = true}};
  details.links = {{.number = 17,
                    .state = 1.0,
                    .bytes_per_second = 26.562e9,
                    .remote_pci = "00000000:D5:00.0",
                    .remote_link = 3.0,
                    .capabilities = {1.0, 1.0, 1.0, 1.0, 0.0, 1.0},
                    .replays = 0.0,
                    .data_tx_bytes = 9007199254740993.0}};
  const InstanceProfile small{.name = "1g.10gb",
                              .id = 19,
                              .slices = 1,
                              .count = 7,
                              .free = 5.0,
                              .memory_bytes = 10468982784,
                              .processors = 16,
                              .copy_engines = 1,
                              .starts = {0, 1, 2, 3, 4, 5, 6},
                              .size = 1};
  details.instance_profiles = {small};
  DevicePart part;
  part.name = "3g.40gb";
  part.id = 2;
  part.profile = 9;
  part.start = 4;
  part.size = 4;
  part.profiles = {small, small};
  part.instances = {{"3c.3g.40gb", 0, 2, 0, 3}};
  details.parts = {part};
  return details;
}

TEST(DetailsCodec, NothingComesBackAsNothing) { EXPECT_TRUE(testing::same(round_trip({}), {})); }

TEST(DetailsCodec, EverythingComesBack) {
  const auto details = of_an_h100();
  const auto back = round_trip(details);
  EXPECT_TRUE(testing::same(back, details));
  EXPECT_EQ(back.texts[some_metric(true, 0)].value(), "96.00.5E.00.01");
  EXPECT_EQ(back.texts[some_metric(true, 1)].code(), 4);
  EXPECT_EQ(back[SampleKind::power].mean, Reading(69.941));
  EXPECT_TRUE(back[SampleKind::jpeg].count.is(Reason::not_supported));
  EXPECT_EQ(back.clocks[0].graphics_mhz, (std::vector<double>{1980, 1965, 345}));
  EXPECT_EQ(back.retired_pages[0].address, 0xFFFF'FFFF'FFFF'F000);
  EXPECT_EQ(back.retired_pages[2].time, -1);
  EXPECT_EQ(back.accounted[0].pid, 4'000'000'000);
  EXPECT_EQ(back.links[0].remote_pci, "00000000:D5:00.0");
  EXPECT_EQ(back.links[0].capabilities[4], Reading(0.0));
  EXPECT_TRUE(back.links[0].raw_rx_bytes.is(Reason::not_supported));
  EXPECT_EQ(back.parts[0].profiles[1].starts.size(), 7);
  EXPECT_EQ(back.parts[0].instances[0].name, "3c.3g.40gb");
}

TEST(DetailsCodec, WhatOnlyLogsHaveIsLeftOut) {
  auto details = of_an_h100();
  details.told["minor_number"] = "0";
  details.logged = LogForm{.schema = 12, .text = true, .rows = {true}};
  const auto back = round_trip(details);
  EXPECT_TRUE(back.told.empty());
  EXPECT_FALSE(back.logged.has_value());
  EXPECT_TRUE(testing::same(back, details));
}

TEST(DetailsCodec, RandomDetailsComeBackBitByBit) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    testing::RandomDetails random(seed);
    for (int round = 0; round < 20; ++round) {
      const auto details = random.next();
      ASSERT_TRUE(testing::same(round_trip(details), details)) << seed << " " << round;
    }
  }
}

TEST(DetailsCodec, OneAfterTheOther) {
  WireWriter out;
  encode_details(out, of_an_h100());
  encode_details(out, {});
  WireReader in(out.view());
  EXPECT_TRUE(testing::same(decode_details(in, todays_schema().slots).value(), of_an_h100()));
  EXPECT_TRUE(testing::same(decode_details(in, todays_schema().slots).value(), {}));
  EXPECT_TRUE(in.at_end());
}

TEST(DetailsCodec, AnotherVersionReadsWhatItKnows) {
  const auto out = encoded(of_an_h100());
  auto slots = todays_schema().slots;
  // Its table has the first two numbers in another order and neither the first text nor the third number.
  std::swap(slots.numbers[kDetail][0], slots.numbers[kDetail][1]);
  slots.numbers[kDetail][2] = kNoSlot;
  slots.texts[kDetail][0] = kNoSlot;
  const auto back = decoded(out.view(), slots);
  ASSERT_TRUE(back.has_value());
  EXPECT_TRUE(identical(back->row[some_metric(false, 0)], Reading(Reason::error, 999)));
  EXPECT_TRUE(identical(back->row[some_metric(false, 1)], Reading(3.0)));
  EXPECT_EQ(back->texts[some_metric(true, 0)].reason(), Reason::not_supported);
  EXPECT_EQ(back->texts[some_metric(true, 1)].reason(), Reason::no_permission);
  EXPECT_EQ(back->parts.size(), 1);
}

// The bytes of details without a row and texts are those two, and the lists.
std::vector<std::uint8_t> no_details() {
  const auto out = encoded({});
  const auto *bytes = reinterpret_cast<const std::uint8_t *>(out.view().data());
  return {bytes, bytes + out.size()};
}

// As no_details(), but for the list that `lists_left` lists follow.
bool takes(std::size_t lists_left, std::span<const std::uint8_t> list) {
  auto bytes = no_details();
  const auto at = bytes.end() - static_cast<std::ptrdiff_t>(lists_left) - 1;
  bytes.insert(bytes.erase(at), list.begin(), list.end());
  return decoded(std::as_bytes(std::span(bytes))).has_value();
}
bool takes(std::size_t lists_left, std::initializer_list<std::uint8_t> list) {
  return takes(lists_left, std::span(list.begin(), list.size()));
}

TEST(DetailsCodec, MoreKindsOfSamplesAreReadPast) {
  WireWriter out;
  encode_row(out, {}, {});
  SlotMap slots;  // of a table without details
  out.varint(kSampleKinds + 1);
  for (std::size_t i = 0; i < 5 * (kSampleKinds + 1); ++i) encode_reading(out, static_cast<double>(i));
  for (int i = 0; i < 6; ++i) out.varint(0);
  const auto more = decoded(out.view(), slots);
  ASSERT_TRUE(more.has_value());
  EXPECT_EQ((*more)[SampleKind::memory_clock].mean, Reading(5.0 * kSampleKinds - 1));

  WireWriter fewer;
  encode_row(fewer, {}, {});
  fewer.varint(1);
  for (std::size_t i = 0; i < 5; ++i) encode_reading(fewer, 7.0);
  for (int i = 0; i < 6; ++i) fewer.varint(0);
  const auto less = decoded(fewer.view(), slots);
  ASSERT_TRUE(less.has_value());
  EXPECT_EQ((*less)[SampleKind::power].count, Reading(7.0));
  EXPECT_TRUE((*less)[SampleKind::gpu].count.is(Reason::not_supported));
}

TEST(DetailsCodec, NonsenseIsRefused) {
  EXPECT_TRUE(takes(5, {1, 0, 2, 0})) << "a memory clock of 1 MHz";
  EXPECT_FALSE(takes(5, {1, 8, 0, 0})) << "a clock that is a reason";
  EXPECT_FALSE(takes(5, {1, 7, 0, 0})) << "no such form";
  EXPECT_TRUE(takes(4, {1, 0, 0, 1})) << "a page";
  EXPECT_FALSE(takes(4, {1, 0, 0, 2})) << "neither true nor false";
  EXPECT_TRUE(takes(3, {1, 0, 8, 9, 0, 0, 0, 0, 0, 0, 0})) << "a process whose use is Reason::deprecated";
  EXPECT_FALSE(takes(3, {1, 0, 8, 10, 0, 0, 0, 0, 0, 0, 0})) << "no such reason";
  EXPECT_TRUE(takes(3, {1, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_FALSE(takes(3, {1, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F, 0, 0, 0, 0, 0, 0, 0, 0, 0})) << "a pid of 33 bits";
}

TEST(DetailsCodec, ListsAreBounded) {
  struct List {
    std::size_t lists_left, limit, element_size;  // of an element that is all zeros
  };
  for (const auto &[lists_left, limit, element_size] :
       {List{5, kMostMemoryClocks, 3}, List{4, kMostRetiredPages, 3}, List{3, kMostAccounted, 10},
        List{2, kMostLinks, 23}, List{1, kMostInstanceProfiles, 17}, List{0, kMostParts, 7}}) {
    for (const std::size_t more : {0U, 1U}) {
      WireWriter list;
      list.varint(limit + more);
      std::vector<std::uint8_t> bytes(list.size() + (limit + more) * element_size);
      std::ranges::transform(list.view(), bytes.begin(), std::to_integer<std::uint8_t>);
      EXPECT_EQ(takes(lists_left, bytes), more == 0) << lists_left;
    }
  }
}

TEST(DetailsCodec, WhatDoesNotFitIsCutOff) {
  DeviceDetails details;
  details.texts[some_metric(true, 0)] = std::string(kLongestText + 7, 'x');
  details.retired_pages.resize(kMostRetiredPages + 1);
  details.parts.resize(kMostParts + 1);
  details.links = {{.remote_pci = std::string(kLongestText + 1, 'y')}};
  const auto back = round_trip(details);
  EXPECT_EQ(back.texts[some_metric(true, 0)].value().size(), kLongestText);
  EXPECT_EQ(back.retired_pages.size(), kMostRetiredPages);
  EXPECT_EQ(back.parts.size(), kMostParts);
  EXPECT_EQ(back.links[0].remote_pci.size(), kLongestText);
}

TEST(DetailsCodec, TextsAreSafeToPrintWhateverTheBytes) {
  WireWriter out;
  encode_row(out, {}, {});
  const SlotMap slots;
  out.varint(0);  // samples
  for (int i = 0; i < 5; ++i) out.varint(0);
  out.varint(1);  // a part
  out.text("a\x1B[1m\xFF");
  for (int i = 0; i < 6; ++i) out.varint(0);
  EXPECT_EQ(decoded(out.view(), slots).value().parts[0].name, "a [1m\uFFFD");
}

TEST(DetailsCodec, CutAnywhereIsRefused) {
  testing::RandomDetails random(3);
  for (int round = 0; round < 5; ++round) {
    const auto out = encoded(round == 0 ? of_an_h100() : random.next());
    for (std::size_t size = 0; size < out.size(); ++size) ASSERT_FALSE(decoded(out.view().first(size))) << size;
  }
}

// Whatever is taken is legal: it goes out and comes in again as it is.
void expect_legal(std::span<const std::byte> bytes) {
  WireReader in(bytes);
  const auto details = decode_details(in, todays_schema().slots);
  ASSERT_TRUE(!details || testing::same(round_trip(*details), *details));
}

TEST(DetailsCodec, DamagedBytesAreRefusedOrLegal) {
  testing::RandomDetails random(4);
  std::mt19937 dice(4);
  const auto out = encoded(random.next());
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::byte> damaged(out.view().begin(), out.view().end());
    for (auto flips = 1 + dice() % 4; flips > 0; --flips) damaged[dice() % damaged.size()] = std::byte(dice());
    expect_legal(damaged);
  }
}

TEST(DetailsCodec, RandomBytesAreRefusedOrLegal) {
  std::mt19937 dice(5);
  auto begin = no_details();
  begin.resize(begin.size() - 6);
  for (int round = 0; round < 3000; ++round) {
    // Half of them after a beginning that makes sense, so that the lists get their share.
    auto bytes = round % 2 == 0 ? begin : std::vector<std::uint8_t>();
    for (auto count = dice() % 300; count > 0; --count) {
      bytes.push_back(static_cast<std::uint8_t>(dice() % 3 == 0 ? dice() : dice() % 3));
    }
    expect_legal(std::as_bytes(std::span(bytes)));
  }
}

}  // namespace
}  // namespace gpulse::codec
