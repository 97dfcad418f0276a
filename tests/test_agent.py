"""With an agent every command says what it says without one, and calls no driver."""

from __future__ import annotations

import csv
import difflib
import io
import json
import os
import pprint
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from agent import AS_NOBODY, NOBODY, Agent, needs_root, open_folder, sleeper, still
from harness import Result, gpulse

# The second at which each scenario is made to stand still.
SCENARIOS = {
    "single": 0,
    "eight": 0,
    "mig": 0,
    "desktop": 0,
    "h200-capture": 700,
    "old-driver": 0,
    "faulty": 12,
    "mismatch": 0,  # of the driver's library and its kernel module: no GPU is seen
}

QUERY = [name for name in re.findall(r'^"([^"]+)"', gpulse("smi", "--help-query-gpu").out, re.M) if name != "timestamp"]

COMMANDS: dict[str, list[str]] = {
    "gpulse": ["--width", "200"],
    "json": ["--json"],
    "csv": ["--csv"],
    "fields": ["--json", "--fields", "index,name,uuid,power_draw_watts,memory_used_bytes,temperature_gpu_celsius"],
    "smi": ["smi"],
    "smi -L": ["smi", "-L"],
    "smi -q": ["smi", "-q"],
    "smi -q -x": ["smi", "-q", "-x"],
    "smi --query-gpu": ["smi", f"--query-gpu={','.join(QUERY)}", "--format=csv"],
    "smi --query-compute-apps": ["smi", "--query-compute-apps=gpu_uuid,pid,name,used_memory", "--format=csv"],
    "gpustat": ["gpustat"],
    "gpustat --json": ["gpustat", "--json"],
    "gpustat -cpuF": ["gpustat", "-cpuF"],
    "doctor": ["doctor"],
    "log": ["log", "--count", "1", "--fields", "index,name,uuid,power_draw_watts,memory_used_percent"],
}

SINCE_INIT = "counts from when the simulator was loaded, which the agent did earlier"
MOMENT = "the moment of the sample"
PAST = "only an agent has a past to judge"
LATER = "a process that sleeps gets older"

# What may differ, and why. Of JSON and CSV: keys at any depth.
KEYS = {
    "time": MOMENT,
    "query_time": MOMENT,
    "energy_joules": SINCE_INIT,
    "throttled_power_seconds": SINCE_INIT,
    "throttled_thermal_seconds": SINCE_INIT,
    "throttled_power_percent": "a share of the time between two readings of a counter",
    "throttled_thermal_percent": "a share of the time between two readings of a counter",
    "xid_total": "only who listens to the driver's events for a while can count them",
    "running_seconds": LATER,
    "cpu_percent": "measured over time",
    "tree_cpu_percent": "measured over time",
    "tree_read_bytes_per_second": "measured over time, by each reader for itself",
    "tree_write_bytes_per_second": "measured over time, by each reader for itself",
    "cgroup_pressure_cpu_percent": "measured over time",
    "cgroup_pressure_io_percent": "measured over time",
    "cgroup_pressure_memory_percent": "measured over time",
    "for_seconds": "how long the one who tells it has known of it",
    "self": "the agent's own cost, not that of the reader",
    "findings": PAST,
}
# Of lists in JSON: elements.
ELEMENTS = [
    ({"name": "host", "problem": None, "remedy": None, "devices": 0}, "who reads a few fields himself skips the host"),
]
# Of text: what matches is taken out.
TEXT = {
    r"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}": MOMENT,
    r"\w{3} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d": MOMENT,
    r"^\d\d:\d\d:\d\d (?=GPU)": "the moment of an event",
    r"^CPU .*": "the host, measured over time",
    r" lost for \d+ s$| lost$": "how long the one who tells it has known of it",
    r"(?<=  )\d+:\d\d  (?=sleep)": LATER,
    r"\d+\.\dkJ$": SINCE_INIT,
    r"(SW (Power|Thermal).*Capping|SW Thermal Slowdown|Sync Boost) +: \d+ us": SINCE_INIT,
    r"<clocks_event_reasons_counters_\w+>\d+ us": SINCE_INIT,
    r"(?s)^[!·] GPU [^\n]*\n.*?gpulse diagnose says more\n": PAST,
    # doctor
    r"(?s)^\d+ GPUs? (?:is|are) seen[^\n]*\n(?:\nWhat to do first\n.*?\n)?(?=\n)": "the verdict counts that there is no agent, and what one makes up for",
    r"(?s)^Agent\n.*?\n\n": "that there is an agent",
    r"(?s)^What gpulse itself costs\n.*": "the agent's own cost and calls, not those of the reader",
    r"(?m)^  not sampled yet on .*\n(?:    .*\n)+": "xid_total, as above, and what the agent reads seldom",
}
# Of --query-gpu: fields.
FIELDS = {
    r"clocks_event_reasons_counters\.\w+|total_energy_consumption": SINCE_INIT,
}


def without_moving(value: Any, inside_host: bool = False) -> Any:
    if isinstance(value, dict):
        kept = {key: each for key, each in value.items() if key not in KEYS}
        return {key: without_moving(each, inside_host or key == "host") for key, each in kept.items()}
    if isinstance(value, list):
        return [without_moving(each, inside_host) for each in value if not any(each == one for one, _ in ELEMENTS)]
    # Every number of the host moves; that there is one stays.
    return "number" if inside_host and isinstance(value, (int, float)) else value


