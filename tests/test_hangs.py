"""Drivers that hang, devices that are lost, programs that are stopped: through the program itself, with its real
deadlines. tests/fault_hang_test.cpp does the same to the sampler, for every variant of the driver and with short ones."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from harness import GPULSE, ROOT, environment, gpulse

FIRST_ANSWER = 3.0
STOP = 0.1
HUNG = 1
POWER = "power_draw_watts"

# Four devices whose power rises all the time, so that an old value shows.
DEVICES = """
[[device]]
profile = "h200"
count = 4
power_w = { steps = [[0, 100], [60, 700]], linear = true }
"""


def functions() -> list[str]:
    """What the program may call for a single device."""
    names = re.findall(r'"(nvml\w+)"', (ROOT / "src/source/nvml/library.hpp").read_text())
    return sorted(name for name in set(names) if name.startswith(("nvmlDevice", "nvmlGpm")) and "Count_v2" not in name)


def hang(call: str, device: int | str = HUNG, more: str = "") -> str:
    where = f'"{device}"' if isinstance(device, str) else device
    return f'[[fault]]\ncall = "{call}"\ndevice = {where}\nhang = true\n{more}\n'


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.toml"
    path.write_text(text)
    return path


def in_parallel(work: Callable[[str], str | None], names: list[str]) -> list[str]:
    """What goes wrong side by side is tried again alone: a busy machine can keep a thread from its turn for seconds."""
    with ThreadPoolExecutor(8) as pool:
        suspects = [name for name, fault in zip(names, pool.map(work, names)) if fault]
    assert len(suspects) < 10, suspects
    return [fault for name in suspects if (fault := work(name))]


def is_named(device: dict[str, Any]) -> bool:
    return device["state"] == "not responding" and device["metrics"][POWER] is None


def test_whatever_hangs_the_first_answer_comes_in_time(tmp_path: Path) -> None:
    def look(call: str) -> str | None:
        path = write(tmp_path, call, DEVICES + hang(call))
        begun = time.monotonic()
        result = gpulse("--json", "--source", "nvml", scenario=path)
        took = time.monotonic() - begun
        devices = result.json["devices"]
        others = [device for device in devices if device["index"] != HUNG]
        if took > FIRST_ANSWER:
            return f"{call}: {took:.2f} s"
        if len(devices) != 4 or any(device["state"] != "ok" or not device["metrics"][POWER] for device in others):
            return f"{call}: the others are {[device['state'] for device in others]}"
        # Well only if the call was not made, or for its topology alone.
        hung = devices[HUNG]
        if took > 1.5 and not is_named(hung) and hung.get("unavailable", {}).get("topology") != "not responding":
            return f"{call}: the hung one is {hung['state']}"
        return None

    assert in_parallel(look, functions()) == []


def watch(arguments: list[str], env: dict[str, str], seconds: float) -> list[dict[str, Any]]:
    with subprocess.Popen([GPULSE, *arguments], env=env, stdout=subprocess.PIPE, text=True) as process:
        threading.Timer(seconds, process.send_signal, [signal.SIGINT]).start()
        out, _ = process.communicate(timeout=seconds + 10)
    return [json.loads(line) for line in out.splitlines()]


def old_value(samples: list[dict[str, Any]]) -> str | None:
    """What is shown as new and is not; nothing when every value has moved."""
    last: dict[int, float] = {}
    for sample in samples:
        for device in sample["devices"]:
            index, power = device["index"], device["metrics"][POWER]
            if (power is not None) != (device["state"] == "ok"):
                return f"GPU {index} is {device['state']} with {power} W"
            if power is not None and power <= last.get(index, 0):
                return f"GPU {index} shows {power} W twice"
            if power is not None:
                last[index] = power
    return None


def test_while_one_hangs_the_others_move_on(tmp_path: Path) -> None:
    def follow(call: str) -> str | None:
        path = write(tmp_path, call, DEVICES + hang(call, more="from = 1"))
        samples = watch(["--json", "--source", "nvml", "--watch", "0.25"], environment(path), 4)
        if len(samples) < 10:
            return f"{call}: only {len(samples)} samples"
        for sample in samples:
            for device in sample["devices"]:
                if device["index"] != HUNG and device["state"] != "ok":
                    return f"{call}: GPU {device['index']} is {device['state']}"
        if fault := old_value(samples):
            return f"{call}: {fault}"
        return None

    assert in_parallel(follow, functions()) == []


def test_a_lost_gpu_does_not_freeze_the_others(tmp_path: Path) -> None:
    path = write(tmp_path, "lost", DEVICES.replace("count = 4", "lost = [[1, 60]]") + DEVICES)
    samples = watch(["--json", "--source", "nvml", "--watch", "0.2"], environment(path), 8)
    assert len(samples) > 30
    assert samples[-1]["devices"][0]["state"] == "lost"
    assert old_value(samples) is None
    assert all(device["state"] == "ok" for sample in samples for device in sample["devices"][1:])


def test_after_the_driver_went_away_no_gpu_is_well(tmp_path: Path) -> None:
    fault = '[[fault]]\ncall = "*"\ncode = 1\nfrom = 1\n'
    path = write(tmp_path, "gone", DEVICES + fault)
    samples = watch(["--json", "--source", "nvml", "--watch", "0.2"], environment(path), 3)
    assert old_value(samples) is None
    assert {device["state"] for device in samples[-1]["devices"]} == {"lost"}


def test_many_hung_gpus_take_no_longer_than_one(tmp_path: Path) -> None:
    for call in ("nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetPowerUsage"):
        path = write(tmp_path, call, DEVICES.replace("count = 4", "count = 128") + hang(call, "all"))
        begun = time.monotonic()
        devices = gpulse("--json", "--source", "nvml", scenario=path).json["devices"]
        assert time.monotonic() - begun < FIRST_ANSWER
        assert [device["state"] for device in devices] == ["not responding"] * 128


@pytest.mark.parametrize("arguments", [["smi"], ["smi", "-L"], ["smi", "-i", "0"], ["smi", "pmon", "-c", "1"]])
def test_smi_says_that_the_driver_does_not_answer(arguments: list[str], tmp_path: Path) -> None:
    path = write(tmp_path, "init", DEVICES + hang("nvmlInit_v2", "all"))
    begun = time.monotonic()
    result = gpulse(*arguments, scenario=path)
    assert time.monotonic() - begun < FIRST_ANSWER
    assert result.code == 255
    assert result.out.startswith("The driver does not answer: ")


@pytest.mark.parametrize(
    ("arguments", "call"), [("nvlink -s", "nvmlDeviceGetNvLinkState"), ("mig -lgi", "nvmlDeviceGetGpuInstances")]
)
def test_a_list_of_nothing_is_not_that_of_a_gpu_that_hangs(arguments: str, call: str, tmp_path: Path) -> None:
    devices = '[[device]]\nprofile = "h100"\ncount = 2\n'
    some = gpulse("smi", *arguments.split(), scenario=write(tmp_path, "some", devices + hang(call)))
    assert some.code == 255
    first, rest = some.out.split("\n", 1)
    assert first.startswith("The driver does not answer for GPU1: ") and rest, "the other is shown"
    alone = gpulse("smi", *arguments.split(), scenario=write(tmp_path, "all", devices + hang(call, "all")))
    assert (alone.code, alone.out.count("\n")) == (255, 2)
    assert alone.out.startswith("The driver does not answer for GPU0: ")


def stop_time(command: list[str], env: dict[str, str], number: signal.Signals, folder: Path) -> float:
    with subprocess.Popen(
        [GPULSE, *command], env=env, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        time.sleep(0.5)
        begun = time.monotonic()
        process.send_signal(number)
        process.wait(timeout=30)
        return time.monotonic() - begun


@pytest.mark.parametrize("call", ["nvmlInit_v2", "nvmlDeviceGetBrand", "nvmlDeviceGetPowerUsage"])
@pytest.mark.parametrize(
    "command", ["", "--watch 1", "record -o r.gpr", "gpustat -i 1", "smi", "smi -l 1", "smi dmon", "doctor"]
)
def test_a_stop_ends_it_at_once_while_the_driver_hangs(command: str, call: str, tmp_path: Path) -> None:
    env = environment(write(tmp_path, "hang", DEVICES + hang(call, "all")))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # A busy machine may miss it once.
        assert any(stop_time(command.split(), env, number, tmp_path) <= STOP for _ in range(4)), number.name


def test_time_in_which_it_was_stopped_is_not_made_up_for(tmp_path: Path) -> None:
    # Calls take so long that most stops come in the middle of one.
    env = environment(write(tmp_path, "four", DEVICES + '[cost]\ntable = "h200"\nscale = 8\n'))
    command = [GPULSE, "--json", "--source", "nvml", "--watch", "0.6"]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:

        def interrupt() -> None:
            for _ in range(4):
                time.sleep(0.85)
                process.send_signal(signal.SIGSTOP)
                time.sleep(2.5)
                process.send_signal(signal.SIGCONT)
            time.sleep(0.7)
            process.send_signal(signal.SIGINT)

        threading.Thread(target=interrupt).start()
        out, _ = process.communicate(timeout=60)
    samples = [json.loads(line) for line in out.splitlines()]
    times = [sample["time"] for sample in samples]
    assert len(set(times)) == len(times)
    assert old_value(samples) is None
    assert all(device["state"] == "ok" for sample in samples for device in sample["devices"])
