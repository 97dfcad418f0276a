// SPDX-License-Identifier: Apache-2.0
// Reads a stream as a consumer would that knows nothing of gpulse; real ones read it in tests/test_python.py.
#include "monitor/arrow.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string_view>

#include "monitor/arrow_abi.hpp"

namespace gpulse::monitor {
namespace {

using Schema = ArrowSchema;
using Array = ArrowArray;
using Stream = ArrowArrayStream;

std::shared_ptr<const Table> make_table() {
  auto table = std::make_shared<Table>();
  table->rows = 3;
  table->columns = {{"time", Times{{10, 20, 30}}}, {"step", Integers{}}, {"watts", Numbers{}}, {"gpu", Strings{}}};
  for (const auto step :
       {std::optional<std::int64_t>{}, std::optional<std::int64_t>{7}, std::optional<std::int64_t>{8}})
    std::get<Integers>(table->columns[1].data).add(step);
  for (const auto &reading : {Reading(1.5), Reading(Reason::lost), Reading(2.5)})
    std::get<Numbers>(table->columns[2].data).add(reading);
  for (const char *id : {"0", "", "0:1"}) std::get<Strings>(table->columns[3].data).add(id);
  return table;
}

template <class T>
std::vector<T> values(const Array &array, std::size_t buffer, std::size_t count) {
  const std::span<const T> all(static_cast<const T *>(array.buffers[buffer]), count);
  return {all.begin(), all.end()};
}

TEST(Arrow, IsOneBatchOfColumns) {
  Stream stream{};
  export_arrow(make_table(), &stream);

  Schema schema{};
  ASSERT_EQ(stream.get_schema(&stream, &schema), 0);
  EXPECT_STREQ(schema.format, "+s");
  ASSERT_EQ(schema.n_children, 4);
  const std::vector<std::string_view> names{"time", "step", "watts", "gpu"}, formats{"tsn:UTC", "l", "g", "u"};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(schema.children[i]->name, names[i]);
    EXPECT_EQ(schema.children[i]->format, formats[i]);
  }

  Array batch{};
  ASSERT_EQ(stream.get_next(&stream, &batch), 0);
  EXPECT_EQ(batch.length, 3);
  EXPECT_EQ(values<std::int64_t>(*batch.children[0], 1, 3), (std::vector<std::int64_t>{10, 20, 30}));
  EXPECT_EQ(batch.children[1]->null_count, 1);
  EXPECT_EQ(values<std::uint8_t>(*batch.children[1], 0, 1), (std::vector<std::uint8_t>{0b110}));
  EXPECT_EQ(values<double>(*batch.children[2], 1, 3)[2], 2.5);
  EXPECT_EQ(values<std::uint8_t>(*batch.children[2], 0, 1), (std::vector<std::uint8_t>{0b101}));
  EXPECT_EQ(values<std::int32_t>(*batch.children[3], 1, 4), (std::vector<std::int32_t>{0, 1, 1, 4}));
  EXPECT_EQ(std::memcmp(batch.children[3]->buffers[2], "00:1", 4), 0);

  Array end{};
  ASSERT_EQ(stream.get_next(&stream, &end), 0);
  EXPECT_EQ(end.release, nullptr);
  schema.release(&schema);
  batch.release(&batch);
  stream.release(&stream);
  EXPECT_EQ(schema.release, nullptr);
  EXPECT_EQ(batch.release, nullptr);
  EXPECT_EQ(stream.release, nullptr);
}

// A reader moves a child out by copying it and marking the original as released.
TEST(Arrow, AColumnThatWasMovedOutOutlivesEverything) {
  Stream stream{};
  auto table = make_table();
  const std::weak_ptr<const Table> watched = table;
  export_arrow(std::move(table), &stream);
  Array batch{};
  ASSERT_EQ(stream.get_next(&stream, &batch), 0);
  Array column = *batch.children[2];
  batch.children[2]->release = nullptr;
  batch.release(&batch);
  stream.release(&stream);
  EXPECT_FALSE(watched.expired());
  EXPECT_EQ(values<double>(column, 1, 3)[0], 1.5);
  column.release(&column);
  EXPECT_TRUE(watched.expired());
}

TEST(Arrow, AnEmptyTableIsABatchOfNoRows) {
  auto table = std::make_shared<Table>();
  table->columns = {{"time", Times{}}, {"gpu", Strings{}}};
  Stream stream{};
  export_arrow(std::move(table), &stream);
  Array batch{};
  ASSERT_EQ(stream.get_next(&stream, &batch), 0);
  EXPECT_EQ(batch.length, 0);
  EXPECT_EQ(values<std::int32_t>(*batch.children[1], 1, 1), (std::vector<std::int32_t>{0}));
  batch.release(&batch);
  stream.release(&stream);
}

TEST(Arrow, NothingLeaksFromAStreamThatNobodyReads) {
  auto table = make_table();
  const std::weak_ptr<const Table> watched = table;
  Stream stream{};
  export_arrow(std::move(table), &stream);
  stream.release(&stream);
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace gpulse::monitor
