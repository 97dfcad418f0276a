"""A suspended device stays asleep: of its files only those are opened that the kernel answers without it.

The kernel itself keeps the record: inotify tells of every file that was opened or read below the fake machine."""

from __future__ import annotations

import ctypes
import os
import struct
from pathlib import Path

import pytest

from harness import gpulse

IN_ACCESS, IN_OPEN, IN_ISDIR = 0x1, 0x20, 0x40000000

# What the bus and the drivers keep in memory: identity, and whether the device sleeps.
HARMLESS = {
    "uevent",
    "runtime_status",
    "vendor",
    "device",
    "subsystem_vendor",
    "subsystem_device",
    "revision",
    "class",
    "unique_id",  # amdgpu read it when it was loaded
    "product_name",
    "version",  # of the kernel module
    "modalias",
    "name",  # of a folder of sensors, not their values
}

SENSORS = {
    "temp1_input": "56000",
    "temp1_label": "edge",
    "temp2_input": "57000",
    "temp2_label": "pkg",
    "power1_average": "36000000",
    "power1_cap": "289000000",
    "power1_max": "289000000",
    "energy1_input": "1000000",
    "energy2_input": "2000000",
    "freq1_input": "500000000",
    "fan1_input": "900",
    "pwm1": "80",
    "in0_input": "775",
}
COMMON = {
    "current_link_speed": "16.0 GT/s PCIe",
    "current_link_width": "16",
    "max_link_speed": "16.0 GT/s PCIe",
    "max_link_width": "16",
    "aer_dev_correctable": "TOTAL_ERR_COR 0",
    "power_state": "D3cold",
    "config": "x",
}
AMD = {
    "gpu_busy_percent": "3",
    "mem_busy_percent": "1",
    "vcn_busy_percent": "0",
    "mem_info_vram_used": "1000",
    "mem_info_vram_total": "2000",
    "pp_dpm_sclk": "0: 500Mhz *",
    "pp_dpm_mclk": "0: 96Mhz *",
    "gpu_metrics": "x" * 120,
    "pcie_bw": "1 2 256",
    "pcie_replay_count": "0",
    "ras/umc_err_count": "ue: 0\nce: 0",
    "unique_id": "946d7e1ef9b172dd",
    "product_name": "",
    "vbios_version": "113",
}
XE = {
    "tile0/gt0/freq0/act_freq": "800",
    "tile0/gt0/freq0/cur_freq": "800",
    "tile0/gt0/gtidle/idle_residency_ms": "100",
    "tile0/gt0/freq0/throttle/status": "0",
}
I915 = {  # beside the folder `device`
    "gt_act_freq_mhz": "300",
    "gt/gt0/rps_act_freq_mhz": "300",
    "gt/gt0/rc6_residency_ms": "100",
    "power/rc6_residency_ms": "100",
}


def suspended_machine(write) -> Path:
    files = {"/proc/77/stat": "77 (game) S 1 1 1 0 -1 0 0 0 0 0 5 5 0 0 20 0 1 0 100 0 100\n"}
    cards = (
        ("amdgpu", "1002:73BF", "0000:03:00.0", AMD, {}),
        ("i915", "8086:56A5", "0000:04:00.0", {}, I915),
        ("xe", "8086:E20B", "0000:05:00.0", XE, {}),
    )
    for number, (driver, ids, pci, own, beside) in enumerate(cards):
        card = f"/sys/class/drm/card{number}"
        device = f"{card}/device"
        files[f"{device}/uevent"] = f"DRIVER={driver}\nPCI_ID={ids}\nPCI_SLOT_NAME={pci}\n"
        files[f"{device}/power/runtime_status"] = "suspended\n"
        files[f"{device}/drm/renderD{128 + number}/dev"] = f"226:{128 + number}\n"
        files |= {f"{device}/{name}": text + "\n" for name, text in (COMMON | own).items()}
        files |= {f"{device}/hwmon/hwmon{number}/{name}": text + "\n" for name, text in SENSORS.items()}
        files[f"{device}/hwmon/hwmon{number}/name"] = driver + "\n"
        files |= {f"{card}/{name}": text + "\n" for name, text in beside.items()}
        files[f"/proc/77/fdinfo/{number + 3}"] = f"drm-driver:\t{driver}\ndrm-pdev:\t{pci}\ndrm-client-id:\t1\n"
    root = write(files)
    (root / "proc/77/fd").mkdir()
    for number in range(len(cards)):
        (root / f"proc/77/fd/{number + 3}").symlink_to(f"/dev/dri/renderD{128 + number}")
    return root


