"""A machine with an integrated Intel GPU, an AMD card and an NVIDIA card: all of them, side by side, in every view.

The numbers are made by hand; what the program must show is computed from them here, not taken from its output.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from harness import MIB, ROOT, gpulse

GIB = 1 << 30

AMD = "sys/class/drm/card1/device"
INTEL = "sys/class/drm/card0"

FILES = {
    # An Intel processor's graphics.
    f"{INTEL}/device/uevent": "DRIVER=i915\nPCI_CLASS=30000\nPCI_ID=8086:9A49\nPCI_SUBSYS_ID=17AA:3F19\n"
    "PCI_SLOT_NAME=0000:00:02.0\n",
    f"{INTEL}/device/power/runtime_status": "active\n",
    f"{INTEL}/gt/gt0/rps_act_freq_mhz": "950\n",
    f"{INTEL}/gt/gt0/rps_cur_freq_mhz": "1000\n",
    f"{INTEL}/gt/gt0/rps_RP0_freq_mhz": "1350\n",
    f"{INTEL}/gt/gt0/rc6_residency_ms": "5000\n",
    f"{INTEL}/gt/gt0/throttle_reason_status": "0\n",
    # An AMD card.
    f"{AMD}/uevent": "DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_ID=1002:744C\nPCI_SUBSYS_ID=1DA2:E471\n"
    "PCI_SLOT_NAME=0000:03:00.0\n",
    f"{AMD}/revision": "0xc8\n",
    f"{AMD}/power/runtime_status": "active\n",
    f"{AMD}/gpu_busy_percent": "73\n",
    f"{AMD}/mem_busy_percent": "31\n",
    f"{AMD}/mem_info_vram_total": f"{24 * GIB}\n",
    f"{AMD}/mem_info_vram_used": f"{6 * GIB}\n",
    f"{AMD}/mem_info_gtt_total": f"{16 * GIB}\n",
    f"{AMD}/mem_info_gtt_used": f"{128 * MIB}\n",
    f"{AMD}/current_link_speed": "16.0 GT/s PCIe\n",
    f"{AMD}/current_link_width": "16\n",
    f"{AMD}/max_link_speed": "16.0 GT/s PCIe\n",
    f"{AMD}/max_link_width": "16\n",
    f"{AMD}/unique_id": "00112233aabbccdd\n",
    f"{AMD}/hwmon/hwmon5/name": "amdgpu\n",
    f"{AMD}/hwmon/hwmon5/temp1_input": "61000\n",
    f"{AMD}/hwmon/hwmon5/temp1_label": "edge\n",
    f"{AMD}/hwmon/hwmon5/temp2_input": "78000\n",
    f"{AMD}/hwmon/hwmon5/temp2_label": "junction\n",
    f"{AMD}/hwmon/hwmon5/temp3_input": "70000\n",
    f"{AMD}/hwmon/hwmon5/temp3_label": "mem\n",
    f"{AMD}/hwmon/hwmon5/power1_average": "263000000\n",
    f"{AMD}/hwmon/hwmon5/power1_cap": "339000000\n",
    f"{AMD}/hwmon/hwmon5/freq1_input": "2342000000\n",
    f"{AMD}/hwmon/hwmon5/freq1_label": "sclk\n",
    f"{AMD}/hwmon/hwmon5/fan1_input": "1500\n",
    # A program on each of the two, as the kernel tells of its open files.
    "proc/4711/stat": "4711 (renderer) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1000 0 100 0\n",
    "proc/4711/comm": "renderer\n",
    "proc/4711/cmdline": "renderer\0--scene\0a.usd\0",
    "proc/4711/status": "Name:\trenderer\nUid:\t0\t0\t0\t0\n",
    "proc/4711/fdinfo/9": "pos:\t0\nflags:\t02100002\ndrm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\ndrm-client-id:\t12\n"
    f"drm-memory-vram:\t{5 * 1024 * 1024} KiB\ndrm-memory-gtt: \t65536 KiB\ndrm-engine-gfx:\t123456789 ns\n",
    "proc/900/stat": "900 (compositor) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 500 0 100 0\n",
    "proc/900/comm": "compositor\n",
    "proc/900/cmdline": "compositor\0",
    "proc/900/status": "Name:\tcompositor\nUid:\t0\t0\t0\t0\n",
    "proc/900/fdinfo/5": "drm-driver:\ti915\ndrm-pdev:\t0000:00:02.0\ndrm-client-id:\t3\n"
    "drm-total-system0:\t98304 KiB\ndrm-resident-system0:\t65536 KiB\ndrm-engine-render:\t5000000 ns\n"
    "drm-engine-capacity-video:\t2\ndrm-engine-video:\t0 ns\n",
}
LINKS = {"proc/4711/fd/9": "/dev/dri/card1", "proc/900/fd/5": "/dev/dri/card0"}


@pytest.fixture
def machine(sysroot: Any) -> Path:
    root = sysroot(FILES)
    for name, target in LINKS.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)
    return root


@pytest.fixture
def shown(machine: Path) -> dict[str, dict[str, Any]]:
    result = gpulse("--sysroot", machine, "--json", scenario="single")
    assert result.code == 0, result.err
    return {device["vendor"]: device for device in result.json["devices"]}


def test_all_three_are_devices_of_one_snapshot(shown: dict[str, dict[str, Any]]) -> None:
    assert list(shown) == ["nvidia", "amd", "intel"]
    assert [device["index"] for device in shown.values()] == [0, 1, 2]
    assert shown["amd"]["pci"] == "0000:03:00.0"
    assert shown["amd"]["uuid"] == "GPU-00112233aabbccdd"
    assert shown["intel"]["pci"] == "0000:00:02.0"
    assert shown["nvidia"]["name"] == "NVIDIA H200"


def test_each_fills_what_it_can(shown: dict[str, dict[str, Any]]) -> None:
    amd = shown["amd"]["metrics"]
    assert amd["gpu_utilization_percent"] == 73
    assert amd["memory_utilization_percent"] == 31
    assert amd["memory_used_bytes"] == 6 * GIB
    assert amd["memory_total_bytes"] == 24 * GIB
    assert amd["memory_free_bytes"] == 18 * GIB
    assert amd["memory_gtt_used_bytes"] == 128 * MIB
    assert amd["temperature_gpu_celsius"] == 61
    assert amd["temperature_hotspot_celsius"] == 78
    assert amd["temperature_memory_celsius"] == 70
    assert amd["power_draw_watts"] == 263
    assert amd["power_limit_watts"] == 339
    assert amd["clock_graphics_mhz"] == 2342
    assert amd["fan_speed_rpm"] == 1500
    assert (amd["pcie_link_generation"], amd["pcie_link_width"]) == (4, 16)
    intel = shown["intel"]["metrics"]
    assert intel["clock_graphics_mhz"] == 950
    assert intel["clock_max_graphics_mhz"] == 1350
    # The counters stand still in a recorded machine: nobody worked between the two readings.
    assert intel["render_utilization_percent"] == 0
    assert intel["power_draw_watts"] is None
    nvidia = shown["nvidia"]["metrics"]
    assert nvidia["sm_active_percent"] is not None
    assert amd["sm_active_percent"] is None
    assert shown["amd"]["unavailable"]["sm_active_percent"] == "not supported"


def test_programs_stand_with_the_card_that_they_use(machine: Path) -> None:
    processes = gpulse("--sysroot", machine, "--json", scenario="single").json["processes"]
    by_pid = {process["pid"]: process for process in processes}
    assert by_pid[4711]["device"] == 1
    assert by_pid[4711]["name"] == "renderer"
    assert by_pid[4711]["command"] == "renderer --scene a.usd"
    assert by_pid[4711]["gpu_memory_bytes"] == 5 * GIB
    assert by_pid[4711]["gpu_system_memory_bytes"] == 64 * MIB
    assert by_pid[900]["device"] == 2
    assert by_pid[900]["gpu_memory_bytes"] == 64 * MIB


def test_the_status_view_shows_them_side_by_side(machine: Path) -> None:
    text = gpulse("--sysroot", machine, "--width", "120", scenario="single").out
    devices = text[: text.index("PID")]
    rows = {line.split()[0]: line for line in devices.splitlines() if re.match(r" *[012]  ", line)}
    assert "H200" in rows["0"]
    assert re.search(r"73%.*6\.0/24\.0G.*263/339W.*61°C", rows["1"])
    assert "950MHz" in text
    assert "renderer --scene a.usd" in text and "compositor" in text
    # Nothing is amiss on such a machine.
    assert "!" not in text.replace("! power cap", "")


def test_one_vendor_can_be_picked(machine: Path) -> None:
    for vendor, pci in (("amd", "0000:03:00.0"), ("intel", "0000:00:02.0")):
        devices = gpulse("--sysroot", machine, "--json", "-i", vendor, scenario="single").json["devices"]
        assert [device["pci"] for device in devices] == [pci]


def test_without_nvidia_nothing_is_said_of_its_driver(machine: Path) -> None:
    result = gpulse("--sysroot", machine)
    assert result.code == 0
    assert "NVIDIA" not in result.out + result.err


def test_no_view_names_a_vendor() -> None:
    words = re.compile(r"\"[^\"]*\b(amd|radeon|intel|geforce|tesla|xe|i915)\b[^\"]*\"", re.IGNORECASE)
    for file in [*(ROOT / "src" / "view").glob("*.cpp"), *(ROOT / "src" / "view").glob("*.hpp")]:
        if file.stem.endswith("_test") or file.stem == "testing":
            continue
        assert not words.search(file.read_text()), file
