"""gpulse log: what TensorBoard and other readers find in the files is what was measured, whatever happens meanwhile."""

from __future__ import annotations

import csv
import json
import math
import random
import re
import signal
import struct
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Callable

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # type: ignore[import-untyped]

from agent import wait_for
from harness import BUILD, GPULSE, MIB, Result, environment, gpulse, only_line
from tensorboard_files import events, only_file

SINK_PROGRAM = BUILD / "tests" / "sink_program"
BEGIN = datetime(2026, 11, 15, 2, 30, tzinfo=timezone.utc)
FIELDS = "power_draw_watts,memory_used_bytes,temperature_gpu_celsius,energy_joules,host.cpu_percent"

# A sample as the test makes it up: values by title, None for what could not be read.
Row = dict[str, float | None]
Sample = list[Row]


def f32(value: float) -> float:
    return struct.unpack("<f", struct.pack("<f", value))[0]


def wall_time(number: int) -> datetime:
    return BEGIN + timedelta(milliseconds=250 * number)


def write_recording(path: Path, samples: list[Sample]) -> Path:
    """As gpulse's own CSV, which can be replayed."""
    titles = list(samples[0][0])
    with path.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["time", "index", "uuid", "name", *titles])
        for number, sample in enumerate(samples):
            stamp = wall_time(number).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            for index, row in enumerate(sample):
                cells = ["" if row[title] is None else repr(row[title]) for title in titles]
                out.writerow([stamp, index, f"GPU-{index:08}", "Made Up", *cells])
    return path


def make_samples(seed: int, count: int, devices: int = 2) -> list[Sample]:
    chance = random.Random(seed)
    joules = [chance.uniform(0, 1e9) for _ in range(devices)]
    samples = []
    for _ in range(count):
        cpu = chance.uniform(0, 100)
        sample: Sample = []
        for index in range(devices):
            joules[index] += chance.choice([0, chance.uniform(0, 700)])
            row: Row = {
                "power_draw_watts": chance.uniform(0, 700),
                "memory_used_bytes": chance.randrange(1 << 37),
                "temperature_gpu_celsius": chance.choice([None, chance.randrange(20, 95)]),
                "energy_joules": round(joules[index], 3),
                "host.cpu_percent": cpu,
            }
            sample.append(row)
        samples.append(sample)
    return samples


def log(*arguments: str | Path, **more: Any) -> Result:
    return gpulse("log", *arguments, **more)


def log_recording(recording: Path, folder: Path, *more: str) -> Result:
    result = log("--replay", recording, "--speed", "1000000", "--format", "tensorboard", "-o", folder, *more)
    assert result.code == 0, result.err
    return result


def expected_points(samples: list[Sample]) -> dict[str, list[tuple[int, float, float]]]:
    """(step, wall time, value) of each tag, by the rules of docs/log.md."""
    points: dict[str, list[tuple[int, float, float]]] = {}
    begun = [row["energy_joules"] for row in samples[0]]
    for number, sample in enumerate(samples):
        at = wall_time(number).timestamp()
        for index, row in enumerate(sample):
            for title, value in row.items():
                if value is None:
                    continue
                tag, shown = f"gpu{index}/{title}", value
                if title == "memory_used_bytes":
                    tag, shown = f"gpu{index}/memory_used_mib", value / MIB
                elif title == "energy_joules":
                    shown = value - (begun[index] or 0)
                elif title == "host.cpu_percent":
                    tag = "host/cpu_percent"
                if tag != "host/cpu_percent" or index == 0:
                    points.setdefault(tag, []).append((number, at, f32(shown)))
    return points


def as_tensorboard_has_it(run: Path) -> dict[str, list[tuple[int, float, float]]]:
    loaded = EventAccumulator(str(run), size_guidance={"scalars": 0}).Reload()
    return {tag: [(p.step, p.wall_time, p.value) for p in loaded.Scalars(tag)] for tag in loaded.Tags()["scalars"]}


