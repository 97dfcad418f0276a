// SPDX-License-Identifier: Apache-2.0
#include "history/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <vector>

namespace gpulse::history {

namespace {

constexpr std::array kRolledUp{std::pair{Scope::host, Tier::ten_seconds}, std::pair{Scope::host, Tier::minute},
                               std::pair{Scope::device, Tier::ten_seconds}, std::pair{Scope::device, Tier::minute},
                               std::pair{Scope::process, Tier::minute}};

// Those whose columns do not depend on the metric table.
constexpr const char *kTables = R"(
CREATE TABLE IF NOT EXISTS info(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS raw_schema(id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, body BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS raw(id INTEGER PRIMARY KEY, first_time INTEGER NOT NULL, last_time INTEGER NOT NULL,
  samples INTEGER NOT NULL, seconds REAL NOT NULL, schema INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS raw_by_time ON raw(first_time, last_time);
CREATE TABLE IF NOT EXISTS raw_tail(id INTEGER PRIMARY KEY, time INTEGER NOT NULL, seconds REAL NOT NULL,
  schema INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS event(id INTEGER PRIMARY KEY, time REAL NOT NULL, device INTEGER, kind TEXT NOT NULL,
  code INTEGER NOT NULL, text TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS event_by_time ON event(time);
CREATE TABLE IF NOT EXISTS change(id INTEGER PRIMARY KEY, time REAL NOT NULL, device INTEGER NOT NULL,
  metric TEXT NOT NULL, value REAL, reason TEXT);
CREATE INDEX IF NOT EXISTS change_by_metric ON change(device, metric, time);
CREATE TABLE IF NOT EXISTS lost(id INTEGER PRIMARY KEY, from_time REAL NOT NULL, to_time REAL NOT NULL,
  samples INTEGER NOT NULL, reason TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS metric(scope TEXT NOT NULL, key TEXT NOT NULL, unit TEXT, kind TEXT NOT NULL,
  fold TEXT NOT NULL, kept TEXT NOT NULL, label TEXT NOT NULL, help TEXT NOT NULL, PRIMARY KEY(scope, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS device(id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, number TEXT NOT NULL,
  source TEXT NOT NULL, vendor TEXT NOT NULL, name TEXT NOT NULL, pci TEXT NOT NULL, driver TEXT NOT NULL,
  parent TEXT NOT NULL, label TEXT NOT NULL, first_time REAL NOT NULL, last_time REAL NOT NULL);
CREATE TABLE IF NOT EXISTS process(id INTEGER PRIMARY KEY, device INTEGER NOT NULL, pid INTEGER NOT NULL,
  start INTEGER NOT NULL, type TEXT NOT NULL, first_time REAL NOT NULL, last_time REAL NOT NULL,
  seconds REAL NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS process_by_time ON process(last_time);
)";

std::string rolled_up_table(Scope scope, Tier tier) {
  const auto owner = scope == Scope::host ? std::string() : std::string(word(scope));
  const auto column = owner.empty() ? owner : owner + " INTEGER NOT NULL, ";
  return fmt::format(
      "CREATE TABLE IF NOT EXISTS {}(time INTEGER NOT NULL, {}turn INTEGER NOT NULL, seconds REAL NOT NULL, "
      "PRIMARY KEY(time, {}turn)) WITHOUT ROWID",
      table_name(scope, tier), column, owner.empty() ? owner : owner + ", ");
}

struct NewColumn {
  std::string name;
  const char *type;
};

std::vector<NewColumn> columns_of(Scope scope) {
  std::vector<NewColumn> columns;
  for (const auto &metric : kept_metrics(scope)) {
    columns.push_back({std::string(describe(metric.id).key), "REAL"});
    if (!metric.has_range) continue;
    columns.push_back({least_column(metric.id), "REAL"});
    columns.push_back({greatest_column(metric.id), "REAL"});
  }
  return columns;
}

std::vector<NewColumn> text_columns(Scope scope) {
  std::vector<NewColumn> columns;
  for_each_metric(scope, [&](MetricId, const Metric &metric) {
    if (metric.kind == Kind::text) columns.push_back({std::string(metric.key), "TEXT"});
  });
  return columns;
}

Result<void> add_columns(Database &database, const std::string &table, const std::vector<NewColumn> &columns) {
  const auto there = column_names(database, table);
  if (!there) return std::unexpected(there.error());
  for (const auto &column : columns) {
    if (there->contains(column.name)) continue;
    const auto added = database.run(fmt::format("ALTER TABLE {} ADD COLUMN {} {}", table, column.name, column.type));
    if (!added) return added;
  }
  return {};
}

Result<void> describe_metrics(Database &database) {
  auto insert = database.prepare("INSERT OR REPLACE INTO metric VALUES(?,?,?,?,?,?,?,?)");
  if (!insert) return std::unexpected(insert.error());
  for (const auto scope : {Scope::device, Scope::process, Scope::host}) {
    Result<void> done;
    for_each_metric(scope, [&](MetricId, const Metric &metric) {
      if (!done || metric.kind == Kind::text) return;
      int parameter = 0;
      for (const auto text : {word(metric.scope), metric.key, word(metric.unit), word(metric.kind), word(fold(metric)),
                              word(kept(metric)), metric.label, metric.help}) {
        insert->bind(++parameter, text);
      }
      done = insert->run();
    });
    if (!done) return done;
  }
  return {};
}

Result<void> make_tables(Database &database) {
  if (const auto made = database.run(kTables); !made) return made;
  for (const auto &[scope, tier] : kRolledUp) {
    if (const auto made = database.run(rolled_up_table(scope, tier)); !made) return made;
    if (const auto added = add_columns(database, table_name(scope, tier), columns_of(scope)); !added) return added;
  }
  if (const auto added = add_columns(database, "device", text_columns(Scope::device)); !added) return added;
  auto of_process = text_columns(Scope::process);
  std::ranges::move(columns_of(Scope::process), std::back_inserter(of_process));
  if (const auto added = add_columns(database, "process", of_process); !added) return added;
  return describe_metrics(database);
}

Result<void> set_version(Database &database, std::int64_t version) {
  return database.run(fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", kApplication, version));
}

Result<void> migrate(Database &database, const Migration &migration) {
  bool done = false;
  while (!done) {
    auto transaction = Transaction::begin(database);
    if (!transaction) return std::unexpected(transaction.error());
    const auto stepped = migration.step(database);
    if (!stepped) return std::unexpected(stepped.error());
    done = *stepped;
    if (done) {
      if (const auto set = set_version(database, migration.from + 1); !set) return set;
    }
    if (const auto committed = transaction->commit(); !committed) return committed;
  }
  return {};
}

}  // namespace

std::string_view word(Tier tier) {
  static constexpr std::array<std::string_view, 3> kWords{"1 s", "10 s", "1 min"};
  return kWords[static_cast<std::size_t>(tier)];
}

std::span<const KeptMetric> kept_metrics(Scope scope) {
  static const auto kAll = [] {
    std::array<std::vector<KeptMetric>, kScopes> all;
    for (const auto each : {Scope::device, Scope::process, Scope::host}) {
      for_each_metric(each, [&](MetricId id, const Metric &metric) {
        const auto what = kept(metric);
        if (what != Kept::fold && what != Kept::range) return;
        all[static_cast<std::size_t>(each)].push_back(
            {.id = id, .fold = fold(metric), .has_range = what == Kept::range});
      });
    }
    return all;
  }();
  return kAll[static_cast<std::size_t>(scope)];
}

std::optional<std::size_t> kept_place(MetricId id) {
  const auto all = kept_metrics(describe(id).scope);
  const auto found = std::ranges::find(all, id, &KeptMetric::id);
  if (found == all.end()) return std::nullopt;
  return static_cast<std::size_t>(found - all.begin());
}

Result<std::set<std::string, std::less<>>> column_names(Database &database, std::string_view table) {
  std::set<std::string, std::less<>> names;
  auto listed = database.prepare(fmt::format("SELECT name FROM pragma_table_info('{}')", table));
  if (!listed) return std::unexpected(listed.error());
  while (true) {
    const auto row = listed->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return names;
    names.emplace(listed->text(0));
  }
}

std::string table_name(Scope scope, Tier tier) {
  return fmt::format("{}_{}", word(scope), tier == Tier::minute ? "1min" : "10s");
}

std::string least_column(MetricId id) { return fmt::format("{}_min", describe(id).key); }
std::string greatest_column(MetricId id) { return fmt::format("{}_max", describe(id).key); }

std::span<const Migration> migrations() { return {}; }

Result<Standing> standing(Database &database) {
  const auto application = database.integer("PRAGMA application_id");
  if (!application) return std::unexpected(application.error());
  const auto version = database.integer("PRAGMA user_version");
  if (!version) return std::unexpected(version.error());
  if (application->value_or(0) == kApplication) {
    return version->value_or(0) > kVersion ? Standing::newer : Standing::ours;
  }
  const auto tables = database.integer("SELECT count(*) FROM sqlite_schema");
  if (!tables) return std::unexpected(tables.error());
  const bool is_empty = tables->value_or(0) == 0 && application->value_or(0) == 0 && version->value_or(0) == 0;
  return is_empty ? Standing::empty : Standing::foreign;
}

Result<void> prepare(Database &database, std::span<const Migration> steps) {
  const auto now = database.integer("PRAGMA user_version");
  if (!now) return std::unexpected(now.error());
  const auto from = now->value_or(0);
  for (const auto &step : steps) {
    if (from != 0 && step.from >= from) {
      if (const auto done = migrate(database, step); !done) return done;
    }
  }
  auto transaction = Transaction::begin(database);
  if (!transaction) return std::unexpected(transaction.error());
  if (const auto made = make_tables(database); !made) return made;
  const auto latest = steps.empty() ? kVersion : std::max(kVersion, steps.back().from + 1);
  if (const auto set = set_version(database, latest); !set) return set;
  return transaction->commit();
}

}  // namespace gpulse::history
