// SPDX-License-Identifier: Apache-2.0
#include "base/sysroot.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "base/text.hpp"
#include "base/unique_fd.hpp"

namespace gpulse {

Sysroot::Sysroot(std::string root) : root_(std::move(root)) {
  while (root_.ends_with('/')) root_.pop_back();
}

bool Sysroot::read_into(std::string &buffer, std::string_view absolute, std::size_t limit) const {
  constexpr std::size_t kStep = 4096;
  return read_file(buffer, absolute, limit, kStep, false);
}

bool Sysroot::read_piece(std::string &buffer, std::string_view absolute, std::size_t limit) const {
  return read_file(buffer, absolute, limit, limit, true);
}

bool Sysroot::read_file(std::string &buffer, std::string_view absolute, std::size_t limit, std::size_t step,
                        bool piece) const {
  buffer.clear();
  const UniqueFd file(::open(path(absolute).c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!file) return false;
  ssize_t got = 1;
  while (got != 0 && buffer.size() < limit) {
    const auto filled = buffer.size();
    const auto room = std::min(limit - filled, step);
    // Unlike resize(), writes nothing into what is overwritten at once.
    buffer.resize_and_overwrite(filled + room, [&](char *text, std::size_t) {
      do got = ::read(file.get(), text + filled, room);
      while (got < 0 && errno == EINTR);
      return filled + static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    });
    if (got < 0) {
      buffer.clear();
      return false;
    }
    if (piece && static_cast<std::size_t>(got) < room) break;
  }
  return true;
}

std::optional<std::string> Sysroot::read(std::string_view absolute, std::size_t limit) const {
  std::string buffer;
  if (!read_into(buffer, absolute, limit)) return std::nullopt;
  return buffer;
}

std::optional<std::uint64_t> Sysroot::read_number(std::string_view absolute) const {
  const auto text = read(absolute, 64);
  return text ? parse_integer<std::uint64_t>(trim(*text)) : std::nullopt;
}

std::optional<std::string> Sysroot::read_link(std::string_view absolute) const {
  std::array<char, 4096> target{};
  const auto length = ::readlink(path(absolute).c_str(), target.data(), target.size());
  if (length < 0) return std::nullopt;
  return std::string(target.data(), static_cast<std::size_t>(length));
}

std::vector<std::string> Sysroot::list(std::string_view absolute) const {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR *)> folder(::opendir(path(absolute).c_str()), &::closedir);
  if (!folder) return names;
  while (const dirent *entry = ::readdir(folder.get())) {
    const std::string_view name = &entry->d_name[0];
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

int Sysroot::list_error(std::string_view absolute) const {
  const std::unique_ptr<DIR, int (*)(DIR *)> folder(::opendir(path(absolute).c_str()), &::closedir);
  return folder ? 0 : errno;
}

bool Sysroot::is_live() const {
  constexpr auto kSysfs = 0x62656572;
  struct statfs facts{};
  return is_machine() || (::statfs(path("/sys").c_str(), &facts) == 0 && facts.f_type == kSysfs);
}

bool Sysroot::write(std::string_view absolute, std::string_view text) const {
  const UniqueFd file(::open(path(absolute).c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY));
  if (!file) return false;
  ssize_t put = -1;
  do put = ::write(file.get(), text.data(), text.size());
  while (put < 0 && errno == EINTR);
  return put == static_cast<ssize_t>(text.size());
}

bool Sysroot::exists(std::string_view absolute) const { return ::access(path(absolute).c_str(), F_OK) == 0; }

}  // namespace gpulse
