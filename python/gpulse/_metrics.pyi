# SPDX-License-Identifier: Apache-2.0
# Written by `make docs` from the table of metrics.
from typing import Optional

class DeviceMetrics:
    @property
    def gpu_utilization_percent(self) -> Optional[float]:
        """Share of time with any kernel running."""
    @property
    def memory_utilization_percent(self) -> Optional[float]:
        """Share of time the memory controller was busy."""
    @property
    def sm_active_percent(self) -> Optional[float]:
        """Share of processors with a warp on them, averaged."""
    @property
    def sm_occupancy_percent(self) -> Optional[float]:
        """Resident warps against the most that fit."""
    @property
    def tensor_active_percent(self) -> Optional[float]:
        """Share of time the tensor cores worked."""
    @property
    def tensor_fp64_active_percent(self) -> Optional[float]:
        """Tensor cores in double precision."""
    @property
    def tensor_fp16_active_percent(self) -> Optional[float]:
        """Tensor cores in half precision and below."""
    @property
    def tensor_integer_active_percent(self) -> Optional[float]:
        """Tensor cores on integers."""
    @property
    def fp64_active_percent(self) -> Optional[float]:
        """Double precision pipe busy."""
    @property
    def fp32_active_percent(self) -> Optional[float]:
        """Single precision pipe busy."""
    @property
    def fp16_active_percent(self) -> Optional[float]:
        """Half precision pipe busy."""
    @property
    def integer_active_percent(self) -> Optional[float]:
        """Integer pipe busy."""
    @property
    def dram_active_percent(self) -> Optional[float]:
        """Share of the memory bandwidth in use."""
    @property
    def graphics_active_percent(self) -> Optional[float]:
        """Graphics and compute engine active."""
    @property
    def gpu_utilization_mean_percent(self) -> Optional[float]:
        """Mean of the driver's utilisation samples since the previous reading."""
    @property
    def process_count(self) -> Optional[float]:
        """Processes on the device."""
    @property
    def awake_percent(self) -> Optional[float]:
        """Share of time the graphics part was out of its idle state."""
    @property
    def render_utilization_percent(self) -> Optional[float]:
        """3D engine busy."""
    @property
    def compute_utilization_percent(self) -> Optional[float]:
        """Compute engine busy."""
    @property
    def copy_utilization_percent(self) -> Optional[float]:
        """Copy engine busy."""
    @property
    def video_utilization_percent(self) -> Optional[float]:
        """Video engine busy."""
    @property
    def video_enhance_utilization_percent(self) -> Optional[float]:
        """Video processing engine busy."""
    @property
    def media_awake_percent(self) -> Optional[float]:
        """Share of time the media part was out of its idle state."""
    @property
    def encoder_utilization_percent(self) -> Optional[float]:
        """Video encoder busy."""
    @property
    def decoder_utilization_percent(self) -> Optional[float]:
        """Video decoder busy."""
    @property
    def jpeg_utilization_percent(self) -> Optional[float]:
        """JPEG engine busy."""
    @property
    def ofa_utilization_percent(self) -> Optional[float]:
        """Optical-flow engine busy."""
    @property
    def decoder_0_active_percent(self) -> Optional[float]:
        """Video decoder 0 busy."""
    @property
    def decoder_1_active_percent(self) -> Optional[float]:
        """Video decoder 1 busy."""
    @property
    def decoder_2_active_percent(self) -> Optional[float]:
        """Video decoder 2 busy."""
    @property
    def decoder_3_active_percent(self) -> Optional[float]:
        """Video decoder 3 busy."""
    @property
    def decoder_4_active_percent(self) -> Optional[float]:
        """Video decoder 4 busy."""
    @property
    def decoder_5_active_percent(self) -> Optional[float]:
        """Video decoder 5 busy."""
    @property
    def decoder_6_active_percent(self) -> Optional[float]:
        """Video decoder 6 busy."""
    @property
    def decoder_7_active_percent(self) -> Optional[float]:
        """Video decoder 7 busy."""
    @property
    def jpeg_0_active_percent(self) -> Optional[float]:
        """JPEG engine 0 busy."""
    @property
    def jpeg_1_active_percent(self) -> Optional[float]:
        """JPEG engine 1 busy."""
    @property
    def jpeg_2_active_percent(self) -> Optional[float]:
        """JPEG engine 2 busy."""
    @property
    def jpeg_3_active_percent(self) -> Optional[float]:
        """JPEG engine 3 busy."""
    @property
    def jpeg_4_active_percent(self) -> Optional[float]:
        """JPEG engine 4 busy."""
    @property
    def jpeg_5_active_percent(self) -> Optional[float]:
        """JPEG engine 5 busy."""
    @property
    def jpeg_6_active_percent(self) -> Optional[float]:
        """JPEG engine 6 busy."""
    @property
    def jpeg_7_active_percent(self) -> Optional[float]:
        """JPEG engine 7 busy."""
    @property
    def ofa_0_active_percent(self) -> Optional[float]:
        """Optical-flow engine 0 busy."""
    @property
    def ofa_1_active_percent(self) -> Optional[float]:
        """Optical-flow engine 1 busy."""
    @property
    def encoder_0_active_percent(self) -> Optional[float]:
        """Video encoder 0 busy."""
    @property
    def encoder_1_active_percent(self) -> Optional[float]:
        """Video encoder 1 busy."""
    @property
    def encoder_2_active_percent(self) -> Optional[float]:
        """Video encoder 2 busy."""
    @property
    def encoder_3_active_percent(self) -> Optional[float]:
        """Video encoder 3 busy."""
    @property
    def encoder_sessions(self) -> Optional[float]:
        """Video encoding sessions open."""
    @property
    def encoder_average_fps(self) -> Optional[float]:
        """Frames per second per encoding session."""
    @property
    def encoder_latency_seconds(self) -> Optional[float]:
        """Time to encode one frame."""
    @property
    def memory_used_bytes(self) -> Optional[float]:
        """Device memory in use."""
    @property
    def memory_total_bytes(self) -> Optional[float]:
        """Device memory fitted."""
    @property
    def memory_used_percent(self) -> Optional[float]:
        """Share of the device memory in use."""
    @property
    def memory_free_bytes(self) -> Optional[float]:
        """Device memory free."""
    @property
    def memory_reserved_bytes(self) -> Optional[float]:
        """Device memory kept by the driver."""
    @property
    def memory_vram_used_bytes(self) -> Optional[float]:
        """Memory of the card itself in use."""
    @property
    def memory_vram_total_bytes(self) -> Optional[float]:
        """Memory of the card itself."""
    @property
    def memory_gtt_used_bytes(self) -> Optional[float]:
        """Host memory in use by the device."""
    @property
    def memory_gtt_total_bytes(self) -> Optional[float]:
        """Host memory the device may use."""
    @property
    def memory_visible_used_bytes(self) -> Optional[float]:
        """Memory in use that the CPU can reach."""
    @property
    def memory_visible_total_bytes(self) -> Optional[float]:
        """Memory that the CPU can reach."""
    @property
    def bar1_used_bytes(self) -> Optional[float]:
        """BAR1 window in use."""
    @property
    def bar1_total_bytes(self) -> Optional[float]:
        """BAR1 window size."""
    @property
    def power_draw_watts(self) -> Optional[float]:
        """Power drawn by the board."""
    @property
    def power_instant_watts(self) -> Optional[float]:
        """Power drawn at this moment."""
    @property
    def power_average_watts(self) -> Optional[float]:
        """Power drawn, mean over a second."""
    @property
    def power_peak_watts(self) -> Optional[float]:
        """Highest power sample since the previous reading."""
    @property
    def package_power_watts(self) -> Optional[float]:
        """Power of the GPU package."""
    @property
    def memory_power_watts(self) -> Optional[float]:
        """Power drawn by the device memory."""
    @property
    def module_power_watts(self) -> Optional[float]:
        """Power drawn by the whole module."""
    @property
    def energy_joules(self) -> Optional[float]:
        """Energy used since the driver was loaded."""
    @property
    def power_source(self) -> Optional[str]:
        """What feeds the device."""
    @property
    def temperature_gpu_celsius(self) -> Optional[float]:
        """Temperature of the processor."""
    @property
    def temperature_hotspot_celsius(self) -> Optional[float]:
        """Hottest point of the GPU."""
    @property
    def temperature_memory_celsius(self) -> Optional[float]:
        """Temperature of the memory."""
    @property
    def temperature_soc_celsius(self) -> Optional[float]:
        """Temperature of the part around the GPU."""
    @property
    def temperature_vr_graphics_celsius(self) -> Optional[float]:
        """Voltage regulator of the GPU."""
    @property
    def temperature_vr_soc_celsius(self) -> Optional[float]:
        """Voltage regulator of the rest of the chip."""
    @property
    def temperature_vr_memory_celsius(self) -> Optional[float]:
        """Voltage regulator of the memory."""
    @property
    def temperature_margin_celsius(self) -> Optional[float]:
        """Degrees left before the device slows down."""
    @property
    def temperature_shutdown_celsius(self) -> Optional[float]:
        """Temperature at which the device switches itself off."""
    @property
    def temperature_margin_shutdown_celsius(self) -> Optional[float]:
        """Margin at which the device switches itself off."""
    @property
    def temperature_slowdown_celsius(self) -> Optional[float]:
        """Temperature at which the device slows itself down in hardware."""
    @property
    def temperature_hotspot_max_celsius(self) -> Optional[float]:
        """Hottest point at which the device slows itself down."""
    @property
    def temperature_margin_slowdown_celsius(self) -> Optional[float]:
        """Margin at which the device slows itself down in hardware."""
    @property
    def temperature_memory_max_celsius(self) -> Optional[float]:
        """Temperature at which the memory starts to hold the device back."""
    @property
    def temperature_margin_memory_max_celsius(self) -> Optional[float]:
        """Margin at which the memory starts to hold the device back."""
    @property
    def temperature_gpu_max_celsius(self) -> Optional[float]:
        """Temperature at which the driver starts to hold the device back."""
    @property
    def temperature_margin_gpu_max_celsius(self) -> Optional[float]:
        """Margin at which the driver starts to hold the device back."""
    @property
    def power_limit_watts(self) -> Optional[float]:
        """Power limit in force."""
    @property
    def power_limit_requested_watts(self) -> Optional[float]:
        """Power limit asked for."""
    @property
    def power_limit_fast_watts(self) -> Optional[float]:
        """Power limit over a short time."""
    @property
    def power_limit_default_watts(self) -> Optional[float]:
        """Power limit after a reset."""
    @property
    def power_limit_min_watts(self) -> Optional[float]:
        """Lowest power limit that can be set."""
    @property
    def power_limit_max_watts(self) -> Optional[float]:
        """Highest power limit that can be set."""
    @property
    def fan_speed_percent(self) -> Optional[float]:
        """Speed the fans are set to."""
    @property
    def fan_speed_rpm(self) -> Optional[float]:
        """Speed of the fastest fan."""
    @property
    def fan_count(self) -> Optional[float]:
        """Fans of the board."""
    @property
    def clock_graphics_mhz(self) -> Optional[float]:
        """Graphics clock."""
    @property
    def clock_sm_mhz(self) -> Optional[float]:
        """SM clock."""
    @property
    def clock_memory_mhz(self) -> Optional[float]:
        """Memory clock."""
    @property
    def clock_video_mhz(self) -> Optional[float]:
        """Video clock."""
    @property
    def clock_requested_mhz(self) -> Optional[float]:
        """Clock asked for."""
    @property
    def clock_soc_mhz(self) -> Optional[float]:
        """Clock of the rest of the chip."""
    @property
    def clock_fabric_mhz(self) -> Optional[float]:
        """Clock of the fabric."""
    @property
    def voltage_graphics_volts(self) -> Optional[float]:
        """Voltage of the GPU."""
    @property
    def voltage_soc_volts(self) -> Optional[float]:
        """Voltage of the rest of the chip."""
    @property
    def voltage_memory_volts(self) -> Optional[float]:
        """Voltage of the memory."""
    @property
    def clock_max_graphics_mhz(self) -> Optional[float]:
        """Highest graphics clock."""
    @property
    def clock_max_sm_mhz(self) -> Optional[float]:
        """Highest SM clock."""
    @property
    def clock_max_memory_mhz(self) -> Optional[float]:
        """Highest memory clock."""
    @property
    def clock_max_video_mhz(self) -> Optional[float]:
        """Highest video clock."""
    @property
    def clock_max_boost_mhz(self) -> Optional[float]:
        """Highest boost clock a user may set."""
    @property
    def clock_application_graphics_mhz(self) -> Optional[float]:
        """Graphics clock that applications ask for."""
    @property
    def clock_application_memory_mhz(self) -> Optional[float]:
        """Memory clock that applications ask for."""
    @property
    def performance_state(self) -> Optional[str]:
        """Performance state, P0 fastest."""
    @property
    def throttle_reasons(self) -> Optional[tuple[str, ...]]:
        """What holds the clocks back now."""
    @property
    def throttled_power_percent(self) -> Optional[float]:
        """Share of time slowed down by the power limit."""
    @property
    def throttled_thermal_percent(self) -> Optional[float]:
        """Share of time slowed down by heat."""
    @property
    def throttled_power_seconds(self) -> Optional[float]:
        """Time held back by the power limit."""
    @property
    def throttled_thermal_seconds(self) -> Optional[float]:
        """Time held back by temperature."""
    @property
    def throttled_sync_boost_seconds(self) -> Optional[float]:
        """Time held back to keep step with other devices."""
    @property
    def throttled_board_limit_seconds(self) -> Optional[float]:
        """Time held back by a limit of the board."""
    @property
    def throttled_low_utilization_seconds(self) -> Optional[float]:
        """Time held back because there was little to do."""
    @property
    def throttled_reliability_seconds(self) -> Optional[float]:
        """Time held back to keep within the voltage that is reliable."""
    @property
    def throttled_sw_thermal_seconds(self) -> Optional[float]:
        """Time held back by the driver because of temperature."""
    @property
    def throttled_hw_thermal_seconds(self) -> Optional[float]:
        """Time held back by the hardware because of temperature."""
    @property
    def throttled_power_brake_seconds(self) -> Optional[float]:
        """Time held back by the power supply pulling the brake."""
    @property
    def pcie_rx_bytes_per_second(self) -> Optional[float]:
        """Bytes per second into the device over PCIe."""
    @property
    def pcie_tx_bytes_per_second(self) -> Optional[float]:
        """Bytes per second out of the device over PCIe."""
    @property
    def nvlink_rx_bytes_per_second(self) -> Optional[float]:
        """Bytes per second received over NVLink."""
    @property
    def nvlink_tx_bytes_per_second(self) -> Optional[float]:
        """Bytes per second sent over NVLink."""
    @property
    def pcie_link_generation(self) -> Optional[float]:
        """PCIe generation of the link now."""
    @property
    def pcie_link_width(self) -> Optional[float]:
        """PCIe lanes in use now."""
    @property
    def pcie_link_generation_max(self) -> Optional[float]:
        """Highest PCIe generation of device and slot together."""
    @property
    def pcie_link_width_max(self) -> Optional[float]:
        """Most PCIe lanes of device and slot together."""
    @property
    def pcie_link_generation_device_max(self) -> Optional[float]:
        """Highest PCIe generation of the device itself."""
    @property
    def pcie_replay_total(self) -> Optional[float]:
        """PCIe packets sent again."""
    @property
    def pcie_errors_corrected_total(self) -> Optional[float]:
        """PCIe errors that the link mended by itself."""
    @property
    def pcie_errors_nonfatal_total(self) -> Optional[float]:
        """PCIe errors that cost a transfer."""
    @property
    def pcie_errors_fatal_total(self) -> Optional[float]:
        """PCIe errors that broke the link."""
    @property
    def xgmi_read_bytes_per_second(self) -> Optional[float]:
        """Bytes per second read over XGMI."""
    @property
    def xgmi_write_bytes_per_second(self) -> Optional[float]:
        """Bytes per second written over XGMI."""
    @property
    def nvlink_links_active(self) -> Optional[float]:
        """NVLinks that are up."""
    @property
    def nvlink_crc_flit_errors_total(self) -> Optional[float]:
        """NVLink: flow-control digits with a wrong checksum."""
    @property
    def nvlink_crc_data_errors_total(self) -> Optional[float]:
        """NVLink: data packets with a wrong checksum."""
    @property
    def nvlink_replay_errors_total(self) -> Optional[float]:
        """NVLink: packets sent again."""
    @property
    def nvlink_recovery_errors_total(self) -> Optional[float]:
        """NVLink: links trained anew."""
    @property
    def xid_last(self) -> Optional[float]:
        """Number of the last driver error seen."""
    @property
    def xid_total(self) -> Optional[float]:
        """Driver errors seen."""
    @property
    def ecc_corrected_total(self) -> Optional[float]:
        """Memory errors corrected, over the life of the board."""
    @property
    def ecc_uncorrected_total(self) -> Optional[float]:
        """Memory errors not corrected, over the life of the board."""
    @property
    def ecc_corrected_volatile_total(self) -> Optional[float]:
        """Memory errors corrected since the driver was loaded."""
    @property
    def ecc_uncorrected_volatile_total(self) -> Optional[float]:
        """Memory errors not corrected since the driver was loaded."""
    @property
    def ecc_dram_corrected_volatile_total(self) -> Optional[float]:
        """Errors in the device memory corrected since the driver was loaded."""
    @property
    def ecc_dram_uncorrected_volatile_total(self) -> Optional[float]:
        """Errors in the device memory not corrected since the driver was loaded."""
    @property
    def ecc_dram_corrected_total(self) -> Optional[float]:
        """Errors in the device memory corrected, over the life of the board."""
    @property
    def ecc_dram_uncorrected_total(self) -> Optional[float]:
        """Errors in the device memory not corrected, over the life of the board."""
    @property
    def ecc_sram_corrected_total(self) -> Optional[float]:
        """Errors in the caches and registers corrected, over the life of the board."""
    @property
    def ecc_sram_uncorrected_total(self) -> Optional[float]:
        """Errors in the caches and registers not corrected, over the life of the board."""
    @property
    def ecc_sram_threshold_exceeded(self) -> Optional[str]:
        """Too many errors in caches and registers."""
    @property
    def retired_pages_single_bit_total(self) -> Optional[float]:
        """Memory pages retired after repeated corrected errors."""
    @property
    def retired_pages_double_bit_total(self) -> Optional[float]:
        """Memory pages retired after an error that could not be corrected."""
    @property
    def retired_pages_pending(self) -> Optional[str]:
        """Page retirement waits for a restart."""
    @property
    def remapped_rows_corrected_total(self) -> Optional[float]:
        """Memory rows replaced after corrected errors."""
    @property
    def remapped_rows_uncorrected_total(self) -> Optional[float]:
        """Memory rows replaced after errors that could not be corrected."""
    @property
    def remapped_rows_pending(self) -> Optional[str]:
        """A row replacement waits for a reset."""
    @property
    def remapped_rows_failure(self) -> Optional[str]:
        """A row could not be replaced."""
    @property
    def remapped_banks_max(self) -> Optional[float]:
        """Memory banks with all spares left."""
    @property
    def remapped_banks_high(self) -> Optional[float]:
        """Memory banks with most spares left."""
    @property
    def remapped_banks_partial(self) -> Optional[float]:
        """Memory banks with some spares left."""
    @property
    def remapped_banks_low(self) -> Optional[float]:
        """Memory banks with few spares left."""
    @property
    def remapped_banks_none(self) -> Optional[float]:
        """Memory banks with no spares left."""
    @property
    def recovery_action(self) -> Optional[str]:
        """What the driver asks for to recover the device."""
    @property
    def ecc_mode(self) -> Optional[str]:
        """Error correction switched on."""
    @property
    def ecc_mode_pending(self) -> Optional[str]:
        """Error correction after the next restart."""
    @property
    def mig_mode(self) -> Optional[str]:
        """Split into instances."""
    @property
    def mig_mode_pending(self) -> Optional[str]:
        """Split into instances after the next reset."""
    @property
    def compute_mode(self) -> Optional[str]:
        """Who may compute on the device."""
    @property
    def persistence_mode(self) -> Optional[str]:
        """Driver stays loaded without users."""
    @property
    def display_active(self) -> Optional[str]:
        """A display is drawn on this device."""
    @property
    def accounting_mode(self) -> Optional[str]:
        """Driver keeps an account of each process."""
    @property
    def virtualization_mode(self) -> Optional[str]:
        """How the device is handed to a virtual machine."""
    @property
    def performance_level(self) -> Optional[str]:
        """Who chooses the clocks."""
    @property
    def multiprocessor_count(self) -> Optional[float]:
        """Processors (SMs) of the device or instance."""
    @property
    def cuda_core_count(self) -> Optional[float]:
        """Cores of the device."""
    @property
    def memory_bus_width_bits(self) -> Optional[float]:
        """Width of the memory bus."""
    @property
    def minor_number(self) -> Optional[float]:
        """Number N of /dev/nvidiaN."""
    @property
    def numa_node(self) -> Optional[float]:
        """Memory node of the host nearest to the device."""
    @property
    def serial(self) -> Optional[str]:
        """Serial number of the board."""
    @property
    def vbios_version(self) -> Optional[str]:
        """Firmware of the board."""
    @property
    def board_part_number(self) -> Optional[str]:
        """Part number of the board."""
    @property
    def memory_vendor(self) -> Optional[str]:
        """Who made the memory."""
    @property
    def inforom_version(self) -> Optional[str]:
        """Version of the board description."""
    @property
    def gsp_firmware_version(self) -> Optional[str]:
        """Firmware of the system processor."""
    @property
    def architecture(self) -> Optional[str]:
        """Generation of the device."""
    @property
    def brand(self) -> Optional[str]:
        """Product line."""
    @property
    def compute_capability(self) -> Optional[str]:
        """CUDA compute capability."""
    @property
    def cuda_version(self) -> Optional[str]:
        """Newest CUDA the driver serves."""
    @property
    def cpu_affinity(self) -> Optional[str]:
        """Host cores nearest to the device."""
    @property
    def topology(self) -> Optional[str]:
        """How the device reaches its neighbours."""
    @property
    def pcie_topology(self) -> Optional[str]:
        """How the device reaches its neighbours without NVLink."""
    @property
    def compute_partition(self) -> Optional[str]:
        """How the processors are split."""
    @property
    def memory_partition(self) -> Optional[str]:
        """How the memory is split."""