def assert_same_points(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found.keys() == expected.keys()
    for tag, points in expected.items():
        assert [point[0] for point in found[tag]] == [point[0] for point in points], tag
        for has, wants in zip(found[tag], points):
            # An energy is the sum of small differences between large numbers.
            assert has[1:] == pytest.approx(wants[1:], rel=1e-6 if "energy" in tag else 0, abs=1e-4 if "energy" in tag else 0)


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    return make_samples(1, 60)


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory, samples: list[Sample]) -> Path:
    return write_recording(tmp_path_factory.mktemp("recording") / "made-up.csv", samples)


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory, recording: Path, samples: list[Sample]) -> Path:
    """Two runs of the same recording, and one whose last record is torn."""
    folder = tmp_path_factory.mktemp("runs")
    log_recording(recording, folder, "--fields", FIELDS)
    log_recording(recording, folder, "--fields", FIELDS)
    log_recording(recording, folder, "--fields", FIELDS, "--run", "torn")
    torn = only_file(folder / "torn")
    torn.write_bytes(torn.read_bytes()[:-7])
    return folder


# TensorBoard's own readers


def test_tensorboard_reads_every_point(logdir: Path, samples: list[Sample]) -> None:
    assert sorted(path.name for path in logdir.iterdir()) == ["gpu", "gpu_1", "torn"]
    for run in ("gpu", "gpu_1"):
        assert_same_points(as_tensorboard_has_it(logdir / run), expected_points(samples))


def test_a_curve_says_what_it_is(logdir: Path, recording: Path) -> None:
    loaded = EventAccumulator(str(logdir / "gpu")).Reload()
    about = loaded.SummaryMetadata("gpu1/memory_used_mib")
    assert about.display_name == "GPU 1: Device memory in use (MiB)"
    assert about.plugin_data.plugin_name == "scalars"
    for word in ("Unit: MiB", "the mean of its samples", "`memory_used_bytes`", "`Made Up`", "`GPU-00000001`"):
        assert word in about.summary_description


def test_a_torn_end_is_waited_for(tmp_path: Path, logdir: Path, samples: list[Sample]) -> None:
    whole = only_file(logdir / "gpu").read_bytes()
    file = tmp_path / only_file(logdir / "gpu").name
    file.write_bytes(whole[:-7])
    loaded = EventAccumulator(str(tmp_path), size_guidance={"scalars": 0}).Reload()
    assert len(loaded.Scalars("host/cpu_percent")) == len(samples) - 1
    file.write_bytes(whole)
    assert len(loaded.Reload().Scalars("host/cpu_percent")) == len(samples)


def test_inspect_finds_scalars_in_order(logdir: Path) -> None:
    command = [sys.executable, "-m", "tensorboard.main", "--inspect", "--logdir", str(logdir / "gpu")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "oddly" not in done.stderr
    statistics = done.stdout[done.stdout.index("Event statistics") :]
    found = dict(re.findall(r"^ +(\w+) +(\S+)$", statistics, re.M))
    assert found["first_step"] == "0" and found["last_step"] == "59" and found["num_steps"] == "60"
    assert found["outoforder_steps"] == "[]"


@pytest.fixture(scope="module")
def server(logdir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Any]]:
    """TensorBoard with its fast loader; asked for JSON."""
    pytest.importorskip("tensorboard_data_server", reason="TensorBoard's fast loader is not to be had here")
    said = tmp_path_factory.mktemp("server") / "stderr"
    command = [sys.executable, "-m", "tensorboard.main", "--load_fast=true", "--port=0",
               "--reload_interval=1", "--samples_per_plugin=scalars=1000000", "--logdir", str(logdir)]  # fmt: skip
    with said.open("w") as err, subprocess.Popen(command, stdout=err, stderr=err) as process:
        try:
            found = wait_for(lambda: re.search(r"http://\S+:(\d+)/", said.read_text()), "TensorBoard", 60)
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            assert any("tensorboard_data_server" in Path(f"/proc/{pid}/cmdline").read_text() for pid in children)

            def get(path: str) -> Any:
                with urllib.request.urlopen(f"http://127.0.0.1:{found[1]}/data/plugin/scalars/{path}", timeout=30) as answer:
                    return json.load(answer)

            yield get
        finally:
            process.terminate()


