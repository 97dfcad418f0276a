// SPDX-License-Identifier: Apache-2.0
// The NVML binary interface as the driver's library speaks it: our own declarations, sizes asserted (LP64).
// Shared by the NVIDIA source, which calls it, and the simulator, which answers it. No code, no I/O.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace gpulse::nvml {

using Handle = struct DeviceOpaque *;
using EventSet = struct EventSetOpaque *;
using SystemEventSet = struct SystemEventSetOpaque *;
using GpmSample = struct GpmSampleOpaque *;
using GpuInstance = struct GpuInstanceOpaque *;
using ComputeInstance = struct ComputeInstanceOpaque *;

enum class Return : std::uint32_t {
  success = 0,
  uninitialized = 1,
  invalid_argument = 2,
  not_supported = 3,
  no_permission = 4,
  already_initialized = 5,
  not_found = 6,
  insufficient_size = 7,
  insufficient_power = 8,
  driver_not_loaded = 9,
  timeout = 10,
  irq_issue = 11,
  library_not_found = 12,
  function_not_found = 13,
  corrupted_inforom = 14,
  gpu_is_lost = 15,
  reset_required = 16,
  operating_system = 17,
  lib_rm_version_mismatch = 18,
  in_use = 19,
  memory = 20,
  no_data = 21,
  vgpu_ecc_not_supported = 22,
  insufficient_resources = 23,
  freq_not_supported = 24,
  argument_version_mismatch = 25,
  deprecated = 26,
  not_ready = 27,
  gpu_not_found = 28,
  invalid_state = 29,
  reset_type_not_supported = 30,
  unknown = 999,
};

// The first word of a versioned struct holds its size and version.
template <class T>
constexpr std::uint32_t version_word(std::uint32_t version) {
  return static_cast<std::uint32_t>(sizeof(T)) | (version << 24U);
}

inline constexpr std::uint64_t kValueUnknown = ~std::uint64_t{0};
inline constexpr std::uint32_t kNoInstance = 0xFFFFFFFF;
inline constexpr std::uint32_t kAllLinks = 0xFFFFFFFF;
inline constexpr std::size_t kNameBytes = 96;

struct Utilization {
  std::uint32_t gpu, memory;
};

struct Memory {
  std::uint64_t total, free, used;
};

struct MemoryV2 {
  std::uint32_t version;
  std::uint64_t total, reserved, free, used;
};

struct Bar1Memory {
  std::uint64_t total, free, used;
};

struct PciInfoV2 {
  std::array<char, 16> bus_id;
  std::uint32_t domain, bus, device, pci_device_id, pci_subsystem_id;
  std::array<std::uint32_t, 4> reserved;
};

struct PciInfo {
  std::array<char, 16> bus_id_legacy;
  std::uint32_t domain, bus, device, pci_device_id, pci_subsystem_id;
  std::array<char, 32> bus_id;
};

struct ExcludedInfo {
  PciInfo pci;
  std::array<char, 80> uuid;
};
static_assert(sizeof(ExcludedInfo) == 148);

struct PciInfoExt {
  std::uint32_t version, domain, bus, device, pci_device_id, pci_subsystem_id, base_class, sub_class;
  std::array<char, 32> bus_id;
};

struct ProcessInfoV1 {
  std::uint32_t pid;
  std::uint64_t used_gpu_memory;
};

struct ProcessInfoV2 {
  std::uint32_t pid;
  std::uint64_t used_gpu_memory;
  std::uint32_t gpu_instance, compute_instance;
};

// Rows of the _v3 process calls on drivers 535.43 to 535.86.
struct ProcessInfoV3Wide {
  std::uint32_t pid;
  std::uint64_t used_gpu_memory;
  std::uint32_t gpu_instance, compute_instance;
  std::uint64_t cc_protected_memory;
};

struct ProcessDetail {
  std::uint32_t pid;
  std::uint64_t used_gpu_memory;
  std::uint32_t gpu_instance, compute_instance;
  std::uint64_t cc_protected_memory;
};

struct ProcessDetailList {
  std::uint32_t version, mode, count;
  ProcessDetail *processes;
};

