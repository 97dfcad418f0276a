// SPDX-License-Identifier: Apache-2.0
// Any bytes as a segment, read as SegmentReader does. The first byte says how they are used: as they are; as the words
// of a sound segment, whose sums are made right; or as the bytes of its one sample and of its past.
#include <cstring>

#include "share/past.hpp"
#include "share/sample_bytes.hpp"
#include "share/testing.hpp"

namespace gpulse::share {
namespace {

void read_all(std::span<const Word> words, const Layout &layout) {
  const auto &slots = codec::todays_schema().slots;
  if (const auto copy = newest_sample(words, layout)) decode_sample(copy->view(), copy->wall_time, slots);
  newest_time(words, layout);
  for (const std::uint64_t device : {std::uint64_t{0}, std::uint64_t{1}, layout.most_devices - 1}) {
    device_reading(words, layout, device, 0);
    device_reading(words, layout, device, layout.device_numbers - 1);
  }
  host_reading(words, layout, 0);
  host_reading(words, layout, layout.host_numbers - 1);
  read_past(words, layout, slots);
}

std::vector<std::uint64_t> words_of(std::span<const std::byte> bytes) {
  std::vector<std::uint64_t> words(words_for(bytes.size()));
  if (!bytes.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

void fuzz_file(std::span<const std::byte> bytes) {
  std::vector<Word> words(bytes.size() / sizeof(Word));
  const auto given = words_of(bytes.first(words.size() * sizeof(Word)));
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = given[i];
  const auto head = read_head(words, bytes.size());
  if (head.fault == HeadFault::none) read_all(words, head.layout);
}

// Pairs of words: where, and what; the layout is summed anew.
void fuzz_changes(std::span<const std::byte> bytes) {
  static const testing::Memory sound = [] {
    testing::Memory memory({.devices = 2, .bytes = 4096, .past_bytes = 4096});
    PastWriter past(memory.words(), memory.layout());
    for (std::uint64_t number = 1; number <= 6; ++number) {
      memory.write(number, testing::marked_snapshot(3 * number), number);
      past.append(testing::marked_snapshot(3 * number), number << 30U);
    }
    return memory;
  }();
  testing::Memory memory(sound);
  const auto words = memory.words();
  const auto changes = words_of(bytes);
  for (std::size_t i = 0; i + 1 < changes.size(); i += 2) words[changes[i] % words.size()] = changes[i + 1];
  auto head = read_head(words, memory.layout().bytes);
  if (head.fault == HeadFault::damaged) {
    // The order of the head is that of the structure.
    std::array<std::uint64_t, sizeof(Layout) / sizeof(Word)> layout{};
    for (std::size_t i = 0; i < layout.size(); ++i) layout[i] = words[head::kLayoutAt + i];
    write_head(words, std::bit_cast<Layout>(layout));
    head = read_head(words, memory.layout().bytes);
  }
  if (head.fault == HeadFault::none) read_all(words, head.layout);
}

void fuzz_sample(std::span<const std::byte> bytes) {
  testing::Memory memory({.devices = 1, .bytes = bytes.size(), .past_bytes = 4096 + bytes.size()});
  const Snapshot nothing;
  write_slot(memory.words(), memory.layout(), 1, {.snapshot = nothing, .bytes = bytes, .boot_time = 1});
  // Entries of the past: a length of one byte, and as many.
  auto at = memory.layout().past_half_at(1);
  const auto begin = at;
  const auto end = at + memory.layout().past_words;
  while (!bytes.empty()) {
    const auto length = std::min(std::to_integer<std::size_t>(bytes.front()), bytes.size() - 1);
    const auto payload = words_of(bytes.subspan(1, length));
    bytes = bytes.subspan(1 + length);
    if (end - at < 4 + payload.size()) break;
    Sum sum;
    for (const std::uint64_t time : {1U, 2U}) sum.add(time);
    for (const auto word : payload) sum.add(word);
    for (const std::uint64_t word : {std::uint64_t{length}, std::uint64_t{1}, std::uint64_t{2}, sum.value()})
      memory.words()[at++] = word;
    for (const auto word : payload) memory.words()[at++] = word;
  }
  memory.words()[head::past_turn] = 1;
  memory.words()[head::past_used + 1] = at - begin;
  read_all(memory.words(), memory.layout());
}

}  // namespace
}  // namespace gpulse::share

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using namespace gpulse::share;
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  switch (data[0] % 3) {
    case 0:
      fuzz_file(bytes);
      break;
    case 1:
      fuzz_changes(bytes);
      break;
    default:
      fuzz_sample(bytes);
  }
  return 0;
}