def comparable(command: str, result: Result) -> tuple[int, Any, str]:
    out: Any = result.out
    if command in ("json", "fields", "gpustat --json") and result.out:
        out = without_moving(json.loads(result.out))
    elif command == "csv":
        out = without_moving(list(csv.DictReader(io.StringIO(result.out))))
    elif command == "smi --query-gpu":
        # A GPU that is lost is told of in a line of its own.
        lines = result.out.splitlines(keepends=True)
        told = [line for line in lines if line.startswith("Unable")]
        rows = csv.DictReader([line for line in lines if line not in told], skipinitialspace=True)
        moving = re.compile("|".join(FIELDS))
        out = [{key: cell for key, cell in row.items() if not moving.match(key)} for row in rows] + told
    else:
        for pattern in TEXT:
            out = re.sub(pattern, "", out, flags=re.M)
    return result.code, out, result.err


def lines_of(answer: tuple[int, Any, str]) -> list[str]:
    code, out, err = answer
    return [str(code), *(out if isinstance(out, str) else pprint.pformat(out)).splitlines(), *err.splitlines()]


class Stage:
    """An agent on a scenario that stands still, with real processes on its GPUs."""

    def __init__(self, folder: Path, name: str, pids: list[int], agent_user: str) -> None:
        self.scenario = folder / "scenario.toml"
        self.scenario.write_text(still(name, SCENARIOS[name], pids))
        place = folder / "place"
        place.mkdir()
        if agent_user == "nobody":
            os.chown(place, NOBODY, NOBODY)
        self.log = folder / "log"
        prefix = AS_NOBODY if agent_user == "nobody" else None
        # All rhythms have come round after the second sample.
        self.agent = Agent(place, "--interval", "0.3", scenario=self.scenario, prefix=prefix)

    def answers(self, command: str, prefix: list[str]) -> tuple[Result, Result]:
        """With the agent and without."""
        words = COMMANDS[command]
        log = self.log / f"{command.replace(' ', '_').replace('/', '_')}"
        attached = self.agent.run(*words, prefix=prefix, scenario=self.scenario, GPULSE_SIM_LOG=str(log))
        assert not log.exists(), f"calls of a driver: {log.read_text().split()[:5]}"
        return attached, self.agent.run(*words, "--no-agent", prefix=prefix, scenario=self.scenario)


@pytest.fixture(scope="module")
def pids() -> Iterator[list[int]]:
    """Processes of two users, if we can be both."""
    other = AS_NOBODY if os.geteuid() == 0 else []
    with sleeper() as first, sleeper(*other) as second, sleeper() as third, sleeper(*other) as fourth:
        yield [first.pid, second.pid, third.pid, fourth.pid]


def compare_all(stage: Stage, prefix: list[str]) -> None:
    stage.log.mkdir(exist_ok=True)
    stage.log.chmod(0o777)  # whoever calls a driver can say so
    stage.agent.wait_samples(2)

    def compare(command: str) -> str:
        attached, polled = (comparable(command, each) for each in stage.answers(command, prefix))
        if attached == polled:
            return ""
        return f"{command}\n" + "\n".join(difflib.unified_diff(lines_of(attached), lines_of(polled), n=0, lineterm=""))

    with ThreadPoolExecutor(4) as pool:
        faults = "\n".join(filter(None, pool.map(compare, COMMANDS)))
    assert not faults, faults


def test_the_comparison_has_something_to_compare(pids: list[int]) -> None:
    """The processes are there with their names, and a command without an agent leaves a log of its calls."""
    with open_folder() as folder:
        path, log = folder / "scenario.toml", folder / "log"
        path.write_text(still("desktop", 0, pids))
        result = gpulse("--json", scenario=path, GPULSE_SIM_LOG=str(log))
        assert {each["pid"]: each["name"] for each in result.json["processes"]} == dict.fromkeys(pids[:3], "sleep")
        assert "nvmlDeviceGetTemperature" in log.read_text()


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_command_says_the_same(name: str, pids: list[int]) -> None:
    with open_folder() as folder:
        stage = Stage(folder, name, pids, "us")
        with stage.agent:
            compare_all(stage, [])


def test_without_a_driver_too() -> None:
    with open_folder() as folder, Agent(folder, "--interval", "0.3", scenario=None) as agent:
        for command, words in COMMANDS.items():
            attached, polled = (comparable(command, agent.run(*words, *more)) for more in ([], ["--no-agent"]))
            assert attached == polled, command


@pytest.mark.parametrize(("agent_user", "reader"), [("root", "nobody"), ("nobody", "root"), ("nobody", "nobody")])
def test_whoever_runs_the_agent_and_whoever_asks_it(agent_user: str, reader: str, pids: list[int]) -> None:
    needs_root()
    with open_folder() as folder:
        stage = Stage(folder, "desktop", pids, agent_user)
        with stage.agent:
            compare_all(stage, AS_NOBODY if reader == "nobody" else [])
