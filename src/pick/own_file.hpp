// SPDX-License-Identifier: Apache-2.0
// A file that is open in this process alone: a child made by fork() has it no more, unless it is shared. A lock on a
// file belongs to all who have it open, and a child that kept one would hold it after its parent's end. Programs that
// are executed have none of it either. For leases; any thread, and a file belongs to one at a time.
#pragma once

#include <memory>
#include <string>

namespace gpulse::pick {

class OwnFile {
 public:
  OwnFile() = default;
  // As open(2), and closed on exec. Where it fails, it is empty and errno says why.
  static OwnFile open(const std::string &path, int flags);

  // -1: empty, or this is a child that has it no more.
  int get() const;
  explicit operator bool() const { return get() >= 0; }
  // From now on children have it too, and the programs that they execute. False: errno says why.
  bool share();

 private:
  struct Entry;
  struct Close {
    void operator()(Entry *entry) const;
  };
  std::unique_ptr<Entry, Close> entry_;

  friend class OwnFiles;
};

}  // namespace gpulse::pick
