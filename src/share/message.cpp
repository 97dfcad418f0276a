// SPDX-License-Identifier: Apache-2.0
#include "share/message.hpp"

#include <algorithm>
#include <concepts>
#include <type_traits>

#include "codec/details_codec.hpp"
#include "codec/field_wire.hpp"

namespace gpulse::share {

namespace {

using codec::FieldReader;
using codec::FieldWriter;
using codec::WireReader;
using codec::WireWriter;

constexpr std::size_t kMostMetrics = 4096;
constexpr std::size_t kMostReaders = 4096;
constexpr std::size_t kMostCosts = 4096;
constexpr std::size_t kMostAlerts = 4096;
constexpr std::uint64_t kLongest = 1'000'000'000'000'000'000;  // a third of a century

// Times go as whole nanoseconds, none of them negative.
void time(FieldWriter &wire, std::chrono::nanoseconds value) {
  wire(static_cast<std::uint64_t>(std::max<std::int64_t>(value.count(), 0)));
}
void time(FieldReader &wire, std::chrono::nanoseconds &value) {
  std::uint64_t count = 0;
  wire(count);
  value = std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(count, kLongest)));
}

template <class M, class Message>
concept Is = std::same_as<std::remove_const_t<M>, Message>;

// The fields of each message, for both ways.
template <Is<Want> M>
void fields(auto &wire, M &message) {
  wire(message.program);
  time(wire, message.interval);
  wire.list(message.metrics, kMostMetrics, wire);
}
template <Is<DetailsRequest> M>
void fields(auto &wire, M &message) {
  wire.list(message.metrics, kMostMetrics, wire);
}
template <Is<Granted> M>
void fields(auto &wire, M &message) {
  time(wire, message.interval);
}
template <Is<Release> M>
void fields(auto &wire, M &message) {
  time(wire, message.time);
}
template <Is<Refused> M>
void fields(auto &wire, M &message) {
  wire(message.why);
}
template <Is<AgentStatus> M>
void fields(auto &wire, M &message) {
  wire(message.version, message.pid, message.user);
  for (auto *each : {&message.running, &message.interval, &message.usual_interval, &message.fastest,
                     &message.released_for, &message.processor_time})
    time(wire, *each);
  wire(message.memory_bytes, message.segment_bytes, message.samples);
  wire.list(message.readers, kMostReaders, [&](auto &reader) {
    wire(reader.pid, reader.user, reader.program);
    time(wire, reader.interval);
    time(wire, reader.since);
  });
  wire.list(message.costs, kMostCosts, [&](auto &cost) {
    wire(cost.source, cost.call, cost.tier, cost.slowed);
    time(wire, cost.mean);
    wire(cost.calls);
  });
  if (!wire.has_more()) return;
  auto &history = message.history;
  wire(history.file, history.problem, history.bytes, history.samples, history.lost);
  if (!wire.has_more()) return;
  auto &writing = message.remote_write;
  wire(writing.url, writing.problem, writing.taken, writing.refused);
  time(wire, writing.behind);
}

template <Is<SilenceRequest> M>
void fields(auto &wire, M &message) {
  wire(message.rule, message.gpu);
  time(wire, message.time);
}
template <Is<AlertsAnswer> M>
void fields(auto &wire, M &message) {
  wire(message.is_on, message.problem);
  wire.list(message.alerts, kMostAlerts, [&](auto &alert) {
    wire(alert.rule, alert.severity, alert.gpu, alert.uuid, alert.detail, alert.summary, alert.value);
    wire(alert.is_firing, alert.is_silent);
    time(wire, alert.since);
    wire.list(alert.waiting, kMostAlerts, wire);
  });
  wire.list(message.receivers, kMostAlerts, [&](auto &receiver) {
    wire(receiver.name, receiver.kind, receiver.problem, receiver.sent, receiver.failed, receiver.given_up,
         receiver.waiting);
    time(wire, receiver.next);
  });
  wire.list(message.silences, kMostAlerts, [&](auto &silence) {
    wire(silence.rule, silence.gpu);
    time(wire, silence.rest);
  });
}

template <class Write>
std::vector<std::byte> framed(MessageKind kind, Write write) {
  WireWriter out;
  out.u32(0);
  out.u8(static_cast<std::uint8_t>(kind));
  write(out);
  out.patch_u32(0, static_cast<std::uint32_t>(out.size() - kFrameHead));
  return {out.view().begin(), out.view().end()};
}