struct ProcessUtilizationSample {
  std::uint32_t pid;
  std::uint64_t time_us;
  std::uint32_t sm, memory, encoder, decoder;
};

struct ProcessUtilizationInfo {
  std::uint64_t time_us;
  std::uint32_t pid, sm, memory, encoder, decoder, jpeg, ofa;
};

struct ProcessesUtilizationInfo {
  std::uint32_t version, count;
  std::uint64_t last_seen_us;
  ProcessUtilizationInfo *processes;
};

union Value {
  double f64;
  std::int32_t i32;
  std::uint32_t u32;
  unsigned long ul;
  std::uint64_t u64;
  std::int64_t i64;
  std::uint16_t u16;
};

enum class ValueType : std::uint32_t { f64 = 0, u32 = 1, ul = 2, u64 = 3, i64 = 4, i32 = 5, u16 = 6 };

struct Sample {
  std::uint64_t time_us;
  Value value;
};

struct FieldValue {
  std::uint32_t field, scope;
  std::int64_t time_us, latency_us;
  ValueType type;
  Return result;
  Value value;
};

struct GpmSupport {
  std::uint32_t version, supported;
};

struct GpmMetric {
  std::uint32_t id;
  Return result;
  double value;
  char *short_name, *long_name, *unit;
};

// The library touches only `count` metrics, so an array of any length works with every driver.
template <std::size_t N>
struct GpmMetricsGet {
  std::uint32_t version, count;
  GpmSample sample1, sample2;
  std::array<GpmMetric, N> metrics;
};

struct TemperatureReading {
  std::uint32_t version, sensor;
  std::int32_t celsius;
};

struct MarginTemperature {
  std::uint32_t version;
  std::int32_t celsius;
};

struct FanSpeedInfo {
  std::uint32_t version, fan, rpm;
};

struct CoolerInfo {
  std::uint32_t version, index, signal, target;
};

struct ThermalSensor {
  std::int32_t controller, min_celsius, max_celsius, celsius, target;
};

struct ThermalSettings {
  std::uint32_t count;
  std::array<ThermalSensor, 3> sensors;
};

struct PstateDomain {
  std::uint32_t present, percent, increase, decrease;
};

struct DynamicPstatesInfo {
  std::uint32_t flags;
  std::array<PstateDomain, 8> domains;
};

struct ClockOffset {
  std::uint32_t version, clock, pstate;
  std::int32_t offset_mhz, min_mhz, max_mhz;
};

struct PerformanceModes {
  std::uint32_t version;
  std::array<char, 2048> text;
};

struct ViolationTime {
  std::uint64_t reference_us, violation_ns;
};

struct EccErrorCounts {
  std::uint64_t l1, l2, device_memory, register_file;
};

struct SramEccErrorStatus {
  std::uint32_t version;
  std::uint64_t aggregate_uncorrected_parity, aggregate_uncorrected_sec_ded, aggregate_corrected;
  std::uint64_t volatile_uncorrected_parity, volatile_uncorrected_sec_ded, volatile_corrected;
  std::uint64_t aggregate_l2, aggregate_sm, aggregate_pcie, aggregate_mcu, aggregate_other;
  std::uint32_t threshold_exceeded;
};

struct RemappedRowsV2 {
  std::uint32_t corrected_active, corrected_inactive, uncorrected_active, uncorrected_inactive, pending, failure;
};

struct RowRemapperHistogram {
  std::uint32_t max, high, partial, low, none;
};

struct RepairStatus {
  std::uint32_t version, channel_pending, tpc_pending;
};

struct EventDataV1 {
  Handle device;
  std::uint64_t type, data;
};

struct EventData {
  Handle device;
  std::uint64_t type, data;
  std::uint32_t gpu_instance, compute_instance;
};

struct SystemEventSetCreate {
  std::uint32_t version;
  SystemEventSet set;
};

struct SystemEventSetRegister {
  std::uint32_t version;
  std::uint64_t types;
  SystemEventSet set;
};

struct SystemEventData {
  std::uint64_t type;
  std::uint32_t gpu;
};

struct SystemEventSetWait {
  std::uint32_t version, timeout_ms;
  SystemEventSet set;
  SystemEventData *data;
  std::uint32_t capacity, count;
};

