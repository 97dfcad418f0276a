// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "share/sample_bytes.hpp"
#include "share/segment.hpp"

namespace gpulse::share {

namespace {

using namespace std::chrono_literals;

// A stop is noticed within this time.
constexpr auto kTurn = 50ms;
constexpr std::uint64_t kLongestInterval = 1'000'000'000'000'000'000;

std::string_view words_for_fault(HeadFault fault) {
  switch (fault) {
    case HeadFault::none:
      break;
    case HeadFault::foreign:
      return "is not one of gpulse's";
    case HeadFault::other_version:
      return "is of another version of gpulse";
    case HeadFault::damaged:
      return "is damaged";
    case HeadFault::truncated:
      return "is cut off";
  }
  return "";
}

std::shared_ptr<const codec::SlotMap> read_keys(std::span<const Word> words, const Layout &layout) {
  // One's own table needs no decoding.
  std::vector<std::uint64_t> copy(words_for(layout.keys_bytes));
  for (std::size_t i = 0; i < copy.size(); ++i) copy[i] = words[layout.keys_at + i].load(std::memory_order_relaxed);
  const auto body = std::as_bytes(std::span(copy)).first(layout.keys_bytes);
  const auto &own = codec::todays_schema();
  if (std::ranges::equal(body, own.body)) return {std::shared_ptr<void>(), &own.slots};
  if (codec::schema_hash(body) != layout.keys_hash) return nullptr;
  codec::WireReader in(body);
  auto slots = codec::decode_schema(in);
  return slots ? std::make_shared<const codec::SlotMap>(std::move(*slots)) : nullptr;
}

Error no_agent() { return {}; }

}  // namespace

Result<SegmentReader> SegmentReader::open(const Place &place, BootClock clock) {
  const auto path = place.folder + "/" + kSegmentFile;
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) {
    if (errno == ENOENT || errno == ENOTDIR || errno == EACCES) return std::unexpected(no_agent());
    return failure(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  }
  if (auto good = check_folder(place); !good) return std::unexpected(good.error());
  if (auto good = check_file(place, file.get(), path); !good) return std::unexpected(good.error());
  struct stat status{};
  ::fstat(file.get(), &status);
  const auto bytes = static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0));
  const auto refuse = [&](HeadFault fault) -> Result<SegmentReader> {
    return failure(fmt::format("{} {}", path, words_for_fault(fault)));
  };
  if (bytes < kHeadWords * sizeof(Word)) return refuse(HeadFault::truncated);
  if (bytes > kMostSegmentBytes) return refuse(HeadFault::foreign);
  void *memory = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return failure(fmt::format("cannot map {}: {}", path, std::strerror(errno)));
  Mapping mapping(memory, bytes);
  const auto head = read_head(mapping.words(), bytes);
  if (head.fault != HeadFault::none) return refuse(head.fault);
  auto slots = read_keys(mapping.words(), head.layout);
  if (slots == nullptr) return refuse(HeadFault::damaged);
  return SegmentReader(place, clock, std::move(mapping), head.layout, std::move(slots));
}

std::optional<SegmentReader> SegmentReader::find(std::string &problem, const std::vector<Place> &places) {
  for (const auto &place : places) {
    auto reader = open(place);
    auto good = reader ? reader->check() : Result<void>(std::unexpected(reader.error()));
    if (good) return std::move(*reader);
    if (problem.empty()) problem = good.error().line();
  }
  return std::nullopt;
}

std::chrono::nanoseconds SegmentReader::interval() const {
  const auto value = mapping_.words()[head::interval].load(std::memory_order_relaxed);
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(value, kLongestInterval)));
}

namespace {

// How old the newest sample may be: a machine under load is late, an agent that is gone is later.
std::chrono::nanoseconds patience(std::chrono::nanoseconds interval) {
  return std::max<std::chrono::nanoseconds>(3 * interval, interval + 2s);
}

}  // namespace

