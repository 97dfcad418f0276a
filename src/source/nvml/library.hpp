// SPDX-License-Identifier: Apache-2.0
// The driver's library, loaded at run time. Every function is resolved on its own: one that an old driver lacks returns
// function_not_found and affects nothing else.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "base/shared_library.hpp"
#include "source/nvml/abi.hpp"

namespace gpulse::nvml {

// Looks symbols up and remembers them, for tests and `gpulse doctor`.
class Resolver {
 public:
  explicit Resolver(SharedLibrary library) : library_(std::move(library)) {}

  struct Symbol {
    const char *name;
    bool found;
  };

  void *find(const char *name);
  const std::vector<Symbol> &symbols() const { return symbols_; }
  const SharedLibrary &library() const { return library_; }

 private:
  SharedLibrary library_;
  std::vector<Symbol> symbols_;
};

template <class Signature>
class Function;

template <class... Args>
class Function<Return(Args...)> {
 public:
  Function(Resolver &resolver, const char *name) : call_(reinterpret_cast<Return (*)(Args...)>(resolver.find(name))) {}

  Return operator()(std::type_identity_t<Args>... args) const {
    return call_ != nullptr ? call_(args...) : Return::function_not_found;
  }
  explicit operator bool() const { return call_ != nullptr; }

 private:
  Return (*call_)(Args...);
};

// One line per function that is called.
struct Api {
  using U32 = std::uint32_t;
  using U64 = std::uint64_t;
  using Text = Function<Return(Handle, char *, U32)>;
  using Number = Function<Return(Handle, U32 *)>;
  using TypedNumber = Function<Return(Handle, U32, U32 *)>;
  using Pair = Function<Return(Handle, U32 *, U32 *)>;
  using ProcessList = Function<Return(Handle, U32 *, void *)>;

  explicit Api(SharedLibrary library);
  Api(const Api &) = delete;
  Api &operator=(const Api &) = delete;
  ~Api();

  Resolver resolver;

  Function<Return()> init_v2{resolver, "nvmlInit_v2"};
  Function<Return()> init{resolver, "nvmlInit"};
  Function<Return()> shutdown{resolver, "nvmlShutdown"};
  Function<Return(char *, U32)> driver_version{resolver, "nvmlSystemGetDriverVersion"};
  Function<Return(char *, U32)> library_version{resolver, "nvmlSystemGetNVMLVersion"};
  Function<Return(int *)> cuda_version_v2{resolver, "nvmlSystemGetCudaDriverVersion_v2"};
  Function<Return(int *)> cuda_version{resolver, "nvmlSystemGetCudaDriverVersion"};

  Function<Return(U32 *)> count_v2{resolver, "nvmlDeviceGetCount_v2"};
  Function<Return(U32 *)> count{resolver, "nvmlDeviceGetCount"};
  Function<Return(U32, Handle *)> handle_by_index_v2{resolver, "nvmlDeviceGetHandleByIndex_v2"};
  Function<Return(U32, Handle *)> handle_by_index{resolver, "nvmlDeviceGetHandleByIndex"};
  Function<Return(const char *, Handle *)> handle_by_pci_v2{resolver, "nvmlDeviceGetHandleByPciBusId_v2"};
  Function<Return(const char *, Handle *)> handle_by_pci{resolver, "nvmlDeviceGetHandleByPciBusId"};

  Text name{resolver, "nvmlDeviceGetName"};
  Text uuid{resolver, "nvmlDeviceGetUUID"};
  Text serial{resolver, "nvmlDeviceGetSerial"};
  Text vbios{resolver, "nvmlDeviceGetVbiosVersion"};
  Text board_part{resolver, "nvmlDeviceGetBoardPartNumber"};
  Text inforom_image{resolver, "nvmlDeviceGetInforomImageVersion"};
  Function<Return(Handle, char *)> gsp_version{resolver, "nvmlDeviceGetGspFirmwareVersion"};
  Number brand{resolver, "nvmlDeviceGetBrand"};
  Number architecture{resolver, "nvmlDeviceGetArchitecture"};
  Function<Return(Handle, int *, int *)> compute_capability{resolver, "nvmlDeviceGetCudaComputeCapability"};
  Function<Return(Handle, PciInfo *)> pci_v3{resolver, "nvmlDeviceGetPciInfo_v3"};
  Function<Return(Handle, PciInfoV2 *)> pci_v2{resolver, "nvmlDeviceGetPciInfo_v2"};
  Function<Return(Handle, PciInfoV2 *)> pci_v1{resolver, "nvmlDeviceGetPciInfo"};
  Function<Return(Handle, U32, unsigned long *)> cpu_affinity{resolver, "nvmlDeviceGetCpuAffinity"};
  Function<Return(Handle, Handle, U32 *)> common_ancestor{resolver, "nvmlDeviceGetTopologyCommonAncestor"};
  Number minor_number{resolver, "nvmlDeviceGetMinorNumber"};
  Number cores{resolver, "nvmlDeviceGetNumGpuCores"};
  Number bus_width{resolver, "nvmlDeviceGetMemoryBusWidth"};
  Function<Return(Handle, DeviceAttributes *)> attributes{resolver, "nvmlDeviceGetAttributes_v2"};

