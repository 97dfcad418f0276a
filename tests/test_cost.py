"""What a command reads: what it names or shows, and nothing else."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Callable

import pytest

from harness import GPULSE, environment, gpulse

FIVE = "utilization.gpu,memory.used,temperature.gpu,power.draw,clocks.current.sm"
# The driver's function for each of the five.
CALLS_OF_FIVE = {
    "nvmlDeviceGetUtilizationRates": 1,
    "nvmlDeviceGetMemoryInfo_v2": 1,
    "nvmlDeviceGetTemperatureV": 1,
    "nvmlDeviceGetPowerUsage": 1,
    "nvmlDeviceGetClockInfo": 1,
}
BUSY = """
[[device]]
profile = "h200"
[[process]]
device = 0
pid = "parent"
memory_mib = 1130
sm = 85
"""


def calls(log: Path, scenario: str | Path, *arguments: str | Path) -> Counter[str]:
    """How often each function of the driver is called by the command."""
    log.unlink(missing_ok=True)
    done = gpulse(*arguments, scenario=scenario, GPULSE_SIM_LOG=str(log))
    assert done.code == 0, done.err
    return Counter(log.read_text().splitlines())


def calls_per_tick(log: Path, scenario: str | Path, *arguments: str) -> dict[str, int]:
    """What eight more samples add, by sample. A busy machine may miss one."""
    few = calls(log, scenario, *arguments, "--count", "2")
    many = calls(log, scenario, *arguments, "--count", "10")
    return {name: round(count / 8) for name, count in (many - few).items()}


@pytest.mark.parametrize("form", ["--csv", "--json"])
def test_named_fields_are_read_by_one_call_each(form: str, tmp_path: Path) -> None:
    arguments = (form, "--fields", FIVE, "--watch", "0.05")
    assert calls_per_tick(tmp_path / "log", "single", *arguments) == CALLS_OF_FIVE


@pytest.mark.parametrize("format", ["csv", "prometheus"])
def test_a_log_calls_what_its_fields_cost(format: str, tmp_path: Path) -> None:
    words = ("log", "--format", format, "-o", str(tmp_path / format), "--force", "--interval", "50ms")
    one = calls_per_tick(tmp_path / "log", "single", *words, "--fields", "gpu_utilization_percent")
    assert one == {"nvmlDeviceGetUtilizationRates": 1}
    assert len(calls_per_tick(tmp_path / "log", "single", *words)) > 5


def test_what_is_no_reading_costs_no_call(tmp_path: Path) -> None:
    arguments = ("--csv", "--fields", "time,index,uuid,name,pci,driver,state,serial", "--watch", "0.05")
    assert calls_per_tick(tmp_path / "log", "single", *arguments) == {}


def test_a_loop_of_smi_calls_what_it_prints(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = [str(GPULSE), "smi", f"--query-gpu={FIVE}", "--format=csv,noheader", "-lms", "50"]
    with subprocess.Popen(command, env=environment("single", GPULSE_SIM_LOG=str(log)), stdout=subprocess.PIPE) as loop:
        assert loop.stdout is not None
        for _ in range(8):
            loop.stdout.readline()
        loop.kill()
    read = Counter(log.read_text().splitlines())
    ticks = read["nvmlDeviceGetPowerUsage"]
    assert ticks >= 8
    for name in CALLS_OF_FIVE:
        assert ticks - 1 <= read[name] <= ticks
    # The session, the device and its name: once, however many lines.
    assert sum(read.values()) - 5 * ticks < 20


def test_one_metric_of_many_costs_one(tmp_path: Path) -> None:
    """GPM and field values are paid for each, though one call asks for all."""
    read = calls(tmp_path / "log", "single", "--csv", "--fields", "sm_active_percent")
    assert [name for name in read if name.startswith(("gpm", "field"))] == ["gpm 2"]
    read = calls(tmp_path / "log", "single", "--csv", "--fields", "throttled_power_percent")
    assert {name: n for name, n in read.items() if name.startswith(("gpm", "field"))} == {"field 74": 2}


def test_named_fields_are_answered_without_a_window_unless_one_is_a_rate(tmp_path: Path) -> None:
    once = calls(tmp_path / "log", "single", "--csv", "--fields", FIVE)
    assert {name: once[name] for name in CALLS_OF_FIVE} == CALLS_OF_FIVE
    twice = calls(tmp_path / "log", "single", "--csv", "--fields", "power.draw,sm_active_percent")
    assert twice["nvmlGpmSampleGet"] == 2


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
@pytest.mark.parametrize(
    ("fields", "wanted"),
    [(FIVE, False), ("process_count", True)],
)
def test_no_file_of_host_or_processes_is_read_for_a_device(
    scenario: Callable[[str], Path], tmp_path: Path, fields: str, wanted: bool
) -> None:
    trace = tmp_path / "trace"
    command = ["strace", "-f", "-o", trace, "-e", "trace=openat,open", GPULSE, "--csv", "--fields", fields]
    command += ["--watch", "0.02", "--count", "10"]
    done = subprocess.run([str(word) for word in command], env=environment(scenario(BUSY)), capture_output=True)
    assert done.returncode == 0, done.stderr
    opened = set(re.findall(r'"(/proc/[^"]*)"', trace.read_text()))
    host = {"/proc/stat", "/proc/meminfo", "/proc/loadavg", "/proc/diskstats", "/proc/net/dev", "/proc/self/statm"}
    assert not opened & host
    assert wanted == any(re.fullmatch(r"/proc/[0-9]+/stat", path) for path in opened)


def test_a_recording_reads_what_json_reads(tmp_path: Path) -> None:
    json = calls(tmp_path / "log", "single", "--json", "--watch", "0.1", "--count", "5")
    recording = calls(
        tmp_path / "log", "single", "record", "-o", tmp_path / "x.gpr", "--interval", "100ms", "--count", "5"
    )
    waiting = [name for name in json if name.startswith("nvmlEventSet")]
    for read in (json, recording):
        for name in waiting:
            del read[name]
    assert recording == json


def lines_of(text: str) -> list[str]:
    """Without what changes from one moment to the next: the time, this machine's load, the energy used."""
    text = re.sub(r"[0-9.]+[kM]J", "J", text)
    return [line for line in text.splitlines()[1:] if not line.startswith("CPU ")]


