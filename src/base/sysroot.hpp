// SPDX-License-Identifier: Apache-2.0
// Reads and writes /proc and /sys below a root folder, so that a recorded machine can stand in for this one.
// Paths are given absolute, as on the machine itself. All functions are const and may be called from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpulse {

class Sysroot {
 public:
  Sysroot() = default;
  explicit Sysroot(std::string root);

  bool is_machine() const { return root_.empty(); }
  // Whether /sys is a kernel's own, here or passed into a container; false for a recorded machine, where time stands
  // still.
  bool is_live() const;
  std::string path(std::string_view absolute) const { return root_ + std::string(absolute); }

  // The file's text, at most `limit` bytes of it; empty optional when it cannot be read (errno says why).
  std::optional<std::string> read(std::string_view absolute, std::size_t limit = 1U << 20U) const;

  // Reads into a buffer that is kept by the caller, for files read every tick.
  bool read_into(std::string &buffer, std::string_view absolute, std::size_t limit = 1U << 16U) const;

  // As read_into, for what the kernel answers in one piece (sysfs, /proc/PID/stat, fdinfo): spares the call that would
  // find the end.
  bool read_piece(std::string &buffer, std::string_view absolute, std::size_t limit = 1U << 14U) const;

  std::optional<std::uint64_t> read_number(std::string_view absolute) const;
  std::optional<std::string> read_link(std::string_view absolute) const;
  std::vector<std::string> list(std::string_view absolute) const;
  // Why the folder cannot be listed, as errno; 0: it can.
  int list_error(std::string_view absolute) const;
  bool exists(std::string_view absolute) const;

  // The text in one piece, as the kernel wants it, into a file that is there; false when it cannot be (errno says why).
  bool write(std::string_view absolute, std::string_view text) const;

 private:
  bool read_file(std::string &buffer, std::string_view absolute, std::size_t limit, std::size_t step, bool piece) const;

  std::string root_;
};

}  // namespace gpulse