  Function<Return(Handle, MemoryV2 *)> memory_v2{resolver, "nvmlDeviceGetMemoryInfo_v2"};
  Function<Return(Handle, Memory *)> memory{resolver, "nvmlDeviceGetMemoryInfo"};
  Function<Return(Handle, Bar1Memory *)> bar1{resolver, "nvmlDeviceGetBAR1MemoryInfo"};

  Function<Return(Handle, Utilization *)> utilization{resolver, "nvmlDeviceGetUtilizationRates"};
  Pair encoder{resolver, "nvmlDeviceGetEncoderUtilization"};
  Pair decoder{resolver, "nvmlDeviceGetDecoderUtilization"};
  Pair jpeg{resolver, "nvmlDeviceGetJpgUtilization"};
  Pair ofa{resolver, "nvmlDeviceGetOfaUtilization"};
  Function<Return(Handle, U32 *, U32 *, U32 *)> encoder_stats{resolver, "nvmlDeviceGetEncoderStats"};
  Function<Return(Handle, U32, U64, ValueType *, U32 *, Sample *)> samples{resolver, "nvmlDeviceGetSamples"};

  TypedNumber clock{resolver, "nvmlDeviceGetClockInfo"};
  TypedNumber clock_max{resolver, "nvmlDeviceGetMaxClockInfo"};
  TypedNumber clock_boost{resolver, "nvmlDeviceGetMaxCustomerBoostClock"};
  TypedNumber clock_application{resolver, "nvmlDeviceGetApplicationsClock"};
  Number performance_state{resolver, "nvmlDeviceGetPerformanceState"};
  Function<Return(Handle, U64 *)> event_reasons{resolver, "nvmlDeviceGetCurrentClocksEventReasons"};
  Function<Return(Handle, U64 *)> throttle_reasons{resolver, "nvmlDeviceGetCurrentClocksThrottleReasons"};
  Function<Return(Handle, U64 *)> event_reasons_supported{resolver, "nvmlDeviceGetSupportedClocksEventReasons"};
  Function<Return(Handle, U64 *)> throttle_reasons_supported{resolver, "nvmlDeviceGetSupportedClocksThrottleReasons"};

  Number power{resolver, "nvmlDeviceGetPowerUsage"};
  Number power_limit_enforced{resolver, "nvmlDeviceGetEnforcedPowerLimit"};
  Number power_limit{resolver, "nvmlDeviceGetPowerManagementLimit"};
  Number power_limit_default{resolver, "nvmlDeviceGetPowerManagementDefaultLimit"};
  Pair power_limit_range{resolver, "nvmlDeviceGetPowerManagementLimitConstraints"};
  Function<Return(Handle, U64 *)> energy{resolver, "nvmlDeviceGetTotalEnergyConsumption"};
  Number power_source{resolver, "nvmlDeviceGetPowerSource"};

  Function<Return(Handle, TemperatureReading *)> temperature_v{resolver, "nvmlDeviceGetTemperatureV"};
  TypedNumber temperature{resolver, "nvmlDeviceGetTemperature"};
  TypedNumber temperature_threshold{resolver, "nvmlDeviceGetTemperatureThreshold"};
  Function<Return(Handle, MarginTemperature *)> temperature_margin{resolver, "nvmlDeviceGetMarginTemperature"};
  Number fan_count{resolver, "nvmlDeviceGetNumFans"};
  TypedNumber fan_speed_v2{resolver, "nvmlDeviceGetFanSpeed_v2"};
  Number fan_speed{resolver, "nvmlDeviceGetFanSpeed"};
  Function<Return(Handle, FanSpeedInfo *)> fan_rpm{resolver, "nvmlDeviceGetFanSpeedRPM"};

