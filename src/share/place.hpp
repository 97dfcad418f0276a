// SPDX-License-Identifier: Apache-2.0
// Where an agent publishes, and where others look for one: the system's first, then the user's own.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace gpulse::share {

inline constexpr const char *kSystemFolder = "/run/gpulse";
inline constexpr const char *kSegmentFile = "segment";
inline constexpr const char *kSocketFile = "socket";
inline constexpr const char *kLockFile = "lock";

// Whose files are believed.
enum class Trust : std::uint8_t {
  system,  // nobody but the administrator can put a folder there
  own,     // our own alone
  named,   // the user has named the folder
};

struct Place {
  std::string folder;
  Trust trust = Trust::own;
};

// What the environment says: GPULSE_AGENT names a folder, or none with "off".
bool is_off();
std::vector<Place> places_to_look();
// For an agent of this user.
Place place_to_serve();

// Makes the folder if need be. An error when it is not ours, or others may write to it.
Result<void> prepare_folder(const Place &place);
// Why nothing in the folder is to be believed.
Result<void> check_folder(const Place &place);
// Why the open file of a folder is not to be believed.
Result<void> check_file(const Place &place, int fd, const std::string &path);

// Holds the place as long as it lives. An error names the one who has it.
class PlaceLock {
 public:
  static Result<PlaceLock> take(const Place &place);

 private:
  explicit PlaceLock(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

}  // namespace gpulse::share
