// SPDX-License-Identifier: Apache-2.0
#include "record/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace gpulse::record {

namespace {

constexpr std::uint32_t kGroup = 30;  // samples, the key among them

std::unexpected<Error> cannot_keep() { return failure("cannot keep what was seen", std::strerror(errno)); }

UniqueFd unnamed_file(const std::string &folder) {
  constexpr mode_t kMode = 0600;
  UniqueFd file(::open(folder.c_str(), O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, kMode));
  if (file) return file;
  auto name = folder + "/gpulse-XXXXXX";
  file = UniqueFd(::mkostemp(name.data(), O_CLOEXEC));
  if (file && ::unlink(name.c_str()) != 0) file.reset();
  return file;
}

}  // namespace

Result<Journal> Journal::open(std::uint64_t limit) {
  UniqueFd file;
  const char *wanted = std::getenv("TMPDIR");
  if (wanted != nullptr && *wanted != '\0') file = unnamed_file(wanted);
  if (!file) file = unnamed_file("/tmp");
  if (!file) file = UniqueFd(::memfd_create("gpulse", MFD_CLOEXEC));
  if (!file) return cannot_keep();
  return Journal(std::move(file), limit);
}

Result<void> Journal::append(const SnapshotPtr &snapshot) {
  // Before it is written: where no part of the file can be given back, all goes and this is the first again.
  if (bytes() >= limit_) drop_oldest();
  const bool key = restart_ || samples_.empty() || samples_.back().since_key + 1 >= kGroup;
  restart_ = true;  // until all has gone well
  if (key) encoder_.restart();
  payload_.clear();
  if (const auto encoded = encoder_.encode(payload_, snapshot); !encoded) return encoded;
  if (payload_.size() > std::numeric_limits<std::uint32_t>::max()) return failure("this sample is too large to keep");
  if (const auto done = put(payload_.view()); !done) return done;
  restart_ = false;
  in_order_ = in_order_ && (samples_.empty() || samples_.back().time <= snapshot->time);
  samples_.push_back({.offset = end_offset_,
                      .length = static_cast<std::uint32_t>(payload_.size()),
                      .since_key = key ? 0 : samples_.back().since_key + 1,
                      .time = snapshot->time});
  end_offset_ += payload_.size();
  return {};
}

// What a full disk took of it is written over by the next.
Result<void> Journal::put(std::span<const std::byte> bytes) const {
  auto offset = end_offset_;
  while (!bytes.empty()) {
    const auto done = ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return cannot_keep();
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
  return {};
}

// A sample is nothing without the key sample before it: those of one key go together.
void Journal::drop_oldest() {
  const auto oldest = first_;
  while (!samples_.empty() && bytes() >= limit_) {
    const auto next =
        std::find_if(samples_.begin() + 1, samples_.end(), [](const auto &s) { return s.since_key == 0; });
    if (next == samples_.end()) break;
    first_ += static_cast<std::uint64_t>(next - samples_.begin());
    samples_.erase(samples_.begin(), next);
  }
  if (first_ == oldest) return;
  // From the start: a hole that begins within a block does not free that block.
  const auto before = static_cast<off_t>(first_offset());
  if (::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, before) == 0) return;
  if (::ftruncate(file_.get(), 0) != 0) return;
  first_ = end();
  samples_.clear();
  end_offset_ = 0;
}

// Brings the decoder from where it is to the sample, by way of the key sample where need be.
bool Journal::load(std::uint64_t number) {
  const auto key = number - samples_[static_cast<std::size_t>(number - first_)].since_key;
  const bool onward = loaded_ != kNone && loaded_ <= number && loaded_ >= key;
  for (auto i = onward ? loaded_ + 1 : key; i <= number; ++i) {
    const auto &sample = samples_[static_cast<std::size_t>(i - first_)];
    loaded_ = kNone;
    buffer_.resize(sample.length);
    for (std::size_t have = 0; have < buffer_.size();) {
      const auto got =
          ::pread(file_.get(), buffer_.data() + have, buffer_.size() - have, static_cast<off_t>(sample.offset + have));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      have += static_cast<std::size_t>(got);
    }
    if (sample.since_key == 0) decoder_.restart(codec::todays_schema().slots);
    decoder_.current().time = sample.time;
    codec::WireReader in(std::as_bytes(std::span(buffer_)));
    if (!decoder_.decode(in)) return false;
    loaded_ = i;
  }
  return true;
}

Result<SnapshotPtr> Journal::at(std::uint64_t number) {
  if (number < first() || number >= end()) return failure("this moment is not kept");
  if (!load(number)) return failure("this moment cannot be read back");
  return std::make_shared<const Snapshot>(decoder_.current());
}

std::uint64_t Journal::find(WallTime time) const {
  std::size_t found = samples_.size();
  if (in_order_) {
    found = static_cast<std::size_t>(std::ranges::upper_bound(samples_, time, {}, &Sample::time) - samples_.begin());
  } else {
    // The clock was set back: the latest sample that is not after the time.
    while (found > 0 && samples_[found - 1].time > time) --found;
  }
  return first_ + (found == 0 ? 0 : found - 1);
}

}  // namespace gpulse::record
