// SPDX-License-Identifier: Apache-2.0
#include "history/reader.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "history/times.hpp"

namespace gpulse::history {

namespace {

// What one question may bring at most.
constexpr std::int64_t kMostRows = 100'000;

std::string device_columns() {
  std::string columns;
  for_each_metric(Scope::device, [&](MetricId, const Metric &metric) {
    if (metric.kind == Kind::text) columns += fmt::format(", {}", metric.key);
  });
  return columns;
}

Reading reading_of(const Statement &row, int value, int reason) {
  if (!row.is_null(value)) return row.real(value);
  for (int i = 0; i <= static_cast<int>(kLastReason); ++i) {
    if (text(static_cast<Reason>(i)) == row.text(reason)) return static_cast<Reason>(i);
  }
  return Reason::error;
}

}  // namespace

Result<Reader> Reader::open(const std::string &path, const std::stop_token &stop) {
  if (::access(path.c_str(), R_OK) != 0) {
    return failure(fmt::format("{} cannot be read: {}", path, std::generic_category().message(errno)));
  }
  auto opened = Database::open(path, Database::Mode::read);
  if (!opened) return std::unexpected(opened.error());
  auto database = std::make_unique<Database>(std::move(*opened));
  database->end_with(stop);
  const auto what = standing(*database);
  if (!what) return std::unexpected(what.error());
  if (*what == Standing::newer) return failure(path + " was written by a later version of gpulse", "use that one");
  if (*what == Standing::foreign) return failure(path + " is a database of another program");
  if (*what == Standing::empty) return failure(path + " has nothing in it yet");
  auto raw = RawReader::open(*database);
  if (!raw) return std::unexpected(raw.error());
  Reader reader(std::move(database), std::move(*raw));
  if (const auto done = reader.refresh(); !done) return std::unexpected(done.error());
  return reader;
}

Result<void> Reader::refresh() {
  const auto hostname = database_->text("SELECT value FROM info WHERE key='hostname'");
  if (!hostname) return std::unexpected(hostname.error());
  hostname_ = hostname->value_or("");
  auto rows = database_->prepare(
      "SELECT id, uuid, number, source, vendor, name, pci, driver, parent, label, first_time, last_time" +
      device_columns() + " FROM device");
  if (!rows) return std::unexpected(rows.error());
  devices_.clear();
  while (true) {
    const auto row = rows->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) break;
    auto identity = std::make_shared<DeviceIdentity>();
    int column = 3;
    identity->uuid = rows->text(1);
    for (auto *text : {&identity->source, &identity->vendor, &identity->name, &identity->pci, &identity->driver,
                       &identity->parent, &identity->label}) {
      *text = rows->text(column++);
    }
    KnownDevice device{.id = rows->integer(0),
                       .number = parse_device_id(rows->text(2)).value_or(DeviceId{}),
                       .identity = nullptr,
                       .first = time_of(rows->real(column)),
                       .last = time_of(rows->real(column + 1))};
    column += 2;
    for (auto &text : identity->texts.texts()) {
      if (!rows->is_null(column)) text = TextReading(Text(rows->text(column)));
      ++column;
    }
    device.identity = std::move(identity);
    devices_.push_back(std::move(device));
  }
  std::ranges::sort(devices_, {}, [](const KnownDevice &device) { return std::pair{device.number, device.id}; });
  return {};
}

const KnownDevice *Reader::device(std::int64_t id) const {
  const auto found = std::ranges::find(devices_, id, &KnownDevice::id);
  return found == devices_.end() ? nullptr : &*found;
}

Result<std::optional<Span>> Reader::rolled_span(Tier tier) {
  // Each by itself is at an end of the table; both at once would be looked for in all of it.
  auto row = database_->prepare(
      fmt::format("SELECT (SELECT min(time) FROM {0}), (SELECT max(time) FROM {0})", table_name(Scope::host, tier)));
  if (!row) return std::unexpected(row.error());
  const auto stepped = row->step();
  if (!stepped) return std::unexpected(stepped.error());
  if (!*stepped || row->is_null(0)) return std::nullopt;
  return Span{time_of(row->integer(0)), time_of(row->integer(1)) + step(tier)};
}

Result<Coverage> Reader::coverage() {
  Coverage coverage;
  auto rows = database_->prepare(
      "SELECT min(first), max(last) FROM (SELECT min(first_time) AS first, max(last_time) AS last FROM raw UNION ALL "
      "SELECT min(time), max(time) FROM raw_tail)");
  if (!rows) return std::unexpected(rows.error());
  const auto row = rows->step();
  if (!row) return std::unexpected(row.error());
  using std::chrono::nanoseconds;
  if (*row && !rows->is_null(0)) {
    coverage.raw =
        Span{WallTime(nanoseconds(rows->integer(0))), WallTime(nanoseconds(rows->integer(1))) + nanoseconds(1)};
  }
  rows->reset();
  for (const auto tier : {Tier::ten_seconds, Tier::minute}) {
    const auto span = rolled_span(tier);
    if (!span) return std::unexpected(span.error());
    (tier == Tier::minute ? coverage.minute : coverage.ten_seconds) = *span;
  }
  return coverage;
}

Result<std::vector<Event>> Reader::events(const Span &span) {
  auto rows = database_->prepare(fmt::format(
      "SELECT time, device, kind, code, text FROM event WHERE time>=? AND time<? ORDER BY time LIMIT {}", kMostRows));
  if (!rows) return std::unexpected(rows.error());
  rows->bind(1, seconds_of(span.from));
  rows->bind(2, seconds_of(span.to));
  std::vector<Event> events;
  while (true) {
    const auto row = rows->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return events;
    const auto *on = rows->is_null(1) ? nullptr : device(rows->integer(1));
    events.push_back({.time = time_of(rows->real(0)),
                      .device = on == nullptr ? Text() : on->identity->uuid,
                      .kind = event_kind_named(rows->text(2)).value_or(EventKind::other),
                      .code = rows->integer(3),
                      .text = rows->text(4)});
  }
}

Result<std::vector<Change>> Reader::changes(const Span &span) {
  auto rows = database_->prepare(fmt::format(
      "SELECT time, device, metric, value, reason FROM change WHERE time>=? AND time<? ORDER BY time LIMIT {}",
      kMostRows));
  if (!rows) return std::unexpected(rows.error());
  rows->bind(1, seconds_of(span.from));
  rows->bind(2, seconds_of(span.to));
  std::vector<Change> changes;
  while (true) {
    const auto row = rows->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return changes;
    const auto metric = find_metric(Scope::device, rows->text(2));
    if (!metric || is_text(key_of(*metric))) continue;
    changes.push_back({.time = time_of(rows->real(0)),
                       .device = rows->integer(1),
                       .metric = *metric,
                       .reading = reading_of(*rows, 3, 4)});
  }
}

Result<std::vector<LostSpan>> Reader::lost(const Span &span) {
  auto rows =
      database_->prepare(fmt::format("SELECT from_time, to_time, samples, reason FROM lost WHERE to_time>=? AND "
                                     "from_time<? ORDER BY from_time LIMIT {}",
                                     kMostRows));
  if (!rows) return std::unexpected(rows.error());
  rows->bind(1, seconds_of(span.from));
  rows->bind(2, seconds_of(span.to));
  std::vector<LostSpan> all;
  while (true) {
    const auto row = rows->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return all;
    all.push_back({.span = {time_of(rows->real(0)), time_of(rows->real(1))},
                   .samples = static_cast<std::uint64_t>(std::max<std::int64_t>(0, rows->integer(2))),
                   .reason = rows->text(3)});
  }
}

}  // namespace gpulse::history
