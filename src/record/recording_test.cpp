// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "codec/testing.hpp"
#include "record/recording_reader.hpp"
#include "record/recording_writer.hpp"

namespace gpulse::record {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Recording : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::path(::testing::TempDir()) / ("gpulse_" + std::to_string(::getpid()) + "_" +
                                                       ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
    path_ = folder_ / "a.gpr";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string contents() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(std::string_view bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

  // Adds `count` samples of a machine to the file.
  std::vector<Snapshot> write(std::uint32_t seed, std::size_t count, bool append = false) const {
    codec::testing::RandomMachine machine(seed);
    std::vector<Snapshot> written;
    auto writer = RecordingWriter::open(path_, append ? Existing::append : Existing::overwrite);
    EXPECT_TRUE(writer) << writer.error().line();
    for (std::size_t i = 0; i < count; ++i) {
      written.push_back(machine.next());
      EXPECT_TRUE(writer->write(written.back()));
    }
    return written;
  }

  std::filesystem::path folder_;
  std::string path_;
};

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

void expect_samples(RecordingReader &reader, const std::vector<Snapshot> &expected) {
  ASSERT_EQ(reader.count(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto got = reader.next();
    ASSERT_TRUE(got) << got.error().line();
    ASSERT_TRUE(codec::testing::same(**got, expected[i])) << "sample " << i;
  }
  EXPECT_EQ(*reader.next(), nullptr);
}

TEST_F(Recording, RandomMachinesComeBackBitByBit) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const auto written = write(seed, 150);
    auto reader = RecordingReader::open(path_);
    ASSERT_TRUE(reader) << reader.error().line();
    EXPECT_EQ(reader->skipped(), 0);
    expect_samples(*reader, written);
    EXPECT_EQ(reader->first_time(), written.front().time);
    EXPECT_EQ(reader->last_time(), written.back().time);
    for (const std::size_t i : {149U, 0U, 75U, 74U, 60U, 59U, 148U}) {
      EXPECT_TRUE(codec::testing::same(**reader->at(i), written[i])) << i;
      EXPECT_TRUE(codec::testing::same(**reader->at(i), written[i])) << i;
    }
    EXPECT_FALSE(reader->at(150));
  }
}

TEST_F(Recording, SeeksByTime) {
  const auto written = write(7, 130);
  auto reader = RecordingReader::open(path_);
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->seek(written[0].time - std::chrono::hours(1)), 0);
  EXPECT_EQ(reader->seek(written[129].time + std::chrono::hours(1)), 129);
  EXPECT_EQ(reader->seek(written[64].time), 64);
  EXPECT_EQ(reader->seek(written[65].time - std::chrono::nanoseconds(1)), 64);
  EXPECT_TRUE(codec::testing::same(**reader->next(), written[64]));
  EXPECT_TRUE(codec::testing::same(**reader->next(), written[65]));
}

TEST_F(Recording, OriginIsSetForAll) {
  write(1, 3);
  auto reader = RecordingReader::open(path_);
  reader->set_origin("REPLAY");
  while (const auto sample = *reader->next()) EXPECT_EQ(sample->origin, "REPLAY");
}

TEST_F(Recording, CutAnywhereKeepsAllWholeSamples) {
  const auto written = write(3, 4);
  const auto whole = contents();
  std::size_t most = 0;
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    auto reader = RecordingReader::open(bytes_of(whole).first(size), "cut");
    ASSERT_EQ(reader.has_value(), size >= codec::kFileHeadSize) << size;
    if (!reader) continue;
    ASSERT_EQ(reader->skipped(), 0);
    ASSERT_GE(reader->count(), most);
    most = reader->count();
    for (std::size_t i = 0; i < most; ++i) ASSERT_TRUE(codec::testing::same(**reader->at(i), written[i])) << size;
  }
  EXPECT_EQ(most, 4);
}

TEST_F(Recording, AnyDamagedByteIsNoticed) {
  const auto written = write(4, 4);
  const auto whole = contents();
  for (const int flip : {0xFF, 0x01, 0x80}) {
    for (std::size_t at = 0; at < whole.size(); ++at) {
      auto damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      auto reader = RecordingReader::open(bytes_of(damaged), "damaged");
      ASSERT_EQ(reader.has_value(), at >= codec::kFileHeadSize) << at;
      if (!reader) continue;
      ASSERT_TRUE(reader->skipped() > 0 || reader->count() < 4) << at;
      for (std::size_t i = 0; i < reader->count(); ++i) {
        ASSERT_TRUE(codec::testing::same(**reader->at(i), written[i])) << at;
      }
    }
  }
}

