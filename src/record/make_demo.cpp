// SPDX-License-Identifier: Apache-2.0
// Build tool: make_demo TRACE.csv DEMO.gpr turns the trace into the recording that is embedded in the binary.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "record/recording_writer.hpp"
#include "record/trace.hpp"

namespace {

gpulse::Result<void> convert(const char *trace, const char *recording) {
  std::ifstream file(trace, std::ios::binary);
  if (!file) return gpulse::failure(fmt::format("cannot read {}", trace));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto snapshots = gpulse::record::import_trace(text, trace);
  if (!snapshots) return std::unexpected(snapshots.error());
  auto writer = gpulse::record::RecordingWriter::open(recording, gpulse::record::Existing::overwrite);
  if (!writer) return std::unexpected(writer.error());
  for (const auto &snapshot : *snapshots) {
    if (const auto done = writer->write(*snapshot); !done) return done;
  }
  fmt::print("{} samples, {} bytes\n", writer->samples(), writer->size());
  return {};
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: make_demo TRACE.csv DEMO.gpr\n");
    return 2;
  }
  if (const auto done = convert(argv[1], argv[2]); !done) {
    fmt::print(stderr, "make_demo: {}\n", done.error().line());
    return 1;
  }
  return 0;
}
