// SPDX-License-Identifier: Apache-2.0
#include "codec/live_parts.hpp"

#include "codec/field_wire.hpp"
#include "codec/snapshot_codec.hpp"

namespace gpulse::codec {

namespace {

using Arguments = std::vector<std::string>;

// Named once, for writing and for reading.
void each_process(auto &wire, auto &process) {
  wire(process.place, process.start_ticks);
  wire.list(process.inner_pids, kMostInnerPids, wire);
}

void each_source(auto &wire, auto &source) {
  wire(source.hangs, source.code, source.driver);
  wire.list(source.excluded, kMostExcluded, [&](auto &device) { wire(device.pci, device.uuid); });
}

// How many of a process's arguments are written, and how many bytes these have.
struct Room {
  std::size_t count = 0, bytes = 0;
};
Room measure(const Arguments &arguments) {
  Room room;
  for (const auto &argument : arguments) {
    if (room.count == kMostArguments || argument.size() > kLongestArguments - room.bytes) break;
    ++room.count;
    room.bytes += argument.size();
  }
  return room;
}

// 0: not known; else 1 + their number, and they.
void write_arguments(WireWriter &out, const Arguments *arguments, std::size_t &left) {
  const auto room = arguments != nullptr ? measure(*arguments) : Room{};
  if (arguments == nullptr || room.bytes > left) return out.varint(0);
  left -= room.bytes;
  out.varint(room.count + 1);
  for (std::size_t i = 0; i < room.count; ++i) out.text((*arguments)[i]);
}

std::shared_ptr<const Arguments> read_arguments(WireReader &in, std::size_t &left) {
  const auto count = in.count(kMostArguments + 1);
  if (count == 0) return nullptr;
  auto arguments = std::make_shared<Arguments>();
  auto room = std::min(kLongestArguments, left);
  for (std::uint64_t i = 1; i < count && !in.failed(); ++i) {
    arguments->emplace_back(in.text(room));
    room -= arguments->back().size();
    left -= arguments->back().size();
  }
  return arguments;
}

void write_access(WireWriter &out, const PeerStatus &peer) {
  for (const auto access : {peer.read, peer.write, peer.atomics, peer.links, peer.pcie}) {
    out.u8(static_cast<std::uint8_t>(access));
  }
}

PeerStatus read_access(WireReader &in) {
  PeerStatus peer;
  for (auto *access : {&peer.read, &peer.write, &peer.atomics, &peer.links, &peer.pcie}) {
    const auto value = in.u8();
    if (value > static_cast<std::uint8_t>(PeerAccess::unknown)) in.fail();
    *access = in.failed() ? PeerAccess::unknown : static_cast<PeerAccess>(value);
  }
  return peer;
}

void read_processes(WireReader &in, std::vector<Process> &processes) {
  FieldReader wire(in);
  if (in.count(kMostProcesses) != processes.size()) return in.fail();
  auto left = kMostArgumentBytes;
  for (auto &process : processes) {
    each_process(wire, process);
    process.arguments = read_arguments(in, left);
    if (in.failed()) return;
  }
}

void read_sources(WireReader &in, SharedVector<SourceStatus> &shared) {
  FieldReader wire(in);
  if (in.count(kMostSources) != shared.size()) return in.fail();
  auto sources = shared.get();
  for (auto &source : sources) {
    each_source(wire, source);
    if (in.failed()) return;
  }
  shared = std::move(sources);
}

void read_devices(WireReader &in, std::vector<Device> &devices) {
  FieldReader wire(in);
  if (in.count(kMostDevices) != devices.size()) return in.fail();
  std::vector<PeerStatus> peers;
  for (auto &device : devices) {
    wire.list(peers, kMostDevices, [&](PeerStatus &peer) { peer = read_access(in); });
    if (!device.identity && !peers.empty()) in.fail();
    if (in.failed()) return;
    if (!device.identity || device.identity->peers == peers) continue;
    auto identity = std::make_shared<DeviceIdentity>(*device.identity);
    identity->peers = peers;
    device.identity = std::move(identity);
  }
}

}  // namespace

void encode_live_parts(WireWriter &out, const Snapshot &snapshot) {
  FieldWriter wire(out);
  auto left = kMostArgumentBytes;
  wire.list(snapshot.processes, kMostProcesses, [&](const Process &process) {
    each_process(wire, process);
    write_arguments(out, process.arguments.get(), left);
  });
  wire.list(snapshot.sources.get(), kMostSources, [&](const SourceStatus &source) { each_source(wire, source); });
  static const std::vector<PeerStatus> none;
  wire.list(snapshot.devices, kMostDevices, [&](const Device &device) {
    wire.list(device.identity ? device.identity->peers : none, kMostDevices,
              [&](const PeerStatus &peer) { write_access(out, peer); });
  });
}

bool decode_live_parts(WireReader &in, Snapshot &snapshot) {
  read_processes(in, snapshot.processes);
  if (!in.failed()) read_sources(in, snapshot.sources);
  if (!in.failed()) read_devices(in, snapshot.devices);
  return !in.failed();
}

}  // namespace gpulse::codec
