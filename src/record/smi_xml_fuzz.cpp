// SPDX-License-Identifier: Apache-2.0
// Any bytes are a log of nvidia-smi or an error in one line.
#include "record/smi_fuzz.hpp"
#include "record/smi_log.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  (void)gpulse::record::is_smi_log(text);
  gpulse::record::smi::must_be_sound(gpulse::record::read_smi_log(text, "fuzz"));
  return 0;
}