TEST_F(Recording, DamageInTheMiddleCostsUntilTheNextKey) {
  const auto written = write(5, 60);
  const auto first = contents().size();
  write(5, 0, true);
  auto more = write(6, 20, true);
  auto bytes = contents();
  bytes[first - 1] = static_cast<char>(bytes[first - 1] ^ 1);  // the 60th sample
  auto reader = RecordingReader::open(bytes_of(bytes), "damaged");
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->skipped(), 1);
  ASSERT_EQ(reader->count(), 79);
  EXPECT_TRUE(codec::testing::same(**reader->at(58), written[58]));
  EXPECT_TRUE(codec::testing::same(**reader->at(59), more[0]));
  EXPECT_TRUE(codec::testing::same(**reader->at(78), more[19]));
}

TEST_F(Recording, WhatBuildsOnDamageIsSkippedToo) {
  codec::testing::RandomMachine machine(8);
  std::vector<Snapshot> written;
  std::vector<std::size_t> ends;
  {
    auto writer = RecordingWriter::open(path_, Existing::refuse);
    for (int i = 0; i < 100; ++i) {
      written.push_back(machine.next());
      written.back().time = WallTime(std::chrono::milliseconds(100 * i));
      ASSERT_TRUE(writer->write(written.back()));
      ends.push_back(writer->size());
    }
  }
  const auto whole = contents();
  auto bytes = whole;
  bytes[ends[9] + 20] = static_cast<char>(bytes[ends[9] + 20] ^ 0x10);
  auto reader = RecordingReader::open(bytes_of(bytes), "damaged");
  EXPECT_EQ(reader->skipped(), 50);  // samples 10 to 59
  ASSERT_EQ(reader->count(), 50);
  EXPECT_TRUE(codec::testing::same(**reader->at(9), written[9]));
  EXPECT_TRUE(codec::testing::same(**reader->at(10), written[60]));

  // A whole stretch gone, so that a delta of one group follows on one of another.
  bytes = whole.substr(0, ends[9]) + whole.substr(ends[69]);
  reader = RecordingReader::open(bytes_of(bytes), "stretch");
  EXPECT_EQ(reader->count(), 10);
  EXPECT_EQ(reader->skipped(), 30);
}

TEST_F(Recording, AppendsAfterACutAnywhere) {
  const auto written = write(9, 3);
  const auto whole = contents();
  for (std::size_t size = 0; size <= whole.size(); size += 37) {
    put(std::string_view(whole).substr(0, size));
    auto expected = written;
    {
      const auto before = RecordingReader::open(path_);
      expected.resize(before ? before->count() : 0);
    }
    const auto more = write(10, 2, true);
    expected.insert(expected.end(), more.begin(), more.end());
    auto reader = RecordingReader::open(path_);
    ASSERT_TRUE(reader) << size;
    EXPECT_EQ(reader->skipped(), 0);
    expect_samples(*reader, expected);
  }
}

TEST_F(Recording, BegunAnewOnlyWhenToldSo) {
  const auto first = write(1, 5);
  const auto refused = RecordingWriter::open(path_, Existing::refuse);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().line(), AllOf(HasSubstr("--append"), HasSubstr("--force")));
  auto reader = RecordingReader::open(path_);
  expect_samples(*reader, first);
  const auto written = write(2, 2);
  reader = RecordingReader::open(path_);
  expect_samples(*reader, written);
}

TEST_F(Recording, WhatIsEmptyMayBeWrittenTo) {
  put("");
  EXPECT_TRUE(RecordingWriter::open(path_, Existing::refuse));
  EXPECT_TRUE(RecordingWriter::open("/dev/null", Existing::refuse));
  EXPECT_TRUE(RecordingWriter::open("/dev/null", Existing::append));
}

TEST_F(Recording, OtherFilesAreLeftAlone) {
  for (const auto existing : {Existing::refuse, Existing::append}) {
    put("precious notes\n");
    const auto writer = RecordingWriter::open(path_, existing);
    ASSERT_FALSE(writer);
    EXPECT_THAT(writer.error().what, HasSubstr("is not a recording"));
    EXPECT_EQ(contents(), "precious notes\n");
  }
  EXPECT_TRUE(RecordingWriter::open(path_, Existing::overwrite));
  EXPECT_TRUE(RecordingReader::open(path_));
  EXPECT_FALSE(RecordingWriter::open(folder_, Existing::overwrite));
  EXPECT_FALSE(RecordingWriter::open(folder_ / "no" / "such", Existing::overwrite));
}

