// SPDX-License-Identifier: Apache-2.0
#include "alert/state.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/file.hpp"
#include "codec/crc32c.hpp"
#include "codec/field_wire.hpp"
#include "metric/table.hpp"

namespace gpulse::alert {

namespace {

using codec::FieldReader;
using codec::FieldWriter;
using codec::WireReader;
using codec::WireWriter;

constexpr std::string_view kMark = "gpulse alerts 1";
// Beyond these the file is none of ours.
constexpr std::size_t kMostBytes = std::size_t{64} << 20U, kMostAlerts = 2000, kMostGrowths = 20'000, kMostParts = 200,
                      kMostReceivers = 100, kMostSilences = 1000, kMostWaiting = 1000;
constexpr std::uint64_t kLastMoment = 9'000'000'000'000'000'000;
constexpr std::size_t kSumBytes = 4;

void time(FieldWriter &wire, WallTime value) {
  wire(static_cast<std::uint64_t>(std::max<std::int64_t>(value.time_since_epoch().count(), 0)));
}
void time(FieldReader &wire, WallTime &value) {
  std::uint64_t count = 0;
  wire(count);
  value = WallTime(std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(count, kLastMoment))));
}

template <class Enum>
void choice(FieldWriter &wire, Enum value, Enum /*last*/) {
  wire(static_cast<std::uint8_t>(value));
}
template <class Enum>
void choice(FieldReader &wire, Enum &value, Enum last) {
  std::uint8_t number = 0;
  wire(number);
  value = static_cast<Enum>(std::min(number, static_cast<std::uint8_t>(last)));
}

// The same for both ways, as all of these.
void alert_fields(auto &wire, auto &alert) {
  wire(alert.rule, alert.uuid, alert.detail, alert.id, alert.gpu, alert.name, alert.value, alert.value_text,
       alert.summary, alert.description, alert.ending, alert.told, alert.fires);
  choice(wire, alert.level, AlertLevel::critical);
  choice(wire, alert.phase, Phase::over);
  for (auto *each : {&alert.since, &alert.fired, &alert.ended, &alert.seen, &alert.event}) time(wire, *each);
}

void message_fields(auto &wire, auto &message) {
  wire(message.key, message.is_firing, message.is_test, message.rule, message.host);
  choice(wire, message.level, AlertLevel::critical);
  time(wire, message.time);
  wire.list(message.alerts, kMostAlertsOfMessage, [&](auto &alert) { alert_fields(wire, alert); });
}

void silence_fields(auto &wire, auto &silence) {
  wire(silence.rule, silence.gpu);
  time(wire, silence.until);
}

void part_fields(auto &wire, auto &growth) {
  wire.list(growth.parts, kMostParts, [&](auto &part) {
    time(wire, part.time);
    wire(part.by);
  });
}

bool is_counter(std::string_view key) {
  const auto counts = [&](Scope scope) {
    const auto id = find_metric(scope, key);
    return id && brief(*id).kind == Kind::counter;
  };
  return counts(Scope::device) || counts(Scope::host);
}

std::unexpected<Error> cannot(const std::string &path, int why) {
  return failure(fmt::format("cannot write {}", path), std::strerror(why));
}

}  // namespace

std::vector<std::byte> encode_state(const Memory &memory, const Outbox &outbox, const std::vector<Silence> &silences) {
  WireWriter out;
  FieldWriter wire(out);
  out.text(kMark);
  wire.list(memory.alerts, kMostAlerts, [&](auto &alert) { alert_fields(wire, alert); });
  std::vector<const Growths::value_type *> kept;
  for (const auto &each : memory.growths) {
    if (is_counter(each.first.first) && kept.size() < kMostGrowths) kept.push_back(&each);
  }
  out.varint(kept.size());
  for (const auto *each : kept) {
    const auto &[of, growth] = *each;
    wire(Text(of.first), Text(of.second), growth.last ? Reading(*growth.last) : Reading());
    part_fields(wire, growth);
  }
  wire.list(outbox.groups, kMostWaiting, [&](auto &group) { message_fields(wire, group); });
  out.varint(std::min(outbox.messages.size(), kMostWaiting));
  for (std::size_t i = 0; i < std::min(outbox.messages.size(), kMostWaiting); ++i) {
    const auto &waiting = outbox.messages[i];
    message_fields(wire, waiting.message);
    wire.list(waiting.receivers, kMostReceivers, wire);
    time(wire, waiting.since);
  }
  wire.list(silences, kMostSilences, [&](auto &silence) { silence_fields(wire, silence); });
  out.u32(codec::crc32c(out.view()));
  return {out.view().begin(), out.view().end()};
}