@pytest.mark.parametrize("name", ["single", "desktop", "laptop", "mig", "faulty", "old-driver"])
def test_the_table_shows_what_it_would_show_if_all_were_read(name: str, tmp_path: Path) -> None:
    """A recording holds everything; the table reads only what it shows."""
    path = tmp_path / "everything.gpr"
    frozen = {"GPULSE_SIM_TIME": "100"}
    assert gpulse("record", "-o", path, "--count", "1", scenario=name, **frozen).code == 0
    live = gpulse("--width", "200", scenario=name, **frozen)
    assert lines_of(live.out) == lines_of(gpulse("--replay", path, "--width", "200").out)


@pytest.mark.parametrize("profile", ["h200", "a100", "rtx4090"])
def test_a_field_has_a_value_alone_if_it_has_one_among_all(profile: str, scenario: Callable[[str], Path]) -> None:
    """No reading may count on another one that was not asked for."""
    machine = scenario(f'[[device]]\nprofile = "{profile}"\npcie_rx_kbs = 5000\n')
    everything = gpulse("--csv", scenario=machine).csv[0]
    alone = {
        field: gpulse("--csv", "--fields", f"index,{field}", scenario=machine).csv[0][field]
        for field in everything
    }
    assert {field for field, value in alone.items() if value} == {field for field, value in everything.items() if value}


def test_a_line_per_instance_also_when_a_field_has_nothing_to_do_with_them() -> None:
    every = gpulse("--csv", scenario="mig").csv
    named = gpulse("--csv", "--fields", "id,power.draw", scenario="mig").csv
    assert len(every) > 1
    assert [row["id"] for row in named] == [row["id"] for row in every]
