// SPDX-License-Identifier: Apache-2.0
// For tests and fuzzers of this folder: comparing snapshots to the last bit, and making up snapshots.
#pragma once

#include <algorithm>
#include <bit>
#include <random>

#include "codec/row_codec.hpp"
#include "codec/snapshot_codec.hpp"
#include "model/snapshot.hpp"

namespace gpulse::codec::testing {

inline bool same(const Device &a, const Device &b) {
  const bool identity = a.identity && b.identity ? *a.identity == *b.identity : !a.identity && !b.identity;
  return identity && a.id == b.id && a.state == b.state &&
         std::bit_cast<std::uint64_t>(a.state_for.count()) == std::bit_cast<std::uint64_t>(b.state_for.count()) &&
         identical(a.row.readings(), b.row.readings());
}

inline bool same(const Process &a, const Process &b) {
  const bool texts = a.texts && b.texts ? *a.texts == *b.texts : !a.texts && !b.texts;
  return texts && a.pid == b.pid && a.device == b.device && a.types == b.types && a.foreign == b.foreign &&
         a.gone == b.gone && identical(a.row.readings(), b.row.readings());
}

inline bool same(const Snapshot &a, const Snapshot &b) {
  const auto devices = [](const Device &x, const Device &y) { return same(x, y); };
  const auto processes = [](const Process &x, const Process &y) { return same(x, y); };
  return a.time == b.time && a.hostname == b.hostname && a.origin == b.origin &&
         identical(a.host.readings(), b.host.readings()) && identical(a.self.readings(), b.self.readings()) &&
         std::ranges::equal(a.cores, b.cores, same_core) && std::ranges::equal(a.devices, b.devices, devices) &&
         std::ranges::equal(a.processes, b.processes, processes) &&
         std::ranges::equal(a.sources, b.sources, same_source) && std::ranges::equal(a.events, b.events);
}

inline bool same(const SampleWindow &a, const SampleWindow &b) {
  return identical(a.count, b.count) && identical(a.seconds, b.seconds) && identical(a.max, b.max) &&
         identical(a.min, b.min) && identical(a.mean, b.mean);
}

inline bool same(const SupportedClocks &a, const SupportedClocks &b) {
  return identical(a.memory_mhz, b.memory_mhz) &&
         std::ranges::equal(a.graphics_mhz, b.graphics_mhz, [](double x, double y) { return identical(x, y); });
}

inline bool same(const RetiredPage &a, const RetiredPage &b) {
  return a.address == b.address && a.time == b.time && a.double_bit == b.double_bit;
}

inline bool same(const AccountedProcess &a, const AccountedProcess &b) {
  return a.pid == b.pid && identical(a.gpu_percent, b.gpu_percent) && identical(a.memory_percent, b.memory_percent) &&
         identical(a.memory_max_bytes, b.memory_max_bytes) && identical(a.running_seconds, b.running_seconds) &&
         a.running == b.running;
}

inline bool same(const DeviceLink &a, const DeviceLink &b) {
  return a.number == b.number && identical(a.state, b.state) && identical(a.bytes_per_second, b.bytes_per_second) &&
         a.remote_pci == b.remote_pci && identical(a.remote_link, b.remote_link) &&
         identical(a.capabilities, b.capabilities) && identical(a.replays, b.replays) &&
         identical(a.recoveries, b.recoveries) && identical(a.crc_errors, b.crc_errors) &&
         identical(a.data_tx_bytes, b.data_tx_bytes) && identical(a.data_rx_bytes, b.data_rx_bytes) &&
         identical(a.raw_tx_bytes, b.raw_tx_bytes) && identical(a.raw_rx_bytes, b.raw_rx_bytes);
}

inline bool same(const InstanceProfile &a, const InstanceProfile &b) {
  return a.name == b.name && a.id == b.id && a.slices == b.slices && a.count == b.count && identical(a.free, b.free) &&
         identical(a.memory_bytes, b.memory_bytes) && a.peer_to_peer == b.peer_to_peer &&
         a.processors == b.processors && a.copy_engines == b.copy_engines && a.decoders == b.decoders &&
         a.encoders == b.encoders && a.jpegs == b.jpegs && a.ofas == b.ofas && a.starts == b.starts && a.size == b.size;
}

inline bool same(const DeviceInstance &a, const DeviceInstance &b) {
  return a.name == b.name && a.id == b.id && a.profile == b.profile && a.start == b.start && a.size == b.size;
}

inline bool same(const DevicePart &a, const DevicePart &b);

inline bool all_same(const auto &a, const auto &b) {
  return std::ranges::equal(a, b, [](const auto &x, const auto &y) { return same(x, y); });
}

inline bool same(const DevicePart &a, const DevicePart &b) {
  return same(static_cast<const DeviceInstance &>(a), static_cast<const DeviceInstance &>(b)) &&
         all_same(a.profiles, b.profiles) && all_same(a.instances, b.instances);
}

// But for what only logs of nvidia-smi have.
inline bool same(const DeviceDetails &a, const DeviceDetails &b) {
  return identical(a.row.readings(), b.row.readings()) && a.texts == b.texts && all_same(a.samples, b.samples) &&
         all_same(a.clocks, b.clocks) && all_same(a.retired_pages, b.retired_pages) &&
         all_same(a.accounted, b.accounted) && all_same(a.links, b.links) &&
         all_same(a.instance_profiles, b.instance_profiles) && all_same(a.parts, b.parts);
}

// What live_parts.hpp carries.
inline bool same_live_parts(const Snapshot &a, const Snapshot &b) {
  const auto processes = [](const Process &x, const Process &y) {
    const bool arguments = x.arguments && y.arguments ? *x.arguments == *y.arguments : !x.arguments && !y.arguments;
    return arguments && x.place == y.place && x.start_ticks == y.start_ticks && x.inner_pids == y.inner_pids;
  };
  const auto sources = [](const SourceStatus &x, const SourceStatus &y) {
    return x.hangs == y.hangs && x.code == y.code && x.driver == y.driver && x.excluded == y.excluded;
  };
  const auto peers = [](const Device &device) {
    return device.identity ? device.identity->peers : std::vector<PeerStatus>();
  };
  return std::ranges::equal(a.processes, b.processes, processes) && std::ranges::equal(a.sources, b.sources, sources) &&
         std::ranges::equal(a.devices, b.devices, {}, peers, peers);
}

class RandomValues {
 public:
  explicit RandomValues(std::uint32_t seed) : random_(seed) {}

