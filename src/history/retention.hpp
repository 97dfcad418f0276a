// SPDX-License-Identifier: Apache-2.0
// How much of the past a history holds. What counts is how much time was recorded, not how old it is by a clock that
// may jump: a machine that was off for a month loses nothing for that. Writes in transactions of its own. One thread.
#pragma once

#include <chrono>
#include <cstdint>

#include "history/database.hpp"
#include "history/schema.hpp"

namespace gpulse::history {

struct Keep {
  std::chrono::seconds raw{24 * 3600};
  std::chrono::seconds ten_seconds{7 * 24 * 3600};
  std::chrono::seconds minute{90 * 24 * 3600};
  std::uint64_t bytes = std::uint64_t{1} << 30U;         // of all its files
  std::uint64_t free_bytes = std::uint64_t{256} << 20U;  // that it leaves on the disk

  bool operator==(const Keep &) const = default;
};

// What the journal may grow to beside the file itself, at most.
inline constexpr std::uint64_t kMostJournal = std::uint64_t{64} << 20U;

class Retention {
 public:
  static Result<Retention> open(Database &database, const Keep &keep);

  // What was written.
  void added(Tier tier, double seconds) { amount(tier) += seconds; }
  // What the journal may grow to.
  std::uint64_t most_journal() const;
  // The disk has more than is to be left free on it, or the file has room in itself.
  Result<bool> has_room(Database &database) const;
  // Takes the oldest away where there is too much, a little each time. `now`: of the newest sample.
  Result<void> tidy(Database &database, std::int64_t now);

 private:
  explicit Retention(const Keep &keep) : keep_(keep) {}
  double &amount(Tier tier) { return amounts_[static_cast<std::size_t>(tier)]; }
  double amount(Tier tier) const { return amounts_[static_cast<std::size_t>(tier)]; }
  double limit(Tier tier) const;
  // Of the file, beside the journal and what is free within the file.
  std::uint64_t most_used() const;
  // What goes first: of which there is most, by what there may be of it.
  Tier fullest() const;
  Result<bool> is_too_large(Database &database) const;
  Result<void> give_back(Database &database) const;
  Result<bool> drop(Database &database, Tier tier, std::int64_t now);
  Result<bool> drop_raw(Database &database, std::int64_t now);
  Result<bool> drop_rows(Database &database, Tier tier, std::int64_t now);

  Keep keep_;
  double amounts_[3] = {0, 0, 0};
};

}  // namespace gpulse::history
