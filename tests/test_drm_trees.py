"""Drivers without a source of their own, on machines built around what others recorded of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness import MIB, ROOT, gpulse

FIXTURES = ROOT.parent / "shared" / "fixtures" / "drm"
KIB = 1 << 10


@pytest.fixture(autouse=True)
def recorded() -> None:
    if not FIXTURES.exists():
        pytest.skip("no shared fixtures")


class Machine:
    """A folder with /proc and /sys as one GPU on a chip shows itself."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "proc").mkdir(parents=True)

    def write(self, path: str, text: str | bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def card(self, driver: str, compatible: str, render: bool = True, number: int = 0) -> str:
        device = f"sys/class/drm/card{number}/device"
        self.write(f"{device}/uevent", f"DRIVER={driver}\nOF_COMPATIBLE_0={compatible}\n")
        if render:
            self.write(f"{device}/drm/renderD{128 + number}/dev", f"226:{128 + number}\n")
        return device

    def process(self, pid: int, fds: dict[int, str | bytes], node: str = "/dev/dri/renderD128", start: int = 1) -> None:
        self.write(f"proc/{pid}/stat", f"{pid} (labwc) S 1 1 1 0 -1 0 0 0 0 0 5 5 0 0 20 0 1 0 {start} 0 100\n")
        for fd, text in fds.items():
            link = self.root / f"proc/{pid}/fd/{fd}"
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(node)
            self.write(f"proc/{pid}/fdinfo/{fd}", text)

    def look(self) -> dict[str, Any]:
        result = gpulse("--sysroot", self.root, "--json")
        assert result.code == 0, result.err
        return result.json


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "machine")


def reason(device: dict[str, Any], key: str) -> str:
    assert device["metrics"][key] is None
    return device["unavailable"][key]


def test_raspberry_pi_5(machine: Machine) -> None:
    recorded = FIXTURES / "fdinfo-v3d-pi5" / "proc"
    device = machine.card("v3d", "brcm,2712-v3d")
    machine.write(f"{device}/gpu_stats", (FIXTURES / "v3d-gpu_stats" / "gpu_stats").read_bytes())
    machine.process(1066, {fd: (recorded / "1066" / "fdinfo" / str(fd)).read_bytes() for fd in (17, 18)})
    machine.process(1163, {9: (recorded / "1163" / "fdinfo" / "9").read_bytes()}, start=2)
    seen = machine.look()
    (gpu,) = seen["devices"]
    assert (gpu["vendor"], gpu["name"], gpu["driver"]) == ("broadcom", "Broadcom 2712 V3D", "v3d")
    assert (gpu["state"], gpu["pci"]) == ("ok", None)
    assert gpu["metrics"]["process_count"] == 2
    # One moment was recorded: the queues' times cannot be compared with another.
    assert reason(gpu, "render_utilization_percent") == "not sampled yet"
    memory = {process["pid"]: process["gpu_memory_bytes"] for process in seen["processes"]}
    assert memory == {1066: 3520 * KIB, 1163: 0}


def test_panfrost(machine: Machine) -> None:
    device = machine.card("panfrost", "rockchip,rk3399-mali")
    machine.write(f"{device}/profiling", "1\n")
    machine.write(f"{device}/devfreq/ff9a0000.gpu/cur_freq", "799999987\n")
    machine.write(f"{device}/devfreq/ff9a0000.gpu/max_freq", "800000000\n")
    machine.process(700, {5: (FIXTURES / "fdinfo-panfrost" / "fdinfo.txt").read_bytes()})
    seen = machine.look()
    (gpu,) = seen["devices"]
    assert (gpu["vendor"], gpu["name"]) == ("arm", "Rockchip RK3399 Mali")
    assert gpu["metrics"]["clock_graphics_mhz"] == pytest.approx(799.999987)
    assert gpu["metrics"]["clock_max_graphics_mhz"] == 800
    # Nothing moved between the two samples.
    assert gpu["metrics"]["render_utilization_percent"] == 0
    assert gpu["metrics"]["gpu_utilization_percent"] == 0
    assert reason(gpu, "video_utilization_percent") == "not supported"
    (process,) = seen["processes"]
    assert (process["pid"], process["type"]) == (700, "graphics")
    assert process["gpu_memory_bytes"] == 36496 * KIB  # resident, not the 290 MiB asked for


def test_panfrost_that_does_not_count(machine: Machine) -> None:
    device = machine.card("panfrost", "rockchip,rk3399-mali")
    machine.write(f"{device}/profiling", "0\n")
    machine.process(700, {5: "drm-driver:\tpanfrost\ndrm-client-id:\t1\ndrm-engine-fragment:\t0 ns\n"})
    (gpu,) = machine.look()["devices"]
    assert reason(gpu, "gpu_utilization_percent") == "no permission"
    assert reason(gpu, "render_utilization_percent") == "no permission"


def test_a_compositor_and_the_children_that_inherit_its_file(machine: Machine) -> None:
    machine.card("v3d", "brcm,2711-v3d")
    text = "drm-driver:\tv3d\ndrm-client-id:\t4\ndrm-engine-render:\t5 ns\ndrm-resident-memory:\t8 MiB\n"
    machine.process(812, {9: text}, start=100)
    machine.process(500, {9: text, 10: text}, start=200)
    seen = machine.look()
    memory = {process["pid"]: process["gpu_memory_bytes"] for process in seen["processes"]}
    assert memory == {812: 8 * MIB, 500: 0}


def test_buffers_and_plain_files_make_no_process(machine: Machine) -> None:
    machine.card("v3d", "brcm,2712-v3d")
    recorded = FIXTURES / "fdinfo-not-drm-pi" / "proc" / "812" / "fdinfo"
    machine.process(812, {int(file.name): file.read_bytes() for file in recorded.iterdir()}, node="/dmabuf:")
    seen = machine.look()
    assert seen["processes"] == []
    assert seen["devices"][0]["metrics"]["process_count"] == 0


@pytest.mark.parametrize("driver", ["simple-framebuffer", "vkms", "ast", "virtio_gpu"])
def test_displays_are_no_gpus(machine: Machine, driver: str) -> None:
    machine.card(driver, "")
    assert gpulse("--sysroot", machine.root, "--json").code == 3


def test_a_card_without_a_render_node_only_shows(machine: Machine) -> None:
    machine.card("vc4-drm", "brcm,bcm2712-vc6", render=False)
    machine.card("v3d", "brcm,2712-v3d", number=1)
    (gpu,) = machine.look()["devices"]
    assert gpu["driver"] == "v3d"


def test_the_nvidia_driver_is_left_to_its_own_source() -> None:
    assert gpulse("--sysroot", FIXTURES / "nvidia-rtx4080", "--json", "--source", "drm").code == 3


def test_the_screen_shows_them(machine: Machine) -> None:
    machine.card("panthor", "rockchip,rk3588-mali")
    machine.process(700, {5: "drm-driver:\tpanthor\ndrm-client-id:\t1\ndrm-resident-memory:\t3 MiB\n"})
    screen = gpulse("--sysroot", machine.root)
    assert screen.code == 0
    assert "RK3588 Mali" in screen.out
    assert "3.0M" in screen.out
