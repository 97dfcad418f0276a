// SPDX-License-Identifier: Apache-2.0
// What a reader and the agent say to each other over the socket: frames of a length (u32), a kind (u8) and fields.
// Each request has one answer. A faster rate and what it is for last as long as the connection.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "codec/schema.hpp"
#include "metric/set.hpp"
#include "model/device_details.hpp"

namespace gpulse::share {

inline constexpr std::size_t kFrameHead = 5;
inline constexpr std::size_t kLargestRequest = std::size_t{256} << 10U;
inline constexpr std::size_t kLargestAnswer = std::size_t{64} << 20U;

enum class MessageKind : std::uint8_t {
  want = 1,
  details = 2,
  status = 3,
  release = 4,
  resume = 5,
  alerts = 6,
  silence = 7,
  granted = 65,
  details_answer = 66,
  status_answer = 67,
  done = 68,
  refused = 69,
  alerts_answer = 70,
};

// Samples at this interval, of these metrics; none: of all.
struct Want {
  Text program;
  std::chrono::nanoseconds interval{0};
  std::vector<Text> metrics{};
};
struct Granted {
  std::chrono::nanoseconds interval{0};
};

// What is read only on request.
struct DetailsRequest {
  std::vector<Text> metrics;
};
struct DetailsOf {
  Text uuid;
  DeviceDetails details;
};
struct DetailsAnswer {
  std::chrono::nanoseconds age{0};
  std::vector<DetailsOf> devices;
};

struct Release {
  std::chrono::nanoseconds time{0};
};

struct Refused {
  Text why;
};

// A reader that has asked for something.
struct ReaderStatus {
  std::uint32_t pid = 0;
  std::uint32_t user = 0;
  Text program;
  std::chrono::nanoseconds interval{0};
  std::chrono::nanoseconds since{0};
};

// What one call costs the agent.
struct CallCost {
  Text source, call;
  std::uint8_t tier = 0;
  bool slowed = false;
  std::chrono::nanoseconds mean{0};
  std::uint64_t calls = 0;
};

// What the agent keeps on disk.
struct HistoryStatus {
  Text file;     // empty: nothing is kept
  Text problem;  // empty: all is well
  std::uint64_t bytes = 0, samples = 0, lost = 0;
};

// What the agent writes to an engine elsewhere.
struct RemoteWriteStatus {
  Text url;                              // empty: nothing is written to one
  Text problem;                          // empty: all is well
  std::uint64_t taken = 0, refused = 0;  // values
  std::chrono::nanoseconds behind{0};    // that the engine does not have yet
};

struct AgentStatus {
  Text version;
  std::uint32_t pid = 0, user = 0;
  std::chrono::nanoseconds running{0};
  std::chrono::nanoseconds interval{0};        // now
  std::chrono::nanoseconds usual_interval{0};  // without anybody who wants more
  std::chrono::nanoseconds fastest{0};         // that a reader may ask for
  std::chrono::nanoseconds released_for{0};    // another so long; zero: not released
  std::chrono::nanoseconds processor_time{0};
  std::uint64_t memory_bytes = 0, segment_bytes = 0, samples = 0;
  std::vector<ReaderStatus> readers;
  std::vector<CallCost> costs;
  HistoryStatus history{};
  RemoteWriteStatus remote_write{};
};

// An alert that fires, or may soon.
struct AlertStatus {
  Text rule, severity, gpu, uuid, detail, summary, value;
  bool is_firing = false, is_silent = false;
  std::chrono::nanoseconds since{0};  // it fires, or holds
  std::vector<Text> waiting{};        // receivers that do not know yet
};
struct AlertReceiverStatus {
  Text name, kind;
  Text problem;                                                   // why the last message did not arrive; empty: it did
  std::uint64_t sent = 0, failed = 0, given_up = 0, waiting = 0;  // messages, and tries that failed
  std::chrono::nanoseconds next{0};                               // it is tried again in
};
struct SilenceStatus {
  Text rule, gpu;
  std::chrono::nanoseconds rest{0};  // 0: for good
};
struct AlertsAnswer {
  bool is_on = false;  // else nothing is configured
  Text problem{};      // with the file that outlasts the agent
  std::vector<AlertStatus> alerts{};
  std::vector<AlertReceiverStatus> receivers{};
  std::vector<SilenceStatus> silences{};
};
// A rule is not told for so long; no time: it is again.
struct SilenceRequest {
  Text rule, gpu;
  std::chrono::nanoseconds time{0};
};

struct Frame {
  MessageKind kind = MessageKind::refused;
  std::span<const std::byte> body;
};

// A whole frame.
std::vector<std::byte> encode(const Want &message);
std::vector<std::byte> encode(const Granted &message);
std::vector<std::byte> encode(const DetailsRequest &message);
std::vector<std::byte> encode(const DetailsAnswer &message);
std::vector<std::byte> encode(const Release &message);
std::vector<std::byte> encode(const Refused &message);
std::vector<std::byte> encode(const AgentStatus &message);
std::vector<std::byte> encode(const AlertsAnswer &message);
std::vector<std::byte> encode(const SilenceRequest &message);
// One without fields: status, resume, alerts, done.
std::vector<std::byte> encode(MessageKind kind);

// The frame that `bytes` begins with; none: it is not whole yet.
enum class Framing : std::uint8_t { whole, partial, too_large };
Framing next_frame(std::span<const std::byte> bytes, std::size_t largest, Frame &frame);

// None: the bytes make no sense.
template <class Message>
std::optional<Message> decode(std::span<const std::byte> body);

// Metrics by key, in whatever scope; those that this version does not know are left out.
MetricSet metric_set(std::span<const Text> keys);
std::vector<Text> metric_keys(const MetricSet &set);

}  // namespace gpulse::share
