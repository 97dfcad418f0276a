"""A recorded machine is shown as itself: nothing of the machine on which it is looked at, nothing made up."""

from __future__ import annotations

from pathlib import Path
from typing import Callable

import pytest

from harness import ROOT, gpulse

Sysroot = Callable[[dict[str, str]], Path]

CARD = {
    "sys/class/drm/card0/device/uevent": "DRIVER=amdgpu\nPCI_ID=1002:73BF\nPCI_SLOT_NAME=0000:03:00.0\n",
    "sys/class/drm/card0/device/gpu_busy_percent": "7\n",
}
LOGS = ROOT.parent / "shared" / "fixtures" / "nvidia-smi" / "xml"


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"proc/sys/kernel/hostname": "render-7\n"}, "render-7"),
        ({"etc/hostname": "# by the installer\n\nrender-8\n"}, "render-8"),
        # Seen from a container, the kernel's file in /host/proc tells the container's name.
        ({"etc/hostname": "render-9\n", "proc/sys/kernel/hostname": "3f2a9c\n"}, "render-9"),
    ],
)
def test_name_of_the_recorded_machine(sysroot: Sysroot, files: dict[str, str], name: str) -> None:
    root = sysroot(CARD | files)
    assert gpulse("--sysroot", root, "--json").json["hostname"] == name
    assert gpulse("--sysroot", root).lines[0].startswith(f"{name}  ")
    assert gpulse("--sysroot", root, "--csv", "--fields", "hostname").csv == [{"hostname": name}]


def test_machine_without_a_name(sysroot: Sysroot) -> None:
    root = sysroot(CARD)
    assert gpulse("--sysroot", root, "--json").json["hostname"] is None
    assert gpulse("--sysroot", root).lines[0].startswith("host unknown  ")
    assert gpulse("--sysroot", root, "--csv", "--fields", "index,hostname").lines[1] == "0,"
    assert gpulse("gpustat", "--sysroot", root).lines[0].startswith("host unknown  ")


def test_link_out_of_the_tree_is_followed_inside_it(sysroot: Sysroot) -> None:
    root = sysroot(CARD | {"etc/static/hostname": "nixos-3\n"})
    (root / "etc/hostname").symlink_to("/etc/static/hostname")
    assert gpulse("--sysroot", root, "--json").json["hostname"] == "nixos-3"


def test_driver_without_a_version(sysroot: Sysroot) -> None:
    root = sysroot(CARD)
    assert gpulse("--sysroot", root, "--json").json["devices"][0]["driver"] == "amdgpu"
    table = gpulse("smi", "--sysroot", root)
    assert table.code == 0, table.err
    assert "Driver Version: N/A " in table.out
    for command in (["smi"], ["smi", "-q"], ["smi", "-q", "-x"], ["gpustat", "--json"]):
        assert "amdgpu" not in gpulse(*command, "--sysroot", root).out, command
    query = gpulse("smi", "--sysroot", root, "--query-gpu=driver_version", "--format=csv,noheader")
    assert query.out == "[N/A]\n"


def test_driver_with_a_version_beside_its_name(sysroot: Sysroot) -> None:
    root = sysroot(CARD | {"sys/module/amdgpu/version": "6.12.12\n"})
    assert gpulse("--sysroot", root, "--json").json["devices"][0]["driver"] == "amdgpu 6.12.12"
    query = gpulse("smi", "--sysroot", root, "--query-gpu=driver_version", "--format=csv,noheader")
    assert query.out == "6.12.12\n"


def test_voltages_are_as_fine_as_the_source_tells_them(sysroot: Sysroot) -> None:
    sensors = "sys/class/drm/card0/device/hwmon/hwmon1"
    root = sysroot(CARD | {f"{sensors}/name": "amdgpu\n", f"{sensors}/in0_input": "775\n"})
    (device,) = gpulse("--sysroot", root, "--json").json["devices"]
    assert device["metrics"]["voltage_graphics_volts"] == 0.775
    log = LOGS / "netdata__rtx-3060.xml"
    if not log.exists():
        pytest.skip("no shared fixtures")
    # <graphics_volt>631.250 mV</graphics_volt>
    (device,) = gpulse("--replay", log, "--json").json["devices"]
    assert device["metrics"]["voltage_graphics_volts"] == 0.63125
    assert gpulse("--replay", log, "--csv", "--fields", "voltage_graphics_volts").lines[-1] == "0.63125"
