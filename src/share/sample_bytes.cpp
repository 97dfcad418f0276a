// SPDX-License-Identifier: Apache-2.0
#include "share/sample_bytes.hpp"

#include "codec/live_parts.hpp"

namespace gpulse::share {

Result<void> encode_sample(codec::WireWriter &out, codec::SnapshotEncoder &encoder, const SnapshotPtr &snapshot) {
  const auto begin = out.size();
  out.u32(0);
  encoder.restart();
  if (auto encoded = encoder.encode(out, snapshot); !encoded) return encoded;
  out.patch_u32(begin, static_cast<std::uint32_t>(out.size() - begin - sizeof(std::uint32_t)));
  codec::encode_live_parts(out, *snapshot);
  return {};
}

std::shared_ptr<Snapshot> decode_sample(std::span<const std::byte> bytes, WallTime time, const codec::SlotMap &slots) {
  codec::WireReader in(bytes);
  codec::WireReader snapshot(in.bytes(in.u32()));
  codec::SnapshotDecoder decoder;
  decoder.restart(slots);
  decoder.current().time = time;
  if (!decoder.decode(snapshot) || !codec::decode_live_parts(in, decoder.current())) return nullptr;
  return std::make_shared<Snapshot>(std::move(decoder.current()));
}

}  // namespace gpulse::share
