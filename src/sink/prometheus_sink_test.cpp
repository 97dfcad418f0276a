// SPDX-License-Identifier: Apache-2.0
// The file for node_exporter: one whole sample, nothing beside it, nobody else's file, and gone when it would be old.
#include "sink/prometheus_sink.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/temporary_folder.hpp"
#include "sink/testing.hpp"
#include "view/testing.hpp"

namespace gpulse::sink {
namespace {

namespace fs = std::filesystem;
using testing::bytes_of;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::only_file;

class PrometheusSinkTest : public ::testing::Test {
 protected:
  SinkOptions options(bool keep = false, Existing existing = Existing::refuse) const {
    return {.format = Format::prometheus,
            .path = path,
            .fields = {"temperature_gpu_celsius"},
            .existing = existing,
            .keep_newest = keep};
  }
  static Snapshot sample(double celsius) {
    auto snapshot = view::testing::make_snapshot(1);
    snapshot.devices[0].row[device_metric("temperature_gpu_celsius")] = celsius;
    return snapshot;
  }
  static std::string refusal(const SinkOptions &options) {
    const auto sink = open(options);
    return sink ? "" : sink.error().line();
  }

  TemporaryFolder folder;
  std::string path = folder.path("/gpus.prom");
};

TEST_F(PrometheusSinkTest, TheFileHoldsTheNewestSampleForEverybody) {
  const auto before = ::umask(0077);
  const auto sink = open(options());
  ASSERT_TRUE(sink);
  EXPECT_FALSE(fs::exists(path));
  for (const int celsius : {50, 64}) {
    ASSERT_TRUE((*sink)->write(sample(celsius)));
    EXPECT_THAT(bytes_of(path), HasSubstr(fmt::format("vendor=\"nvidia\"}} {}\n", celsius)));
    EXPECT_EQ(only_file(folder.path()), path);
  }
  ::umask(before);
  EXPECT_THAT(bytes_of(path), Not(HasSubstr("} 50\n")));
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0644));
}

TEST_F(PrometheusSinkTest, WhatWouldBeOldIsTakenAway) {
  {
    const auto sink = open(options());
    ASSERT_TRUE((*sink)->write(sample(50)));
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
  {
    const auto sink = open(options(true));
    ASSERT_TRUE((*sink)->write(sample(50)));
  }
  EXPECT_TRUE(fs::exists(path));
  // One of ours is replaced without being asked.
  const auto sink = open(options());
  ASSERT_TRUE(sink);
  ASSERT_TRUE((*sink)->write(sample(64)));
  // Another's that took its place is not ours to remove.
  fs::remove(path);
  folder.write("/gpus.prom", "mine");
  EXPECT_TRUE((*sink)->close());
  EXPECT_EQ(bytes_of(path), "mine");
}

TEST_F(PrometheusSinkTest, NobodyElsesFileIsOverwritten) {
  folder.write("/gpus.prom", "# HELP node_exporter years of work\n");
  EXPECT_THAT(refusal(options()), HasSubstr("is there already"));
  EXPECT_THAT(refusal(options(false, Existing::append)), HasSubstr("is there already"));
  EXPECT_EQ(refusal(options(false, Existing::overwrite)), "");
}

TEST_F(PrometheusSinkTest, ASecondWriterIsRefusedBeforeAndAfterTheFirstSample) {
  const auto sink = open(options());
  for (const int celsius : {50, 64}) {
    ASSERT_TRUE((*sink)->write(sample(celsius)));
    EXPECT_THAT(refusal(options()), HasSubstr("is being written by another gpulse"));
  }
  EXPECT_EQ(only_file(folder.path()), path);
}

TEST_F(PrometheusSinkTest, WhatLiesInTheTemporaryFilesPlaceIsNotWrittenTo) {
  folder.write("/precious", "years of work");
  // What a killed writer left, a link, a second name of another file, a pipe.
  const auto temporary = path + ".tmp";
  folder.write("/gpus.prom.tmp", "# HELP gpulse_half of a sam");
  EXPECT_EQ(refusal(options()), "");
  EXPECT_FALSE(fs::exists(temporary));
  fs::create_symlink("precious", temporary);
  EXPECT_EQ(refusal(options()), "");
  fs::create_hard_link(folder.path("/precious"), temporary);
  EXPECT_EQ(refusal(options()), "");
  ASSERT_EQ(::mkfifo(temporary.c_str(), 0666), 0);
  EXPECT_EQ(refusal(options()), "");
  EXPECT_EQ(bytes_of(folder.path("/precious")), "years of work");
  EXPECT_EQ(only_file(folder.path()), folder.path("/precious"));
}

}  // namespace
}  // namespace gpulse::sink
