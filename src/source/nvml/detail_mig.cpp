// SPDX-License-Identifier: Apache-2.0
// How a device can be split into instances, and how it is, for commands that show it.
#include <algorithm>

#include "source/nvml/code.hpp"
#include "source/nvml/detail_calls.hpp"
#include "source/nvml/identity.hpp"
#include "source/nvml/reader_calls.hpp"

namespace gpulse::nvml {

namespace {

constexpr std::uint32_t kProfiles = 64;  // more than any driver numbers; it refuses those that a device lacks
constexpr std::uint32_t kMaxInstances = 64;
constexpr double kMib = 1024.0 * 1024.0;

// "1g.10gb", without the "MIG " that the driver puts before it.
template <std::size_t N>
std::string profile_name(const std::array<char, N> &buffer) {
  auto name = text_of(buffer);
  return name.starts_with("MIG ") ? name.substr(4) : name;
}

template <class Info>
InstanceProfile profile_of(const Info &info) {
  return {.name = profile_name(info.name),
          .id = info.id,
          .slices = info.slices,
          .count = info.instances,
          .processors = info.multiprocessors,
          .copy_engines = info.copy_engines,
          .decoders = info.decoders,
          .encoders = info.encoders,
          .jpegs = info.jpegs,
          .ofas = info.ofas};
}

Return read_placements(const Api &api, Handle handle, InstanceProfile &profile) {
  std::uint32_t count = 0;
  auto code = api.instance_placements(handle, profile.id, nullptr, &count);
  if (code == Return::success && count > kMaxInstances) code = Return::insufficient_size;
  std::vector<InstancePlacement> places(kMaxInstances);
  if (code == Return::success && count > 0) {
    code = api.instance_placements(handle, profile.id, places.data(), &count);
  }
  if (code != Return::success) return code;
  places.resize(std::min(count, kMaxInstances));
  for (const auto &place : places) {
    profile.starts.push_back(place.start);
    profile.size = place.size;
  }
  return code;
}

// Smallest first, as the driver's own tool lists them; those of one size in the driver's order.
void add(std::vector<InstanceProfile> &profiles, InstanceProfile profile) {
  const auto place =
      std::upper_bound(profiles.begin(), profiles.end(), profile.slices,
                       [](std::uint32_t slices, const InstanceProfile &other) { return slices < other.slices; });
  profiles.insert(place, std::move(profile));
}

Return list_profiles(const Api &api, Handle handle, std::vector<InstanceProfile> &profiles) {
  profiles.clear();
  auto refusal = Return::not_supported;
  for (std::uint32_t i = 0; i < kProfiles; ++i) {
    GpuInstanceProfileInfoV2 info{};
    info.version = version_word<GpuInstanceProfileInfoV2>(2);
    const auto code = api.instance_profile_v(handle, i, &info);
    if (code == Return::invalid_argument) break;  // numbers that the driver does not know
    if (code != Return::success) {
      if (code != Return::not_supported) refusal = code;
      if (code == Return::function_not_found) break;
      continue;
    }
    auto profile = profile_of(info);
    profile.memory_bytes = static_cast<double>(info.memory_mib) * kMib;
    profile.peer_to_peer = info.p2p != 0;
    std::uint32_t free = 0;
    const auto room = api.instance_capacity(handle, info.id, &free);
    profile.free = room == Return::success ? Reading(free) : reason_of(room);
    add(profiles, std::move(profile));
  }
  return profiles.empty() ? refusal : Return::success;
}

template <class Instance, class List>
Return list_instances(std::vector<Instance> &found, List list) {
  found.assign(kMaxInstances, nullptr);
  auto count = kMaxInstances;
  const auto code = list(found.data(), &count);
  found.resize(code == Return::success ? std::min(count, kMaxInstances) : 0);
  return code;
}

// The kinds of compute instances in a GPU instance, and those that there are.
Return read_compute_instances(const Api &api, GpuInstance instance, DevicePart &part) {
  for (std::uint32_t i = 0; i < kProfiles; ++i) {
    constexpr std::uint32_t kSharedEngines = 0;
    ComputeInstanceProfileInfoV2 info{};
    info.version = version_word<ComputeInstanceProfileInfoV2>(2);
    const auto code = api.compute_profile_v(instance, i, kSharedEngines, &info);
    if (code == Return::not_supported) continue;
    if (code == Return::invalid_argument) break;  // numbers that the driver does not know
    if (code != Return::success) return code;
    auto profile = profile_of(info);
    std::uint32_t free = 0;
    const auto room = api.compute_capacity(instance, info.id, &free);
    profile.free = room == Return::success ? Reading(free) : reason_of(room);
    add(part.profiles, std::move(profile));
  }
  if (part.profiles.empty()) return Return::not_supported;
  for (const auto &profile : part.profiles) {
    std::vector<ComputeInstance> found;
    auto code = list_instances(found, [&](ComputeInstance *out, std::uint32_t *count) {
      return api.compute_instances(instance, profile.id, out, count);
    });
    for (std::size_t i = 0; i < found.size() && code == Return::success; ++i) {
      ComputeInstanceInfo info{};
      code = api.compute_instance_info(found[i], &info);
      if (code == Return::success) {
        part.instances.push_back({profile.name, info.id, info.profile, info.start, info.size});
      }
    }
    if (code != Return::success) return code;
  }
  return Return::success;
}

// The GPU instances of one kind; `compute`: with their compute instances.
Return read_parts(const Api &api, Handle handle, const InstanceProfile &profile, bool compute,
                  std::vector<DevicePart> &parts) {
  std::vector<GpuInstance> found;
  auto code = list_instances(
      found, [&](GpuInstance *out, std::uint32_t *count) { return api.gpu_instances(handle, profile.id, out, count); });
  for (std::size_t i = 0; i < found.size() && code == Return::success; ++i) {
    GpuInstanceInfo info{};
    code = api.gpu_instance_info(found[i], &info);
    if (code != Return::success) break;
    DevicePart part;
    part.name = profile.name;
    part.id = info.id;
    part.profile = info.profile;
    part.start = info.start;
    part.size = info.size;
    if (compute) code = read_compute_instances(api, found[i], part);
    parts.push_back(std::move(part));
  }
  return code;
}

}  // namespace

Outcome instance_profiles(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  auto &profiles = frame.details->instance_profiles;
  const auto code = list_profiles(*driver.api, device.handle, profiles);
  auto placed = code;
  double places = 0;
  for (auto &profile : profiles) {
    if (!wanted(driver, frame, detail_metric("instance_placement_count"))) break;
    if (placed == Return::success) placed = read_placements(*driver.api, device.handle, profile);
    places += static_cast<double>(profile.starts.size());
  }
  put(frame, detail_metric("instance_placement_count"), placed, places);
  return put(frame, detail_metric("instance_profile_count"), code, static_cast<double>(profiles.size()));
}

Outcome device_parts(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  const bool compute = wanted(driver, frame, detail_metric("compute_instance_count"));
  auto &parts = frame.details->parts;
  parts.clear();
  std::vector<InstanceProfile> profiles;
  auto code = list_profiles(*driver.api, device.handle, profiles);
  for (const auto &profile : profiles) {
    code = read_parts(*driver.api, device.handle, profile, compute, parts);
    if (code != Return::success) break;
  }
  if (code != Return::success) parts.clear();
  double instances = 0;
  for (const auto &part : parts) instances += static_cast<double>(part.instances.size());
  put(frame, detail_metric("compute_instance_count"), code, instances);
  return put(frame, detail_metric("gpu_instance_count"), code, static_cast<double>(parts.size()));
}

}  // namespace gpulse::nvml