  Number pcie_generation{resolver, "nvmlDeviceGetCurrPcieLinkGeneration"};
  Number pcie_width{resolver, "nvmlDeviceGetCurrPcieLinkWidth"};
  Number pcie_generation_max{resolver, "nvmlDeviceGetMaxPcieLinkGeneration"};
  Number pcie_width_max{resolver, "nvmlDeviceGetMaxPcieLinkWidth"};
  Number pcie_generation_device{resolver, "nvmlDeviceGetGpuMaxPcieLinkGeneration"};
  Number pcie_replay{resolver, "nvmlDeviceGetPcieReplayCounter"};
  Function<Return(Handle, U32, U32 *)> nvlink_state{resolver, "nvmlDeviceGetNvLinkState"};
  Function<Return(Handle, U32, PciInfo *)> nvlink_remote{resolver, "nvmlDeviceGetNvLinkRemotePciInfo_v2"};
  Function<Return(Handle, U32, U32 *)> nvlink_remote_type{resolver, "nvmlDeviceGetNvLinkRemoteDeviceType"};

  Pair ecc_mode{resolver, "nvmlDeviceGetEccMode"};
  Function<Return(Handle, U32, U32, U64 *)> ecc_total{resolver, "nvmlDeviceGetTotalEccErrors"};
  Function<Return(Handle, U32, U32, U32, U64 *)> ecc_location{resolver, "nvmlDeviceGetMemoryErrorCounter"};
  Function<Return(Handle, SramEccErrorStatus *)> ecc_sram{resolver, "nvmlDeviceGetSramEccErrorStatus"};
  Function<Return(Handle, U32, U32 *, U64 *)> retired_pages{resolver, "nvmlDeviceGetRetiredPages"};
  Number retired_pending{resolver, "nvmlDeviceGetRetiredPagesPendingStatus"};
  Function<Return(Handle, U32 *, U32 *, U32 *, U32 *)> remapped_rows{resolver, "nvmlDeviceGetRemappedRows"};
  Function<Return(Handle, RowRemapperHistogram *)> remapper_histogram{resolver, "nvmlDeviceGetRowRemapperHistogram"};

  Number compute_mode{resolver, "nvmlDeviceGetComputeMode"};
  Number persistence_mode{resolver, "nvmlDeviceGetPersistenceMode"};
  Number display_active{resolver, "nvmlDeviceGetDisplayActive"};
  Number accounting_mode{resolver, "nvmlDeviceGetAccountingMode"};
  Number virtualization_mode{resolver, "nvmlDeviceGetVirtualizationMode"};

  Pair mig_mode{resolver, "nvmlDeviceGetMigMode"};
  Number mig_max_count{resolver, "nvmlDeviceGetMaxMigDeviceCount"};
  Function<Return(Handle, U32, Handle *)> mig_handle{resolver, "nvmlDeviceGetMigDeviceHandleByIndex"};
  Number gpu_instance_id{resolver, "nvmlDeviceGetGpuInstanceId"};
  Number compute_instance_id{resolver, "nvmlDeviceGetComputeInstanceId"};

  ProcessList compute_v3{resolver, "nvmlDeviceGetComputeRunningProcesses_v3"};
  ProcessList compute_v2{resolver, "nvmlDeviceGetComputeRunningProcesses_v2"};
  ProcessList compute_v1{resolver, "nvmlDeviceGetComputeRunningProcesses"};
  ProcessList graphics_v3{resolver, "nvmlDeviceGetGraphicsRunningProcesses_v3"};
  ProcessList graphics_v2{resolver, "nvmlDeviceGetGraphicsRunningProcesses_v2"};
  ProcessList graphics_v1{resolver, "nvmlDeviceGetGraphicsRunningProcesses"};
  ProcessList mps_v3{resolver, "nvmlDeviceGetMPSComputeRunningProcesses_v3"};
  ProcessList mps_v2{resolver, "nvmlDeviceGetMPSComputeRunningProcesses_v2"};
  ProcessList mps_v1{resolver, "nvmlDeviceGetMPSComputeRunningProcesses"};
  Function<Return(Handle, ProcessesUtilizationInfo *)> process_utilization_info{
      resolver, "nvmlDeviceGetProcessesUtilizationInfo"};
  Function<Return(Handle, ProcessUtilizationSample *, U32 *, U64)> process_utilization{
      resolver, "nvmlDeviceGetProcessUtilization"};

