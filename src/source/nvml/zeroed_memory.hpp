// SPDX-License-Identifier: Apache-2.0
// Which part of the driver library's variables may be cleared by giving its pages back to the kernel. Api publishes it,
// on whichever thread loads the library; memset() of interpose.cpp reads it, on any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace gpulse::nvml {

struct AddressRange {
  std::uintptr_t begin = 0, end = 0;

  constexpr bool empty() const { return begin >= end; }
  constexpr bool contains(AddressRange other) const { return begin <= other.begin && other.end <= end; }
  constexpr std::uintptr_t size() const { return empty() ? 0 : end - begin; }
  bool operator==(const AddressRange &) const = default;
};

// The whole pages inside the range; empty when there is none, or when the page size is not known (0). madvise() rounds
// a length up to whole pages, so a page size smaller than the kernel's would clear variables after the range.
constexpr AddressRange whole_pages(AddressRange range, std::uintptr_t page_size) {
  if (page_size == 0 || range.empty()) return {};
  const auto end = range.end / page_size * page_size;
  if (range.begin >= end) return {};  // also keeps the next line from wrapping around
  const auto begin = (range.begin + page_size - 1) / page_size * page_size;
  return begin < end ? AddressRange{begin, end} : AddressRange{};
}

// One range that any thread may read while another one replaces it. Both ends fit into one atomic word, so that a
// reader never sees the begin of one range with the end of another.
class PublishedRange {
 public:
  // Rounded inwards to whole units, cut off after 4 GiB, and empty where addresses have more than 56 bits.
  void store(AddressRange range) {
    const auto units = whole_pages(range, kUnit);
    const std::uint64_t first = units.begin / kUnit;
    const std::uint64_t count = std::min<std::uint64_t>(units.size() / kUnit, kMaxUnits);
    packed_.store(first < kFirstLimit ? first << kCountBits | count : 0, std::memory_order_release);
  }
  void clear() { packed_.store(0, std::memory_order_release); }

  AddressRange load() const {
    const auto packed = packed_.load(std::memory_order_acquire);
    const auto begin = static_cast<std::uintptr_t>((packed >> kCountBits) * kUnit);
    return {begin, begin + static_cast<std::uintptr_t>((packed & kMaxUnits) * kUnit)};
  }

 private:
  static constexpr unsigned kCountBits = 20;
  static constexpr std::uint64_t kMaxUnits = (std::uint64_t{1} << kCountBits) - 1;
  static constexpr std::uint64_t kFirstLimit = std::uint64_t{1} << (64 - kCountBits);
  static constexpr std::uintptr_t kUnit = 4096;  // no kernel has smaller pages

  std::atomic<std::uint64_t> packed_{0};
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
};

// Empty while no library is loaded.
extern constinit PublishedRange zeroed_memory;

}  // namespace gpulse::nvml
