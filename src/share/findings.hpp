// SPDX-License-Identifier: Apache-2.0
// What the agent has found, in a file beside its samples: a command shows it without judging the past by itself. The
// file is replaced as a whole after each judgement. Written by the agent's thread for findings; read by any program.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "insight/finding.hpp"
#include "share/place.hpp"

namespace gpulse::share {

struct PublishedFindings {
  WallTime judged{};  // of the last sample that was judged
  std::vector<insight::Finding> findings{};
};

std::vector<std::byte> encode_findings(const PublishedFindings &published);
// None: the bytes make no sense.
std::optional<PublishedFindings> decode_findings(std::span<const std::byte> bytes);

// The agent's side. The folder must be prepared and its lock held.
class FindingsFile {
 public:
  // Takes away that of an agent that was killed.
  explicit FindingsFile(const std::string &folder);
  FindingsFile(const FindingsFile &) = delete;
  FindingsFile &operator=(const FindingsFile &) = delete;
  ~FindingsFile();

  Result<void> write(const PublishedFindings &published) const;

 private:
  std::string path_;
};

// None: the agent has none to give, or they are not to be believed.
std::optional<PublishedFindings> read_findings(const Place &place);

}  // namespace gpulse::share
