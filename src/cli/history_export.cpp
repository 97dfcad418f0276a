// SPDX-License-Identifier: Apache-2.0
#include "cli/history_export.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.hpp"
#include "cli/output.hpp"
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
                          const std::vector<Text> &devices, record::RecordingWriter &writer, ProgressLine &progress,
                          const std::stop_token &stop) {
  for (std::size_t i = 0; i < refs.size() && !stop.stop_requested(); ++i) {
    const auto sample = reader.sample(refs[i]);
    if (!sample) return std::unexpected(sample.error());
    if (*sample == nullptr) continue;  // the agent has just given it up
    if (auto written = writer.write(*part_of(*sample, devices)); !written) return written;
    progress.tell_share(static_cast<double>(i + 1) / static_cast<double>(refs.size()));
  }
  return {};
}

Result<void> check_target(const HistoryExport &what, const std::string &history) {
  using record::Existing;
  if (is_same_file(history, what.path))
    return failure(fmt::format("{} cannot be exported into itself", what.path), "choose another file");
  if (auto good = record::check_target(what.path, Existing::overwrite); !good || what.overwrite) return good;
  if (record::check_target(what.path, Existing::refuse)) return {};
  return failure(fmt::format("{} is there already", what.path), "--force overwrites it");
}

}  // namespace

Result<std::string> export_history(history::Reader &reader, const HistoryExport &what, ProgressLine &progress,
                                   const std::stop_token &stop) {
  if (const auto good = check_target(what, reader.path()); !good) return std::unexpected(good.error());
  const auto refs = reader.samples(what.span);
  if (stop.stop_requested()) return failure("nothing was exported");
  if (!refs) return std::unexpected(refs.error());
  if (refs->empty()) return failure("there are no samples of that time", "gpulse history shows what there is");
  const auto existing = what.overwrite ? record::Existing::overwrite : record::Existing::refuse;
  auto writer = record::RecordingWriter::open(what.path, existing, stop);
  if (!writer) return stop.stop_requested() ? failure("nothing was exported") : std::unexpected(writer.error());
  const auto copied = copy_samples(reader, *refs, what.devices, *writer, progress, stop);
  // A stop ends a question to the database too.
  if (!copied && !stop.stop_requested()) return std::unexpected(copied.error());
  return fmt::format("exported {} of {}, {}, {}", writer->samples(), counted(refs->size(), "sample"),
                     format_bytes(static_cast<double>(writer->size())),
                     what.path == "-" ? "to the standard output" : "in " + what.path);
}

}  // namespace gpulse::cli
