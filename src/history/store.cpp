// SPDX-License-Identifier: Apache-2.0
#include "history/store.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>

#include "codec/schema.hpp"
#include "history/times.hpp"
#include "insight/changes.hpp"

namespace gpulse::history {

namespace {

// From here on the journal is written back into the file: 4 MiB.
constexpr std::uint64_t kJournalDue = std::uint64_t{4} << 20U;

std::uint64_t size_of(const std::string &path) {
  struct stat file{};
  return ::stat(path.c_str(), &file) == 0 ? static_cast<std::uint64_t>(file.st_size) : 0;
}

std::uint64_t inode_of(const std::string &path) {
  struct stat file{};
  return ::stat(path.c_str(), &file) == 0 ? file.st_ino : 0;
}

// Two of the same stretch and entity there are only where a clock was set back: the second is of another turn.
std::string insert_sql(Scope scope, Tier tier) {
  const auto table = table_name(scope, tier);
  const bool owned = scope != Scope::host;
  std::string columns = owned ? fmt::format("time, seconds, {}, turn", word(scope)) : "time, seconds, turn";
  std::string values = fmt::format("?1, ?2, {}(SELECT ifnull(max(turn)+1, 0) FROM {} WHERE time=?1{})",
                                   owned ? "?3, " : "", table, owned ? fmt::format(" AND {}=?3", word(scope)) : "");
  int parameter = owned ? 3 : 2;
  const auto add = [&](std::string_view name) {
    columns += fmt::format(", {}", name);
    values += fmt::format(", ?{}", ++parameter);
  };
  for (const auto &metric : kept_metrics(scope)) {
    add(describe(metric.id).key);
    if (!metric.has_range) continue;
    add(least_column(metric.id));
    add(greatest_column(metric.id));
  }
  return fmt::format("INSERT INTO {}({}) VALUES({})", table, columns, values);
}

Result<void> insert(Statement &statement, std::int64_t time, std::int64_t owner, Scope scope, const Bucket &bucket) {
  if (bucket.is_empty()) return {};
  statement.bind(1, time);
  statement.bind(2, bucket.seconds());
  if (scope != Scope::host) statement.bind(3, owner);
  bind_folded(statement, scope == Scope::host ? 3 : 4, scope, bucket.folded());
  return statement.run();
}

constexpr const char *kSettings =
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=-1024;"
    "PRAGMA temp_store=MEMORY; PRAGMA journal_size_limit=8388608";

}  // namespace

Store::Store(Database database, Directory directory, Retention retention, std::vector<Statement> statements)
    : database_(std::move(database)),
      inode_(inode_of(database_.path())),
      directory_(std::move(directory)),
      retention_(std::move(retention)),
      host_ten_(std::move(statements[0])),
      host_minute_(std::move(statements[1])),
      device_ten_(std::move(statements[2])),
      device_minute_(std::move(statements[3])),
      process_minute_(std::move(statements[4])),
      add_tail_(std::move(statements[5])),
      add_raw_(std::move(statements[6])),
      add_event_(std::move(statements[7])),
      add_change_(std::move(statements[8])),
      add_lost_(std::move(statements[9])) {}

Store::~Store() = default;

StoreFailure Store::failed(const Error &error) const {
  const auto trouble = database_.trouble();
  const bool damaged = trouble == Trouble::damaged || trouble == Trouble::foreign;
  return {error, damaged ? StoreFailure::Kind::damaged : StoreFailure::Kind::passing};
}

std::expected<std::unique_ptr<Store>, StoreFailure> Store::open(const std::string &path, const Keep &keep) {
  auto database = Database::open(path, Database::Mode::write);
  if (!database) return std::unexpected(StoreFailure{database.error()});
  const auto fail = [&](const Error &error) {
    const auto trouble = database->trouble();
    const bool damaged = trouble == Trouble::damaged || trouble == Trouble::foreign;
    return std::unexpected(StoreFailure{error, damaged ? StoreFailure::Kind::damaged : StoreFailure::Kind::passing});
  };
  const auto what = standing(*database);
  if (!what) return fail(what.error());
  if (*what == Standing::newer) {
    return std::unexpected(StoreFailure{
        {path + " was written by a later version of gpulse", "use that one, or name another file with --history"},
        StoreFailure::Kind::refused});
  }
  if (*what == Standing::foreign) {
    return std::unexpected(StoreFailure{
        {path + " is a database of another program", "name another file with --history"}, StoreFailure::Kind::refused});
  }
  if (*what == Standing::empty) {
    if (const auto set = database->run("PRAGMA auto_vacuum=INCREMENTAL"); !set) return fail(set.error());
  }
  if (const auto set = database->run(kSettings); !set) return fail(set.error());
  if (const auto made = prepare(*database); !made) return fail(made.error());
  const auto newest = database->integer("SELECT CAST(max(last_time) AS INTEGER) FROM process");
  if (!newest) return fail(newest.error());
  auto directory = Directory::open(*database, static_cast<double>(newest->value_or(0)) - 120);
  if (!directory) return fail(directory.error());
  auto retention = Retention::open(*database, keep);
  if (!retention) return fail(retention.error());
  std::vector<Statement> statements;
  for (const auto &sql :
       {insert_sql(Scope::host, Tier::ten_seconds), insert_sql(Scope::host, Tier::minute),
        insert_sql(Scope::device, Tier::ten_seconds), insert_sql(Scope::device, Tier::minute),
        insert_sql(Scope::process, Tier::minute),
        std::string("INSERT INTO raw_tail(time, seconds, schema, data) VALUES(?,?,?,?)"),
        std::string("INSERT INTO raw(first_time, last_time, samples, seconds, schema, data) VALUES(?,?,?,?,?,?)"),
        std::string("INSERT INTO event(time, device, kind, code, text) VALUES(?,?,?,?,?)"),
        std::string("INSERT INTO change(time, device, metric, value, reason) VALUES(?,?,?,?,?)"),
        std::string("INSERT INTO lost(from_time, to_time, samples, reason) VALUES(?,?,?,?)")}) {
    auto statement = database->prepare(sql);
    if (!statement) return fail(statement.error());
    statements.push_back(std::move(*statement));
  }
  auto store = std::unique_ptr<Store>(
      new Store(std::move(*database), std::move(*directory), std::move(*retention), std::move(statements)));
  if (const auto done = store->recover(); !done) return std::unexpected(store->failed(done.error()));
  return store;
}

std::expected<void, StoreFailure> Store::append(std::span<const TimedSample> samples) {
  auto transaction = Transaction::begin(database_);
  if (!transaction) return std::unexpected(failed(transaction.error()));
  for (const auto &sample : samples) {
    if (const auto done = take(sample); !done) return std::unexpected(failed(done.error()));
  }
  if (const auto done = transaction->commit(); !done) return std::unexpected(failed(done.error()));
  if (journal_bytes() >= kJournalDue) {
    if (const auto done = database_.integer("PRAGMA wal_checkpoint(PASSIVE)"); !done) {
      return std::unexpected(failed(done.error()));
    }
  }
  return {};
}

std::expected<void, StoreFailure> Store::note(const Lost &lost) {
  add_lost_.bind(1, seconds_of(lost.from));
  add_lost_.bind(2, seconds_of(lost.to));
  add_lost_.bind(3, static_cast<std::int64_t>(lost.samples));
  add_lost_.bind(4, std::string_view(lost.reason));
  if (const auto done = add_lost_.run(); !done) return std::unexpected(failed(done.error()));
  return {};
}

std::expected<void, StoreFailure> Store::tidy() {
  const auto now = last_ ? begin_of(last_->time, Tier::raw) : 0;
  if (const auto done = retention_.tidy(database_, now); !done) return std::unexpected(failed(done.error()));
  return {};
}

std::uint64_t Store::journal_bytes() const { return size_of(database_.path() + "-wal"); }
std::uint64_t Store::bytes() const {
  return size_of(database_.path()) + journal_bytes() + size_of(database_.path() + "-shm");
}
bool Store::is_in_place() const { return inode_of(database_.path()) == inode_; }

bool Store::is_held_up() {
  if (journal_bytes() < kMostJournal) return false;
  const auto held = database_.integer("PRAGMA wal_checkpoint(TRUNCATE)");
  return !held || held->value_or(1) != 0;
}

Result<void> Store::take(const TimedSample &sample) {
  const TimedSample kept{without_moment(*sample.snapshot), sample.seconds};
  const auto before = last_;
  if (const auto done = fold(kept, false); !done) return done;
  if (const auto done = write_events(before.get(), *kept.snapshot); !done) return done;
  if (const auto done = write_hostname(kept.snapshot->hostname.str()); !done) return done;
  return keep_raw(kept);
}

// `is_replayed`: what it ends was written when it came first.
Result<void> Store::fold(const TimedSample &sample, bool is_replayed) {
  const auto &now = *sample.snapshot;
  const auto ten = begin_of(now.time, Tier::ten_seconds);
  const auto minute = begin_of(now.time, Tier::minute);
  if (ten_ && *ten_ != ten) {
    if (const auto done = end_stretch(Tier::ten_seconds, is_replayed); !done) return done;
  }
  if (minute_ && *minute_ != minute) {
    if (const auto done = end_stretch(Tier::minute, is_replayed); !done) return done;
  }
  ten_ = ten;
  minute_ = minute;
  const auto time = seconds_of(now.time);
  host_of_ten_.add(now.host, now.time, sample.seconds);
  host_of_minute_.add(now.host, now.time, sample.seconds);
  std::map<DeviceId, std::int64_t> numbers;
  for (const auto &device : now.devices) {
    const auto id = directory_.device(device, time);
    if (!id) return std::unexpected(id.error());
    numbers[device.id] = *id;
    if (device.state != DeviceState::ok) continue;
    auto &rolled = devices_[*id];
    rolled.ten.add(device.row, now.time, sample.seconds);
    rolled.minute.add(device.row, now.time, sample.seconds);
    rolled.seen = time;
  }
  for (const auto &process : now.processes) {
    const auto device = numbers.find(process.device);
    if (device == numbers.end()) continue;
    const auto id = directory_.process(process, device->second, time, is_replayed);
    if (!id) return std::unexpected(id.error());
    processes_.try_emplace(*id, Scope::process).first->second.add(process.row, now.time, sample.seconds);
  }
  last_ = sample.snapshot;
  return {};
}

Result<void> Store::end_stretch(Tier tier, bool is_replayed) {
  const bool is_minute = tier == Tier::minute;
  const auto begin = is_minute ? *minute_ : *ten_;
  const auto time = seconds_of(last_->time);
  auto &host = is_minute ? host_of_minute_ : host_of_ten_;
  if (!is_replayed) {
    if (const auto done = insert(is_minute ? host_minute_ : host_ten_, begin, 0, Scope::host, host); !done) return done;
    retention_.added(tier, static_cast<double>(step(tier).count()));
  }
  host.clear();
  for (auto &[id, rolled] : devices_) {
    auto &bucket = is_minute ? rolled.minute : rolled.ten;
    if (!is_replayed) {
      const auto done = insert(is_minute ? device_minute_ : device_ten_, begin, id, Scope::device, bucket);
      if (!done) return done;
      if (is_minute && !bucket.is_empty()) {
        if (const auto seen = directory_.saw_device(id, rolled.seen); !seen) return seen;
      }
    }
    bucket.clear();
  }
  if (!is_minute) return {};
  for (const auto &[id, bucket] : processes_) {
    if (is_replayed || bucket.is_empty()) continue;
    if (const auto done = insert(process_minute_, begin, id, Scope::process, bucket); !done) return done;
    const auto seen = directory_.saw_process(id, time, bucket.seconds(), bucket.folded());
    if (!seen) return seen;
  }
  processes_.clear();
  directory_.forget_before(time - static_cast<double>(step(Tier::minute).count()));
  return is_replayed ? Result<void>{} : write_changes(time);
}

Result<void> Store::write_changes(double time) {
  static const auto kMetrics = [] {
    std::vector<MetricId> all;
    for_each_metric(Scope::device, [&](MetricId id, const Metric &metric) {
      if (kept(metric) == Kept::changes) all.push_back(id);
    });
    return all;
  }();
  for (const auto &device : last_->devices) {
    if (device.state != DeviceState::ok) continue;
    const auto number = directory_.device(device, time);
    if (!number) return std::unexpected(number.error());
    for (const auto metric : kMetrics) {
      const auto &reading = device.row[metric];
      const auto known = changes_.find({*number, metric.index});
      if (known == changes_.end() ? !reading.has_value() : known->second == reading) continue;
      if (reading.is(Reason::not_sampled)) continue;
      add_change_.bind(1, time);
      add_change_.bind(2, *number);
      add_change_.bind(3, describe(metric).key);
      const auto reason = reading ? std::string() : reason_text(reading);
      reading ? add_change_.bind(4, reading.value()) : add_change_.bind_null(4);
      reading ? add_change_.bind_null(5) : add_change_.bind(5, std::string_view(reason));
      if (const auto done = add_change_.run(); !done) return done;
      changes_[{*number, metric.index}] = reading;
    }
  }
  return {};
}

Result<void> Store::write_events(const Snapshot *before, const Snapshot &now) {
  const bool follows = before != nullptr && std::fabs(seconds_of(now.time) - seconds_of(before->time)) <= 60;
  const auto news = follows ? insight::changes(*before, now) : now.events.get();
  for (const auto &event : news) {
    // Who came and went is in the table of processes.
    if (event.kind == EventKind::process) continue;
    if (!follows && seconds_of(event.time) <= last_event_) continue;
    if (const auto done = write_event(event); !done) return done;
  }
  return {};
}

Result<void> Store::write_hostname(const std::string &name) {
  if (name == hostname_) return {};
  auto statement = database_.prepare("INSERT OR REPLACE INTO info VALUES('hostname', ?)");
  if (!statement) return std::unexpected(statement.error());
  statement->bind(1, std::string_view(name));
  hostname_ = name;
  return statement->run();
}

Result<void> Store::write_event(const Event &event) {
  const auto time = seconds_of(event.time);
  const auto device = directory_.find_device(event.device.str());
  add_event_.bind(1, time);
  device ? add_event_.bind(2, *device) : add_event_.bind_null(2);
  add_event_.bind(3, word(event.kind));
  add_event_.bind(4, event.code);
  add_event_.bind(5, std::string_view(event.text));
  last_event_ = std::max(last_event_, time);
  return add_event_.run();
}

Result<void> Store::keep_raw(const TimedSample &sample) {
  const auto &now = *sample.snapshot;
  const bool goes_back = !tail_.empty() && now.time < tail_.back().time;
  if (tail_.size() >= kChunkSamples || goes_back) {
    if (const auto packed = pack_tail(); !packed) return packed;
  }
  if (tail_.empty()) encoder_.restart();
  const auto schema = schema_number();
  if (!schema) return std::unexpected(schema.error());
  const auto bytes = encoder_.encode(sample.snapshot);
  if (!bytes) return std::unexpected(bytes.error());
  add_tail_.bind(1, std::int64_t{now.time.time_since_epoch().count()});
  add_tail_.bind(2, sample.seconds);
  add_tail_.bind(3, *schema);
  add_tail_.bind(4, *bytes);
  if (const auto done = add_tail_.run(); !done) return done;
  tail_.push_back({.time = now.time, .seconds = sample.seconds, .data = {bytes->begin(), bytes->end()}});
  return {};
}

Result<void> Store::pack_tail() {
  if (tail_.empty()) return {};
  const auto schema = schema_number();
  if (!schema) return std::unexpected(schema.error());
  const auto chunk = pack(tail_);
  double seconds = 0;
  for (const auto &sample : tail_) seconds += sample.seconds;
  add_raw_.bind(1, std::int64_t{tail_.front().time.time_since_epoch().count()});
  add_raw_.bind(2, std::int64_t{tail_.back().time.time_since_epoch().count()});
  add_raw_.bind(3, static_cast<std::int64_t>(tail_.size()));
  add_raw_.bind(4, seconds);
  add_raw_.bind(5, *schema);
  add_raw_.bind(6, std::span(chunk));
  if (const auto done = add_raw_.run(); !done) return done;
  retention_.added(Tier::raw, seconds);
  tail_.clear();
  return database_.run("DELETE FROM raw_tail");
}

Result<std::int64_t> Store::schema_number() {
  if (schema_) return *schema_;
  const auto &schema = codec::todays_schema();
  const auto hash = static_cast<std::int64_t>(schema.hash);
  const auto known = database_.integer(fmt::format("SELECT id FROM raw_schema WHERE hash={}", hash));
  if (!known) return std::unexpected(known.error());
  if (!*known) {
    auto add = database_.prepare("INSERT INTO raw_schema(hash, body) VALUES(?,?)");
    if (!add) return std::unexpected(add.error());
    add->bind(1, hash);
    add->bind(2, std::span<const std::byte>(schema.body));
    if (const auto done = add->run(); !done) return std::unexpected(done.error());
    schema_ = add->last_row();
  } else {
    schema_ = **known;
  }
  return *schema_;
}

}  // namespace gpulse::history
