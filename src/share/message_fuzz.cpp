// SPDX-License-Identifier: Apache-2.0
// Any bytes as what comes over the socket. Whatever is taken must come back the same when it is encoded again.
#include <algorithm>
#include <cstdlib>

#include "share/message.hpp"

namespace gpulse::share {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

template <class Message>
void there_and_back(std::span<const std::byte> body) {
  const auto message = decode<Message>(body);
  if (!message) return;
  const auto bytes = encode(*message);
  Frame frame;
  require(next_frame(bytes, bytes.size(), frame) == Framing::whole);
  const auto again = decode<Message>(frame.body);
  require(again.has_value() && std::ranges::equal(encode(*again), bytes));
}

void decode_as(MessageKind kind, std::span<const std::byte> body) {
  switch (kind) {
    case MessageKind::want:
      if (const auto want = decode<Want>(body)) metric_set(want->metrics);
      return there_and_back<Want>(body);
    case MessageKind::details:
      return there_and_back<DetailsRequest>(body);
    case MessageKind::release:
      return there_and_back<Release>(body);
    case MessageKind::granted:
      return there_and_back<Granted>(body);
    case MessageKind::details_answer:
      return there_and_back<DetailsAnswer>(body);
    case MessageKind::status_answer:
      return there_and_back<AgentStatus>(body);
    case MessageKind::refused:
      return there_and_back<Refused>(body);
    case MessageKind::silence:
      return there_and_back<SilenceRequest>(body);
    case MessageKind::alerts_answer:
      return there_and_back<AlertsAnswer>(body);
    case MessageKind::alerts:
    case MessageKind::status:
    case MessageKind::resume:
    case MessageKind::done:
      break;
  }
}

}  // namespace
}  // namespace gpulse::share

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using namespace gpulse::share;
  auto bytes = std::as_bytes(std::span(data, size));
  if (size > 0) decode_as(static_cast<MessageKind>(data[0]), bytes.subspan(1));
  Frame frame;
  while (next_frame(bytes, kLargestRequest, frame) == Framing::whole) {
    decode_as(frame.kind, frame.body);
    bytes = bytes.subspan(kFrameHead + frame.body.size());
  }
  return 0;
}
