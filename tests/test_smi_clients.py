"""Programs that call nvidia-smi, as they come, run on gpulse in every scenario of the simulator.

What they have to show is what the simulator answers to whoever asks it directly. `make clients` gets those that pip does not;
without them their tests are skipped.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness import BUILD, GPULSE, MIB, ROOT, SCENARIOS, environment, run

CLIENTS = Path(os.environ.get("GPULSE_CLIENTS", ROOT / "build" / "clients"))
BROKEN = "mismatch"  # the one scenario whose driver does not start
UNKNOWN = (1 << 64) - 1  # memory of a process
WORKING = [name for name in SCENARIOS if name != BROKEN]

# Only functions that every driver has had.
ASK = """
import ctypes, json
from ctypes import byref
nvml = ctypes.CDLL("libnvidia-ml.so.1")
Handle, U32, U64 = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64
assert nvml.nvmlInit_v2() == 0

def text(call, device):
    buffer = ctypes.create_string_buffer(96)
    assert call(device, buffer, 96) == 0
    return buffer.value.decode()

def memory(device):
    numbers = (U64 * 3)()  # total, free, used
    return numbers[0] if nvml.nvmlDeviceGetMemoryInfo(device, numbers) == 0 else None

def temperature(device):
    celsius = U32()
    return celsius.value if nvml.nvmlDeviceGetTemperature(device, 0, byref(celsius)) == 0 else None

def processes(device):
    found = {}
    for name in ("nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetGraphicsRunningProcesses"):
        count, rows = U32(256), (U64 * 512)()  # pid and bytes
        if hasattr(nvml, name) and getattr(nvml, name)(device, byref(count), rows) == 0:
            found.update((rows[2 * i] & 0xFFFFFFFF, rows[2 * i + 1]) for i in range(count.value))
    return list(found.values())

def handles(get, count, *first):
    for i in range(count):
        handle = Handle()
        if get(*first, i, byref(handle)) != 0:
            return
        yield handle

def instances(device):
    count = U32()
    if not hasattr(nvml, "nvmlDeviceGetMaxMigDeviceCount") or nvml.nvmlDeviceGetMaxMigDeviceCount(device, byref(count)):
        return
    yield from handles(nvml.nvmlDeviceGetMigDeviceHandleByIndex, count.value, device)

count = U32()
assert nvml.nvmlDeviceGetCount_v2(byref(count)) == 0
print(json.dumps([{
    "uuid": text(nvml.nvmlDeviceGetUUID, gpu), "name": text(nvml.nvmlDeviceGetName, gpu), "memory": memory(gpu),
    "temperature": temperature(gpu), "instances": [memory(one) for one in instances(gpu)], "processes": processes(gpu),
} for gpu in handles(nvml.nvmlDeviceGetHandleByIndex_v2, count.value)]))
"""


@dataclass
class Shown:
    """What a client says of one GPU; what it does not tell is None."""

    uuid: str
    name: str
    memory_mib: float | None = None
    temperature: float | None = None
    instances_mib: list[float] = field(default_factory=list)


@pytest.fixture
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """The environment of somebody whose nvidia-smi is ours."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nvidia-smi").symlink_to(GPULSE)
    env = environment(request.param, TZ="UTC")
    return env | {"PATH": f"{tmp_path / 'bin'}:{env['PATH']}", "HOME": str(tmp_path)}


