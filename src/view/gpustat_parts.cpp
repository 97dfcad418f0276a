// SPDX-License-Identifier: Apache-2.0
#include "view/gpustat_parts.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "model/driver_version.hpp"
#include "view/cell.hpp"

namespace gpulse::view {

namespace {

constexpr const char *kUnknown = "?";

// As os.path.basename().
std::string base_name(const std::string &path) { return path.substr(path.rfind('/') + 1); }

std::vector<std::string> arguments_of(const Process &process) {
  if (process.gone) return {};
  if (process.arguments != nullptr) return *process.arguments;
  const auto words = text_by_role(process.texts.get(), Role::command);
  const auto pieces = split_words(words);
  return {pieces.begin(), pieces.end()};
}

GpustatProcess describe_process(const Process &process) {
  auto arguments = arguments_of(process);
  const std::string user(text_by_role(process.texts.get(), Role::user));
  // A driver that does not tell says 0.
  auto memory = gpustat_number(process.row, Role::memory_used, kMebibyte);
  if (by_role(process.row, Role::memory_used).value_or(0) == 0) memory.reset();
  return {.process = &process,
          .user = user.empty() ? kUnknown : user,
          .command = arguments.empty() ? kUnknown : base_name(arguments.front()),
          .arguments = arguments.empty() ? std::vector<std::string>{kUnknown} : std::move(arguments),
          .memory_mib = memory};
}

// What is over but still there for its parent has its arguments told, as none; of what is no longer there nothing is.
bool is_shown(const Process &process) {
  const bool only_mps = process.types == static_cast<std::uint8_t>(ProcessType::mps);
  return !only_mps && !(process.gone && process.arguments == nullptr);
}

bool belongs_to(const Device &part, const Device &whole) { return part.id.index == whole.id.index; }

// The processes of a device and of its instances, each once, in the driver's order.
std::optional<std::vector<GpustatProcess>> processes_of(const Snapshot &snapshot, const Device &whole) {
  std::vector<const Process *> listed;
  for (const auto &device : snapshot.devices) {
    if (!belongs_to(device, whole)) continue;
    const auto first = listed.size();
    for (const auto &process : snapshot.processes) {
      if (process.device == device.id) listed.push_back(&process);
    }
    // Those without a place of their own stay as they stand in the snapshot.
    std::sort(listed.begin() + static_cast<std::ptrdiff_t>(first), listed.end(),
              [](const Process *a, const Process *b) { return std::pair(a->place, a) < std::pair(b->place, b); });
  }
  if (listed.empty() && !by_role(whole.row, Role::process_count)) return std::nullopt;
  std::vector<GpustatProcess> shown;
  for (const auto *process : listed) {
    const auto same = [&](const GpustatProcess &other) { return other.process->pid == process->pid; };
    if (is_shown(*process) && std::none_of(shown.begin(), shown.end(), same)) {
      shown.push_back(describe_process(*process));
    }
  }
  return shown;
}

GpustatDevice describe_device(const Snapshot &snapshot, const Device &device) {
  if (device.state == DeviceState::lost) {
    const bool told = by_role(device.row, Role::utilization).is(Reason::error);
    return {.device = &device,
            .name = told ? "((Unknown Error))" : "((GPU is lost))",
            .available = false,
            .processes = std::nullopt};
  }
  return {.device = &device,
          .name = device.identity ? device.identity->name.str() : std::string(),
          .processes = processes_of(snapshot, device)};
}

}  // namespace

std::vector<GpustatDevice> gpustat_devices(const Snapshot &snapshot,
                                           const std::optional<std::vector<std::uint32_t>> &chosen) {
  std::vector<GpustatDevice> all;
  for (const auto &device : snapshot.devices) {
    if (!device.is_instance() && !chosen) all.push_back(describe_device(snapshot, device));
  }
  for (const auto index : chosen.value_or(std::vector<std::uint32_t>{})) {
    const auto at = std::find_if(snapshot.devices.begin(), snapshot.devices.end(),
                                 [&](const Device &device) { return device.id == DeviceId{index}; });
    if (at != snapshot.devices.end()) all.push_back(describe_device(snapshot, *at));
  }
  return all;
}

std::optional<std::int64_t> gpustat_number(const Row &row, Role role, double unit) {
  constexpr double kMost = 9e15;
  const auto reading = by_role(row, role);
  if (!reading || std::abs(reading.value() / unit) > kMost) return std::nullopt;
  // Watts were whole milliwatts: 298000 of them must not become 297.999….
  constexpr double kSlack = 1e-6;
  return static_cast<std::int64_t>(std::floor(reading.value() / unit + kSlack));
}

std::string gpustat_driver(const Snapshot &snapshot) {
  for (const auto &source : snapshot.sources) {
    if (!source.driver.empty()) return source.driver;
  }
  for (const auto &device : snapshot.devices) {
    if (!device.identity) continue;
    if (const auto version = driver_version(*device.identity); !version.empty()) return std::string(version);
  }
  return {};
}

}  // namespace gpulse::view