class Opened:
    """The files below a folder that were opened while the block ran, as paths relative to it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: set[str] = set()

    def __enter__(self) -> Opened:
        libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor = libc.inotify_init1(os.O_NONBLOCK)
        if self.descriptor < 0:
            pytest.skip("no inotify here")
        self.folders = {}
        for folder in (self.root, *(path for path in self.root.rglob("*") if path.is_dir())):
            watch = libc.inotify_add_watch(self.descriptor, os.fsencode(folder), IN_OPEN | IN_ACCESS)
            assert watch >= 0, os.strerror(ctypes.get_errno())
            self.folders[watch] = folder
        return self

    def __exit__(self, *_: object) -> None:
        while True:
            try:
                buffer = os.read(self.descriptor, 1 << 20)
            except BlockingIOError:
                break
            while buffer:
                watch, mask, _, length = struct.unpack_from("iIII", buffer)
                name = buffer[16 : 16 + length].rstrip(b"\0").decode()
                buffer = buffer[16 + length :]
                assert watch in self.folders, "the kernel's queue was too short"
                if name and not mask & IN_ISDIR:
                    self.files.add(str((self.folders[watch] / name).relative_to(self.root)))
        os.close(self.descriptor)

    def of_devices(self) -> set[str]:
        """Those that a driver answers: of the devices, and what it tells of the processes that use them."""
        return {path for path in self.files if path.startswith("sys/") or "/fdinfo/" in path}


COMMANDS = {
    "a look": ("--json",),
    "a quick look": ("--json", "--fast"),
    "watching": ("--json", "--watch", "0.2", "--count", "4"),
    "doctor": ("doctor",),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_that_wakes_a_device_is_opened(sysroot, command: str) -> None:
    root = suspended_machine(sysroot)
    with Opened(root) as opened:
        result = gpulse("--sysroot", root, *COMMANDS[command])
    assert result.code == 0, result.err
    files = opened.of_devices()
    assert "sys/class/drm/card0/device/power/runtime_status" in files, "it was looked at"
    dangerous = {path for path in files if Path(path).name not in HARMLESS}
    assert not dangerous


def test_sleeping_devices_are_shown_asleep(sysroot) -> None:
    result = gpulse("--sysroot", suspended_machine(sysroot), "--json")
    states = {one["pci"]: one["state"] for one in result.json["devices"]}
    assert states["0000:03:00.0"] == "asleep"
    assert set(states.values()) == {"asleep"}


def test_with_wake_they_are_read(sysroot) -> None:
    root = suspended_machine(sysroot)
    with Opened(root) as opened:
        result = gpulse("--sysroot", root, "--json", "--wake")
    by_address = {one["pci"]: one for one in result.json["devices"]}
    amd = by_address["0000:03:00.0"]
    assert amd["state"] == "ok"
    assert amd["metrics"]["gpu_utilization_percent"] == 3
    assert amd["metrics"]["temperature_gpu_celsius"] == 56
    files = opened.of_devices()
    assert "sys/class/drm/card0/device/hwmon/hwmon0/temp1_input" in files
    assert "sys/class/drm/card0/device/gpu_metrics" in files
    assert "proc/77/fdinfo/3" in files
