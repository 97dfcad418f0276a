// SPDX-License-Identifier: Apache-2.0
// Leases on devices between processes that cooperate, of any users of the machine: one file per UUID in a folder that
// all of them share, locked for as long as the lease lives. The kernel drops the lock with the last process that has
// the file open, so that no lease outlives its holder, however it ended. Any thread; a Lease belongs to one at a time.
//
// A lease of an instance locks the file of its device too, but shared: instances of one device go together, and none of
// them with the whole.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/text.hpp"
#include "pick/own_file.hpp"
#include "pick/visible.hpp"

namespace gpulse::pick {

// What is leased: a device, or an instance of one.
struct LeaseKey {
  Text uuid;
  Text parent = {};  // the UUID of the device that it is an instance of, else empty
};

// Where leases lie: GPULSE_LEASES, else /run/lock/gpulse, or /tmp/gpulse-leases where /run/lock is not everybody's. It
// depends on nothing that differs from user to user, because all must look in one place.
struct LeasePlace {
  std::string folder;
  bool named = false;  // by the user, who answers for who may write there
};
LeasePlace lease_place(const Environment &environment);

// Held until it is destroyed, released, or the process ends. Children and the programs that they execute have no part
// in it until it is passed on; in a child, the destructor lets go of nothing but the child's own share.
class Lease {
 public:
  Lease() = default;
  Lease(Lease &&other) noexcept = default;
  Lease &operator=(Lease &&other) noexcept;
  Lease(const Lease &) = delete;
  Lease &operator=(const Lease &) = delete;
  ~Lease() { release(); }

  const Text &uuid() const { return uuid_; }
  // From now on children of this process and the programs that it executes hold it too, and it ends with the last of
  // them.
  Result<void> pass_on();
  std::vector<int> descriptors() const;
  void release();

 private:
  friend class LeaseFolder;

  Text uuid_;
  std::vector<OwnFile> files_;
  pid_t owner_ = 0;
  bool passed_on_ = false;
};

// What came of trying to take some.
struct Taken {
  std::vector<Lease> leases;  // in the order of the keys that were had
  struct Missed {
    std::size_t key = 0;  // its position
    std::string holder;   // "held by pid 123 of alice": what the file says, a hint and no more
  };
  std::vector<Missed> missed;
};

class LeaseFolder {
 public:
  // Makes the folder if need be.
  static Result<LeaseFolder> open(const LeasePlace &place);

  const std::string &path() const { return path_; }
  // Takes as many as `count` of these, those that come first, at once or not at all: with fewer it lets go of them, and
  // `leases` is empty. Never waits for a holder; for others that choose at the same moment, a second at most.
  Result<Taken> take(std::span<const LeaseKey> keys, std::size_t count) const;

 private:
  explicit LeaseFolder(std::string path) : path_(std::move(path)) {}
  Result<std::optional<Lease>> take_one(const LeaseKey &key, std::string &holder) const;
  Result<OwnFile> open_file(const std::string &name) const;
  Result<void> make_file(const std::string &name) const;
  Result<OwnFile> lock_file(const std::string &name, int how, std::chrono::milliseconds patience) const;

  std::string path_;
};

// The name of a UUID's file: whatever the UUID holds, it stays in its folder.
std::string lease_file_name(std::string_view uuid);

}  // namespace gpulse::pick
