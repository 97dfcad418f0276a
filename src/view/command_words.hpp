// SPDX-License-Identifier: Apache-2.0
// A command line as people say it: what tells two jobs apart comes first, and no path of an interpreter. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpulse::view {

// "/opt/venv/bin/python3 -u /home/ann/train.py --lr 1e-4" is "python3 train.py --lr 1e-4".
std::string brief_command(const std::vector<std::string_view> &arguments);

}  // namespace gpulse::view
