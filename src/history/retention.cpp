// SPDX-License-Identifier: Apache-2.0
#include "history/retention.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>

namespace gpulse::history {

namespace {

// How many pieces one call takes away at most, so that no sample waits long for it.
constexpr int kMostPieces = 16;
// Stretches of time that go at once.
constexpr std::int64_t kRowsAtOnce = 60;
// What lies so far ahead of the newest sample was written with a clock that was wrong.
constexpr std::int64_t kFuture = 3600;
constexpr std::int64_t kPagesGivenBack = 2000;
constexpr std::int64_t kNanoseconds = 1'000'000'000;

std::uint64_t free_on_disk(const std::string &path) {
  struct statvfs disk{};
  if (::statvfs(path.c_str(), &disk) != 0) return ~std::uint64_t{0};
  return std::uint64_t{disk.f_bavail} * disk.f_frsize;
}

}  // namespace

double Retention::limit(Tier tier) const {
  const auto seconds = tier == Tier::raw ? keep_.raw : tier == Tier::minute ? keep_.minute : keep_.ten_seconds;
  return static_cast<double>(seconds.count());
}

Result<Retention> Retention::open(Database &database, const Keep &keep) {
  Retention retention(keep);
  const std::array<std::pair<Tier, std::string>, 3> amounts{
      std::pair{Tier::raw, std::string("SELECT CAST(total(seconds) AS INTEGER) FROM raw")},
      std::pair{Tier::ten_seconds, std::string("SELECT count(*)*10 FROM host_10s")},
      std::pair{Tier::minute, std::string("SELECT count(*)*60 FROM host_1min")}};
  for (const auto &[tier, sql] : amounts) {
    const auto seconds = database.integer(sql);
    if (!seconds) return std::unexpected(seconds.error());
    retention.amount(tier) = static_cast<double>(seconds->value_or(0));
  }
  return retention;
}

Result<bool> Retention::is_too_large(Database &database) const {
  std::array<std::int64_t, 3> numbers{};
  std::size_t i = 0;
  for (const auto *sql : {"PRAGMA page_size", "PRAGMA page_count", "PRAGMA freelist_count"}) {
    const auto number = database.integer(sql);
    if (!number) return std::unexpected(number.error());
    numbers[i++] = number->value_or(0);
  }
  const auto page = static_cast<std::uint64_t>(numbers[0]);
  const auto file = page * static_cast<std::uint64_t>(numbers[1]);
  const auto used = file - page * static_cast<std::uint64_t>(std::min(numbers[1], numbers[2]));
  const auto free = free_on_disk(database.path());
  // What the disk still takes: the file may grow by what is above the reserve.
  const auto room = free > keep_.free_bytes ? free - keep_.free_bytes : 0;
  const auto most = keep_.bytes > kMostJournal ? keep_.bytes - kMostJournal : keep_.bytes / 2;
  return used > std::min(most, file + room);
}

Result<void> Retention::tidy(Database &database, std::int64_t now) {
  for (int pieces = 0; pieces < kMostPieces; ++pieces) {
    auto fullest = Tier::raw;
    for (const auto tier : {Tier::ten_seconds, Tier::minute}) {
      if (amount(tier) / limit(tier) > amount(fullest) / limit(fullest)) fullest = tier;
    }
    const auto too_large = is_too_large(database);
    if (!too_large) return std::unexpected(too_large.error());
    if (!*too_large && amount(fullest) <= limit(fullest)) break;
    const auto dropped = drop(database, fullest, now);
    if (!dropped) return std::unexpected(dropped.error());
    if (!*dropped) break;
  }
  // Pages that are free and will not be needed go back to the disk.
  const auto pages = database.integer("PRAGMA page_count");
  const auto free = database.integer("PRAGMA freelist_count");
  if (!pages || !free) return {};
  if (free->value_or(0) > kPagesGivenBack && free->value_or(0) > pages->value_or(0) / 8) {
    return database.run(fmt::format("PRAGMA incremental_vacuum({})", kPagesGivenBack));
  }
  return {};
}

Result<bool> Retention::drop(Database &database, Tier tier, std::int64_t now) {
  auto transaction = Transaction::begin(database);
  if (!transaction) return std::unexpected(transaction.error());
  auto dropped = tier == Tier::raw ? drop_raw(database, now) : drop_rows(database, tier, now);
  if (!dropped || !*dropped) return dropped;
  if (const auto done = transaction->commit(); !done) return std::unexpected(done.error());
  return true;
}

Result<bool> Retention::drop_raw(Database &database, std::int64_t now) {
  const auto future = (now + kFuture) * kNanoseconds;
  auto oldest = database.prepare("SELECT id, seconds FROM raw ORDER BY first_time > ?1 DESC, first_time LIMIT 1");
  if (!oldest) return std::unexpected(oldest.error());
  oldest->bind(1, future);
  const auto row = oldest->step();
  if (!row) return std::unexpected(row.error());
  if (!*row) {
    amount(Tier::raw) = 0;
    return false;
  }
  const auto id = oldest->integer(0);
  const auto seconds = oldest->real(1);
  oldest->reset();
  if (const auto done = database.run(fmt::format("DELETE FROM raw WHERE id={}", id)); !done) {
    return std::unexpected(done.error());
  }
  amount(Tier::raw) -= seconds;
  return true;
}

Result<bool> Retention::drop_rows(Database &database, Tier tier, std::int64_t now) {
  const auto host = table_name(Scope::host, tier);
  const auto ahead = database.integer(fmt::format("SELECT min(time) FROM {} WHERE time > {}", host, now + kFuture));
  if (!ahead) return std::unexpected(ahead.error());
  const auto oldest = database.integer(fmt::format("SELECT min(time) FROM {}", host));
  if (!oldest) return std::unexpected(oldest.error());
  if (!*oldest) {
    amount(tier) = 0;
    return false;
  }
  const auto from = ahead->value_or(**oldest);
  const auto to = from + kRowsAtOnce * step(tier).count();
  const auto count =
      database.integer(fmt::format("SELECT count(*) FROM {} WHERE time>={} AND time<{}", host, from, to));
  if (!count) return std::unexpected(count.error());
  auto scopes = std::vector{Scope::host, Scope::device};
  if (tier == Tier::minute) scopes.push_back(Scope::process);
  for (const auto scope : scopes) {
    const auto done =
        database.run(fmt::format("DELETE FROM {} WHERE time>={} AND time<{}", table_name(scope, tier), from, to));
    if (!done) return std::unexpected(done.error());
  }
  amount(tier) -= static_cast<double>(count->value_or(0) * step(tier).count());
  if (tier != Tier::minute || *ahead) return true;
  // Nothing is known any more of those who were gone by then; the newest change of a value says what it is since.
  const auto done = database.run(fmt::format(
      "DELETE FROM event WHERE time<{0}; DELETE FROM lost WHERE to_time<{0}; DELETE FROM process WHERE last_time<{0};"
      "DELETE FROM change WHERE time<{0} AND EXISTS(SELECT 1 FROM change AS later WHERE later.device=change.device AND "
      "later.metric=change.metric AND later.time>change.time AND later.time<{0})",
      to));
  if (!done) return std::unexpected(done.error());
  return true;
}

}  // namespace gpulse::history
