// SPDX-License-Identifier: Apache-2.0
// Two ways in: the bytes as a file, and the bytes as payloads of blocks whose checksums are right, so that the fuzzer
// need not guess them. Whatever can be read must come back the same when it is recorded again.
#include <cstdlib>

#include "codec/testing.hpp"
#include "record/recording_reader.hpp"

namespace gpulse::record {
namespace {

// Pieces of [kind, length / 2] and as many bytes.
std::vector<std::byte> with_blocks(std::span<const std::byte> data) {
  codec::WireWriter file;
  codec::write_file_head(file);
  std::uint32_t last = 0;
  codec::WireReader in(data);
  while (in.left() > 2) {
    const auto kind = in.u8();
    const auto piece = in.bytes(std::min<std::size_t>(std::size_t{in.u8()} * 2, in.left()));
    codec::WireWriter payload;
    if (kind % 4 == 0) {
      payload.u8(static_cast<std::uint8_t>(codec::BlockKind::schema));
    } else {
      const auto sample = kind % 4 == 1 ? codec::BlockKind::key : codec::BlockKind::delta;
      codec::write_sample_head(payload,
                               {.kind = sample, .schema = codec::todays_schema().hash, .time = kind, .previous = last});
    }
    payload.bytes(piece);
    const auto crc = codec::write_block(file, payload.view());
    if (kind % 4 != 0) last = crc;
  }
  return {file.view().begin(), file.view().end()};
}

void read_all(std::span<const std::byte> bytes) {
  auto reader = RecordingReader::open(bytes, "fuzz");
  if (!reader) return;
  codec::SnapshotEncoder encoder;
  codec::SnapshotDecoder decoder;
  decoder.restart(codec::todays_schema().slots);
  for (std::size_t i = 0; i < reader->count(); ++i) {
    const auto snapshot = reader->at(i);
    if (!snapshot) continue;
    codec::WireWriter out;
    if (!encoder.encode(out, **snapshot)) std::abort();
    codec::WireReader in(out.view());
    decoder.current().time = (*snapshot)->time;
    if (!decoder.decode(in) || !codec::testing::same(decoder.current(), **snapshot)) std::abort();
  }
  if (reader->count() > 0) {
    const auto found = reader->seek(reader->last_time());
    if (found >= reader->count()) std::abort();
    static_cast<void>(reader->next());
  }
}

}  // namespace
}  // namespace gpulse::record

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size));
  if ((data[0] & 1U) != 0) {
    gpulse::record::read_all(bytes.subspan(1));
  } else {
    gpulse::record::read_all(gpulse::record::with_blocks(bytes.subspan(1)));
  }
  return 0;
}
