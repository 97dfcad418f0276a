// SPDX-License-Identifier: Apache-2.0
// Any text is read as CSV or refused with a one-line error.
#include "smi/snapshot_parts.hpp"
#include "smi/testing_invariants.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  gpulse::smi::must_be_sound(gpulse::smi::read_csv(text, "fuzz"));
  return 0;
}