def scalars(server: Callable[[str], Any], run: str, tag: str) -> list[tuple[int, float, float]]:
    query = urllib.parse.urlencode({"run": run, "tag": tag})
    return [(step, at, value) for at, step, value in server(f"scalars?{query}")]


def test_the_fast_loader_reads_every_point(server: Callable[[str], Any], samples: list[Sample]) -> None:
    tags = wait_for(lambda: (found := server("tags")).keys() >= {"gpu", "gpu_1", "torn"} and found, "all runs", 30)
    expected = expected_points(samples)
    for run in ("gpu", "gpu_1"):
        assert tags[run].keys() == expected.keys()
        assert_same_points({tag: scalars(server, run, tag) for tag in expected}, expected)
    assert len(scalars(server, "torn", "host/cpu_percent")) == len(samples) - 1


def test_the_fast_loader_sees_a_log_grow(server: Callable[[str], Any], logdir: Path) -> None:
    command = [GPULSE, "log", "--format", "tensorboard", "-o", logdir, "--run", "live", "--interval", "100ms"]
    with subprocess.Popen(command, env=environment("single"), stderr=subprocess.PIPE, text=True) as process:
        try:
            tag = "gpu0/power_draw_watts"
            wait_for(lambda: "live" in server("tags") and len(scalars(server, "live", tag)) > 5, "points", 30)
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=10)
    assert process.returncode == 0


# What is measured


def test_the_usual_fields_are_there(tmp_path: Path) -> None:
    result = log("--format", "tensorboard", "-o", tmp_path / "runs", "--count", "2", "--interval", "100ms", scenario="eight")
    assert result.code == 0
    assert only_line(result.err).endswith(f"in {tmp_path}/runs/gpu")
    last = events(tmp_path / "runs" / "gpu")[-1]
    # GPU 6 of sim/scenarios/eight.toml has fixed numbers, and H100s have 81559 MiB.
    straggler = {tag.removeprefix("gpu6/"): value for tag, value in last.values.items() if tag.startswith("gpu6/")}
    assert straggler["gpu_utilization_percent"] == 100
    assert straggler["power_draw_watts"] == 402
    assert straggler["temperature_gpu_celsius"] == 86
    assert straggler["clock_graphics_mhz"] == 1215
    assert straggler["memory_used_mib"] == 62180
    assert straggler["memory_used_percent"] == f32(100 * 62180 / 81559)
    assert "sm_active_percent" in straggler
    assert "fan_speed_percent" not in straggler, "an H100 has no fan"
    assert {tag.split("/")[0] for tag in last.values} == {f"gpu{i}" for i in range(8)} | {"host"}
    assert 0 <= last.values["host/cpu_percent"] <= 100
    assert abs(last.time - time.time()) < 60


def test_instances_have_tags_of_their_own(tmp_path: Path) -> None:
    fields = ("--fields", "memory.used")
    log("--format", "tensorboard", "-o", tmp_path, "--count", "1", *fields, scenario="mig")
    (event,) = events(tmp_path / "gpu")
    listed = gpulse("--json", scenario="mig").json["devices"]
    ids = {device["id"].replace(":", ".") for device in listed if device["metrics"]["memory_used_bytes"] is not None}
    assert event.values.keys() == {f"gpu{id}/memory_used_mib" for id in ids}
    assert any("." in id for id in ids)


def test_only_some_devices(tmp_path: Path) -> None:
    fields = ("--count", "1", "--fields", "index,power.draw", "-i", "5,0")
    assert [row["index"] for row in log(*fields, scenario="eight").csv] == ["0", "5"]
    log("--format", "tensorboard", "-o", tmp_path, *fields, scenario="eight")
    (event,) = events(tmp_path / "gpu")
    assert event.values.keys() == {"gpu0/power_draw_watts", "gpu5/power_draw_watts"}
    line = log("--format", "jsonl", *fields, scenario="eight").json
    assert [device["index"] for device in line["devices"]] == [0, 5]


