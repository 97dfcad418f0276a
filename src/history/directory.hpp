// SPDX-License-Identifier: Apache-2.0
// Who is in a history: a number for every device and every process on one, given when it is seen first. Writes within
// the transaction of its caller. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "history/database.hpp"
#include "history/rollup.hpp"
#include "model/snapshot.hpp"

namespace gpulse::history {

class Directory {
 public:
  // `since`: processes seen after it may still be there.
  static Result<Directory> open(Database &database, double since);

  Result<std::int64_t> device(const Device &device, double time);
  // `is_replayed`: of a sample from the file, which does not have when it was started.
  Result<std::int64_t> process(const Process &process, std::int64_t device, double time, bool is_replayed);
  std::optional<std::int64_t> find_device(const std::string &uuid) const;
  // That it was there until then.
  Result<void> saw_device(std::int64_t id, double time);
  // And what it did in the stretch of time that ends.
  Result<void> saw_process(std::int64_t id, double time, double seconds, std::span<const Folded> folded);
  // Processes not seen since the time are another when their number comes back.
  void forget_before(double time);

 private:
  struct KnownDevice {
    std::int64_t id = 0;
    DeviceId number;
    std::shared_ptr<const DeviceIdentity> identity;
  };
  struct KnownProcess {
    std::int64_t id = 0;
    double seen = 0;
    std::shared_ptr<const TextRow> texts;
  };
  using ProcessKey = std::tuple<std::int64_t, std::uint32_t, std::uint64_t>;  // device, pid, start

  ProcessKey key_of(const Process &process, std::int64_t device, bool is_replayed) const;
  explicit Directory(Statement add_device, Statement update_device, Statement saw_device, Statement add_process,
                     Statement update_process, Statement saw_process);
  static void bind(Statement &statement, int from, const TextRow &texts);

  std::map<std::string, KnownDevice, std::less<>> devices_;
  std::map<ProcessKey, KnownProcess> processes_;
  Statement add_device_, update_device_, saw_device_, add_process_, update_process_, saw_process_;
};

}  // namespace gpulse::history
