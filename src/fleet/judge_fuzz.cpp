// SPDX-License-Identifier: Apache-2.0
// Whatever an engine answers to a write: what is told of it is short, and nobody waits for ever.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "fleet/answer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using namespace gpulse;
  if (size < 3) return 0;
  const std::string text(reinterpret_cast<const char *>(data) + 3, size - 3);
  const auto middle = std::min<std::size_t>(data[2], text.size());
  const auto answer =
      fleet::judge({.status = data[0] * 4 + data[1] % 4,
                    .headers = {{"date", text.substr(0, middle)}, {"retry-after", text.substr(0, middle / 2)}},
                    .body = text.substr(middle)},
                   std::chrono::sys_seconds(std::chrono::seconds(1'795'000'000)));
  if (answer.words.size() > 300 || answer.wait < std::chrono::seconds(0) || answer.wait > std::chrono::hours(1)) {
    std::abort();
  }
  return 0;
}
