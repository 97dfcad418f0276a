// SPDX-License-Identifier: Apache-2.0
// What outlasts the agent, also one that is killed: the alerts, what was counted, the messages that still have to
// arrive, the silences of the command line. One small file, replaced as a whole and brought to the disk.
//
//   "gpulse alerts 1", the fields, CRC-32C of all before it (u32)
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "alert/evaluator.hpp"
#include "alert/outbox.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace gpulse::alert {

struct State {
  Memory memory{};
  Outbox outbox{};
  std::vector<Silence> silences{};
};

std::vector<std::byte> encode_state(const Memory &memory, const Outbox &outbox, const std::vector<Silence> &silences);
// None: the bytes make no sense.
std::optional<State> decode_state(std::span<const std::byte> bytes);

class StateFile {
 public:
  // Held as long as it lives: two agents must not tell of the same twice. An error where another one has it. What is
  // damaged is put aside under the name that `problem` says.
  static Result<StateFile> open(const std::string &path);

  State take() { return std::move(state_); }
  // Why it begins anew; empty: it does not.
  const std::string &problem() const { return problem_; }
  Result<void> write(std::span<const std::byte> bytes) const;
  const std::string &path() const { return path_; }

 private:
  StateFile(std::string path, UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  void read();

  std::string path_;
  UniqueFd lock_;
  State state_;
  std::string problem_;
};

}  // namespace gpulse::alert