def in_every(names: list[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("machine", names, indirect=True)


def client(name: str) -> Path:
    path = CLIENTS / name
    if not path.exists():
        pytest.skip(f"no {name}: make clients")
    return path


def truth(machine: dict[str, str]) -> list[dict[str, Any]]:
    done = run([sys.executable, "-W", "ignore", "-c", ASK], machine)
    assert done.code == 0, done.err
    return json.loads(done.out)


def check(shown: list[Shown], machine: dict[str, str]) -> None:
    wanted = truth(machine)
    assert [(gpu.uuid, gpu.name) for gpu in shown] == [(gpu["uuid"], gpu["name"]) for gpu in wanted]
    for gpu, real in zip(shown, wanted, strict=True):
        # A GPU with the host's memory, and one whose driver fails at it, tell NVML's users nothing.
        if gpu.memory_mib is not None and real["memory"]:
            assert gpu.memory_mib == pytest.approx(real["memory"] / MIB, abs=1)
        if gpu.temperature is not None and real["temperature"] is not None:
            assert gpu.temperature == pytest.approx(real["temperature"], abs=3)  # some move


def number(text: float) -> float | None:
    return None if math.isnan(text) else text


@in_every(WORKING)
def test_gputil(machine: dict[str, str]) -> None:
    program = (
        "import GPUtil, json\n"
        "print(json.dumps([[g.uuid, g.name, g.memoryTotal, g.temperature, g.load] for g in GPUtil.getGPUs()]))\n"
    )
    done = run([sys.executable, "-W", "ignore", "-c", program], machine)
    assert done.code == 0, done.err
    told = json.loads(done.out)
    check([Shown(uuid, name, number(memory), number(heat)) for uuid, name, memory, heat, _ in told], machine)
    assert all(math.isnan(load) or 0 <= load <= 1 for *_, load in told)


def lines_of_telegraf(machine: dict[str, str], folder: Path) -> tuple[int, list[tuple[str, dict[str, str]]], str]:
    """Each line as its measurement with tags and fields."""
    config = folder / "telegraf.conf"
    config.write_text(f'[[inputs.nvidia_smi]]\nbin_path = "{folder}/bin/nvidia-smi"\n')
    done = run([client("telegraf"), "--config", config, "--test", "--quiet"], machine)
    lines = []
    for line in done.lines:
        if line.startswith("> "):
            head, values, _ = re.split(r"(?<!\\) (?=[a-z]\w*=|\d+$)", line[2:])
            measurement, *tags = re.split(r"(?<!\\),", head)
            pairs = [pair.split("=", 1) for pair in tags + re.findall(r'\w+=(?:"[^"]*"|[^,]*)', values)]
            lines.append((measurement, {key: value.replace("\\", "") for key, value in pairs}))
    return done.code, lines, done.err


@in_every(WORKING)
def test_telegraf(machine: dict[str, str], tmp_path: Path) -> None:
    code, lines, err = lines_of_telegraf(machine, tmp_path)
    assert code == 0, err

    def value(line: dict[str, str], name: str) -> float | None:
        return float(line[name].rstrip("i")) if name in line else None

    gpus = [line for measurement, line in lines if measurement == "nvidia_smi"]
    check(
        [Shown(gpu["uuid"], gpu["name"], value(gpu, "memory_total"), value(gpu, "temperature_gpu")) for gpu in gpus],
        machine,
    )
    wanted = truth(machine)
    instances = [value(line, "memory_fb_total") for measurement, line in lines if measurement == "nvidia_smi_mig"]
    assert instances == [memory // MIB for gpu in wanted for memory in gpu["instances"]]
    # Pids may be of the process that asks.
    processes = [value(line, "used_memory") for measurement, line in lines if measurement == "nvidia_smi_process"]
    told = [memory for gpu in wanted for memory in gpu["processes"] if memory != UNKNOWN]
    assert sorted(filter(None, processes)) == sorted(memory // MIB for memory in told)


def scrape(machine: dict[str, str]) -> dict[str, list[tuple[dict[str, str], float]]]:
    """What the exporter serves: by metric, labels and values."""
    command = [str(client("nvidia_gpu_exporter")), "--web.listen-address=127.0.0.1:0"]
    with subprocess.Popen(command, env=machine, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            for line in process.stderr:
                if found := re.search(r"Listening on.*address=([\d.:]+)", line):
                    with urllib.request.urlopen(f"http://{found[1]}/metrics", timeout=30) as answer:
                        text = answer.read().decode()
                    break
            else:
                pytest.fail("the exporter does not listen")
        finally:
            process.terminate()
    metrics: dict[str, list[tuple[dict[str, str], float]]] = {}
    for name, labels, value in re.findall(r"^(\w+)(?:\{(.*)\})? (\S+)$", text, re.MULTILINE):
        metrics.setdefault(name, []).append((dict(re.findall(r'(\w+)="([^"]*)"', labels)), float(value)))
    return metrics


@in_every(WORKING)
def test_nvidia_gpu_exporter(machine: dict[str, str]) -> None:
    metrics = scrape(machine)
    assert metrics["nvidia_smi_command_exit_code"] == [({}, 0)]
    assert metrics["nvidia_smi_failed_scrapes_total"] == [({}, 0)]
    memory = {labels["uuid"]: value for labels, value in metrics["nvidia_smi_memory_total_bytes"]}
    heat = {labels["uuid"]: value for labels, value in metrics.get("nvidia_smi_temperature_gpu", [])}
    infos = sorted((labels for labels, _ in metrics["nvidia_smi_gpu_info"]), key=lambda labels: int(labels["index"]))

    def mib(uuid: str) -> float | None:
        return memory[uuid] / MIB if uuid in memory else None

    # It leaves the GPU- of the UUIDs away.
    check(
        [Shown("GPU-" + gpu["uuid"], gpu["name"], mib(gpu["uuid"]), heat.get(gpu["uuid"])) for gpu in infos], machine
    )


@in_every([BROKEN])
def test_a_driver_that_does_not_start_is_not_an_empty_machine(machine: dict[str, str], tmp_path: Path) -> None:
    code, lines, err = lines_of_telegraf(machine, tmp_path)
    assert code != 0 and lines == [] and "exit status 18" in err
    metrics = scrape(machine)
    assert metrics["nvidia_smi_command_exit_code"] == [({}, 18)]
    assert "nvidia_smi_gpu_info" not in metrics


def test_the_scenarios_are_all_there() -> None:
    assert len(WORKING) >= 13 and BROKEN in SCENARIOS and BUILD.exists()
