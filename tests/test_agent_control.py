"""Telling the agent what to do: to let go of the drivers and take them up again, by hand or around a setting; what is
never published or read; what it tells the service manager."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent import AS_NOBODY, NOBODY, Agent, needs_root, open_folder, wait_for
from harness import GPULSE, Result, environment, gpulse, only_line, run
from settings_machine import PCI_CLASS, RESET, machine

LET_GO = r"the agent has let go of the GPUs for another \d s: gpulse --no-agent reads them all the same"


class Log:
    """The driver's calls that the agent makes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def calls(self) -> list[str]:
        return self.path.read_text().split("\n")[:-1] if self.path.exists() else []

    @property
    def is_open(self) -> bool:
        """Whether a session of the driver is open."""
        return self.count("nvmlInit") > self.count("nvmlShutdown")

    def count(self, prefix: str) -> int:
        return sum(1 for call in self.calls if call.startswith(prefix))


def gpus(agent: Agent) -> int:
    return len(agent.run("--json").json["devices"])


def test_released_the_driver_is_closed_and_comes_back_by_itself(place: Path, tmp_path: Path) -> None:
    log = Log(tmp_path / "log")
    with Agent(place, "--interval", "0.2", GPULSE_SIM_LOG=str(log.path)) as agent:
        assert agent.run("smi", "-q").code == 0, "details have a session of their own"
        assert log.is_open
        assert agent.run("agent", "release", "3s").code == 0
        begun = time.monotonic()
        assert not log.is_open, "closed when the answer comes"
        calls = len(log.calls)
        result = agent.run("--json")
        assert (result.code, result.json["devices"]) == (3, [])
        assert result.json["host"]["memory_total_bytes"] > 0
        assert re.fullmatch(f"gpulse: no GPU found: {LET_GO}", only_line(result.err))
        assert "CPU" in agent.run().out
        smi = agent.run("smi", "-q")
        assert smi.code == 6
        assert re.fullmatch(f"No devices were found: {LET_GO}\n", smi.out)
        assert 0 < agent.status()["released_seconds"] <= 3
        assert "released  the GPUs for another 0:0" in agent.run("agent", "status").out
        with agent.start_watch("--json", "--watch", "0.2") as watch:
            watch.wait_samples(2)
            assert len(log.calls) == calls, "nobody makes it call the driver"
            wait_for(lambda: watch.samples[-1]["devices"], "the GPUs to come back")
        assert 2.9 < time.monotonic() - begun < 5
        assert log.is_open
        assert agent.status()["released_seconds"] == 0


def test_released_after_a_while_the_driver_is_closed_as_well(place: Path, tmp_path: Path) -> None:
    """Who listens for the driver's events comes back from it seconds later; readers go on meanwhile, and the time that
    was asked for begins after that."""
    log = Log(tmp_path / "log")
    with Agent(place, "--interval", "0.2", GPULSE_SIM_LOG=str(log.path)) as agent:
        time.sleep(2)  # of 250 ms, 500 ms, 1 s, 2 s that it waits for events
        with agent.start_watch("--json", "--watch", "0.2") as watch:
            assert agent.run("agent", "release", "1s").code == 0
            assert not log.is_open
            assert watch.wait_more(2)[-1]["devices"] == []
            assert not log.is_open
            wait_for(lambda: watch.samples[-1]["devices"], "the GPUs to come back", 3)
            times = [sample["time"] for sample in watch.samples]
            assert len(set(times)) == len(times)
            assert watch.err == ""


def test_resume_takes_the_driver_up_again_at_once(place: Path, tmp_path: Path) -> None:
    log = Log(tmp_path / "log")
    with Agent(place, GPULSE_SIM_LOG=str(log.path)) as agent:
        assert agent.run("agent", "release", "1h").code == 0
        assert agent.run("agent", "release", "30m").code == 0, "one that comes on top of another counts"
        assert agent.status()["released_seconds"] < 1801
        assert not log.is_open
        assert agent.run("agent", "resume").code == 0
        assert gpus(agent) == 1, "there when the answer comes"
        # Where nothing was released, and details are held open, it has nothing to wait for.
        assert agent.run("smi", "-q").code == 0
        begun = time.monotonic()
        assert agent.run("agent", "resume").code == 0
        assert time.monotonic() - begun < 1


