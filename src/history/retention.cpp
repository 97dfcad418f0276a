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
// What a few minutes need: so much is kept free within the file where the disk has no more to give.
constexpr std::uint64_t kRoom = std::uint64_t{1} << 20U;
constexpr std::int64_t kNanoseconds = 1'000'000'000;

std::uint64_t free_on_disk(const std::string &path) {
  struct statvfs disk{};
  if (::statvfs(path.c_str(), &disk) != 0) return ~std::uint64_t{0};
  return std::uint64_t{disk.f_bavail} * disk.f_frsize;
}

struct Size {
  std::uint64_t file = 0, unused = 0;  // unused: of the file
};

Result<Size> size_of(Database &database) {
  std::array<std::uint64_t, 3> numbers{};
  std::size_t i = 0;
  for (const auto *sql : {"PRAGMA page_size", "PRAGMA page_count", "PRAGMA freelist_count"}) {
    const auto number = database.integer(sql);
    if (!number) return std::unexpected(number.error());
    numbers[i++] = static_cast<std::uint64_t>(number->value_or(0));
  }
  const auto [page, pages, free] = numbers;
  return Size{.file = page * pages, .unused = page * std::min(pages, free)};
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

std::uint64_t Retention::most_journal() const { return std::min(kMostJournal, keep_.bytes / 4); }
std::uint64_t Retention::most_used() const {
  return keep_.bytes - most_journal() - std::min(2 * kRoom, keep_.bytes / 8);
}

Result<bool> Retention::has_room(Database &database) const {
  if (free_on_disk(database.path()) > keep_.free_bytes) return true;
  const auto size = size_of(database);
  if (!size) return std::unexpected(size.error());
  return size->unused >= kRoom / 4;
}

Result<bool> Retention::is_too_large(Database &database) const {
  const auto size = size_of(database);
  if (!size) return std::unexpected(size.error());
  if (size->file - size->unused > most_used()) return true;
  // A disk that has no more to give: what comes takes the place of the oldest.
  return free_on_disk(database.path()) < keep_.free_bytes + kRoom && size->unused < kRoom;
}

Tier Retention::fullest() const {
  const auto share = [&](Tier tier) { return amount(tier) / std::max(1.0, limit(tier)); };
  return std::ranges::max({Tier::raw, Tier::ten_seconds, Tier::minute}, {}, share);
}

Result<void> Retention::tidy(Database &database, std::int64_t now) {
  for (int pieces = 0; pieces < kMostPieces; ++pieces) {
    const auto tier = fullest();
    const auto too_large = is_too_large(database);
    if (!too_large) return std::unexpected(too_large.error());
    if (!*too_large && amount(tier) <= limit(tier)) break;
    const auto dropped = drop(database, tier, now);
    if (!dropped) return std::unexpected(dropped.error());
    if (!*dropped) break;
  }
  return give_back(database);
}

// Pages that are free and will not be needed go back to the disk.
Result<void> Retention::give_back(Database &database) const {
  const auto size = size_of(database);
  if (!size) return std::unexpected(size.error());
  const bool is_idle = size->unused > size->file / 8 && size->unused > kRoom * 8;
  if (!is_idle && (size->file <= most_used() || size->unused < kRoom)) return {};
  // All that it moves goes through the journal.
  constexpr std::uint64_t kPage = 4096;
  return database.run(
      fmt::format("PRAGMA incremental_vacuum({})", std::min<std::uint64_t>(2000, most_journal() / kPage / 8)));
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
  if (tier != Tier::minute) return true;
  if (*ahead) {
    const auto done = database.run(fmt::format("DELETE FROM event WHERE time>={} AND time<{}", from, to));
    if (!done) return std::unexpected(done.error());
    return true;
  }
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
