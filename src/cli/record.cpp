// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include "cli/output.hpp"
#include "cli/session.hpp"
#include "metric/format.hpp"
#include "record/recording_writer.hpp"

namespace gpulse::cli {

int run_record(const Options &options) {
  const auto stop = stop_on_signals();
  auto reading = feed_options(options);
  reading.continuous = true;
  const auto opened = open_feed(reading);
  if (!opened) return fail(opened.error());
  auto &feed = **opened;
  const auto begun = monotonic_now();
  // The file is touched only when there is something to put into it.
  auto snapshot = first_next(feed, stop);
  if (!snapshot) return fail(snapshot.error());
  if (*snapshot == nullptr) {
    complain("nothing was recorded");
    return kFailure;
  }
  auto writer = record::RecordingWriter::open(options.output, options.append, options.force);
  if (!writer) return fail(writer.error());
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  while (*snapshot != nullptr) {
    if (auto written = writer->write(**snapshot); !written) return fail(written.error());
    if (terminal) {
      fmt::print(stderr, "\r{} samples, {} \x1b[K", writer->samples(),
                 format_bytes(static_cast<double>(writer->size())));
    }
    if (options.count && writer->samples() >= *options.count) break;
    if (options.duration && monotonic_now() - begun >= *options.duration) break;
    snapshot = feed.next(stop);
    if (!snapshot) return fail(snapshot.error());
  }
  fmt::print(stderr, "{}recorded {} samples, {}, in {}\n", terminal ? "\r\x1b[K" : "gpulse: ", writer->samples(),
             format_bytes(static_cast<double>(writer->size())), options.output);
  return kGood;
}

}  // namespace gpulse::cli
