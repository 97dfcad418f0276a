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

  const std::string &name() const { return name_; }
  std::uint64_t size() const { return size_; }

 private:
  OutputFile(std::string name, UniqueFd file) : name_(std::move(name)), file_(std::move(file)) {}
  Result<void> prepare(const Target &target);

  std::string name_;
  UniqueFd file_;
  std::optional<std::size_t> head_;
  std::uint64_t size_ = 0;
};

}  // namespace gpulse::sink