struct AccountingStats {
  std::uint32_t gpu_utilization, memory_utilization;
  std::uint64_t max_memory, time_ms, start_time_us;
  std::uint32_t running;
  std::array<std::uint32_t, 5> reserved;
};

struct AccountingStatsV2 {
  std::uint32_t pid, running, gpu_utilization, memory_utilization;
  std::uint64_t max_memory;
  std::uint32_t samples;
  std::uint64_t sum_gpu, sum_memory, time_ms, start_time_us;
};

struct EncoderSession {
  std::uint32_t id, pid, vgpu, codec, width, height, fps, latency_us;
};

struct FbcStats {
  std::uint32_t sessions, fps, latency_us;
};

struct FbcSession {
  std::uint32_t id, pid, vgpu, display, type, flags, max_width, max_height, width, height, fps, latency_us;
};

struct DeviceAttributes {
  std::uint32_t multiprocessors, copy_engines, decoders, encoders, jpegs, ofas, gpu_instance_slices,
      compute_instance_slices;
  std::uint64_t memory_mib;
};

struct GpuInstanceInfo {
  Handle device;
  std::uint32_t id, profile, start, size;
};

struct ComputeInstanceInfo {
  Handle device;
  GpuInstance gpu_instance;
  std::uint32_t id, profile, start, size;
};

struct GpuInstanceProfileInfo {
  std::uint32_t id, p2p, slices, instances, multiprocessors, copy_engines, decoders, encoders, jpegs, ofas;
  std::uint64_t memory_mib;
};

struct GpuInstanceProfileInfoV2 {
  std::uint32_t version, id, p2p, slices, instances, multiprocessors, copy_engines, decoders, encoders, jpegs, ofas;
  std::uint64_t memory_mib;
  std::array<char, kNameBytes> name;
};

struct GpuInstanceProfileInfoV3 {
  std::uint32_t version, id, slices, instances, multiprocessors, copy_engines, decoders, encoders, jpegs, ofas;
  std::uint64_t memory_mib;
  std::array<char, kNameBytes> name;
  std::uint32_t capabilities;
};

struct ComputeInstanceProfileInfoV2 {
  std::uint32_t version, id, slices, instances, multiprocessors, copy_engines, decoders, encoders, jpegs, ofas;
  std::array<char, kNameBytes> name;
};

struct InstancePlacement {
  std::uint32_t start, size;
};

struct FabricInfoV2 {
  std::uint32_t version;
  std::array<std::uint8_t, 16> cluster_uuid;
  std::uint32_t status, clique;
  std::uint8_t state;
  std::uint32_t health_mask;
};

struct FabricInfoV3 {
  std::uint32_t version;
  std::array<std::uint8_t, 16> cluster_uuid;
  std::uint32_t status, clique;
  std::uint8_t state;
  std::uint32_t health_mask;
  std::uint8_t health_summary;
};

struct NvLinkInfoV1 {
  std::uint32_t version, encrypted;
};

struct NvLinkFirmware {
  std::uint8_t ucode;
  std::uint32_t major, minor, sub_minor;
};

struct NvLinkInfoV2 {
  std::uint32_t version, encrypted;
  std::array<NvLinkFirmware, 100> firmware;
  std::uint32_t firmware_count;
};

struct ConfComputeState {
  std::uint32_t environment, feature, developer_tools;
};

struct ConfComputeSettings {
  std::uint32_t version, environment, feature, developer_tools, multi_gpu;
};

struct ConfComputeMemSize {
  std::uint64_t protected_kib, unprotected_kib;
};

struct PlatformInfo {
  std::uint32_t version;
  std::array<std::uint8_t, 16> ib_guid, chassis_serial;
  std::uint8_t slot, tray, host, peer_type, module;
};

struct AddressingMode {
  std::uint32_t version, value;
};

struct Hostname {
  std::array<char, 64> text;
};

struct UnrepairableMemory {
  std::uint32_t version, flag;
};

// Bits of up to 255 profiles.
using ProfileMask = std::array<std::uint32_t, 8>;

struct WorkloadProfiles {
  std::uint32_t version;
  ProfileMask known, requested, enforced;
};

struct Capabilities {
  std::uint32_t version, mask;
};

