"""Every mouse action of the help screen of `gpulse top`, and the mouse in its windows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Callable, Iterator

import pytest

from top import MOUSE, MOUSE_DRAG, MOUSE_SGR, Top
from top_desk import LONG_COMMAND, PANELS, SELECTED, Desk, is_at_start, many_jobs, panels_shown
from top_jobs import Jobs
from top_screen_keys import expect_device

MIDDLE, RIGHT = 1, 2

# What the help says of the mouse, piece by piece, and the test of each.
HELP = {
    "click": {
        "choose a process or a GPU": "test_click_on_a_process, test_click_on_a_gpu",
        "again: all about it": "test_click_on_a_process, test_click_on_a_gpu",
        "a heading sorts": "test_click_on_a_heading",
        "a key at the bottom is pressed": "test_click_on_a_key",
    },
    "rest": {"on a label: what it means": "test_rest_on_a_label"},
    "middle, right button": {"tag": "test_middle_button", "signal menu": "test_right_button"},
    "wheel": {
        "scroll": "test_wheel_over_processes, test_wheel_over_gpus",
        "with Shift sideways, with Ctrl by pages": "test_wheel_with_shift, test_wheel_over_processes",
        "over plots: zoom": "test_wheel_over_plots",
    },
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("mouse")
    with many_jobs(folder) as jobs:
        scenario = jobs.scenario()
        desk = Desk(lambda: Top(folder, "--interval", "100ms", scenario=scenario, COLORTERM="truecolor"), jobs)
        yield desk
        desk.drop()


@pytest.fixture
def desk(shared: Desk) -> Iterator[Desk]:
    """As it starts, and left so."""
    try:
        shared.top.wait_for(lambda: is_at_start(shared), "the screen as it starts")
    except AssertionError:
        shared.drop()
    yield shared
    if shared.opened is not None and not is_at_start(shared):
        shared.drop()


def click_row(desk: Desk, number: int, button: int = 0) -> int:
    row = desk.top.rows[number]
    desk.top.click(30, row.y, button)
    return row.pid


def test_the_help_says_nothing_of_the_mouse_without_a_test(desk: Desk) -> None:
    told = {what: text.split("; ") for what, text in desk.top.read_help()["Mouse"]}
    assert told == {what: list(pieces) for what, pieces in HELP.items()}
    for tests in (test for pieces in HELP.values() for test in pieces.values()):
        assert all(callable(globals()[test]) for test in tests.split(", "))


def test_the_terminal_is_asked_for_the_mouse(desk: Desk) -> None:
    assert all(desk.top.mode(each) for each in (MOUSE, MOUSE_DRAG, MOUSE_SGR))


def test_click_on_a_process(desk: Desk) -> None:
    top = desk.top
    pid = click_row(desk, 4)
    desk.expect_chosen(pid)
    other = click_row(desk, 2)
    desk.expect_chosen(other)
    click_row(desk, 2)
    top.wait_text(f"Process {other} on GPU")
    # In there a click leads back.
    top.click(5, 5)
    top.wait_text("─ Processes ─")
    desk.expect_chosen(other)
    desk.let_go()


def test_click_on_a_gpu(desk: Desk) -> None:
    top = desk.top
    x, y = top.find("GeForce RTX 4090")
    top.click(x, y)
    expect_device(desk, 1)
    top.click(*top.find("H100 80GB"))
    expect_device(desk, 0)
    top.click(x, y)
    expect_device(desk, 1)
    # Its second line is part of it.
    top.click(x, y + 1)
    top.wait_text("─ GPU 1  GeForce RTX 4090 ─")
    top.press("Esc", "Esc")
    expect_device(desk, None)


def test_rest_on_a_label(desk: Desk) -> None:
    top = desk.top
    bare_motion = 35
    x, y = top.find("HOST MEM")
    top.mouse(bare_motion, x, y)
    top.wait_for(lambda: top.message == "HOST MEM: Host memory the process holds", "what it means")
    # The keys are not covered.
    assert "? Help" in top.lines[-1]
    top.mouse(bare_motion, 0, 0)
    top.wait_gone("HOST MEM: ")


def test_click_on_a_heading(desk: Desk) -> None:
    top = desk.top
    top.click(*top.find("GPU%"))
    desk.expect_order("GPU%▼", desk.order(lambda job: job.sm, descending=True))
    top.click(*top.find("GPU%▼"))
    desk.expect_order("GPU%▲", desk.order(lambda job: job.sm))
    top.click(*top.find("PID"))
    desk.expect_order("PID▲", desk.order(lambda job: job.pid))
    desk.back_to_start_order()


def hint_at(top: Top, text: str) -> tuple[int, int]:
    y = top.screen.lines - 1
    top.wait_for(lambda: re.search(rf"\b{text}\b", top.lines[y]), f"the key for {text}")
    return top.lines[y].index(text), y


# What the screen then says, and how to come back.
HINTS: dict[str, tuple[Callable[[Top], bool], list[str]]] = {
    "Help": (lambda top: "─ Keys ─" in top.text, ["Esc"]),
    "Search": (lambda top: top.message.startswith("search:"), ["Esc"]),
    "Filter": (lambda top: top.message.startswith("filter:"), ["Esc"]),
    "Sort": (lambda top: "─ Sort by ─" in top.text, ["Esc"]),
    "Tree": (lambda top: top.note == "tree", ["t"]),
    "Details": (lambda top: "Process " in top.text and "─ Processes ─" not in top.text, ["Esc"]),
    "Signal": (lambda top: "─ Send signal ─" in top.text, ["Esc"]),
    "Setup": (lambda top: "[x] gpus" in top.text, ["Esc"]),
    "Pause": (lambda top: "PAUSED" in top.lines[0], ["p"]),
    "Plots": (lambda top: "─ Plots (at most " in top.text, ["Esc"]),
    "Totals": (lambda top: top.note == "totals per user", ["v", "v"]),
    "Theme": (lambda top: top.message == "theme light", ["w", "w", "w"]),
}


def test_click_on_a_key(desk: Desk) -> None:
    top = desk.top
    desk.choose(0)
    quits = hint_at(top, "Quit")
    shown = re.findall(r"\S+ (\w+)(?:  |$)", top.lines[-1])
    assert sorted(shown) == sorted([*HINTS, "Quit"])
    for hint, (has_come, back) in HINTS.items():
        top.click(*hint_at(top, hint))
        top.wait_for(lambda: has_come(top), f"what {hint} does")
        top.press(*back)
        top.wait_for(lambda: not has_come(top) and "LIVE" in top.lines[0], f"the end of {hint}")
    # A message leaves the keys where they are.
    assert top.message.startswith("theme ") and hint_at(top, "Quit") == quits
    desk.let_go()


def test_click_on_the_key_that_quits(tmp_path: Path) -> None:
    with Top(tmp_path, "--demo", ready="Quit") as top:
        top.click_on("Quit")
        assert top.exit_code() == 0


def test_middle_button(desk: Desk) -> None:
    first = click_row(desk, 1, MIDDLE)
    desk.expect_note("1 tagged")
    click_row(desk, 4, MIDDLE)
    desk.expect_note("2 tagged")
    row = next(row for row in desk.top.rows if row.pid == first)
    desk.top.click(20, row.y, MIDDLE)
    desk.expect_note("1 tagged")
    desk.top.press("U")
    desk.expect_note("")
    desk.let_go()


def test_right_button(desk: Desk) -> None:
    top = desk.top
    pid = click_row(desk, 3, RIGHT)
    top.wait_text("─ Send signal ─")
    top.click_on("10 SIGUSR1")
    top.wait_text("Send SIGUSR1 to 1 process?")
    assert f"{pid} " in top.text
    top.click_on(" No ")
    top.wait_for(lambda: top.message == "no signal was sent", "that nothing was sent")
    desk.expect_chosen(pid)
    desk.let_go()


def test_wheel_over_processes(desk: Desk) -> None:
    top = desk.top
    pids = desk.start_order
    x, y = 20, top.rows[2].y
    page = len(top.rows)

    def first_is(number: int) -> None:
        top.wait_for(lambda: top.pids[:1] == [pids[number]], f"line {number} first")

    top.wheel(x, y)
    first_is(3)
    top.wheel(x, y)
    first_is(6)
    top.wheel(x, y, up=True)
    first_is(3)
    top.wheel(x, y, ctrl=True)
    first_is(min(3 + page, len(pids) - page))
    top.wheel(x, y, up=True, ctrl=True)
    first_is(max(0, min(3 + page, len(pids) - page) - page))
    for _ in range(20):
        top.wheel(x, y)
    first_is(len(pids) - page)
    for _ in range(20):
        top.wheel(x, y, up=True)
    first_is(0)


def test_wheel_with_shift(desk: Desk) -> None:
    top = desk.top
    desk.show_only("long-runner")
    y = top.rows[0].y
    for start in (8, 16):
        top.wheel(30, y, shift=True)
        top.wait_for(lambda: top.rows[0].command.startswith(LONG_COMMAND[start : start + 30]), f"from {start} on")
    top.wheel(30, y, up=True, shift=True)
    top.wheel(30, y, up=True, shift=True)
    top.wait_for(lambda: top.rows[0].command.startswith("long-runner"), "the start")
    desk.show_all()


def test_wheel_over_plots(desk: Desk) -> None:
    top = desk.top
    x, y = top.find("─ Plots ─")
    top.wheel(x, y + 5)
    top.wait_text(", 0.2s a dot")
    top.wheel(x, y + 5)
    top.wait_text(", 0.4s a dot")
    top.wheel(x, y + 5, up=True)
    top.wheel(x, y + 5, up=True)
    top.wait_text(", 0.1s a dot")
    # The list below has not moved.
    assert is_at_start(desk)


def devices_shown(top: Top) -> list[int]:
    return [int(found.group(1)) for line in top.lines if (found := re.match(r"│ *(\d+) H200", line))]


def test_wheel_over_gpus(tmp_path: Path) -> None:
    with Top(tmp_path, "--interval", "200ms", scenario="hundred-twenty-eight") as top:
        top.wait_for(lambda: len(devices_shown(top)) > 5, "GPUs")
        x, y = top.find("╭─ GPUs")
        seen = len(devices_shown(top))
        assert devices_shown(top) == list(range(seen))
        top.wheel(x + 10, y + 3)
        top.wait_for(lambda: devices_shown(top) == list(range(3, 3 + seen)), "three further")
        for _ in range(50):
            top.wheel(x + 10, y + 3)
        top.wait_for(lambda: devices_shown(top) == list(range(128 - seen, 128)), "the last")
        # So is the mark of the scroll bar.
        assert top.line_of("127 H200").endswith("▐│")
        top.wheel(x + 10, y + 3, up=True)
        top.wait_for(lambda: devices_shown(top) == list(range(125 - seen, 125)), "three back")
        top.wheel(x + 10, y + 3, up=True, ctrl=True)
        top.wait_for(lambda: devices_shown(top) == list(range(125 - 2 * seen, 125 - seen)), "a page back")


def test_wheel_in_the_help(desk: Desk) -> None:
    top = desk.top
    top.press("?")
    top.wait_text("─ Keys ─")
    lines = top.lines
    top.wheel(10, 10)
    top.wait_for(lambda: top.lines[1].startswith(lines[4][:30]), "three lines further")
    top.wheel(10, 10, up=True)
    top.wait_for(lambda: top.lines[1].startswith(lines[1][:30]), "the start")
    top.click(10, 10)
    top.wait_gone("─ Keys ─")


def test_menus_by_mouse(desk: Desk) -> None:
    top = desk.top
    top.press("s")
    top.wait_text("─ Sort by ─")
    window = top.find("─ Sort by ─")
    # The wheel goes through the items.
    chosen = [y for y in range(top.screen.lines) if top.cell(window[0] + 4, y).bg == SELECTED]
    top.wheel(*window)
    top.wait_for(lambda: top.cell(window[0] + 4, chosen[0] + 1).bg == SELECTED, "the next item")
    top.click(window[0] + 4, top.find("Number of the process")[1])
    desk.expect_order("PID▲", desk.order(lambda job: job.pid))
    desk.back_to_start_order()
    # A click beside it closes it.
    top.press("s")
    top.wait_text("─ Sort by ─")
    top.click(0, 0)
    top.wait_gone("─ Sort by ─")


def test_setup_by_mouse(desk: Desk) -> None:
    top = desk.top
    top.press("S")
    top.wait_text("[x] gpus")
    tabs = top.find(" Columns ")[1]
    for tab, shown in (
        ("Columns", "[x] pid"),
        ("Look", "newest value"),
        ("Plots", "[x] gpu_utilization"),
        ("Panels", "[x] host"),
    ):
        top.click(top.lines[tabs].rindex(tab), tabs)
        top.wait_text(shown)
    top.click_on("host")
    top.wait_text("[ ] host")
    top.press("Esc")
    top.wait_for(lambda: panels_shown(top) == [panel for panel in PANELS if panel != "Host"], "a screen without host")
    top.press("4")
    top.wait_for(lambda: panels_shown(top) == PANELS, "the host again")


def test_yes_by_mouse(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path)
    try:
        victim, other = jobs.add(memory=2000), jobs.add(memory=1000)
        with Top(tmp_path, "--interval", "100ms", scenario=jobs.scenario()) as top:
            top.click(20, top.rows[0].y)
            top.wait_for(lambda: top.chosen == victim.pid, "it chosen")
            top.press("T")
            top.wait_text("Send SIGTERM to 1 process?")
            # Beside the buttons a click means nothing.
            top.click(0, 0)
            top.click_on(" Yes ")
            top.wait_for(lambda: top.message == "SIGTERM was sent to 1 process", "that it was sent")
            assert victim.ends() == -15
            assert other.alive
    finally:
        jobs.end()


def test_no_mouse(tmp_path: Path) -> None:
    with Top(tmp_path, "--demo", "--no-mouse", ready="DEMO") as top:
        assert not any(top.mode(each) for each in (MOUSE, MOUSE_DRAG, MOUSE_SGR))
        assert b"\033[?1000h" not in top.raw
