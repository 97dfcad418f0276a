"""In a real terminal of 80 by 24, made by tmux."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import subprocess
import time
from pathlib import Path
from typing import Callable, Iterator

import pytest
from wcwidth import wcswidth

from harness import GPULSE, environment

numbers = itertools.count()


class Terminal:
    """A shell in a terminal of its own."""

    def __init__(self, folder: Path, scenario: str | None, columns: int = 80, rows: int = 24) -> None:
        self.socket = folder / f"tmux-{next(numbers)}"
        env = environment(scenario, PS1="$ ", BASH_SILENCE_DEPRECATION_WARNING="1")
        self.tmux(
            *("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows)),
            *("env", "-i", *(f"{key}={value}" for key, value in env.items()), "bash", "--norc", "--noprofile", "-i"),
        )
        self.wait_for(lambda: "$" in self.screen())

    def tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", str(self.socket), *arguments],
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm-256color"},
            capture_output=True,
            encoding="utf-8",
            timeout=30,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def close(self) -> None:
        self.tmux("kill-server")

    def type(self, line: str) -> None:
        self.tmux("send-keys", "-l", line)
        self.tmux("send-keys", "Enter")

    def press(self, key: str) -> None:
        self.tmux("send-keys", key)

    def screen(self) -> str:
        return self.tmux("capture-pane", "-p")

    def everything(self) -> list[str]:
        """Also what has scrolled away; a line that had to be wrapped is joined again, and so too long."""
        return self.tmux("capture-pane", "-p", "-J", "-S", "-", "-E", "-").splitlines()

    def state(self, name: str) -> str:
        return self.tmux("display-message", "-p", f"#{{{name}}}").strip()

    def wait_for(self, condition: Callable[[], bool], seconds: float = 20) -> None:
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"this did not come:\n{self.screen()}"
            time.sleep(0.05)

    def output_of(self, command: str) -> list[str]:
        """What one command printed."""
        # A mark of its own: that of the command before may still be on the screen.
        mark = f"END{next(numbers)}="
        self.type(f"clear; {command}; echo {mark}$?")
        lines: list[str] = []

        def ended() -> bool:
            lines[:] = [line.rstrip() for line in self.everything()]
            return any(line.startswith(mark) for line in lines)

        self.wait_for(ended)
        end = max(number for number, line in enumerate(lines) if line.startswith(mark))
        assert lines[end] == f"{mark}0", "\n".join(lines)
        start = max((number for number, line in enumerate(lines[:end]) if f"echo {mark}" in line), default=-1)
        return lines[start + 1 : end]


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def make(scenario: str | None, columns: int = 80, rows: int = 24) -> Terminal:
        opened.append(Terminal(tmp_path, scenario, columns, rows))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


PROGRAM = shlex.quote(str(GPULSE))


@pytest.mark.parametrize(
    "scenario, arguments",
    [
        ("single", ""),
        ("eight", ""),
        ("mig", ""),
        ("hundred-twenty-eight", ""),
        ("faulty", ""),
        ("desktop", ""),
        (None, "--demo"),
        ("single", "doctor"),
        ("single", "explain"),
    ],
)
def test_no_line_is_wider_than_the_terminal(
    terminal: Callable[..., Terminal], scenario: str | None, arguments: str
) -> None:
    lines = terminal(scenario).output_of(f"{PROGRAM} {arguments}")
    assert len(lines) > 3
    too_wide = [line for line in lines if wcswidth(line) > 80]
    assert not too_wide


@pytest.mark.parametrize("columns", [40, 60, 100, 132, 200])
def test_nor_than_a_narrow_or_a_wide_one(terminal: Callable[..., Terminal], columns: int) -> None:
    lines = terminal("eight", columns=columns, rows=30).output_of(PROGRAM)
    assert max(wcswidth(line) for line in lines) <= columns


def test_eight_gpus_and_their_processes_fit_one_screen(terminal: Callable[..., Terminal]) -> None:
    lines = terminal("eight").output_of(PROGRAM)
    assert len(lines) <= 24
    gpus = [line for line in lines if re.match(r" *[0-7] +H100", line)]
    assert len(gpus) == 8
    # sim/scenarios/eight.toml: GPU 6 is hot and slow.
    assert "86°C" in gpus[6] and "402/700W" in gpus[6] and "100%" in gpus[6]
    # 61900 MiB each
    assert sum("60.4G" in line for line in lines) == 8
    assert any(line.startswith("CPU") for line in lines)


def test_the_demo_says_that_it_is_one(terminal: Callable[..., Terminal]) -> None:
    assert "DEMO" in terminal(None).output_of(f"{PROGRAM} --demo")[0]


def test_colours_in_a_terminal_unless_refused(terminal: Callable[..., Terminal]) -> None:
    shown = terminal("eight")
    shown.output_of(PROGRAM)
    assert "\x1b[3" in shown.tmux("capture-pane", "-p", "-e")
    shown.output_of(f"NO_COLOR=1 {PROGRAM}")
    assert "\x1b[3" not in shown.tmux("capture-pane", "-p", "-e")


@pytest.mark.parametrize("scenario, key", [("single", "q"), ("eight", "C-c"), ("mig", "q"), ("hundred-twenty-eight", "C-c")])
def test_watch_redraws_in_place_and_leaves_its_last_picture(
    terminal: Callable[..., Terminal], scenario: str, key: str
) -> None:
    shown = terminal(scenario)
    shown.type("clear; echo what was here before")
    shown.wait_for(lambda: shown.screen().startswith("what was here before"))

    shown.type(f"{PROGRAM} --watch 0.2")
    shown.wait_for(lambda: "GPU" in shown.screen() and shown.state("alternate_on") == "1")
    assert shown.state("cursor_flag") == "0"
    first = shown.screen().splitlines()
    assert "what was here before" not in shown.screen()
    # The clock in the first line ticks; the header stays on its line.
    shown.wait_for(lambda: shown.screen().splitlines()[0] != first[0])
    later = shown.screen().splitlines()
    assert [number for number, line in enumerate(later) if line.startswith("GPU")] == [
        number for number, line in enumerate(first) if line.startswith("GPU")
    ]
    assert max(wcswidth(line) for line in later) <= 80

    picture = re.sub(r"\d", "0", "\n".join(later[:4]))
    shown.press(key)
    shown.wait_for(lambda: shown.state("alternate_on") == "0" and shown.screen().rstrip().endswith("$"))
    assert shown.state("cursor_flag") == "1"
    left = shown.everything()
    assert left[0] == "what was here before"
    # Once: but for the time and the readings it is what was shown.
    assert re.sub(r"\d", "0", "\n".join(left)).count(picture) == 1
    assert len([line for line in left if line.startswith("GPU")]) == len([line for line in later if line.startswith("GPU")])
    # Keys are seen again.
    shown.type("echo code=$?")
    shown.wait_for(lambda: "$ echo code=$?\ncode=0" in shown.screen())


def test_watch_follows_the_size_of_the_terminal(terminal: Callable[..., Terminal]) -> None:
    shown = terminal("eight")
    shown.type(f"{PROGRAM} --watch 0.2")
    shown.wait_for(lambda: "H100" in shown.screen())
    shown.tmux("resize-window", "-x", "60", "-y", "12")
    shown.wait_for(lambda: "H100" in shown.screen() and max(map(wcswidth, shown.screen().splitlines())) <= 60)
    time.sleep(0.5)
    lines = shown.tmux("capture-pane", "-p", "-J").splitlines()
    assert len(lines) <= 12
    assert max(map(wcswidth, lines)) <= 60
    shown.press("C-c")
