// SPDX-License-Identifier: Apache-2.0
// Any bytes as [alerts] of a configuration. What is taken can be judged and printed.
#include <cstdint>
#include <cstdlib>

#include "alert/config.hpp"
#include "alert/evaluator.hpp"
#include "alert/testing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using namespace gpulse::alert;
  const auto config = parse_config({reinterpret_cast<const char *>(data), size});
  if (!config) return config.error().line().empty() ? std::abort(), 0 : 0;
  Evaluator evaluator({.rules = config->rules, .silences = config->silences, .keep = config->keep});
  for (int second = 0; second < 3; ++second) {
    evaluator.look(at_temperature(kBegin + std::chrono::hours(second), {second % 2 == 0 ? 200.0 : -10.0}));
  }
  return 0;
}
