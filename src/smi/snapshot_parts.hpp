// SPDX-License-Identifier: Apache-2.0
// Shared by the XML and the CSV reader: building snapshots, devices and processes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/snapshot.hpp"

namespace gpulse::smi {

inline constexpr std::size_t kMostDevices = 1024;  // without instances
inline constexpr std::size_t kMostInstances = 8192;
inline constexpr std::size_t kMostProcesses = 65536;

// An empty snapshot. A log contains nothing about the host or about gpulse itself.
std::shared_ptr<Snapshot> new_snapshot();

// A device with an index and no readings.
Device new_device(std::uint32_t index);

// Gives every device a unique UUID, even if the log has none or repeats one.
class Uuids {
 public:
  // `logged` is the one in the log, or empty.
  std::string unique(std::string logged, std::string_view pci, std::uint32_t index);

 private:
  std::map<std::string, int> taken_;  // and how often it was requested
};

// `type` is "C", "G", "C+G" or "M+C"; `name` is what nvidia-smi prints, empty if the log has no names.
Process new_process(std::uint32_t pid, std::string_view type, std::optional<std::string_view> name);

// Sorts devices and processes, merges processes that are listed twice for a device, and sets the source.
void finish(Snapshot &snapshot);

Result<std::vector<SnapshotPtr>> read_xml(std::string_view text, const std::string &name);
Result<std::vector<SnapshotPtr>> read_text_log(std::string_view text, const std::string &name);
// `titles` are those of a log that has none: "index, name, …".
Result<std::vector<SnapshotPtr>> read_csv(std::string_view text, const std::string &name, std::string_view titles = {});

// Whether it has the banner of `nvidia-smi -q`.
bool is_text_log(std::string_view start);

// Whether a line consists of nvidia-smi's column titles; whether it has cells that only nvidia-smi prints.
bool is_csv_header(std::string_view line);
bool is_csv_row(std::string_view line);

}  // namespace gpulse::smi
