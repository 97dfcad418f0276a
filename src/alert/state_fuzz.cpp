// SPDX-License-Identifier: Apache-2.0
// Any bytes as what outlasts the agent: also such with a right checksum. Whatever is taken comes back the same.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "alert/state.hpp"
#include "codec/crc32c.hpp"

namespace {

void try_bytes(std::span<const std::byte> bytes) {
  using namespace gpulse::alert;
  const auto state = decode_state(bytes);
  if (!state) return;
  const auto once = encode_state(state->memory, state->outbox, state->silences);
  const auto again = decode_state(once);
  if (!again || !std::ranges::equal(once, encode_state(again->memory, again->outbox, again->silences))) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try_bytes(bytes);
  std::vector<std::byte> summed(bytes.begin(), bytes.end());
  const auto sum = gpulse::codec::crc32c(bytes);
  for (unsigned i = 0; i < 4; ++i) summed.push_back(static_cast<std::byte>(sum >> (8 * i)));
  try_bytes(summed);
  return 0;
}
