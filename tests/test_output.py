"""Choosing devices and fields, one look or many, colours, and what a fast look leaves out."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Callable

import pytest

from harness import MIB, ROOT, gpulse

ESCAPE = "\x1b"

THREE = """
[[device]]
profile = "h100"
uuid = "GPU-aaaaaaaa-0000-0000-0000-000000000000"
pci_bus_id = "00000000:3B:00.0"
temperature = 41

[[device]]
profile = "h100"
uuid = "GPU-aaaabbbb-0000-0000-0000-000000000000"
pci_bus_id = "00000000:AF:00.0"
temperature = 52

[[device]]
profile = "rtx4090"
uuid = "GPU-cccccccc-0000-0000-0000-000000000000"
pci_bus_id = "00000001:D8:00.0"
temperature = 63

[[process]]
device = 1
pid = 999999
memory_mib = 777
"""


@pytest.fixture
def three(scenario: Callable[[str], Path]) -> Path:
    return scenario(THREE)


@pytest.mark.parametrize(
    "selectors, expected",
    [
        (["-i", "0"], [41]),
        (["-i", "2,0"], [41, 63]),
        (["-i", "0", "-i", "1"], [41, 52]),
        (["-i", "GPU-aaaabbbb-0000-0000-0000-000000000000"], [52]),
        (["-i", "gpu-AAAAbbbb"], [52]),
        (["-i", "GPU-aaaa"], [41, 52]),
        (["-i", "0000:3b:00.0"], [41]),
        (["-i", "3B:00.0"], [41]),
        (["-i", "00000000:AF:00.0"], [52]),
        (["-i", "0001:d8:00.0"], [63]),
        (["-i", "nvidia"], [41, 52, 63]),
        (["--id", "1,GPU-cccccccc"], [52, 63]),
    ],
    ids=lambda value: " ".join(map(str, value)),
)
def test_a_selector_shows_just_its_devices(three: Path, selectors: list[str], expected: list[int]) -> None:
    result = gpulse("--json", *selectors, scenario=three)
    assert result.code == 0, result.err
    document = result.json
    assert [device["metrics"]["temperature_gpu_celsius"] for device in document["devices"]] == expected
    assert [process["pid"] for process in document["processes"]] == ([999999] if 52 in expected else [])


def test_a_selector_works_in_every_format(three: Path) -> None:
    text = gpulse("-i", "1", scenario=three).out
    assert "52°C" in text and "41°C" not in text and "63°C" not in text
    assert [row["temperature_gpu_celsius"] for row in gpulse("--csv", "-i", "1", scenario=three).csv] == ["52"]


def test_choosing_a_gpu_keeps_its_instances() -> None:
    # sim/profiles/a100-mig.toml has four instances.
    devices = gpulse("--json", "-i", "0", scenario="mig").json["devices"]
    assert [device["id"] for device in devices] == ["0", "0:0", "0:1", "0:2", "0:3"]


LONG = "/opt/venvs/" + "deep/" * 20 + "bin/python3"


@contextmanager
def job(folder: Path, *words: str) -> Iterator[Path]:
    """A script on a simulated GPU, whose interpreter calls itself by a long path; its scenario."""
    script = folder / "train.py"
    script.write_text("read end\n")
    with subprocess.Popen([LONG, "-u", script, *words], executable="/bin/sh", stdin=subprocess.PIPE) as process:
        path = folder / "scenario.toml"
        path.write_text(f'[[device]]\nprofile = "h100"\n[[process]]\ndevice = 0\npid = {process.pid}\n')
        yield path


def test_a_command_is_shown_without_the_path_of_its_interpreter(tmp_path: Path) -> None:
    with job(tmp_path, "--lr", "1e-4") as path:
        assert "python3 train.py --lr 1e-4" in gpulse("--width", "100", scenario=path).out
        told = gpulse("--json", scenario=path).json["processes"][0]
    assert told["command"] == f"{LONG} -u {tmp_path}/train.py --lr 1e-4", "programs get all of it"


def test_a_pipe_gets_every_word(tmp_path: Path) -> None:
    words = [word for number in range(20) for word in (f"--option-{number}", "value")]
    with job(tmp_path, *words) as path:
        assert " ".join(words) in gpulse(scenario=path).out
        assert max(map(len, gpulse(scenario=path, COLUMNS="80").lines)) <= 80
        assert max(map(len, gpulse("--width", "80", scenario=path).lines)) <= 80
    assert "…" not in gpulse(scenario="eight").out


def test_csv_has_the_fields_asked_for_in_their_order(three: Path) -> None:
    result = gpulse("--csv", "--fields", "memory_total_bytes,index,name,temperature_gpu_celsius", scenario=three)
    # sim/profiles: an H100 has 81559 MiB, an RTX 4090 24564 MiB.
    assert result.lines == [
        "memory_total_bytes,index,name,temperature_gpu_celsius",
        f"{81559 * MIB},0,NVIDIA H100 80GB HBM3,41",
        f"{81559 * MIB},1,NVIDIA H100 80GB HBM3,52",
        f"{24564 * MIB},2,NVIDIA GeForce RTX 4090,63",
    ]


def test_csv_takes_the_names_people_know(three: Path) -> None:
    result = gpulse("--csv", "--fields", "utilization.gpu,temperature.gpu", "-i", "0", scenario=three)
    assert result.lines == ["gpu_utilization_percent,temperature_gpu_celsius", "90,41"]


def test_fast_says_what_it_did_not_sample() -> None:
    begun = time.monotonic()
    document = gpulse("--fast", "--json", scenario="single").json
    assert time.monotonic() - begun < 2
    device = document["devices"][0]
    assert device["metrics"]["temperature_gpu_celsius"] == 63
    assert device["metrics"]["sm_active_percent"] is None
    assert device["unavailable"]["sm_active_percent"] == "not sampled yet"
    assert document["host"]["unavailable"]["cpu_percent"] == "not sampled yet"


def test_a_longer_sample_takes_as_long_as_it_says() -> None:
    begun = time.monotonic()
    document = gpulse("--sample", "700ms", "--json", scenario="single").json
    assert 0.7 <= time.monotonic() - begun < 10
    assert document["devices"][0]["metrics"]["sm_active_percent"] == 80.918


def test_watch_as_json_is_one_object_per_line() -> None:
    result = gpulse("--watch", "0.1", "--count", "3", "--json", scenario="single")
    assert result.code == 0
    documents = result.json_lines
    assert len(documents) == 3
    times = [document["time"] for document in documents]
    assert times == sorted(set(times))
    assert [document["devices"][0]["metrics"]["gpu_utilization_percent"] for document in documents] == [90, 90, 90]


def test_watch_as_csv_has_its_header_once() -> None:
    result = gpulse(
        "--watch", "0.1", "--count", "3", "--csv", "--fields", "index,temperature_gpu_celsius", scenario="single"
    )
    assert result.lines == ["index,temperature_gpu_celsius", "0,63", "0,63", "0,63"]


def test_watch_as_text_prints_one_table_after_the_other() -> None:
    result = gpulse("--watch", "0.1", "--count", "2", scenario="single")
    assert result.code == 0
    assert sum(line.startswith("GPU  NAME") for line in result.lines) == 2
    assert ESCAPE not in result.out


def test_interval_is_watch_s_as_well() -> None:
    result = gpulse("--watch", "--interval", "100ms", "--count", "3", "--json", scenario="single", timeout=10)
    assert len(result.json_lines) == 3


@pytest.mark.parametrize("arguments", [[], ["doctor"], ["explain"], ["--demo"], ["--json"], ["--csv"]], ids=" ".join)
def test_no_escape_sequence_leaves_for_a_pipe(arguments: list[str]) -> None:
    assert ESCAPE not in gpulse(*arguments, scenario="eight").out


def test_color_is_for_those_who_ask() -> None:
    assert ESCAPE in gpulse("--color", scenario="eight").out
    assert ESCAPE not in gpulse("--no-color", scenario="eight").out
    # The flag is the later word: it wins over the environment.
    assert ESCAPE in gpulse("--color", scenario="eight", NO_COLOR="1").out


def test_colour_changes_nothing_but_colour() -> None:
    trace = ROOT / "data" / "h200_trace.csv"
    plain = gpulse("--replay", trace, "--no-color").out
    coloured = gpulse("--replay", trace, "--color").out
    # Only the mark differs: [REPLAY] where it cannot stand out by itself.
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain.replace("[REPLAY]", " REPLAY ")


@pytest.mark.parametrize("name", ["single", "eight", "mig", "faulty", "hundred-twenty-eight"])
def test_ascii_is_ascii(name: str) -> None:
    assert gpulse("--ascii", scenario=name).out.isascii()


def test_a_hung_call_stops_one_gpu_and_not_the_command(scenario: Callable[[str], Path]) -> None:
    path = scenario(
        """
        [[device]]
        profile = "h100"
        count = 3

        [[fault]]
        call = "*"
        device = 1
        hang = true
        from = 0.05
        """
    )
    begun = time.monotonic()
    result = gpulse(scenario=path)
    assert time.monotonic() - begun < 8
    assert result.code == 0
    rows = {line.split()[0]: line for line in result.lines if re.match(r" +[0-2] +H100", line)}
    assert "not responding" in rows["1"]
    for healthy in ("0", "2"):
        assert "58°C" in rows[healthy] and "not responding" not in rows[healthy]


def test_a_lost_gpu_shows_as_lost(scenario: Callable[[str], Path]) -> None:
    path = scenario('[[device]]\nprofile = "h100"\n[[device]]\nprofile = "h100"\nlost = [[0.05, 1000]]\n')
    result = gpulse("--json", scenario=path)
    assert result.code == 0
    healthy, lost = result.json["devices"]
    assert (healthy["state"], healthy["metrics"]["temperature_gpu_celsius"]) == ("ok", 58)
    assert (lost["state"], lost["metrics"]["temperature_gpu_celsius"]) == ("lost", None)
    assert lost["unavailable"]["temperature_gpu_celsius"] == "lost"
    assert "lost" in gpulse(scenario=path).out


def test_a_call_that_fails_shows_why_and_nothing_else_suffers() -> None:
    # sim/scenarios/faulty.toml: no permission for the memory of GPU 2, an error instead of its fan speed.
    devices = gpulse("--json", scenario="faulty").json["devices"]
    third = devices[2]
    assert third["metrics"]["fan_speed_percent"] is None
    assert "error" in third["unavailable"]["fan_speed_percent"]
    assert third["unavailable"]["memory_used_bytes"] == "no permission"
    assert third["metrics"]["temperature_gpu_celsius"] == 67
    assert devices[0]["metrics"]["memory_used_bytes"] == 62180 * MIB
