// SPDX-License-Identifier: Apache-2.0
#include "record/recording_writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file.hpp"
#include "codec/block.hpp"

namespace gpulse::record {

namespace {

constexpr std::uint64_t kMostDeltas = 59;
constexpr std::chrono::seconds kLongestGroup{60};
// A damaged schema must not cost the whole recording to a reader with another table.
constexpr std::uint64_t kKeysPerSchema = 64;

std::unexpected<Error> cannot_write(const std::string &path) {
  return failure(fmt::format("cannot write {}", path), std::strerror(errno));
}

std::int64_t nanoseconds(WallTime time) { return time.time_since_epoch().count(); }

// Leaves the file ready to be added to; says whether it still needs its head.
Result<bool> prepare(const std::string &path, int file, Existing existing) {
  if (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return failure(fmt::format("{} is being written by another gpulse", path), "choose another file");
  }
  // Again, now that nobody else can write to it.
  if (const auto good = check_target(path, existing); !good) return std::unexpected(good.error());
  std::uint64_t keep = 0;
  struct stat info{};
  if (::fstat(file, &info) != 0) return cannot_write(path);
  if (existing == Existing::append) {
    auto bytes = codec::ByteSource::open(path);
    if (!bytes) return std::unexpected(bytes.error());
    if (codec::check_file_head(*bytes) == codec::FileHead::good) {
      codec::BlockScanner scanner(*bytes);
      while (scanner.next()) {
      }
      if (scanner.gave_up()) {
        return failure(fmt::format("{} is damaged from byte {} on", path, scanner.good_end()),
                       "--append cannot go on with it; choose another file");
      }
      keep = scanner.good_end();
    }
  }
  if (keep != static_cast<std::uint64_t>(info.st_size) && ::ftruncate(file, static_cast<off_t>(keep)) != 0) {
    return cannot_write(path);
  }
  return keep == 0;
}

}  // namespace

RecordingWriter::RecordingWriter(std::string path, UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}

Result<void> check_target(const std::string &path, Existing existing) {
  struct stat info{};
  if (path == "-") {
    if (::isatty(STDOUT_FILENO) != 1) return {};
    return failure("the standard output is a terminal", "send the recording into a file or a pipe");
  }
  if (existing == Existing::overwrite || ::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  auto bytes = codec::ByteSource::open(path);
  if (!bytes) return std::unexpected(bytes.error());
  const auto head = codec::check_file_head(*bytes);
  if (head == codec::FileHead::empty) return {};
  if (existing == Existing::append) {
    if (head == codec::FileHead::newer || head == codec::FileHead::older) {
      return failure(fmt::format("{} is a recording of another version", path),
                     "--append cannot go on with it; choose another file");
    }
    if (head == codec::FileHead::foreign) {
      return failure(fmt::format("{} is not a recording", path), "--append cannot go on with it; choose another file");
    }
    return {};
  }
  if (head == codec::FileHead::foreign) {
    return failure(fmt::format("{} is there already, and is not a recording", path), "--force overwrites it");
  }
  return failure(fmt::format("{} is there already", path), "--append goes on with it, --force overwrites it");
}

Result<RecordingWriter> RecordingWriter::open(const std::string &path, Existing existing, const std::stop_token &stop) {
  if (const auto good = check_target(path, existing); !good) return std::unexpected(good.error());
  const bool standard = path == "-";
  const std::string name = standard ? "the standard output" : path;
  auto file = standard ? UniqueFd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)) : open_to_append(path, stop);
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0) return cannot_write(name);
  const bool regular = S_ISREG(info.st_mode) && !standard;  // what the shell opened it has prepared too
  bool needs_head = true;
  if (regular) {
    const auto prepared = prepare(path, file.get(), existing);
    if (!prepared) return std::unexpected(prepared.error());
    needs_head = *prepared;
  }
  RecordingWriter writer(name, std::move(file));
  if (needs_head) {
    codec::WireWriter head;
    codec::write_file_head(head);
    if (const auto done = writer.put(head.view()); !done) return std::unexpected(done.error());
  }
  return writer;
}

bool RecordingWriter::key_is_due(WallTime time) const {
  if (restart_ || since_key_ >= kMostDeltas || time < key_time_) return true;
  // Unsigned: a clock may say anything.
  const auto age = static_cast<std::uint64_t>(nanoseconds(time)) - static_cast<std::uint64_t>(nanoseconds(key_time_));
  return age >= static_cast<std::uint64_t>(std::chrono::nanoseconds(kLongestGroup).count());
}

Result<void> RecordingWriter::write(const Snapshot &snapshot) {
  const bool key = key_is_due(snapshot.time);
  restart_ = true;  // until all has gone well
  codec::SampleHead head{.kind = key ? codec::BlockKind::key : codec::BlockKind::delta,
                         .schema = codec::todays_schema().hash,
                         .previous = last_crc_};
  head.time = nanoseconds(snapshot.time) - (key ? 0 : nanoseconds(last_time_));
  blocks_.clear();
  payload_.clear();
  if (key) {
    encoder_.restart();
    if (keys_ % kKeysPerSchema == 0) {
      payload_.u8(static_cast<std::uint8_t>(codec::BlockKind::schema));
      payload_.bytes(codec::todays_schema().body);
      codec::write_block(blocks_, payload_.view());
      payload_.clear();
    }
  }
  codec::write_sample_head(payload_, head);
  if (const auto encoded = encoder_.encode(payload_, snapshot); !encoded) return encoded;
  if (payload_.size() > codec::kLargestPayload) return failure("this sample cannot be recorded: it is too large");
  const auto crc = codec::write_block(blocks_, payload_.view());
  if (const auto done = put(blocks_.view()); !done) return done;
  restart_ = false;
  last_crc_ = crc;
  last_time_ = snapshot.time;
  if (key) {
    key_time_ = snapshot.time;
    ++keys_;
  }
  since_key_ = key ? 0 : since_key_ + 1;
  ++samples_;
  return {};
}

Result<void> RecordingWriter::put(std::span<const std::byte> bytes) {
  if (!append_whole(file_.get(), {reinterpret_cast<const char *>(bytes.data()), bytes.size()})) {
    return cannot_write(path_);
  }
  size_ += bytes.size();
  return {};
}

}  // namespace gpulse::record
