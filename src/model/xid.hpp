// SPDX-License-Identifier: Apache-2.0
// What the numbers mean that NVIDIA's driver gives its errors (XID), and what to do about each. Own words; numbers from
// the driver's public headers and NVIDIA's catalogue, up to driver 595.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpulse {

struct Xid {
  std::int64_t first;
  std::int64_t last;  // the entry covers first to last
  std::string_view meaning;
  std::string_view remedy;
  bool application = false;  // the program's own fault, the device is fine
};

// Null for a number without an entry.
const Xid *find_xid(std::int64_t number);

}  // namespace gpulse
