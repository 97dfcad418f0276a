// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "codec/snapshot_codec.hpp"
#include "codec/snapshot_parts.hpp"
#include "codec/text_row_codec.hpp"

namespace gpulse::codec {

namespace {

constexpr std::size_t kNoMatch = static_cast<std::size_t>(-1);

std::size_t size_of(const TextRow &row) {
  std::size_t size = 0;
  for (const auto &text : row.texts()) size += text.has_value() ? text.value().size() : 0;
  return size;
}

std::size_t longest_text(const Snapshot &snapshot) {
  std::size_t longest = std::max(snapshot.hostname.size(), snapshot.origin.size());
  const auto see = [&](const std::string &text) { longest = std::max(longest, text.size()); };
  const auto see_row = [&](const TextRow &row) {
    for (const auto &text : row.texts()) longest = std::max(longest, text.has_value() ? text.value().size() : 0);
  };
  for (const auto &device : snapshot.devices) {
    if (!device.identity) continue;
    const auto &id = *device.identity;
    for (const auto *text : {&id.source, &id.vendor, &id.uuid, &id.pci, &id.name, &id.driver, &id.parent, &id.label}) {
      see(*text);
    }
    see_row(id.texts);
  }
  for (const auto &process : snapshot.processes) {
    if (process.texts) see_row(*process.texts);
  }
  for (const auto &source : snapshot.sources) {
    for (const auto *text : {&source.name, &source.problem, &source.remedy}) see(*text);
  }
  for (const auto &event : snapshot.events) {
    for (const auto *text : {&event.device, &event.text}) see(*text);
  }
  return longest;
}

Result<void> check_limits(const Snapshot &now) {
  const auto refuse = [](std::string_view what) -> Result<void> {
    return failure(fmt::format("this sample cannot be recorded: {}", what));
  };
  if (now.devices.size() > kMostDevices) return refuse("too many devices");
  if (now.processes.size() > kMostProcesses) return refuse("too many processes");
  if (now.cores.size() > kMostCores) return refuse("too many cores");
  if (now.sources.size() > kMostSources) return refuse("too many sources");
  if (now.events.size() > kMostEvents) return refuse("too many events");
  if (longest_text(now) > kLongestText || text_size(now) > kMostText) return refuse("its texts are too long");
  return {};
}

template <class T>
bool same_content(const std::shared_ptr<const T> &a, const std::shared_ptr<const T> &b) {
  return a == b || (a && b && *a == *b);
}

// Two that share one cost a few bytes more, and nothing else.
std::uint64_t process_key(const Process &process) {
  constexpr std::uint32_t kSpread = 0x9E3779B1;
  const auto device = process.device.index + kSpread * (process.device.instance ? *process.device.instance + 1 : 0);
  return (std::uint64_t{device} << 32U) | process.pid;
}

void write_instance(WireWriter &out, const DeviceId &id) {
  out.varint(id.instance ? std::uint64_t{*id.instance} + 1 : 0);
}

std::uint8_t process_flags(const Process &process) {
  return static_cast<std::uint8_t>((process.foreign ? kForeign : 0) | (process.gone ? kGone : 0));
}

void write_match(WireWriter &out, std::uint8_t changed, std::size_t match, std::size_t &expected) {
  out.u8(changed);
  if ((changed & field::kMatch) != 0) out.varint(match == kNoMatch ? 0 : match + 1);
  if (match != kNoMatch) expected = match + 1;
}

const std::string &uuid_of(const Device &device) {
  static const std::string none;
  return device.identity ? device.identity->uuid.str() : none;
}

// Where the processes before are found by device and pid; made only when the order has changed.
class ProcessFinder {
 public:
  explicit ProcessFinder(const std::vector<Process> &before) : before_(before) {}

  std::size_t find(const Process &process, std::size_t expected) {
    const auto key = process_key(process);
    if (expected < before_.size() && process_key(before_[expected]) == key) return expected;
    if (places_.empty()) {
      for (std::size_t i = 0; i < before_.size(); ++i) places_.emplace(process_key(before_[i]), i);
    }
    const auto found = places_.find(key);
    return found == places_.end() ? kNoMatch : found->second;
  }

