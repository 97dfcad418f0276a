// SPDX-License-Identifier: Apache-2.0
// Use of the processors between two readings of /proc/stat.
#pragma once

#include <string_view>

#include "model/row.hpp"
#include "source/host/parse.hpp"

namespace gpulse::host {

class CpuMeter {
 public:
  // Fills the host row's processor metrics; false when the text makes no sense.
  bool update(std::string_view text, Row &row);

 private:
  CpuText now_;
  CpuText before_;
  bool has_before_ = false;
};

}  // namespace gpulse::host
