"""`gpulse gpustat` and the real gpustat on a terminal: colours, and the screen of -i."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import time
from pathlib import Path
from typing import Callable, Iterator

import pytest

from gpustat_real import GPUSTAT, mask
from harness import GPULSE, environment

MACHINE = """
[[device]]
profile = "rtx4090"

[[device]]
profile = "h100"
lost = [[0, 100000]]

[[process]]
device = 0
pid = {pid}
memory_mib = 8900
"""


@pytest.fixture
def machine(scenario: Callable[[str], Path]) -> Iterator[Path]:
    job = subprocess.Popen(["sleep", "600"])
    yield scenario(MACHINE.format(pid=job.pid))
    job.kill()
    job.wait()


class Screen:
    """A program in a terminal of its own: what it wrote, and how it ended."""

    def __init__(self, command: list[str | Path], env: dict[str, str]) -> None:
        self.pid, self.terminal = os.forkpty()
        if self.pid == 0:
            os.execve(str(command[0]), [str(word) for word in command], env)
        self.text = b""

    def read(self) -> bool:
        ready, _, _ = select.select([self.terminal], [], [], 10)
        assert ready, self.text
        try:
            piece = os.read(self.terminal, 1 << 16)
        except OSError:
            return False
        # Who asks where the cursor is waits for an answer.
        os.write(self.terminal, b"\033[1;1R" * piece.count(b"\033[6n"))
        self.text += piece
        return True

    def end(self) -> int:
        while self.read():
            continue
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.terminal)
        return code


def without_questions(text: bytes) -> str:
    """The real one asks the terminal what it can do."""
    return mask(re.sub(r"\033P.*?\033\\|\033\[(6n|>q)", "", text.decode()))


def on_terminal(command: list[str | Path], env: dict[str, str]) -> tuple[int, str]:
    screen = Screen(command, env)
    code = screen.end()
    return code, without_questions(screen.text)


@pytest.mark.parametrize("arguments", [[], ["-af"], ["--no-color"], ["--color"]])
def test_on_a_terminal(machine: Path, arguments: list[str]) -> None:
    env = environment(machine)
    assert on_terminal([GPULSE, "gpustat", *arguments], env) == on_terminal([GPUSTAT, *arguments], env)


def shown_lines(frame: bytes) -> list[str]:
    """The lines of the last whole frame, without what moves the cursor and clears the rest of a line."""
    text = re.sub(r"\033\[(\d+;\d+)?H|\033\[[KJ]|\r", "", without_questions(frame))
    return [line for line in text.split("\n") if line]


def watch(command: list[str | Path], env: dict[str, str]) -> list[str]:
    screen = Screen(command, env)
    while screen.text.count(b"\033[J") < 3:
        assert screen.read()
    os.write(screen.terminal, b"\003")
    assert screen.end() == 0
    before, _, rest = screen.text.partition(b"\033[?1049h")
    assert rest.count(b"\033[?1049l") == 1
    frames = rest.split(b"\033[J")
    return shown_lines(frames[1])


def test_watch(machine: Path) -> None:
    env = environment(machine)
    assert watch([GPULSE, "gpustat", "-i", "0.3", "-cp"], env) == watch([GPUSTAT, "-i", "0.3", "-cp"], env)
    begun = time.monotonic()
    watch([GPULSE, "gpustat", "-i0.001"], env)
    # Three frames, no faster than ten in a second.
    assert time.monotonic() - begun > 0.2


def test_watch_into_a_pipe() -> None:
    with subprocess.Popen(
        [GPULSE, "gpustat", "-i", "0.1"], env=environment("single"), stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        assert process.stdout
        lines = [process.stdout.readline() for _ in range(4)]
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
    assert "\033" not in "".join(lines)
    assert lines[1] == lines[3] and lines[1].startswith("[0] NVIDIA H200 |")