@pytest.mark.parametrize("seed", range(6))
def test_any_sample_makes_whole_records_and_growing_steps(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    made = make_samples(seed, chance.randrange(1, 30), chance.randrange(1, 9))
    log_recording(write_recording(tmp_path / "made-up.csv", made), tmp_path, "--fields", FIELDS)
    found: dict[str, list[tuple[int, float, float]]] = {}
    introduced: list[str] = []
    for event in events(tmp_path / "gpu"):
        assert math.isfinite(event.time)
        introduced += event.introduced
        for tag, value in event.values.items():
            found.setdefault(tag, []).append((event.step, event.time, value))
    assert sorted(introduced) == sorted(found), "each curve is introduced once"
    assert_same_points(found, expected_points(made))


# Training steps


def log_steps(format: str, path: Path, recording: Path, steps: list[int | None]) -> None:
    if not SINK_PROGRAM.exists():
        pytest.skip(f"{SINK_PROGRAM} is not built: make unit builds it")
    lines = "".join("-\n" if step is None else f"{step}\n" for step in steps)
    subprocess.run([SINK_PROGRAM, format, path, recording], input=lines, text=True, check=True, timeout=60)


def test_a_step_is_one_point(tmp_path: Path, recording: Path, samples: list[Sample]) -> None:
    steps: list[int | None] = [10, 10, 10, 20, 20, 35, 35, 35, 35]
    log_steps("tensorboard", tmp_path, recording, steps)
    loaded = as_tensorboard_has_it(tmp_path / "gpu")
    power = [sample[0]["power_draw_watts"] or 0 for sample in samples]
    assert [(step, value) for step, _, value in loaded["gpu0/power_draw_watts"]] == [
        (10, f32(sum(power[:3]) / 3)),
        (20, f32(sum(power[3:5]) / 2)),
        (35, f32(sum(power[5:9]) / 4)),
    ]
    assert [at for _, at, _ in loaded["gpu0/power_draw_watts"]] == [wall_time(n).timestamp() for n in (2, 4, 8)]


def test_steps_that_go_back_keep_what_was_there(tmp_path: Path, recording: Path) -> None:
    log_steps("tensorboard", tmp_path, recording, [None, None, 100, 101, 102, 101, 102, 103])
    steps = {run.name: [event.step for event in events(run)] for run in tmp_path.iterdir()}
    assert steps == {"gpu": [0, 1], "gpu_1": [100, 101, 102], "gpu_2": [101, 102, 103]}


def test_lines_have_their_step(tmp_path: Path, recording: Path) -> None:
    log_steps("csv", tmp_path / "log.csv", recording, [7, None, 8])
    with (tmp_path / "log.csv").open() as file:
        assert [(row["step"], row["id"]) for row in csv.DictReader(file)] == [
            ("7", "0"), ("7", "1"), ("7", "0"), ("7", "1"), ("8", "0"), ("8", "1"),
        ]  # fmt: skip
    log_steps("jsonl", tmp_path / "log.jsonl", recording, [None, 8])
    first, second = map(json.loads, (tmp_path / "log.jsonl").read_text().splitlines())
    assert "step" not in first and second["step"] == 8


# Files


def test_programs_that_start_at_once_never_share_a_run(tmp_path: Path, recording: Path) -> None:
    command = [GPULSE, "log", "--replay", recording, "--speed", "1000000", "--format", "tensorboard", "-o", tmp_path]
    writers = [subprocess.Popen(command, env=environment(), stderr=subprocess.DEVNULL) for _ in range(8)]
    assert [writer.wait(timeout=60) for writer in writers] == [0] * 8
    assert {run.name for run in tmp_path.iterdir()} == {"gpu", *(f"gpu_{i}" for i in range(1, 8))}
    for run in tmp_path.iterdir():
        assert [event.step for event in events(run)] == list(range(60))


def test_a_run_that_is_there_is_not_touched(tmp_path: Path, recording: Path) -> None:
    log_recording(recording, tmp_path)
    before = only_file(tmp_path / "gpu").read_bytes()
    log_recording(recording, tmp_path)
    assert only_file(tmp_path / "gpu").read_bytes() == before
    assert len(events(tmp_path / "gpu_1")) == 60


def test_lines_are_appended_and_never_overwritten_by_accident(tmp_path: Path) -> None:
    path = tmp_path / "gpus.csv"
    words = ("-o", path, "--count", "2", "--interval", "50ms", "--fields", "time,index,power.draw")
    assert log(*words, scenario="single").code == 0
    assert path.read_text().splitlines()[0] == "time,index,power_draw_watts"
    kept = path.read_text()
    refused = log(*words, scenario="single")
    assert refused.code == 1
    assert only_line(refused.err) == f"gpulse: {path} is there already: --append goes on with it, --force overwrites it"
    assert log(*words, "--append", scenario="single").code == 0
    assert path.read_text().startswith(kept)
    assert len(path.read_text().splitlines()) == 5
    # What was logged can be replayed, as any CSV of gpulse's.
    assert gpulse("--replay", path, "--json").json["devices"][0]["metrics"]["power_draw_watts"] is not None
    other = log("-o", path, "--append", "--count", "1", "--fields", "index", scenario="single")
    assert other.code == 1 and "with these fields" in only_line(other.err)


def test_what_was_logged_is_summed_up(tmp_path: Path) -> None:
    path = tmp_path / "gpus.csv"
    for count, words in ((1, "1 sample"), (2, "2 samples")):
        done = log("-o", path, "--force", "--count", str(count), "--interval", "50ms", "--fields", "index", scenario="single")
        assert only_line(done.err) == f"gpulse: logged {words}, {6 + 2 * count} B, in {path}"


def test_json_lines_keep_to_the_schema(tmp_path: Path) -> None:
    import jsonschema

    schema = gpulse("explain", "--schema").json
    result = log("--format", "jsonl", "--count", "2", "--interval", "50ms", scenario="eight")
    assert len(result.json_lines) == 2
    for line in result.json_lines:
        jsonschema.validate(line, schema)
        jsonschema.validate(line | {"step": 3}, schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(line | {"stop": 3}, schema)


@pytest.mark.parametrize("format", ["csv", "jsonl", "tensorboard"])
def test_a_kill_leaves_whole_samples(format: str, tmp_path: Path) -> None:
    chance = random.Random(format)
    for number in range(3):
        path = tmp_path / str(number)
        command = [GPULSE, "log", "--format", format, "-o", path, "--interval", "10ms"]
        with subprocess.Popen(command, env=environment("eight"), stderr=subprocess.DEVNULL) as process:
            wait_for(path.exists, "the log")
            time.sleep(chance.uniform(0.05, 0.2))
            process.kill()
        if format == "tensorboard":
            assert events(path / "gpu")
        else:
            assert path.read_bytes().endswith(b"\n")


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    result = log("-o", "/dev/full", "--count", "2", "--interval", "50ms", scenario="single")
    assert result.code == 1
    assert only_line(result.err) == "gpulse: cannot write /dev/full: No space left on device"
    nowhere = log("--format", "tensorboard", "-o", "/proc/runs", "--count", "1", scenario="single")
    assert nowhere.code == 1 and only_line(nowhere.err).startswith("gpulse: cannot make /proc/runs: ")


def test_without_a_gpu_the_host_is_logged(tmp_path: Path) -> None:
    result = log("--source", "host", "--format", "tensorboard", "-o", tmp_path, "--count", "2", "--interval", "50ms")
    assert result.code == 3
    assert {tag.split("/")[0] for event in events(tmp_path / "gpu") for tag in event.values} == {"host"}
