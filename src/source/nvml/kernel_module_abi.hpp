// SPDX-License-Identifier: Apache-2.0
// The driver's kernel module as /dev/nvidiactl offers it: the few requests that are made there, with the numbers and
// layouts that NVIDIA publishes with its open kernel modules. They are the same from driver 525 on.
#pragma once

#include <sys/ioctl.h>

#include <array>
#include <cstdint>

namespace gpulse::nvml::kernel_module {

// Makes an object. Before 535 `status` was where `size` is now, so it tells nothing; the handle does.
struct Allocation {
  std::uint32_t client, parent, handle, kind;
  std::uint64_t parameters;
  std::uint32_t size, status;
};
static_assert(sizeof(Allocation) == 32);

// Asks an object.
struct Control {
  std::uint32_t client, object, command, flags;
  std::uint64_t parameters;
  std::uint32_t size, status;
};
static_assert(sizeof(Control) == 32);

inline constexpr unsigned long kAllocate = _IOWR('F', 0x2B, Allocation);
inline constexpr unsigned long kControl = _IOWR('F', 0x2A, Control);
inline constexpr unsigned long kRegister = _IOWR('F', 201, int);  // of the control device, with a device

inline constexpr std::uint32_t kClient = 0x41, kDevice = 0x80, kSubdevice = 0x2080;  // kinds of objects

struct DeviceParameters {
  std::uint32_t number, share, target_client, target_device, flags;
  std::uint64_t space_size, space_start, space_limit;
  std::uint32_t space_mode;
};
static_assert(sizeof(DeviceParameters) == 56);

struct SubdeviceParameters {
  std::uint32_t number;
};

// Asked of the client.
inline constexpr std::uint32_t kGpuIds = 0x201, kGpuNumbers = 0x205, kGpuPlace = 0x21B;

struct GpuIds {
  std::array<std::uint32_t, 32> ids;  // ends with kNoGpu, if there are fewer
};
inline constexpr std::uint32_t kNoGpu = 0xFFFFFFFF;

struct GpuNumbers {
  std::uint32_t id, flags, device, subdevice, sli, board, instance;
  std::int32_t numa_node;
};
static_assert(sizeof(GpuNumbers) == 32);

struct GpuPlace {
  std::uint32_t id, domain;
  std::uint16_t bus, slot;
};
static_assert(sizeof(GpuPlace) == 12);

// Asked of the subdevice.
inline constexpr std::uint32_t kChipDetails = 0x208001A4;

struct ChipDetails {
  std::uint32_t pci_device;
  std::array<char, 4> sku;
  std::uint32_t major, minor;
};
static_assert(sizeof(ChipDetails) == 16);

// How programs that share the device compute in turn.
inline constexpr std::uint32_t kComputePolicies = 0x20800195;

struct ComputePolicy {
  std::uint32_t kind, value;
};
inline constexpr std::uint32_t kTimeslice = 0;
struct ComputePolicies {
  std::uint32_t count;
  std::array<ComputePolicy, 32> all;
};
static_assert(sizeof(ComputePolicies) == 260);

// Not published: what nvidia-smi asks before it prints "Sparse Operation Mode".
inline constexpr std::uint32_t kSparseMode = 0x20809038;

struct SparseMode {
  std::uint32_t enabled;
};

}  // namespace gpulse::nvml::kernel_module
