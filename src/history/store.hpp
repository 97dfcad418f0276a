// SPDX-License-Identifier: Apache-2.0
// A history that is being written: every sample, what it adds to the roll-ups, who is there, what happened. Samples go
// in by transactions, so that after a crash all of one is there or nothing. After any error the store must be opened
// anew: it then goes on from what is in the file. One thread.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "history/database.hpp"
#include "history/directory.hpp"
#include "history/raw.hpp"
#include "history/raw_reader.hpp"
#include "history/retention.hpp"
#include "history/rollup.hpp"
#include "model/snapshot.hpp"

namespace gpulse::history {

// Samples that could not be kept.
struct Lost {
  WallTime from{}, to{};
  std::uint64_t samples = 0;
  std::string reason;
};

using FileId = std::pair<dev_t, ino_t>;

// Why a history cannot be written.
struct StoreFailure {
  Error error;
  enum class Kind : std::uint8_t {
    passing,  // it may go away: a full disk, no permission
    damaged,  // the file is of no use any more
    refused,  // not ours, or of a later version
  } kind = Kind::passing;
};

class Store {
 public:
  // Makes the file where there is none.
  static std::expected<std::unique_ptr<Store>, StoreFailure> open(const std::string &path, const Keep &keep);
  Store(const Store &) = delete;
  Store &operator=(const Store &) = delete;
  ~Store();

  // All of them or none. `lost`: what could not be kept before them.
  std::expected<void, StoreFailure> append(std::span<const TimedSample> samples, const Lost &lost = {});
  // Brings what is in the journal into the file, when there is enough of it. What was appended is safe without it.
  std::expected<void, StoreFailure> write_back();
  // Takes the oldest away where there is too much; a little each time.
  std::expected<void, StoreFailure> tidy();

  // Of the file and what lies beside it.
  std::uint64_t bytes() const;
  std::uint64_t journal_bytes() const;
  // A reader keeps the journal from being emptied: nothing may be written until it is gone.
  std::expected<bool, StoreFailure> is_held_up();
  // More can be written without taking what is to be left on the disk.
  std::expected<bool, StoreFailure> has_room();
  // The file that was opened is still the one of this name.
  bool is_in_place() const;
  // For one that is not: its journal must not be taken for that of the file that took its place.
  void remove_journal() const;
  // Of the last sample in the file that is not over yet, else none.
  std::optional<WallTime> last_time() const;

 private:
  struct Rolled {
    Bucket ten{Scope::device}, minute{Scope::device};
    double seen = 0;
  };
  struct RolledProcess {
    Bucket minute{Scope::process};
    double seen = 0;
  };

  Store(Database database, Directory directory, const Retention &retention, std::vector<Statement> &&statements);

  Result<void> recover();
  Result<void> recover_changes();
  Result<void> read_back(RawReader &reader, std::vector<TimedSample> &samples);
  Result<void> take(const TimedSample &sample);
  Result<void> fold(const TimedSample &sample, bool is_replayed);
  Result<void> end_stretch(Tier tier, bool is_replayed);
  Result<void> write_changes(double time);
  Result<void> write_events(const Snapshot *before, const Snapshot &now);
  Result<void> write_event(const Event &event);
  Result<void> write_lost(const Lost &lost);
  Result<void> write_hostname(const std::string &name);
  Result<void> keep_raw(const TimedSample &sample);
  Result<void> pack_tail();
  Result<std::int64_t> schema_number();
  StoreFailure failed(const Error &error) const;

  Database database_;
  FileId file_, journal_;
  int pages_written_back_ = 0;
  Directory directory_;
  Retention retention_;
  Statement host_ten_, host_minute_, device_ten_, device_minute_, process_minute_;
  Statement add_tail_, add_raw_, add_event_, add_change_, add_lost_;

  // The stretches of time that are not over.
  std::optional<std::int64_t> ten_, minute_;  // when they began
  Bucket host_of_ten_{Scope::host}, host_of_minute_{Scope::host};
  std::map<std::int64_t, Rolled> devices_;
  std::map<std::int64_t, RolledProcess> processes_;
  SnapshotPtr last_;
  double last_event_ = 0;
  std::string hostname_;
  std::map<std::pair<std::int64_t, std::uint16_t>, Reading> changes_;  // as stored last

  RawEncoder encoder_;
  std::vector<RawSample> tail_;
  std::optional<std::int64_t> schema_;
};

}  // namespace gpulse::history
