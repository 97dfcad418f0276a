// SPDX-License-Identifier: Apache-2.0
// Any text is nvidia-smi's CSV or an error in one line.
#include "record/smi_fuzz.hpp"
#include "record/smi_parts.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  gpulse::record::smi::must_be_sound(gpulse::record::smi::read_csv(text, "fuzz"));
  return 0;
}
