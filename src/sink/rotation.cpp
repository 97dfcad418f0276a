// SPDX-License-Identifier: Apache-2.0
#include "sink/rotation.hpp"

#include <algorithm>
#include <filesystem>

namespace gpulse::sink {

namespace {

using namespace std::chrono_literals;

std::string behind_links(const std::string &path) {
  std::error_code none;
  const auto real = std::filesystem::canonical(path, none);
  return none ? path : real.string();
}

}  // namespace

std::int64_t period_of(WallTime time, std::chrono::nanoseconds length) {
  const auto since = time.time_since_epoch();
  return since / length - (since % length < 0ns ? 1 : 0);
}

Rotation::Rotation(const RotationOptions &options, const OutputFile &file)
    : options_(options), path_(behind_links(file.name())), keeper_(path_, options.keep) {
  if (options_.time > 0ns && file.length() > 0) period_ = period_of(file.last_write(), options_.time);
  if (const auto old = list_old_files(path_); !old.empty()) newest_ = old.back().time;
}

bool Rotation::is_due(const OutputFile &file, std::size_t bytes, WallTime time) {
  const bool full = options_.bytes > 0 && file.length() > 0 && file.length() + bytes > options_.bytes;
  if (options_.time == 0ns) return full;
  const auto period = period_of(time, options_.time);
  if (!period_) period_ = period;
  // A clock that is set back a little must not begin a file twice.
  const bool old = period > *period_ || period < *period_ - 1;
  return full || (old && file.length() > 0);
}

Result<void> Rotation::begin_file(OutputFile &file, WallTime time) {
  // Names grow, whatever the clock does.
  auto name_time = std::chrono::floor<std::chrono::milliseconds>(time);
  if (newest_) name_time = std::max(name_time, std::chrono::floor<std::chrono::milliseconds>(*newest_) + 1ms);
  if (const auto moved = file.move_to(path_, path_ + '.' + stamp_of(name_time)); !moved) return moved;
  newest_ = name_time;
  if (options_.time > 0ns) period_ = period_of(time, options_.time);
  keeper_.added();
  return {};
}

void Rotation::close() { keeper_.wait(10s); }

}  // namespace gpulse::sink
