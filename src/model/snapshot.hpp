// SPDX-License-Identifier: Apache-2.0
// What the machine looked like at one moment: a plain value, never changed once published. Everything a view may know.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/shared_vector.hpp"
#include "base/text.hpp"
#include "model/device_details.hpp"
#include "model/event.hpp"
#include "model/row.hpp"

namespace gpulse {

// What a device may do with the memory of another without the host in between: one of these for each kind of access.
enum class PeerAccess : std::uint8_t { ok, no_chipset, no_device, no_topology, disabled, unsupported, unknown };
struct PeerStatus {
  PeerAccess read = PeerAccess::unknown, write = PeerAccess::unknown, atomics = PeerAccess::unknown;
  PeerAccess links = PeerAccess::unknown, pcie = PeerAccess::unknown;  // by this way

  bool operator==(const PeerStatus &) const = default;
};

// What does not change while a device is there.
struct DeviceIdentity {
  Text source;  // "nvml", …
  Text vendor;  // "nvidia", "amd", "intel", …
  Text uuid;    // unique and the same after a restart; stands for the device everywhere
  Text pci;     // 0000:00:06.0, empty where there is none
  Text name;
  Text driver;  // version
  Text parent;  // uuid of the device this is an instance of, else empty
  Text label;   // how people call an instance within its parent: "1g.10gb"
  TextRow texts{Scope::device};
  std::vector<PeerStatus> peers{};  // all devices of its source, in their order; empty unless asked for

  bool operator==(const DeviceIdentity &) const = default;
};

// How people call a device: the number of the GPU, and where it is an instance of one, its number there: "0", "0:1".
// It may be another one after a restart; what is stored goes by the UUID.
struct DeviceId {
  std::uint32_t index = 0;
  std::optional<std::uint32_t> instance{};

  // A GPU comes before its instances.
  auto operator<=>(const DeviceId &) const = default;
};
std::string text(const DeviceId &id);
std::optional<DeviceId> parse_device_id(std::string_view text);

enum class DeviceState : std::uint8_t { ok, asleep, lost, not_responding };
std::string_view word(DeviceState state);

struct Device {
  DeviceId id;
  std::shared_ptr<const DeviceIdentity> identity;
  DeviceState state = DeviceState::ok;
  Seconds state_for{0};  // how long it has been in a state other than ok
  Row row{Scope::device};
  std::shared_ptr<const DeviceDetails> details{};  // null unless asked for

  bool is_instance() const { return id.instance.has_value(); }
};
// Whether it is the device itself or an instance of it.
inline bool is_on(const DeviceId &id, const Device &device) {
  return device.is_instance() ? id == device.id : id.index == device.id.index;
}

enum class ProcessType : std::uint8_t { compute = 1, graphics = 2, mps = 4 };

struct Process {
  std::uint32_t pid = 0;
  DeviceId device;
  std::uint8_t types = 0;  // bits of ProcessType
  // The driver's pid is of another namespace: no name can be told for it.
  bool foreign = false;
  // Gone from /proc, though the driver still lists it.
  bool gone = false;
  std::uint32_t place = 0;        // in the driver's own list; 0 in a recording
  std::uint64_t start_ticks = 0;  // clock ticks after boot; 0: not known, and in a recording
  Row row{Scope::process};
  std::shared_ptr<const TextRow> texts;
  // As the kernel has them, not safe to print; null where /proc does not tell, and in a recording.
  std::shared_ptr<const std::vector<std::string>> arguments{};
  // Its pids in the pid namespaces below ours, the innermost last; empty: it lives in ours, and in a recording.
  std::vector<std::uint32_t> inner_pids{};
};
// "compute", "graphics", "compute+graphics", "mps", …
std::string type_word(std::uint8_t types);

// One logical processor of the host.
struct CpuCore {
  std::uint32_t id = 0;  // the kernel's number; those switched off are left out
  Row row{Scope::core};

  bool operator==(const CpuCore &) const = default;
};

// A device that an administrator has told the driver to leave out.
struct ExcludedDevice {
  Text pci;  // as the driver writes it
  Text uuid;

  bool operator==(const ExcludedDevice &) const = default;
};

// How a source is doing: why it found no device, or what it lacks.
struct SourceStatus {
  Text name;
  Text problem;  // empty: all is well
  Text remedy;
  std::uint32_t devices = 0;
  bool mistake = false;                    // the problem is a mistake of the user's, not a state of the machine
  bool hangs = false;                      // the driver does not answer; never in a recording
  std::uint16_t code = 0;                  // the driver's own for the problem; none in a recording
  Text driver{};                           // version of the driver it talks to; none in a recording
  std::vector<ExcludedDevice> excluded{};  // empty unless asked for

  bool operator==(const SourceStatus &) const = default;
};

struct Snapshot {
  WallTime time{};  // 0: unknown, of a log that does not tell
  Text hostname;
  Text origin;  // empty: this machine, now; else "DEMO", "REPLAY", "LOG"
  Row host{Scope::host};
  std::vector<CpuCore> cores;
  Row self{Scope::self};
  std::vector<Device> devices;
  std::vector<Process> processes;
  SharedVector<SourceStatus> sources;
  SharedVector<Event> events;  // the newest last
};

// What to say where there is no device: a driver that does not answer may well have some.
inline std::string_view absence_words(const Snapshot &snapshot) {
  for (const auto &source : snapshot.sources) {
    if (source.hangs) return "the driver does not answer";
  }
  return "no GPU found";
}

// Whether an empty list of processes means that there are none: not if a device could not list them. To be asked only
// if it is empty.
inline bool knows_processes(const Snapshot &snapshot) {
  for (const auto &device : snapshot.devices) {
    const auto &count = device.row[device_metric("process_count")];
    if (!count && !count.is(Reason::asleep)) return false;
    // A table of readings has their number, but not the processes.
    if (count.value_or(0) > 0) return false;
  }
  return true;
}

inline bool has_time(const Snapshot &snapshot) { return snapshot.time != WallTime{}; }

using SnapshotPtr = std::shared_ptr<const Snapshot>;

}  // namespace gpulse
