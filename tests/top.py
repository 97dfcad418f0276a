"""`gpulse top` in a terminal of its own: keys and mouse go in, a screen comes out."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Self, TypeVar

import pyte

from harness import GPULSE, environment

T = TypeVar("T")

FUNCTION_KEYS = dict(zip(range(1, 5), ("\033OP", "\033OQ", "\033OR", "\033OS"))) | dict(
    zip(range(5, 13), (f"\033[{number}~" for number in (15, 17, 18, 19, 20, 21, 23, 24)))
)
NAMED_KEYS = {
    "Enter": "\r",
    "Esc": "\033",
    "Tab": "\t",
    "Backspace": "\177",
    "Space": " ",
    "Shift-Tab": "\033[Z",
    "Ins": "\033[2~",
    "Del": "\033[3~",
    "PgUp": "\033[5~",
    "PgDn": "\033[6~",
} | {f"F{number}": text for number, text in FUNCTION_KEYS.items()}
ARROWS = {"Up": "A", "Down": "B", "Right": "C", "Left": "D", "End": "F", "Home": "H"}
MODIFIERS = {"Shift-": 2, "Alt-": 3, "Ctrl-": 5}

# After an Escape the program waits so long for the rest of a sequence, and some more.
ESCAPE_SETTLES = 0.06

# Private modes of the terminal.
CURSOR, MOUSE, MOUSE_DRAG, MOUSE_SGR, ALTERNATE, PASTE, FRAME = 25, 1000, 1002, 1006, 1049, 2004, 2026


def key_bytes(name: str) -> str:
    """What xterm sends for a key, by the name that the help has for it."""
    if name in NAMED_KEYS:
        return NAMED_KEYS[name]
    if name in ARROWS:
        return f"\033[{ARROWS[name]}"
    for prefix, number in MODIFIERS.items():
        rest = name.removeprefix(prefix)
        if rest == name or not rest:
            continue
        if rest in ARROWS:
            return f"\033[1;{number}{ARROWS[rest]}"
        assert len(rest) == 1, f"no such key: {name}"
        if prefix == "Ctrl-":
            return chr(ord(rest.upper()) & 0x1F)
        return "\033" + rest
    assert len(name) == 1, f"no such key: {name}"
    return name


def as_from_a_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    # Who runs the tests in the background has these ignored; who sits at a terminal has not.
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


@dataclass
class Row:
    """One line of the list of processes."""

    y: int
    line: str
    cells: dict[str, str]

    @property
    def pid(self) -> int:
        return int(self.cells["PID"])

    @property
    def gpu(self) -> int:
        return int(self.cells["GPU"])

    @property
    def command(self) -> str:
        return self.cells["COMMAND"]


# As the headings are named; the words in a line come in this order.
COLUMNS = ["GPU", "PID", "USER", "T", "GPU MEM", "GPU%", "MEM%", "ENC%", "DEC%", "CPU%", "HOST MEM", "TIME", "COMMAND"]


class Top:
    """The program, or another one given as `command`, with a screen of `columns` by `rows`."""

    def __init__(
        self,
        folder: Path,
        *arguments: str | Path,
        scenario: str | Path | None = None,
        columns: int = 140,
        rows: int = 50,
        command: list[str | Path] | None = None,
        user: int | None = None,
        ready: str | None = "LIVE",
        **variables: str,
    ) -> None:
        self.config = folder
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = bytearray()
        self.kept_lines: list[str] = []
        self.resized_at = 0
        self.escape_until = 0.0
        self.master, self.slave = pty.openpty()
        self.set_size(columns, rows)
        self.found = termios.tcgetattr(self.slave)
        words = command if command is not None else [GPULSE, "top", *arguments]
        self.process = subprocess.Popen(
            [str(word) for word in words],
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            env=environment(scenario, TZ="UTC", XDG_CONFIG_HOME=str(folder), **variables),
            start_new_session=True,
            preexec_fn=as_from_a_terminal,
            user=user,
            group=user,
            extra_groups=None if user is None else [],
        )
        if ready is not None:
            self.wait_for(lambda: ready in self.text, f"{ready} on the screen")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.hang_up()

    def hang_up(self) -> None:
        """As when the terminal's window is closed."""
        for descriptor in (self.slave, self.master):
            if descriptor >= 0:
                os.close(descriptor)
        self.master = self.slave = -1

    # What goes in

    def send(self, text: str | bytes) -> None:
        while (left := self.escape_until - time.monotonic()) > 0:
            self.pump(left)
        os.write(self.master, text.encode() if isinstance(text, str) else text)
        if text == NAMED_KEYS["Esc"]:
            self.escape_until = time.monotonic() + ESCAPE_SETTLES

    def press(self, *names: str) -> None:
        for name in names:
            self.send(key_bytes(name))

    def type(self, text: str) -> None:
        self.send(text)

    def mouse(
        self, button: int, x: int, y: int, shift: bool = False, ctrl: bool = False, release: bool = False
    ) -> None:
        code = button + (4 if shift else 0) + (16 if ctrl else 0)
        self.send(f"\033[<{code};{x + 1};{y + 1}{'m' if release else 'M'}")

    def click(self, x: int, y: int, button: int = 0) -> None:
        self.mouse(button, x, y)
        self.mouse(button, x, y, release=True)

    def click_on(self, text: str, button: int = 0) -> None:
        self.click(*self.find(text), button)

    def wheel(self, x: int, y: int, up: bool = False, shift: bool = False, ctrl: bool = False) -> None:
        self.mouse(64 if up else 65, x, y, shift=shift, ctrl=ctrl)

    def set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns: int, rows: int) -> None:
        while self.pump(0):
            continue
        self.screen.resize(rows, columns)
        self.resized_at = len(self.raw)
        self.set_size(columns, rows)

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    # What comes out

    def pump(self, seconds: float) -> bool:
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return False
        try:
            piece = os.read(self.master, 1 << 16)
        except OSError:
            return False
        self.show(piece)
        return True

    def show(self, piece: bytes) -> None:
        self.raw += piece
        self.stream.feed(piece)

    def wait_for(self, condition: Callable[[], T], what: str = "this", seconds: float = 10) -> T:
        """Until the condition holds on a whole frame; gives what it found."""
        end = time.monotonic() + seconds
        while True:
            while self.pump(0):
                continue
            if not self.mode(FRAME):
                found = condition()
                if found:
                    return found
            assert time.monotonic() < end, f"{what} did not come:\n{self.text}"
            self.pump(0.05)

    def wait_text(self, text: str, seconds: float = 10) -> None:
        self.wait_for(lambda: text in self.text, repr(text), seconds)

    def wait_gone(self, text: str, seconds: float = 10) -> None:
        self.wait_for(lambda: text not in self.text, f"a screen without {text!r}", seconds)

    def wait_frame(self) -> None:
        """Until something more has been drawn."""
        before = len(self.raw)
        self.wait_for(lambda: len(self.raw) > before, "another frame")

    def exit_code(self, seconds: float = 10) -> int:
        self.wait_for(lambda: self.process.poll() is not None, "its end", seconds)
        while self.pump(0):
            continue
        return self.process.returncode

    def mode(self, number: int) -> bool:
        return (number << 5) in self.screen.mode

    @property
    def lines(self) -> list[str]:
        # Only what has changed is put together anew: that is what the tests would spend their time on.
        if len(self.kept_lines) != self.screen.lines:
            self.kept_lines = [""] * self.screen.lines
            self.screen.dirty.update(range(self.screen.lines))
        for y in self.screen.dirty & set(range(self.screen.lines)):
            row = self.screen.buffer[y]
            self.kept_lines[y] = "".join(row[x].data for x in range(self.screen.columns)).rstrip()
        self.screen.dirty.clear()
        return list(self.kept_lines)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def cell(self, x: int, y: int) -> Any:
        return self.screen.buffer[y][x]

    def find(self, text: str) -> tuple[int, int]:
        """Column and row where a text begins."""
        for y, line in enumerate(self.lines):
            if text in line:
                return line.index(text), y
        raise AssertionError(f"{text!r} is not on the screen:\n{self.text}")

    def line_of(self, text: str) -> str:
        return self.lines[self.find(text)[1]]

    def colours(self, y: int) -> set[tuple[str, str]]:
        return {(self.cell(x, y).fg, self.cell(x, y).bg) for x in range(self.screen.columns)}

    # What it says

    @property
    def heading_y(self) -> int:
        for y, line in enumerate(self.lines):
            if re.search(r"\bGPU[▼▲]? .*\bPID\b", line):
                return y
        return -1

    @property
    def sorted_by(self) -> str:
        """The heading with the mark of the sort, "GPU MEM▼"."""
        heading = self.lines[self.heading_y]
        found = re.search(rf"({'|'.join(map(re.escape, sorted(COLUMNS, key=len, reverse=True)))})[▼▲]", heading)
        return found.group(0) if found else ""

    def listed(self) -> list[tuple[int, str]]:
        """Line number and text of everything in the list of processes."""
        start = self.heading_y
        if start < 0:
            return []
        found = []
        for y in range(start + 1, self.screen.lines):
            line = self.lines[y]
            if line.startswith(("╰", "├", "─", "+-", "--")) or not line.strip("│|▐# "):
                break
            found.append((y, line.lstrip("│|").rstrip("│|▐# ")))
        return found

    @property
    def rows(self) -> list[Row]:
        rows = []
        for y, line in self.listed():
            words = line.split(None, len(COLUMNS) - 1)
            if len(words) == len(COLUMNS) and words[0].isdigit() and words[1].isdigit():
                rows.append(Row(y, line, dict(zip(COLUMNS, words))))
        return rows

    @property
    def pids(self) -> list[int]:
        return [row.pid for row in self.rows]

    def is_highlighted(self, y: int) -> bool:
        return bool(self.cell(2, y).bg != "default" and self.cell(40, y).bg != "default")

    @property
    def chosen(self) -> int | None:
        """PID in the line that is highlighted."""
        found = [row.pid for row in self.rows if self.is_highlighted(row.y)]
        assert len(found) <= 1
        return found[0] if found else None

    @property
    def note(self) -> str:
        """What the frame of the list says at the right."""
        for line in self.lines:
            if found := re.match(r"[╭├─]─ Processes (.*)", line):
                return found.group(1).strip("─╮┤ ")
        return ""

    @property
    def message(self) -> str:
        """What is said on the line above the keys, or asked in their place."""
        return self.lines[-2] if self.lines[-1].startswith("? Help") else self.lines[-1]

    @property
    def clock(self) -> str:
        found = re.search(r"\d\d:\d\d:\d\d", self.lines[0])
        assert found, self.text
        return found.group(0)

    def is_bold_heading(self, y: int) -> bool:
        return bool(self.cell(1, y).bold and self.cell(1, y).fg == "default")

    def read_help(self) -> dict[str, list[tuple[str, str]]]:
        """The help screen, scrolled through: of each section what is pressed, and what that does."""
        self.press("?")
        self.wait_text("─ Keys ─")
        pages: list[tuple[bool, str]] = []
        while True:
            before = self.text
            inner = [(y, line.removeprefix("│").rstrip("│▐ ")) for y, line in enumerate(before.splitlines())][1:-1]
            pages = join_pages(pages, [(self.is_bold_heading(y), line) for y, line in inner])
            self.press("PgDn")
            self.press("Ctrl-L")
            self.wait_frame()
            if self.text == before:
                break
        self.press("Esc")
        self.wait_gone("─ Keys ─")
        return help_sections(pages)


def join_pages(before: list[tuple[bool, str]], page: list[tuple[bool, str]]) -> list[tuple[bool, str]]:
    """The last page may begin with what the one before ended with."""
    for overlap in range(min(len(before), len(page)), -1, -1):
        if before[len(before) - overlap :] == page[:overlap]:
            return before + page[overlap:]
    return before + page


def help_sections(lines: list[tuple[bool, str]]) -> dict[str, list[tuple[str, str]]]:
    keys_width = 24
    sections: dict[str, list[tuple[str, str]]] = {}
    for is_title, line in lines:
        if not line.strip():
            continue
        if is_title:
            current = sections.setdefault(line.strip(), [])
            continue
        keys, text = line[:keys_width].strip(), line[keys_width:].strip()
        if keys:
            current.append((keys, text))
        else:
            current[-1] = (current[-1][0], f"{current[-1][1]} {text}")
    return sections
