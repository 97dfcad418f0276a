// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <vector>

#include "codec/snapshot_codec.hpp"
#include "codec/snapshot_parts.hpp"
#include "codec/text_row_codec.hpp"

namespace gpulse::codec {

namespace {

constexpr std::uint64_t kMost32 = std::numeric_limits<std::uint32_t>::max();

// The entry that this one goes on from; null for a new one.
template <class Entry>
const Entry *read_match(WireReader &in, std::uint8_t changed, const std::vector<Entry> &before, std::size_t &expected) {
  auto match = std::uint64_t{expected} + 1;
  if ((changed & field::kMatch) != 0) match = in.count(before.size());
  if (match == 0) return nullptr;
  if (in.failed() || match > before.size()) {
    in.fail();
    return nullptr;
  }
  expected = match;
  return &before[match - 1];
}

std::uint32_t read_u32(WireReader &in) { return static_cast<std::uint32_t>(in.count(kMost32)); }

std::optional<std::uint32_t> read_instance(WireReader &in) {
  const auto number = in.count(kMost32 + 1);
  return number == 0 ? std::nullopt : std::optional(static_cast<std::uint32_t>(number - 1));
}

// An instance comes with the flat number of its GPU in place of its own number.
void number_by_gpu(Snapshot &snapshot) {
  std::map<std::uint32_t, DeviceId> ids;  // by flat number
  std::vector<std::uint32_t> gpus;
  for (const auto &device : snapshot.devices) {
    if (!device.is_instance()) gpus.push_back(device.id.index);
  }
  std::ranges::sort(gpus);
  for (std::uint32_t i = 0; i < gpus.size(); ++i) ids.try_emplace(gpus[i], DeviceId{.index = i});
  std::map<std::uint32_t, std::uint32_t> instances;  // by the number of their GPU
  for (auto &device : snapshot.devices) {
    const auto flat = device.id.index;
    if (device.is_instance()) {
      const auto gpu = ids.contains(*device.id.instance) ? ids[*device.id.instance].index : *device.id.instance;
      ids[flat] = {.index = gpu, .instance = instances[gpu]++};
    }
    device.id = ids[flat];
  }
  for (auto &process : snapshot.processes) {
    if (const auto found = ids.find(process.device.index); found != ids.end()) process.device = found->second;
  }
}

}  // namespace

Snapshot SnapshotDecoder::result() const {
  auto snapshot = now_;
  if (numbering_ == Numbering::flat) number_by_gpu(snapshot);
  return snapshot;
}

void SnapshotDecoder::restart(SlotMap slots) {
  now_ = blank_snapshot();
  slots_ = std::move(slots);
  strings_.clear();
}

bool SnapshotDecoder::decode(WireReader &in) {
  text_left_ = kMostText;
  const auto parts = in.u8();
  if ((parts & part::kHostname) != 0) now_.hostname = string(in);
  if ((parts & part::kOrigin) != 0) now_.origin = string(in);
  if ((parts & part::kHost) != 0) row(in, now_.host);
  if ((parts & part::kSelf) != 0) row(in, now_.self);
  if ((parts & part::kSources) != 0) sources(in);
  if ((parts & part::kEvents) != 0) events(in);
  if ((parts & part::kCores) != 0) cores(in);
  devices(in);
  processes(in);
  if (in.failed() || !in.at_end()) return false;
  // Texts that stay from sample to sample must not add up either.
  return text_size(now_) <= kMostText;
}

const Text &SnapshotDecoder::string(WireReader &in) {
  static const Text none;
  const auto number = in.count(strings_.size());
  if (in.failed()) return none;
  if (number == strings_.size()) {
    const auto text = in.text(kLongestText);
    if (in.failed()) return none;
    strings_.emplace_back(text);
  }
  const auto &found = strings_[number];
  if (found.size() > text_left_) {
    in.fail();
    return none;
  }
  text_left_ -= found.size();
  return found;
}

void SnapshotDecoder::row(WireReader &in, Row &row) {
  if (!decode_row(in, row.readings(), slots_.of(row.scope()))) in.fail();
}

void SnapshotDecoder::texts(WireReader &in, TextRow &row, Scope scope) {
  decode_texts(in, row, slots_.texts_of(scope), [&] { return string(in); });
}

std::shared_ptr<const DeviceIdentity> SnapshotDecoder::identity(WireReader &in) {
  if (in.u8() == 0) return nullptr;
  auto identity = std::make_shared<DeviceIdentity>();
  for (auto *text : {&identity->source, &identity->vendor, &identity->uuid, &identity->pci, &identity->name,
                     &identity->driver, &identity->parent, &identity->label}) {
    *text = string(in);
  }
  texts(in, identity->texts, Scope::device);
  return identity;
}

void SnapshotDecoder::devices(WireReader &in) {
  const auto count = in.count(kMostDevices);
  std::vector<Device> now;
  std::size_t expected = 0;
  for (std::uint64_t i = 0; i < count && !in.failed(); ++i) {
    const auto changed = in.u8();
    const auto *match = read_match(in, changed, now_.devices, expected);
    if (in.failed()) return;
    now.push_back(match != nullptr ? *match : blank_device());
    if (match == nullptr) now.back().id.index = static_cast<std::uint32_t>(i);
    device(in, now.back(), changed);
  }
  now_.devices = std::move(now);
}

void SnapshotDecoder::device(WireReader &in, Device &device, std::uint8_t changed) {
  if ((changed & field::kNumber) != 0) device.id.index = read_u32(in);
  if ((changed & field::kPlace) != 0) device.id.instance = read_instance(in);
  if ((changed & field::kState) != 0) {
    const auto state = in.u8();
    if (state > static_cast<std::uint8_t>(DeviceState::not_responding)) return in.fail();
    device.state = static_cast<DeviceState>(state);
  }
  if ((changed & field::kStateFor) != 0) device.state_for = Seconds(std::bit_cast<double>(in.u64()));
  if ((changed & field::kTexts) != 0) device.identity = identity(in);
  if ((changed & field::kRow) != 0) row(in, device.row);
}

void SnapshotDecoder::processes(WireReader &in) {
  const auto count = in.count(kMostProcesses);
  std::vector<Process> now;
  std::size_t expected = 0;
  for (std::uint64_t i = 0; i < count && !in.failed(); ++i) {
    const auto changed = in.u8();
    const auto *match = read_match(in, changed, now_.processes, expected);
    if (in.failed()) return;
    now.push_back(match != nullptr ? *match : blank_process());
    process(in, now.back(), changed);
  }
  now_.processes = std::move(now);
}

void SnapshotDecoder::process(WireReader &in, Process &process, std::uint8_t changed) {
  if ((changed & field::kNumber) != 0) process.pid = read_u32(in);
  if ((changed & field::kPlace) != 0) {
    process.device.index = read_u32(in);
    if (numbering_ == Numbering::by_gpu) process.device.instance = read_instance(in);
  }
  if ((changed & field::kState) != 0) {
    process.types = in.u8();
    const auto flags = in.u8();
    process.foreign = (flags & kForeign) != 0;
    process.gone = (flags & kGone) != 0;
  }
  if ((changed & field::kTexts) != 0) {
    std::shared_ptr<TextRow> found;
    if (in.u8() != 0) {
      found = std::make_shared<TextRow>(Scope::process);
      texts(in, *found, Scope::process);
    }
    process.texts = std::move(found);
  }
  if ((changed & field::kRow) != 0) row(in, process.row);
}

void SnapshotDecoder::cores(WireReader &in) {
  if (in.u8() != 0) {
    const auto count = in.count(kMostCores);
    now_.cores.clear();
    for (std::uint64_t i = 0; i < count && !in.failed(); ++i) {
      now_.cores.push_back(blank_core());
      now_.cores.back().id = read_u32(in);
    }
  }
  for (auto &core : now_.cores) {
    if (in.failed()) return;
    row(in, core.row);
  }
}

void SnapshotDecoder::sources(WireReader &in) {
  const auto count = in.count(kMostSources);
  std::vector<SourceStatus> sources;
  for (std::uint64_t i = 0; i < count && !in.failed(); ++i) {
    SourceStatus source;
    source.name = string(in);
    source.problem = string(in);
    source.remedy = string(in);
    source.devices = read_u32(in);
    sources.push_back(std::move(source));
  }
  now_.sources = std::move(sources);
}

void SnapshotDecoder::events(WireReader &in) {
  auto events = now_.events.get();
  const auto gone = in.count(events.size());
  events.erase(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(gone));
  const auto added = in.count(kMostEvents - events.size());
  for (std::uint64_t i = 0; i < added && !in.failed(); ++i) {
    Event event;
    const auto since = static_cast<std::uint64_t>(in.signed_varint());
    const auto time = static_cast<std::uint64_t>(now_.time.time_since_epoch().count()) + since;
    event.time = WallTime(std::chrono::nanoseconds(static_cast<std::int64_t>(time)));
    event.device = string(in);
    const auto kind = string(in);
    event.code = in.signed_varint();
    event.text = string(in);
    if (const auto known = event_kind_named(kind)) {
      event.kind = *known;
    } else {
      event.text = kind + (event.text.empty() ? "" : ": ") + event.text;  // of a later version
    }
    events.push_back(std::move(event));
  }
  now_.events = std::move(events);
}

}  // namespace gpulse::codec
