// SPDX-License-Identifier: Apache-2.0
// How a device can be split into instances, and how it is. Looking at the instances takes the rights of an owner.
#include <algorithm>
#include <cstdio>
#include <span>

#include "export.hpp"

using namespace gpulse::sim;
using gpulse::nvml::ComputeInstance;
using gpulse::nvml::ComputeInstanceInfo;
using gpulse::nvml::ComputeInstanceProfileInfoV2;
using gpulse::nvml::GpuInstance;
using gpulse::nvml::GpuInstanceInfo;
using gpulse::nvml::GpuInstanceProfileInfo;
using gpulse::nvml::GpuInstanceProfileInfoV2;
using gpulse::nvml::InstancePlacement;

namespace {

constexpr std::uint32_t kProfileNumbers = 20;  // that the driver knows; a device has some of them

// Handles of instances hold the device's place and the ids.
constexpr unsigned kPlaceShift = 24, kGpuShift = 12;
constexpr std::uintptr_t kIdMask = 0xFFF;

template <class T>
T instance_handle(std::uint32_t place, std::uint32_t gpu_instance, std::uint32_t compute_instance = 0) {
  return reinterpret_cast<T>((std::uintptr_t{place} + 1) << kPlaceShift | std::uintptr_t{gpu_instance} << kGpuShift |
                             compute_instance);
}

struct Ids {
  Handle device;
  std::uint32_t gpu, compute;
};
template <class T>
Ids ids_of(T handle) {
  const auto bits = reinterpret_cast<std::uintptr_t>(handle);
  return {make_handle((bits >> kPlaceShift) - 1), static_cast<std::uint32_t>(bits >> kGpuShift & kIdMask),
          static_cast<std::uint32_t>(bits & kIdMask)};
}

bool is_split(const Call &call) {
  std::uint32_t mode = 0;
  const Return code = call.give_setting(call.device().settings->mig_mode, Key::mig_mode, &mode);
  return code == Return::success && mode != 0;
}

// The GPU instance's profile of "1c.3g.40gb" is 3g.40gb.
std::string_view gpu_profile(const MigInstance &instance) {
  const std::string_view name = instance.profile;
  const std::size_t part = name.find("c.");
  return part == std::string_view::npos ? name : name.substr(part + 2);
}

const MigProfile *find_profile(const Device &device, std::string_view name) {
  const auto found = std::ranges::find(device.mig_profiles, name, &MigProfile::name);
  return found == device.mig_profiles.end() ? nullptr : &*found;
}

// How many more instances of the profile there is room for.
std::uint32_t room_for(const Device &device, const MigProfile &profile) {
  std::uint32_t room = 0;
  for (const std::uint32_t start : profile.starts) {
    const bool taken = std::ranges::any_of(device.mig, [&](const MigInstance &instance) {
      const MigProfile *other = find_profile(device, gpu_profile(instance));
      return other != nullptr && instance.start < start + profile.size && start < instance.start + other->size;
    });
    room += taken ? 0 : 1;
  }
  return std::min(room, profile.count);
}

template <class Info>
Return describe(const Call &call, std::uint32_t number, Info &info) {
  const auto &profiles = call.device().mig_profiles;
  GPULSE_SIM_NEED(number < kProfileNumbers && call.mig() == nullptr)
  const auto found = std::ranges::find(profiles, number, &MigProfile::number);
  if (found == profiles.end()) {
    return Return::not_supported;
  }
  info.id = found->id;
  info.p2p = 0;
  info.slices = found->slices;
  info.instances = found->count;
  info.multiprocessors = found->sms;
  info.copy_engines = found->copy_engines;
  info.decoders = found->decoders;
  info.encoders = found->encoders;
  info.jpegs = found->jpegs;
  info.ofas = found->ofas;
  info.memory_mib = found->memory_mib;
  if constexpr (requires { info.name; }) {
    std::snprintf(info.name.data(), info.name.size(), "MIG %s", found->name.c_str());
  }
  return Return::success;
}

// What a GPU instance can be split into: by number of slices, with the driver's number for each.
struct Share {
  std::uint32_t number, slices;
};
constexpr std::array kShares{Share{0, 1}, Share{1, 2}, Share{2, 3}, Share{3, 4}, Share{4, 7}};

bool offers(std::uint32_t slices, std::uint32_t share) {
  return share <= slices && !(slices == 4 && share == 3) && (share != 7 || slices == 7);
}

// The GPU instance behind a handle: its profile and its parts.
struct Part {
  const MigProfile *profile = nullptr;
  std::vector<const MigInstance *> instances;
};
Part find_part(const Call &call, std::uint32_t gpu_instance) {
  Part part;
  for (const MigInstance &instance : call.device().mig) {
    if (instance.gpu_instance == gpu_instance) {
      part.profile = find_profile(call.device(), gpu_profile(instance));
      part.instances.push_back(&instance);
    }
  }
  return part;
}

std::uint32_t slices_of(const MigInstance &instance) {
  return static_cast<std::uint32_t>(instance[Key::mig_compute_slices].constant);
}

template <class T>
Return give_list(std::span<const T> items, T *out, std::uint32_t *count) {
  *count = static_cast<std::uint32_t>(items.size());
  std::ranges::copy(items, out);
  return Return::success;
}

}  // namespace

