"""Whose GPUs are mine: --mine, --user, --pid and -i visible, in the table, in JSON, and in the live view."""

from __future__ import annotations

import os
import pwd
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from agent import AS_NOBODY, needs_root, sleeper, wait_for
from harness import Result, gpulse
from top import Top

ME = pwd.getpwuid(os.geteuid()).pw_name

GPUS = "".join(f'[[device]]\nprofile = "h100"\nuuid = "GPU-{index}0000000-0000-0000-0000-000000000000"\n' for index in range(4))


def process(device: int, pid: int) -> str:
    return f"[[process]]\ndevice = {device}\npid = {pid}\nmemory_mib = 1000\n"


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[tuple[Path, int, int]]:
    """Four GPUs: a process of mine on the first, a grandchild of a shell of mine on the second, nothing on the others. Their
    pids are those of the first process, and of the shell."""
    tree = ["sh", "-c", "sh -c 'sleep 1000; :' ; :"]
    with sleeper() as own, subprocess.Popen(tree) as shell:
        children = Path(f"/proc/{shell.pid}/task/{shell.pid}/children")
        try:
            child = wait_for(lambda: children.read_text().split(), "the shell's shell")[0]
            below = Path(f"/proc/{child}/task/{child}/children")
            grandchild = int(wait_for(lambda: below.read_text().split(), "its sleep")[0])
            scenario = tmp_path / "scenario.toml"
            scenario.write_text(GPUS + process(0, own.pid) + process(1, grandchild))
            yield scenario, own.pid, shell.pid
        finally:
            os.kill(grandchild, signal.SIGKILL)  # each shell ends with what it waits for


def shown(result: Result) -> tuple[list[int], int]:
    """The GPUs, and how many processes."""
    assert result.code == 0, result.err
    return [device["index"] for device in result.json["devices"]], len(result.json["processes"])


def test_mine_are_my_processes_and_the_gpus_they_are_on(machine: tuple[Path, int, int]) -> None:
    scenario, _, _ = machine
    assert shown(gpulse("--json", scenario=scenario)) == ([0, 1, 2, 3], 2)
    assert shown(gpulse("--json", "--mine", scenario=scenario)) == ([0, 1], 2)
    assert shown(gpulse("--json", "--user", ME, scenario=scenario)) == ([0, 1], 2)


def test_a_process_comes_with_all_that_it_has_started(machine: tuple[Path, int, int]) -> None:
    scenario, own, shell = machine
    assert shown(gpulse("--json", "--pid", str(own), scenario=scenario)) == ([0], 1)
    assert shown(gpulse("--json", "--pid", str(shell), scenario=scenario)) == ([1], 1)
    assert shown(gpulse("--json", "--pid", str(os.getpid()), scenario=scenario)) == ([0, 1], 2), "both are of this test"


def test_what_is_chosen_is_chosen_in_every_format(machine: tuple[Path, int, int]) -> None:
    scenario, own, _ = machine
    table = gpulse("--pid", str(own), scenario=scenario).out
    assert re.findall(r"^ *(\d) +H100", table, re.MULTILINE) == ["0"] and str(own) in table
    rows = gpulse("--csv", "--fields", "index", "--pid", str(own), scenario=scenario).lines
    assert rows == ["index", "0"]
    watched = gpulse("--watch", "0.05", "--count", "2", "--json", "--pid", str(own), scenario=scenario)
    assert [[device["index"] for device in each["devices"]] for each in watched.json_lines] == [[0], [0]]


def test_choices_add_up(machine: tuple[Path, int, int]) -> None:
    scenario, own, _ = machine
    assert shown(gpulse("--json", "--mine", "-i", "1,2", scenario=scenario)) == ([1], 1)
    assert gpulse("--json", "--pid", str(own), "-i", "1", scenario=scenario).code == 1


def test_nobody_is_said_in_one_line(machine: tuple[Path, int, int]) -> None:
    scenario, _, _ = machine
    told = gpulse("--user", "nobody-at-all", scenario=scenario)
    assert told == Result(1, "", "gpulse: no GPU process of nobody-at-all: gpulse shows those of everybody\n")
    told = gpulse("--pid", "4194304", scenario=scenario)
    assert told == Result(1, "", "gpulse: no GPU process in the tree of 4194304: gpulse shows those of everybody\n")
    assert gpulse("--mine", "--user", "ann", scenario=scenario).code == 2


def test_watch_waits_for_somebody_to_come(machine: tuple[Path, int, int]) -> None:
    scenario, _, _ = machine
    told = gpulse("--watch", "0.05", "--count", "2", "--user", "nobody-at-all", scenario=scenario)
    assert told.code == 0 and told.out.count("no GPU process of nobody-at-all\n") == 2
    assert "H100" not in told.out


def test_another_users_processes_are_not_mine(tmp_path: Path) -> None:
    needs_root()
    with ExitStack() as stack:
        mine, other = stack.enter_context(sleeper()), stack.enter_context(sleeper(*AS_NOBODY))
        scenario = tmp_path / "scenario.toml"
        scenario.write_text(GPUS + process(0, mine.pid) + process(3, other.pid))
        assert shown(gpulse("--json", "--mine", scenario=scenario)) == ([0], 1)
        assert shown(gpulse("--json", "--user", "nobody", scenario=scenario)) == ([3], 1)


@pytest.mark.parametrize(
    "mask, expected",
    [("1,0", [0, 1]), ("2", [2]), ("GPU-3", [3]), ("0,9,1", [0]), ("0,0", []), ("-1", []), ("", [])],
)
def test_visible_is_what_cuda_would_show(tmp_path: Path, mask: str, expected: list[int]) -> None:
    """By its rules: an entry that is none ends the list, one that comes twice empties it."""
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(GPUS)
    told = gpulse("--json", "-i", "visible", scenario=scenario, CUDA_VISIBLE_DEVICES=mask)
    if expected:
        assert shown(told)[0] == expected
    else:
        assert told.code == 2 and told.out == ""
        assert told.err.startswith("gpulse: no GPU is visible to a program started here: ")


def test_without_a_mask_every_gpu_is_visible(tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(GPUS)
    assert shown(gpulse("--json", "-i", "visible", scenario=scenario))[0] == [0, 1, 2, 3]


def test_the_live_view_takes_them_too(machine: tuple[Path, int, int], tmp_path: Path) -> None:
    scenario, own, _ = machine
    with Top(tmp_path, "--pid", str(own), scenario=scenario) as top:
        top.wait_text(str(own))
        assert top.pids == [own]
