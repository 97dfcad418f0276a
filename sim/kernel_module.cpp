// SPDX-License-Identifier: Apache-2.0
// The driver's kernel module, as far as gpulse asks it: which devices there are, and what their chips are called.
#include "source/nvml/kernel_module_abi.hpp"

#include <algorithm>
#include <cstring>

#include "control.hpp"
#include "state.hpp"

namespace {

using namespace gpulse::sim;
using namespace gpulse::nvml::kernel_module;

constexpr std::uint32_t kNotSupported = 0x56, kNoObject = 0x57;
constexpr std::uint32_t kClientHandle = 0xC1D00000, kDeviceHandles = 0xCAF00000, kSubdeviceHandles = 0xCAF10000;
constexpr std::uint32_t kPlaceBits = 0xFFFF;
constexpr std::uint32_t kFirstWithChipDetails = 525000;

// Ids are places plus one.
const Device *device_of(const Scenario &scenario, std::uint32_t id) {
  return id > 0 && id <= scenario.devices.size() ? &scenario.devices[id - 1] : nullptr;
}

template <class T>
T *parameters_of(const Control &control) {
  return control.size == sizeof(T) ? reinterpret_cast<T *>(control.parameters) : nullptr;
}

std::uint32_t list_gpus(const Scenario &scenario, GpuIds *out) {
  if (out == nullptr) return kNotSupported;
  out->ids.fill(kNoGpu);
  for (std::size_t i = 0; i < std::min(out->ids.size(), scenario.devices.size()); ++i) {
    out->ids[i] = static_cast<std::uint32_t>(i) + 1;
  }
  return 0;
}

std::uint32_t place_gpu(const Scenario &scenario, GpuPlace *out) {
  const Device *device = out != nullptr ? device_of(scenario, out->id) : nullptr;
  if (device == nullptr) return kNoObject;
  out->domain = device->pci.domain;
  out->bus = static_cast<std::uint16_t>(device->pci.bus);
  out->slot = static_cast<std::uint16_t>(device->pci.device);
  return 0;
}

std::uint32_t number_gpu(const Scenario &scenario, GpuNumbers *out) {
  if (out == nullptr || device_of(scenario, out->id) == nullptr) return kNoObject;
  out->device = out->id;
  return 0;
}

std::uint32_t describe_chip(const Scenario &scenario, std::uint32_t object, ChipDetails *out) {
  const Device *device = device_of(scenario, object & kPlaceBits);
  if (out == nullptr || device == nullptr) return kNoObject;
  const std::string &sku = (*device)[Text::chip_sku].text;
  if (sku.empty() || scenario.driver.number < kFirstWithChipDetails) return kNotSupported;
  *out = {.pci_device = static_cast<std::uint32_t>((*device)[Key::pci_device_id].constant) >> 16U,
          .sku = {},
          .major = 0xA,
          .minor = 1};
  std::memcpy(out->sku.data(), sku.data(), std::min(sku.size(), out->sku.size() - 1));
  return 0;
}

std::uint32_t tell_sparse_mode(const Scenario &scenario, std::uint32_t object, SparseMode *out) {
  const Device *device = device_of(scenario, object & kPlaceBits);
  if (out == nullptr || device == nullptr) return kNoObject;
  const Number &mode = (*device)[Key::sparse_mode];
  if (!mode.supported()) return kNotSupported;
  out->enabled = static_cast<std::uint32_t>(mode.constant);
  return 0;
}

std::uint32_t list_policies(const Scenario &scenario, std::uint32_t object, ComputePolicies *out) {
  const Device *device = device_of(scenario, object & kPlaceBits);
  if (out == nullptr || device == nullptr) return kNoObject;
  const Number &slice = (*device)[Key::timeslice];
  out->count = slice.supported() ? 1 : 0;
  out->all[0] = {.kind = kTimeslice, .value = slice.supported() ? static_cast<std::uint32_t>(slice.constant) : 0};
  return 0;
}

void allocate(Allocation &one) {
  switch (one.kind) {
    case kClient:
      one.handle = kClientHandle;
      break;
    case kDevice:
      one.handle = kDeviceHandles | reinterpret_cast<const DeviceParameters *>(one.parameters)->number;
      break;
    default:
      one.handle = kSubdeviceHandles | (one.parent & kPlaceBits);
      break;
  }
}

std::uint32_t answer(const Scenario &scenario, const Control &control) {
  switch (control.command) {
    case kGpuIds:
      return list_gpus(scenario, parameters_of<GpuIds>(control));
    case kGpuPlace:
      return place_gpu(scenario, parameters_of<GpuPlace>(control));
    case kGpuNumbers:
      return number_gpu(scenario, parameters_of<GpuNumbers>(control));
    case kChipDetails:
      return describe_chip(scenario, control.object, parameters_of<ChipDetails>(control));
    case kComputePolicies:
      return list_policies(scenario, control.object, parameters_of<ComputePolicies>(control));
    case kSparseMode:
      return tell_sparse_mode(scenario, control.object, parameters_of<SparseMode>(control));
    default:
      return kNotSupported;
  }
}

}  // namespace

int gpulse_sim_module(unsigned long request, void *argument) {
  const Scenario *scenario = g_sim.scenario.load(std::memory_order_acquire);
  if (scenario == nullptr || (request != kAllocate && request != kControl)) return -1;
  if (request == kAllocate) {
    allocate(*static_cast<Allocation *>(argument));
  } else {
    auto &control = *static_cast<Control *>(argument);
    control.status = answer(*scenario, control);
  }
  return 0;
}