struct C2cModeInfo {
  std::uint32_t enabled;
};

struct Pdi {
  std::uint32_t version;
  std::uint64_t value;
};

struct UuidQuery {
  std::uint32_t version, type;
  std::array<char, 41> text;
};

struct DriverBranch {
  std::uint32_t version;
  std::array<char, 80> text;
};

struct DramEncryption {
  std::uint32_t version, state;
};

struct VgpuInstanceUtilizationSample {
  std::uint32_t instance;
  std::uint64_t time_us;
  Value sm, memory, encoder, decoder;
};

struct VgpuInstanceUtilizationInfo {
  std::uint64_t time_us;
  std::uint32_t instance;
  Value sm, memory, encoder, decoder, jpeg, ofa;
};

struct VgpuInstancesUtilizationInfo {
  std::uint32_t version, type, count;
  std::uint64_t last_seen_us;
  VgpuInstanceUtilizationInfo *instances;
};

struct VgpuProcessUtilizationSample {
  std::uint32_t instance, pid;
  std::array<char, 64> name;
  std::uint64_t time_us;
  std::uint32_t sm, memory, encoder, decoder;
};

struct VgpuProcessUtilizationInfo {
  std::array<char, 64> name;
  std::uint64_t time_us;
  std::uint32_t instance, pid, sm, memory, encoder, decoder, jpeg, ofa;
};

struct VgpuProcessesUtilizationInfo {
  std::uint32_t version, count;
  std::uint64_t last_seen_us;
  VgpuProcessUtilizationInfo *processes;
};

static_assert(sizeof(Utilization) == 8);
static_assert(sizeof(Memory) == 24);
static_assert(sizeof(MemoryV2) == 40 && offsetof(MemoryV2, total) == 8 && version_word<MemoryV2>(2) == 0x02000028);
static_assert(sizeof(Bar1Memory) == 24);
static_assert(sizeof(PciInfoV2) == 52);
static_assert(sizeof(PciInfo) == 68 && offsetof(PciInfo, bus_id) == 36);
static_assert(sizeof(PciInfoExt) == 64 && version_word<PciInfoExt>(1) == 0x01000040);
static_assert(sizeof(ProcessInfoV1) == 16 && offsetof(ProcessInfoV1, used_gpu_memory) == 8);
static_assert(sizeof(ProcessInfoV2) == 24 && offsetof(ProcessInfoV2, gpu_instance) == 16);
static_assert(sizeof(ProcessInfoV3Wide) == 32 && offsetof(ProcessInfoV3Wide, cc_protected_memory) == 24);
static_assert(sizeof(ProcessDetail) == 32 && offsetof(ProcessDetail, cc_protected_memory) == 24);
static_assert(sizeof(ProcessDetailList) == 24 && offsetof(ProcessDetailList, processes) == 16);
static_assert(version_word<ProcessDetailList>(1) == 0x01000018);
static_assert(sizeof(ProcessUtilizationSample) == 32 && offsetof(ProcessUtilizationSample, time_us) == 8);
static_assert(sizeof(ProcessUtilizationInfo) == 40 && offsetof(ProcessUtilizationInfo, pid) == 8);
static_assert(sizeof(ProcessesUtilizationInfo) == 24 && version_word<ProcessesUtilizationInfo>(1) == 0x01000018);
static_assert(sizeof(Value) == 8 && sizeof(Sample) == 16);
static_assert(sizeof(FieldValue) == 40 && offsetof(FieldValue, type) == 24 && offsetof(FieldValue, value) == 32);
static_assert(sizeof(GpmSupport) == 8);
static_assert(sizeof(GpmMetric) == 40 && offsetof(GpmMetric, value) == 8);
static_assert(sizeof(GpmMetricsGet<98>) == 3944 && sizeof(GpmMetricsGet<210>) == 8424 &&
              sizeof(GpmMetricsGet<333>) == 13344);