 private:
  const std::vector<Process> &before_;
  std::unordered_map<std::uint64_t, std::size_t> places_;
};

}  // namespace

bool same_source(const SourceStatus &a, const SourceStatus &b) {
  return a.name == b.name && a.problem == b.problem && a.remedy == b.remedy && a.devices == b.devices;
}

bool same_core(const CpuCore &a, const CpuCore &b) {
  return a.id == b.id && identical(a.row.readings(), b.row.readings());
}

std::size_t text_size(const Snapshot &snapshot) {
  std::size_t size = snapshot.hostname.size() + snapshot.origin.size();
  for (const auto &device : snapshot.devices) {
    if (!device.identity) continue;
    const auto &id = *device.identity;
    size += id.source.size() + id.vendor.size() + id.uuid.size() + id.pci.size() + id.name.size() + id.driver.size() +
            id.parent.size() + id.label.size() + size_of(id.texts);
  }
  for (const auto &process : snapshot.processes) size += process.texts ? size_of(*process.texts) : 0;
  for (const auto &source : snapshot.sources) size += source.name.size() + source.problem.size() + source.remedy.size();
  for (const auto &event : snapshot.events) size += event.device.size() + word(event.kind).size() + event.text.size();
  return size;
}

void SnapshotEncoder::restart() {
  before_ = std::make_shared<const Snapshot>(blank_snapshot());
  strings_.clear();
}

Result<void> SnapshotEncoder::encode(WireWriter &out, const Snapshot &now) {
  return encode(out, std::make_shared<const Snapshot>(now));
}

Result<void> SnapshotEncoder::encode(WireWriter &out, const SnapshotPtr &sample) {
  const auto &now = *sample;
  if (const auto good = check_limits(now); !good) return good;
  std::uint8_t parts = 0;
  const auto mark = [&](bool changed, std::uint8_t bit) { parts |= changed ? bit : std::uint8_t{0}; };
  mark(now.hostname != before_->hostname, part::kHostname);
  mark(now.origin != before_->origin, part::kOrigin);
  mark(!identical(now.host.readings(), before_->host.readings()), part::kHost);
  mark(!identical(now.self.readings(), before_->self.readings()), part::kSelf);
  mark(!std::ranges::equal(now.sources, before_->sources, same_source), part::kSources);
  mark(!std::ranges::equal(now.events, before_->events), part::kEvents);
  mark(!std::ranges::equal(now.cores, before_->cores, same_core), part::kCores);
  out.u8(parts);
  if ((parts & part::kHostname) != 0) string(out, now.hostname);
  if ((parts & part::kOrigin) != 0) string(out, now.origin);
  if ((parts & part::kHost) != 0) encode_row(out, before_->host.readings(), now.host.readings());
  if ((parts & part::kSelf) != 0) encode_row(out, before_->self.readings(), now.self.readings());
  if ((parts & part::kSources) != 0) sources(out, now.sources.get());
  if ((parts & part::kEvents) != 0) events(out, now.events.get(), now.time);
  if ((parts & part::kCores) != 0) cores(out, now.cores);
  out.varint(now.devices.size());
  std::size_t expected = 0;
  for (std::size_t i = 0; i < now.devices.size(); ++i) device(out, now.devices[i], i, expected);
  processes(out, now.processes);
  before_ = sample;
  return {};
}

void SnapshotEncoder::string(WireWriter &out, const std::string &text) {
  const auto [place, added] = strings_.emplace(text, strings_.size());
  out.varint(place->second);
  if (added) out.text(text);
}

void SnapshotEncoder::texts(WireWriter &out, const TextRow &row) {
  encode_texts(out, row, [&](const std::string &text) { string(out, text); });
}

void SnapshotEncoder::identity(WireWriter &out, const DeviceIdentity *identity) {
  out.u8(identity == nullptr ? 0 : 1);
  if (identity == nullptr) return;
  for (const auto *text : {&identity->source, &identity->vendor, &identity->uuid, &identity->pci, &identity->name,
                           &identity->driver, &identity->parent, &identity->label}) {
    string(out, *text);
  }
  texts(out, identity->texts);
}

void SnapshotEncoder::device(WireWriter &out, const Device &now, std::size_t position, std::size_t &expected) {
  const auto &before = before_->devices;
  auto match = expected;
  if (match >= before.size() || uuid_of(before[match]) != uuid_of(now)) {
    const auto found = std::ranges::find(before, uuid_of(now), uuid_of);
    match = found == before.end() ? kNoMatch : static_cast<std::size_t>(found - before.begin());
  }
  static const Device blank = blank_device();
  const bool fresh = match == kNoMatch;
  const Device &base = fresh ? blank : before[match];
  const auto number = fresh ? static_cast<std::uint32_t>(position) : base.id.index;
  std::uint8_t changed = 0;
  const auto mark = [&](bool different, std::uint8_t bit) { changed |= different ? bit : std::uint8_t{0}; };
  const auto age = std::bit_cast<std::uint64_t>(now.state_for.count());
  mark(match != expected, field::kMatch);
  mark(now.id.index != number, field::kNumber);
  mark(now.id.instance != base.id.instance, field::kPlace);
  mark(now.state != base.state, field::kState);
  mark(age != std::bit_cast<std::uint64_t>(base.state_for.count()), field::kStateFor);
  mark(!same_content(now.identity, base.identity), field::kTexts);
  mark(!identical(now.row.readings(), base.row.readings()), field::kRow);
  write_match(out, changed, match, expected);
  if ((changed & field::kNumber) != 0) out.varint(now.id.index);
  if ((changed & field::kPlace) != 0) write_instance(out, now.id);
  if ((changed & field::kState) != 0) out.u8(static_cast<std::uint8_t>(now.state));
  if ((changed & field::kStateFor) != 0) out.u64(age);
  if ((changed & field::kTexts) != 0) identity(out, now.identity.get());
  if ((changed & field::kRow) != 0) encode_row(out, base.row.readings(), now.row.readings());
}

void SnapshotEncoder::processes(WireWriter &out, const std::vector<Process> &now) {
  out.varint(now.size());
  ProcessFinder finder(before_->processes);
  std::size_t expected = 0;
  for (const auto &entry : now) process(out, entry, finder.find(entry, expected), expected);
}

void SnapshotEncoder::process(WireWriter &out, const Process &now, std::size_t match, std::size_t &expected) {
  static const Process blank = blank_process();
  const Process &base = match == kNoMatch ? blank : before_->processes[match];
  std::uint8_t changed = 0;
  const auto mark = [&](bool different, std::uint8_t bit) { changed |= different ? bit : std::uint8_t{0}; };
  mark(match != expected, field::kMatch);
  mark(now.pid != base.pid, field::kNumber);
  mark(now.device != base.device, field::kPlace);
  mark(now.types != base.types || process_flags(now) != process_flags(base), field::kState);
  mark(!same_content(now.texts, base.texts), field::kTexts);
  mark(!identical(now.row.readings(), base.row.readings()), field::kRow);
  write_match(out, changed, match, expected);
  if ((changed & field::kNumber) != 0) out.varint(now.pid);
  if ((changed & field::kPlace) != 0) {
    out.varint(now.device.index);
    write_instance(out, now.device);
  }
  if ((changed & field::kState) != 0) {
    out.u8(now.types);
    out.u8(process_flags(now));
  }
  if ((changed & field::kTexts) != 0) {
    out.u8(now.texts ? 1 : 0);
    if (now.texts) texts(out, *now.texts);
  }
  if ((changed & field::kRow) != 0) encode_row(out, base.row.readings(), now.row.readings());
}

// Their numbers only where they are not those of the sample before.
void SnapshotEncoder::cores(WireWriter &out, const std::vector<CpuCore> &now) const {
  static const CpuCore blank = blank_core();
  const auto &before = before_->cores;
  const bool listed = !std::ranges::equal(now, before, {}, &CpuCore::id, &CpuCore::id);
  out.u8(listed ? 1 : 0);
  if (listed) {
    out.varint(now.size());
    for (const auto &core : now) out.varint(core.id);
  }
  for (std::size_t i = 0; i < now.size(); ++i) {
    encode_row(out, (listed ? blank : before[i]).row.readings(), now[i].row.readings());
  }
}

void SnapshotEncoder::sources(WireWriter &out, const std::vector<SourceStatus> &now) {
  out.varint(now.size());
  for (const auto &source : now) {
    string(out, source.name);
    string(out, source.problem);
    string(out, source.remedy);
    out.varint(source.devices);
  }
}

// Events are a list that loses its oldest and gains at the end: how many went, and those that came.
void SnapshotEncoder::events(WireWriter &out, const std::vector<Event> &now, WallTime time) {
  const auto &before = before_->events.get();
  std::size_t gone = 0;
  for (; gone < before.size(); ++gone) {
    const auto kept = before.size() - gone;
    if (kept <= now.size() && std::equal(before.end() - static_cast<std::ptrdiff_t>(kept), before.end(), now.begin())) {
      break;
    }
  }
  const auto kept = before.size() - gone;
  out.varint(gone);
  out.varint(now.size() - kept);
  for (std::size_t i = kept; i < now.size(); ++i) {
    const auto &event = now[i];
    out.signed_varint(static_cast<std::int64_t>(static_cast<std::uint64_t>(event.time.time_since_epoch().count()) -
                                                static_cast<std::uint64_t>(time.time_since_epoch().count())));
    string(out, event.device);
    string(out, std::string(word(event.kind)));
    out.signed_varint(event.code);
    string(out, event.text);
  }
}

}  // namespace gpulse::codec
