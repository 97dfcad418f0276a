// SPDX-License-Identifier: Apache-2.0
#include "pick/own_file.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <mutex>
#include <vector>

namespace gpulse::pick {

struct OwnFile::Entry {
  int file = -1;
  bool shared = false;
};

// All of the process. No fork comes between the opening of a file and its entry here.
class OwnFiles {
 public:
  // Never destroyed: a fork may come while the program ends.
  static OwnFiles &all() {
    static auto &one = *new OwnFiles;
    return one;
  }

  void open(OwnFile::Entry &entry, const std::string &path, int flags) {
    const std::lock_guard lock(mutex_);
    entries_.reserve(entries_.size() + 1);
    entry.file = ::open(path.c_str(), flags | O_CLOEXEC);
    if (entry.file >= 0) entries_.push_back(&entry);
  }
  void close(OwnFile::Entry &entry) {
    const std::lock_guard lock(mutex_);
    std::erase(entries_, &entry);
    if (entry.file >= 0) ::close(entry.file);
  }
  bool share(OwnFile::Entry &entry) {
    const std::lock_guard lock(mutex_);
    const int flags = ::fcntl(entry.file, F_GETFD);
    entry.shared = flags >= 0 && ::fcntl(entry.file, F_SETFD, flags & ~FD_CLOEXEC) == 0;
    return entry.shared;
  }

 private:
  OwnFiles() {
    ::pthread_atfork([] { all().mutex_.lock(); }, [] { all().mutex_.unlock(); }, [] { all().after_in_child(); });
  }

  // Nothing is allocated or freed: another thread may have been in the middle of that.
  void after_in_child() {
    for (auto *entry : entries_) {
      if (entry->shared) continue;
      ::close(entry->file);
      entry->file = -1;
    }
    entries_.clear();
    mutex_.unlock();
  }

  std::mutex mutex_;
  std::vector<OwnFile::Entry *> entries_;
};

void OwnFile::Close::operator()(Entry *entry) const {
  OwnFiles::all().close(*entry);
  delete entry;
}

OwnFile OwnFile::open(const std::string &path, int flags) {
  OwnFile made;
  made.entry_.reset(new Entry);
  OwnFiles::all().open(*made.entry_, path, flags);
  return made;
}

int OwnFile::get() const { return entry_ ? entry_->file : -1; }

bool OwnFile::share() { return entry_ && OwnFiles::all().share(*entry_); }

}  // namespace gpulse::pick
