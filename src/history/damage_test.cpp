// SPDX-License-Identifier: Apache-2.0
// Files that are cut and overwritten at random: nobody crashes or hangs over them, and the writer always gets on.
// GPULSE_HISTORY_DAMAGES says how many; two hundred take some seconds.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/temporary_folder.hpp"
#include "base/text.hpp"
#include "history/reader.hpp"
#include "history/testing.hpp"
#include "history/writer.hpp"

namespace gpulse::history {
namespace {

using namespace std::chrono_literals;
using testing::at;

constexpr WriterPace kPace{.often = 0ms, .first_pause = 1ms, .longest_pause = 5ms};
constexpr Keep kKeep{.raw = 10min, .ten_seconds = 1h, .minute = 1h, .free_bytes = 0};

SnapshotPtr sample(int second) {
  auto now = std::make_shared<Snapshot>();
  now->time = at(second);
  now->host[host_metric("cpu_percent")] = second % 100;
  now->devices.push_back(testing::make_device(0));
  for (auto &reading : now->devices[0].row.readings()) reading = second % 7;
  now->processes.push_back(testing::make_process(100, 0, "ann", "train"));
  return now;
}

// Twelve minutes, of which some are in the journal only.
void make_history(const std::string &path) {
  std::vector<TimedSample> samples;
  for (int second = 0; second < 730; ++second) samples.push_back({sample(second), 1});
  const auto all = std::span(samples);
  testing::append(*testing::open_store(path, kKeep), all.first(500));
  const auto store = testing::open_store(path, kKeep);
  for (std::size_t i = 500; i < samples.size(); i += 10) testing::append(*store, all.subspan(i, 10));
  for (const auto *end : {"", "-wal"}) std::filesystem::copy_file(path + end, path + ".good" + end);
}

void damage(const std::string &path, std::minstd_rand &random) {
  const auto size = std::filesystem::file_size(path);
  if (size == 0) return;
  const auto anywhere = [&] { return random() % size; };
  if (random() % 4 == 0) return std::filesystem::resize_file(path, anywhere());
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  for (auto times = 1 + random() % 20; times > 0; --times) {
    // Half of them where it hurts most.
    file.seekp(
        static_cast<std::streamoff>(random() % 2 == 0 ? anywhere() : random() % std::min<std::size_t>(size, 8192)));
    std::string bytes(1 + random() % (random() % 8 == 0 ? 5000 : 20), '\0');
    for (auto &byte : bytes) byte = static_cast<char>(random());
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
}

// Asks everything that there is to ask. What cannot be answered says so.
void read_all(const std::string &path) {
  const auto reader = Reader::open(path);
  if (!reader) return;
  auto &reading = const_cast<Reader &>(*reader);
  const Span all{WallTime{}, WallTime::max()}, some{at(0), at(730)};
  static_cast<void>(reading.coverage());
  for (const auto &span : {all, some}) {
    for (const auto step : {1s, 10s, 60s}) {
      static_cast<void>(reading.range({.span = span,
                                       .metrics = {device_metric("gpu_utilization_percent"), host_metric("cpu_percent"),
                                                   device_metric("power_limit_watts")},
                                       .devices = {},
                                       .step = step}));
    }
    static_cast<void>(reading.processes(span, {}));
    static_cast<void>(reading.events(span));
    static_cast<void>(reading.changes(span));
    static_cast<void>(reading.lost(span));
    const auto samples = reading.samples(span);
    if (!samples) continue;
    for (std::size_t i = 0; i < samples->size(); i += 1 + samples->size() / 10) {
      static_cast<void>(reading.sample((*samples)[i]));
    }
  }
}

TEST(Damage, NobodyCrashesOrHangsAndTheWriterGetsOn) {
  const TemporaryFolder folder;
  const auto path = folder.path("/history.db");
  make_history(path);
  const char *asked = std::getenv("GPULSE_HISTORY_DAMAGES");
  const auto rounds = parse_integer<int>(asked == nullptr ? "" : asked).value_or(40);
  std::minstd_rand random(17);
  int set_aside = 0;
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    for (const auto *end : {"", "-wal", "-shm", ".damaged", ".damaged-wal"}) std::filesystem::remove(path + end);
    for (const auto *end : {"", "-wal"}) std::filesystem::copy_file(path + ".good" + end, path + end);
    damage(path, random);
    if (random() % 2 == 0) damage(path + "-wal", random);
    const auto begun = monotonic_now();
    read_all(path);
    {
      Writer writer(path, kKeep, kPace);
      for (int i = 0; i < 130; ++i) writer.add(sample(800 + i), 1s);
      while (writer.status().waiting > 0 && monotonic_now() - begun < 20s) std::this_thread::sleep_for(100us);
      ASSERT_EQ(writer.status().waiting, 0) << writer.status().problem;
    }
    read_all(path);
    set_aside += std::filesystem::exists(path + ".damaged") ? 1 : 0;
    ASSERT_LT(monotonic_now() - begun, 20s);
  }
  RecordProperty("set_aside", set_aside);
  EXPECT_GT(set_aside, rounds / 10);
  EXPECT_LT(set_aside, rounds) << "a little damage costs everything";
}

}  // namespace
}  // namespace gpulse::history
