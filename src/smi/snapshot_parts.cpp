// SPDX-License-Identifier: Apache-2.0
#include "smi/snapshot_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "model/derived.hpp"
#include "smi/value.hpp"

namespace gpulse::smi {

std::shared_ptr<Snapshot> new_snapshot() {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->origin = "LOG";
  snapshot->host.fill(Reason::not_supported);
  snapshot->self.fill(Reason::not_supported);
  return snapshot;
}

Device new_device(std::uint32_t index) {
  Device device;
  device.id.index = index;
  device.row.fill(Reason::not_supported);
  return device;
}

std::string Uuids::unique(std::string logged, std::string_view pci, std::uint32_t index) {
  if (logged.empty()) logged = pci.empty() ? fmt::format("LOG-{}", index) : fmt::format("PCI-{}", pci);
  auto uuid = logged;
  while (!taken_.try_emplace(uuid, 1).second) uuid = fmt::format("{}#{}", logged, ++taken_[logged]);
  return uuid;
}

namespace {

// The last part of the program's path. A name may hold blanks ("Plex Transcoder"), and arguments may follow it if the
// program has written them there itself: options, or files with their path.
std::string_view short_name(std::string_view command) {
  auto path = command;
  constexpr std::string_view kProgram = ".exe";
  if (const auto end = lower(command).find(kProgram); end != std::string::npos) {
    path = path.substr(0, end + kProgram.size());
  } else if (path.find('\\') == std::string_view::npos) {
    for (auto at = path.find(' '); at != std::string_view::npos; at = path.find(' ', at + 1)) {
      const auto next = path.substr(at + 1, 2);
      if (next.starts_with('/') || (next.size() == 2 && next[0] == '-' && next[1] != ' ')) path = path.substr(0, at);
    }
  }
  path.remove_prefix(path.find_last_of("/\\") + 1);
  return path.empty() ? command : path;
}

}  // namespace

Process new_process(std::uint32_t pid, std::string_view type, std::optional<std::string_view> name) {
  Process process;
  process.pid = pid;
  for (const char c : type) {
    if (c == 'C') process.types |= static_cast<std::uint8_t>(ProcessType::compute);
    if (c == 'G') process.types |= static_cast<std::uint8_t>(ProcessType::graphics);
    if (c == 'M') process.types |= static_cast<std::uint8_t>(ProcessType::mps);
  }
  process.row.fill(Reason::not_supported);
  auto texts = std::make_shared<TextRow>(Scope::process);
  TextReading command = Reason::not_supported;
  // A process can have an empty name.
  if (name) command = trim(*name).empty() ? TextReading(std::string()) : read_text(*name);
  (*texts)[process_metric("name")] = command ? TextReading(short_name(command.value())) : command;
  (*texts)[process_metric("program")] = command;
  (*texts)[process_metric("command")] = std::move(command);
  process.texts = std::move(texts);
  return process;
}

void finish(Snapshot &snapshot) {
  for (auto &device : snapshot.devices) derive(device.row);
  std::sort(snapshot.devices.begin(), snapshot.devices.end(),
            [](const Device &a, const Device &b) { return a.id < b.id; });
  auto &processes = snapshot.processes;
  const auto place = [](const Process &process) { return std::pair(process.device, process.pid); };
  // Numbered first to keep the order of equal ones: a stable sort would allocate a buffer.
  for (std::size_t i = 0; i < processes.size(); ++i) processes[i].place = static_cast<std::uint32_t>(i + 1);
  std::sort(processes.begin(), processes.end(), [&](const Process &a, const Process &b) {
    return std::pair(place(a), a.place) < std::pair(place(b), b.place);
  });
  std::vector<Process> whole;
  whole.reserve(processes.size());
  for (auto &process : processes) {
    if (whole.empty() || place(whole.back()) != place(process)) {
      whole.push_back(std::move(process));
      continue;
    }
    whole.back().types |= process.types;
    auto &memory = whole.back().row[process_metric("gpu_memory_bytes")];
    if (!memory) memory = process.row[process_metric("gpu_memory_bytes")];
  }
  processes = std::move(whole);
  snapshot.sources.push_back({.name = "nvidia-smi",
                              .problem = snapshot.devices.empty() ? "the log holds none" : "",
                              .remedy = {},
                              .devices = static_cast<std::uint32_t>(snapshot.devices.size())});
}

}  // namespace gpulse::smi
