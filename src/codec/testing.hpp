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

// Snapshots in which everything that can happen happens: devices and processes come, go and change places, identities
// change, readings are numbers of all sorts or reasons.
class RandomMachine {
 public:
  explicit RandomMachine(std::uint32_t seed) : random_(seed) {}

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
          {now_.time, text(), static_cast<EventKind>(random_() % 15), static_cast<std::int64_t>(random_()), text()});
    if (now_.events.size() > 6) now_.events = std::vector(now_.events.begin() + 2, now_.events.end());
    return now_;
  }

 private:
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

  void shake(Row &row) {
    for (auto &entry : row.readings()) {
      if (one_in(12)) entry = reading();
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

  std::mt19937_64 random_;
  Snapshot now_;
};

}  // namespace gpulse::codec::testing
