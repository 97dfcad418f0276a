// SPDX-License-Identifier: Apache-2.0
#include "fleet/host_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "fleet/engine_gpus.hpp"
#include "fleet/engine_values.hpp"
#include "fleet/foreign.hpp"
#include "insight/catalogue.hpp"
#include "model/plausible.hpp"
#include "view/families.hpp"

namespace gpulse::fleet {

namespace {

namespace families = view::families;

constexpr std::size_t kMostDevices = 1024;
constexpr std::size_t kMostProcesses = 4096;
constexpr std::size_t kMostEvents = 256;
constexpr std::string_view kName = "__name__";

constexpr std::array kNamed{families::kInfo, families::kState, families::kFinding, families::kXidTime};

struct Family {
  MetricId id;
  double scale = 1;
};
using Families = std::map<std::string, Family, std::less<>>;

const Families &metric_families() {
  static const Families all = [] {
    Families made;
    for (const auto scope : {Scope::device, Scope::host, Scope::process}) {
      for_each_metric(scope, [&](MetricId id, const Metric &metric) {
        if (!is_text(metric)) made.emplace(prometheus_name(metric), Family{id, prometheus_scale(metric)});
      });
    }
    return made;
  }();
  return all;
}

const ForeignExporter *foreign_of(Exporter exporter) {
  for (const auto &one : foreign_exporters()) {
    if (one.exporter == exporter) return &one;
  }
  return nullptr;
}

// One sample while it is put together.
struct Draft {
  WallTime step{};
  Snapshot snapshot{};
  std::vector<insight::Finding> findings{};
  std::map<std::pair<std::string, std::string>, std::size_t> places{};  // of findings, by device and text
  std::vector<Event> events{};
  std::map<std::string, std::size_t, std::less<>> devices{};
  std::map<std::string, std::size_t, std::less<>> processes{};
  std::map<std::pair<std::string, std::string_view>, double> parts{};  // of sums, by device and family

  Device *device(std::string_view uuid) {
    const auto found = devices.find(uuid);
    return found == devices.end() ? nullptr : &snapshot.devices[found->second];
  }
};

class SampleMaker {
 public:
  explicit SampleMaker(const HostPlace &host) : host_(host), foreign_(foreign_of(host.exporter)) {}

  std::vector<HostSample> make(std::span<const EngineSeries> series, std::span<const EngineSeries> times) {
    begin(times);
    for (const auto &one : series) note_device(one);
    for (const auto &one : series) foreign_ == nullptr ? take(one) : take_foreign(one);
    std::vector<HostSample> samples;
    samples.reserve(drafts_.size());
    for (auto &draft : drafts_) samples.push_back(finish(draft));
    return samples;
  }

 private:
  void begin(std::span<const EngineSeries> times) {
    for (const auto &moment : host_moments(times)) {
      auto &draft = drafts_.emplace_back();
      draft.step = moment.step;
      draft.snapshot.time = moment.taken;
      draft.snapshot.hostname = host_.name;
      draft.snapshot.origin = "FLEET";
    }
  }

  // Calls visit(draft, value) for each point that belongs to a sample.
  template <class Visit>
  void each(const EngineSeries &series, Visit visit) {
    auto draft = drafts_.begin();
    for (const auto &point : series.points) {
      const auto step = moment_at(point.time);
      while (draft != drafts_.end() && step && draft->step < *step) ++draft;
      if (draft == drafts_.end()) return;
      if (draft->step == step && std::isfinite(point.value)) visit(*draft, point.value);
    }
  }

  void note_device(const EngineSeries &series) {
    std::shared_ptr<const DeviceIdentity> identity;
    std::optional<DeviceId> id;
    std::string key;
    if (foreign_ != nullptr) {
      if (!foreign_reading(series)) return;
      const auto gpu = foreign_names(*foreign_, series);
      key = gpu.uuid;
      id = parse_device_id(gpu.id.str());
      identity = identity_of(gpu);
    } else {
      if (series.label(kName) != families::kInfo) return;
      key = series.label("uuid");
      id = parse_device_id(series.label("gpu"));
      identity = identity_of(series);
    }
    if (key.empty()) return;
    each(series, [&](Draft &draft, double) {
      auto &devices = draft.snapshot.devices;
      if (devices.size() >= kMostDevices || !draft.devices.try_emplace(key, devices.size()).second) return;
      Device device{.id = id.value_or(DeviceId{.index = static_cast<std::uint32_t>(devices.size())}),
                    .identity = identity,
                    .state = DeviceState::ok,
                    .state_for = Seconds(0)};
      devices.push_back(std::move(device));
    });
  }

  static std::shared_ptr<const DeviceIdentity> identity_of(const ForeignNames &gpu) {
    auto identity = std::make_shared<DeviceIdentity>();
    identity->source = "engine";
    identity->vendor = "nvidia";
    identity->uuid = short_text(gpu.uuid);
    identity->name = gpu.name;
    identity->parent = short_text(gpu.parent);
    return identity;
  }

