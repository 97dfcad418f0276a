// SPDX-License-Identifier: Apache-2.0
// A segment: a file that the agent maps for writing and everybody else for reading. All of it is 64-bit words.
//
//   head    what it is and where its parts lie, fixed and summed; then what changes while the agent runs
//   keys    the metrics by name, as in a recording (codec/schema.hpp), so that another version reads what it knows
//   slots   the newest samples. Sample n is written into slot n % slots; a slot's own sequence number is odd meanwhile.
//           A writer that is killed in the middle of one leaves the others whole.
//   past    two halves that take turns: the samples of the last minute as blocks (codec/block.hpp)
//
//   slot    sequence, number, times, sum │ devices, each [place, state, since, –] and its readings │ the readings of
//           the host │ the whole snapshot as bytes (sample_bytes.hpp), for whoever wants more than numbers
//
// The file never changes its size, and its blocks are there before anybody sees it: no reader meets a page that is not.
// What needs more room is a new file in its place.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "model/reading.hpp"

namespace gpulse::share {

using Word = std::atomic<std::uint64_t>;
static_assert(sizeof(Word) == sizeof(std::uint64_t) && Word::is_always_lock_free);

inline constexpr std::uint64_t kMagic = 0x31'4753'4c50'47'1aULL;  // "\x1aGPLSG1"
inline constexpr std::uint64_t kLayoutVersion = 1;
inline constexpr std::size_t kHeadWords = 64;
inline constexpr std::uint64_t kMostSegmentBytes = std::uint64_t{1} << 30U;

// Words of the head that are the same in every version.
namespace head {
inline constexpr std::size_t kMagicAt = 0, kVersionAt = 1, kSumAt = 2, kLayoutAt = 3;
// And those that change while the agent runs.
enum Changing : std::uint8_t {
  state = 40,
  interval,  // nanoseconds between samples now
  newest,    // number of the newest sample; 0: none yet
  bell,      // its low half is a futex that changes with each sample and with the state
  past_turn,
  past_used,  // words of the first half, then those of the second
};
}  // namespace head

enum class SegmentState : std::uint8_t { live, replaced, ended };

// Words of a slot.
namespace slot {
enum Fixed : std::uint8_t {
  sequence,
  number,
  boot_time,
  wall_time,
  sum,  // of all behind it that is used
  devices,
  identities,  // changes with the list of devices
  bytes,
  head_words,
};
}  // namespace slot

// Words of a device before its readings.
namespace device {
enum Fixed : std::uint8_t { place, state, state_for, unused, head_words };
}  // namespace device

// Where the parts lie, in words unless it says bytes; written once and summed.
struct Layout {
  std::uint64_t bytes = 0;                    // of the file
  std::uint64_t boot_high = 0, boot_low = 0;  // the kernel's id of this boot: times of another one mean nothing
  std::uint64_t slots = 0, slot_words = 0, slots_at = 0;
  std::uint64_t most_devices = 0, device_numbers = 0, host_numbers = 0;
  std::uint64_t most_bytes = 0;  // of a snapshot
  std::uint64_t keys_at = 0, keys_bytes = 0, keys_hash = 0;
  std::uint64_t past_at = 0, past_words = 0;  // of each half
  std::uint64_t pid = 0;                      // of the agent
  std::uint64_t started = 0;                  // the agent, by the boot clock
  std::uint64_t pid_namespace = 0;            // of the pids in it

  std::uint64_t slot_at(std::uint64_t sample) const { return slots_at + sample % slots * slot_words; }
  std::uint64_t device_words() const { return device::head_words + device_numbers; }
  std::uint64_t host_at(std::uint64_t devices) const { return slot::head_words + devices * device_words(); }
  std::uint64_t bytes_at(std::uint64_t devices) const { return host_at(devices) + host_numbers; }
  std::uint64_t past_half_at(std::uint64_t turn) const { return past_at + turn % 2 * past_words; }

  bool operator==(const Layout &) const = default;
};

// Room for so much.
struct Room {
  std::size_t devices = 0;
  std::size_t bytes = 0;       // of a snapshot
  std::size_t past_bytes = 0;  // of each half
};

Layout make_layout(const Room &room, std::size_t keys_bytes, std::uint64_t keys_hash);
void write_head(std::span<Word> words, const Layout &layout);

enum class HeadFault : std::uint8_t { none, foreign, other_version, damaged, truncated };
struct HeadResult {
  HeadFault fault = HeadFault::none;
  Layout layout{};
};
// Of a mapping, or of as many of its words as there are.
HeadResult read_head(std::span<const Word> words, std::uint64_t file_bytes);

constexpr std::uint64_t words_for(std::uint64_t bytes) { return (bytes + 7) / 8; }

// Mixed word by word; a torn or damaged copy has another one.
class Sum {
 public:
  void add(std::uint64_t word) { value_ = std::rotl(value_ ^ word, 23) * 0x9E37'79B9'7F4A'7C15ULL; }
  std::uint64_t value() const { return value_ ^ (value_ >> 32U); }

 private:
  std::uint64_t value_ = 0x6770'756c'7365'0001ULL;
};

// The reading that these bits are; none: they are no reading's.
inline std::optional<Reading> reading_of(std::uint64_t bits) {
  const auto reading = std::bit_cast<Reading>(bits);
  if (reading.has_value()) return Reading(std::bit_cast<double>(bits));
  const auto reason = static_cast<std::uint8_t>(bits & 0xFFU);
  if (reason > static_cast<std::uint8_t>(kLastReason)) return std::nullopt;
  return Reading(static_cast<Reason>(reason), reading.code());
}

// Nanoseconds of the clock that goes on while the machine sleeps, and starts with it.
std::uint64_t boot_clock();
using BootClock = std::uint64_t (*)();
struct BootId {
  std::uint64_t high = 0, low = 0;
};
BootId boot_id();
// The number of our pid namespace; 0: unknown.
std::uint64_t pid_namespace();

}  // namespace gpulse::share
