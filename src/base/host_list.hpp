// SPDX-License-Identifier: Apache-2.0
// Names of many machines as people write them: a file with one per line, Slurm's ranges (node[001-128,130]), ports.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace gpulse {

inline constexpr std::size_t kMostHosts = 65'536;

// "HOST:PORT" for each machine that the text names, in its order, each once. Names stand on lines of their own or with
// blanks or commas between them; a # begins a comment. A name may have a port ("gpu7:9900", else `port`), ranges in
// brackets ("rack[1-2]node[01-16]") and may be an address, of IPv6 in brackets where a port follows.
Result<std::vector<std::string>> parse_hosts(std::string_view text, std::string_view port);

}  // namespace gpulse