  Function<Return(U32, char *, U32)> process_name{resolver, "nvmlSystemGetProcessName"};

  // For details.
  Function<Return(Handle, PciInfoExt *)> pci_ext{resolver, "nvmlDeviceGetPciInfoExt"};
  Number board_id{resolver, "nvmlDeviceGetBoardId"};
  Number multi_gpu_board{resolver, "nvmlDeviceGetMultiGpuBoard"};
  Number module_id{resolver, "nvmlDeviceGetModuleId"};
  Function<Return(Handle, Pdi *)> pdi{resolver, "nvmlDeviceGetPdi"};
  Function<Return(Handle, Hostname *)> hostname{resolver, "nvmlDeviceGetHostname_v1"};
  Function<Return(Handle, U32, char *, U32)> inforom_version{resolver, "nvmlDeviceGetInforomVersion"};
  Function<Return(Handle)> inforom_validate{resolver, "nvmlDeviceValidateInforom"};
  Function<Return(Handle, U64 *, unsigned long *)> inforom_flush{resolver, "nvmlDeviceGetLastBBXFlushTime"};
  Function<Return(Handle, U32, unsigned long *, U32)> memory_affinity{resolver, "nvmlDeviceGetMemoryAffinity"};
  Number gpu_numa_node{resolver, "nvmlDeviceGetNumaNodeId"};
  Function<Return(Handle, PlatformInfo *)> platform{resolver, "nvmlDeviceGetPlatformInfo"};
  Number display_mode{resolver, "nvmlDeviceGetDisplayMode"};
  Function<Return(Handle, AddressingMode *)> addressing_mode{resolver, "nvmlDeviceGetAddressingMode"};
  Number accounting_buffer{resolver, "nvmlDeviceGetAccountingBufferSize"};
  Pair operation_mode{resolver, "nvmlDeviceGetGpuOperationMode"};
  Pair gsp_mode{resolver, "nvmlDeviceGetGspFirmwareMode"};
  Function<Return(Handle, C2cModeInfo *)> c2c_mode{resolver, "nvmlDeviceGetC2cModeInfoV"};
  Function<Return(Handle, Capabilities *)> capabilities{resolver, "nvmlDeviceGetCapabilities"};
  Number power_management{resolver, "nvmlDeviceGetPowerManagementMode"};
  Function<Return(Handle, DramEncryption *, DramEncryption *)> dram_encryption{resolver,
                                                                               "nvmlDeviceGetDramEncryptionMode"};
  Pair auto_boost{resolver, "nvmlDeviceGetAutoBoostedClocksEnabled"};
  Function<Return(Handle, WorkloadProfiles *)> workload_profiles{resolver,
                                                                 "nvmlDeviceWorkloadPowerProfileGetCurrentProfiles"};
  TypedNumber pcie_throughput{resolver, "nvmlDeviceGetPcieThroughput"};
  Function<Return(Handle, FbcStats *)> fbc_stats{resolver, "nvmlDeviceGetFBCStats"};
  Function<Return(Handle, Memory *)> protected_memory{resolver, "nvmlDeviceGetConfComputeProtectedMemoryUsage"};
  Function<Return(Handle, RemappedRowsV2 *)> remapped_rows_v2{resolver, "nvmlDeviceGetRemappedRows_v2"};
  Function<Return(Handle, RepairStatus *)> repair_status{resolver, "nvmlDeviceGetRepairStatus"};
  Function<Return(Handle, UnrepairableMemory *)> unrepairable{resolver, "nvmlDeviceGetUnrepairableMemoryFlag_v1"};
  TypedNumber clock_default{resolver, "nvmlDeviceGetDefaultApplicationsClock"};
  Function<Return(Handle, void *)> fabric{resolver, "nvmlDeviceGetGpuFabricInfoV"};
  Function<Return(Handle, U32 *, U32 *)> supported_memory_clocks{resolver, "nvmlDeviceGetSupportedMemoryClocks"};
  Function<Return(Handle, U32, U32 *, U32 *)> supported_graphics_clocks{resolver,
                                                                        "nvmlDeviceGetSupportedGraphicsClocks"};
  Function<Return(Handle, U32, U32 *, U64 *, U64 *)> retired_pages_v2{resolver, "nvmlDeviceGetRetiredPages_v2"};
  Function<Return(Handle, U32 *, U32 *)> accounting_pids{resolver, "nvmlDeviceGetAccountingPids"};
  Function<Return(Handle, U32, AccountingStats *)> accounting_stats{resolver, "nvmlDeviceGetAccountingStats"};