 protected:
  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }
  bool one_in(std::size_t n) { return below(n) == 0; }

  std::string text() {
    static constexpr std::string_view kTexts[] = {"",   "python3",  "Größe", "学習.py --lr 1e-3",
                                                  "🐍", "\xFF\xFE", "a\nb"};
    return std::string(kTexts[below(std::size(kTexts))]) + std::string(below(4), 'x');
  }

  Reading reading() {
    switch (below(10)) {
      case 0:
        return Reading(static_cast<Reason>(below(9)), static_cast<std::uint16_t>(one_in(2) ? 0 : below(65536)));
      case 1:
        return Reading(std::bit_cast<double>(random_()));  // anything: NaN, infinities, subnormals
      case 2:
        return Reading(-0.0);
      case 3:
        return Reading(static_cast<double>(random_() >> below(64)));
      case 4:
        return Reading(static_cast<double>(below(2'000'000)) / 1e3);
      case 5:
        return Reading(static_cast<double>(below(200'000'000)) / 1e9);
      case 6:
        return Reading(static_cast<double>(static_cast<float>(below(1000)) / 7.0F));
      default:
        return Reading(static_cast<double>(below(100)) - 10);
    }
  }

  TextRow texts(Scope scope) {
    TextRow row(scope);
    for (auto &entry : row.texts()) {
      entry = one_in(3) ? TextReading(static_cast<Reason>(below(9)), static_cast<std::uint16_t>(below(3)))
                        : TextReading(text());
    }
    return row;
  }

  std::mt19937_64 random_;
};

