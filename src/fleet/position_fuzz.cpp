// SPDX-License-Identifier: Apache-2.0
// Whatever stands in the file: what is taken for a position is written again as it was.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fleet/position.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using namespace gpulse::fleet;
  const auto position = parse_position({reinterpret_cast<const char *>(data), size});
  if (position && parse_position(position_text(*position)) != position) std::abort();
  return 0;
}
