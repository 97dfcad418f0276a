// SPDX-License-Identifier: Apache-2.0
#include "share/past.hpp"

#include <algorithm>
#include <cstring>

#include "codec/snapshot_parts.hpp"

namespace gpulse::share {

namespace {

using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kMinute = 60 * kSecond;
constexpr std::size_t kEntryHead = 4;
// Of all samples together: forty bytes of a file can ask for a machine with thousands of cores, again and again.
constexpr std::size_t kMostMemory = std::size_t{512} << 20U;

std::uint64_t sum_of(std::uint64_t boot_time, std::uint64_t wall_time, std::span<const std::uint64_t> payload) {
  Sum sum;
  sum.add(boot_time);
  sum.add(wall_time);
  for (const auto word : payload) sum.add(word);
  return sum.value();
}

std::vector<std::uint64_t> words_of(std::span<const std::byte> bytes) {
  std::vector<std::uint64_t> words(words_for(bytes.size()));
  if (!bytes.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

// What one more copy takes, roughly; texts as if they were not shared.
std::size_t memory_of(const Snapshot &snapshot) {
  const auto each = [](std::size_t count, std::size_t own, Scope scope) {
    return count * (own + number_count(scope) * sizeof(Reading));
  };
  return codec::text_size(snapshot) + each(1, sizeof(Snapshot), Scope::host) + each(1, 0, Scope::self) +
         each(snapshot.cores.size(), sizeof(CpuCore), Scope::core) +
         each(snapshot.devices.size(), sizeof(Device), Scope::device) +
         each(snapshot.processes.size(), sizeof(Process), Scope::process);
}

// The entries of one half, as far as they make sense and `left` bytes of memory reach.
void decode_half(std::span<const std::uint64_t> half, const codec::SlotMap &slots, std::size_t &left,
                 std::vector<PastSample> &all) {
  codec::SnapshotDecoder decoder;
  decoder.restart(slots);
  while (half.size() >= kEntryHead) {
    const auto bytes = half[0];
    if (bytes > 8 * (half.size() - kEntryHead)) return;
    const auto payload = half.subspan(kEntryHead, words_for(bytes));
    if (sum_of(half[1], half[2], payload) != half[3]) return;
    decoder.current().time = WallTime(std::chrono::nanoseconds(static_cast<std::int64_t>(half[2])));
    codec::WireReader in(std::as_bytes(payload).first(bytes));
    if (!decoder.decode(in)) return;
    const auto memory = memory_of(decoder.current());
    if (memory > left) return;
    left -= memory;
    all.push_back({half[1], std::make_shared<const Snapshot>(decoder.current())});
    half = half.subspan(kEntryHead + payload.size());
  }
}

}  // namespace

void PastWriter::turn_over(std::uint64_t boot_time) {
  begun_ = boot_time;
  encoder_.restart();
  // One that a sample was too large for is still empty.
  if (turn_ != 0 && used_ == 0) return;
  ++turn_;
  words_[head::past_used + turn_ % 2].store(0, memory_order_relaxed);
  // Whoever copies the half that is written over from now on sees that it is not that one any more.
  words_[head::past_turn].store(turn_, memory_order_relaxed);
  std::atomic_thread_fence(memory_order_release);
  used_ = 0;
}

bool PastWriter::put(std::uint64_t boot_time, WallTime wall_time) {
  const auto payload = words_of(payload_.view());
  if (used_ + kEntryHead + payload.size() > layout_.past_words) return false;
  const auto wall = static_cast<std::uint64_t>(wall_time.time_since_epoch().count());
  auto at = layout_.past_half_at(turn_) + used_;
  for (const auto word : {std::uint64_t{payload_.size()}, boot_time, wall, sum_of(boot_time, wall, payload)})
    words_[at++].store(word, memory_order_relaxed);
  for (const auto word : payload) words_[at++].store(word, memory_order_relaxed);
  used_ += kEntryHead + payload.size();
  words_[head::past_used + turn_ % 2].store(used_, memory_order_release);
  return true;
}

void PastWriter::append(const SnapshotPtr &snapshot, std::uint64_t boot_time) {
  // A little less, so that a sample a second is not every other one.
  if (last_ != 0 && boot_time < last_ + kSecond * 9 / 10) return;
  last_ = boot_time;
  const bool first = begun_ == 0 || boot_time - begun_ >= kMinute;
  for (bool alone = first;; alone = true) {
    if (alone) turn_over(boot_time);
    payload_.clear();
    // What cannot be kept is left out; the next stands alone.
    const bool encoded = encoder_.encode(payload_, snapshot).has_value();
    if (encoded && put(boot_time, snapshot->time)) return;
    if (!encoded || alone) break;
  }
  begun_ = 0;
}

std::vector<PastSample> read_past(std::span<const Word> words, const Layout &layout, const codec::SlotMap &slots) {
  std::vector<PastSample> all;
  auto left = kMostMemory;
  const auto turn = words[head::past_turn].load(memory_order_acquire);
  if (turn == 0) return all;
  for (const auto each : {turn - 1, turn}) {
    if (each == 0) continue;
    const auto used = std::min(words[head::past_used + each % 2].load(memory_order_acquire), layout.past_words);
    std::vector<std::uint64_t> half(used);
    const auto begin = layout.past_half_at(each);
    for (std::size_t i = 0; i < half.size(); ++i) half[i] = words[begin + i].load(memory_order_relaxed);
    std::atomic_thread_fence(memory_order_acquire);
    if (words[head::past_turn].load(memory_order_relaxed) - each < 2) decode_half(half, slots, left, all);
  }
  return all;
}

}  // namespace gpulse::share
