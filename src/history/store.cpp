// SPDX-License-Identifier: Apache-2.0
#include "history/store.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "codec/schema.hpp"
#include "history/times.hpp"
#include "insight/changes.hpp"

namespace gpulse::history {

namespace {

// So many new pages in the journal are written back into the file: 4 MiB.
constexpr int kPagesDue = 1000;

std::uint64_t size_of(const std::string &path) {
  struct stat file{};
  return ::stat(path.c_str(), &file) == 0 ? static_cast<std::uint64_t>(file.st_size) : 0;
}

FileId file_id(const std::string &path) {
  struct stat file{};
  return ::stat(path.c_str(), &file) == 0 ? FileId(file.st_dev, file.st_ino) : FileId();
}

std::string begin_of_file(const std::string &path) {
  std::string begin(std::size_t{1} << 20U, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(file.gcount()));
  return begin;
}

// Whether a file that is no database any more was a history: somebody else's file is left alone.
bool was_ours(const std::string &path) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  constexpr std::size_t kHead = 100;             // bytes of a database's head
  constexpr std::size_t kApplicationPlace = 68;  // in it
  const auto begin = begin_of_file(path);
  if (begin.size() < kHead && kMagic.starts_with(std::string_view(begin).substr(0, kMagic.size()))) return true;
  // As some file systems leave it after a power cut.
  if (begin.find_first_not_of('\0') == std::string::npos) return true;
  std::string application;
  for (const int shift : {24, 16, 8, 0}) application += static_cast<char>(kApplication >> shift & 0xFF);
  if (begin.size() >= kHead && begin.compare(kApplicationPlace, application.size(), application) == 0) return true;
  const auto names_ours = [](const std::string &bytes) {
    return bytes.contains("CREATE TABLE raw_tail(") || bytes.contains("CREATE TABLE device_10s(") ||
           bytes.contains("CREATE TABLE process_1min(");
  };
  return names_ours(begin) || names_ours(begin_of_file(path + "-wal"));
}

StoreFailure::Kind kind_of(Trouble trouble) {
  const bool damaged = trouble == Trouble::damaged || trouble == Trouble::foreign;
  return damaged ? StoreFailure::Kind::damaged : StoreFailure::Kind::passing;
}

// Looks without writing: even to open a database may change it, where its program has left something to be done.
std::expected<void, StoreFailure> check_is_ours(const std::string &path) {
  const auto refused = [&](const char *what, const char *remedy) {
    return std::unexpected(StoreFailure{{path + what, remedy}, StoreFailure::Kind::refused});
  };
  if (file_id(path) == FileId()) return {};
  auto database = Database::open(path, Database::Mode::read);
  if (!database) return std::unexpected(StoreFailure{database.error()});
  const auto what = standing(*database);
  if (!what) {
    const auto kind = kind_of(database->trouble());
    if (kind != StoreFailure::Kind::damaged) return {};
    if (was_ours(path)) return std::unexpected(StoreFailure{what.error(), kind});
    return refused(" is no history", "name another file with --history");
  }
  if (*what == Standing::newer) {
    return refused(" was written by a later version of gpulse", "use that one, or name another file with --history");
  }
  if (*what == Standing::foreign) {
    return refused(" is a database of another program", "name another file with --history");
  }
  return {};
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
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-1024;"
    "PRAGMA temp_store=MEMORY; PRAGMA journal_size_limit=8388608";

}  // namespace

Store::Store(Database database, Directory directory, const Retention &retention, std::vector<Statement> &&statements)
    : database_(std::move(database)),
      file_(file_id(database_.path())),
      directory_(std::move(directory)),
      retention_(retention),
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

StoreFailure Store::failed(const Error &error) const { return {error, kind_of(database_.trouble())}; }

std::expected<std::unique_ptr<Store>, StoreFailure> Store::open(const std::string &path, const Keep &keep) {
  if (const auto ours = check_is_ours(path); !ours) return std::unexpected(ours.error());
  auto database = Database::open(path, Database::Mode::write);
  if (!database) return std::unexpected(StoreFailure{database.error()});
  const auto fail = [&](const Error &error) {
    return std::unexpected(StoreFailure{error, kind_of(database->trouble())});
  };
  const auto what = standing(*database);
  if (!what) return fail(what.error());
  if (*what == Standing::empty) {
    if (const auto set = database->run("PRAGMA auto_vacuum=INCREMENTAL"); !set) return fail(set.error());
  }
  if (const auto set = database->run(kSettings); !set) return fail(set.error());
  if (const auto made = prepare(*database); !made) return fail(made.error());
  // Not by the latest time alone: the clock may have been ahead. Nor by the last sample: a process's time is of the
  // last minute that was over, which may be long ago.
  const auto newest = database->integer(
      "SELECT min((SELECT CAST(max(last_time) AS INTEGER) FROM process), coalesce((SELECT time FROM raw_tail ORDER BY "
      "id "
      "DESC LIMIT 1), (SELECT last_time FROM raw ORDER BY id DESC LIMIT 1))/1000000000)");
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
  auto store =
      std::unique_ptr<Store>(new Store(std::move(*database), std::move(*directory), *retention, std::move(statements)));
  if (const auto done = store->recover(); !done) return std::unexpected(store->failed(done.error()));
  store->journal_ = file_id(path + "-wal");
  return store;
}

std::expected<void, StoreFailure> Store::append(std::span<const TimedSample> samples, const Lost &lost) {
  auto transaction = Transaction::begin(database_);
  if (!transaction) return std::unexpected(failed(transaction.error()));
  if (lost.samples > 0) {
    if (const auto done = write_lost(lost); !done) return std::unexpected(failed(done.error()));
  }
  for (const auto &sample : samples) {
    if (const auto done = take(sample); !done) return std::unexpected(failed(done.error()));
  }
  if (const auto done = transaction->commit(); !done) return std::unexpected(failed(done.error()));
  return {};
}

std::expected<void, StoreFailure> Store::write_back() {
  const auto pages = database_.journal_pages();
  if (pages < pages_written_back_) pages_written_back_ = 0;
  constexpr std::uint64_t kPage = 4096;
  const auto due = std::min<std::uint64_t>(kPagesDue, retention_.most_journal() / kPage / 4);
  if (pages < pages_written_back_ + static_cast<int>(due)) return {};
  // Where a reader keeps it from being finished, the next try is due after as many pages again.
  pages_written_back_ = pages;
  const auto done = database_.integer("PRAGMA wal_checkpoint(PASSIVE)");
  if (!done) return std::unexpected(failed(done.error()));
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

bool Store::is_in_place() const { return file_id(database_.path()) == file_; }

void Store::remove_journal() const {
  const auto journal = database_.path() + "-wal";
  if (journal_ == FileId() || file_id(journal) != journal_) return;
  ::unlink(journal.c_str());
  ::unlink((database_.path() + "-shm").c_str());
}

std::expected<bool, StoreFailure> Store::is_held_up() {
  if (journal_bytes() < retention_.most_journal()) return false;
  const auto held = database_.integer("PRAGMA wal_checkpoint(TRUNCATE)");
  if (held) return held->value_or(1) != 0;
  if (database_.trouble() == Trouble::busy) return true;
  return std::unexpected(failed(held.error()));
}

std::expected<bool, StoreFailure> Store::has_room() {
  const auto room = retention_.has_room(database_);
  if (!room) return std::unexpected(failed(room.error()));
  return *room;
}

std::optional<WallTime> Store::last_time() const { return last_ ? std::optional(last_->time) : std::nullopt; }

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
    auto &rolled = processes_[*id];
    rolled.minute.add(process.row, now.time, sample.seconds);
    rolled.seen = time;
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
  for (const auto &[id, rolled] : processes_) {
    const auto &bucket = rolled.minute;
    if (is_replayed || bucket.is_empty()) continue;
    if (const auto done = insert(process_minute_, begin, id, Scope::process, bucket); !done) return done;
    const auto seen = directory_.saw_process(id, rolled.seen, bucket.seconds(), bucket.folded());
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

Result<void> Store::write_lost(const Lost &lost) {
  add_lost_.bind(1, seconds_of(lost.from));
  add_lost_.bind(2, seconds_of(lost.to));
  add_lost_.bind(3, static_cast<std::int64_t>(lost.samples));
  add_lost_.bind(4, std::string_view(lost.reason));
  return add_lost_.run();
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
  if (!bytes) {
    // More than a sample may hold: it is in the roll-ups only, and the next one stands alone.
    if (const auto packed = pack_tail(); !packed) return packed;
    return write_lost({.from = now.time, .to = now.time, .samples = 1, .reason = bytes.error().line()});
  }
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
    schema_ = *known;
  }
  return *schema_;
}

}  // namespace gpulse::history
