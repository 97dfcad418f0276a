"""Recorded machines with Intel GPUs: the numbers are those that stand in the files of each tree."""

from __future__ import annotations

import shutil
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from harness import ROOT, gpulse

FIXTURES = ROOT.parent / "shared" / "fixtures" / "drm"

pytestmark = pytest.mark.skipif(not FIXTURES.exists(), reason="no shared fixtures")

ENGINES = [
    f"{name}_utilization_percent"
    for name in ("render", "compute", "copy", "video", "video_enhance", "encoder", "decoder", "jpeg")
]
LINK = [
    "pcie_link_generation",
    "pcie_link_width",
    "pcie_link_generation_max",
    "pcie_link_width_max",
    "pcie_link_generation_device_max",
]
MEMORY = ["memory_total_bytes", "memory_used_bytes", "memory_free_bytes", "memory_vram_total_bytes"]

# Of each tree: who it is, what its files say, and what it cannot say. The endpoint of an Arc always claims 2.5 GT/s x1,
# and the trees do not hold the bridges that would tell the truth; none of them holds processes or the size of VRAM.
TREES: dict[str, dict[str, Any]] = {
    "intel-a380-i915": {
        "identity": ("Intel Arc A380", "0000:0b:00.0", "i915"),
        "metrics": {
            "clock_graphics_mhz": 600,  # gt/gt0/rps_act_freq_mhz
            "clock_requested_mhz": 600,  # rps_cur_freq_mhz
            "clock_max_graphics_mhz": 2450,  # rps_RP0_freq_mhz
            "clock_max_video_mhz": 1400,  # media_RP0_freq_mhz
            "throttle_reasons": [],
            "temperature_gpu_celsius": 55,  # hwmon1/temp1_input 55000
            "energy_joules": 25637.162,  # energy1_input 25637161804
            "power_limit_watts": 55,  # power1_max 55000000
            "fan_speed_rpm": 0,  # fan1_input
            "fan_count": 1,
            "voltage_graphics_volts": 0.603,  # in0_input
        },
        "unavailable": ["power_limit_default_watts", "clock_video_mhz", "media_awake_percent", "numa_node"],
    },
    "intel-a380-xe": {
        "identity": ("Intel Arc A380", "0000:08:00.0", "xe"),
        "metrics": {
            "clock_graphics_mhz": 0,  # tile0/gt0/freq0/act_freq
            "clock_requested_mhz": 300,  # cur_freq
            "clock_max_graphics_mhz": 2450,  # rp0_freq; rpa_freq says 627200, which no GPU has
            "throttle_reasons": [],
            "temperature_gpu_celsius": 56,  # temp2_input, label pkg
            "temperature_memory_celsius": 54,  # temp3_input, label vram
            "energy_joules": 59540.971,  # energy2_input 59540970520
            "power_limit_watts": 55,  # power2_max
            "fan_speed_rpm": 945,  # fan1_input; fan2_input 0
            "fan_count": 2,
            "voltage_graphics_volts": 0.605,  # in1_input, label pkg
        },
        "unavailable": ["power_limit_default_watts", "power_limit_fast_watts", "clock_video_mhz", "numa_node"],
    },
    "intel-a380-xe-2025-01": {
        "identity": ("Intel Arc A380", "0000:0b:00.0", "xe"),
        "metrics": {
            "clock_graphics_mhz": 600,
            "clock_requested_mhz": 600,
            "clock_max_graphics_mhz": 2450,
            "throttle_reasons": [],
            "energy_joules": 2850.178,  # energy2_input 2850177917
            "power_limit_watts": 55,  # power2_max; power2_rated_max 0 means none
            "voltage_graphics_volts": 0.638,
        },
        "unavailable": [
            "temperature_gpu_celsius",
            "temperature_memory_celsius",
            "fan_speed_rpm",
            "fan_count",
            "power_limit_default_watts",
        ],
    },
    "intel-b580-6.16": {
        "identity": ("Intel Arc B580", "0000:0b:00.0", "xe"),
        "metrics": {
            "clock_graphics_mhz": 400,  # gt0
            "clock_video_mhz": 0,  # gt1, "gt1-mc"
            "clock_requested_mhz": 400,
            "clock_max_graphics_mhz": 2850,
            "clock_max_video_mhz": 1500,
            "throttle_reasons": [],
            "temperature_gpu_celsius": 46,
            "temperature_memory_celsius": 48,
            "energy_joules": 29523.753,  # energy2_input 29523753173; energy1_input stays 0 on this kernel
            "power_limit_fast_watts": 380,  # power1_crit
            "fan_speed_rpm": 418,  # fan2_input
            "fan_count": 3,
        },
        "unavailable": ["power_limit_watts", "voltage_graphics_volts", "numa_node"],
    },
    "intel-tigerlake": {
        "identity": ("Intel Iris Xe Graphics", "0000:00:02.0", "xe"),
        "metrics": {
            "clock_graphics_mhz": 0,
            "clock_requested_mhz": 1100,
            "clock_max_graphics_mhz": 1300,
            "throttle_reasons": [],
        },
        "unavailable": [
            "power_draw_watts",
            "package_power_watts",
            "energy_joules",
            "power_limit_watts",
            "temperature_gpu_celsius",
            "fan_speed_rpm",
            "voltage_graphics_volts",
        ],
    },
}


