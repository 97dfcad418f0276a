"""NVIDIA GPUs that are part of a system on a chip: GB10 in the simulator, Jetsons as files. All values are made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

from harness import MIB, gpulse

Sysroot = Callable[[dict[str, str]], Path]
Scenario = Callable[[str], Path]

MEMORY = "MemTotal: 127600748 kB\nMemFree: 7 kB\nMemAvailable: 50000000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n"

GPU = "/sys/devices/platform/bus@0/17000000.gpu"
ORIN = {
    "/proc/device-tree/model": "NVIDIA Jetson Orin Nano Developer Kit\0",
    "/proc/device-tree/compatible": "nvidia,p3768-0000+p3767-0005\0nvidia,tegra234\0",
    "/proc/device-tree/serial-number": "1424123012345\0",
    "/proc/meminfo": "MemTotal: 7800000 kB\nMemFree: 9 kB\nMemAvailable: 4800000 kB\nNvMapMemUsed: 900000 kB\n",
    "/etc/nv_tegra_release": "# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic, EABI: aarch64\n",
    f"{GPU}/load": "873\n",
    f"{GPU}/uevent": "DRIVER=gk20a\nOF_COMPATIBLE_0=nvidia,ga10b\n",
    f"{GPU}/power/runtime_status": "active\n",
    f"{GPU}/devfreq/17000000.gpu/cur_freq": "624750000\n",
    f"{GPU}/devfreq/17000000.gpu/max_freq": "1020000000\n",
    "/sys/class/thermal/thermal_zone0/type": "cpu-thermal\n",
    "/sys/class/thermal/thermal_zone0/temp": "52250\n",
    "/sys/class/thermal/thermal_zone1/type": "gpu-thermal\n",
    "/sys/class/thermal/thermal_zone1/temp": "50781\n",
    "/sys/class/hwmon/hwmon1/name": "ina3221\n",
    "/sys/class/hwmon/hwmon1/in1_label": "VDD_IN\n",
    "/sys/class/hwmon/hwmon1/in1_input": "4960\n",
    "/sys/class/hwmon/hwmon1/curr1_input": "1520\n",
    "/sys/class/hwmon/hwmon1/in2_label": "VDD_CPU_GPU_CV\n",
    "/sys/class/hwmon/hwmon1/in2_input": "4960\n",
    "/sys/class/hwmon/hwmon1/curr2_input": "500\n",
}


def only_device(document: dict[str, Any]) -> dict[str, Any]:
    (device,) = document["devices"]
    return device


def test_a_gpu_without_memory_shows_the_hosts(sysroot: Sysroot) -> None:
    document = gpulse("--json", "--sysroot", sysroot({"/proc/meminfo": MEMORY}), scenario="unified").json
    device = only_device(document)
    assert (device["name"], device["pci"]) == ("NVIDIA GB10", "000f:01:00.0")
    metrics = device["metrics"]
    assert metrics["memory_total_bytes"] == 127600748 * 1024
    assert metrics["memory_used_bytes"] == (127600748 - 50000000) * 1024
    assert metrics["memory_free_bytes"] == 50000000 * 1024
    assert metrics["gpu_utilization_percent"] == 96
    assert device["unavailable"]["memory_reserved_bytes"] == "not supported"
    # As the driver says, and nvidia-smi.
    assert (metrics["pcie_link_generation"], metrics["pcie_link_width"]) == (1, 1)
    assert {process["gpu_memory_bytes"] for process in document["processes"]} == {63931 * MIB, 43 * MIB}


def test_a_jetson_without_the_driver_library(sysroot: Sysroot) -> None:
    result = gpulse("--json", "--sysroot", sysroot(ORIN))
    assert result.code == 0, result.err
    device = only_device(result.json)
    assert device["vendor"] == "nvidia"
    assert device["name"] == "NVIDIA Jetson Orin Nano Developer Kit"
    assert device["driver"] == "nvgpu 36.4.3"
    assert device["uuid"] == "TEGRA-1424123012345"
    assert device["pci"] is None
    assert device["info"]["architecture"] == "Ampere"
    metrics = {key: value for key, value in device["metrics"].items() if value is not None}
    assert metrics == {
        "gpu_utilization_percent": 87.3,
        "clock_graphics_mhz": 624.75,
        "clock_sm_mhz": 624.75,
        "clock_max_graphics_mhz": 1020,
        "clock_max_sm_mhz": 1020,
        "memory_total_bytes": 7800000 * 1024,
        "memory_used_bytes": 3000000 * 1024,
        "memory_used_percent": 38.462,  # 3 of 7.8
        "memory_free_bytes": 4800000 * 1024,
        "memory_gtt_used_bytes": 900000 * 1024,
        "temperature_gpu_celsius": 50.781,
        "power_draw_watts": 2.48,
    }
    assert result.json["host"]["cpu_temperature_celsius"] == 52.25

    screen = gpulse("--sysroot", sysroot(ORIN), "--width", "120")
    assert screen.code == 0
    (line,) = [line for line in screen.lines if "87%" in line]
    assert "51°C" in line and "625MHz" in line


def test_a_jetson_is_shown_once(sysroot: Sysroot, scenario: Scenario) -> None:
    # The driver library of newer boards lists the GPU too, but knows little more than its name.
    nvgpu = '[[device]]\nprofile = "gb10"\nname = "Orin (nvgpu)"\n'
    document = gpulse("--json", "--sysroot", sysroot(ORIN), scenario=scenario(nvgpu)).json
    device = only_device(document)
    assert device["uuid"] == "TEGRA-1424123012345"
    assert device["metrics"]["gpu_utilization_percent"] == 87.3

    # A board in its slot is another one.
    both = gpulse("--json", "--sysroot", sysroot(ORIN), scenario=scenario(nvgpu + '[[device]]\nprofile = "a100"\n')).json
    assert [device["vendor"] for device in both["devices"]] == ["nvidia", "nvidia"]
    assert both["devices"][0]["name"].startswith("NVIDIA A100")
    assert both["devices"][1]["uuid"] == "TEGRA-1424123012345"


def test_a_jetson_without_power_is_idle(sysroot: Sysroot) -> None:
    off = {f"{GPU}/power/runtime_status": "suspended\n", "/sys/class/thermal/thermal_zone1/temp": "-256000\n"}
    device = only_device(gpulse("--json", "--sysroot", sysroot(ORIN | off)).json)
    assert device["state"] == "ok"
    assert device["metrics"]["gpu_utilization_percent"] == 0
    assert device["unavailable"]["temperature_gpu_celsius"] == "asleep"
    assert device["unavailable"]["clock_sm_mhz"] == "asleep"
    assert device["metrics"]["memory_total_bytes"] == 7800000 * 1024