static_assert(sizeof(TemperatureReading) == 12 && version_word<TemperatureReading>(1) == 0x0100000C);
static_assert(sizeof(MarginTemperature) == 8 && version_word<MarginTemperature>(1) == 0x01000008);
static_assert(sizeof(FanSpeedInfo) == 12 && version_word<FanSpeedInfo>(1) == 0x0100000C);
static_assert(sizeof(CoolerInfo) == 16 && version_word<CoolerInfo>(1) == 0x01000010);
static_assert(sizeof(ThermalSettings) == 64);
static_assert(sizeof(DynamicPstatesInfo) == 132);
static_assert(sizeof(ClockOffset) == 24 && version_word<ClockOffset>(1) == 0x01000018);
static_assert(sizeof(PerformanceModes) == 2052 && version_word<PerformanceModes>(1) == 0x01000804);
static_assert(sizeof(ViolationTime) == 16);
static_assert(sizeof(EccErrorCounts) == 32);
static_assert(sizeof(SramEccErrorStatus) == 104 && offsetof(SramEccErrorStatus, threshold_exceeded) == 96);
static_assert(version_word<SramEccErrorStatus>(1) == 0x01000068);
static_assert(sizeof(RemappedRowsV2) == 24 && sizeof(RowRemapperHistogram) == 20);
static_assert(sizeof(RepairStatus) == 12 && version_word<RepairStatus>(1) == 0x0100000C);
static_assert(sizeof(EventDataV1) == 24 && sizeof(EventData) == 32);
static_assert(sizeof(SystemEventSetCreate) == 16 && version_word<SystemEventSetCreate>(1) == 0x01000010);
static_assert(sizeof(SystemEventSetRegister) == 24 && version_word<SystemEventSetRegister>(1) == 0x01000018);
static_assert(sizeof(SystemEventSetWait) == 32 && version_word<SystemEventSetWait>(1) == 0x01000020);
static_assert(sizeof(SystemEventData) == 16);
static_assert(sizeof(AccountingStats) == 56);
static_assert(sizeof(AccountingStatsV2) == 64 && offsetof(AccountingStatsV2, sum_gpu) == 32);
static_assert(sizeof(EncoderSession) == 32 && sizeof(FbcStats) == 12 && sizeof(FbcSession) == 48);
static_assert(sizeof(DeviceAttributes) == 40 && offsetof(DeviceAttributes, memory_mib) == 32);
static_assert(sizeof(GpuInstanceInfo) == 24 && sizeof(ComputeInstanceInfo) == 32);
static_assert(sizeof(GpuInstanceProfileInfo) == 48);
static_assert(sizeof(GpuInstanceProfileInfoV2) == 152 && version_word<GpuInstanceProfileInfoV2>(2) == 0x02000098);
static_assert(sizeof(GpuInstanceProfileInfoV3) == 152 && version_word<GpuInstanceProfileInfoV3>(3) == 0x03000098);
static_assert(sizeof(ComputeInstanceProfileInfoV2) == 136);
static_assert(version_word<ComputeInstanceProfileInfoV2>(2) == 0x02000088);
static_assert(sizeof(InstancePlacement) == 8);
static_assert(sizeof(FabricInfoV2) == 36 && offsetof(FabricInfoV2, health_mask) == 32);
static_assert(sizeof(FabricInfoV3) == 40 && offsetof(FabricInfoV3, health_summary) == 36);
static_assert(version_word<FabricInfoV2>(2) == 0x02000024 && version_word<FabricInfoV3>(3) == 0x03000028);
static_assert(sizeof(NvLinkInfoV1) == 8 && version_word<NvLinkInfoV1>(1) == 0x01000008);
static_assert(sizeof(NvLinkInfoV2) == 1612 && version_word<NvLinkInfoV2>(2) == 0x0200064C);
static_assert(sizeof(ConfComputeState) == 12 && sizeof(ConfComputeMemSize) == 16);
static_assert(sizeof(ConfComputeSettings) == 20 && version_word<ConfComputeSettings>(1) == 0x01000014);
static_assert(sizeof(PlatformInfo) == 44 && version_word<PlatformInfo>(2) == 0x0200002C);
static_assert(sizeof(AddressingMode) == 8 && sizeof(Capabilities) == 8 && sizeof(C2cModeInfo) == 4);
static_assert(sizeof(Pdi) == 16 && version_word<Pdi>(1) == 0x01000010);
static_assert(sizeof(UuidQuery) == 52 && version_word<UuidQuery>(1) == 0x01000034);
static_assert(sizeof(DriverBranch) == 84 && version_word<DriverBranch>(1) == 0x01000054);
static_assert(sizeof(DramEncryption) == 8 && version_word<DramEncryption>(1) == 0x01000008);
static_assert(sizeof(Hostname) == 64);
static_assert(sizeof(UnrepairableMemory) == 8 && version_word<UnrepairableMemory>(1) == 0x01000008);
static_assert(sizeof(WorkloadProfiles) == 100 && version_word<WorkloadProfiles>(1) == 0x01000064);
static_assert(sizeof(VgpuInstanceUtilizationSample) == 48 && sizeof(VgpuInstanceUtilizationInfo) == 64);
static_assert(sizeof(VgpuInstancesUtilizationInfo) == 32);
static_assert(sizeof(VgpuProcessUtilizationSample) == 96 && sizeof(VgpuProcessUtilizationInfo) == 104);
static_assert(sizeof(VgpuProcessesUtilizationInfo) == 24);

