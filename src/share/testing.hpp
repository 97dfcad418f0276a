// SPDX-License-Identifier: Apache-2.0
// For tests and fuzzers of this folder: a segment in plain memory, and snapshots in which everything says which sample
// it is of.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "codec/snapshot_codec.hpp"
#include "share/layout.hpp"
#include "share/sample_bytes.hpp"
#include "share/slots.hpp"

namespace gpulse::share::testing {

inline void write_sample(std::span<Word> words, const Layout &layout, std::uint64_t number, const SnapshotPtr &snapshot,
                         std::uint64_t boot_time) {
  codec::WireWriter bytes;
  codec::SnapshotEncoder encoder;
  if (!encode_sample(bytes, encoder, snapshot)) std::abort();
  const SlotContent content{.snapshot = *snapshot, .bytes = bytes.view(), .boot_time = boot_time, .identities = 1};
  if (!fits(layout, content)) std::abort();
  write_slot(words, layout, number, content);
}

class Memory {
 public:
  // With fewer slots than an agent makes, so that they are written over sooner.
  explicit Memory(const Room &room, std::optional<std::uint64_t> slots = {})
      : layout_(make_layout(room, codec::todays_schema().body.size(), codec::todays_schema().hash)),
        words_(layout_.bytes / sizeof(Word)) {
    layout_.slots = slots.value_or(layout_.slots);
    write_head(words_, layout_);
  }
  Memory(const Memory &other) : layout_(other.layout_), words_(other.words_.size()) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] = other.words_[i].load();
  }
  Memory &operator=(const Memory &) = delete;

  std::span<Word> words() { return words_; }
  const Layout &layout() const { return layout_; }

  void write(std::uint64_t number, const SnapshotPtr &snapshot, std::uint64_t boot_time = 1) {
    write_sample(words_, layout_, number, snapshot, boot_time);
  }

 private:
  Layout layout_;
  std::vector<Word> words_;
};

inline std::size_t marked_devices(std::uint64_t mark) { return 1 + mark % 3; }
inline double device_mark(std::uint64_t mark, std::size_t device) { return static_cast<double>(8 * mark + device); }
inline double host_mark(std::uint64_t mark) { return -static_cast<double>(mark); }

// The number of devices, every reading and every text follow from the mark.
inline SnapshotPtr marked_snapshot(std::uint64_t mark) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->time = WallTime(std::chrono::seconds(mark));
  snapshot->hostname = fmt::format("{}", mark);
  snapshot->host.fill(host_mark(mark));
  snapshot->self.fill(host_mark(mark));
  snapshot->devices.resize(marked_devices(mark));
  for (std::size_t i = 0; i < snapshot->devices.size(); ++i) {
    snapshot->devices[i].id.index = static_cast<std::uint32_t>(i);
    snapshot->devices[i].row.fill(device_mark(mark, i));
  }
  snapshot->processes.resize(mark % 4);
  for (auto &process : snapshot->processes) {
    process.start_ticks = mark;
    process.row.fill(device_mark(mark, 7));
    process.arguments = std::make_shared<const std::vector<std::string>>(mark % 50, snapshot->hostname);
  }
  return snapshot;
}

// Of a snapshot that is wholly of one sample. `live`: with what only a slot carries.
inline std::optional<std::uint64_t> mark_of(const Snapshot &snapshot, bool live = true) {
  const auto mark = static_cast<std::uint64_t>(snapshot.time.time_since_epoch() / std::chrono::seconds(1));
  const auto expected = marked_snapshot(mark);
  const auto same_rows = [](const auto &a, const auto &b) { return a.row == b.row; };
  const auto same_processes = [&](const Process &a, const Process &b) {
    return a.row == b.row && (!live || (a.start_ticks == b.start_ticks && a.arguments && *a.arguments == *b.arguments));
  };
  const bool same = snapshot.hostname == expected->hostname && snapshot.host == expected->host &&
                    snapshot.self == expected->self &&
                    std::ranges::equal(snapshot.devices, expected->devices, same_rows) &&
                    std::ranges::equal(snapshot.processes, expected->processes, same_processes);
  return same ? std::optional(mark) : std::nullopt;
}

}  // namespace gpulse::share::testing
