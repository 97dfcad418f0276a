"""Recording and replaying: what was recorded is what is shown, again and again, also when the end of the file is lost."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from pathlib import Path
from typing import Callable

import pytest

from harness import GPULSE, MIB, Result, environment, gpulse, only_line


def record(path: Path, scenario: str, count: int, *more: str) -> Result:
    return gpulse("record", "-o", path, "--count", str(count), "--interval", "50ms", *more, scenario=scenario)


def samples(path: Path) -> Result:
    return gpulse("--replay", path, "--watch", "--speed", "1000", "--json")


@pytest.fixture(scope="module")
def eight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recording") / "eight.gpr"
    assert record(path, "eight", 6).code == 0
    return path


def test_a_replay_shows_the_recorded_numbers_without_a_driver(eight: Path) -> None:
    document = gpulse("--replay", eight, "--json").json
    assert document["origin"] == "REPLAY"
    assert [device["index"] for device in document["devices"]] == list(range(8))
    # GPU 6 of sim/scenarios/eight.toml is the straggler, with fixed numbers.
    straggler = document["devices"][6]
    assert straggler["name"] == "NVIDIA H100 80GB HBM3"
    metrics = straggler["metrics"]
    assert metrics["gpu_utilization_percent"] == 100
    assert metrics["power_draw_watts"] == 402
    assert metrics["temperature_gpu_celsius"] == 86
    assert metrics["clock_sm_mhz"] == 1215
    assert metrics["throttle_reasons"] == ["sw thermal"]
    assert metrics["memory_used_bytes"] == 62180 * MIB
    assert metrics["memory_total_bytes"] == 81559 * MIB
    assert len(document["processes"]) == 8
    assert {process["gpu_memory_bytes"] for process in document["processes"]} == {61900 * MIB}


def test_two_replays_are_the_same_to_the_byte(eight: Path) -> None:
    first = samples(eight)
    assert first.code == 0
    assert len(first.lines) == 6
    assert samples(eight).out == first.out
    assert gpulse("--replay", eight, "--json").out == gpulse("--replay", eight, "--json").out


def test_appending_goes_on_where_the_recording_ended(tmp_path: Path) -> None:
    path = tmp_path / "day.gpr"
    assert record(path, "single", 3).code == 0
    before = samples(path)
    assert record(path, "single", 2, "--append").code == 0
    after = samples(path)
    assert len(after.lines) == 5
    assert after.lines[:3] == before.lines


def test_a_recording_is_not_overwritten_by_accident(tmp_path: Path) -> None:
    path = tmp_path / "thesis.txt"
    path.write_text("years of work\n")
    result = record(path, "single", 1)
    assert result.code == 1
    assert result.err.startswith("gpulse: ")
    assert path.read_text() == "years of work\n"


def test_a_recording_cut_anywhere_still_replays(eight: Path, tmp_path: Path) -> None:
    whole = eight.read_bytes()
    complete = samples(eight).lines
    chance = random.Random(1)
    places = sorted({0, 1, len(whole) - 1} | {chance.randrange(len(whole)) for _ in range(40)})
    cut = tmp_path / "cut.gpr"
    shown = []
    for place in places:
        cut.write_bytes(whole[:place])
        result = samples(cut)
        assert result.code in (0, 1), f"cut at {place}: {result.err}"
        # What is left is the beginning of what was there, sample by sample.
        assert result.lines == complete[: len(result.lines)], f"cut at {place}"
        if result.code == 1:
            assert result.err.startswith("gpulse: ") and len(result.err.splitlines()) == 1, f"cut at {place}"
        shown.append(len(result.lines))
    assert shown == sorted(shown)
    assert shown[0] == 0 and shown[-1] == 5


def test_a_recording_with_garbage_inside_shows_the_rest(eight: Path, tmp_path: Path) -> None:
    whole = bytearray(eight.read_bytes())
    complete = samples(eight).lines
    chance = random.Random(2)
    damaged = tmp_path / "damaged.gpr"
    for _ in range(20):
        spoiled = bytearray(whole)
        place = chance.randrange(len(whole) // 2, len(whole))
        spoiled[place] ^= 0xFF
        damaged.write_bytes(spoiled)
        result = samples(damaged)
        assert result.code in (0, 1), result.err
        assert set(result.lines) <= set(complete), f"an invented sample: byte {place} spoiled"


def test_recording_needs_no_gpu(tmp_path: Path) -> None:
    path = tmp_path / "host.gpr"
    assert gpulse("record", "-o", path, "--count", "2", "--interval", "50ms", "--source", "host").code == 0
    document = gpulse("--replay", path, "--json").json
    assert document["devices"] == []
    assert document["host"]["cpu_count"] >= 1


def test_a_stop_before_the_first_sample_leaves_the_file_alone(tmp_path: Path, scenario: Callable[[str], Path]) -> None:
    hangs = scenario('[[device]]\nprofile = "h200"\n[[fault]]\ncall = "nvmlDeviceGetCount_v2"\nhang = true\n')
    path = tmp_path / "kept.gpr"
    path.write_text("somebody's")
    command = [GPULSE, "record", "--force", "-o", path]
    with subprocess.Popen(command, env=environment(hangs), stderr=subprocess.PIPE, text=True) as recording:
        time.sleep(1)
        recording.send_signal(signal.SIGINT)
        _, said = recording.communicate(timeout=10)
    assert recording.returncode == 1
    assert only_line(said) == "gpulse: nothing was recorded"
    assert path.read_text() == "somebody's"
