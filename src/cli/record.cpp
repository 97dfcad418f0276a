// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include "base/counted.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "metric/format.hpp"
#include "record/recording_writer.hpp"
#include "serve/finding_thread.hpp"

namespace gpulse::cli {

namespace {

record::Existing existing_of(const Options &options) {
  if (options.append) return record::Existing::append;
  return options.force ? record::Existing::overwrite : record::Existing::refuse;
}

// Waits for somebody to read, where the file is a FIFO.
Result<record::RecordingWriter> open_writer(const Options &options, const std::stop_token &stop) {
  const SlowNotice notice(fmt::format("waiting for a reader of {} …", options.output));
  return record::RecordingWriter::open(options.output, existing_of(options), stop);
}

}  // namespace

int run_record(const Options &options) {
  const bool standard = options.output == "-";
  if (standard && options.append) return fail({"--append needs a file", "the standard output is none"}, kUsage);
  if (const auto good = record::check_target(options.output, existing_of(options)); !good) return fail(good.error());
  if (is_same_file(options.replay, options.output)) {
    return fail({fmt::format("{} cannot be recorded into itself", options.output), "choose another file"});
  }
  const auto stop = stop_on_signals();
  auto reading = feed_options(options);
  reading.continuous = true;
  const auto opened = open_feed(reading, stop);
  if (!opened) return fail(opened.error());
  auto &feed = **opened;
  const auto begun = monotonic_now();
  const auto nothing = [] {
    complain("nothing was recorded");
    return kFailure;
  };
  // The file is touched only when there is something to put into it.
  auto snapshot = first_next(feed, stop);
  if (!snapshot) return fail(snapshot.error());
  if (*snapshot == nullptr) return nothing();
  auto writer = open_writer(options, stop);
  if (!writer) return stop.stop_requested() ? nothing() : fail(writer.error());
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  Result<void> written;
  serve::FindingThread findings;
  const auto write = [&](const SnapshotPtr &sample) {
    // An agent has put its own into its samples, and a recording is copied as it is.
    const bool judged = feed.is_live() && !feed.is_from_agent();
    written = writer->write(judged ? *findings.add(sample) : *sample);
    if (!written) return false;
    if (terminal) {
      tell(fmt::format("\r{}, {} \x1b[K", counted(writer->samples(), "sample"),
                       format_bytes(static_cast<double>(writer->size()))));
    }
    const bool enough = (options.count && writer->samples() >= *options.count) ||
                        (options.duration && monotonic_now() - begun >= *options.duration);
    return !enough;
  };
  const auto followed = write(*snapshot) ? feed.follow(stop, write) : Result<void>{};
  if (!written) return fail(written.error());
  if (!followed) return fail(followed.error());
  tell(fmt::format("{}recorded {}, {}, {}\n", terminal ? "\r\x1b[K" : "gpulse: ", counted(writer->samples(), "sample"),
                   format_bytes(static_cast<double>(writer->size())),
                   Text(standard ? "to the standard output" : "in " + options.output)));
  return kGood;
}

}  // namespace gpulse::cli
