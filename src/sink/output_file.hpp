// SPDX-License-Identifier: Apache-2.0
// A file of lines that a sink adds to: made, gone on with or overwritten as was asked for; nobody else's work is lost.
// One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "sink/sink.hpp"

namespace gpulse::sink {

class OutputFile {
 public:
  struct Target {
    std::string path;  // "-": the standard output
    Existing existing = Existing::refuse;
    // One of these is what a file begins with that may be gone on with.
    std::span<const std::string> heads = {};
  };

  // Whether open() would take it, without touching it.
  static Result<void> check(const Target &target);
  static Result<OutputFile> open(const Target &target, const std::stop_token &stop);

  // Which of the heads the file begins with; none: it is empty, or a pipe.
  std::optional<std::size_t> head() const { return head_; }
  // All of the lines or none, where a part can be cut off again.
  Result<void> write(std::string_view lines);

  // The file, which has this path, gets another name, and an empty one takes its place. After an error it is as it was.
  Result<void> move_to(const std::string &path, const std::string &old_name);

  const std::string &name() const { return name_; }
  // Bytes written.
  std::uint64_t size() const { return size_; }
  // Bytes in the file, with those that it was begun with, and when it was last written to before.
  std::uint64_t length() const { return length_; }
  WallTime last_write() const { return last_write_; }
  bool is_regular() const { return regular_; }

 private:
  OutputFile(std::string name, UniqueFd file) : name_(std::move(name)), file_(std::move(file)) {}
  Result<void> prepare(const Target &target);

  std::string name_;
  UniqueFd file_;
  std::optional<std::size_t> head_;
  std::uint64_t size_ = 0, length_ = 0;
  WallTime last_write_{};
  bool regular_ = false;
};

}  // namespace gpulse::sink