@pytest.mark.parametrize("words", [["release"], ["release", "0s"], ["release", "2h"], ["release", "x"], ["pause"]])
def test_what_it_does_not_understand(place: Path, words: list[str]) -> None:
    with_line = gpulse("agent", *words, GPULSE_AGENT=str(place))
    assert with_line.code == 2
    assert only_line(with_line.err).startswith("gpulse: ")


def test_without_an_agent_it_says_so(place: Path) -> None:
    for words in (["status"], ["release", "3s"], ["resume"]):
        result = gpulse("agent", *words, GPULSE_AGENT=str(place))
        assert (result.code, only_line(result.err)) == (
            1,
            "gpulse: no agent runs: start one with gpulse serve, or the service of that name",
        )


def test_only_root_and_its_own_user_may_tell_it(place: Path) -> None:
    needs_root()
    with Agent(place) as agent:
        for words in (["release", "3s"], ["resume"]):
            result = agent.run("agent", *words, prefix=AS_NOBODY)
            assert (result.code, only_line(result.err)) == (1, "gpulse: only root and the agent's own user may do that")
        assert agent.status()["released_seconds"] == 0
        assert agent.run("agent", "status", prefix=AS_NOBODY).code == 0, "everybody may ask"
    theirs = place / "theirs"
    theirs.mkdir()
    os.chown(theirs, NOBODY, NOBODY)
    with Agent(theirs, prefix=AS_NOBODY) as agent:
        for prefix in (AS_NOBODY, []):
            assert agent.run("agent", "release", "60s", prefix=prefix).code == 0
            assert gpus(agent) == 0
            assert agent.run("agent", "resume", prefix=prefix).code == 0
            assert gpus(agent) == 1


SETTINGS = {
    "mig": (["set", "mig", "on", "--yes"], "nvmlDeviceSetMigMode"),
    "smi -mig": (["smi", "-mig", "1"], "nvmlDeviceSetMigMode"),
}


@pytest.mark.parametrize("words", SETTINGS)
def test_what_monitors_stand_in_the_way_of_is_done_without_the_agent(place: Path, tmp_path: Path, words: str) -> None:
    command, call = SETTINGS[words]
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(machine("anyone"))
    log, own = Log(tmp_path / "log"), Log(tmp_path / "own")
    with Agent(place, scenario=scenario, GPULSE_SIM_LOG=str(log.path)) as agent:
        inits = log.count("nvmlInit")
        result = agent.run(*command, scenario=scenario, GPULSE_SIM_LOG=str(own.path))
        assert (result.code, result.err) == (0, "")
        assert own.count(call) == 1
        assert log.count("nvmlShutdown") == 1 and log.count("nvmlInit") == inits + 1, "let go of, and taken up again"
        assert "lets go of the GPUs for 120 s" in agent.log
        assert "takes up the GPUs again" in agent.log
        assert gpus(agent) == 1


def test_a_reset_is_done_without_the_agent(place: Path, tmp_path: Path, sysroot) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(machine("anyone"))
    root = sysroot({RESET: "", PCI_CLASS: "0x030200\n"})
    with Agent(place, scenario=scenario) as agent:
        result = agent.run("smi", "--gpu-reset", "--sysroot", root, scenario=scenario)
        assert result.code == 0, result.out
        assert (root / RESET).read_text() == "1"
        assert "lets go of the GPUs" in agent.log and "takes up the GPUs again" in agent.log


