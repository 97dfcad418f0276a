// SPDX-License-Identifier: Apache-2.0
// Which framework a process runs on, told by the libraries that it has loaded. All functions may be called from any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/clock.hpp"
#include "base/sysroot.hpp"
#include "model/snapshot.hpp"

namespace gpulse::host {

// The framework in the text of /proc/PID/maps, in our words; empty: none that we know.
std::string_view find_framework(std::string_view maps);

// What is known of each process. Libraries come one by one while a program starts: it is looked at some times then,
// ever more seldom, and not at all any more once that is over.
class Frameworks {
 public:
  explicit Frameworks(Sysroot root) : root_(std::move(root)) {}

  // Puts the framework into the texts of a process. A look takes milliseconds, and longer while the process changes its
  // mappings; nobody else waits for it.
  void add_to(Process &process, Monotonic now);
  void forget_unseen(Monotonic since);

 private:
  struct Known {
    std::uint64_t start_ticks = 0;
    Monotonic seen{};
    TextReading framework{};
    std::size_t looks = 0;
    std::optional<Monotonic> next = Monotonic::min();  // none: no more looks
    std::shared_ptr<const TextRow> without{}, with{};  // the texts of the process as they came last
  };
  Known &find(const Process &process, Monotonic now);
  TextReading read(std::uint32_t pid) const;

  Sysroot root_;
  std::mutex mutex_;  // guards what is below; not held during a look
  std::unordered_map<std::uint32_t, Known> known_;
};

}  // namespace gpulse::host
