"""What logs of nvidia-smi say that other people left in their projects, typed off the files."""

from __future__ import annotations

from typing import Any

from harness import MIB

# A reading that is not there says why.
NO = "!not supported"

# File: time (as UTC), then the devices.
LOGS: dict[str, tuple[str | None, list[dict[str, Any]]]] = {
    "gpustat-unraid__quadro-p4000.xml": (
        "2020-03-05T11:03:03.000Z",
        [
            {
                "name": "Quadro P4000",
                "uuid": "GPU-aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
                "pci": "0000:08:00.0",
                "driver": "440.44",
                "cuda_version": "10.2",
                "serial": "0123456789012",
                "fan_speed_percent": 55,
                "performance_state": "P0",
                "memory_total_bytes": 8119 * MIB,
                "memory_used_bytes": 10 * MIB,
                "memory_reserved_bytes": NO,
                "gpu_utilization_percent": 0,
                "temperature_gpu_celsius": 61,
                "temperature_memory_celsius": NO,
                "power_draw_watts": 30.86,
                "power_limit_watts": 105,
                "clock_sm_mhz": 1202,
                "ecc_mode": NO,
                "throttle_reasons": [],
            }
        ],
    ),
    "hadoop__nvidia-smi-sample-output.xml": (
        "2017-09-06T21:52:51.000Z",
        [
            {
                "name": "Tesla P100-PCIE-12GB",
                "pci": "0000:04:00.0",  # four digits of the domain
                "driver": "375.66",
                "cuda_version": None,
                "gpu_utilization_percent": 33.4,
                "memory_total_bytes": 11567 * MIB,
                "memory_used_bytes": 11400 * MIB,
                "temperature_gpu_celsius": 31,
                "temperature_shutdown_celsius": 80,
                "power_draw_watts": 24.84,
                "ecc_mode": "on",
                "ecc_uncorrected_total": 0,
                "retired_pages_double_bit_total": 0,
                "retired_pages_pending": "no",
                "fan_speed_percent": NO,
                "throttle_reasons": ["idle"],
            },
            {
                "index": 1,
                "name": "Tesla P100-PCIE-12GB_2",
                "uuid": "GPU-46915a82-3fd2-8e11-ae26-a80b607c04f3",
                "pci": "0000:82:00.0",
                "gpu_utilization_percent": 10.3,
                "memory_total_bytes": 12290 * MIB,
                "memory_used_bytes": 11800 * MIB,
                "temperature_gpu_celsius": 34,
                "temperature_shutdown_celsius": 85,
                "power_draw_watts": 25.54,
                "minor_number": 1,
            },
        ],
    ),
    "netdata__rtx-3060.xml": (
        "2022-09-20T15:21:01.000Z",
        [
            {
                "name": "NVIDIA GeForce RTX 3060 Laptop GPU",
                "driver": "515.65.01",
                "pci": "0000:01:00.0",
                "fan_speed_percent": NO,
                "performance_state": "P8",
                "memory_total_bytes": 6144 * MIB,
                "memory_reserved_bytes": 197 * MIB,
                "memory_used_bytes": 5 * MIB,
                "temperature_gpu_celsius": 45,
                "power_draw_watts": 8.7,
                "power_limit_watts": NO,
                "pcie_link_width": 8,
                "voltage_graphics_volts": 0.63125,
                "clock_max_sm_mhz": 2100,
                "process_count": 1,
            }
        ],
    ),
    "netdata__rtx-4090-driver-535.xml": (
        "2023-08-07T11:10:06.000Z",
        [
            {
                "name": "NVIDIA GeForce RTX 4090",
                "pci": "0000:84:00.0",
                "architecture": "Ada Lovelace",
                "memory_total_bytes": 24564 * MIB,
                "memory_reserved_bytes": 346 * MIB,
                "memory_used_bytes": 2 * MIB,
                "temperature_margin_celsius": 43,  # gpu_temp_tlimit
                "temperature_margin_shutdown_celsius": -7,  # gpu_temp_max_tlimit_threshold
                "temperature_shutdown_celsius": NO,
                "power_draw_watts": 26.84,  # gpu_power_readings/power_draw
                "power_average_watts": NO,
                "power_limit_watts": 450,
                "power_limit_max_watts": 600,
                "module_power_watts": NO,
                "ecc_mode": "off",
                "remapped_banks_max": 192,
                "remapped_rows_pending": "no",
            }
        ],
    ),
    "netdata__tesla-p100.xml": (
        "2022-09-17T17:06:50.000Z",
        [
            {
                "name": "Tesla P100-PCIE-16GB",
                "driver": "510.47.03",
                "cuda_version": "11.6",
                "serial": "0324217145110",
                "memory_total_bytes": 16384 * MIB,
                "memory_reserved_bytes": 103 * MIB,
                "memory_used_bytes": 0,
                "bar1_used_bytes": 2 * MIB,
                "power_draw_watts": 26.16,
                "virtualization_mode": "passthrough",
                "ecc_mode": "on",
                "ecc_corrected_total": 3,  # aggregate/single_bit/total
                "ecc_dram_corrected_total": 3,  # device_memory
                "retired_pages_single_bit_total": 0,
                "remapped_rows_pending": NO,
                "process_count": 0,
            }
        ],
    ),
    "pai__nvidia_smi_outdated_gpu.xml": (
        "2018-07-24T09:43:28.000Z",
        [
            {
                "name": "GeForce GT 730",
                "uuid": "GPU-09cb2925-9d01-5ca4-810b-6cdebe86b71a",
                "pci": "0000:01:00.0",
                "driver": "384.111",
                "brand": "GeForce",
                "serial": None,
                "vbios_version": None,
                "persistence_mode": "on",
                "minor_number": 0,
                "gpu_utilization_percent": NO,
                "memory_used_bytes": NO,
                "temperature_gpu_celsius": NO,
                "throttle_reasons": NO,
            }
        ],
    ),
    "pai__nvidia_smi_retired_pages.xml": (
        "2019-08-27T01:29:36.000Z",
        [
            {
                "name": "Tesla V100-SXM3-32GB",
                "pci": "0000:34:00.0",
                "driver": "410.104",
                "memory_total_bytes": 32480 * MIB,
                "temperature_memory_celsius": 33,
                "power_draw_watts": 50.6,
                "ecc_uncorrected_total": 7627,  # aggregate/double_bit/total
                "ecc_corrected_total": 291,
                "ecc_uncorrected_volatile_total": 1,
                "ecc_dram_uncorrected_volatile_total": 1,
                "retired_pages_single_bit_total": 0,
                "retired_pages_double_bit_total": 2,
                "retired_pages_pending": "yes",
                "throttle_reasons": ["idle"],
            }
        ],
    ),
    "pai__nvidia_smi_sample.xml": (
        "2017-09-11T20:12:12.000Z",
        [
            {
                "name": "GeForce GTX 1070",
                "pci": "0000:01:00.0",
                "fan_speed_percent": 41,
                "performance_state": "P2",
                "gpu_utilization_percent": 100,
                "memory_utilization_percent": 99,
                "memory_total_bytes": 8112 * MIB,
                "memory_used_bytes": 2028 * MIB,
                "power_draw_watts": 119.47,
                "clock_graphics_mhz": 1923,
                "pcie_link_generation": 3,
                "pcie_link_width": 1,
                "process_count": 3,
            },
            {
                "uuid": "GPU-28daffaf-8abe-aaf8-c298-4bd13aecb5e6",
                "pci": "0000:03:00.0",
                "gpu_utilization_percent": 98,
                "memory_used_bytes": 4057 * MIB,
                "power_draw_watts": 139.3,
                "pcie_link_generation": 2,
                "process_count": 1,
            },
        ],
    ),
    "pai__nvidia_smi_sample_ecc_unsupported.xml": (
        "2019-04-11T14:36:26.000Z",
        [
            {
                "name": "GeForce RTX 2080 Ti",
                "pci": "0000:02:00.0",
                "memory_total_bytes": 10989 * MIB,
                "memory_used_bytes": 0,
                "fan_speed_percent": 22,
                "temperature_gpu_celsius": 24,
                "power_draw_watts": 2.12,
                "power_limit_max_watts": 280,
                "ecc_mode": NO,
                "ecc_corrected_total": NO,
                "ecc_uncorrected_volatile_total": NO,
                "retired_pages_pending": NO,
                "throttle_reasons": ["idle"],
            },
            {
                "uuid": "GPU-ef1d0068-5bfd-f1e4-7e79-ff35d71d44b8",
                "power_draw_watts": 19.11,
                "throttle_reasons": ["power cap"],
            },
        ],
    ),
    "telegraf__a100-sxm4-v12.xml": (
        "2023-08-04T11:44:30.000Z",
        [
            {
                "index": 0,  # attached_gpus says 4
                "name": "NVIDIA A100-SXM4-80GB",
                "uuid": "GPU-513536b6-7d19-9063-b049-1e69664bb298",
                "parent": None,
                "mig_mode": "on",
                "minor_number": 1,
                "gpu_utilization_percent": NO,
                "memory_total_bytes": 81920 * MIB,
                "memory_used_bytes": 50 * MIB,
                "temperature_memory_celsius": 44,
                "power_draw_watts": 67.03,
                "power_limit_watts": 500,
                "voltage_graphics_volts": 0.9125,
                "gsp_firmware_version": "535.54.03",
                "recovery_action": NO,
                "throttle_reasons": [],
            },
            *(
                {
                    "id": f"0:{n}",
                    "index": 0,
                    "mig": n,
                    "uuid": f"MIG-GPU-513536b6-7d19-9063-b049-1e69664bb298/{3 + n}/0",
                    "parent": "GPU-513536b6-7d19-9063-b049-1e69664bb298",
                    "label": f"{3 + n}/0",
                    "pci": "0000:01:00.0",
                    "memory_total_bytes": 19968 * MIB,
                    "memory_used_bytes": 12 * MIB,
                    "memory_free_bytes": 19955 * MIB,
                    "bar1_total_bytes": 32767 * MIB,
                    "multiprocessor_count": 14,
                    "power_draw_watts": NO,
                    "process_count": 0,
                }
                for n in range(4)
            ),
        ],
    ),
    "telegraf__a10g.xml": (
        "2023-04-24T16:11:51.000Z",
        [
            {
                "name": "NVIDIA A10G",
                "pci": "0000:00:1e.0",
                "driver": "515.105.01",
                "fan_speed_percent": 0,
                "memory_total_bytes": 23028 * MIB,
                "memory_reserved_bytes": 435 * MIB,
                "memory_used_bytes": 22 * MIB,
                "virtualization_mode": "passthrough",
                "ecc_mode": "on",
                "ecc_corrected_total": 0,  # sram and dram
                "remapped_banks_max": 192,
                "gsp_firmware_version": "515.105.01",
                "temperature_gpu_celsius": 17,
                "power_draw_watts": 25.58,
                "process_count": 1,
            }
        ],
    ),
    "telegraf__gtx-1070-ti.xml": (
        None,
        [
            {
                "name": "GeForce GTX 1070 Ti",
                "uuid": "GPU-f9ba66fc-a7f5-94c5-da19-019ef2f9c665",
                "driver": None,
                "cuda_version": None,
                "fan_speed_percent": 100,
                "performance_state": "P8",
                "memory_total_bytes": 4096 * MIB,
                "memory_used_bytes": 42 * MIB,
                "memory_free_bytes": 4054 * MIB,
                "power_draw_watts": NO,
                "power_limit_watts": NO,
                "clock_memory_mhz": 405,
                "encoder_latency_seconds": 0,  # "0 ms"
                "process_count": NO,
            }
        ],
    ),
    "telegraf__gtx-1660-ti.xml": (
        "2019-03-29T19:19:44.000Z",
        [
            {
                "name": "Graphics Device",
                "pci": "0000:43:00.0",
                "driver": "418.43",
                "memory_total_bytes": 5912 * MIB,
                "memory_used_bytes": 0,
                "memory_utilization_percent": 1,
                "temperature_gpu_celsius": 40,
                "temperature_shutdown_celsius": 96,
                "power_draw_watts": 8.93,
                "power_limit_watts": 130,
                "clock_graphics_mhz": 300,
                "clock_max_graphics_mhz": 2145,
            }
        ],
    ),
    "telegraf__quadro-p2000-v12.xml": (
        "2023-09-20T09:37:38.000Z",
        [
            {
                "name": "Quadro P2000",
                "pci": "0000:17:00.0",
                "driver": "525.125.06",
                "fan_speed_percent": 46,
                "memory_total_bytes": 5120 * MIB,
                "memory_reserved_bytes": 66 * MIB,
                "memory_used_bytes": 1 * MIB,
                "bar1_used_bytes": 5 * MIB,
                "power_draw_watts": 4.61,  # power_readings, though it is v12
                "power_limit_watts": 75,
                "pcie_link_width": 8,
                "pcie_link_generation_device_max": 3,
                "voltage_graphics_volts": NO,
                "throttle_reasons": ["idle"],
            }
        ],
    ),
    "telegraf__rtx-3060-v12.xml": (
        "2025-03-02T15:02:02.000Z",
        [
            {
                "name": "NVIDIA GeForce RTX 3060",
                "pci": "0000:2d:00.0",
                "driver": "570.124.04",
                "cuda_version": "12.8",
                "memory_total_bytes": 12288 * MIB,
                "memory_reserved_bytes": 368 * MIB,
                "memory_used_bytes": 116 * MIB,
                "jpeg_utilization_percent": 0,
                "ofa_utilization_percent": 0,
                "power_draw_watts": 11.6,
                "power_average_watts": 11.6,
                "power_instant_watts": 11.63,
                "power_limit_max_watts": 190,
                "recovery_action": "none",
            }
        ],
    ),
    "telegraf__rtx-3080-v12.xml": (
        "2023-07-20T17:00:50.000Z",
        [
            {
                "name": "NVIDIA GeForce RTX 3080",
                "driver": "536.40",
                "persistence_mode": NO,
                "minor_number": NO,
                "memory_total_bytes": 10240 * MIB,
                "memory_used_bytes": 1128 * MIB,
                "memory_utilization_percent": 37,
                "power_draw_watts": 22.78,
                "power_limit_watts": 336,
                "power_limit_default_watts": 320,
                "virtualization_mode": "passthrough",
                "voltage_graphics_volts": 0.75,
                "process_count": 5,
            }
        ],
    ),
    "telegraf__rtx-3080-v13.xml": (
        "2026-04-10T10:23:01.000Z",
        [
            {
                "name": "NVIDIA GeForce RTX 3080",
                "pci": "0000:0c:00.0",
                "driver": "595.58.03",
                "cuda_version": "13.2",
                "performance_state": "P2",
                "gpu_utilization_percent": 65,
                "memory_utilization_percent": 9,
                "memory_used_bytes": 9184 * MIB,
                "bar1_used_bytes": 9218 * MIB,
                "power_draw_watts": 139.62,
                "power_instant_watts": 142.33,
                "memory_power_watts": NO,
                "clock_application_graphics_mhz": "!deprecated by the driver",
                "clock_sm_mhz": 1950,
                "clock_memory_mhz": 9251,
                "throttled_power_seconds": 0,
            }
        ],
    ),
}