template <class Message>
std::vector<std::byte> framed_fields(MessageKind kind, const Message &message) {
  return framed(kind, [&](WireWriter &out) {
    FieldWriter wire(out);
    fields(wire, message);
  });
}

}  // namespace

std::vector<std::byte> encode(const Want &message) { return framed_fields(MessageKind::want, message); }
std::vector<std::byte> encode(const Granted &message) { return framed_fields(MessageKind::granted, message); }
std::vector<std::byte> encode(const DetailsRequest &message) { return framed_fields(MessageKind::details, message); }
std::vector<std::byte> encode(const Release &message) { return framed_fields(MessageKind::release, message); }
std::vector<std::byte> encode(const Refused &message) { return framed_fields(MessageKind::refused, message); }
std::vector<std::byte> encode(const AgentStatus &message) { return framed_fields(MessageKind::status_answer, message); }
std::vector<std::byte> encode(const AlertsAnswer &message) {
  return framed_fields(MessageKind::alerts_answer, message);
}
std::vector<std::byte> encode(const SilenceRequest &message) { return framed_fields(MessageKind::silence, message); }
std::vector<std::byte> encode(MessageKind kind) {
  return framed(kind, [](WireWriter &) {});
}

// The keys come first, so that another version finds what it knows.
std::vector<std::byte> encode(const DetailsAnswer &message) {
  return framed(MessageKind::details_answer, [&](WireWriter &out) {
    const auto &schema = codec::todays_schema();
    FieldWriter wire(out);
    out.varint(schema.body.size());
    out.bytes(schema.body);
    time(wire, message.age);
    const auto count = std::min(message.devices.size(), codec::kMostDevices);
    out.varint(count);
    for (const auto &device : std::span(message.devices).first(count)) {
      wire(device.uuid);
      codec::encode_details(out, device.details);
    }
  });
}

template <>
std::optional<DetailsAnswer> decode(std::span<const std::byte> body) {
  WireReader in(body);
  FieldReader wire(in);
  WireReader keys(in.bytes(in.count(kLargestAnswer)));
  const auto slots = codec::decode_schema(keys);
  if (!slots) return std::nullopt;
  DetailsAnswer answer;
  time(wire, answer.age);
  const auto count = in.count(codec::kMostDevices);
  for (std::uint64_t i = 0; i < count && !in.failed(); ++i) {
    DetailsOf device;
    wire(device.uuid);
    auto details = codec::decode_details(in, *slots);
    if (!details) return std::nullopt;
    device.details = std::move(*details);
    answer.devices.push_back(std::move(device));
  }
  if (in.failed()) return std::nullopt;
  return answer;
}
template <class Message>
std::optional<Message> decode(std::span<const std::byte> body) {
  WireReader in(body);
  FieldReader wire(in);
  Message message;
  fields(wire, message);
  // Another version may have more to say behind it.
  if (in.failed()) return std::nullopt;
  return message;
}
template std::optional<Want> decode(std::span<const std::byte>);
template std::optional<Granted> decode(std::span<const std::byte>);
template std::optional<DetailsRequest> decode(std::span<const std::byte>);
template std::optional<Release> decode(std::span<const std::byte>);
template std::optional<Refused> decode(std::span<const std::byte>);
template std::optional<AgentStatus> decode(std::span<const std::byte>);
template std::optional<AlertsAnswer> decode(std::span<const std::byte>);
template std::optional<SilenceRequest> decode(std::span<const std::byte>);

Framing next_frame(std::span<const std::byte> bytes, std::size_t largest, Frame &frame) {
  if (bytes.size() < kFrameHead) return Framing::partial;
  WireReader in(bytes.first(kFrameHead));
  const auto length = in.u32();
  if (length > largest) return Framing::too_large;
  frame.kind = static_cast<MessageKind>(in.u8());
  if (bytes.size() - kFrameHead < length) return Framing::partial;
  frame.body = bytes.subspan(kFrameHead, length);
  return Framing::whole;
}

MetricSet metric_set(std::span<const Text> keys) {
  MetricSet set;
  for (const auto &key : keys) {
    for (std::size_t scope = 0; scope < kScopes; ++scope) {
      if (const auto id = find_metric(static_cast<Scope>(scope), key.str())) set.add(*id);
    }
  }
  return set;
}

std::vector<Text> metric_keys(const MetricSet &set) {
  std::vector<Text> keys;
  for (std::size_t scope = 0; scope < kScopes; ++scope) {
    set.for_each(static_cast<Scope>(scope), [&](MetricId id) { keys.emplace_back(std::string(key_of(id).key)); });
  }
  return keys;
}

}  // namespace gpulse::share