  static std::shared_ptr<const DeviceIdentity> identity_of(const EngineSeries &info) {
    auto identity = std::make_shared<DeviceIdentity>();
    identity->source = "engine";
    identity->vendor = short_text(info.label("vendor"));
    identity->uuid = short_text(info.label("uuid"));
    identity->name = short_text(info.label("name"));
    identity->driver = short_text(info.label("driver"));
    identity->pci = short_text(info.label("pci"));
    identity->parent = short_text(info.label("parent"));
    identity->label = short_text(info.label("profile"));
    for_each_metric(Scope::device, [&](MetricId id, const Metric &metric) {
      if (!is_text(metric)) return;
      if (const auto text = info.label(metric.key); !text.empty()) identity->texts[id] = short_text(text);
    });
    return identity;
  }

  void take(const EngineSeries &series) {
    const auto name = series.label(kName);
    if (name == families::kState) return take_state(series);
    if (name == families::kFinding) return take_finding(series);
    if (name == families::kXidTime) return take_error(series);
    const auto found = metric_families().find(name);
    if (found == metric_families().end()) return;
    const auto &family = found->second;
    switch (brief(family.id).scope) {
      case Scope::device:
        return take_device(series, family);
      case Scope::process:
        return take_process(series, family);
      default:
        return each(series, [&](Draft &draft, double value) {
          set(draft.snapshot.host, family, value, series.label("state"));
        });
    }
  }

  static void set(Row &row, const Family &family, double value, std::string_view word) {
    if (brief(family.id).kind != Kind::set) {
      row[family.id] = value / family.scale;
      return;
    }
    const auto bit = bit_of(family.id, word);
    const auto bits = static_cast<std::uint64_t>(row[family.id].value_or(0));
    row[family.id] = static_cast<double>(bits | (value > 0 && bit ? std::uint64_t{1} << *bit : 0));
  }

  void take_device(const EngineSeries &series, const Family &family) {
    each(series, [&](Draft &draft, double value) {
      if (auto *device = draft.device(series.label("uuid"))) set(device->row, family, value, series.label("state"));
    });
  }

  void take_state(const EngineSeries &series) {
    const auto word_there = series.label("state");
    each(series, [&](Draft &draft, double value) {
      auto *device = draft.device(series.label("uuid"));
      if (device == nullptr || value != 1) return;
      for (const auto state : {DeviceState::asleep, DeviceState::lost, DeviceState::not_responding}) {
        if (word(state) == word_there) device->state = state;
      }
    });
  }

  void take_finding(const EngineSeries &series) {
    const auto id = insight::finding_named(series.label("finding"));
    insight::Finding finding{.id = id.value_or(insight::FindingId::unknown), .confidence = 1};
    finding.weight =
        series.label("severity") == word(insight::Weight::problem) ? insight::Weight::problem : insight::Weight::note;
    // One of another version goes by its own name.
    finding.text = id ? std::string(insight::describe(*id).title) : short_text(series.label("finding")).str();
    if (finding.text.empty()) return;
    const std::string uuid(series.label("uuid"));
    each(series, [&](Draft &draft, double value) {
      if (value != 1 || draft.findings.size() >= insight::kFindingIds * kMostDevices) return;
      auto one = finding;
      one.since = one.until = draft.snapshot.time;
      if (const auto *device = draft.device(uuid)) one.devices.push_back(device->id);
      const auto [known, is_new] = draft.places.try_emplace({uuid, one.text}, draft.findings.size());
      if (is_new) {
        draft.findings.push_back(std::move(one));
      } else {
        // Two scrapers of one agent may have read it at moments with different severities.
        auto &weight = draft.findings[known->second].weight;
        weight = std::max(weight, one.weight);
      }
    });
  }

  void take_error(const EngineSeries &series) {
    const auto code = parse_integer<std::uint32_t>(series.label("xid"));
    if (!code) return;
    each(series, [&](Draft &draft, double value) {
      const auto time = moment_at(value);
      if (!time || *time > draft.snapshot.time || draft.events.size() >= kMostEvents) return;
      const auto device = short_text(series.label("uuid"));
      const bool is_known = std::ranges::any_of(draft.events, [&](const Event &other) {
        return other.time == *time && other.code == *code && other.device == device;
      });
      if (is_known) return;
      draft.events.push_back({.time = *time,
                              .device = device,
                              .kind = EventKind::xid,
                              .code = *code,
                              .text = fmt::format("driver error XID {}", *code)});
    });
  }

  void take_process(const EngineSeries &series, const Family &family) {
    const auto pid = parse_integer<std::uint32_t>(series.label("pid"));
    if (!pid) return;
    const auto key = fmt::format("{} {}", *pid, series.label("uuid"));
    each(series, [&](Draft &draft, double value) {
      const auto *device = draft.device(series.label("uuid"));
      auto &all = draft.snapshot.processes;
      if (device == nullptr) return;
      const auto [place, is_new] = draft.processes.try_emplace(key, all.size());
      if (is_new && all.size() >= kMostProcesses) {
        draft.processes.erase(place);
        return;
      }
      if (is_new) all.push_back(process_of(series, *pid, device->id));
      set(all[place->second].row, family, value, {});
    });
  }

