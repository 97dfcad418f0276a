// SPDX-License-Identifier: Apache-2.0
// Any bytes as a gpu_metrics table. Half of them get a valid header, so that all layouts are reached.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "metric/state_names.hpp"
#include "source/amdgpu/gpu_metrics.hpp"

namespace {

void check(std::string_view bytes) {
  using namespace gpulse::amdgpu;
  const auto metrics = parse_gpu_metrics(bytes);
  if (!metrics) return;
  for (std::size_t i = 0; i < kFields; ++i) {
    const auto value = (*metrics)[static_cast<Field>(i)];
    if (value && (!std::isfinite(*value) || *value < 0)) std::abort();
  }
  for (const auto &busy : metrics->partition_busy) {
    if (busy && (!std::isfinite(*busy) || *busy < 0)) std::abort();
  }
  if (decode_throttle(metrics->throttle) >= 1ULL << gpulse::state_names::kThrottle.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the fuzzer's bytes are the table
  std::string bytes(reinterpret_cast<const char *>(data), size);
  check(bytes);
  if (size < 4 || size > 0xFFFF) return 0;
  constexpr std::array<std::array<char, 2>, 17> kRevisions{{{1, 0},
                                                            {1, 1},
                                                            {1, 2},
                                                            {1, 3},
                                                            {1, 4},
                                                            {1, 5},
                                                            {1, 6},
                                                            {1, 7},
                                                            {1, 8},
                                                            {1, 9},
                                                            {2, 0},
                                                            {2, 1},
                                                            {2, 2},
                                                            {2, 3},
                                                            {2, 4},
                                                            {3, 0},
                                                            {3, 1}}};
  const auto &revision = kRevisions[data[2] % kRevisions.size()];
  bytes[0] = static_cast<char>(size & 0xFFU);
  bytes[1] = static_cast<char>(size >> 8U);
  bytes[2] = revision[0];
  bytes[3] = revision[1];
  check(bytes);
  return 0;
}