std::optional<State> decode_state(std::span<const std::byte> bytes) {
  if (bytes.size() < kSumBytes || bytes.size() > kMostBytes) return std::nullopt;
  const auto body = bytes.first(bytes.size() - kSumBytes);
  if (WireReader(bytes.last(kSumBytes)).u32() != codec::crc32c(body)) return std::nullopt;
  WireReader in(body);
  FieldReader wire(in);
  if (in.text(kMark.size()) != kMark) return std::nullopt;
  State state;
  wire.list(state.memory.alerts, kMostAlerts, [&](auto &alert) { alert_fields(wire, alert); });
  for (auto left = in.count(kMostGrowths); left > 0 && !in.failed(); --left) {
    Text of, uuid;
    Reading last;
    wire(of, uuid, last);
    auto &growth = state.memory.growths[{of.str(), uuid.str()}];
    if (last) growth.last = last.value();
    part_fields(wire, growth);
  }
  wire.list(state.outbox.groups, kMostWaiting, [&](auto &group) { message_fields(wire, group); });
  for (auto left = in.count(kMostWaiting); left > 0 && !in.failed(); --left) {
    auto &waiting = state.outbox.messages.emplace_back();
    message_fields(wire, waiting.message);
    wire.list(waiting.receivers, kMostReceivers, wire);
    time(wire, waiting.since);
    waiting.is_kept = true;
  }
  wire.list(state.silences, kMostSilences, [&](auto &silence) { silence_fields(wire, silence); });
  if (in.failed() || !in.at_end()) return std::nullopt;
  return state;
}

Result<StateFile> StateFile::open(const std::string &path) {
  const auto folder = std::filesystem::path(path).parent_path();
  std::error_code unused;  // what cannot be made cannot be written to either
  std::filesystem::create_directories(folder, unused);
  const auto name = path + ".lock";
  UniqueFd lock(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) return cannot(name, errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return failure(fmt::format("{} is in use by another agent", path), "give each its own: [alerts] state = \"FILE\"");
  StateFile file(path, std::move(lock));
  file.read();
  return file;
}

void StateFile::read() {
  const UniqueFd file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) {
    if (errno != ENOENT) problem_ = fmt::format("cannot read {}: {}", path_, std::strerror(errno));
    return;
  }
  struct stat info{};
  std::vector<std::byte> bytes;
  if (::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size >= 0 &&
      static_cast<std::uint64_t>(info.st_size) <= kMostBytes) {
    bytes.resize(static_cast<std::size_t>(info.st_size));
    std::size_t filled = 0;
    for (ssize_t got = 1; got > 0 && filled < bytes.size();
         filled += static_cast<std::size_t>(std::max<ssize_t>(got, 0)))
      got = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    bytes.resize(filled);
  }
  if (auto state = decode_state(bytes)) {
    state_ = std::move(*state);
    return;
  }
  const auto aside = path_ + ".damaged";
  problem_ = fmt::format("{} is damaged: it is {} now, and alerts begin anew", path_, aside);
  if (::rename(path_.c_str(), aside.c_str()) != 0) problem_ = fmt::format("{} is damaged: alerts begin anew", path_);
}

Result<void> StateFile::write(std::span<const std::byte> bytes) const {
  const auto unfinished = path_ + ".new";
  const auto fail = [&] {
    const int why = errno;
    ::unlink(unfinished.c_str());
    return cannot(path_, why);
  };
  ::unlink(unfinished.c_str());
  {
    const UniqueFd file(::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return fail();
    // What is written is bytes of ours, whatever they look like.
    const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    if (!write_all(file.get(), text) || ::fsync(file.get()) != 0) return fail();
  }
  if (::rename(unfinished.c_str(), path_.c_str()) != 0) return fail();
  const auto folder = std::filesystem::path(path_).parent_path();
  const UniqueFd held(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (held) ::fsync(held.get());
  return {};
}

}  // namespace gpulse::alert