Result<std::chrono::nanoseconds> SegmentReader::age_of(std::uint64_t boot_time) const {
  const auto now = clock_();
  const auto age = std::chrono::nanoseconds(static_cast<std::int64_t>(now - boot_time));
  if (boot_time > now) return failure(fmt::format("the agent's time in {} is not that of this machine", place_.folder));
  if (age > patience(interval()))
    return failure(
        fmt::format("the agent in {} has had nothing new for {:.0f} s", place_.folder, Seconds(age).count()));
  return age;
}

// One that could not say so itself. Where its pid means nothing to us it is noticed later, by the age of its sample.
bool SegmentReader::is_killed() const {
  return knows_pid_ && ::kill(static_cast<pid_t>(layout_.pid), 0) != 0 && errno == ESRCH;
}

Result<void> SegmentReader::check() const {
  const auto words = mapping_.words();
  const auto boot = boot_id();
  if (layout_.boot_high != boot.high || layout_.boot_low != boot.low)
    return failure(fmt::format("{} is from before the machine was started", place_.folder));
  switch (words[head::state].load(std::memory_order_acquire)) {
    case static_cast<std::uint64_t>(SegmentState::live):
      break;
    case static_cast<std::uint64_t>(SegmentState::replaced):
      return failure(fmt::format("the agent in {} has begun another file", place_.folder));
    case static_cast<std::uint64_t>(SegmentState::ended):
      return failure(fmt::format("the agent in {} has ended", place_.folder));
    default:
      return failure(fmt::format("{}/{} is damaged", place_.folder, kSegmentFile));
  }
  if (is_killed()) return failure(fmt::format("the agent in {} was killed", place_.folder));
  const auto time = newest_time(words, layout_);
  if (!time) return failure(fmt::format("the agent in {} has no whole sample", place_.folder));
  if (auto age = age_of(*time); !age) return std::unexpected(age.error());
  return {};
}

Result<Taken> SegmentReader::latest() const {
  const auto copy = newest_sample(mapping_.words(), layout_);
  if (!copy) return failure(fmt::format("the agent in {} has no whole sample", place_.folder));
  const auto age = age_of(copy->boot_time);
  if (!age) return std::unexpected(age.error());
  auto snapshot = decode_sample(copy->view(), copy->wall_time, *slots_);
  if (snapshot == nullptr) return failure(fmt::format("{}/{} is damaged", place_.folder, kSegmentFile));
  return Taken{.snapshot = std::move(snapshot), .number = copy->number, .age = *age};
}

bool SegmentReader::wait_beyond(std::uint64_t number, Monotonic until, const std::stop_token &stop) const {
  const auto words = mapping_.words();
  for (;;) {
    // Looked at first: whatever is rung after it ends the wait, or keeps it from beginning.
    const auto bell = static_cast<std::uint32_t>(words[head::bell].load(std::memory_order_acquire));
    if (words[head::newest].load(std::memory_order_acquire) > number) return true;
    const auto now = monotonic_now();
    const bool live =
        words[head::state].load(std::memory_order_acquire) == static_cast<std::uint64_t>(SegmentState::live);
    if (!live || stop.stop_requested() || now >= until || is_killed()) return false;
    const auto turn = std::min<std::chrono::nanoseconds>(until - now, kTurn);
    const timespec time{.tv_sec = 0, .tv_nsec = turn.count()};
    ::syscall(SYS_futex, &words[head::bell], FUTEX_WAIT, bell, &time, nullptr, 0);
  }
}

std::optional<Reading> SegmentReader::device_reading(std::size_t device, MetricId metric) const {
  const auto slots = slots_->of(Scope::device);
  // Almost always where it is in our own table.
  auto at = gpulse::slot(metric);
  if (at >= slots.size() || slots[at] != gpulse::slot(metric)) {
    const auto found = std::ranges::find(slots, gpulse::slot(metric));
    if (found == slots.end()) return std::nullopt;
    at = static_cast<std::size_t>(found - slots.begin());
  }
  return share::device_reading(mapping_.words(), layout_, device, at);
}

}  // namespace gpulse::share
