"""Recording and replaying: what was recorded is what is shown, again and again, also when the end of the file is lost."""

from __future__ import annotations

import os
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


def test_nothing_is_overwritten_by_accident(tmp_path: Path) -> None:
    path = tmp_path / "thesis.txt"
    path.write_text("years of work\n")
    for option in ((), ("--append",)):
        result = record(path, "single", 1, *option)
        assert result.code == 1
        assert "is not a recording" in only_line(result.err)
        assert path.read_text() == "years of work\n"
    night = tmp_path / "night.gpr"
    assert record(night, "single", 3).code == 0
    kept = night.read_bytes()
    refused = record(night, "single", 1)
    assert refused.code == 1
    assert only_line(refused.err) == (
        f"gpulse: {night} is there already: --append goes on with it, --force overwrites it"
    )
    assert night.read_bytes() == kept
    assert record(night, "single", 1, "--force", "--append").code == 2
    assert night.read_bytes() == kept
    assert record(night, "single", 1, "--force").code == 0
    assert len(samples(night).lines) == 1


def test_an_existing_recording_is_refused_before_the_driver_is_asked(eight: Path) -> None:
    refused = gpulse("record", "-o", eight, "--source", "nvml", "--interval", "1h", timeout=10)
    assert refused.code == 1
    assert "is there already" in only_line(refused.err)


def test_an_empty_file_and_a_device_are_no_recordings_to_lose(tmp_path: Path) -> None:
    empty = tmp_path / "made-by-mktemp"
    empty.touch()
    assert record(empty, "single", 1).code == 0
    assert len(samples(empty).lines) == 1
    assert record(Path("/dev/null"), "single", 1).code == 0


def test_a_recording_is_not_recorded_into_itself(eight: Path, tmp_path: Path) -> None:
    path = tmp_path / "self.gpr"
    path.write_bytes(eight.read_bytes())
    for option in ("--force", "--append"):
        result = gpulse("record", "--replay", path, "-o", path, option, "--speed", "1000")
        assert result.code == 1
        assert "into itself" in only_line(result.err)
        assert path.read_bytes() == eight.read_bytes()


def test_appending_to_a_recording_that_was_cut_off(eight: Path, tmp_path: Path) -> None:
    whole = samples(eight).lines
    cut = tmp_path / "cut.gpr"
    cut.write_bytes(eight.read_bytes()[:-10])
    assert record(cut, "eight", 2, "--append").code == 0
    both = samples(cut)
    assert both.code == 0 and both.err == ""
    assert len(both.lines) == len(whole) - 1 + 2
    assert both.lines[: len(whole) - 1] == whole[:-1]


def test_the_standard_output_takes_a_recording(tmp_path: Path) -> None:
    command = [GPULSE, "record", "-o", "-", "--count", "2", "--interval", "50ms"]
    piped = subprocess.run(command, env=environment("single"), cwd=tmp_path, capture_output=True, timeout=60)
    assert piped.returncode == 0
    assert piped.stderr.startswith(b"gpulse: recorded 2 samples")
    assert list(tmp_path.iterdir()) == []
    played = subprocess.run(
        [GPULSE, "--replay", "-", "--watch", "--speed", "1000", "--json"],
        input=piped.stdout, env=environment(), capture_output=True, timeout=60,
    )  # fmt: skip
    assert played.returncode == 0
    assert len(played.stdout.splitlines()) == 2
    # Two recordings one after the other in a file, as the shell's >> makes them.
    path = tmp_path / "both.gpr"
    path.write_bytes(piped.stdout * 2)
    both = samples(path)
    assert len(both.lines) == 4
    assert both.err == ""


def test_a_closed_standard_error_is_not_the_recording(tmp_path: Path) -> None:
    path = tmp_path / "night.gpr"
    command = f"exec {GPULSE} record -o {path} --count 2 --interval 50ms 2>&-"
    done = subprocess.run(["bash", "-c", command], env=environment("single"), stdout=subprocess.PIPE, timeout=60)
    assert done.returncode == 0
    assert b"recorded" not in path.read_bytes()
    both = samples(path)
    assert len(both.lines) == 2 and both.err == ""


def test_a_terminal_gets_no_recording() -> None:
    main, terminal = os.openpty()
    done = subprocess.run(
        [GPULSE, "record", "-o", "-", "--count", "1"], env=environment("single"), stdout=terminal,
        stderr=subprocess.PIPE, text=True, timeout=60,
    )  # fmt: skip
    os.close(terminal)
    os.close(main)
    assert done.returncode == 1
    assert "terminal" in only_line(done.stderr)


def test_a_pipe_without_the_other_end_says_what_it_waits_for(tmp_path: Path, eight: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for arguments in (["--replay", fifo], ["record", "-o", fifo, "--count", "1", "--interval", "50ms"]):
        with subprocess.Popen([GPULSE, *arguments], env=environment("single"), stderr=subprocess.PIPE, text=True) as waits:
            assert waits.stderr is not None
            assert f"{fifo} …" in waits.stderr.readline()
            waits.send_signal(signal.SIGINT)
            assert waits.wait(timeout=20) != 0
    # With the other end it goes through.
    with subprocess.Popen([GPULSE, "--replay", fifo, "--json"], env=environment(), stdout=subprocess.PIPE) as plays:
        fifo.write_bytes(eight.read_bytes())
        out, _ = plays.communicate(timeout=60)
    assert out.decode() == gpulse("--replay", eight, "--json").out


def test_a_tail_of_zeros_is_damage_found_in_no_time(eight: Path, tmp_path: Path) -> None:
    path = tmp_path / "sparse.gpr"
    path.write_bytes(eight.read_bytes())
    os.truncate(path, path.stat().st_size + 5 * 1024 * MIB)
    # Less than reading all of it would take on any machine.
    result = gpulse("--replay", path, "--watch", "--speed", "1000", "--json", timeout=20)
    assert result.code == 0
    assert result.lines == samples(eight).lines
    assert only_line(result.err) == "gpulse: the recording is damaged: 1 block was skipped"


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/urandom"])
def test_a_device_is_not_replayed(device: str) -> None:
    result = gpulse("--replay", device, timeout=20)
    assert result.code == 1
    assert only_line(result.err) == f"gpulse: cannot read {device}: it is a device, not a file"


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
