"""The screen of `gpulse top`: any size, any text, as many colours as there are, and only what has changed."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path
from typing import Any, Iterator

import pytest

from top import Top
from top_jobs import SLEEP, Jobs

SIZES = [(80, 24), (20, 5), (1, 1), (200, 50), (500, 200), (40, 10), (7, 3)]

MOVES = re.compile(rb"\033\[(\d*)(?:;(\d*))?H")
INKS = re.compile(rb"\033\[([0-9;]*)m")


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[Jobs]:
    jobs = Jobs(tmp_path)
    yield jobs
    jobs.end()


def gpus_shown(top: Top) -> list[int]:
    return [int(found.group(1)) for line in top.lines if (found := re.match(r"│? *(\d+) +(?:H100|H200|[━╸─]|\d+%)", line))]


def expect_screen(top: Top, columns: int, rows: int) -> None:
    """All eight GPUs of the scenario, or as many as there is room for; and nothing beyond the edge."""

    def right() -> bool:
        lines = top.lines
        if b"\033[J" not in top.raw[top.resized_at :]:
            return False
        if rows >= 10:
            whole = lines[0].endswith("LIVE 0.1s") and len(lines[0]) == columns and lines[-1].startswith("? Help")
            return whole and gpus_shown(top) == list(range(8 if rows >= 24 else 4))
        if rows >= 5:
            return lines[0].startswith("GPU") and gpus_shown(top) == list(range(rows - 1))
        return "l" not in lines[0]  # "looking for GPUs"

    top.wait_for(right, f"a screen of {columns} x {rows}")
    for row, column in MOVES.findall(bytes(top.raw[top.raw.rindex(b"\033[J") :])):
        assert int(row or 1) <= rows and int(column or 1) <= columns


@pytest.mark.parametrize("columns, rows", SIZES)
def test_size(tmp_path: Path, columns: int, rows: int) -> None:
    with Top(tmp_path, "--interval", "100ms", scenario="eight", columns=columns, rows=rows, ready=None) as top:
        expect_screen(top, columns, rows)
        top.press("?", "q", "S", "q", "Down", "Enter", "q", "K", "q", "/", "Enter", "t", "v", "w", "5", "Ctrl-L")
        top.press("q")
        assert top.exit_code() == 0


def test_resizing(tmp_path: Path) -> None:
    with Top(tmp_path, "--interval", "100ms", scenario="eight", columns=80, rows=24) as top:
        for columns, rows in [*SIZES[1:], *reversed(SIZES[:-1])]:
            top.resize(columns, rows)
            expect_screen(top, columns, rows)
        # Faster than it can draw.
        chance = random.Random(1)
        for _ in range(50):
            top.resize(chance.randint(1, 300), chance.randint(1, 100))
        top.resize(80, 24)
        expect_screen(top, 80, 24)


def test_windows_follow_the_size(tmp_path: Path) -> None:
    with Top(tmp_path, "--interval", "100ms", scenario="eight", columns=80, rows=24) as top:
        for key, shown in (("S", "Columns"), ("?", "Esc closes"), ("s", "Sort by"), ("C", "Columns")):
            top.press(key)
            top.wait_text(shown)
            for columns, rows in ((5, 2), (120, 40), (30, 8), (80, 24)):
                top.resize(columns, rows)
                if rows > 20:
                    top.wait_text(shown)
            top.press("Esc")
            expect_screen(top, 80, 24)


def test_a_hundred_and_twenty_eight_gpus(tmp_path: Path) -> None:
    with Top(tmp_path, "--interval", "200ms", scenario="hundred-twenty-eight", columns=100, rows=30) as top:
        top.wait_for(lambda: gpus_shown(top)[:1] == [0], "the first")
        top.press(*["b"] * 128)
        # The last, in sight and chosen; its processes are marked.
        top.wait_for(lambda: gpus_shown(top)[-1:] == [127], "the last")
        y = top.find("127 H200")[1]
        assert top.is_highlighted(y) and not top.is_highlighted(y - 1)
        top.press("b", "b")
        top.wait_for(lambda: gpus_shown(top)[:1] == [0] and top.is_highlighted(top.find("  0 H200")[1]), "the first")


WIDE = [
    *("漢字かな交じり", "🚀🚀 rocket", "e\u0301a\u0308 combining", "👩‍👩‍👧 family", "한국어", "ﷺ wide"),
    *("\u202eright to left", "\u200bnothing", "plain"),
]


def test_wide_characters_keep_the_columns(jobs: Jobs) -> None:
    more = [str(number) for number in range(600, 610)]
    for number, name in enumerate(WIDE):
        jobs.add([SLEEP, *more], name=name, memory=2000 - number)
    plain = " ".join(["plain", *more])
    with Top(jobs.folder, "--interval", "100ms", scenario=jobs.scenario(), columns=100, rows=50) as top:
        top.wait_for(lambda: len(top.rows) == len(WIDE), "all processes")
        commands = [row.command for row in top.rows]
        assert commands[0].startswith("漢字かな交じり 600") and commands[4].startswith("한국어 600")
        assert "\u202e" not in top.text
        # At the start, and when some are cut in the middle.
        for shift in range(0, 24, 4):
            wanted = plain[shift : shift + 15].lstrip()
            top.wait_for(lambda: top.rows[-1].command.startswith(wanted), f"the commands from {shift} on")
            start = top.lines[top.heading_y].index("COMMAND")
            for row in top.rows:
                cells = [top.cell(x, row.y).data for x in range(100)]
                assert cells[0] == cells[99] == "│"
                assert cells[start - 1] == " "
                assert "".join(cells[1:start]).split()[1] == str(row.pid)
            top.press("Right")


def test_long_numbers_keep_the_columns(jobs: Jobs) -> None:
    jobs.add_gone(4194304, memory=2000)
    jobs.add_gone(7, memory=1000)
    mine = jobs.add(memory=3000)
    with Top(jobs.folder, "--interval", "100ms", scenario=jobs.scenario()) as top:
        top.wait_for(lambda: top.pids == [mine.pid, 4194304, 7], "all processes")
        heading = top.lines[top.heading_y]
        end = heading.index("PID") + 3
        for row in top.rows:
            assert top.lines[row.y][:end].endswith(str(row.pid))


def walk(top: Top) -> None:
    """Through everything that can be seen."""
    top.press("Home", "Enter")
    top.wait_text("Process ")
    top.press("q")
    for key, shown in (("?", "Keys"), ("S", "Setup"), ("s", "Sort by"), ("C", "Columns"), ("K", "Send signal")):
        top.press(key)
        top.wait_text(shown)
        top.press("q")
    top.press("T")
    top.wait_text("Send SIGTERM")
    top.press("n")
    top.wait_text("no signal was sent")
    top.press("Space", "t", "b", "m", "/", "g", "Enter", "i", "p", "(", "p", "v")
    top.wait_text("totals per user")
    top.press("v", "v", "Ctrl-L")
    top.wait_gone("totals per")


def written(jobs: Jobs, *arguments: str, **variables: Any) -> bytes:
    """All that it writes on the way through everything."""
    jobs.add(name="grüße 漢字 🚀", memory=2000)
    jobs.add(name="second", memory=1000, type="graphics")
    with Top(jobs.folder, "--interval", "100ms", *arguments, scenario=jobs.scenario(), **variables) as top:
        top.wait_for(lambda: len(top.listed()) == 2, "both")
        walk(top)
        top.press("q")
        assert top.exit_code() == 0
        return bytes(top.raw)


@pytest.mark.parametrize(
    "arguments, variables",
    [(["--ascii"], {}), ([], {"TERM": "linux"}), ([], {"LANG": "C"}), ([], {"LC_ALL": "POSIX"})],
    ids=["--ascii", "TERM=linux", "LANG=C", "LC_ALL=POSIX"],
)
def test_plain_ascii(jobs: Jobs, arguments: list[str], variables: dict[str, str]) -> None:
    assert written(jobs, *arguments, **variables).isascii()


def test_unicode_where_the_locale_has_it(jobs: Jobs) -> None:
    text = written(jobs, LANG="C.UTF-8").decode()
    missing = [sign for sign in "╭│━▼├●漢🚀" if sign not in text]
    # Which dots of a plot are set depends on when the samples came.
    assert not missing and any("\u2801" <= sign <= "\u28ff" for sign in text)


def inks(raw: bytes) -> set[str]:
    """Each colour or attribute that was asked for."""
    found: set[str] = set()
    for ink in INKS.findall(raw):
        found |= set(re.findall(r"[34]8;5;\d+|[34]8;2;\d+;\d+;\d+|\d+", ink.decode()))
    return found


ATTRIBUTES = {"0", "1", "2", "4", "7", "22", "24", "27"}


@pytest.mark.parametrize(
    "arguments, variables",
    [
        (["--no-color"], {}),
        ([], {"NO_COLOR": "1"}),
        (["--no-color"], {"COLORTERM": "truecolor"}),
    ],
    ids=["--no-color", "NO_COLOR", "--no-color-before-COLORTERM"],
)
def test_no_colours(jobs: Jobs, arguments: list[str], variables: dict[str, str]) -> None:
    raw = written(jobs, *arguments, **variables)
    assert inks(raw) <= ATTRIBUTES
    # What is chosen is seen without.
    assert {"1", "7"} <= inks(raw)


@pytest.mark.parametrize(
    "variables, kind",
    [
        ({"COLORTERM": "truecolor"}, r"[34]8;2;\d+;\d+;\d+"),
        ({"COLORTERM": "24bit"}, r"[34]8;2;\d+;\d+;\d+"),
        ({"TERM": "xterm-256color"}, r"[34]8;5;\d+"),
        ({"TERM": "xterm"}, r"[349]\d|10\d"),
    ],
    ids=["truecolor", "24bit", "256", "16"],
)
def test_as_many_colours_as_there_are(jobs: Jobs, variables: dict[str, str], kind: str) -> None:
    colours = {ink for ink in inks(written(jobs, **variables)) if ink not in ATTRIBUTES}
    assert len(colours - {"39", "49"}) > 5
    assert all(re.fullmatch(rf"{kind}|39|49", colour) for colour in colours)


CONSTANT = """
[[device]]
profile = "h100"
gpu_util = 37
power_w = 298
power_average_w = 298
power_instant_w = 298
temperature = 41
pcie_tx_kbs = 100
pcie_rx_kbs = 100
nvlink_tx_kibs = 100
nvlink_rx_kibs = 100
count = 2

[[process]]
device = 0
pid = 4000001
memory_mib = 1000
"""


def test_only_what_has_changed_is_written(tmp_path: Path) -> None:
    scenario = tmp_path / "constant.toml"
    scenario.write_text(CONSTANT)
    look = tmp_path / "look.toml"
    look.write_text('panels = ["gpus", "processes", "events"]\nrows = "compact"\n')
    with Top(tmp_path, "--interval", "100ms", "--settings", look, scenario=scenario, columns=100, rows=30) as top:
        # The history beside each GPU fills first.
        top.wait_for(lambda: top.text.count("⠤" * 12) == 2, "a history that is full")
        top.wait_frame()
        before, begun = len(top.raw), time.monotonic()
        ticked = top.clock
        while time.monotonic() - begun < 1:
            top.pump(0.1)
        assert top.clock != ticked, "the clock has gone on"
        came = bytes(top.raw[before:])
        # Ten samples: it is the clock that changed, once or twice.
        assert len(came) < 200, came
