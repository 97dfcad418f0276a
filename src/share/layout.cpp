// SPDX-License-Identifier: Apache-2.0
#include "share/layout.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <string>

#include "base/sysroot.hpp"
#include "metric/table.hpp"

namespace gpulse::share {

namespace {

constexpr std::size_t kSlots = 4;
// A page: what changes at different times lies apart.
constexpr std::size_t kPageWords = 512;

// In the order of the head.
constexpr std::array kLayoutWords{
    &Layout::bytes,    &Layout::boot_high,    &Layout::boot_low,       &Layout::slots,        &Layout::slot_words,
    &Layout::slots_at, &Layout::most_devices, &Layout::device_numbers, &Layout::host_numbers, &Layout::most_bytes,
    &Layout::keys_at,  &Layout::keys_bytes,   &Layout::keys_hash,      &Layout::past_at,      &Layout::past_words,
    &Layout::pid,      &Layout::started,      &Layout::pid_namespace};
static_assert(sizeof(Layout) == kLayoutWords.size() * sizeof(std::uint64_t));
static_assert(head::kLayoutAt + kLayoutWords.size() <= head::state);

std::uint64_t whole_pages(std::uint64_t words) { return (words + kPageWords - 1) / kPageWords * kPageWords; }

std::uint64_t sum_of(const Layout &layout) {
  Sum sum;
  for (const auto word : kLayoutWords) sum.add(layout.*word);
  return sum.value();
}

// Whether [at, at + size) lies within the file, behind the head.
bool fits(std::uint64_t at, std::uint64_t size, std::uint64_t words) {
  return at >= kHeadWords && at <= words && size <= words - at;
}

bool is_sound(const Layout &layout) {
  constexpr std::uint64_t kMost = kMostSegmentBytes;
  const auto words = layout.bytes / 8;
  // Each of them bounded first, so that no product of two overflows.
  for (const std::uint64_t number : {layout.slots, layout.slot_words, layout.most_devices, layout.device_numbers,
                                     layout.host_numbers, layout.most_bytes, layout.keys_bytes, layout.past_words}) {
    if (number > kMost) return false;
  }
  if (layout.slots < 2 || layout.slots > 64 || layout.device_numbers > 0xFFFF || layout.most_devices > 0xFFFF)
    return false;
  if (layout.bytes_at(layout.most_devices) + words_for(layout.most_bytes) > layout.slot_words) return false;
  return fits(layout.keys_at, words_for(layout.keys_bytes), words) &&
         fits(layout.slots_at, layout.slots * layout.slot_words, words) &&
         fits(layout.past_at, 2 * layout.past_words, words);
}

}  // namespace

Layout make_layout(const Room &room, std::size_t keys_bytes, std::uint64_t keys_hash) {
  Layout layout;
  const auto boot = boot_id();
  layout.boot_high = boot.high;
  layout.boot_low = boot.low;
  layout.most_devices = room.devices;
  layout.device_numbers = number_count(Scope::device);
  layout.host_numbers = number_count(Scope::host);
  layout.most_bytes = words_for(room.bytes) * 8;
  layout.keys_at = kHeadWords;
  layout.keys_bytes = keys_bytes;
  layout.keys_hash = keys_hash;
  layout.slots = kSlots;
  layout.slots_at = whole_pages(kHeadWords + words_for(keys_bytes));
  layout.slot_words = whole_pages(layout.bytes_at(room.devices) + words_for(room.bytes));
  layout.past_at = layout.slots_at + layout.slots * layout.slot_words;
  layout.past_words = whole_pages(words_for(room.past_bytes));
  layout.bytes = 8 * (layout.past_at + 2 * layout.past_words);
  layout.pid = static_cast<std::uint64_t>(::getpid());
  layout.started = boot_clock();
  layout.pid_namespace = pid_namespace();
  return layout;
}

void write_head(std::span<Word> words, const Layout &layout) {
  const auto put = [&](std::size_t at, std::uint64_t value) { words[at].store(value, std::memory_order_relaxed); };
  put(head::kVersionAt, kLayoutVersion);
  put(head::kSumAt, sum_of(layout));
  for (std::size_t i = 0; i < kLayoutWords.size(); ++i) put(head::kLayoutAt + i, layout.*kLayoutWords[i]);
  put(head::kMagicAt, kMagic);
}

HeadResult read_head(std::span<const Word> words, std::uint64_t file_bytes) {
  const auto refuse = [](HeadFault fault) { return HeadResult{.fault = fault}; };
  const auto get = [&](std::size_t at) { return words[at].load(std::memory_order_relaxed); };
  if (words.size() < kHeadWords) return refuse(HeadFault::truncated);
  if (get(head::kMagicAt) != kMagic) return refuse(HeadFault::foreign);
  if (get(head::kVersionAt) != kLayoutVersion) return refuse(HeadFault::other_version);
  HeadResult result;
  auto &layout = result.layout;
  for (std::size_t i = 0; i < kLayoutWords.size(); ++i) layout.*kLayoutWords[i] = get(head::kLayoutAt + i);
  if (get(head::kSumAt) != sum_of(layout)) return refuse(HeadFault::damaged);
  if (layout.bytes > file_bytes) return refuse(HeadFault::truncated);
  if (layout.bytes > kMostSegmentBytes || !is_sound(layout)) return refuse(HeadFault::damaged);
  return result;
}

std::uint64_t boot_clock() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

BootId boot_id() {
  // 8-4-4-4-12 digits.
  const auto text = Sysroot().read("/proc/sys/kernel/random/boot_id").value_or("");
  BootId id;
  std::size_t digits = 0;
  for (const char c : text) {
    const auto digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) continue;
    auto &half = digits++ < 16 ? id.high : id.low;
    half = half << 4U | static_cast<std::uint64_t>(digit);
  }
  return id;
}

std::uint64_t pid_namespace() {
  struct stat status{};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

}  // namespace gpulse::share