class RandomDetails : RandomValues {
 public:
  using RandomValues::RandomValues;

  DeviceDetails next() {
    DeviceDetails details;
    for (auto &entry : details.row.readings()) entry = reading();
    details.texts = texts(Scope::detail);
    for (auto &window : details.samples) window = {reading(), reading(), reading(), reading(), reading()};
    fill(details.clocks, [&] {
      SupportedClocks clocks{.memory_mhz = number(), .graphics_mhz = {}};
      fill(clocks.graphics_mhz, [&] { return number(); });
      return clocks;
    });
    fill(details.retired_pages,
         [&] { return RetiredPage{random_(), static_cast<std::int64_t>(random_()), one_in(2)}; });
    fill(details.accounted,
         [&] { return AccountedProcess{u32(), reading(), reading(), reading(), reading(), one_in(2)}; });
    fill(details.links, [&] { return link(); });
    fill(details.instance_profiles, [&] { return profile(); });
    fill(details.parts, [&] { return part(); });
    return details;
  }

 private:
  double number() { return reading().value_or(-0.0); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(random_() >> (32 + below(32))); }

  template <class Element>
  void fill(std::vector<Element> &list, auto make) {
    for (auto count = below(4); count > 0; --count) list.push_back(make());
  }

  DeviceLink link() {
    DeviceLink link{.number = u32(), .remote_pci = text()};
    for (auto *field :
         {&link.state, &link.bytes_per_second, &link.remote_link, &link.replays, &link.recoveries, &link.crc_errors,
          &link.data_tx_bytes, &link.data_rx_bytes, &link.raw_tx_bytes, &link.raw_rx_bytes}) {
      *field = reading();
    }
    for (auto &capability : link.capabilities) capability = reading();
    return link;
  }

  InstanceProfile profile() {
    InstanceProfile profile{.name = text(), .free = reading(), .memory_bytes = number(), .peer_to_peer = one_in(2)};
    for (auto *field : {&profile.id, &profile.slices, &profile.count, &profile.processors, &profile.copy_engines,
                        &profile.decoders, &profile.encoders, &profile.jpegs, &profile.ofas, &profile.size}) {
      *field = u32();
    }
    fill(profile.starts, [&] { return u32(); });
    return profile;
  }

  DevicePart part() {
    DevicePart part{{text(), u32(), u32(), u32(), u32()}, {}, {}};
    fill(part.profiles, [&] { return profile(); });
    fill(part.instances, [&] { return DeviceInstance{text(), u32(), u32(), u32(), u32()}; });
    return part;
  }
};

// Snapshots in which everything that can happen happens: devices and processes come, go and change places, identities
// change, readings are numbers of all sorts or reasons.
class RandomMachine : RandomValues {
 public:
  using RandomValues::RandomValues;

