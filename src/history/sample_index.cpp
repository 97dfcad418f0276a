// SPDX-License-Identifier: Apache-2.0
#include "history/sample_index.hpp"

#include <algorithm>

namespace gpulse::history {

Result<SampleIndex> SampleIndex::read(Reader &reader, const Span &span) {
  auto blocks = reader.blocks(span);
  if (!blocks) return std::unexpected(blocks.error());
  SampleIndex index(reader);
  index.blocks_ = std::move(*blocks);
  for (const auto &block : index.blocks_) {
    index.starts_.push_back(index.size_);
    index.size_ += block.count;
  }
  return index;
}

SampleIndex::Place SampleIndex::place_of(std::size_t number) {
  const auto next = std::ranges::upper_bound(starts_, number);
  const auto at = static_cast<std::size_t>(next - starts_.begin()) - 1;
  return {&blocks_[at], number - starts_[at]};
}

const std::vector<WallTime> &SampleIndex::times_of(SampleBlock &block) {
  if (!block.times.empty()) return block.times;
  auto times = reader_->times(block);
  if (times && times->size() == block.count) {
    block.times = std::move(*times);
    return block.times;
  }
  // Numbers have been given: what is damaged or gone is taken for evenly spread.
  const auto steps = static_cast<std::int64_t>(std::max<std::size_t>(block.count, 2) - 1);
  for (std::size_t i = 0; i < block.count; ++i) {
    block.times.push_back(block.first + (block.last - block.first) / steps * static_cast<std::int64_t>(i));
  }
  return block.times;
}

WallTime SampleIndex::time(std::size_t number) {
  const auto [block, within] = place_of(number);
  if (within == 0) return block->first;
  if (within + 1 == block->count) return block->last;
  return times_of(*block)[within];
}

Result<SnapshotPtr> SampleIndex::at(std::size_t number) {
  const auto [block, within] = place_of(number);
  const SampleRef ref{time(number), block->tier};
  // Again: between looking into the chunks and into the tail, the one may have become the other.
  for (int attempt = 0; attempt < 2; ++attempt) {
    auto sample = reader_->sample(ref);
    if (!sample || *sample != nullptr) return sample;
  }
  auto nothing = std::make_shared<Snapshot>();
  nothing->time = ref.time;
  nothing->origin = kHistoryOrigin;
  nothing->sources.push_back(
      {.name = "history", .problem = "this sample is damaged or has been deleted", .remedy = {}});
  return nothing;
}

std::size_t SampleIndex::find(WallTime time) {
  const auto next = std::ranges::upper_bound(blocks_, time, {}, &SampleBlock::first);
  if (next == blocks_.begin()) return 0;
  auto &block = *(next - 1);
  const auto start = starts_[static_cast<std::size_t>(next - blocks_.begin()) - 1];
  if (time >= block.last) return start + block.count - 1;
  const auto &times = times_of(block);
  const auto after = std::ranges::upper_bound(times, time);
  return start + static_cast<std::size_t>(std::max<std::ptrdiff_t>(after - times.begin(), 1)) - 1;
}

}  // namespace gpulse::history
