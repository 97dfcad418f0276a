// SPDX-License-Identifier: Apache-2.0
#include "record/smi_log.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "record/smi_parts.hpp"
#include "record/smi_value.hpp"

namespace gpulse::record {

namespace {

constexpr std::string_view kRoot = "<nvidia_smi_log";

std::string_view first_line(std::string_view text) { return trim(text.substr(0, text.find('\n'))); }

void add_utf8(std::string &out, std::uint32_t character) {
  const auto byte = [&](std::uint32_t value) { out += static_cast<char>(value); };
  if (character < 0x80) {
    byte(character);
  } else if (character < 0x800) {
    byte(0xC0U | character >> 6U);
    byte(0x80U | (character & 0x3FU));
  } else if (character < 0x10000) {
    byte(0xE0U | character >> 12U);
    byte(0x80U | (character >> 6U & 0x3FU));
    byte(0x80U | (character & 0x3FU));
  } else {
    byte(0xF0U | character >> 18U);
    byte(0x80U | (character >> 12U & 0x3FU));
    byte(0x80U | (character >> 6U & 0x3FU));
    byte(0x80U | (character & 0x3FU));
  }
}

// What PowerShell makes of `nvidia-smi … > FILE`. Half a pair of surrogates is left to printable().
std::string from_utf16(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  const auto unit = [&](std::size_t at) -> std::uint32_t {
    return static_cast<unsigned char>(text[at]) | static_cast<std::uint32_t>(static_cast<unsigned char>(text[at + 1]))
                                                      << 8U;
  };
  for (std::size_t at = 0; at + 1 < text.size(); at += 2) {
    auto character = unit(at);
    if ((character & 0xFC00U) == 0xD800U && at + 3 < text.size() && (unit(at + 2) & 0xFC00U) == 0xDC00U) {
      character = 0x10000U + ((character & 0x3FFU) << 10U) + (unit(at + 2) & 0x3FFU);
      at += 2;
    }
    add_utf8(out, character);
  }
  return out;
}

// As UTF-8 without a byte order mark; `store` holds it where it had to be made.
std::string_view as_utf8(std::string_view text, std::string &store) {
  if (text.starts_with("\xFF\xFE")) {
    store = from_utf16(text.substr(2));
    return store;
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

// A warning may come before the document.
bool is_xml(std::string_view text) {
  return trim(text.substr(0, 1024)).starts_with('<') || text.find(kRoot) != std::string_view::npos;
}

}  // namespace

bool is_smi_log(std::string_view start) {
  std::string store;
  start = as_utf8(start, store);
  if (is_xml(start)) return true;
  const auto line = first_line(start);
  return smi::is_csv_header(line) || smi::is_csv_row(line);
}

Result<std::vector<SnapshotPtr>> read_smi_log(std::string_view text, const std::string &name) {
  if (text.size() > kLargestSmiLog) {
    return failure(fmt::format("{}: too large for a log of nvidia-smi", name), "at most 64 MiB are read: cut it");
  }
  std::string store;
  text = as_utf8(text, store);
  if (trim(text).empty()) return failure(fmt::format("{}: empty", name), "make it with nvidia-smi -q -x");
  return is_xml(text) ? smi::read_xml(text, name) : smi::read_csv(text, name);
}

namespace smi {

std::shared_ptr<Snapshot> new_snapshot() {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->origin = "LOG";
  snapshot->host.fill(Reason::not_supported);
  snapshot->self.fill(Reason::not_supported);
  return snapshot;
}

Device new_device(std::uint32_t index) {
  Device device;
  device.index = index;
  device.row.fill(Reason::not_supported);
  return device;
}

std::string Uuids::give(std::string told, std::string_view pci, std::uint32_t index) {
  if (told.empty()) told = pci.empty() ? fmt::format("LOG-{}", index) : fmt::format("PCI-{}", pci);
  auto uuid = told;
  while (!taken_.try_emplace(uuid, 1).second) uuid = fmt::format("{}#{}", told, ++taken_[told]);
  return uuid;
}

Process new_process(std::uint32_t pid, std::string_view type, std::string_view name) {
  Process process;
  process.pid = pid;
  for (const char c : type) {
    if (c == 'C') process.types |= static_cast<std::uint8_t>(ProcessType::compute);
    if (c == 'G') process.types |= static_cast<std::uint8_t>(ProcessType::graphics);
    if (c == 'M') process.types |= static_cast<std::uint8_t>(ProcessType::mps);
  }
  process.row.fill(Reason::not_supported);
  auto texts = std::make_shared<TextRow>(Scope::process);
  auto command = read_text(name);
  auto program = command;
  auto short_name = command;
  if (command) {
    // Windows' names are paths with blanks in them, Linux' may go on with arguments.
    std::string_view path = command.value();
    if (path.find('\\') == std::string_view::npos) path = path.substr(0, path.find(' '));
    program = std::string(path);
    path.remove_prefix(path.find_last_of("/\\") + 1);
    if (!path.empty()) short_name = std::string(path);
  }
  (*texts)[process_metric("name")] = std::move(short_name);
  (*texts)[process_metric("program")] = std::move(program);
  (*texts)[process_metric("command")] = std::move(command);
  process.texts = std::move(texts);
  return process;
}

void finish(Snapshot &snapshot) {
  std::sort(snapshot.devices.begin(), snapshot.devices.end(),
            [](const Device &a, const Device &b) { return a.index < b.index; });
  auto &processes = snapshot.processes;
  const auto place = [](const Process &process) { return std::pair(process.device, process.pid); };
  // Equal ones stay in their order: numbered first, as a stable sort would want a buffer.
  for (std::size_t i = 0; i < processes.size(); ++i) processes[i].place = static_cast<std::uint32_t>(i);
  std::sort(processes.begin(), processes.end(), [&](const Process &a, const Process &b) {
    return std::pair(place(a), a.place) < std::pair(place(b), b.place);
  });
  for (auto &process : processes) process.place = 0;
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

}  // namespace smi

}  // namespace gpulse::record
