"""Recorded machines with AMD devices: what a reader finds in their files is what the program says.

The numbers were read off the files by hand; the comment beside each block says which. Paths are below
sys/class/drm/cardN/device, HW is its hwmon/hwmonM."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from harness import ROOT, gpulse

FIXTURES = ROOT.parent / "shared" / "fixtures" / "drm"


def machine(tree: str, folder: Path) -> Path:
    """The recorded tree with the name tables beside it."""
    if not FIXTURES.is_dir():
        pytest.skip("no shared fixtures")
    root = folder / "machine"
    # Read-only as they are, the files would outlive the test.
    shutil.copytree(FIXTURES / tree, root, copy_function=shutil.copyfile)
    for path in (root, *root.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    for name, place in (("amdgpu.ids", "libdrm"), ("pci.ids", "hwdata")):
        (root / "usr" / "share" / place).mkdir(parents=True)
        shutil.copyfile(FIXTURES / "_ids" / name, root / "usr" / "share" / place / name)
    return root


def devices(root: Path) -> list[dict[str, Any]]:
    """Each with its metrics and texts laid out flat."""
    result = gpulse("--sysroot", root, "--json")
    assert result.code == 0, result.err
    return [one | one["metrics"] | one["info"] for one in result.json["devices"]]


def check(device: dict[str, Any], expected: dict[str, Any]) -> None:
    for key, value in expected.items():
        if isinstance(value, float):
            value = pytest.approx(value, abs=0.0005)
        assert device[key] == value, key


TREES: dict[str, dict[str, Any]] = {
    "amd-hd7870": {
        "name": "AMD Radeon HD 7870 GHz Edition",  # uevent PCI_ID 1002:6818 in pci.ids; no revision
        "driver": "radeon",
        "pci": "0000:01:00.0",  # uevent
        "uuid": "PCI-0000:01:00.0",
        "temperature_gpu_celsius": 27,  # HW/temp1_input 27000, without a label
        "temperature_slowdown_celsius": 120,  # HW/temp1_crit
        "clock_graphics_mhz": 300,  # HW/freq1_input 300000000
        "fan_speed_percent": 20,  # HW/pwm1 51 of 255
        "pcie_link_generation": 3,  # current_link_speed 8.0 GT/s
        "pcie_link_width": 1,  # current_link_width
        # radeon shows none of these, and has no fdinfo to tell of engines.
        "gpu_utilization_percent": None,
        "memory_total_bytes": None,
        "power_draw_watts": None,
        "render_utilization_percent": None,
        "fan_speed_rpm": None,
    },
    "amd-r7-240": {
        "name": "AMD Radeon R7 200 Series",  # device 0x6617 revision 0x87 in amdgpu.ids
        "driver": "amdgpu",
        "vbios_version": "13-C86901_216",
        "memory_vendor": None,  # mem_info_vram_vendor "unknown"
        "cpu_affinity": "0-3",  # local_cpulist
        "numa_node": None,  # -1
        "memory_used_bytes": 495321088,  # mem_info_vram_used: a card of its own
        "memory_total_bytes": 2147483648,  # mem_info_vram_total
        "memory_free_bytes": 1652162560,  # the difference
        "memory_gtt_used_bytes": 116916224,
        "memory_gtt_total_bytes": 4069261312,
        "memory_visible_used_bytes": 79491072,  # mem_info_vis_vram_used
        "memory_visible_total_bytes": 268435456,
        "temperature_gpu_celsius": 52,  # HW/temp1_input
        "temperature_slowdown_celsius": 120,
        "clock_graphics_mhz": 400,  # HW/freq1_input
        "clock_memory_mhz": 1150,  # HW/freq2_input
        "clock_max_graphics_mhz": None,  # pp_dpm_sclk is blank
        "fan_speed_percent": 40.392,  # HW/pwm1 103 of 255
        "pcie_link_generation": 2,  # 5.0 GT/s
        "pcie_link_width": 4,
        "pcie_link_generation_max": 3,  # max_link_speed 8.0 GT/s
        "pcie_link_width_max": 8,
        "pcie_replay_total": 0,
        "performance_level": "auto",
        "power_draw_watts": None,  # no power file
        "power_limit_watts": None,
        "temperature_hotspot_celsius": None,
        "throttle_reasons": None,  # no gpu_metrics
        "gpu_utilization_percent": None,  # no gpu_busy_percent, and no /proc to look for programs in
    },
    "amd-rx580": {
        "name": "AMD Radeon RX 580 Series",  # 0x67df revision 0xe7
        "gpu_utilization_percent": 11,  # gpu_busy_percent
        "memory_utilization_percent": 2,  # mem_busy_percent
        "memory_used_bytes": 536870912,
        "memory_total_bytes": 4294967296,
        "memory_gtt_used_bytes": 92377088,
        "temperature_gpu_celsius": 44,
        "temperature_slowdown_celsius": 94,
        "power_draw_watts": 41.045,  # HW/power1_average 41045000
        "power_limit_watts": 155,  # HW/power1_cap
        "power_limit_default_watts": 155,
        "power_limit_min_watts": 0,
        "power_limit_max_watts": 201,
        "clock_graphics_mhz": 798.08,  # HW/freq1_input 798080000, though pp_dpm_sclk marks 900
        "clock_memory_mhz": 1750,
        "clock_max_graphics_mhz": 1366,  # the highest of pp_dpm_sclk
        "clock_max_memory_mhz": 1750,
        "voltage_graphics_volts": 0.975,  # HW/in0_input
        "fan_speed_rpm": 595,
        "fan_speed_percent": 13.725,  # HW/pwm1 35 of 255
        "pcie_link_generation": 3,
        "pcie_link_width": 16,
        "pcie_replay_total": 3,
        "pcie_rx_bytes_per_second": 3042816,  # pcie_bw 11886 messages of 256 bytes
        "pcie_tx_bytes_per_second": 647168,  # 2528 of 256
        "vbios_version": "113-1E3871U-O4C",
    },
    "amd-vega56": {
        "name": "AMD Radeon RX Vega",  # 0x687f revision 0xc3
        "memory_vendor": "hynix",
        "gpu_utilization_percent": 0,
        "memory_utilization_percent": None,  # no mem_busy_percent on this chip
        "memory_used_bytes": 16613376,
        "memory_total_bytes": 8573157376,
        "temperature_gpu_celsius": 38,
        "temperature_hotspot_celsius": 38,
        "temperature_memory_celsius": 39,
        "temperature_slowdown_celsius": 85,  # temp1_crit
        "temperature_shutdown_celsius": 90,  # temp1_emergency
        "temperature_hotspot_max_celsius": 105,  # temp2_crit
        "temperature_memory_max_celsius": 95,  # temp3_crit
        "power_draw_watts": 8,
        "power_limit_watts": 260,
        "power_limit_max_watts": 390,
        "clock_graphics_mhz": 26,
        "clock_memory_mhz": 167,
        "clock_soc_mhz": 600,  # pp_dpm_socclk "0: 600Mhz *"
        "clock_max_graphics_mhz": 1590,
        "clock_max_memory_mhz": 920,
        "voltage_graphics_volts": 0.762,
        "fan_speed_rpm": 5,
        "fan_speed_percent": 0.143,  # pwm1 says 0 while it turns: 5 of fan1_max 3500
        "pcie_link_generation": 3,
        "pcie_rx_bytes_per_second": 21760,  # pcie_bw 85 of 256
        "pcie_tx_bytes_per_second": 0,
        "throttle_reasons": None,
    },
    "amd-rx5500xt": {
        "name": "AMD Radeon RX 5500/5500M / Pro 5500M",  # 1002:7340, no revision: all that the id may be
        "gpu_utilization_percent": 0,
        "temperature_gpu_celsius": 48,
        "temperature_hotspot_celsius": 48,
        "temperature_memory_celsius": None,  # HW/temp3_input 0: a memory without sensor
        "temperature_slowdown_celsius": 110,
        "temperature_shutdown_celsius": 115,
        "temperature_hotspot_max_celsius": 105,
        "power_draw_watts": 16,
        "power_limit_watts": 130,
        "power_limit_min_watts": 65,
        "power_limit_max_watts": 156,
        "clock_graphics_mhz": 31,  # HW/freq1_input, where pp_dpm_sclk marks "0Mhz *"
        "clock_memory_mhz": 875,
        "clock_soc_mhz": 1085,
        "clock_max_graphics_mhz": 1900,
        "clock_max_memory_mhz": 875,
        "voltage_graphics_volts": 0.7,
        "fan_speed_rpm": 0,
        "fan_speed_percent": 0,
        "pcie_link_generation": 4,
        "pcie_link_width": 16,
        "memory_total_bytes": None,  # not recorded
    },
    "amd-rx6600": {
        "name": "AMD Radeon RX 6600/6600 XT/6600M",
        "pci": "0000:12:00.0",
        "gpu_utilization_percent": 0,
        "temperature_gpu_celsius": 28,
        "temperature_hotspot_celsius": 28,
        "temperature_memory_celsius": 26,
        "temperature_hotspot_max_celsius": 110,
        "power_draw_watts": 3,
        "power_limit_watts": 120,  # HW/power1_cap: raised
        "power_limit_default_watts": 100,
        "power_limit_min_watts": 94,
        "clock_graphics_mhz": 20,  # HW/freq1_input, where pp_dpm_sclk marks 2605
        "clock_memory_mhz": 96,
        "clock_soc_mhz": 640,
        "clock_max_graphics_mhz": 2700,
        "clock_max_memory_mhz": 925,
        "voltage_graphics_volts": 1,
        "fan_speed_rpm": 1395,
        "fan_speed_percent": 45,  # pwm1 0 while it turns: 1395 of 3100
        "pcie_link_generation": 4,
        "vbios_version": "113-D534-R66E",
    },
    "amd-rx6900xt": {
        "name": "AMD Radeon RX 6900 XT",  # 73BF revision 0xc0; every file is padded with NUL
        "uuid": "GPU-946d7e1ef9b172dd",  # unique_id
        "gpu_utilization_percent": 3,
        "memory_utilization_percent": 0,
        "memory_used_bytes": 668274688,
        "memory_total_bytes": 17163091968,
        "memory_gtt_used_bytes": 62369792,
        "memory_vendor": "samsung",
        "temperature_gpu_celsius": 56,
        "temperature_hotspot_celsius": 59,
        "temperature_memory_celsius": 54,
        "temperature_vr_graphics_celsius": 49,  # gpu_metrics v1_3: 31 00 at 10
        "temperature_vr_soc_celsius": 49,  # 31 00 at 12
        "temperature_vr_memory_celsius": 51,  # 33 00 at 14
        "power_draw_watts": 36,
        "power_limit_watts": 289,
        "power_limit_max_watts": 332,
        "energy_joules": None,  # 22 f4 0d 01 at 24: in a unit that nobody wrote down
        "clock_graphics_mhz": 500,
        "clock_memory_mhz": 1000,
        "clock_soc_mhz": 800,
        "clock_fabric_mhz": 1302,  # pp_dpm_fclk "1: 1302Mhz *"
        "clock_video_mhz": 0,  # pp_dpm_vclk "0: 0Mhz *"
        "clock_max_video_mhz": None,
        "clock_max_graphics_mhz": 2660,
        "voltage_graphics_volts": 0.775,  # HW/in0_input
        "voltage_soc_volts": 0.818,  # 32 03 at 104
        "voltage_memory_volts": 1.356,  # 4c 05 at 108
        "fan_speed_rpm": 0,
        "throttle_reasons": [],  # eight zeros at 112
        "pcie_link_generation": 4,
        "pcie_link_generation_max": 4,
        "pcie_replay_total": 0,
        "pcie_rx_bytes_per_second": None,  # pcie_bw is empty
        "pcie_errors_corrected_total": 0,  # aer_dev_correctable TOTAL_ERR_COR
    },
    "amd-rx7700s": {
        # F111:0007 is in no table, and neither is the revision.
        "name": "AMD Radeon RX 7600/7600 XT/7600M XT/7600S/7700S / PRO W7600",
        "gpu_utilization_percent": 0,
        "temperature_gpu_celsius": 34,
        "temperature_memory_celsius": 42,
        "power_draw_watts": 1,
        "power_limit_watts": 100,
        "power_limit_max_watts": 120,
        "clock_graphics_mhz": 0,  # HW/freq1_input: at rest
        "clock_memory_mhz": 96,
        "clock_soc_mhz": 492,
        "clock_max_graphics_mhz": 2208,
        "voltage_graphics_volts": 0.018,  # HW/in0_input 18: switched off
        "fan_speed_rpm": 0,
        "fan_speed_percent": 29.804,  # HW/pwm1 76 of 255
        "pcie_link_generation": 4,
        "pcie_link_width": 8,
        "performance_level": "auto",
    },
    "amd-rx7800xt": {
        "name": "AMD Radeon RX 7800 XT",  # 747E is two products; 148C:2427 tells which
        "gpu_utilization_percent": 2,  # gpu_busy_percent; gpu_metrics says 24
        "temperature_gpu_celsius": 24,
        "temperature_hotspot_celsius": 31,
        "temperature_memory_celsius": 48,
        "temperature_vr_graphics_celsius": 34,  # 22 00 at 10
        "temperature_vr_soc_celsius": 32,  # 20 00 at 12
        "power_draw_watts": 32,
        "power_limit_watts": 236,
        "power_limit_min_watts": 212,
        "energy_joules": None,  # zeros at 24
        "clock_graphics_mhz": 2011,  # HW/freq1_input; gpu_metrics has the same: db 07 at 54
        "clock_memory_mhz": 456,
        "clock_soc_mhz": 750,
        "clock_max_graphics_mhz": 2254,
        "clock_max_memory_mhz": 1218,
        "voltage_graphics_volts": 0.985,
        "voltage_soc_volts": 0.768,  # 00 03 at 104
        "voltage_memory_volts": 0.704,  # c0 02 at 108
        "fan_speed_rpm": 868,
        "fan_speed_percent": 34.902,  # 89 of 255
        "throttle_reasons": [],
        "memory_vendor": "samsung",
        "performance_level": "manual",
        "pcie_link_generation": 4,
    },
    "amd-rx7900xtx": {
        "name": "AMD Radeon RX 7900 XTX",  # 744C is four products; 1DA2:E471 tells which
        "gpu_utilization_percent": 3,
        "temperature_gpu_celsius": 53,  # HW has no file `name`
        "temperature_hotspot_celsius": 61,
        "temperature_memory_celsius": 68,
        "power_draw_watts": 68,
        "power_limit_watts": 290,
        "clock_graphics_mhz": 31,
        "clock_memory_mhz": 1249,
        "clock_soc_mhz": 1500,
        "clock_max_graphics_mhz": 2219,
        "voltage_graphics_volts": 0.686,
        "fan_speed_rpm": 0,
        "pcie_link_generation": 4,
        "pcie_link_width": 16,
    },
    "amd-rx9070": {
        "name": "AMD Radeon RX 9070/9070 XT/9070 GRE",
        "gpu_utilization_percent": 25,
        "temperature_gpu_celsius": 48,
        "temperature_hotspot_celsius": 52,
        "temperature_memory_celsius": 72,
        "temperature_vr_graphics_celsius": 46,  # 2e 00 at 10
        "temperature_vr_soc_celsius": 49,
        "temperature_vr_memory_celsius": 54,
        "power_draw_watts": 49,
        "power_limit_watts": 200,
        "power_limit_default_watts": 220,
        "clock_graphics_mhz": 900,  # pp_dpm_sclk marks 789 and has a level "S"
        "clock_memory_mhz": 1124,
        "clock_soc_mhz": 1200,
        "clock_max_graphics_mhz": 2070,
        "clock_max_memory_mhz": 1258,
        "voltage_soc_volts": 0.842,  # 4a 03 at 104
        "voltage_memory_volts": 1.345,  # 41 05 at 108
        "fan_speed_rpm": 1944,
        "fan_speed_percent": 45.882,  # 117 of 255
        "memory_vendor": "hynix",
        "throttle_reasons": [],
        "pcie_link_generation": 5,  # 32.0 GT/s; gpu_metrics says 16
    },
    "amd-phoenix": {
        "name": "AMD Radeon 780M Graphics",  # 0x15bf revision 0xdd
        "uuid": "PCI-0000:64:00.0",  # unique_id is empty
        "architecture": "gfx1103",  # kfd nodes/1 gfx_target_version 110003
        "multiprocessor_count": 12,  # simd_count 24, simd_per_cu 2
        "gpu_utilization_percent": 0,  # gpu_metrics says 79, in hundredths
        "video_utilization_percent": 0,  # vcn_busy_percent
        "memory_used_bytes": 1484292096,  # vram 1272893440 + gtt 211398656
        "memory_total_bytes": 35728945152,  # 4294967296 + 31433977856
        "memory_vram_used_bytes": 1272893440,
        "memory_gtt_total_bytes": 31433977856,
        "temperature_gpu_celsius": 25,
        "temperature_soc_celsius": 27.37,  # gpu_metrics v2_1: b1 0a at 6
        "power_draw_watts": 3.103,  # HW/power1_average
        "power_instant_watts": 3.142,  # HW/power1_input
        "package_power_watts": 3.401,  # 49 0d at 40
        "power_limit_watts": None,
        "clock_graphics_mhz": 800,
        "clock_memory_mhz": 400,  # pp_dpm_mclk "0: 400Mhz *": no freq2_input
        "clock_fabric_mhz": 400,
        "clock_video_mhz": 800,  # pp_dpm_vclk marks two levels of 800
        "clock_max_graphics_mhz": 2700,
        "clock_max_video_mhz": 2400,
        "voltage_graphics_volts": 0.814,
        "voltage_soc_volts": 0.615,  # HW/in1_input vddnb
        "fan_speed_percent": None,
        "throttle_reasons": None,  # v2_1 has no bits that mean the same on all chips
        "pcie_link_generation": 4,
    },
    "amd-vangogh": {
        "name": "AMD Custom GPU 0405",  # 163F in pci.ids
        "architecture": "gfx1033",  # 100303
        "multiprocessor_count": 8,  # 16 / 2
        "gpu_utilization_percent": 0,
        "temperature_gpu_celsius": 56,
        "power_draw_watts": 3.218,  # power1_average, label slowPPT
        "power_instant_watts": 4.057,
        "power_limit_watts": 15,
        "power_limit_fast_watts": 15,  # power2_cap, label fastPPT
        "power_limit_max_watts": 29,
        "clock_graphics_mhz": 200,
        "clock_memory_mhz": 687,  # pp_dpm_mclk marks two levels of 687
        "clock_soc_mhz": 400,
        "clock_max_graphics_mhz": 1600,
        "voltage_graphics_volts": 0.015,
        "voltage_soc_volts": 0.669,
        "memory_used_bytes": None,  # not recorded
        "pcie_link_generation": 3,
    },
}


def test_every_amd_tree_has_its_expectations() -> None:
    if not FIXTURES.is_dir():
        pytest.skip("no shared fixtures")
    assert {path.name for path in FIXTURES.glob("amd-*")} == set(TREES)


@pytest.mark.parametrize("tree", TREES)
def test_tree(tree: str, tmp_path: Path) -> None:
    (device,) = devices(machine(tree, tmp_path))
    check(device, {"vendor": "amd", "state": "ok"} | TREES[tree])


def test_two_gpus_that_only_the_compute_driver_shows(tmp_path: Path) -> None:
    first, second = devices(machine("kfd-2gpu-topology", tmp_path))
    common = {
        "name": "AMD Instinct MI25/MI25x2/V340/V320",  # nodes/*/properties device_id 26720 = 0x6860
        "multiprocessor_count": 64,  # simd_count 256, simd_per_cu 4
        "memory_total_bytes": 17163091968,  # mem_banks/0/properties size_in_bytes, heap_type 1
        "memory_used_bytes": 14102528,  # mem_banks/0/used_memory
        "gpu_utilization_percent": None,
        "temperature_gpu_celsius": None,
        "topology": "0 X, 1 ?",  # io_links lead to node 0 only, which is a CPU
    }
    check(first, common | {"uuid": "GPU-c34ec50444dd0a6c", "pci": "0000:19:00.0"})  # location_id 6400
    check(second, common | {"uuid": "GPU-c34ec50444dd0a6d", "topology": "0 ?, 1 X"})  # unique_id …557


def test_eight_mi210_in_two_hives(tmp_path: Path) -> None:
    found = devices(machine("kfd-mi210-xgmi-pcie", tmp_path))
    assert len(found) == 8
    # location_id of nodes 2 to 9: 25344 = 0x6300, 17152, 768, 9728, 58112, 49920, 33536, 41728.
    assert [one["pci"] for one in found] == [
        f"0000:{bus:02x}:00.0" for bus in (0x63, 0x43, 0x03, 0x26, 0xE3, 0xC3, 0x83, 0xA3)
    ]
    for one in found:
        # device_id 29711 = 0x740f; gfx_target_version 90010; simd_count 416 of 4
        check(one, {"name": "AMD Instinct MI210", "architecture": "gfx90a", "multiprocessor_count": 104})
    # io_links of type 11 within a hive, p2p_links of type 2 between them.
    check(found[0], {"topology": "0 X, 1 XGMI, 2 XGMI, 3 XGMI, 4 PCIE, 5 PCIE, 6 PCIE, 7 PCIE"})
    check(found[7], {"topology": "0 PCIE, 1 PCIE, 2 PCIE, 3 PCIE, 4 XGMI, 5 XGMI, 6 XGMI, 7 X"})


def test_mi300x_split_into_partitions(tmp_path: Path) -> None:
    found = devices(machine("kfd-mi300x-cpx", tmp_path))
    whole = [one for one in found if one["parent"] is None]
    parts = [one for one in found if one["parent"] is not None]
    # Nodes 2 to 64; the last chip's eighth part is not among the recorded ones.
    assert (len(whole), len(parts)) == (8, 63)
    # node 2: unique_id 16404946649897475633 = 0xe3aa140f9a5f9e31, location_id 1280 = 0x500
    first = {"name": "AMD Instinct MI300X", "uuid": "GPU-e3aa140f9a5f9e31", "pci": "0000:05:00.0"}
    check(whole[0], first | {"architecture": "gfx942", "compute_partition": "CPX", "multiprocessor_count": 304})
    check(whole[1], {"pci": "0000:27:00.0", "uuid": "GPU-2250f807caf2231a"})  # node 10, location_id 9984
    own = [one for one in parts if one["parent"] == whole[0]["uuid"]]
    assert [(one["id"], one["index"], one["mig"]) for one in own] == [(f"0:{i}", 0, i) for i in range(8)]
    assert [one["label"] for one in own] == [f"CPX {i}" for i in range(8)]
    # simd_count 152, simd_per_cu 4
    check(own[3], {"multiprocessor_count": 38, "architecture": "gfx942", "uuid": "GPU-e3aa140f9a5f9e31/CPX 3"})


def test_cards_of_several_trees_in_one_machine(tmp_path: Path) -> None:
    root = machine("amd-rx580", tmp_path)  # card0 at 0000:09:00.0
    shutil.copytree(
        FIXTURES / "amd-rx6600/sys/class/drm/card1", root / "sys/class/drm/card1", copy_function=shutil.copyfile
    )
    found = devices(root)
    assert [(one["index"], one["pci"], one["gpu_utilization_percent"]) for one in found] == [
        (0, "0000:09:00.0", 11),
        (1, "0000:12:00.0", 0),
    ]
    screen = gpulse("--sysroot", root)
    assert screen.code == 0
    assert "Radeon RX 580 Series" in screen.out
    assert "41/155W" in screen.out


# Products as AMD's own pages call them, for what the tree tells of its ids.
UNTABLED = {
    "amd-rx7900xtx": "AMD Radeon RX 7900 XT/7900 XTX/7900 GRE/7900M",  # 744C without a revision
    "amd-rx6900xt": "AMD Radeon RX 6900 XT",  # 73BF revision C0
    "amd-rx580": "AMD Radeon RX 580 Series",  # 67DF revision E7
    "amd-vangogh": "AMD Custom GPU 0405",
    "intel-b580-6.16": "Intel Arc B580",
}


@pytest.mark.parametrize("tree", UNTABLED)
def test_names_without_tables(tree: str, tmp_path: Path) -> None:
    root = machine(tree, tmp_path)
    for table in ("libdrm/amdgpu.ids", "hwdata/pci.ids", "misc/pci.ids"):
        path = root / "usr/share" / table
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    (device,) = devices(root)
    assert device["name"] == UNTABLED[tree]