  Function<Return(Handle, U32, U32, U32 *)> nvlink_capability{resolver, "nvmlDeviceGetNvLinkCapability"};
  Function<Return(Handle, U32, U32, U64 *)> nvlink_errors{resolver, "nvmlDeviceGetNvLinkErrorCounter"};
  Function<Return(Handle, Handle, U32, U32 *)> p2p_status{resolver, "nvmlDeviceGetP2PStatus"};
  Function<Return(Handle, U32, GpuInstanceProfileInfoV2 *)> instance_profile_v{resolver,
                                                                               "nvmlDeviceGetGpuInstanceProfileInfoV"};
  Function<Return(Handle, U32, U32 *)> instance_capacity{resolver, "nvmlDeviceGetGpuInstanceRemainingCapacity"};
  Function<Return(Handle, U32, InstancePlacement *, U32 *)> instance_placements{
      resolver, "nvmlDeviceGetGpuInstancePossiblePlacements_v2"};
  Function<Return(Handle, U32, GpuInstance *, U32 *)> gpu_instances{resolver, "nvmlDeviceGetGpuInstances"};
  Function<Return(GpuInstance, GpuInstanceInfo *)> gpu_instance_info{resolver, "nvmlGpuInstanceGetInfo"};
  Function<Return(GpuInstance, U32, U32, ComputeInstanceProfileInfoV2 *)> compute_profile_v{
      resolver, "nvmlGpuInstanceGetComputeInstanceProfileInfoV"};
  Function<Return(GpuInstance, U32, U32 *)> compute_capacity{resolver,
                                                             "nvmlGpuInstanceGetComputeInstanceRemainingCapacity"};
  Function<Return(GpuInstance, U32, ComputeInstance *, U32 *)> compute_instances{resolver,
                                                                                 "nvmlGpuInstanceGetComputeInstances"};
  Function<Return(ComputeInstance, ComputeInstanceInfo *)> compute_instance_info{resolver,
                                                                                 "nvmlComputeInstanceGetInfo_v2"};

  Function<Return(Handle, int, FieldValue *)> field_values{resolver, "nvmlDeviceGetFieldValues"};

  Function<Return(Handle, GpmSupport *)> gpm_support{resolver, "nvmlGpmQueryDeviceSupport"};
  Function<Return(GpmSample *)> gpm_alloc{resolver, "nvmlGpmSampleAlloc"};
  Function<Return(GpmSample)> gpm_free{resolver, "nvmlGpmSampleFree"};
  Function<Return(Handle, GpmSample)> gpm_sample{resolver, "nvmlGpmSampleGet"};
  Function<Return(Handle, U32, GpmSample)> gpm_mig_sample{resolver, "nvmlGpmMigSampleGet"};
  Function<Return(void *)> gpm_metrics{resolver, "nvmlGpmMetricsGet"};

  Function<Return(EventSet *)> event_set_create{resolver, "nvmlEventSetCreate"};
  Function<Return(EventSet)> event_set_free{resolver, "nvmlEventSetFree"};
  Function<Return(Handle, U64 *)> event_types{resolver, "nvmlDeviceGetSupportedEventTypes"};
  Function<Return(Handle, U64, EventSet)> event_register{resolver, "nvmlDeviceRegisterEvents"};
  Function<Return(EventSet, EventData *, U32)> event_wait_v2{resolver, "nvmlEventSetWait_v2"};
  Function<Return(EventSet, EventDataV1 *, U32)> event_wait{resolver, "nvmlEventSetWait"};
};

// By its run-time name only, which the toolkit's stub does not have. WSL keeps it in a folder of its own, which comes
// first, because a distribution's driver must not shadow it.
Result<std::shared_ptr<Api>> load_library();

}  // namespace gpulse::nvml