class ProcessMetrics:
    @property
    def gpu_memory_bytes(self) -> Optional[float]:
        """Device memory the process holds."""
    @property
    def gpu_utilization_percent(self) -> Optional[float]:
        """The process's share of processor time."""
    @property
    def memory_utilization_percent(self) -> Optional[float]:
        """The process's share of memory controller time."""
    @property
    def encoder_utilization_percent(self) -> Optional[float]:
        """The process's use of the video encoder."""
    @property
    def decoder_utilization_percent(self) -> Optional[float]:
        """The process's use of the video decoder."""
    @property
    def jpeg_utilization_percent(self) -> Optional[float]:
        """The process's use of the JPEG engine."""
    @property
    def ofa_utilization_percent(self) -> Optional[float]:
        """The process's use of the optical-flow engine."""
    @property
    def render_utilization_percent(self) -> Optional[float]:
        """The process's use of the 3D engine."""
    @property
    def compute_utilization_percent(self) -> Optional[float]:
        """The process's use of the compute engine."""
    @property
    def copy_utilization_percent(self) -> Optional[float]:
        """The process's use of the copy engine."""
    @property
    def video_utilization_percent(self) -> Optional[float]:
        """The process's use of the video engine."""
    @property
    def video_enhance_utilization_percent(self) -> Optional[float]:
        """The process's use of the video processing engine."""
    @property
    def gpu_system_memory_bytes(self) -> Optional[float]:
        """Host memory the process holds for the device."""
    @property
    def gpu_memory_shared_bytes(self) -> Optional[float]:
        """Part of its device memory that the process shares."""
    @property
    def compute_units_used(self) -> Optional[float]:
        """Compute units at work for the process."""
    @property
    def cpu_percent(self) -> Optional[float]:
        """Processor time of the host that the process used."""
    @property
    def host_memory_bytes(self) -> Optional[float]:
        """Host memory the process holds."""
    @property
    def running_seconds(self) -> Optional[float]:
        """Time since the process started."""
    @property
    def parent_pid(self) -> Optional[float]:
        """Process that started the process."""
    @property
    def nice(self) -> Optional[float]:
        """How much the process yields to others."""
    @property
    def threads(self) -> Optional[float]:
        """Threads of the process."""
    @property
    def tree_processes(self) -> Optional[float]:
        """Processes of the job."""
    @property
    def tree_cpu_percent(self) -> Optional[float]:
        """Processor time of the host that the job used."""
    @property
    def tree_busy_processes(self) -> Optional[float]:
        """Processes of the job that use a whole core."""
    @property
    def tree_memory_bytes(self) -> Optional[float]:
        """Host memory the job holds."""
    @property
    def tree_read_bytes_per_second(self) -> Optional[float]:
        """Bytes per second the job has read from storage."""
    @property
    def tree_write_bytes_per_second(self) -> Optional[float]:
        """Bytes per second the job wrote to storage."""
    @property
    def tree_disk_wait_percent(self) -> Optional[float]:
        """Time the job's tasks waited for a disk."""
    @property
    def tree_idle_percent(self) -> Optional[float]:
        """Share of the job's processes that waited for nothing that the machine does."""
    @property
    def cgroup_pressure_cpu_percent(self) -> Optional[float]:
        """Time in which some task of the control group waited for a processor."""
    @property
    def cgroup_pressure_io_percent(self) -> Optional[float]:
        """Time in which some task of the control group waited for a disk."""
    @property
    def cgroup_pressure_memory_percent(self) -> Optional[float]:
        """Time in which some task of the control group waited for memory."""
    @property
    def user(self) -> Optional[str]:
        """Who runs the process."""
    @property
    def name(self) -> Optional[str]:
        """Name of the process."""
    @property
    def program(self) -> Optional[str]:
        """Program that the process runs, as it was called."""
    @property
    def command(self) -> Optional[str]:
        """Command line of the process."""
    @property
    def container(self) -> Optional[str]:
        """Container the process runs in."""
    @property
    def pod(self) -> Optional[str]:
        """Kubernetes pod the process runs in."""
    @property
    def job(self) -> Optional[str]:
        """Batch job the process belongs to."""
    @property
    def account(self) -> Optional[str]:
        """Account that the batch job is charged to."""
    @property
    def parent(self) -> Optional[str]:
        """Name of the process that started the process."""
    @property
    def framework(self) -> Optional[str]:
        """Framework that the process runs on."""

