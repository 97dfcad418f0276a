"""`gpulse top` looks back: into a history as into a recording, and from the live view beyond its own start."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent import Agent, open_folder, wait_for
from top import Top

EARLY, LATE, NOW = 11, 77, 33  # per cent of use

DEVICE = """
[[device]]
profile = "h100"
"""
PROCESS = f"[[process]]\ndevice = 0\npid = {os.getpid()}\n"
BEFORE = DEVICE + f"gpu_util = {{ steps = [[0, {EARLY}], [1.5, {LATE}]] }}\n" + PROCESS
AFTERWARDS = DEVICE + f"gpu_util = {NOW}\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Of an agent that has seen the use of a GPU rise, and has ended."""
    scenario = tmp_path_factory.mktemp("scenario") / "rises.toml"
    scenario.write_text(BEFORE)
    with open_folder() as folder:
        with Agent(folder, "--interval", "100ms", scenario=scenario) as agent:
            fields = ("--csv", "--fields", "utilization.gpu")
            wait_for(lambda: str(LATE) in agent.run(*fields).out, "the rise")
            agent.wait_samples(12)  # the history keeps one a second
            assert agent.end() == 0
        yield folder


def use(top: Top) -> int:
    found = re.search(r"│ +0 H100 80GB HBM3 \S* +(\d+)%", top.text)
    assert found, top.text
    return int(found.group(1))


def is_history(top: Top) -> bool:
    return "HISTORY" in top.lines[0]


def go_to(top: Top, time: str) -> None:
    top.press("g")
    top.wait_for(lambda: top.message.startswith("go to time:"), "the question")
    top.type(time)
    top.press("Enter")


def test_a_history_is_looked_at_like_a_recording(tmp_path: Path, folder: Path) -> None:
    with Top(tmp_path, "--since", "1h", "--history", folder / "history.db", ready="HISTORY") as top:
        # It stands still at what is newest.
        assert re.search(r"‖ 0:0(\d) of 0:0\1$", top.lines[0]), top.lines[0]
        assert use(top) == LATE
        top.press("(")
        top.press("{")
        top.wait_for(lambda: "‖ 0:00 of" in top.lines[0] and use(top) == EARLY, "its start")
        top.press("p")
        top.wait_for(lambda: "▶" in top.lines[0], "it to play")
        top.wait_for(lambda: "‖" in top.lines[0] and use(top) == LATE, "the rise, and the end")
        # That was then: nothing is done to those who are there now.
        assert top.pids == [os.getpid()]
        top.press("Down", "]")
        top.wait_for(lambda: "this is the history" in top.message, "why not")


def test_where_a_history_begins_and_how_fast_it_is_played(tmp_path: Path, folder: Path) -> None:
    arguments = ("--since", "1h", "--history", folder / "history.db", "--at", "0s", "--speed", "0.01")
    with Top(tmp_path, *arguments, ready="▶ 0:00 of") as top:
        assert is_history(top) and use(top) == EARLY and top.lines[0].endswith("x0.01")


def test_the_live_view_goes_on_into_the_history(tmp_path: Path, folder: Path) -> None:
    scenario = tmp_path / "now.toml"
    scenario.write_text(AFTERWARDS)
    with Agent(folder, scenario=scenario) as agent, Top(tmp_path, GPULSE_AGENT=str(folder)) as top:
        agent.wait_samples(2)
        assert use(top) == NOW and not is_history(top)
        # Back by the second: none is shown twice, also not where the agent's last ones meet those that came since.
        top.press("p")
        top.wait_for(lambda: "PAUSED" in top.lines[0], "a pause")
        for _ in range(40):
            clock = top.clock
            top.press("(")
            top.wait_for(lambda: is_history(top) or top.clock < clock, "the sample before")
            if is_history(top):
                break
        # Straight from the first live one to the last that was kept before it.
        assert is_history(top) and use(top) == LATE
        assert "PAUSED" in top.lines[0]
        before = top.clock
        top.press(")")
        top.wait_for(lambda: not is_history(top) and use(top) == NOW and top.clock > before, "the first live one again")
        go_to(top, "start")
        top.wait_for(lambda: is_history(top) and use(top) == EARLY, "the start of the history")
        top.press("L")
        top.wait_for(lambda: "LIVE" in top.lines[0] and not is_history(top) and use(top) == NOW, "now")


def test_without_a_history_the_past_begins_with_the_view(tmp_path: Path) -> None:
    with Top(tmp_path, "--history", tmp_path / "none.db", scenario="single") as top:
        top.press("{")
        top.wait_for(lambda: "PAUSED" in top.lines[0] and "looking into" not in top.message, "a pause")
        assert not is_history(top) and "none.db" not in top.text
        top.press("L")
        top.wait_for(lambda: "LIVE" in top.lines[0], "now")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--since", "1h", "--history", "/none.db"], 1, "gpulse: /none.db cannot be read: No such file or directory"),
        (["--since", "1h"], 1, "gpulse: there is no history"),
        (["--since", "soon"], 2, '"soon" is not a length of time'),
        (["--since", "1h", "--demo"], 2, "gpulse: --since is for the history"),
    ],
)
def test_what_cannot_be_looked_at(tmp_path: Path, arguments: list[str], code: int, said: str) -> None:
    with Top(tmp_path, *arguments, ready=None) as top:
        assert top.exit_code() == code
        assert said in top.text
