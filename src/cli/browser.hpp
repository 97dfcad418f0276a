// SPDX-License-Identifier: Apache-2.0
// The browser of whoever has started gpulse.
#pragma once

#include <string>

namespace gpulse::cli {

// False where there is none, or no screen to show it on.
bool open_browser(const std::string &address);

// Where a browser of this machine finds what listens on this: "0.0.0.0:9837" is "localhost:9837" to it.
std::string browsable(const std::string &listening);

}  // namespace gpulse::cli