class HostMetrics:
    @property
    def cpu_percent(self) -> Optional[float]:
        """Processor time used, all cores together."""
    @property
    def cpu_iowait_percent(self) -> Optional[float]:
        """Processor time spent waiting for disks."""
    @property
    def cpu_steal_percent(self) -> Optional[float]:
        """Processor time taken by other virtual machines."""
    @property
    def cpu_busiest_core_percent(self) -> Optional[float]:
        """Use of the busiest core."""
    @property
    def cpu_count(self) -> Optional[float]:
        """Cores that are switched on."""
    @property
    def cpu_temperature_celsius(self) -> Optional[float]:
        """Temperature of the processors."""
    @property
    def cpu_power_watts(self) -> Optional[float]:
        """Power the processors draw."""
    @property
    def dram_power_watts(self) -> Optional[float]:
        """Power the host memory draws."""
    @property
    def load_1m(self) -> Optional[float]:
        """Load average over one minute."""
    @property
    def load_5m(self) -> Optional[float]:
        """Load average over five minutes."""
    @property
    def load_15m(self) -> Optional[float]:
        """Load average over fifteen minutes."""
    @property
    def memory_total_bytes(self) -> Optional[float]:
        """Host memory fitted."""
    @property
    def memory_used_bytes(self) -> Optional[float]:
        """Host memory in use."""
    @property
    def memory_used_percent(self) -> Optional[float]:
        """Share of the host memory in use."""
    @property
    def memory_available_bytes(self) -> Optional[float]:
        """Host memory that a new program could have."""
    @property
    def swap_total_bytes(self) -> Optional[float]:
        """Swap space."""
    @property
    def swap_used_bytes(self) -> Optional[float]:
        """Swap space in use."""
    @property
    def disk_read_bytes_per_second(self) -> Optional[float]:
        """Bytes per second read from disks."""
    @property
    def disk_write_bytes_per_second(self) -> Optional[float]:
        """Bytes per second written to disks."""
    @property
    def network_rx_bytes_per_second(self) -> Optional[float]:
        """Bytes per second from the network."""
    @property
    def network_tx_bytes_per_second(self) -> Optional[float]:
        """Bytes per second to the network."""
    @property
    def pressure_cpu_percent(self) -> Optional[float]:
        """Time in which some task waited for a processor."""
    @property
    def pressure_io_percent(self) -> Optional[float]:
        """Time in which some task waited for a disk."""
    @property
    def pressure_memory_percent(self) -> Optional[float]:
        """Time in which some task waited for memory."""
    @property
    def pressure_io_full_percent(self) -> Optional[float]:
        """Time in which all tasks waited for a disk."""
    @property
    def pressure_memory_full_percent(self) -> Optional[float]:
        """Time in which all tasks waited for memory."""
    @property
    def uptime_seconds(self) -> Optional[float]:
        """Time since the host started."""
    @property
    def cpu_user_percent(self) -> Optional[float]:
        """Processor time spent in programs."""
    @property
    def cpu_system_percent(self) -> Optional[float]:
        """Processor time spent in the kernel."""
    @property
    def cpu_idle_percent(self) -> Optional[float]:
        """Processor time in which there was nothing to do."""
    @property
    def tasks_running(self) -> Optional[float]:
        """Tasks that run or wait for a processor."""
    @property
    def tasks_blocked(self) -> Optional[float]:
        """Tasks that wait for a disk."""
    @property
    def interrupts_per_second(self) -> Optional[float]:
        """Interrupts per second."""
    @property
    def context_switches_per_second(self) -> Optional[float]:
        """Context switches per second."""
    @property
    def swap_in_bytes_per_second(self) -> Optional[float]:
        """Bytes per second read back from swap space."""
    @property
    def swap_out_bytes_per_second(self) -> Optional[float]:
        """Bytes per second written to swap space."""
    @property
    def memory_free_bytes(self) -> Optional[float]:
        """Host memory that holds nothing at all."""
    @property
    def memory_buffers_bytes(self) -> Optional[float]:
        """Host memory that holds blocks of disks."""
    @property
    def memory_cached_bytes(self) -> Optional[float]:
        """Host memory that holds contents of files."""
    @property
    def memory_shared_bytes(self) -> Optional[float]:
        """Host memory in shared memory and tmpfs."""