  const Snapshot &next() {
    now_.time += std::chrono::nanoseconds(below(2'000'000'000));
    if (now_.time == WallTime{}) now_.time = WallTime(std::chrono::seconds(1'800'000'000));
    if (one_in(20)) now_.hostname = text();
    if (one_in(20)) now_.origin = text();
    shake(now_.host);
    shake(now_.self);
    shake_cores();
    shake_devices();
    shake_processes();
    if (one_in(20))
      now_.sources =
          std::vector<SourceStatus>(below(3), {text(), text(), text(), static_cast<std::uint32_t>(below(9))});
    if (one_in(5))
      now_.events.push_back(
          {now_.time, text(), static_cast<EventKind>(random_() % 17), static_cast<std::int64_t>(random_()), text()});
    if (now_.events.size() > 6) now_.events = std::vector(now_.events.begin() + 2, now_.events.end());
    return now_;
  }

  // The same moment with what a recording leaves out.
  Snapshot with_live_parts() {
    auto live = now_;
    for (auto &process : live.processes) {
      process.place = static_cast<std::uint32_t>(random_());
      process.start_ticks = random_() >> below(64);
      for (auto depth = below(3); depth > 0; --depth)
        process.inner_pids.push_back(static_cast<std::uint32_t>(random_()));
      if (!one_in(3)) process.arguments = std::make_shared<const std::vector<std::string>>(below(4), text());
    }
    std::vector<SourceStatus> sources(live.sources.begin(), live.sources.end());
    for (auto &source : sources) {
      source.hangs = one_in(2);
      source.code = static_cast<std::uint16_t>(random_());
      source.driver = text();
      source.excluded.assign(below(3), {text(), text()});
    }
    live.sources = std::move(sources);
    for (auto &device : live.devices) {
      if (!device.identity || one_in(3)) continue;
      auto identity = std::make_shared<DeviceIdentity>(*device.identity);
      for (auto count = below(4); count > 0; --count)
        identity->peers.push_back({access(), access(), access(), access(), access()});
      device.identity = std::move(identity);
    }
    return live;
  }

 private:
  PeerAccess access() { return static_cast<PeerAccess>(below(static_cast<std::size_t>(PeerAccess::unknown) + 1)); }

  void shake(Row &row) {
    for (auto &entry : row.readings()) {
      if (one_in(12)) entry = reading();
    }
  }

  std::shared_ptr<const DeviceIdentity> identity() {
    if (one_in(10)) return nullptr;
    return std::make_shared<DeviceIdentity>(
        DeviceIdentity{text(), text(), text(), text(), text(), text(), text(), text(), texts(Scope::device)});
  }

  void shake_cores() {
    auto &cores = now_.cores;
    if (one_in(8) && cores.size() < 6) {
      cores.push_back({.id = cores.empty() ? 0 : cores.back().id + 1 + static_cast<std::uint32_t>(below(3))});
    }
    if (one_in(10) && !cores.empty()) cores.erase(cores.begin() + static_cast<std::ptrdiff_t>(below(cores.size())));
    for (auto &core : cores) shake(core.row);
  }

  void shake_devices() {
    auto &devices = now_.devices;
    if (one_in(6) && devices.size() < 5) {
      Device device;
      device.identity = identity();
      devices.insert(devices.begin() + static_cast<std::ptrdiff_t>(below(devices.size() + 1)), device);
    }
    if (one_in(8) && !devices.empty())
      devices.erase(devices.begin() + static_cast<std::ptrdiff_t>(below(devices.size())));
    if (one_in(10)) std::shuffle(devices.begin(), devices.end(), random_);
    for (auto &device : devices) {
      if (one_in(20)) device.identity = identity();
      if (one_in(10)) device.id.index = static_cast<std::uint32_t>(random_());
      if (one_in(10)) device.id.instance = static_cast<std::uint32_t>(random_());
      if (one_in(10)) device.id.instance.reset();
      if (one_in(5)) device.state = static_cast<DeviceState>(below(4));
      if (one_in(5)) device.state_for = Seconds(static_cast<double>(below(1000)) / 7);
      shake(device.row);
    }
  }

  void shake_processes() {
    auto &processes = now_.processes;
    for (auto births = below(3); births > 0 && processes.size() < 20; --births) {
      Process process;
      process.pid = static_cast<std::uint32_t>(below(40));
      process.device.index = static_cast<std::uint32_t>(below(3));
      if (one_in(3)) process.device.instance = static_cast<std::uint32_t>(below(3));
      processes.insert(processes.begin() + static_cast<std::ptrdiff_t>(below(processes.size() + 1)), process);
    }
    for (auto deaths = below(3); deaths > 0 && !processes.empty(); --deaths) {
      processes.erase(processes.begin() + static_cast<std::ptrdiff_t>(below(processes.size())));
    }
    if (one_in(10)) std::shuffle(processes.begin(), processes.end(), random_);
    for (auto &process : processes) {
      if (one_in(8)) process.types = static_cast<std::uint8_t>(below(256));
      if (one_in(8)) process.foreign = !process.foreign;
      if (one_in(8)) process.gone = !process.gone;
      if (one_in(8)) process.texts = one_in(3) ? nullptr : std::make_shared<const TextRow>(texts(Scope::process));
      shake(process.row);
    }
  }

  Snapshot now_;
};

}  // namespace gpulse::codec::testing
