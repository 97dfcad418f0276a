// SPDX-License-Identifier: Apache-2.0
#include "record/recording_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gpulse::record {

bool is_recording(std::span<const std::byte> start) {
  const auto magic = std::as_bytes(std::span(codec::kMagic));
  return start.size() >= magic.size() && std::equal(magic.begin(), magic.end(), start.begin());
}

Result<RecordingReader> RecordingReader::open(const std::string &path) {
  auto bytes = codec::ByteSource::open(path);
  if (!bytes) return std::unexpected(bytes.error());
  return open(std::move(*bytes), path);
}

Result<RecordingReader> RecordingReader::open(std::span<const std::byte> bytes, std::string name) {
  return open(codec::ByteSource(bytes), std::move(name));
}

Result<RecordingReader> RecordingReader::open(codec::ByteSource bytes, std::string name) {
  auto numbering = codec::Numbering::by_gpu;
  switch (codec::check_file_head(bytes)) {
    case codec::FileHead::good:
      break;
    case codec::FileHead::older:
      numbering = codec::Numbering::flat;
      break;
    case codec::FileHead::empty:
      return failure(fmt::format("{} is empty", name), "a recording is made with `gpulse record -o FILE`");
    case codec::FileHead::newer:
      return failure(fmt::format("{} is a recording of a later version", name),
                     "read it with a gpulse that is not older than the one that wrote it");
    case codec::FileHead::torn:
    case codec::FileHead::foreign:
      return failure(fmt::format("{} is not a recording", name), "a recording is made with `gpulse record -o FILE`");
  }
  RecordingReader reader(std::move(bytes), std::move(name), numbering);
  reader.find_samples();
  return reader;
}

void RecordingReader::find_samples() {
  // So that a recording of today's table can be read even without its schema.
  schemas_.emplace(codec::todays_schema().hash, codec::todays_schema().slots);

  codec::BlockScanner scanner(bytes_);
  std::uint32_t last_crc = 0;
  bool chained = false;
  while (const auto block = scanner.next()) {
    if (!add_block(*block, last_crc, chained)) ++skipped_;
  }
  skipped_ += scanner.skipped();
  in_order_ = std::ranges::is_sorted(samples_, {}, &Sample::time);
}

bool RecordingReader::add_block(const codec::Block &block, std::uint32_t &last_crc, bool &chained) {
  codec::WireReader in(block.payload);
  const auto kind = static_cast<codec::BlockKind>(std::to_integer<std::uint8_t>(block.payload.front()));
  if (kind == codec::BlockKind::schema) {
    const auto body = block.payload.subspan(1);
    const auto hash = codec::schema_hash(body);
    if (schemas_.contains(hash)) return true;
    codec::WireReader schema(body);
    auto map = codec::decode_schema(schema);
    if (map) schemas_.emplace(hash, std::move(*map));
    return map.has_value();
  }
  if (kind != codec::BlockKind::key && kind != codec::BlockKind::delta) return true;  // of a later version: not for us
  const auto head = codec::read_sample_head(in);
  Sample sample{.offset = block.offset, .key = samples_.size()};
  if (kind == codec::BlockKind::key) {
    chained = head && schemas_.contains(head->schema);
    if (!chained) return false;
    sample.time = WallTime(std::chrono::nanoseconds(head->time));
  } else {
    chained = chained && head && head->previous == last_crc;
    if (!chained) return false;
    const auto before = static_cast<std::uint64_t>(samples_.back().time.time_since_epoch().count());
    const auto time = static_cast<std::int64_t>(before + static_cast<std::uint64_t>(head->time));
    sample.time = WallTime(std::chrono::nanoseconds(time));
    sample.key = samples_.back().key;
  }
  last_crc = block.crc;
  samples_.push_back(sample);
  return true;
}

// Brings the decoder from where it is to the sample, by way of the key block where need be.
bool RecordingReader::load(std::size_t index) {
  const auto key = samples_[index].key;
  const bool onward = loaded_ != kNone && loaded_ <= index && loaded_ >= key;
  for (auto i = onward ? loaded_ + 1 : key; i <= index; ++i) {
    loaded_ = kNone;
    const auto block = codec::read_block(bytes_, samples_[i].offset);
    if (!block) return false;
    codec::WireReader in(block->payload);
    const auto head = codec::read_sample_head(in);
    if (!head) return false;
    if (head->kind == codec::BlockKind::key) {
      const auto schema = schemas_.find(head->schema);
      if (schema == schemas_.end()) return false;
      decoder_.restart(schema->second);
    }
    decoder_.current().time = samples_[i].time;
    if (!decoder_.decode(in)) return false;
    loaded_ = i;
  }
  return true;
}

Result<SnapshotPtr> RecordingReader::at(std::size_t index) {
  if (index >= samples_.size()) return failure(fmt::format("{} holds no sample number {}", name_, index));
  if (!load(index)) {
    return failure(fmt::format("sample {} of {} cannot be read", index, name_), "the file has been damaged or changed");
  }
  next_ = index + 1;
  auto snapshot = std::make_shared<Snapshot>(decoder_.result());
  if (!origin_.empty()) snapshot->origin = origin_;
  return snapshot;
}

std::size_t RecordingReader::seek(WallTime time) {
  const auto later = [&](const Sample &sample) { return sample.time > time; };
  std::size_t found = 0;
  if (in_order_) {
    found = static_cast<std::size_t>(std::ranges::upper_bound(samples_, time, {}, &Sample::time) - samples_.begin());
  } else {
    // The clock was set back while it was recorded: the latest sample that is not after the time.
    for (found = samples_.size(); found > 0 && later(samples_[found - 1]);) --found;
  }
  next_ = found == 0 ? 0 : found - 1;
  return next_;
}

Result<SnapshotPtr> RecordingReader::next() {
  if (next_ >= samples_.size()) return SnapshotPtr();
  return at(next_);
}

}  // namespace gpulse::record
