"""How often an agent samples: as often as the fastest of its readers asks for, within its limits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent import Agent, open_folder, wait_for
from harness import only_line
from top import Top

BY_ITSELF = "this program reads the GPUs by itself"


@pytest.fixture(scope="module")
def agent() -> Iterator[Agent]:
    with open_folder() as folder, Agent(folder) as agent:
        yield agent


@pytest.fixture
def without_socket(agent: Agent) -> Iterator[Agent]:
    """As where a folder is shared with a container, and the socket is not."""
    hidden = agent.folder / "hidden"
    agent.socket.rename(hidden)
    yield agent
    hidden.rename(agent.socket)


def times(samples: list[dict]) -> list[str]:
    return [sample["time"] for sample in samples]


def within_a_second(all_times: list[str]) -> int:
    """How many of them lie in a whole second, away from both ends."""
    seconds = [float(time[17:-1]) + 60 * float(time[14:16]) for time in all_times]
    return sum(1 for second in seconds if 0 < second - seconds[2] <= 1)


def test_a_reader_gets_the_rate_it_asks_for_while_it_runs(agent: Agent, tmp_path: Path) -> None:
    assert agent.status()["interval_seconds"] == 1
    log = tmp_path / "log"
    with agent.start_watch("--json", "--watch", "0.1", scenario="single", GPULSE_SIM_LOG=str(log)) as watch:
        all_times = times(watch.wait_samples(16))
        assert len(set(all_times)) == len(all_times)
        assert 8 <= within_a_second(all_times) <= 12
        status = agent.status()
        assert status["interval_seconds"] == 0.1
        (reader,) = status["readers"]
        assert (reader["program"], reader["pid"], reader["interval_seconds"]) == ("gpulse", watch.process.pid, 0.1)
        text = agent.run("agent", "status").out
        assert f"reader    gpulse (pid {watch.process.pid}, user" in text
        assert "every 0.1 s for its readers, else every 1 s; a reader may ask for 0.1 s" in text
        assert watch.err == ""
        assert not log.exists(), "it has called a driver"
    wait_for(lambda: agent.status()["interval_seconds"] == 1, "the agent's own rate")
    assert agent.status()["readers"] == []
    assert "readers   nobody has asked for a rate of his own" in agent.run("agent", "status").out


def test_a_slower_reader_gets_what_it_asks_for_too(agent: Agent) -> None:
    with agent.start_watch("--json", "--watch", "0.1") as fast, agent.start_watch("--json", "--watch", "0.5") as slow:
        slow_times = times(slow.wait_samples(5))
        assert len(set(slow_times)) == len(slow_times)
        assert 1 <= within_a_second(slow_times) <= 3
        assert len(fast.samples) > len(slow_times)


def test_a_loop_of_smi_has_its_own_pace_too(agent: Agent) -> None:
    query = ["smi", "--query-gpu=timestamp", "--format=csv,noheader", "-lms", "100"]
    with agent.start_watch(*query) as watch:
        wait_for(lambda: [each["interval_seconds"] for each in agent.status()["readers"]] == [0.1], "its wish")
        # Its lines are no JSON.
        lines = wait_for(lambda: lines if len(lines := watch.text.splitlines()) >= 16 else [], "its lines")
        assert len(set(lines)) == len(lines)
        seconds = [float(line[17:]) + 60 * float(line[14:16]) for line in lines]
        assert 8 <= sum(1 for second in seconds if 0 < second - seconds[2] <= 1) <= 12


def test_beyond_the_fastest_it_reads_by_itself_and_says_so(agent: Agent) -> None:
    with agent.start_watch("--json", "--watch", "0.05", scenario="single") as watch:
        all_times = times(watch.wait_samples(8))
        assert len(set(all_times)) == len(all_times)
        assert only_line(watch.err) == f"gpulse: the agent samples every 0.1 s, not every 0.05 s: {BY_ITSELF}"
        assert watch.samples[-1]["devices"][0]["state"] == "ok"
    assert agent.status()["readers"] == []


def test_without_the_socket_only_a_slower_reader_attaches(without_socket: Agent, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with without_socket.start_watch("--json", "--watch", "1", scenario="single", GPULSE_SIM_LOG=str(log)) as watch:
        all_times = times(watch.wait_samples(2))
        assert len(set(all_times)) == 2
        assert watch.err == ""
        assert not log.exists(), "it has called a driver"
    with without_socket.start_watch("--json", "--watch", "0.2", scenario="single", GPULSE_SIM_LOG=str(log)) as watch:
        watch.wait_samples(3)
        assert only_line(watch.err) == f"gpulse: the agent samples every 1 s, not every 0.2 s: {BY_ITSELF}"
        assert log.exists()


def test_without_the_socket_there_are_no_details(without_socket: Agent) -> None:
    result = without_socket.run("smi", "-q", scenario="single")
    assert result.code == 0
    assert "Product Name                                       : NVIDIA H200" in result.out
    words = f"gpulse: the agent's socket .*/socket cannot be reached: .*: {BY_ITSELF}"
    assert re.fullmatch(words, only_line(result.err))
    # What it publishes needs none.
    for words in (["smi"], ["smi", "-L"], ["gpustat"], ["--csv"]):
        result = without_socket.run(*words)
        assert (result.code, result.err) == (0, "")
        assert "H200" in result.out


def test_the_live_view_begins_with_a_past(tmp_path: Path) -> None:
    """A ramp of two seconds: only who was there has seen it."""
    scenario = tmp_path / "ramp.toml"
    scenario.write_text('[[device]]\nprofile = "h200"\ngpu_util = { steps = [[0, 90], [2, 3]] }\n')
    with open_folder() as folder, Agent(folder, scenario=scenario) as agent:
        agent.wait_samples(3)
        with Top(tmp_path, columns=200, scenario=scenario, GPULSE_AGENT=str(folder)) as top:
            # Plots are drawn in braille, a column for two samples.
            plots = [line for line in top.text.splitlines() if re.search("[⠁-⣿]", line)]
            assert plots, top.text
            assert any(len(re.findall("[⠁-⣿]", line)) >= 2 for line in plots), top.text
            # Its end is told on the screen, not across it.
            agent.end()
            top.wait_for(lambda: BY_ITSELF in top.text, "a word on it")
            assert "gpulse: the agent" not in top.text
        with Top(tmp_path, scenario=scenario) as alone:
            assert not any(len(re.findall("[⠁-⣿]", line)) >= 2 for line in alone.text.splitlines()), alone.text
