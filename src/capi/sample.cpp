// SPDX-License-Identifier: Apache-2.0
#include "monitor/sample.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "capi/handles.hpp"

namespace gpulse::capi {

namespace {

gpulse_status no_such(std::string_view what, std::uint32_t position) {
  return fail(GPULSE_INVALID, fmt::format("the sample has no {} {}", what, position));
}

// Why there is no device, in words; empty where there are some.
const char *absence_of(const Snapshot &snapshot) {
  if (!snapshot.devices.empty()) return "";
  for (const auto &source : snapshot.sources) {
    if (!source.problem.empty()) return source.problem.str().c_str();
  }
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): of a literal
  return absence_words(snapshot).data();
}

// For as long as the program runs.
const char *type_name(std::uint8_t types) {
  static const auto &names = *new std::array<std::string, 8>([] {
    std::array<std::string, 8> made;
    for (std::size_t i = 1; i < made.size(); ++i) made[i] = type_word(static_cast<std::uint8_t>(i));
    return made;
  }());
  return names[types % names.size()].c_str();
}

const Row *row_of(const Snapshot &snapshot, Scope scope, std::uint32_t entity) {
  if (scope == Scope::host) return &snapshot.host;
  if (scope == Scope::device && entity < snapshot.devices.size()) return &snapshot.devices[entity].row;
  if (scope == Scope::process && entity < snapshot.processes.size()) return &snapshot.processes[entity].row;
  return nullptr;
}

double value_of(const Snapshot &snapshot, std::int32_t metric, std::uint32_t entity) {
  const auto id = metric_of(metric);
  const auto *row = id ? row_of(snapshot, brief(*id).scope, entity) : nullptr;
  if (row == nullptr || is_text(brief(*id))) return as_double(Reason::not_supported);
  return as_double((*row)[*id]);
}

}  // namespace

}  // namespace gpulse::capi

using namespace gpulse;
using capi::from_handle;

void gpulse_retain(const gpulse_sample *sample) { monitor::SamplePtr::retain(from_handle(sample)); }
void gpulse_release(const gpulse_sample *sample) { monitor::SamplePtr::release(from_handle(sample)); }

gpulse_status gpulse_get_info(const gpulse_sample *sample, gpulse_sample_info *info) {
  return capi::guarded([&] {
    if (sample == nullptr) return capi::fail(GPULSE_INVALID, "no sample");
    const auto &one = *from_handle(sample);
    const auto &snapshot = *one.snapshot;
    const gpulse_sample_info full{.size = 0,
                                  .number = one.number,
                                  .time = snapshot.time.time_since_epoch().count(),
                                  .monotonic = one.at.time_since_epoch().count(),
                                  .step = one.step.value_or(-1),
                                  .devices = static_cast<std::uint32_t>(snapshot.devices.size()),
                                  .processes = static_cast<std::uint32_t>(snapshot.processes.size()),
                                  .from_agent = one.from_agent ? 1 : 0,
                                  .hostname = snapshot.hostname.str().c_str(),
                                  .absence = capi::absence_of(snapshot)};
    return capi::hand_out(full, info);
  });
}

gpulse_status gpulse_get_device(const gpulse_sample *sample, uint32_t device, gpulse_device_info *info) {
  return capi::guarded([&] {
    if (sample == nullptr || device >= from_handle(sample)->snapshot->devices.size())
      return capi::no_such("device", device);
    const auto &one = from_handle(sample)->snapshot->devices[device];
    static const DeviceIdentity kUnknown{};
    const auto &identity = one.identity != nullptr ? *one.identity : kUnknown;
    const gpulse_device_info full{.size = 0,
                                  .index = one.id.index,
                                  .instance = one.id.instance ? static_cast<std::int32_t>(*one.id.instance) : -1,
                                  .id = from_handle(sample)->ids[device].c_str(),
                                  .uuid = identity.uuid.str().c_str(),
                                  .name = identity.name.str().c_str(),
                                  .vendor = identity.vendor.str().c_str(),
                                  .pci = identity.pci.str().c_str(),
                                  .driver = identity.driver.str().c_str(),
                                  .parent = identity.parent.str().c_str(),
                                  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): of a literal
                                  .state = word(one.state).data()};
    return capi::hand_out(full, info);
  });
}

int32_t gpulse_find_device(const gpulse_sample *sample, const char *selector) {
  int32_t found = -1;
  capi::guarded([&] {
    if (sample == nullptr || selector == nullptr) return capi::fail(GPULSE_INVALID, "no sample, or no selector");
    auto position = monitor::find_device(*from_handle(sample), selector);
    if (!position) return capi::fail(GPULSE_INVALID, position.error().line());
    found = static_cast<int32_t>(*position);
    return GPULSE_OK;
  });
  return found;
}

gpulse_status gpulse_get_process(const gpulse_sample *sample, uint32_t process, gpulse_process_info *info) {
  return capi::guarded([&] {
    if (sample == nullptr || process >= from_handle(sample)->snapshot->processes.size())
      return capi::no_such("process", process);
    const auto &snapshot = *from_handle(sample)->snapshot;
    const auto &one = snapshot.processes[process];
    const auto device = std::ranges::find(snapshot.devices, one.device, &Device::id);
    const gpulse_process_info full{
        .size = 0,
        .pid = one.pid,
        .device = device == snapshot.devices.end() ? UINT32_MAX
                                                   : static_cast<std::uint32_t>(device - snapshot.devices.begin()),
        .type = capi::type_name(one.types),
        .is_self = one.pid == static_cast<std::uint32_t>(::getpid()) && !one.foreign ? 1 : 0};
    return capi::hand_out(full, info);
  });
}

double gpulse_value(const gpulse_sample *sample, int32_t metric, uint32_t entity) {
  if (sample == nullptr) return capi::as_double(Reason::not_sampled);
  return capi::value_of(*from_handle(sample)->snapshot, metric, entity);
}

void gpulse_values(const gpulse_sample *sample, uint32_t entity, const int32_t *metrics, size_t count, double *values) {
  if (metrics == nullptr || values == nullptr) return;
  for (size_t i = 0; i < count; ++i) values[i] = gpulse_value(sample, metrics[i], entity);
}

const char *gpulse_text(const gpulse_sample *sample, int32_t metric, uint32_t entity) {
  const auto found = capi::metric_of(metric);
  if (sample == nullptr || !found) return nullptr;
  const auto id = *found;
  const auto &snapshot = *from_handle(sample)->snapshot;
  const TextRow *texts = nullptr;
  if (brief(id).scope == Scope::device && entity < snapshot.devices.size() &&
      snapshot.devices[entity].identity != nullptr)
    texts = &snapshot.devices[entity].identity->texts;
  if (brief(id).scope == Scope::process && entity < snapshot.processes.size())
    texts = snapshot.processes[entity].texts.get();
  if (texts == nullptr || !is_text(brief(id)) || !(*texts)[id]) return nullptr;
  return (*texts)[id].value().c_str();
}

const char *gpulse_json(const gpulse_sample *sample) {
  const char *text = nullptr;
  capi::guarded([&] {
    if (sample == nullptr) return capi::fail(GPULSE_INVALID, "no sample");
    text = from_handle(sample)->json().c_str();
    return GPULSE_OK;
  });
  return text;
}
