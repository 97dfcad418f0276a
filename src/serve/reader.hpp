// SPDX-License-Identifier: Apache-2.0
// One who may read over HTTP.
#pragma once

#include <string>

namespace gpulse::serve {

struct Reader {
  bool sees_commands = false;  // command lines can hold secrets
  std::string name{};          // empty: nobody in particular
};

}  // namespace gpulse::serve