// Field numbers; only those that are read.
namespace field {
inline constexpr std::uint32_t kRetiredPending = 31;
inline constexpr std::uint32_t kNvlinkCrcFlitTotal = 38, kNvlinkCrcDataTotal = 45, kNvlinkReplayTotal = 52,
                               kNvlinkRecoveryTotal = 59;
inline constexpr std::uint32_t kHeldPower = 74, kHeldThermal = 75, kHeldSyncBoost = 76, kHeldBoardLimit = 77,
                               kHeldLowUtilization = 78, kHeldReliability = 79;
inline constexpr std::uint32_t kMemoryTemperature = 82;
inline constexpr std::uint32_t kNvlinkCount = 91;
inline constexpr std::uint32_t kPcieReplay = 94, kPcieReplayRollover = 95;
inline constexpr std::uint32_t kNvlinkDataTx = 138, kNvlinkDataRx = 139, kNvlinkRawTx = 140, kNvlinkRawRx = 141;
inline constexpr std::uint32_t kNvlinkSpeedCommon = 90, kNvlinkRemoteLink = 146, kNvlinkSpeed = 164;
inline constexpr std::uint32_t kPowerAverage = 185, kPowerInstant = 186, kPowerMin = 187, kPowerMax = 188,
                               kPowerDefault = 189, kPowerEnforced = 190, kPowerRequested = 192;
inline constexpr std::uint32_t kLimitShutdown = 193, kLimitSlowdown = 194, kLimitMemoryMax = 195, kLimitGpuMax = 196;
inline constexpr std::uint32_t kPcieTxBytes = 197, kPcieRxBytes = 198;
inline constexpr std::uint32_t kAtomicsOutbound = 228, kAtomicsInbound = 229;
inline constexpr std::uint32_t kRecoveryAction = 230;
// Renumbered in 575.51 and back in 580.82: which is meant depends on the driver version.
inline constexpr std::uint32_t kHeldSwThermal575 = 251, kHeldHwThermal575 = 252, kHeldHwPowerBrake575 = 253;
inline constexpr std::uint32_t kHeldSwThermal = 269, kHeldHwThermal = 270, kHeldHwPowerBrake = 271;
// Power smoothing: floors, the current profile, the administrator's override.
inline constexpr std::uint32_t kSmoothingFloor1 = 275, kSmoothingFloor2 = 276, kSmoothingMinOffset = 277,
                               kSmoothingMinPoint = 278, kSmoothingWindow = 279, kSmoothingSupported = 280,
                               kSmoothingProfileFloor = 281, kSmoothingProfileActivation = 282,
                               kSmoothingProfileTarget = 283, kSmoothingProfileOffset = 284,
                               kSmoothingOverrideFloor = 285, kSmoothingOverrideActivation = 286,
                               kSmoothingOverrideTarget = 287, kSmoothingOverrideOffset = 288;
}  // namespace field

namespace event {
inline constexpr std::uint64_t kSingleBitEcc = 0x1, kDoubleBitEcc = 0x2, kPstate = 0x4, kXid = 0x8, kClock = 0x10,
                               kPowerSource = 0x80, kMigConfig = 0x100;
}  // namespace event

}  // namespace gpulse::nvml