  static Process process_of(const EngineSeries &series, std::uint32_t pid, DeviceId device) {
    Process process;
    process.pid = pid;
    process.device = device;
    auto texts = std::make_shared<TextRow>(Scope::process, Reason::not_sampled);
    // Whatever else is called as a text of ours is the scraper's.
    for (const auto role : view::families::kProcessLabels) {
      const auto id = find_role(Scope::process, role);
      if (!id) continue;
      if (const auto text = series.label(key_of(*id).key); !text.empty()) (*texts)[*id] = short_text(text);
    }
    process.texts = std::move(texts);
    return process;
  }

  const ForeignReading *foreign_reading(const EngineSeries &series) const {
    const auto name = series.label(kName);
    for (const auto &reading : foreign_->readings) {
      if (reading.family == name || reading.plus == name) return &reading;
    }
    return nullptr;
  }

  // A family may be part of several readings, and a reading the sum of two families.
  void take_foreign(const EngineSeries &series) {
    const auto name = series.label(kName);
    const auto uuid = foreign_names(*foreign_, series).uuid;
    for (const auto &reading : foreign_->readings) {
      const bool is_more = reading.plus == name;
      if (reading.family != name && !is_more) continue;
      const auto id = kReadingMetrics[static_cast<std::size_t>(reading.reading)];
      each(series, [&](Draft &draft, double value) {
        auto *device = draft.device(uuid);
        if (device == nullptr) return;
        if (reading.plus.empty()) {
          device->row[id] = value * reading.scale;
          return;
        }
        // A GPU that goes from one job to the next has two series for a while.
        const auto part = draft.parts.try_emplace({uuid, is_more ? reading.plus : reading.family}, value).first;
        part->second = std::max(part->second, value);
        const auto other = draft.parts.find(std::pair(uuid, is_more ? reading.family : reading.plus));
        if (other != draft.parts.end()) device->row[id] = (part->second + other->second) * reading.scale;
      });
    }
  }

  static Reason reason_of(DeviceState state) {
    if (state == DeviceState::lost) return Reason::lost;
    return state == DeviceState::asleep ? Reason::asleep : Reason::not_responding;
  }

  static HostSample finish(Draft &draft) {
    auto &snapshot = draft.snapshot;
    for (auto &device : snapshot.devices) {
      keep_plausible(device.row);
      if (device.state == DeviceState::ok) continue;
      // An engine goes on for a while with the last values of what does not answer.
      const bool is_away = device.state != DeviceState::asleep;
      for (auto &reading : device.row.readings()) {
        if (is_away || !reading) reading = reason_of(device.state);
      }
    }
    keep_plausible(snapshot.host);
    for (auto &process : snapshot.processes) keep_plausible(process.row);
    std::ranges::stable_sort(snapshot.devices, {}, &Device::id);
    std::ranges::stable_sort(draft.events, {}, &Event::time);
    if (!draft.events.empty()) snapshot.events = std::move(draft.events);
    return {.snapshot = std::make_shared<const Snapshot>(std::move(snapshot)), .findings = std::move(draft.findings)};
  }

  const HostPlace &host_;
  const ForeignExporter *foreign_;
  std::vector<Draft> drafts_{};  // in the order of time
};

}  // namespace

std::string host_matchers(const HostPlace &host, std::string_view more) {
  // A label that is not there fits the empty text.
  const auto cluster = host.cluster ? ",cluster=" + quoted(*host.cluster) : std::string();
  return fmt::format("{{instance={}{}{}}}", quoted(host.instance), cluster, more);
}

std::string sample_query(const HostPlace &host) {
  std::string names;
  const auto add = [&](std::string_view name) { names.append(names.empty() ? "" : "|").append(name); };
  if (const auto *foreign = foreign_of(host.exporter)) {
    for (const auto &reading : foreign->readings) {
      add(reading.family);
      if (!reading.plus.empty()) add(reading.plus);
    }
  } else {
    for (const auto name : kNamed) add(name);
    for (const auto &[name, family] : metric_families()) add(name);
  }
  return host_matchers(host, fmt::format(",__name__=~\"{}\"", names));
}

std::string time_query(const HostPlace &host) {
  const auto *foreign = foreign_of(host.exporter);
  const auto matchers = host_matchers(host);
  return foreign == nullptr ? fmt::format("max({}{})", families::kTime, matchers)
                            : fmt::format("max(timestamp({}{}))", foreign->present, matchers);
}

std::vector<HostMoment> host_moments(std::span<const EngineSeries> times) {
  std::vector<HostMoment> moments;
  if (times.empty()) return moments;
  for (const auto &point : times.front().points) {
    const auto step = moment_at(point.time), taken = moment_at(point.value);
    // Where there is nothing new an engine goes on with the last value.
    if (step && taken && (moments.empty() || *taken > moments.back().taken)) moments.push_back({*step, *taken});
  }
  return moments;
}

std::vector<HostSample> host_samples(std::span<const EngineSeries> series, std::span<const EngineSeries> times,
                                     const HostPlace &host) {
  return SampleMaker(host).make(series, times);
}

}  // namespace gpulse::fleet
