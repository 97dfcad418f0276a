// SPDX-License-Identifier: Apache-2.0
#include "record/replay.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "record/demo.hpp"
#include "record/own_csv.hpp"
#include "record/trace.hpp"
#include "smi/read_log.hpp"

namespace gpulse::record {

namespace {

constexpr std::uint64_t kLargestTrace = std::uint64_t{1} << 26U;
constexpr std::size_t kStart = 16384;  // enough to see what a file is
constexpr std::chrono::minutes kLongestPause{1};
constexpr std::chrono::seconds kShortenedPause{1};
constexpr double kSlowest = 1e-6;

std::string_view characters(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

class SteadyPlayClock final : public PlayClock {
 public:
  Monotonic now() override { return monotonic_now(); }
  bool wait_until(Monotonic time, const std::stop_token &stop) override { return sleep_until(time, stop); }
};

}  // namespace

PlayClock &steady_play_clock() {
  static SteadyPlayClock clock;
  return clock;
}

Result<Replay> Replay::open(const std::string &path, const std::stop_token &stop, const std::string &columns) {
  auto bytes = codec::ByteSource::open(path, stop);
  if (!bytes) return std::unexpected(bytes.error());
  const auto no_sample = [&] { return failure(fmt::format("{} holds no sample", path), "there is nothing to replay"); };
  const auto start = bytes->view(0, kStart);
  if (!is_recording(start) && is_trace(characters(start))) {
    if (bytes->size() > kLargestTrace)
      return failure(fmt::format("{} is too large for a trace", path), "at most 64 MiB are read: cut it");
    const auto text = characters(bytes->view(0, static_cast<std::size_t>(bytes->size())));
    auto trace = import_trace(text, path, "REPLAY");
    if (!trace) return std::unexpected(trace.error());
    if (trace->empty()) return no_sample();
    return Replay(std::move(*trace));
  }
  if (!is_recording(start) && columns.empty() && is_own_csv(characters(start))) {
    if (bytes->size() > smi::kLargestLog)
      return failure(fmt::format("{} is too large", path), "at most 64 MiB are read: cut it");
    auto table = read_own_csv(characters(bytes->view(0, static_cast<std::size_t>(bytes->size()))), path, "REPLAY");
    if (!table) return std::unexpected(table.error());
    if (table->empty()) return no_sample();
    return Replay(std::move(*table));
  }
  if (!is_recording(start) && (!columns.empty() || smi::is_log(characters(start)))) {
    const auto size =
        std::min<std::uint64_t>(bytes->size(), smi::kLargestLog + 1);  // one more: it says that it is too large
    auto log = smi::read_log(characters(bytes->view(0, static_cast<std::size_t>(size))), path, columns);
    if (!log) return std::unexpected(log.error());
    return Replay(std::move(*log));
  }
  auto reader = RecordingReader::open(std::move(*bytes), path);
  if (!reader) return std::unexpected(reader.error());
  if (reader->count() == 0) return no_sample();
  reader->set_origin("REPLAY");
  return Replay(std::move(*reader));
}

Result<Replay> Replay::demo() {
  auto reader = RecordingReader::open(demo_recording(), "the demo");
  if (!reader) return std::unexpected(reader.error());
  if (reader->count() == 0) return failure("the demo holds no sample");
  reader->set_origin("DEMO");
  return Replay(std::move(*reader));
}

std::size_t Replay::size() const { return reader_ ? reader_->count() : trace_.size(); }

WallTime Replay::time(std::size_t index) const { return reader_ ? reader_->time(index) : trace_[index]->time; }

std::uint64_t Replay::skipped() const { return reader_ ? reader_->skipped() : 0; }

Result<SnapshotPtr> Replay::at(std::size_t index) {
  if (index >= size()) return failure(fmt::format("there is no sample number {}", index));
  if (reader_) return reader_->at(index);
  return trace_[index];
}

std::size_t Replay::find(WallTime time) {
  if (reader_) return reader_->seek(time);
  for (auto i = trace_.size(); i > 0; --i) {
    if (trace_[i - 1]->time <= time) return i - 1;
  }
  return 0;
}

bool Replay::play(double speed, std::size_t from, PlayClock &clock) {
  if (!(speed >= kSlowest)) return false;
  speed_ = speed;
  position_ = from;
  clock_ = &clock;
  due_ = clock.now();
  return true;
}

std::chrono::nanoseconds Replay::pause_before(std::size_t index) const {
  const auto before = time(index - 1);
  const auto now = time(index);
  if (now <= before) return {};  // the clock was set back, or another recording was added
  const auto pause = static_cast<std::uint64_t>(now.time_since_epoch().count()) -
                     static_cast<std::uint64_t>(before.time_since_epoch().count());
  constexpr auto kLongest = static_cast<std::uint64_t>(std::chrono::nanoseconds(kLongestPause).count());
  return pause > kLongest ? kShortenedPause : std::chrono::nanoseconds(static_cast<std::int64_t>(pause));
}

Result<SnapshotPtr> Replay::wait_next(const std::stop_token &stop) {
  if (clock_ == nullptr) play(1);
  if (position_ >= size() || stop.stop_requested()) return SnapshotPtr();
  if (clock_->now() < due_ && !clock_->wait_until(due_, stop)) return SnapshotPtr();
  auto snapshot = at(position_);
  ++position_;
  if (position_ < size()) {
    const auto pause = static_cast<double>(pause_before(position_).count()) / speed_;
    due_ += std::chrono::nanoseconds(static_cast<std::int64_t>(pause));
  }
  return snapshot;
}

}  // namespace gpulse::record
