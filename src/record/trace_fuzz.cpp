// SPDX-License-Identifier: Apache-2.0
// Any text is a trace or an error; what is a trace can be recorded.
#include <cstdlib>

#include "codec/snapshot_codec.hpp"
#include "record/trace.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const auto trace = gpulse::record::import_trace(std::string_view(reinterpret_cast<const char *>(data), size), "fuzz");
  if (!trace) return 0;
  gpulse::record::SnapshotEncoder encoder;
  gpulse::record::WireWriter out;
  for (const auto &snapshot : *trace) {
    out.clear();
    if (!encoder.encode(out, *snapshot)) std::abort();
  }
  return 0;
}
