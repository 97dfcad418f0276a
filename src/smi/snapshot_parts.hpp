// SPDX-License-Identifier: Apache-2.0
// What the readers of nvidia-smi's XML and CSV share: how a device, a process and a snapshot come about from a log.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/snapshot.hpp"

namespace gpulse::smi {

inline constexpr std::size_t kMostDevices = 1024;  // whole ones
inline constexpr std::size_t kMostInstances = 8192;
inline constexpr std::size_t kMostProcesses = 65536;

// Nothing is known of the host, nor of ourselves.
std::shared_ptr<Snapshot> new_snapshot();

// A device of which nothing is known yet but the number.
Device new_device(std::uint32_t index);

// Gives every device a UUID of its own, also where the log has none or the same twice.
class Uuids {
 public:
  // `told` is the log's, empty where it has none.
  std::string give(std::string told, std::string_view pci, std::uint32_t index);

 private:
  std::map<std::string, int> taken_;  // and how often it was asked for
};

// A process of a type such as "C", "G", "C+G" or "M+C", by the name nvidia-smi calls it.
Process new_process(std::uint32_t pid, std::string_view type, std::string_view name);

// Puts devices and processes in order, a process that is listed twice for a device into one, and says where it is from.
void finish(Snapshot &snapshot);

Result<std::vector<SnapshotPtr>> read_xml(std::string_view text, const std::string &name);
Result<std::vector<SnapshotPtr>> read_csv(std::string_view text, const std::string &name);

// Whether a line has titles that nvidia-smi gives its columns; whether it has values that only its rows have.
bool is_csv_header(std::string_view line);
bool is_csv_row(std::string_view line);

}  // namespace gpulse::smi
