// SPDX-License-Identifier: Apache-2.0
// Any bytes are read as a log or refused with a one-line error.
#include "smi/read_log.hpp"
#include "smi/testing_invariants.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  (void)gpulse::smi::is_log(text);
  gpulse::smi::must_be_sound(gpulse::smi::read_log(text, "fuzz"));
  return 0;
}
