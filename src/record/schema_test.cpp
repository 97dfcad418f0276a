// SPDX-License-Identifier: Apache-2.0
#include "codec/schema.hpp"

#include <gtest/gtest.h>

#include <string>

#include "codec/block.hpp"
#include "codec/snapshot_parts.hpp"
#include "record/recording_reader.hpp"

namespace gpulse::record {
namespace {

constexpr auto kDevice = static_cast<std::size_t>(Scope::device);
constexpr auto kProcess = static_cast<std::size_t>(Scope::process);
constexpr auto kHost = static_cast<std::size_t>(Scope::host);

// The table of another version: two device metrics in another order with one between them that is no more, one whose
// kind has changed, and a text that is new.
codec::SchemaKeys other_table() {
  codec::SchemaKeys keys;
  keys[kDevice] = {
      {"temperature_gpu_celsius", Kind::counter}, {"flux_capacitor_watts", Kind::gauge}, {"paint_colour", Kind::text},
      {"gpu_utilization_percent", Kind::gauge},   {"throttle_reasons", Kind::gauge},     {"architecture", Kind::text}};
  keys[kProcess] = {{"name", Kind::text}, {"cpu_percent", Kind::gauge}};
  keys[kHost] = {{"load_1m", Kind::gauge}};
  return keys;
}

void sample_of_other_table(codec::WireWriter &out) {
  out.u8(codec::part::kHost);
  codec::encode_row(out, std::vector<Reading>(1, Reason::not_supported), std::vector<Reading>{1.5});
  out.varint(1);  // device
  out.u8(codec::field::kMatch | codec::field::kTexts | codec::field::kRow);
  out.varint(0);
  out.u8(1);
  for (int i = 0; i < 8; ++i) {
    out.varint(0);
    if (i == 0) out.text("x");
  }
  out.u8(0);  // paint_colour
  out.varint(1);
  out.text("red");
  out.u8(0);  // architecture
  out.varint(2);
  out.text("Hopper");
  codec::encode_row(out, std::vector<Reading>(4, Reason::not_supported), std::vector<Reading>{46.0, 1.21e9, 85.0, 4.0});
  out.varint(0);  // processes
}

std::vector<std::byte> recording_of_other_table(bool with_schema) {
  codec::WireWriter body;
  codec::encode_schema(body, other_table());
  codec::WireWriter schema;
  schema.u8(static_cast<std::uint8_t>(codec::BlockKind::schema));
  schema.bytes(body.view());
  codec::WireWriter sample;
  codec::write_sample_head(sample,
                           {.kind = codec::BlockKind::key, .schema = codec::schema_hash(body.view()), .time = 5});
  sample_of_other_table(sample);
  codec::WireWriter file;
  codec::write_file_head(file);
  if (with_schema) codec::write_block(file, schema.view());
  const std::array later{std::byte{77}, std::byte{1}};
  codec::write_block(file, later);  // a kind that is not known yet
  codec::write_block(file, sample.view());
  return {file.view().begin(), file.view().end()};
}

TEST(Schema, TodaysTableMapsToItself) {
  const auto *map = &codec::todays_schema().slots;
  for (std::size_t scope = 0; scope < kScopes; ++scope) {
    ASSERT_EQ(map->numbers[scope].size(), number_count(static_cast<Scope>(scope)));
    ASSERT_EQ(map->texts[scope].size(), text_count(static_cast<Scope>(scope)));
    for (std::size_t i = 0; i < map->numbers[scope].size(); ++i) EXPECT_EQ(map->numbers[scope][i], i);
    for (std::size_t i = 0; i < map->texts[scope].size(); ++i) EXPECT_EQ(map->texts[scope][i], i);
  }
}

TEST(Schema, KeysFindTodaysSlots) {
  const auto bytes = recording_of_other_table(true);
  auto reader = RecordingReader::open(bytes, "other");
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->skipped(), 0);
  ASSERT_EQ(reader->count(), 1);
  const auto sample = reader->at(0);
  ASSERT_TRUE(sample) << sample.error().line();
  const auto &device = (*sample)->devices.at(0);
  EXPECT_EQ(device.row[device_metric("temperature_gpu_celsius")], Reading(46.0));
  EXPECT_EQ(device.row[device_metric("gpu_utilization_percent")], Reading(85.0));
  EXPECT_TRUE(device.row[device_metric("power_draw_watts")].is(Reason::not_supported));
  EXPECT_TRUE(device.row[device_metric("throttle_reasons")].is(Reason::not_supported));  // was no set then
  EXPECT_EQ(device.identity->texts[device_metric("architecture")], TextReading("Hopper"));
  EXPECT_EQ(device.identity->texts[device_metric("brand")], TextReading(Reason::not_supported));
  EXPECT_EQ((*sample)->host[host_metric("load_1m")], Reading(1.5));
  EXPECT_TRUE((*sample)->host[host_metric("load_5m")].is(Reason::not_supported));
  EXPECT_TRUE((*sample)->self[self_metric("cpu_percent")].is(Reason::not_supported));
}

// Recordings made before there were cores have a scope less; those of later versions may have more.
TEST(Schema, OlderAndNewerRecordingsHaveOtherScopes) {
  codec::WireWriter older;
  older.varint(4);
  for (int scope = 0; scope < 4; ++scope) {
    older.varint(1);
    older.u8(static_cast<std::uint8_t>(Kind::gauge));
    older.text("cpu_percent");
  }
  codec::WireReader in(older.view());
  const auto map = codec::decode_schema(in);
  ASSERT_TRUE(map);
  EXPECT_EQ(map->of(Scope::host)[0], slot(host_metric("cpu_percent")));
  EXPECT_TRUE(map->of(Scope::core).empty());

  codec::WireWriter newer;
  newer.varint(kScopes + 1);
  for (std::size_t scope = 0; scope <= kScopes; ++scope) {
    newer.varint(1);
    newer.u8(static_cast<std::uint8_t>(Kind::gauge));
    newer.text("cpu_percent");
  }
  codec::WireReader next(newer.view());
  const auto later = codec::decode_schema(next);
  ASSERT_TRUE(later);
  EXPECT_EQ(later->of(Scope::core)[0], slot(core_metric("cpu_percent")));

  codec::WireWriter nonsense;
  nonsense.varint(3);
  codec::WireReader short_one(nonsense.view());
  EXPECT_FALSE(codec::decode_schema(short_one));
}

TEST(Schema, WithoutItsSchemaASampleIsNotGuessed) {
  const auto bytes = recording_of_other_table(false);
  auto reader = RecordingReader::open(bytes, "other");
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->count(), 0);
  EXPECT_EQ(reader->skipped(), 1);
}

}  // namespace
}  // namespace gpulse::record
