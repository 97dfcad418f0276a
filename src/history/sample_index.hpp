// SPDX-License-Identifier: Apache-2.0
// The samples of a history by number, the oldest first, for who goes from one to the next and jumps about. When each
// sample of a chunk was taken is read when somebody looks there, so that half a day is opened as fast as a minute.
// Used on the thread of its reader, which must outlive it.
#pragma once

#include <vector>

#include "history/reader.hpp"

namespace gpulse::history {

class SampleIndex {
 public:
  static Result<SampleIndex> read(Reader &reader, const Span &span);

  std::size_t size() const { return size_; }
  // Only of numbers below size().
  WallTime time(std::size_t number);
  // One that is damaged, or that has been deleted in the meantime, is a sample without devices that says so.
  Result<SnapshotPtr> at(std::size_t number);
  // The last at or before the time, else the first.
  std::size_t find(WallTime time);

 private:
  explicit SampleIndex(Reader &reader) : reader_(&reader) {}
  struct Place {
    SampleBlock *block;
    std::size_t within;
  };
  Place place_of(std::size_t number);
  const std::vector<WallTime> &times_of(SampleBlock &block);

  Reader *reader_;
  std::vector<SampleBlock> blocks_;
  std::vector<std::size_t> starts_;  // the number of each block's first
  std::size_t size_ = 0;
};

}  // namespace gpulse::history
