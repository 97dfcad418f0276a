"""What the kernel does not count or measure is unknown, not 0: machines built by hand, one for each such case."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from harness import MIB, gpulse
from test_drm_trees import Machine

KFD = "sys/class/kfd/kfd"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "machine")


def pci_card(machine: Machine, driver: str, ids: str, slot: str, number: int = 0) -> str:
    device = f"sys/class/drm/card{number}/device"
    machine.write(f"{device}/uevent", f"DRIVER={driver}\nPCI_ID={ids}\nPCI_SLOT_NAME={slot}\n")
    machine.write(f"{device}/drm/renderD{128 + number}/dev", f"226:{128 + number}\n")
    return device


def look(machine: Machine) -> tuple[dict[str, Any], dict[int, dict[str, Any]]]:
    """The only device, and its processes by number."""
    seen = machine.look()
    (device,) = seen["devices"]
    return device, {process["pid"]: process for process in seen["processes"]}


def test_rocm_beside_a_desktop(machine: Machine) -> None:
    device = pci_card(machine, "amdgpu", "1002:744C", "0000:03:00.0")
    machine.write(f"{device}/gpu_busy_percent", "97\n")
    machine.write(
        f"{KFD}/topology/nodes/1/properties",
        "simd_count 192\nsimd_per_cu 2\nvendor_id 4098\ndevice_id 29772\nlocation_id 768\ndrm_render_minor 128\n",
    )
    machine.write(f"{KFD}/topology/nodes/1/gpu_id", "41222\n")
    machine.write(f"{KFD}/proc/700/vram_41222", f"{900 * MIB}\n")
    machine.write(f"{KFD}/proc/700/stats_41222/cu_occupancy", "96\n")
    # ROCm opens the render node for its memory, and no engine is ever counted for it.
    machine.process(700, {5: f"drm-driver:\tamdgpu\ndrm-client-id:\t1\ndrm-memory-vram:\t{900 << 10} KiB\n"})
    machine.process(800, {5: "drm-driver:\tamdgpu\ndrm-client-id:\t2\ndrm-engine-gfx:\t5000 ns\n"}, start=2)
    gpu, processes = look(machine)
    assert gpu["metrics"]["gpu_utilization_percent"] == 97
    assert gpu["metrics"]["compute_utilization_percent"] is None
    assert gpu["unavailable"]["compute_utilization_percent"] == "not supported"
    rocm, desktop = processes[700], processes[800]
    assert (rocm["type"], rocm["gpu_memory_bytes"], rocm["compute_units_used"]) == ("compute", 900 * MIB, 96)
    assert rocm["gpu_utilization_percent"] is None
    assert rocm["compute_utilization_percent"] is None
    # Its counter stands still.
    assert (desktop["type"], desktop["gpu_utilization_percent"]) == ("graphics", 0)
    (row,) = [line for line in gpulse("--sysroot", machine.root).lines if " 700 " in line]
    assert row.split()[3:6] == ["C", "900M", "–"]


def test_sensors_of_an_apu_that_are_not_there(machine: Machine) -> None:
    device = pci_card(machine, "amdgpu", "1002:163F", "0000:04:00.0")
    for file, text in {
        "name": "amdgpu",
        "temp1_label": "edge",
        "temp1_input": "56000",
        "in0_label": "vddgfx",
        "in0_input": "0",
        "in1_label": "vddnb",
        "in1_input": "0",
    }.items():
        machine.write(f"{device}/hwmon/hwmon4/{file}", text + "\n")
    # gpu_metrics v2_4: zeros where this firmware has no sensor, among them the voltages at 154 and 156.
    machine.write(f"{device}/gpu_metrics", struct.pack("<HBB", 168, 2, 4) + bytes(164))
    gpu, _ = look(machine)
    for key in ("voltage_graphics_volts", "voltage_soc_volts", "temperature_soc_celsius"):
        assert gpu["metrics"][key] is None, key
        assert gpu["unavailable"][key] == "not supported", key
    assert gpu["metrics"]["temperature_gpu_celsius"] == 56


def test_intel_client_that_only_copies(machine: Machine) -> None:
    pci_card(machine, "i915", "8086:9A49", "0000:00:02.0")
    machine.process(
        700,
        {5: "drm-driver:\ti915\ndrm-client-id:\t7\ndrm-engine-render:\t0 ns\ndrm-engine-copy:\t10640 ns\n"},
    )
    _, processes = look(machine)
    assert processes[700]["type"] == "unknown"


def test_host_memory_that_clients_of_an_intel_processor_hold(machine: Machine) -> None:
    pci_card(machine, "i915", "8086:9A49", "0000:00:02.0")
    for pid, kib in ((700, 157284), (800, 2048)):
        text = f"drm-driver:\ti915\ndrm-client-id:\t{pid}\ndrm-total-memory:\t{kib} KiB\ndrm-engine-render:\t5 ns\n"
        machine.process(pid, {5: text})
    gpu, processes = look(machine)
    assert processes[700]["gpu_memory_bytes"] == 157284 << 10
    assert gpu["metrics"]["memory_used_bytes"] == (157284 + 2048) << 10
    assert gpu["metrics"]["memory_gtt_used_bytes"] == (157284 + 2048) << 10
