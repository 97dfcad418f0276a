// SPDX-License-Identifier: Apache-2.0
// A file that always holds one whole text, the newest: written beside it under another name, then moved to its place.
// Everybody may read it. One thread; a second writer, also of another program of ours, is refused.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "sink/sink.hpp"

namespace gpulse::sink {

class ReplacedFile {
 public:
  struct Target {
    std::string path;
    Existing existing = Existing::refuse;  // what does not begin with `head` is somebody else's
    std::string_view head;
  };

  // Whether open() would take it, without touching it.
  static Result<void> check(const Target &target);
  static Result<ReplacedFile> open(const Target &target);

  Result<void> write(std::string_view text);
  // Takes it away, unless somebody else has put another one there.
  void remove();

  const std::string &path() const { return path_; }

 private:
  explicit ReplacedFile(const std::string &path);
  Result<UniqueFd> begin() const;

  std::string path_, temporary_;
  // The file that is there now, locked: the lock goes with it when the next one takes its place.
  UniqueFd current_;
};

}  // namespace gpulse::sink
