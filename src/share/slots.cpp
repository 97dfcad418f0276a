// SPDX-License-Identifier: Apache-2.0
#include "share/slots.hpp"

#include <algorithm>
#include <cstring>

namespace gpulse::share {

namespace {

using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;

// A writer goes through all slots in the time of this many tries only where it publishes without a pause.
constexpr int kTries = 64;

constexpr std::uint64_t writing(std::uint64_t number) { return 2 * number - 1; }
constexpr std::uint64_t whole(std::uint64_t number) { return 2 * number; }

std::uint64_t bits(const Reading &reading) { return std::bit_cast<std::uint64_t>(reading); }

// Stores word after word, and sums them.
class SlotWriter {
 public:
  explicit SlotWriter(std::span<Word> words) : words_(words) {}

  void put(std::uint64_t value) {
    words_[at_++].store(value, memory_order_relaxed);
    sum_.add(value);
  }
  void put(std::span<const Reading> readings) {
    for (const auto &reading : readings) put(bits(reading));
  }
  void put(std::span<const std::byte> bytes) {
    for (std::size_t i = 0; i < bytes.size(); i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, &bytes[i], std::min<std::size_t>(8, bytes.size() - i));
      put(word);
    }
  }
  std::uint64_t sum() const { return sum_.value(); }

 private:
  std::span<Word> words_;
  std::size_t at_ = slot::sum + 1;
  Sum sum_;
};

std::uint64_t place_word(const DeviceId &id) {
  const std::uint64_t instance = id.instance ? std::uint64_t{*id.instance} + 1 : 0;
  return instance << 32U | id.index;
}

// Calls read(words of the slot) between two looks at its sequence. False: it was not whole, or did not stay so.
template <class Read>
bool read_whole(std::span<const Word> words, const Layout &layout, std::uint64_t number, Read read) {
  const auto slot = words.subspan(layout.slot_at(number), layout.slot_words);
  if (slot[slot::sequence].load(memory_order_acquire) != whole(number)) return false;
  const bool good = read(slot);
  std::atomic_thread_fence(memory_order_acquire);
  return good && slot[slot::sequence].load(memory_order_relaxed) == whole(number);
}

// As read_whole, for the newest that is.
template <class Read>
bool read_newest(std::span<const Word> words, const Layout &layout, Read read) {
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const auto newest = words[head::newest].load(memory_order_acquire);
    if (newest == 0) return false;
    // The next to be written over is no use.
    for (std::uint64_t back = 0; back < layout.slots && back < newest; ++back) {
      if (read_whole(words, layout, newest - back, read)) return true;
    }
  }
  return false;
}

}  // namespace

bool fits(const Layout &layout, const SlotContent &content) {
  return content.snapshot.devices.size() <= layout.most_devices && content.bytes.size() <= layout.most_bytes;
}

void write_slot(std::span<Word> words, const Layout &layout, std::uint64_t number, const SlotContent &content) {
  const auto slot = words.subspan(layout.slot_at(number), layout.slot_words);
  slot[slot::sequence].store(writing(number), memory_order_relaxed);
  std::atomic_thread_fence(memory_order_release);
  const auto &snapshot = content.snapshot;
  slot[slot::number].store(number, memory_order_relaxed);
  slot[slot::boot_time].store(content.boot_time, memory_order_relaxed);
  slot[slot::wall_time].store(static_cast<std::uint64_t>(snapshot.time.time_since_epoch().count()),
                              memory_order_relaxed);
  SlotWriter out(slot);
  out.put(snapshot.devices.size());
  out.put(content.identities);
  out.put(content.bytes.size());
  for (const auto &device : snapshot.devices) {
    out.put(place_word(device.id));
    out.put(static_cast<std::uint64_t>(device.state));
    out.put(std::bit_cast<std::uint64_t>(device.state_for.count()));
    out.put(std::uint64_t{0});
    out.put(device.row.readings());
  }
  out.put(snapshot.host.readings());
  out.put(content.bytes);
  slot[slot::sum].store(out.sum(), memory_order_relaxed);
  slot[slot::sequence].store(whole(number), memory_order_release);
  words[head::newest].store(number, memory_order_release);
}

std::optional<SlotCopy> newest_sample(std::span<const Word> words, const Layout &layout) {
  SlotCopy copy;
  std::uint64_t sum = 0;
  std::uint64_t summed = 0;
  const auto read = [&](std::span<const Word> slot) {
    const auto get = [&](std::size_t at) { return slot[at].load(memory_order_relaxed); };
    const auto devices = get(slot::devices);
    copy.number = get(slot::number);
    copy.boot_time = get(slot::boot_time);
    copy.wall_time = WallTime(std::chrono::nanoseconds(static_cast<std::int64_t>(get(slot::wall_time))));
    copy.identities = get(slot::identities);
    copy.bytes = get(slot::bytes);
    sum = get(slot::sum);
    if (devices > layout.most_devices || copy.bytes > layout.most_bytes) return false;
    Sum own;
    const auto begin = layout.bytes_at(devices);
    for (std::size_t i = slot::sum + 1; i < begin; ++i) own.add(get(i));
    copy.words.resize(words_for(copy.bytes));
    for (std::size_t i = 0; i < copy.words.size(); ++i) own.add(copy.words[i] = get(begin + i));
    summed = own.value();
    return true;
  };
  if (!read_newest(words, layout, read) || sum != summed) return std::nullopt;
  return copy;
}

std::optional<std::uint64_t> newest_time(std::span<const Word> words, const Layout &layout) {
  std::uint64_t time = 0;
  const auto read = [&](std::span<const Word> slot) {
    time = slot[slot::boot_time].load(memory_order_relaxed);
    return true;
  };
  return read_newest(words, layout, read) ? std::optional(time) : std::nullopt;
}

std::optional<Reading> device_reading(std::span<const Word> words, const Layout &layout, std::size_t device,
                                      std::size_t reading) {
  if (device >= layout.most_devices || reading >= layout.device_numbers) return std::nullopt;
  std::uint64_t devices = 0;
  std::uint64_t value = 0;
  const auto read = [&](std::span<const Word> slot) {
    devices = slot[slot::devices].load(memory_order_relaxed);
    value = slot[slot::head_words + device * layout.device_words() + device::head_words + reading].load(
        memory_order_relaxed);
    return true;
  };
  if (!read_newest(words, layout, read) || device >= devices) return std::nullopt;
  return reading_of(value);
}

std::optional<Reading> host_reading(std::span<const Word> words, const Layout &layout, std::size_t reading) {
  if (reading >= layout.host_numbers) return std::nullopt;
  std::uint64_t value = 0;
  const auto read = [&](std::span<const Word> slot) {
    const auto devices = slot[slot::devices].load(memory_order_relaxed);
    if (devices > layout.most_devices) return false;
    value = slot[layout.host_at(devices) + reading].load(memory_order_relaxed);
    return true;
  };
  return read_newest(words, layout, read) ? reading_of(value) : std::nullopt;
}

}  // namespace gpulse::share
