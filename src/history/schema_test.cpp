// SPDX-License-Identifier: Apache-2.0
// Files of earlier versions are brought up to date, also when that is interrupted.
#include "history/schema.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "base/temporary_folder.hpp"
#include "history/reader.hpp"
#include "history/testing.hpp"

namespace gpulse::history {
namespace {

// The steps of a made-up future: the first takes ten rounds, and fails where it is told to.
constexpr int kRounds = 10;
int fails_in = -1;

bool is_interrupted() {
  if (fails_in < 0) return false;
  --fails_in;
  return fails_in < 0;
}

Result<bool> add_numbers(Database &database) {
  if (is_interrupted()) return failure("the power went off");
  if (const auto made = database.run("CREATE TABLE IF NOT EXISTS number(n)"); !made)
    return std::unexpected(made.error());
  const auto have = database.integer("SELECT count(*) FROM number");
  if (!have) return std::unexpected(have.error());
  if (const auto done = database.run(fmt::format("INSERT INTO number VALUES({})", have->value_or(0))); !done) {
    return std::unexpected(done.error());
  }
  return have->value_or(0) + 1 == kRounds;
}

Result<bool> double_numbers(Database &database) {
  if (is_interrupted()) return failure("the power went off");
  if (const auto done = database.run("UPDATE number SET n=2*n"); !done) return std::unexpected(done.error());
  return true;
}

constexpr std::array kSteps{Migration{.from = 1, .step = add_numbers}, Migration{.from = 2, .step = double_numbers}};

TEST(Schema, AMigrationThatIsInterruptedGoesOnWhereItWas) {
  const TemporaryFolder folder;
  const auto path = folder.path("/history.db");
  testing::open_store(path);
  int interruptions = 0;
  for (int i = 0; i < 20; ++i) {
    auto database = Database::open(path, Database::Mode::write);
    ASSERT_TRUE(database.has_value());
    // It gets two rounds further each time.
    fails_in = 2;
    if (prepare(*database, kSteps)) break;
    ++interruptions;
  }
  fails_in = -1;
  EXPECT_EQ(interruptions, 5);
  auto database = Database::open(path, Database::Mode::write);
  ASSERT_TRUE(prepare(*database, kSteps).has_value()) << "a second time there is nothing to do";
  EXPECT_EQ(database->integer("PRAGMA user_version"), 3);
  EXPECT_EQ(database->integer("SELECT count(DISTINCT n) FROM number"), kRounds);
  EXPECT_EQ(database->integer("SELECT sum(n) FROM number"), 2 * (kRounds * (kRounds - 1) / 2)) << "doubled once";
}

TEST(Schema, AFileFromBeforeAMetricGetsItsColumns) {
  const TemporaryFolder folder;
  const auto path = folder.path("/history.db");
  Snapshot now;
  now.devices.push_back(testing::make_device(0));
  const auto metric = device_metric("gpu_utilization_percent");
  now.devices[0].row[metric] = 70;
  const auto fill = [&](Store &store, int from) {
    for (int second = from; second < from + 61; ++second) {
      now.time = testing::at(second);
      testing::append(store, now);
    }
  };
  fill(*testing::open_store(path), 0);
  {
    auto database = Database::open(path, Database::Mode::write);
    for (const auto *table : {"device_10s", "device_1min"}) {
      for (const auto &column : {std::string(describe(metric).key), least_column(metric), greatest_column(metric)}) {
        const auto done = database->run(fmt::format("ALTER TABLE {} DROP COLUMN {}", table, column));
        ASSERT_TRUE(done.has_value()) << done.error().line();
      }
    }
    ASSERT_TRUE(database->run("DELETE FROM metric WHERE key='gpu_utilization_percent'").has_value());
  }
  fill(*testing::open_store(path), 120);
  auto database = Database::open(path, Database::Mode::read);
  EXPECT_EQ(database->integer("SELECT count(*) FROM device_10s WHERE gpu_utilization_percent=70"), 7)
      << "the stretch that was not over is folded from its samples";
  EXPECT_EQ(database->integer("SELECT count(*) FROM device_10s WHERE gpu_utilization_percent IS NULL"), 6);
  EXPECT_EQ(database->integer("SELECT count(*) FROM metric WHERE scope='device' AND key='gpu_utilization_percent'"), 1);
}

TEST(Schema, PagesCanBeGivenBackToTheDisk) {
  const TemporaryFolder folder;
  const auto store = testing::open_store(folder.path("/history.db"));
  auto database = Database::open(folder.path("/history.db"), Database::Mode::read);
  EXPECT_EQ(database->integer("PRAGMA auto_vacuum"), 2);
  EXPECT_EQ(database->text("PRAGMA journal_mode"), "wal");
}

}  // namespace
}  // namespace gpulse::history
