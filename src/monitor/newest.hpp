// SPDX-License-Identifier: Apache-2.0
// The newest sample: one thread publishes, any number take it without ever waiting for that thread, and it never waits
// for more than the few instructions that one of them takes.
//
// A reader pins the slot that is current, looks again whether it still is, and takes what lies in it. The writer fills
// a slot that is neither current nor pinned. One of the two always sees the other: each writes before it looks.
#pragma once

#include <array>
#include <atomic>
#include <thread>

#include "monitor/sample.hpp"

namespace gpulse::monitor {

class Newest {
 public:
  SamplePtr take() const {
    for (;;) {
      const auto at = current_.load();
      const auto &slot = slots_[at];
      slot.pins.fetch_add(1);
      if (current_.load() == at) {
        SamplePtr sample = slot.sample;
        slot.pins.fetch_sub(1, std::memory_order_release);
        return sample;
      }
      slot.pins.fetch_sub(1, std::memory_order_release);
    }
  }

  void publish(SamplePtr sample) {
    const auto now = current_.load();
    for (auto at = (now + 1) % kSlots;; at = (at + 1) % kSlots) {
      if (at == now) {
        std::this_thread::yield();
        continue;
      }
      if (slots_[at].pins.load() != 0) continue;
      slots_[at].sample = std::move(sample);
      current_.store(at);
      forget_others(at);
      return;
    }
  }

 private:
  static constexpr std::size_t kSlots = 4;

  // So that the memory of older snapshots can be used again.
  void forget_others(std::size_t now) {
    for (std::size_t at = 0; at < kSlots; ++at) {
      if (at != now && slots_[at].pins.load() == 0) slots_[at].sample = SamplePtr{};
    }
  }

  struct alignas(64) Slot {
    mutable std::atomic<std::uint32_t> pins{0};
    SamplePtr sample{};
  };
  std::array<Slot, kSlots> slots_{};
  std::atomic<std::size_t> current_{0};
};

}  // namespace gpulse::monitor