GPULSE_SIM_EXPORT Return nvmlDeviceGetGpuInstanceProfileInfo(Handle device, std::uint32_t number,
                                                             GpuInstanceProfileInfo *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetGpuInstanceProfileInfo, device)
  GPULSE_SIM_NEED(out != nullptr)
  return describe(call, number, *out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetGpuInstanceProfileInfoV(Handle device, std::uint32_t number,
                                                              GpuInstanceProfileInfoV2 *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetGpuInstanceProfileInfoV, device)
  GPULSE_SIM_NEED(out != nullptr)
  return version_is(*out, 2) ? describe(call, number, *out) : Return::argument_version_mismatch;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetGpuInstanceRemainingCapacity(Handle device, std::uint32_t id,
                                                                   std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetGpuInstanceRemainingCapacity, device)
  GPULSE_SIM_NEED(out != nullptr && call.mig() == nullptr)
  const auto &profiles = call.device().mig_profiles;
  const auto found = std::ranges::find(profiles, id, &MigProfile::id);
  if (found == profiles.end()) {
    return Return::not_supported;
  }
  *out = room_for(call.device(), *found);
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetGpuInstancePossiblePlacements_v2(Handle device, std::uint32_t id,
                                                                       InstancePlacement *out, std::uint32_t *count) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetGpuInstancePossiblePlacements_v2, device)
  GPULSE_SIM_NEED(count != nullptr && call.mig() == nullptr)
  const auto &profiles = call.device().mig_profiles;
  const auto found = std::ranges::find(profiles, id, &MigProfile::id);
  if (found == profiles.end()) {
    return Return::not_supported;
  }
  *count = static_cast<std::uint32_t>(found->starts.size());
  for (std::size_t i = 0; out != nullptr && i < found->starts.size(); ++i) {
    out[i] = {.start = found->starts[i], .size = found->size};
  }
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetGpuInstances(Handle device, std::uint32_t id, GpuInstance *out,
                                                   std::uint32_t *count) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetGpuInstances, device)
  GPULSE_SIM_NEED(out != nullptr && count != nullptr && call.mig() == nullptr)
  if (!is_split(call)) {
    return Return::not_supported;
  }
  if (!call.may_manage()) {
    return Return::no_permission;
  }
  std::vector<GpuInstance> found;
  for (const MigInstance &instance : call.device().mig) {
    const MigProfile *profile = find_profile(call.device(), gpu_profile(instance));
    const auto handle = instance_handle<GpuInstance>(call.place(), instance.gpu_instance);
    if (profile != nullptr && profile->id == id && std::ranges::find(found, handle) == found.end()) {
      found.push_back(handle);
    }
  }
  return give_list<GpuInstance>(found, out, count);
}

