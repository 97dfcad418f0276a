// SPDX-License-Identifier: Apache-2.0
// Any bytes as details, and as the live parts of a small machine. Whatever is taken must come back the same when it is
// encoded again.
#include <cstdlib>

#include "codec/details_codec.hpp"
#include "codec/live_parts.hpp"
#include "codec/testing.hpp"

namespace gpulse::codec {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void fuzz_details(std::span<const std::byte> bytes, const SlotMap &slots) {
  WireReader in(bytes);
  const auto details = decode_details(in, slots);
  if (!details) return;
  WireWriter out;
  encode_details(out, *details);
  WireReader again(out.view());
  const auto back = decode_details(again, todays_schema().slots);
  require(back && again.at_end() && testing::same(*back, *details));
}

void fuzz_live_parts(std::span<const std::byte> bytes) {
  Snapshot plain;
  plain.processes.resize(2);
  plain.sources = std::vector<SourceStatus>(2);
  plain.devices.resize(2);
  plain.devices[0].identity = std::make_shared<const DeviceIdentity>();
  auto snapshot = plain;
  WireReader in(bytes);
  if (!decode_live_parts(in, snapshot)) return;
  WireWriter out;
  encode_live_parts(out, snapshot);
  auto back = plain;
  WireReader again(out.view());
  require(decode_live_parts(again, back) && again.at_end() && testing::same_live_parts(back, snapshot));
}

}  // namespace
}  // namespace gpulse::codec

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using namespace gpulse::codec;
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  // Without slots the fuzzer gets to the lists at once.
  static const SlotMap none;
  switch (data[0] % 3) {
    case 0:
      fuzz_details(bytes, todays_schema().slots);
      break;
    case 1:
      fuzz_details(bytes, none);
      break;
    default:
      fuzz_live_parts(bytes);
  }
  return 0;
}