def test_other_settings_leave_it_alone(place: Path, tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(machine("anyone"))
    with Agent(place, scenario=scenario) as agent:
        assert agent.run("set", "power-limit", "300W", "--yes", scenario=scenario).code == 0
        assert "lets go" not in agent.log


def test_a_recording_is_made_of_its_samples(place: Path, tmp_path: Path) -> None:
    with Agent(place) as agent:
        file, log = tmp_path / "made.gpr", tmp_path / "log"
        words = ["record", "-o", file, "--interval", "0.1", "--count", "5"]
        made = agent.run(*words, scenario="single", GPULSE_SIM_LOG=str(log))
        assert (made.code, log.exists()) == (0, False), made.err
        played = gpulse("--replay", file, "--json", "--watch", "--speed", "100").json_lines
        assert [each["devices"][0]["name"] for each in played] == ["NVIDIA H200"] * 5
        assert len({each["time"] for each in played}) == 5


# --- What is not this machine


def uuids(result: Result) -> list[str]:
    return [device["uuid"] for device in result.json["devices"]]


@pytest.fixture(scope="module")
def agent() -> Iterator[Agent]:
    with open_folder() as folder, Agent(folder) as agent:
        yield agent


def test_what_is_not_this_machine_as_it_is_does_not_come_from_the_agent(agent: Agent, tmp_path: Path, sysroot) -> None:
    recording = tmp_path / "demo.gpr"
    assert gpulse("record", "-o", recording, "--demo", "--count", "2").code == 0
    root = sysroot({"/proc/stat": "cpu 1 2 3\n"})
    apart = {
        "demo": ["--demo"],
        "replay": ["--replay", str(recording)],
        "sysroot": ["--sysroot", str(root)],
        "source": ["--source", "drm"],
        "no agent": ["--no-agent"],
        "window": ["--sample", "0.2"],
    }
    # Without a scenario there is no driver: an H200 would be the agent's.
    for name, words in apart.items():
        result = agent.run("--json", *words)
        assert result.code == (0 if name in ("demo", "replay") else 3), f"{name}: {result.err}"
        assert uuids(result) != uuids(agent.run("--json")), name


# Where others would look for an agent of this user.
def looked_for(folder: Path) -> dict[str, str]:
    env = environment(None, XDG_RUNTIME_DIR=str(folder), HOME=str(folder))
    del env["GPULSE_AGENT"]
    return env


def test_an_agent_of_the_demo_is_found_by_nobody_unasked(place: Path) -> None:
    needs_root()
    os.chown(place, NOBODY, NOBODY)
    log = place / "log"
    command = [*AS_NOBODY, str(GPULSE), "serve", "--demo", "--listen", "off"]
    with log.open("w") as file, subprocess.Popen(command, env=looked_for(place), stderr=file) as process:
        try:
            said = re.compile(r"publishes in (/tmp/gpulse-\w{6}), every 1 s")
            folder = Path(wait_for(lambda: said.search(log.read_text()), "it to run")[1])
            wait_for((folder / "segment").exists, "its first sample")
            assert not (place / "gpulse").exists()
            unasked = run([*AS_NOBODY, GPULSE, "--json"], looked_for(place))
            assert (unasked.code, unasked.json["devices"]) == (3, [])
            asked = gpulse("--json", GPULSE_AGENT=str(folder))
            assert (asked.code, asked.json["origin"]) == (0, "DEMO")
            assert gpulse(GPULSE_AGENT=str(folder)).out.startswith("[DEMO] ")
        finally:
            process.terminate()
    assert process.returncode == 0
    assert not folder.exists()


def test_an_agent_of_a_user_is_found_by_that_user_alone(place: Path) -> None:
    needs_root()
    os.chown(place, NOBODY, NOBODY)
    # An empty name is none.
    with Agent(place / "gpulse", prefix=AS_NOBODY, XDG_RUNTIME_DIR=str(place), GPULSE_AGENT=""):
        assert (place / "gpulse").stat().st_mode & 0o777 == 0o700
        own = run([*AS_NOBODY, GPULSE, "--json"], looked_for(place))
        assert (own.code, len(own.json["devices"])) == (0, 1)
        other = run(["setpriv", "--reuid=65533", "--clear-groups", GPULSE, "--json"], looked_for(place))
        assert (other.code, other.json["devices"]) == (3, [])
        assert f"{place}/gpulse" not in other.out


# --- The service manager


def test_the_watchdog_is_told_that_it_lives(place: Path) -> None:
    with Agent(place, "--interval", "0.2", WATCHDOG_USEC="600000") as agent:
        assert agent.messages().count("READY=1") == 1
        wait_for(lambda: agent.messages().count("WATCHDOG=1") >= 3, "signs of life")
        assert agent.end() == 0
        assert "STOPPING=1" in agent.messages()
        assert agent.messages().count("READY=1") == 1


def test_the_watchdog_is_told_also_between_rare_samples(place: Path) -> None:
    with Agent(place, "--interval", "1000", WATCHDOG_USEC="600000") as agent:
        wait_for(lambda: agent.messages().count("WATCHDOG=1") >= 3, "signs of life", 3)
