// SPDX-License-Identifier: Apache-2.0
// Any bytes as a clock table.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "source/amdgpu/pp_dpm.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the fuzzer's bytes are the text
  const auto levels = gpulse::amdgpu::parse_levels({reinterpret_cast<const char *>(data), size});
  if (levels.now_mhz && (!levels.max_mhz || *levels.now_mhz > *levels.max_mhz || *levels.now_mhz < 0)) std::abort();
  return 0;
}
