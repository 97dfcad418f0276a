// SPDX-License-Identifier: Apache-2.0
#include "history/raw.hpp"

#include <zlib.h>

#include <cmath>

#include "codec/crc32c.hpp"

namespace gpulse::history {

namespace {

constexpr std::size_t kLargestChunk = std::size_t{256} << 20U;  // unpacked
constexpr double kMilliseconds = 1000;

}  // namespace

Result<std::span<const std::byte>> RawEncoder::encode(const SnapshotPtr &sample) {
  bytes_.clear();
  if (const auto done = encoder_.encode(bytes_, sample); !done) return std::unexpected(done.error());
  return bytes_.view();
}

SnapshotPtr RawDecoder::decode(WallTime time, std::span<const std::byte> data) {
  codec::WireReader in(data);
  decoder_.current().time = time;
  if (!decoder_.decode(in) || !in.at_end()) return nullptr;
  return std::make_shared<const Snapshot>(decoder_.current());
}

// crc32c of what follows (u32), size before compression (varint), and as zlib has it: for each sample nanoseconds since
// the one before, the milliseconds that it stands for, and its bytes with their length.
std::vector<std::byte> pack(std::span<const RawSample> samples) {
  codec::WireWriter plain;
  WallTime before{};
  for (const auto &sample : samples) {
    plain.signed_varint((sample.time - before).count());
    plain.varint(static_cast<std::uint64_t>(std::llround(sample.seconds * kMilliseconds)));
    plain.varint(sample.data.size());
    plain.bytes(sample.data);
    before = sample.time;
  }
  codec::WireWriter chunk;
  chunk.u32(0);
  chunk.varint(plain.size());
  const auto head = chunk.size();
  auto size = ::compressBound(plain.size());
  std::vector<std::byte> bytes(head + size);
  // It cannot fail: there is room for the worst.
  ::compress2(reinterpret_cast<Bytef *>(bytes.data() + head), &size,
              reinterpret_cast<const Bytef *>(plain.view().data()), plain.size(), Z_DEFAULT_COMPRESSION);
  bytes.resize(head + size);
  std::ranges::copy(chunk.view(), bytes.begin());
  codec::WireWriter sum;
  sum.u32(codec::crc32c(std::span(bytes).subspan(4)));
  std::ranges::copy(sum.view(), bytes.begin());
  return bytes;
}

std::optional<std::vector<RawSample>> unpack(std::span<const std::byte> chunk) {
  codec::WireReader in(chunk);
  const auto sum = in.u32();
  if (in.failed() || sum != codec::crc32c(chunk.subspan(4))) return std::nullopt;
  const auto size = in.count(kLargestChunk);
  if (in.failed()) return std::nullopt;
  std::vector<std::byte> plain(size);
  const auto packed = in.bytes(in.left());
  auto unpacked = static_cast<uLongf>(plain.size());
  if (::uncompress(reinterpret_cast<Bytef *>(plain.data()), &unpacked, reinterpret_cast<const Bytef *>(packed.data()),
                   packed.size()) != Z_OK ||
      unpacked != plain.size()) {
    return std::nullopt;
  }
  std::vector<RawSample> samples;
  codec::WireReader each(plain);
  WallTime time{};
  while (!each.at_end()) {
    if (samples.size() >= kMostChunkSamples) return std::nullopt;
    // Whatever the bytes say must not overflow.
    time = WallTime(
        std::chrono::nanoseconds(static_cast<std::int64_t>(static_cast<std::uint64_t>(time.time_since_epoch().count()) +
                                                           static_cast<std::uint64_t>(each.signed_varint()))));
    const auto seconds = static_cast<double>(each.varint()) / kMilliseconds;
    const auto data = each.bytes(each.count(plain.size()));
    if (each.failed()) return std::nullopt;
    samples.push_back({.time = time, .seconds = seconds, .data = {data.begin(), data.end()}});
  }
  return samples;
}

SnapshotPtr without_moment(const Snapshot &snapshot) {
  auto kept = std::make_shared<Snapshot>();
  kept->time = snapshot.time;
  kept->hostname = snapshot.hostname;
  kept->origin = snapshot.origin;
  kept->host = snapshot.host;
  kept->self = snapshot.self;
  kept->devices = snapshot.devices;
  for (auto &device : kept->devices) device.details.reset();
  kept->processes = snapshot.processes;
  kept->sources = snapshot.sources;
  kept->events = snapshot.events;
  return kept;
}

}  // namespace gpulse::history
