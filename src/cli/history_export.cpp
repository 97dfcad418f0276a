// SPDX-License-Identifier: Apache-2.0
#include "cli/history_export.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/session.hpp"
#include "metric/format.hpp"
#include "record/recording_writer.hpp"

namespace gpulse::cli {

namespace {

SnapshotPtr part_of(const SnapshotPtr &sample, const std::vector<Text> &devices) {
  if (devices.empty()) return sample;
  auto part = std::make_shared<Snapshot>(*sample);
  std::erase_if(part->devices, [&](const Device &device) {
    return !device.identity || std::ranges::find(devices, device.identity->uuid) == devices.end();
  });
  std::erase_if(part->processes, [&](const Process &process) {
    return std::ranges::none_of(part->devices, [&](const Device &device) { return device.id == process.device; });
  });
  return part;
}

// The samples until the end or the stop.
Result<void> copy_samples(history::Reader &reader, const std::vector<history::SampleRef> &refs,
                          const std::vector<Text> &devices, record::RecordingWriter &writer,
                          const std::stop_token &stop) {
  ProgressLine progress("exporting");
  for (std::size_t i = 0; i < refs.size() && !stop.stop_requested(); ++i) {
    const auto sample = reader.sample(refs[i]);
    if (!sample) return std::unexpected(sample.error());
    if (*sample == nullptr) continue;  // the agent has just given it up
    if (auto written = writer.write(*part_of(*sample, devices)); !written) return written;
    progress.tell_share(static_cast<double>(i + 1) / static_cast<double>(refs.size()));
  }
  return {};
}

}  // namespace

std::stop_token stop_of_export() { return stop_on_signals(); }

int export_history(history::Reader &reader, const history::Span &span, const std::vector<Text> &devices,
                   const Options &options, const std::stop_token &stop) {
  const auto existing = options.force ? record::Existing::overwrite : record::Existing::refuse;
  const auto &path = options.export_to;
  if (const auto good = record::check_target(path, existing); !good) return fail(good.error());
  if (is_same_file(reader.path(), path)) {
    return fail({fmt::format("{} cannot be exported into itself", path), "choose another file"});
  }
  const auto refs = [&] {
    ProgressLine progress("looking for samples");
    return reader.samples(span, progress.teller());
  }();
  if (stop.stop_requested()) return fail({"nothing was exported"});
  if (!refs) return fail(refs.error());
  if (refs->empty()) return fail({"there are no samples of that time", "gpulse history shows what there is"});
  auto writer = [&] {
    const SlowNotice notice(fmt::format("waiting for a reader of {} …", path));
    return record::RecordingWriter::open(path, existing, stop);
  }();
  if (!writer) return stop.stop_requested() ? fail({"nothing was exported"}) : fail(writer.error());
  const auto copied = copy_samples(reader, *refs, devices, *writer, stop);
  // A stop ends a question to the database too.
  if (!copied && !stop.stop_requested()) return fail(copied.error());
  tell(fmt::format("gpulse: exported {} of {} samples, {}, {}\n", writer->samples(), refs->size(),
                   format_bytes(static_cast<double>(writer->size())),
                   Text(path == "-" ? "to the standard output" : "in " + path)));
  return stop.stop_requested() ? kFailure : kGood;
}

}  // namespace gpulse::cli
