// SPDX-License-Identifier: Apache-2.0
// Writers that are killed at any moment: every second that was said to be kept is there, once, in the samples and in
// the roll-ups. GPULSE_HISTORY_KILLS says how many are killed; two hundred take some seconds.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <random>
#include <set>
#include <thread>

#include "base/child_process.hpp"
#include "base/temporary_folder.hpp"
#include "base/text.hpp"
#include "history/reader.hpp"
#include "history/testing.hpp"
#include "history/times.hpp"

namespace gpulse::history {
namespace {

using testing::kStart;

constexpr std::size_t kDevices = 2;

// Nothing is taken away, however far they get.
constexpr Keep kForever{.raw = std::chrono::hours(100'000),
                        .ten_seconds = std::chrono::hours(100'000),
                        .minute = std::chrono::hours(100'000),
                        .bytes = std::uint64_t{1} << 40U,
                        .free_bytes = 0};

double use_at(std::int64_t second) { return static_cast<double>(second % 97); }

Snapshot snapshot_at(std::int64_t second) {
  Snapshot now;
  now.time = WallTime(std::chrono::seconds(second));
  now.host[host_metric("cpu_percent")] = use_at(second);
  for (std::uint32_t i = 0; i < kDevices; ++i) {
    static const std::array kMade{testing::make_device(0), testing::make_device(1)};
    now.devices.push_back(kMade[i]);
    now.devices.back().row[device_metric("gpu_utilization_percent")] = use_at(second);
    now.processes.push_back(testing::make_process(100 + i, i, "ann", "train"));
    now.processes.back().row[process_metric("gpu_memory_bytes")] = use_at(second);
  }
  return now;
}

// Goes on where the file ends, one second after the other, and tells each that is kept.
void write_without_pause(const std::string &path, int to) {
  auto store = Store::open(path, kForever);
  if (!store) ::_exit(1);
  const auto last = (*store)->last_time();
  for (auto second = last ? begin_of(*last, Tier::raw) + 1 : kStart;; ++second) {
    const TimedSample one{std::make_shared<const Snapshot>(snapshot_at(second)), 1};
    if (!(*store)->append({&one, 1})) ::_exit(2);
    if (::write(to, &second, sizeof second) != sizeof second) ::_exit(3);
    if (!(*store)->write_back() || (second % 50 == 0 && !(*store)->tidy())) ::_exit(4);
  }
}

// The last second that one told before it was killed, and how many it told.
struct Told {
  std::int64_t last = 0, count = 0;
};

// However busy the machine is: after so many seconds were told, and a moment more.
Told run_and_kill(const std::string &path, int seconds, std::chrono::microseconds moment) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  const auto pid = ::fork();
  if (pid == 0) {
    write_without_pause(path, to.get());
    ::_exit(0);
  }
  Child writer(pid);
  to.reset();
  Told told;
  const auto read_one = [&] {
    std::int64_t second = 0;
    if (::read(from.get(), &second, sizeof second) != sizeof second) return false;
    told.last = second;
    ++told.count;
    return true;
  };
  while (told.count < seconds && read_one()) {
  }
  std::this_thread::sleep_for(moment);
  ::kill(writer.id(), SIGKILL);
  EXPECT_EQ(writer.wait(), SIGKILL) << "it could not write";
  while (read_one()) {
  }
  return told;
}

std::vector<std::int64_t> raw_seconds(const std::string &path) {
  std::vector<std::int64_t> seconds;
  auto reader = Reader::open(path);
  EXPECT_TRUE(reader.has_value());
  const auto samples = reader->samples({WallTime{}, WallTime::max()});
  EXPECT_TRUE(samples.has_value());
  for (const auto &sample : *samples) {
    if (sample.tier == Tier::raw) seconds.push_back(begin_of(sample.time, Tier::raw));
  }
  return seconds;
}

// Every stretch of time that is over is there, once, with all of its seconds and their mean.
void check_rolled(Database &database, const std::string &table, const char *value, std::int64_t last, Tier tier) {
  const auto length = step(tier).count();
  auto rows = database.prepare(
      fmt::format("SELECT time, sum(seconds), avg({}), count(*), max(turn) FROM {} GROUP BY time", value, table));
  ASSERT_TRUE(rows.has_value()) << rows.error().line();
  auto expected = begin_of(time_of(kStart), tier);
  const auto each = table.starts_with("host") ? 1 : static_cast<std::int64_t>(kDevices);
  for (; expected + length <= last; expected += length) {
    const auto row = rows->step();
    ASSERT_TRUE(row && *row) << table << " ends before " << expected;
    ASSERT_EQ(rows->integer(0), expected) << table;
    ASSERT_EQ(rows->real(1), static_cast<double>(length * each)) << table << " at " << expected;
    double sum = 0;
    for (auto second = expected; second < expected + length; ++second) sum += use_at(second);
    ASSERT_NEAR(rows->real(2), sum / static_cast<double>(length), 1e-9) << table << " at " << expected;
    ASSERT_EQ(rows->integer(3), each) << table;
    ASSERT_EQ(rows->integer(4), 0) << table;
  }
}

TEST(HistoryKill, NoSecondIsMissingOrThereTwice) {
  const char *asked = std::getenv("GPULSE_HISTORY_KILLS");
  const auto kills = parse_integer<int>(asked == nullptr ? "" : asked).value_or(30);
  const TemporaryFolder folder;
  const auto path = folder.path("/history.db");
  std::minstd_rand random(1);
  std::int64_t told = 0, last = 0;
  for (int i = 0; i < kills; ++i) {
    // Some while they open the file.
    const bool is_early = i % 4 == 0;
    const auto one = run_and_kill(path, is_early ? 0 : static_cast<int>(random() % 300),
                                  std::chrono::microseconds(random() % (is_early ? 20'000 : 2'000)));
    told += one.count;
    last = std::max(last, one.last);
  }
  ASSERT_GT(told, kills * 10) << "they did not get far enough";
  RecordProperty("seconds_told", static_cast<int>(told));

  testing::open_store(path);
  auto database = Database::open(path, Database::Mode::read);
  ASSERT_TRUE(database.has_value());
  EXPECT_EQ(database->text("PRAGMA integrity_check"), "ok");
  const auto seconds = raw_seconds(path);
  ASSERT_FALSE(seconds.empty());
  EXPECT_EQ(seconds.front(), kStart);
  EXPECT_GE(seconds.back(), last);
  EXPECT_EQ(static_cast<std::int64_t>(seconds.size()), seconds.back() - seconds.front() + 1);
  EXPECT_EQ(std::set(seconds.begin(), seconds.end()).size(), seconds.size());

  check_rolled(*database, "device_10s", "gpu_utilization_percent", last, Tier::ten_seconds);
  check_rolled(*database, "device_1min", "gpu_utilization_percent", last, Tier::minute);
  check_rolled(*database, "host_10s", "cpu_percent", last, Tier::ten_seconds);
  check_rolled(*database, "process_1min", "gpu_memory_bytes", last, Tier::minute);
  EXPECT_EQ(database->integer("SELECT count(*) FROM process"), kDevices) << "the same process is there twice";
}

}  // namespace
}  // namespace gpulse::history
