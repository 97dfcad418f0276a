// SPDX-License-Identifier: Apache-2.0
#include "feed/own_processes.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "feed/live_feed.hpp"
#include "source/registry.hpp"

namespace gpulse::feed {

namespace {

Options for_processes(const Options &options) {
  MetricSet wanted;
  const auto &all = options.only ? *options.only : MetricSet::all();
  all.for_each(Scope::process, [&](MetricId id) { wanted.add(id); });
  return {.interval = options.interval, .rates = Rates::if_needed, .only = wanted, .continuous = options.continuous};
}

bool looks_into_proc(const SourceFactory &source) {
  return std::holds_alternative<SourceFactory::MakeWithUsers>(source.make);
}

}  // namespace

OwnProcesses::OwnProcesses(const Options &options) : options_(for_processes(options)) {}

void OwnProcesses::add(Snapshot &snapshot, const std::stop_token &stop) {
  if (!options_.only->contains_any(Scope::process)) return;
  for (const auto &source : source_factories()) {
    const auto is_of = [&](const Device &device) { return device.identity && device.identity->source == source.name; };
    if (!looks_into_proc(source) || std::ranges::none_of(snapshot.devices, is_of)) continue;
    auto &feed = feeds_[std::string(source.name)];
    const bool first = feed == nullptr;
    if (first) {
      auto options = options_;
      options.source = source.name;
      auto opened = open_live(options);
      if (!opened) continue;
      feed = std::move(*opened);
    }
    const auto sample = first ? feed->once(stop) : feed->again(stop);
    if (sample && *sample != nullptr) merge_processes(snapshot, **sample);
  }
}

void merge_processes(Snapshot &snapshot, const Snapshot &own) {
  for (const auto &seen : own.devices) {
    if (seen.identity == nullptr) continue;
    const auto same = [&](const Device &device) {
      return device.identity && device.identity->uuid == seen.identity->uuid;
    };
    const auto device = std::ranges::find_if(snapshot.devices, same);
    if (device == snapshot.devices.end()) continue;
    for (auto process : own.processes) {
      if (process.device != seen.id) continue;
      process.device = device->id;
      std::erase_if(snapshot.processes, [&](const Process &known) {
        return known.pid == process.pid && known.device == process.device && !known.foreign;
      });
      snapshot.processes.push_back(std::move(process));
    }
  }
  std::ranges::sort(snapshot.processes, {},
                    [](const Process &process) { return std::tuple(process.device, process.pid, !process.foreign); });
}

}  // namespace gpulse::feed
