// SPDX-License-Identifier: Apache-2.0
#include "cli/smi_session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/output.hpp"
#include "view/smi/table.hpp"

namespace gpulse::cli {

using view::smi::Selection;

Result<SmiOutput> SmiOutput::open(const std::string &file) {
  SmiOutput output;
  if (file.empty()) return output;
  output.file_ = std::fopen(file.c_str(), "w");
  if (output.file_ == nullptr) return failure(fmt::format("Failed to open file {} for writing.", file));
  return output;
}

[[gnu::hot]] Result<void> SmiOutput::write(std::string_view text) {
  if (file_ == nullptr) return write_out(text);
  const bool good = std::fwrite(text.data(), 1, text.size(), file_) == text.size() && std::fflush(file_) == 0;
  if (!good) return failure("cannot write to the file");
  return {};
}

SmiResult<SmiSession> SmiSession::open(const Options &options, const MetricSet &only,
                                       std::optional<std::chrono::nanoseconds> pace) {
  auto reading = feed_options(options);
  reading.only = only;
  reading.of_instances = view::smi::needs_of_instances();
  reading.rates = feed::Rates::if_needed;
  reading.either_limit = true;
  reading.window = std::chrono::milliseconds(110);
  reading.interval = pace.value_or(reading.interval);
  reading.all_each_time = true;
  const auto feed = open_feed(reading);
  if (!feed) return std::unexpected(SmiRefusal{feed.error().line() + "\n", kOther});
  return SmiSession(**feed, pace);
}

int SmiSession::look(const std::string &which,
                     const std::function<std::optional<int>(const SmiResult<Selection> &)> &show) {
  auto snapshot = pace_ && feed_->is_live() ? first_next(*feed_, {}) : first_look(*feed_);
  std::optional<int> code;
  const auto take = [&] [[gnu::hot]] (const SnapshotPtr &sample) {
    code = show(select(sample, which));
    return !code.has_value();
  };
  if (!snapshot) return say({snapshot.error().line() + "\n", kOther});
  if (!take(*snapshot) || !pace_) return code.value_or(kGood);
  if (feed_->is_live()) {
    const auto followed = feed_->follow({}, take);
    return followed ? code.value_or(kGood) : say({followed.error().line() + "\n", kOther});
  }
  // A recording stands still: it is shown at this pace, as it is.
  auto due = monotonic_now();
  do {
    due = next_turn(due, *pace_, monotonic_now());
    sleep_until(due);
  } while (take(*snapshot));
  return code.value_or(kGood);
}

SmiResult<Selection> SmiSession::look(const std::string &which) {
  const auto snapshot = first_look(*feed_);
  if (!snapshot) return std::unexpected(SmiRefusal{snapshot.error().line() + "\n", kOther});
  return select(*snapshot, which);
}

[[gnu::hot]] SmiResult<Selection> SmiSession::select(const SnapshotPtr &snapshot, const std::string &which) {
  snapshot_ = snapshot;
  auto selection = view::smi::select_devices(*snapshot_, which);
  if (snapshot_->devices.empty()) return std::unexpected(nothing_found(*snapshot_));
  if (!selection) return std::unexpected(SmiRefusal{"No devices were found\n", kNotFound});
  if (selection->devices.empty()) return std::unexpected(nothing_found(*snapshot_));
  return take_out_lost(std::move(*selection));
}

[[gnu::hot]] Selection SmiSession::take_out_lost(Selection selection) {
  complaint_.clear();
  std::erase_if(selection.devices, [&] [[gnu::hot]] (const Device *device) {
    if (device->state != DeviceState::lost) return false;
    const auto &why = device->row[device_metric("memory_total_bytes")];
    complaint_ += fmt::format("Unable to determine the device handle for GPU{}: {}: {}\n", device->id.index,
                              view::smi::bus_id(*device),
                              why.is(Reason::error) ? view::smi::driver_words(why.code())
                                                    : "GPU is lost.  Reboot the system to recover this GPU");
    return true;
  });
  return selection;
}

bool SmiSession::take_out_silent(Selection &selection) {
  const auto is_silent = [&](const Device *device) {
    if (device->state != DeviceState::not_responding) return false;
    complaint_ +=
        fmt::format("The driver does not answer for GPU{}: {}\n", device->id.index, view::smi::bus_id(*device));
    return true;
  };
  return std::erase_if(selection.devices, is_silent) > 0;
}

}  // namespace gpulse::cli
