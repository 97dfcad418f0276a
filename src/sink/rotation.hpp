// SPDX-License-Identifier: Apache-2.0
// When a file of lines is full or old, and how the next one begins: the file is moved to a name with its time
// (sink/old_files.hpp), a new one takes its place, and a thread of its own compresses the old one. At every moment each
// line is in one file. For the sinks of lines; one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sink/old_files.hpp"
#include "sink/output_file.hpp"
#include "sink/sink.hpp"

namespace gpulse::sink {

// Files begin anew at full multiples of `length` in UTC: hours, midnights. So it does not matter when a log was begun,
// nor whether it was interrupted.
std::int64_t period_of(WallTime time, std::chrono::nanoseconds length);

class Rotation {
 public:
  // The file that is there now: by its size, and the time it was last written to, it goes on being counted.
  Rotation(const RotationOptions &options, const OutputFile &file);

  // Before lines of so many bytes are written: whether they belong into a new file.
  bool is_due(const OutputFile &file, std::size_t bytes, WallTime time);
  Result<void> begin_file(OutputFile &file, WallTime time);

  // Waits for the compression, but not for ever: the next log finishes what is left.
  void close();
  std::optional<Error> take_complaint() { return keeper_.take_complaint(); }

 private:
  RotationOptions options_;
  std::string path_;                    // the real one, behind links
  std::optional<std::int64_t> period_;  // of the lines in the file; none: it is empty
  std::optional<WallTime> newest_;      // of the old files
  OldFileKeeper keeper_;
};

}  // namespace gpulse::sink
