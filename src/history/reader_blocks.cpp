// SPDX-License-Identifier: Apache-2.0
// Which samples there are.
#include <fmt/format.h>

#include <algorithm>

#include "history/reader.hpp"
#include "history/times.hpp"

namespace gpulse::history {

namespace {

WallTime from_nanoseconds(std::int64_t time) { return WallTime(std::chrono::nanoseconds(time)); }

// One chunk: what its row says of it.
SampleBlock block_of(const Statement &row) {
  return {.tier = Tier::raw,
          .first = from_nanoseconds(row.integer(1)),
          .last = from_nanoseconds(row.integer(2)),
          .count = static_cast<std::size_t>(std::max<std::int64_t>(0, row.integer(3))),
          .times = {},
          .chunks = {row.integer(0)}};
}

SampleBlock block_of(Tier tier, std::vector<WallTime> times) {
  SampleBlock block{.tier = tier, .first = {}, .last = {}, .count = times.size(), .times = std::move(times)};
  if (block.count == 0) return block;
  block.first = block.times.front();
  block.last = block.times.back();
  return block;
}

bool has_sound_count(const SampleBlock &block) { return block.count > 0 && block.count <= kMostChunkSamples; }

}  // namespace

Result<std::vector<WallTime>> Reader::times(const SampleBlock &block) {
  auto all = block.times;
  for (const auto id : block.chunks) {
    const auto more = raw_.times(id);
    if (!more) return std::unexpected(more.error());
    all.insert(all.end(), more->begin(), more->end());
  }
  std::ranges::sort(all);
  return all;
}

// Each chunk is a block. After the clock went back chunks lie over each other: then they are one block.
Result<std::vector<SampleBlock>> Reader::raw_blocks(const Span &span) {
  // The tail before the chunks: what is packed between the two is there twice rather than not at all.
  auto tail = raw_.tail_times();
  if (!tail) return std::unexpected(tail.error());
  auto rows = database_->prepare(
      "SELECT id, first_time, last_time, samples FROM raw WHERE first_time<? AND last_time>=? ORDER BY first_time, id");
  if (!rows) return std::unexpected(rows.error());
  rows->bind(1, std::int64_t{span.to.time_since_epoch().count()});
  rows->bind(2, std::int64_t{span.from.time_since_epoch().count()});
  std::vector<SampleBlock> found;
  while (true) {
    const auto row = rows->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) break;
    found.push_back(block_of(*rows));
    if (!tail->empty() && found.back().first == tail->front()) tail->clear();
  }
  if (!tail->empty()) found.push_back(block_of(Tier::raw, std::move(*tail)));
  std::ranges::sort(found, {}, &SampleBlock::first);
  std::vector<SampleBlock> blocks;
  for (auto &block : found) {
    const bool is_whole = span.contains(block.first) && span.contains(block.last) && block.first <= block.last;
    const bool overlaps = !blocks.empty() && block.first <= blocks.back().last;
    if (overlaps || !is_whole || !has_sound_count(block)) {
      auto all = times(block);
      if (!all) return std::unexpected(all.error());
      std::erase_if(*all, [&](WallTime time) { return !span.contains(time); });
      if (overlaps) {
        const auto before = times(blocks.back());
        if (!before) return std::unexpected(before.error());
        all->insert(all->end(), before->begin(), before->end());
        blocks.pop_back();
      }
      std::ranges::sort(*all);
      block = block_of(Tier::raw, std::move(*all));
    }
    if (block.count > 0) blocks.push_back(std::move(block));
  }
  return blocks;
}

Result<std::vector<WallTime>> Reader::rolled_times(Tier tier, WallTime from, WallTime to) {
  auto rows = database_->prepare(fmt::format("SELECT time FROM {} WHERE time>=? AND time<? AND turn=0 ORDER BY time",
                                             table_name(Scope::host, tier)));
  if (!rows) return std::unexpected(rows.error());
  rows->bind(1, ceiling_of(from));
  rows->bind(2, begin_of(to, tier));
  std::vector<WallTime> times;
  while (true) {
    const auto row = rows->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return times;
    times.push_back(time_of(rows->integer(0)));
  }
}

Result<std::vector<SampleBlock>> Reader::blocks(const Span &span) {
  auto blocks = raw_blocks(span);
  if (!blocks) return blocks;
  auto until = blocks->empty() ? span.to : blocks->front().first;
  for (const auto tier : {Tier::ten_seconds, Tier::minute}) {
    auto times = rolled_times(tier, span.from, until);
    if (!times) return std::unexpected(times.error());
    if (times->empty()) continue;
    until = times->front();
    blocks->insert(blocks->begin(), block_of(tier, std::move(*times)));
  }
  return blocks;
}

Result<std::vector<SampleRef>> Reader::samples(const Span &span, const Progress &progress) {
  const auto all = blocks(span);
  if (!all) return std::unexpected(all.error());
  std::vector<SampleRef> refs;
  for (std::size_t i = 0; i < all->size(); ++i) {
    const auto &block = (*all)[i];
    const auto taken = times(block);
    if (!taken) return std::unexpected(taken.error());
    for (const auto time : *taken) refs.push_back({time, block.tier});
    if (progress) progress(static_cast<double>(i + 1) / static_cast<double>(all->size()));
  }
  return refs;
}

}  // namespace gpulse::history
