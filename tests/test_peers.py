"""Other people's monitors on the simulator, next to ours: all show the scenario's numbers."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator

import pytest

from harness import MIB, Result, environment, gpulse, run

TOOLS = Path(sys.executable).parent

# Two GPUs that do not look alike, and a process that is really there: gpustat leaves out what it finds no /proc entry for.
SCENARIO = """
[[device]]
profile = "h100"
gpu_util = 37
memory_used_mib = 12345
temperature = 41
power_w = 298
power_average_w = 298

[[device]]
profile = "rtx4090"
gpu_util = 99
memory_used_mib = 20480
temperature = 77
power_w = 431
power_average_w = 431
fan_speed = 63

[[process]]
device = 0
pid = {pid}
command = "sleep"
memory_mib = 11264
sm = 36

[[process]]
device = 1
pid = {pid}
command = "sleep"
type = "graphics"
memory_mib = 512
"""

EXPECTED = [
    # name, use %, memory used and total in MiB, °C, W
    ("NVIDIA H100 80GB HBM3", 37, 12345, 81559, 41, 298),
    ("NVIDIA GeForce RTX 4090", 99, 20480, 24564, 77, 431),
]


@pytest.fixture(scope="module")
def job() -> Iterator[int]:
    process = subprocess.Popen(["sleep", "600"])
    yield process.pid
    process.kill()
    process.wait()


@pytest.fixture(scope="module")
def machine(job: int, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("peers") / "two.toml"
    path.write_text(SCENARIO.format(pid=job))
    return path


def tool(machine: Path, name: str, *arguments: str) -> Result:
    result = run([TOOLS / name, *arguments], environment(machine, COLUMNS="140", LINES="60"))
    assert result.code == 0, result.err
    return result


def test_ours(machine: Path, job: int) -> None:
    document = gpulse("--json", scenario=machine).json
    shown = []
    for device in document["devices"]:
        metrics: dict[str, Any] = device["metrics"]
        shown.append(
            (
                device["name"],
                metrics["gpu_utilization_percent"],
                metrics["memory_used_bytes"] / MIB,
                metrics["memory_total_bytes"] / MIB,
                metrics["temperature_gpu_celsius"],
                metrics["power_draw_watts"],
            )
        )
    assert shown == EXPECTED
    processes = [
        (p["device"], p["pid"], p["type"], p["gpu_memory_bytes"] / MIB, p["name"]) for p in document["processes"]
    ]
    assert processes == [(0, job, "compute", 11264, "sleep"), (1, job, "graphics", 512, "sleep")]


def test_gpustat(machine: Path, job: int) -> None:
    document = json.loads(tool(machine, "gpustat", "--json").out)
    shown = [
        (
            gpu["name"],
            gpu["utilization.gpu"],
            gpu["memory.used"],
            gpu["memory.total"],
            gpu["temperature.gpu"],
            gpu["power.draw"],
        )
        for gpu in document["gpus"]
    ]
    assert shown == EXPECTED
    assert [gpu["fan.speed"] for gpu in document["gpus"]] == [None, 63]
    processes = [[(p["pid"], p["gpu_memory_usage"], p["command"]) for p in gpu["processes"]] for gpu in document["gpus"]]
    assert processes == [[(job, 11264, "sleep")], [(job, 512, "sleep")]]
    # The identity that people put into scripts is the same in both.
    ours = gpulse("--json", scenario=machine).json["devices"]
    assert [gpu["uuid"] for gpu in document["gpus"]] == [device["uuid"] for device in ours]


def test_nvitop(machine: Path, job: int) -> None:
    text = tool(machine, "nvitop", "-1", "--ascii").out
    rows = re.findall(r"(\d+)C +P0 +(\d+)W / \d+W \| +([\d.]+)([MG])iB / ([\d.]+)GiB \| +(\d+)%", text)
    shown = []
    for celsius, watts, used, prefix, total, use in rows:
        used_gib = float(used) / (1024 if prefix == "M" else 1)
        shown.append((int(use), used_gib, float(total), int(celsius), int(watts)))
    assert shown == [
        (use, pytest.approx(used / 1024, abs=0.01), pytest.approx(total / 1024, abs=0.01), celsius, watts)
        for _, use, used, total, celsius, watts in EXPECTED
    ]
    processes = re.findall(rf"\| +(\d) +{job} ([CG]) +\S+ +([\d.]+[GM]iB)", text)
    assert processes == [("0", "C", "11264MiB"), ("1", "G", "512.0MiB")]
