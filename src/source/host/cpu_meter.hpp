// SPDX-License-Identifier: Apache-2.0
// Use of the processors between two readings of /proc/stat.
#pragma once

#include <string_view>
#include <vector>

#include "model/snapshot.hpp"
#include "source/host/parse.hpp"

namespace gpulse::host {

class CpuMeter {
 public:
  // Fills the host row's processor metrics and the list of cores; false when the text cannot be parsed.
  bool update(std::string_view text, Row &row, std::vector<CpuCore> &cores);

 private:
  void list(std::vector<CpuCore> &cores) const;
  void compare(std::vector<CpuCore> &cores) const;

  CpuText now_;
  CpuText before_;
  bool has_before_ = false;
};

}  // namespace gpulse::host
