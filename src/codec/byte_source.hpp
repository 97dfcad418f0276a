// SPDX-License-Identifier: Apache-2.0
// Bytes of a recording, wherever they are: in memory, or in a file that is read in pieces. Not mapped: a mapped file
// that someone cuts short ends the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace gpulse::codec {

class ByteSource {
 public:
  // The bytes must stay where they are for as long as the source lives.
  explicit ByteSource(std::span<const std::byte> memory) : memory_(memory), size_(memory.size()) {}
  explicit ByteSource(std::vector<std::byte> owned) : owned_(std::move(owned)), memory_(owned_), size_(owned_.size()) {}
  // "-" is the standard input. The file's length is what it is now: what is written later is not seen. What comes
  // through a pipe is read to its end, however long its writer takes, unless asked to stop; but only up to a limit.
  static Result<ByteSource> open(const std::string &path, const std::stop_token &stop = {});
  ByteSource(UniqueFd file, std::uint64_t size) : file_(std::move(file)), size_(size) {}

  std::uint64_t size() const { return size_; }
  // At most `size` bytes from `offset` on, fewer at the end or where the file cannot be read. Good until the next call.
  std::span<const std::byte> view(std::uint64_t offset, std::size_t size);
  // Where the next bytes are from `offset` on that take room on the disk: what is before reads as zeros.
  std::uint64_t next_data(std::uint64_t offset) const;

 private:
  UniqueFd file_;
  std::vector<std::byte> owned_;  // moving a vector leaves its bytes where they are
  std::span<const std::byte> memory_;
  std::uint64_t size_ = 0;
  // The piece of the file read last.
  std::vector<std::byte> window_;
  std::uint64_t window_at_ = 0;
};

}  // namespace gpulse::codec
