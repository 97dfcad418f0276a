"""`gpulse diagnose`: of a trace by its phases, of a stretch of a recording, of a history, of what happens now."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path
from typing import Any

import pytest

from agent import Agent, open_folder, sleeper
from harness import ROOT, gpulse, only_line

TRACE = ROOT / "tests/data/workloads/labelled.csv"
JOBS = ROOT / "tests/data/workloads/jobs.gpr"

# What ran in each phase, and what someone who knows it calls it.
PHASES = {
    "idle": "idle",
    "startup": "idle",
    "compute_bound_tensor": "healthy",
    "compute_bound_fp32_no_tensor": "tensor-unused",
    "memory_bandwidth_bound": "memory-bandwidth",
    "launch_bound_small_kernels": "launch-bound",
    "cpu_input_bound": "input-cpu",
    "io_input_bound": "input-io",
    "pcie_copy_bound": "copy-bound",
    "memory_leak_to_oom": "memory-leak",
    "hung_holding_memory": "hung",
    "spin_single_block": "spinning",
}
PROCESSORS = "gract smutil smocc intutil anytensor dfma_tensor hmma_tensor imma_tensor dram_bw fp64 fp32 fp16 pcie_tx_mibs pcie_rx_mibs"


def diagnose(*words: str | Path) -> Any:
    done = gpulse("diagnose", "--json", *words)
    assert done.code == 0, done.err
    return json.loads(done.out)


def by_phase(path: Path) -> list[dict[str, Any]]:
    return diagnose("--replay", path, "--by", "phase")


def problems(part: dict[str, Any]) -> list[str]:
    return [finding["id"] for finding in part["findings"] if finding["severity"] == "problem"]


def rows() -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(TRACE.read_text())))


def write(path: Path, lines: list[dict[str, str]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, lines[0].keys())
        writer.writeheader()
        writer.writerows(lines)
    return path


def test_each_phase_of_a_trace_gets_its_finding_and_no_wrong_one() -> None:
    parts = by_phase(TRACE)
    labels = [row["phase"] for row in rows()]
    assert [part["phase"] for part in parts] == [
        label for label, before in zip(labels, [None, *labels]) if label != before
    ]
    for part in parts:
        expected = PHASES[part["phase"]]
        assert part["verdict"] == expected, part
        assert problems(part) == ([expected] if expected in problems(part) else [])
        assert part["start_seconds"] < part["end_seconds"]
        for finding in part["findings"]:
            assert finding["severity"] in ("ok", "note", "problem")
            assert 0 < finding["confidence"] <= 1
            assert finding["devices"] == ["0"]
            assert part["start_seconds"] <= finding["since_seconds"] <= finding["until_seconds"] <= part["end_seconds"]
            assert finding["lost_share"] is None or 0 <= finding["lost_share"] <= 1
            assert finding["text"] and finding["evidence"]
            if finding["severity"] == "problem":
                assert finding["advice"] and finding["pids"] == [560]


def test_the_label_itself_is_never_read(tmp_path: Path) -> None:
    lines = rows()
    numbers: dict[str, str] = {}
    for line in lines:
        line["phase"] = numbers.setdefault(line["phase"], f"x{len(numbers)}")
    told = {part["phase"]: part["verdict"] for part in by_phase(write(tmp_path / "renamed.csv", lines))}
    assert told == {number: PHASES[label] for label, number in numbers.items()}


@pytest.mark.parametrize("hertz", [10, 1])
def test_samples_that_are_missing_change_nothing(tmp_path: Path, hertz: int) -> None:
    chance = random.Random(3)
    lines = [line for i, line in enumerate(rows()) if i % (10 // hertz) == 0 and chance.random() >= 0.2]
    for part in by_phase(write(tmp_path / "fewer.csv", lines)):
        if part["phase"] != "startup":
            assert part["verdict"] == PHASES[part["phase"]], part


def test_a_gpu_that_does_not_tell_what_its_processors_do_is_estimated(tmp_path: Path) -> None:
    lines = [{key: value for key, value in line.items() if key not in PROCESSORS.split()} for line in rows()]
    for part in by_phase(write(tmp_path / "older.csv", lines)):
        assert part["verdict"] in (PHASES[part["phase"]], "unknown"), part
        assert set(problems(part)) <= {PHASES[part["phase"]]}


def test_a_stretch_of_a_recording() -> None:
    part = diagnose("--replay", JOBS, "--from", "126.4s", "--to", "147.9s")
    assert part["verdict"] == "input-cpu" and problems(part) == ["input-cpu"]
    assert 126.4 <= part["start_seconds"] < part["end_seconds"] <= 147.9
    (finding,) = [finding for finding in part["findings"] if finding["id"] == "input-cpu"]
    assert finding["pids"] == [551]
    # One process at a whole core on a machine of sixteen.
    assert finding["evidence"]["job_cpu_percent"] == pytest.approx(100, abs=2)
    assert finding["evidence"]["host_cpu_count"] == 16
    assert finding["evidence"]["host_idle_cores"] == pytest.approx(15, abs=0.2)
    assert finding["evidence"]["lost_gpu_hours_per_day"] == pytest.approx(24 * finding["lost_share"], abs=0.02)


def test_a_long_recording_as_a_whole() -> None:
    part = diagnose("--replay", JOBS)
    since = {finding["id"]: finding["since_seconds"] for finding in part["findings"] if finding["severity"] == "problem"}
    in_order = sorted(since, key=lambda word: since[word])
    assert in_order == [
        "launch-bound", "input-cpu", "input-io", "copy-bound", "wrong-precision", "memory-leak", "periodic-stalls",
        "hung", "spinning",
    ]  # fmt: skip


def test_what_a_person_reads() -> None:
    done = gpulse("diagnose", "--replay", JOBS, "--from", "89s", "--to", "110s", "--width", "100")
    assert done.code == 0 and done.err == ""
    assert done.lines[0].startswith("launch-bound  kernels too small to fill the GPU")
    for words in ("GPU 0, process 512", "costs", "at best more than 10 times as fast", "try", "gpulse explain launch-bound"):
        assert words in done.out
    assert max(map(len, done.lines)) <= 100
    well = gpulse("diagnose", "--replay", JOBS, "--from", "372.2s", "--to", "393.6s")
    assert well.lines[0].startswith("healthy") and "problem" not in well.out and "note" not in well.out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--from", "3s"], "--from and --to are for recordings"),
        (["--replay", JOBS, "--from", "10x"], '"10x" is not a time in a recording'),
        (["--replay", JOBS, "--from", "9s", "--to", "3s"], "--from comes before --to"),
        (["--replay", JOBS, "--since", "1h"], "--replay and --since do not go together"),
        (["--replay", JOBS, "--for", "9s"], "--for is for what happens now"),
        (["--replay", JOBS, "--by", "job"], "--by can only be phase"),
        (["--by", "phase"], "--by needs a recording"),
    ],
)
def test_wrong_usage(words: list[str | Path], complaint: str) -> None:
    refused = gpulse("diagnose", *words)
    assert refused.code == 2
    assert complaint in only_line(refused.err)


def test_nothing_to_judge() -> None:
    late = gpulse("diagnose", "--replay", JOBS, "--from", "1h")
    assert (late.code, only_line(late.err)) == (1, "gpulse: there is no sample in that time")
    unlabelled = gpulse("diagnose", "--replay", JOBS, "--by", "phase")
    assert unlabelled.code == 1 and "has no phases" in only_line(unlabelled.err)
    nobody = gpulse("diagnose", "--for", "3s")
    assert nobody.code == 3 and "no GPU found" in nobody.err


def test_what_happens_now() -> None:
    done = gpulse("diagnose", "--json", "--for", "4s", scenario=ROOT / "sim/scenarios/single.toml")
    assert done.code == 0, done.err
    part = json.loads(done.out)
    assert part["verdict"] == "healthy" and 4 <= part["end_seconds"] < 9 and part["samples"] >= 4


# It holds memory, and has run nothing for a long time.
HUNG = """
[[device]]
profile = "h200"
gpu_util = 0
memory_used_mib = 10860

[device.gpm]
gract = 0
smutil = 0
smocc = 0
mmaact = 0
hmmat = 0
dram = 0

[[process]]
device = 0
pid = {pid}
memory_mib = 10240
sm = 0
"""


def test_what_the_agent_has_seen(tmp_path: Path) -> None:
    scenario, history = tmp_path / "hung.toml", tmp_path / "history.db"
    with open_folder() as folder, sleeper() as job:
        scenario.write_text(HUNG.format(pid=job.pid))
        with Agent(folder, "--history", history, scenario=scenario):
            now = gpulse("diagnose", "--json", "--for", "7s", scenario=scenario, GPULSE_AGENT=str(folder))
        assert json.loads(now.out)["verdict"] == "hung", now.out
    past = gpulse("diagnose", "--json", "--since", "1h", "--history", history)
    assert past.code == 0, past.err
    assert json.loads(past.out)["verdict"] == "hung", past.out