GPULSE_SIM_EXPORT Return nvmlGpuInstanceGetInfo(GpuInstance handle, GpuInstanceInfo *out) {
  const Ids ids = ids_of(handle);
  GPULSE_SIM_BEGIN(nvmlGpuInstanceGetInfo, ids.device)
  const Part part = find_part(call, ids.gpu);
  GPULSE_SIM_NEED(out != nullptr && part.profile != nullptr)
  *out = {.device = ids.device,
          .id = ids.gpu,
          .profile = part.profile->id,
          .start = part.instances.front()->start,
          .size = part.profile->size};
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlGpuInstanceGetComputeInstanceProfileInfoV(GpuInstance handle, std::uint32_t number,
                                                                       std::uint32_t engines,
                                                                       ComputeInstanceProfileInfoV2 *out) {
  const Ids ids = ids_of(handle);
  GPULSE_SIM_BEGIN(nvmlGpuInstanceGetComputeInstanceProfileInfoV, ids.device)
  const Part part = find_part(call, ids.gpu);
  GPULSE_SIM_NEED(out != nullptr && part.profile != nullptr && number < kProfileNumbers && engines == 0)
  if (!version_is(*out, 2)) {
    return Return::argument_version_mismatch;
  }
  const MigProfile &whole = *part.profile;
  const auto *share = std::ranges::find(kShares, number, &Share::number);
  if (share == kShares.end() || !offers(whole.slices, share->slices)) {
    return Return::not_supported;
  }
  out->id = number;
  out->slices = share->slices;
  out->instances = whole.slices / share->slices;
  out->multiprocessors = whole.sms / whole.slices * share->slices;
  out->copy_engines = whole.copy_engines;
  out->decoders = whole.decoders;
  out->encoders = whole.encoders;
  out->jpegs = whole.jpegs;
  out->ofas = whole.ofas;
  if (share->slices == whole.slices) {
    std::snprintf(out->name.data(), out->name.size(), "MIG %s", whole.name.c_str());
  } else {
    std::snprintf(out->name.data(), out->name.size(), "MIG %uc.%s", share->slices, whole.name.c_str());
  }
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlGpuInstanceGetComputeInstanceRemainingCapacity(GpuInstance handle, std::uint32_t id,
                                                                            std::uint32_t *out) {
  const Ids ids = ids_of(handle);
  GPULSE_SIM_BEGIN(nvmlGpuInstanceGetComputeInstanceRemainingCapacity, ids.device)
  const Part part = find_part(call, ids.gpu);
  const auto *share = std::ranges::find(kShares, id, &Share::number);
  GPULSE_SIM_NEED(out != nullptr && part.profile != nullptr && share != kShares.end())
  std::uint32_t taken = 0;
  for (const MigInstance *instance : part.instances) {
    taken += slices_of(*instance);
  }
  *out = (part.profile->slices - std::min(taken, part.profile->slices)) / share->slices;
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlGpuInstanceGetComputeInstances(GpuInstance handle, std::uint32_t id, ComputeInstance *out,
                                                            std::uint32_t *count) {
  const Ids ids = ids_of(handle);
  GPULSE_SIM_BEGIN(nvmlGpuInstanceGetComputeInstances, ids.device)
  const auto *share = std::ranges::find(kShares, id, &Share::number);
  GPULSE_SIM_NEED(out != nullptr && count != nullptr && share != kShares.end())
  if (!call.may_manage()) {
    return Return::no_permission;
  }
  std::vector<ComputeInstance> found;
  for (const MigInstance *instance : find_part(call, ids.gpu).instances) {
    if (slices_of(*instance) == share->slices) {
      found.push_back(instance_handle<ComputeInstance>(call.place(), ids.gpu, instance->compute_instance));
    }
  }
  return give_list<ComputeInstance>(found, out, count);
}

GPULSE_SIM_EXPORT Return nvmlComputeInstanceGetInfo_v2(ComputeInstance handle, ComputeInstanceInfo *out) {
  const Ids ids = ids_of(handle);
  GPULSE_SIM_BEGIN(nvmlComputeInstanceGetInfo_v2, ids.device)
  GPULSE_SIM_NEED(out != nullptr)
  for (const MigInstance *instance : find_part(call, ids.gpu).instances) {
    if (instance->compute_instance != ids.compute) {
      continue;
    }
    const std::uint32_t slices = slices_of(*instance);
    const auto *share = std::ranges::find(kShares, slices, &Share::slices);
    *out = {.device = ids.device,
            .gpu_instance = instance_handle<GpuInstance>(call.place(), ids.gpu),
            .id = ids.compute,
            .profile = share == kShares.end() ? 0 : share->number,
            .start = instance->part_start,
            .size = slices};
    return Return::success;
  }
  return Return::not_found;
}