TEST_F(Recording, JoinedFilesPlayThroughBoth) {
  auto expected = write(1, 3);
  const auto first = contents();
  const auto more = write(2, 2);
  const auto joined = first + contents();
  expected.insert(expected.end(), more.begin(), more.end());
  auto reader = RecordingReader::open(bytes_of(joined), "joined");
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->skipped(), 0);
  expect_samples(*reader, expected);
}

// What a file system leaves after a power failure: the length is there, the bytes never came.
TEST_F(Recording, ATailOfZerosIsDamageFoundInNoTime) {
  const auto written = write(12, 3);
  std::filesystem::resize_file(path_, contents().size() + (std::uint64_t{5} << 30U));
  const auto begun = std::chrono::steady_clock::now();
  auto reader = RecordingReader::open(path_);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5));
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->skipped(), 1);
  expect_samples(*reader, written);
  auto expected = written;
  const auto more = write(13, 2, true);
  expected.insert(expected.end(), more.begin(), more.end());
  EXPECT_LT(std::filesystem::file_size(path_), 1U << 20U);
  reader = RecordingReader::open(path_);
  expect_samples(*reader, expected);
}

TEST_F(Recording, DamageWithoutEndIsNotSearchedThrough) {
  write(14, 2);
  const auto good = contents();
  {
    std::ofstream file(path_, std::ios::binary | std::ios::app);
    const std::string piece(1U << 20U, 'x');  // no hole of a sparse file
    for (int i = 0; i < 300; ++i) file << piece;
    file << std::string_view(good).substr(codec::kFileHeadSize);
  }
  const auto reader = RecordingReader::open(path_);
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->count(), 2);
  EXPECT_EQ(reader->skipped(), 1);
  const auto writer = RecordingWriter::open(path_, Existing::append);
  ASSERT_FALSE(writer);
  EXPECT_THAT(writer.error().what, HasSubstr("is damaged from byte"));
  EXPECT_EQ(std::filesystem::file_size(path_), 2 * good.size() - codec::kFileHeadSize + (300U << 20U));
}

TEST_F(Recording, OneWriterAtATime) {
  const auto first = RecordingWriter::open(path_, Existing::refuse);
  const auto second = RecordingWriter::open(path_, Existing::append);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().what, HasSubstr("another gpulse"));
}

TEST_F(Recording, FullDiskLeavesWholeSamples) {
  EXPECT_FALSE(RecordingWriter::open("/dev/full", Existing::refuse));
  codec::testing::RandomMachine machine(11);
  auto writer = RecordingWriter::open(path_, Existing::refuse);
  std::vector<Snapshot> written{machine.next()};
  ASSERT_TRUE(writer->write(written[0]));

  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit tight = before;
  tight.rlim_cur = contents().size() + 20;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  const auto refused = writer->write(machine.next());
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("cannot write"));
  written.push_back(machine.next());
  ASSERT_TRUE(writer->write(written[1]));
  auto reader = RecordingReader::open(path_);
  EXPECT_EQ(reader->skipped(), 0);
  expect_samples(*reader, written);
}

TEST_F(Recording, ClearErrors) {
  const auto error = [&] { return RecordingReader::open(path_).error().line(); };
  EXPECT_THAT(error(), HasSubstr("No such file"));
  put("");
  EXPECT_THAT(error(), HasSubstr("is empty"));
  put("index, name\n0, NVIDIA H200\n");
  EXPECT_THAT(error(), HasSubstr("is not a recording"));
  put(std::string(codec::kMagic.begin(), codec::kMagic.end()) + std::string("\x03\0\0\0", 4));
  EXPECT_THAT(error(), HasSubstr("a later version"));
  EXPECT_THAT(RecordingReader::open(folder_).error().line(), HasSubstr("folder"));
}

TEST_F(Recording, RefusesWhatCouldNotBeReadBack) {
  auto writer = RecordingWriter::open(path_, Existing::refuse);
  Snapshot snapshot;
  ASSERT_TRUE(writer->write(snapshot));
  snapshot.hostname = std::string(codec::kLongestText + 1, 'x');
  EXPECT_FALSE(writer->write(snapshot));
  snapshot.hostname = std::string(codec::kLongestText, 'x');
  EXPECT_TRUE(writer->write(snapshot));
  auto reader = RecordingReader::open(path_);
  ASSERT_EQ(reader->count(), 2);
  EXPECT_EQ((*reader->at(1))->hostname.size(), codec::kLongestText);
}

}  // namespace
}  // namespace gpulse::record