def machine(tmp_path: Path, *trees: str) -> Path:
    """The trees as one machine that also has the table of names, without a copy of their files."""
    root = tmp_path / "machine"
    for folder in ("misc", "hwdata"):
        (root / "usr/share" / folder).mkdir(parents=True)
        (root / "usr/share" / folder / "pci.ids").symlink_to(FIXTURES / "_ids" / "pci.ids")
    cards = root / "sys/class/drm"
    cards.mkdir(parents=True)
    for tree in trees:
        for card in (FIXTURES / tree / "sys/class/drm").iterdir():
            (cards / card.name).symlink_to(card)
    return root


def test_every_intel_tree_is_in_the_table() -> None:
    assert sorted(TREES) == sorted(path.name for path in FIXTURES.glob("intel-*"))


@pytest.mark.parametrize("tree", TREES)
def test_tree_says_what_stands_in_its_files(tmp_path: Path, tree: str) -> None:
    expected = TREES[tree]
    result = gpulse("--sysroot", machine(tmp_path, tree), "--json")
    assert result.code == 0, result.err
    (device,) = result.json["devices"]
    name, pci, driver = expected["identity"]
    assert (device["vendor"], device["name"], device["pci"], device["driver"]) == ("intel", name, pci, driver)
    assert device["uuid"] == f"PCI-{pci}"
    assert device["state"] == "ok"
    found = {key: device["metrics"][key] for key in expected["metrics"]}
    assert found == expected["metrics"]
    for key in expected["unavailable"] + LINK + MEMORY + ENGINES:
        assert device["metrics"][key] is None, key
        assert device["unavailable"][key] == "not supported", key
    assert result.json["processes"] == []


@pytest.mark.parametrize("tree", [tree for tree in TREES if tree != "intel-tigerlake"])
def test_counter_that_stands_still_is_no_power_of_zero(tmp_path: Path, tree: str) -> None:
    (device,) = gpulse("--sysroot", machine(tmp_path, tree), "--json").json["devices"]
    for key in ("power_draw_watts", "package_power_watts"):
        assert device["unavailable"][key] == "not sampled yet"


def test_two_cards_of_two_drivers_at_once(tmp_path: Path) -> None:
    document = gpulse("--sysroot", machine(tmp_path, "intel-a380-i915", "intel-a380-xe"), "--json").json
    # In the order of their addresses on the bus.
    assert [(device["index"], device["pci"], device["driver"]) for device in document["devices"]] == [
        (0, "0000:08:00.0", "xe"),
        (1, "0000:0b:00.0", "i915"),
    ]
    assert [device["metrics"]["fan_speed_rpm"] for device in document["devices"]] == [945, 0]
    assert [device["metrics"]["temperature_gpu_celsius"] for device in document["devices"]] == [56, 55]


def test_nvidia_cards_are_left_to_their_own_source(tmp_path: Path) -> None:
    root = machine(tmp_path, "nvidia-rtx4080")
    for source in ("intel", "auto"):
        result = gpulse("--sysroot", root, "--json", "--source", source)
        assert result.code == 3
        assert result.json["devices"] == []


def test_power_and_use_between_two_samples(tmp_path: Path) -> None:
    root = tmp_path / "moving"
    shutil.copytree(FIXTURES / "intel-b580-6.16", root)
    for path in root.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    device = root / "sys/class/drm/card1/device"

    def move() -> None:
        time.sleep(0.5)
        # In one second: 60 J, a quarter of it idle; the part for video all of it.
        (device / "hwmon/hwmon4/energy2_input").write_text(f"{29523753173 + 60_000_000}\n")
        (device / "tile0/gt0/gtidle/idle_residency_ms").write_text(f"{848095 + 250}\n")
        (device / "tile0/gt1/gtidle/idle_residency_ms").write_text(f"{1277960 + 1000}\n")

    mover = threading.Thread(target=move)
    mover.start()
    (found,) = gpulse("--sysroot", root, "--json", "--sample", "1s").json["devices"]
    mover.join()
    # How exactly a second passes between two samples is the machine's affair.
    assert found["metrics"]["power_draw_watts"] == pytest.approx(60, rel=0.05)
    assert found["metrics"]["awake_percent"] == pytest.approx(75, abs=2)
    assert found["metrics"]["gpu_utilization_percent"] == pytest.approx(75, abs=2)
    assert found["metrics"]["media_awake_percent"] == pytest.approx(0, abs=5)


def test_sleeping_card_is_listed_and_left_alone(tmp_path: Path) -> None:
    root = tmp_path / "asleep"
    shutil.copytree(FIXTURES / "intel-a380-xe", root)
    for path in root.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    (root / "sys/class/drm/card0/device/power/runtime_status").write_text("suspended\n")
    (found,) = gpulse("--sysroot", root, "--json").json["devices"]
    assert found["state"] == "asleep"
    assert found["unavailable"]["temperature_gpu_celsius"] == "asleep"
    (found,) = gpulse("--sysroot", root, "--json", "--wake").json["devices"]
    assert found["metrics"]["temperature_gpu_celsius"] == 56
