// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "share/sample_bytes.hpp"
#include "share/segment.hpp"

namespace gpulse::share {

namespace {

constexpr std::size_t kLeastBytes = std::size_t{64} << 10U;
constexpr std::size_t kLeastPast = std::size_t{256} << 10U;
constexpr std::size_t kMostPast = std::size_t{2} << 20U;
// Of the past for each device: a minute of its changes.
constexpr std::size_t kPastPerDevice = std::size_t{32} << 10U;

std::string reason_words(int error) { return std::strerror(error); }

// Blocks are allocated now: writing into a file system that is full would end the program.
Result<Mapping> map_new(const std::string &path, std::uint64_t bytes) {
  ::unlink(path.c_str());
  const UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!file) return failure(fmt::format("cannot make {}: {}", path, reason_words(errno)));
  ::fchmod(file.get(), 0644);  // whatever the mask says
  int error = EINTR;
  while (error == EINTR) error = ::posix_fallocate(file.get(), 0, static_cast<off_t>(bytes));
  if (error != 0) {
    ::unlink(path.c_str());
    return failure(fmt::format("no room for {} bytes in {}: {}", bytes, path, reason_words(error)));
  }
  void *memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return failure(fmt::format("cannot map {}: {}", path, reason_words(errno)));
  return Mapping(memory, bytes);
}

// Wakes all who wait.
void ring(std::span<Word> words) {
  // The low half of the word; this program runs on little-endian machines alone.
  static_assert(std::endian::native == std::endian::little);
  words[head::bell].fetch_add(1, std::memory_order_release);
  ::syscall(SYS_futex, &words[head::bell], FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

Mapping::~Mapping() {
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
}

Publisher::~Publisher() {
  if (file_.mapping.words().empty()) return;
  set_state(SegmentState::ended);
  ::unlink((folder_ + "/" + kSegmentFile).c_str());
}

void Publisher::set_state(SegmentState state) {
  const auto words = file_.mapping.words();
  if (words.empty()) return;
  words[head::state].store(static_cast<std::uint64_t>(state), std::memory_order_release);
  ring(words);
}

Result<Publisher::File> Publisher::make_file(const std::string &path, const Room &room) {
  const auto &schema = codec::todays_schema();
  auto layout = make_layout(room, schema.body.size(), schema.hash);
  if (started_ == 0) started_ = layout.started;
  layout.started = started_;
  if (layout.bytes > kMostSegmentBytes) return failure("a sample of this machine is too large to be shared");
  auto mapping = map_new(path, layout.bytes);
  if (!mapping) return std::unexpected(mapping.error());
  const auto words = mapping->words();
  for (std::size_t i = 0; i < schema.body.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, &schema.body[i], std::min<std::size_t>(8, schema.body.size() - i));
    words[layout.keys_at + i / 8].store(word, std::memory_order_relaxed);
  }
  write_head(words, layout);
  return File{.mapping = std::move(*mapping), .layout = layout, .past = PastWriter(words, layout)};
}

Result<void> Publisher::publish(const SnapshotPtr &snapshot, std::chrono::nanoseconds interval) {
  bytes_.clear();
  if (auto encoded = encode_sample(bytes_, encoder_, snapshot); !encoded) return encoded;
  const bool same = std::ranges::equal(snapshot->devices, known_, {}, &Device::identity);
  if (!same) {
    ++identities_;
    known_.clear();
    for (const auto &device : snapshot->devices) known_.push_back(device.identity);
  }
  const SlotContent content{
      .snapshot = *snapshot, .bytes = bytes_.view(), .boot_time = boot_clock(), .identities = identities_};
  const auto put = [&](File &file) {
    const auto words = file.mapping.words();
    words[head::interval].store(static_cast<std::uint64_t>(interval.count()), std::memory_order_relaxed);
    write_slot(words, file.layout, ++file.number, content);
    file.past->append(snapshot, content.boot_time);
    ring(words);
  };
  if (!file_.mapping.words().empty() && fits(file_.layout, content)) {
    put(file_);
    return {};
  }
  // Twice as much as is needed now, so that a few processes more do not make another one.
  const auto devices = snapshot->devices.size();
  const Room room{.devices = std::max(devices + devices / 4 + 4, file_.layout.most_devices),
                  .bytes = std::max({kLeastBytes, 2 * bytes_.size(), file_.layout.most_bytes}),
                  .past_bytes = std::clamp(devices * kPastPerDevice, kLeastPast, kMostPast)};
  const auto path = folder_ + "/" + kSegmentFile;
  const auto unfinished = path + ".new";
  auto next = make_file(unfinished, room);
  if (!next) return std::unexpected(next.error());
  // Before anybody sees the file: whoever opens it finds a sample.
  put(*next);
  if (::rename(unfinished.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(unfinished.c_str());
    return failure(fmt::format("cannot put {} in its place: {}", path, reason_words(error)));
  }
  set_state(SegmentState::replaced);
  file_ = std::move(*next);
  return {};
}

}  // namespace gpulse::share
