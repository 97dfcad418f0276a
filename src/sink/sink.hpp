// SPDX-License-Identifier: Apache-2.0
// Where samples are kept for other programs: TensorBoard event files, CSV, JSON lines, and the newest one for
// Prometheus. `gpulse log` and the library write to sinks. One thread at a time uses a sink; nothing in it prints, and
// every sample is handed to the kernel in one piece, so that there is nothing to lose when the program is killed.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "metric/set.hpp"
#include "model/snapshot.hpp"

namespace gpulse::sink {

enum class Format : std::uint8_t { tensorboard, csv, jsonl, prometheus };
inline constexpr std::string_view kFormatWords[] = {"tensorboard", "csv", "jsonl", "prometheus"};
std::optional<Format> parse_format(std::string_view word);
inline std::string_view word(Format format) { return kFormatWords[static_cast<std::size_t>(format)]; }

// What becomes of a file that is there and not empty. Pipes and devices are written to in any case. A TensorBoard run
// that is there is never touched: see SinkOptions::run. A file of Prometheus' holds one sample: ours is replaced in any
// case, another one only where it may be overwritten.
enum class Existing : std::uint8_t {
  refuse,
  append,     // one of the same kind and columns is gone on with, after cutting off a torn line
  overwrite,  // whatever it is
};

// CSV and JSON lines: when a new file begins. The old one gets its time behind its name and is compressed
// (sink/old_files.hpp).
struct RotationOptions {
  std::uint64_t bytes = 0;           // before it would be larger; 0: however large it is
  std::chrono::nanoseconds time{0};  // at full multiples of it in UTC; 0: however old it is
  std::size_t keep = 10;             // so many old ones

  bool wanted() const { return bytes > 0 || time > time.zero(); }
};

struct SinkOptions {
  Format format = Format::tensorboard;
  // TensorBoard's log directory, which is made where it is not there; else the file, "-": the standard output.
  std::string path = {};
  // As --fields takes them. None: what matters most (view::log_fields()); in JSON lines and for Prometheus everything.
  std::vector<std::string> fields = {};
  // UUIDs of devices; a GPU's instances come with it. None: all. The host's fields are there in any case.
  std::vector<std::string> devices = {};
  // TensorBoard's run: a folder below the log directory, "gpu" or "node3/gpu". One that is there belongs to another
  // writer or an earlier run: then it is "gpu_1", "gpu_2", …
  std::string run = "gpu";
  Existing existing = Existing::refuse;
  // Training steps will be given. TensorBoard then leaves out what comes before the first; CSV has a column for them
  // from the start.
  bool steps = false;
  // Prometheus: the newest sample stays when the sink is closed. Else its file is taken away, because nothing in it
  // would tell that it is old.
  bool keep_newest = false;
  RotationOptions rotation = {};
};

class Sink {
 public:
  Sink() = default;
  Sink(const Sink &) = delete;
  Sink &operator=(const Sink &) = delete;
  virtual ~Sink() = default;  // closes, too

  // `step`: the training step that the sample was taken in; none: the one before goes on, if there was one.
  //
  // TensorBoard: without steps each sample is a point, and its number, from 0 on, stands on the step axis. With steps
  // there is one point per step, folded from its samples as the metric says (mean, highest, last), written when the
  // step moves on or at close(): a second point of the same step would erase the first. A step that goes back, as
  // after loading a checkpoint, begins a new run directory, and so does the first step after samples without one: in
  // the same run it would erase what was there. After the hundredth time, samples count for the highest step instead.
  //
  // After an error the file still ends with a whole sample (where it can be cut), and writing may go on.
  virtual Result<void> write(const Snapshot &snapshot, std::optional<std::int64_t> step = std::nullopt) = 0;
  // All that is complete is out already, as far as this program goes; the step that is still going on stays.
  virtual Result<void> flush() = 0;
  // Writes the step that was going on. Twice is once. In a process that was forked off nothing is written.
  virtual Result<void> close() = 0;

  // What went wrong beside the log itself since it was asked last: an old file that could not be compressed.
  virtual std::optional<Error> take_complaint() { return std::nullopt; }

  // The run directory or the file.
  virtual std::string place() const = 0;
  // Bytes written.
  virtual std::uint64_t size() const = 0;

 protected:
  // A child that was forked off must not write what its parent will.
  bool is_own_process() const { return ::getpid() == process_; }

 private:
  pid_t process_ = ::getpid();
};

// What has to be read for the fields; none: everything. An error is a mistake in the options.
Result<std::optional<MetricSet>> needs_of(const SinkOptions &options);
// Whether open() would take the file, without touching it.
Result<void> check_target(const SinkOptions &options);
// A FIFO is waited for until somebody reads it, unless asked to stop.
Result<std::unique_ptr<Sink>> open(const SinkOptions &options, const std::stop_token &stop = {});

}  // namespace gpulse::sink
