// SPDX-License-Identifier: Apache-2.0
// Files of the user's own: small ones that are read and replaced in whole, and those that are added to piece by piece.
#pragma once

#include <signal.h>

#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace gpulse {

inline constexpr std::size_t kSmallFile = std::size_t{1} << 20U;

// The text of a file of at most kSmallFile bytes. Devices and pipes, which may never end, are refused.
Result<std::string> read_small_file(const std::string &path);

// As long as it lives, a reader that is gone is EPIPE to this thread and no signal, which would end the program.
class NoPipeSignal {
 public:
  NoPipeSignal() noexcept;
  NoPipeSignal(const NoPipeSignal &) = delete;
  NoPipeSignal &operator=(const NoPipeSignal &) = delete;
  ~NoPipeSignal();  // keeps errno

 private:
  sigset_t before_{};
};

// Writes everything, else false with errno.
bool write_all(int fd, std::string_view text) noexcept;
// The same under NoPipeSignal.
bool write_without_signal(int fd, std::string_view text) noexcept;

// To add to, made where it is not there. A FIFO is waited for until somebody reads it, unless asked to stop. Invalid
// with errno.
UniqueFd open_to_append(const std::string &path, const std::stop_token &stop = {});
// Adds all of the bytes to the end, or none where a part can be cut off again, as when the disk is full; else false
// with errno.
bool append_whole(int fd, std::string_view bytes) noexcept;

// Puts the text in place of the file's, all of it or nothing: a full disk does not cost the old one. A link is
// followed, an existing file keeps its mode and owner, a new one gets those of any new file.
Result<void> replace_file(const std::string &path, std::string_view text);

}  // namespace gpulse
