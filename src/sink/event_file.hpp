// SPDX-License-Identifier: Apache-2.0
// A TensorBoard event file in a run directory of its own. TensorBoard follows one file per directory and gives up on a
// file at its first damaged record: so nobody else's directory is ever used, and every record is written in one piece.
// One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace gpulse::sink {

// Whether it may be a run's name: a path below the log directory.
Result<void> check_run(std::string_view run);

class EventFile {
 public:
  // In `folder`/`run`, or in the first of `run`_1, `run`_2, … that is not there. Making the directory is what tells two
  // programs apart that start at once.
  static Result<EventFile> create(const std::string &folder, const std::string &run);

  Result<void> append(std::string_view event);

  const std::string &folder() const { return folder_; }
  std::uint64_t size() const { return size_; }

 private:
  EventFile(std::string folder, UniqueFd file) : folder_(std::move(folder)), file_(std::move(file)) {}

  std::string folder_;
  UniqueFd file_;
  std::string record_;
  std::uint64_t size_ = 0;
};

}  // namespace gpulse::sink
