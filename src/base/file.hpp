// SPDX-License-Identifier: Apache-2.0
// Small files of the user's own, read and replaced in whole.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace gpulse {

inline constexpr std::size_t kSmallFile = std::size_t{1} << 20U;

// The text of a file of at most kSmallFile bytes. Devices and pipes, which may never end, are refused.
Result<std::string> read_small_file(const std::string &path);

// Writes everything, else false with errno.
bool write_all(int fd, std::string_view text) noexcept;
// The same, but a reader that is gone is EPIPE and no signal, which would end the program.
bool write_without_signal(int fd, std::string_view text) noexcept;

// Puts the text in place of the file's, all of it or nothing: a full disk does not cost the old one. A link is
// followed, an existing file keeps its mode and owner, a new one gets those of any new file.
Result<void> replace_file(const std::string &path, std::string_view text);

}  // namespace gpulse
