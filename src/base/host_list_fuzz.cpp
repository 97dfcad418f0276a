// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "base/host_list.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the fuzzer's bytes are the text
  const auto hosts = gpulse::parse_hosts({reinterpret_cast<const char *>(data), size}, "9837");
  if (!hosts) return 0;
  if (hosts->size() > gpulse::kMostHosts) std::abort();
  for (const auto &host : *hosts) {
    if (host.find_first_of("\"'\\ \n\t#{}/") != std::string::npos || !host.contains(':')) std::abort();
  }
  return 0;
}
