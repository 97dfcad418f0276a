"""What the keys for the screen and for time do: checks for each, by the name in the help."""

from __future__ import annotations

import re

from top import FRAME, MOUSE, Top
from top_desk import PANELS, TIME_KEYS, TITLE, USER, Check, Desk, does, panels_shown

# Screen


def toggles(panel: str) -> Check:
    def check(desk: Desk, key: str) -> None:
        others = [each for each in PANELS if each != panel]
        desk.top.press(key)
        desk.top.wait_for(lambda: panels_shown(desk.top) == others, f"a screen without {panel}")
        desk.top.press(key)
        desk.top.wait_for(lambda: panels_shown(desk.top) == PANELS, f"a screen with {panel}")

    return check


for number, shown_panel in enumerate(["GPUs", "Plots", "Processes", "Host", "Events"], start=1):
    does(str(number))(toggles(shown_panel))


def chosen_device(top: Top) -> int | None:
    lines = [(y, re.match(r"│ +(\d) ", line)) for y, line in enumerate(top.lines[: top.find("─ Plots ─")[1]])]
    found = [int(match.group(1)) for y, match in lines if match and top.is_highlighted(y)]
    assert len(found) <= 1
    return found[0] if found else None


def expect_device(desk: Desk, device: int | None) -> None:
    top = desk.top
    top.wait_for(lambda: chosen_device(top) == device, f"GPU {device} chosen")
    # The number of the GPU is what marks its processes.
    marked = {row.pid for row in top.rows if top.cell(top.lines[row.y].index(str(row.gpu)), row.y).fg == TITLE}
    assert marked == {row.pid for row in top.rows if row.gpu == device}
    # Its plot comes first.
    assert top.line_of("● UTIL").startswith("│1 GeForce" if device == 1 else "│0 H100")


@does("D")
def findings(desk: Desk, key: str) -> None:
    top = desk.top
    top.press(key)
    top.wait_text("─ What is wrong ─")
    top.press("Esc")
    top.wait_gone("─ What is wrong ─")


@does("E")
def events(desk: Desk, key: str) -> None:
    top = desk.top
    top.press(key)
    top.wait_text("─ Events ─")
    top.wait_gone("╭─ GPUs")
    top.press("Esc")
    top.wait_text("╭─ GPUs")


@does("O")
def other_processes(desk: Desk, key: str) -> None:
    """The test itself uses no GPU; the jobs do."""
    top = desk.top
    top.press(key)
    top.wait_text("─ Busiest processes without a GPU ─")
    listed = [int(found.group(1)) for line in top.lines if (found := re.match(r"│ +(\d+) ", line))]
    assert listed and not {job.pid for job in desk.jobs.all} & set(listed)
    assert "READ/s" in top.text
    top.press("Esc")
    top.wait_text("╭─ GPUs")


@does("=")
def labels(desk: Desk, key: str) -> None:
    top = desk.top
    top.press(key)
    top.wait_for(lambda: top.lines[-1].startswith("GPU: Number of the GPU"), "the first label")
    top.press("Right")
    top.wait_for(lambda: top.lines[-1].startswith("NAME: "), "the next")
    top.press("Esc")
    top.wait_for(lambda: top.lines[-1].startswith("? Help"), "the keys")


@does("+")
def longer_interval(desk: Desk, key: str) -> None:
    top = desk.top
    for seconds in ("0.2", "0.5"):
        top.press(key)
        top.wait_for(lambda: top.lines[0].endswith(f"LIVE {seconds}s"), f"every {seconds} s")
        top.wait_for(lambda: top.message == f"a sample every {seconds} s", "a word of it")
    top.press("-", "-")
    top.wait_for(lambda: top.lines[0].endswith("LIVE 0.1s"), "as it was")


@does("-")
def shorter_interval(desk: Desk, key: str) -> None:
    """Not below the shortest."""
    top = desk.top
    top.press("+")
    top.wait_for(lambda: top.lines[0].endswith("LIVE 0.2s"), "every 0.2 s")
    for _ in range(2):
        top.press(key)
        top.wait_for(lambda: top.lines[0].endswith("LIVE 0.1s"), "every 0.1 s")


@does("b")
def next_device(desk: Desk, key: str) -> None:
    for device in (0, 1, None):
        desk.top.press(key)
        expect_device(desk, device)


@does("B")
def previous_device(desk: Desk, key: str) -> None:
    for device in (1, 0, None):
        desk.top.press(key)
        expect_device(desk, device)


def device_order(top: Top) -> list[int]:
    lines = top.lines[: top.find("─ Plots ─")[1]]
    return [int(found.group(1)) for line in lines if (found := re.match(r"│ +([01]) (?:H100|GeForce)", line))]


@does("#")
def sort_devices(desk: Desk, key: str) -> None:
    top = desk.top
    assert device_order(top) == [0, 1]
    top.press(key)
    top.wait_text("─ Sort GPUs by ─")
    # Number, name, use: GPU 1 is at 99 %, GPU 0 at 37 %.
    top.press("Down", "Down", "Enter")
    top.wait_for(lambda: device_order(top) == [1, 0] and "UTI▼" in top.text, "the busier one first")
    top.press(key, "Home", "Enter")
    top.wait_for(lambda: device_order(top) == [0, 1], "the order of numbers")


@does("@")
def group_devices(desk: Desk, key: str) -> None:
    top = desk.top
    top.press(key)
    top.wait_for(lambda: re.search(rf"│ +2x {USER} ", top.text) and top.message == "GPUs by user", "whose they are")
    top.press(key)
    top.wait_for(lambda: re.search(r"│ +2x no job ", top.text) and top.message == "GPUs by job", "their jobs")
    top.press(key)
    top.wait_for(lambda: " 2x " not in top.text and top.message == "GPUs in one list", "one list")


@does("0")
def hide_idle_devices(desk: Desk, key: str) -> None:
    top = desk.top
    top.press(key)
    top.wait_for(lambda: top.message == "GPUs without work and processes are hidden", "that they are hidden")
    assert device_order(top) == [0, 1], "both are at work"
    top.press(key)
    top.wait_for(lambda: top.message == "all GPUs are shown", "that all are shown")


@does(";", ":")
def page_plots(desk: Desk, key: str) -> None:
    top = desk.top
    top.press(key)
    top.wait_for(lambda: top.message == "the plots of all GPUs are on the screen", "that these are all")
    # One below the other, on a screen with room for one.
    top.resize(58, 36)
    top.wait_for(lambda: "GPU 0 of 2" in top.text and "0 H100 80GB HBM3  ●" in top.text, "the first")
    top.press(key)
    top.wait_text("1 GeForce")
    top.wait_gone("0 H100 80GB HBM3  ●")
    top.press(key)
    top.wait_text("0 H100 80GB HBM3  ●")
    top.resize(140, 50)


def device_lines(top: Top) -> int:
    """Lines per GPU: from that of the first to that of the second."""
    numbers = [y for y, line in enumerate(top.lines) if re.match(r"│? +[01] (H100|GeForce)", line)]
    return numbers[1] - numbers[0] if len(numbers) == 2 else 0


def expect_lines(desk: Desk, lines: int) -> None:
    desk.top.wait_for(lambda: device_lines(desk.top) == lines, f"{lines} lines per GPU")


@does("c")
def layout_compact(desk: Desk, key: str) -> None:
    expect_lines(desk, 2)
    desk.top.press(key)
    expect_lines(desk, 1)
    desk.top.press("a")
    expect_lines(desk, 2)


@does("f")
def layout_full(desk: Desk, key: str) -> None:
    desk.top.press("c")
    expect_lines(desk, 1)
    desk.top.press(key)
    expect_lines(desk, 2)
    desk.top.resize(140, 12)
    desk.top.wait_gone("╭─")
    expect_lines(desk, 2)
    desk.top.resize(140, 50)
    desk.top.press("a")
    expect_lines(desk, 2)


@does("a")
def layout_auto(desk: Desk, key: str) -> None:
    desk.top.press("c")
    expect_lines(desk, 1)
    desk.top.press(key)
    expect_lines(desk, 2)
    desk.top.resize(140, 12)
    desk.top.wait_gone("╭─")
    expect_lines(desk, 1)
    desk.top.resize(140, 50)
    expect_lines(desk, 2)


@does("d")
def plots_menu(desk: Desk, key: str) -> None:
    top = desk.top
    top.press(key)
    top.wait_text("─ Plots (at most ")
    assert "● UTIL 37%" in top.text
    top.press("Home", "Space")
    top.wait_gone("● UTIL 37%")
    assert "● SM 81%" in top.text
    top.press("Space", "Esc")
    top.wait_text("● UTIL 37%")


@does("m")
def plots_together(desk: Desk, key: str) -> None:
    top = desk.top
    alone = "0 H100 80GB HBM3  ● UTIL 37%"
    together = "UTIL  ● 0 37%  ● 1 99%"
    assert alone in top.text and together not in top.text
    top.press(key)
    top.wait_text(together)
    assert alone not in top.text
    top.press(key)
    top.wait_text(alone)


@does("Z")
def zoom_out(desk: Desk, key: str) -> None:
    # A sample every tenth of a second.
    desk.top.wait_text(", 0.1s a dot")
    for time in ("0.2s", "0.4s"):
        desk.top.press(key)
        desk.top.wait_text(f", {time} a dot")
        assert desk.top.message == f"plots: {time} a dot"
    desk.top.press("z", "z")
    desk.top.wait_text(", 0.1s a dot")


@does("z")
def zoom_in(desk: Desk, key: str) -> None:
    desk.top.press("Z", "Z")
    desk.top.wait_text(", 0.4s a dot")
    desk.top.press(key)
    desk.top.wait_text(", 0.2s a dot")
    desk.top.press(key)
    desk.top.wait_text(", 0.1s a dot")


@does("w")
def theme(desk: Desk, key: str) -> None:
    top = desk.top

    def title_colour() -> str:
        return str(top.cell(*top.find("GPUs")).fg)

    assert title_colour() == TITLE
    # src/tui/theme.cpp; without colours it is only bold.
    for name, colour in (("light", "0550ae"), ("colour-blind", "56b4e9"), ("mono", "default"), ("dark", TITLE)):
        top.press(key)
        top.wait_for(lambda: top.message == f"theme {name}" and title_colour() == colour, f"theme {name}")


@does("y")
def mouse(desk: Desk, key: str) -> None:
    top = desk.top
    assert top.mode(MOUSE)
    top.press(key)
    top.wait_for(lambda: not top.mode(MOUSE) and top.message == "mouse off: the terminal selects text", "no mouse")
    top.press(key)
    top.wait_for(lambda: top.mode(MOUSE) and top.message == "mouse on", "the mouse")


@does("S", "F2")
def setup(desk: Desk, key: str) -> None:
    top = desk.top
    top.press(key)
    top.wait_text("[x] gpus")
    tabs = top.line_of(" Panels ")
    assert all(f" {tab} " in tabs for tab in ("Panels", "Columns", "Look")) and "Plots" in tabs
    top.press("Tab")
    top.wait_text("[x] gpu_utilization_percent")
    top.press("Tab")
    top.wait_text("[x] pid")
    top.press("Tab")
    top.wait_for(lambda: re.search(r"theme +dark", top.text), "the look")
    # Enter on the theme takes the next one; a fourth time the first again.
    for name in ("light", "colour-blind", "mono", "dark"):
        top.press("Enter")
        top.wait_for(lambda: re.search(rf"theme +{name}\b", top.text), f"theme {name}")
    top.press("Right")
    top.wait_text("[x] gpus")
    top.press("Left", "Right", "Home", "Space")
    top.wait_text("[ ] gpus")
    top.press(key)
    top.wait_for(lambda: panels_shown(top) == PANELS[1:], "a screen without GPUs")
    top.press(key, "Home", "Space")
    top.wait_text("[x] gpus")
    top.press("Esc")


@does("W", "F12")
def save(desk: Desk, key: str) -> None:
    top = desk.top
    file = top.config / "gpulse" / "top.toml"
    file.unlink(missing_ok=True)
    top.press(key)
    top.wait_for(lambda: file.exists() and top.message == f"saved in {file}", "where it is saved")
    assert 'sort = "-gpu_memory_bytes"' in file.read_text()
    top.press("i", key)
    top.wait_for(lambda: 'sort = "+gpu_memory_bytes"' in file.read_text(), "the other order in the file")
    top.press("i")


@does("r", "R", "Ctrl-R", "Ctrl-L", "F5")
def redraw(desk: Desk, key: str) -> None:
    top = desk.top
    # As when another program has written over the screen.
    top.wait_for(lambda: not top.mode(FRAME), "the end of a frame")
    top.show(b"\0337\033[mwritten over\033[9;9Hwritten over\0338")
    assert "written over" in top.text
    top.press(key)
    top.wait_gone("written over")


@does("?", "h", "H", "F1")
def help_screen(desk: Desk, key: str) -> None:
    top = desk.top
    top.press(key)
    top.wait_text("─ Keys ─")
    assert "choose the process above" in top.text
    top.press("Esc")
    top.wait_gone("─ Keys ─")


# Time, on a recording of five minutes with a sample every ten seconds


def clock_at(seconds: int) -> str:
    return f"02:{seconds // 60:02}:{seconds % 60:02}"


def expect_time(desk: Desk, seconds: int, playing: bool = False) -> None:
    """The time of the sample, and how far that is from the start."""
    top = desk.top
    sign = "▶" if playing else "‖"
    shown = f"{sign} {seconds // 60}:{seconds % 60:02} of 5:00"
    top.wait_for(lambda: top.lines[0].endswith(shown) and top.clock == clock_at(seconds), shown)
    # Utilization is the number of the sample.
    assert f"● UTIL {seconds // 10}%" in top.text


def go_to(desk: Desk, text: str, key: str = "g") -> None:
    desk.top.press(key)
    desk.top.wait_for(lambda: desk.top.message.startswith("go to time:"), "the question")
    desk.top.type(text)
    desk.top.press("Enter")


@does("p", table=TIME_KEYS)
def pause(desk: Desk, key: str) -> None:
    go_to(desk, "start")
    expect_time(desk, 0)
    desk.top.press(key)
    expect_time(desk, 0, playing=True)
    desk.top.press(key)
    expect_time(desk, 0)


def steps(by: int) -> Check:
    def check(desk: Desk, key: str) -> None:
        go_to(desk, "150s")
        expect_time(desk, 150)
        desk.top.press(key)
        expect_time(desk, 150 + by)
        desk.top.press(key)
        expect_time(desk, 150 + 2 * by)
        # No further than there is something.
        desk.top.press(*[key] * 20)
        expect_time(desk, 0 if by < 0 else 300)

    return check


does("(", "Shift-Left", table=TIME_KEYS)(steps(-10))
does(")", "Shift-Right", table=TIME_KEYS)(steps(10))
does("{", "Ctrl-Left", table=TIME_KEYS)(steps(-60))
does("}", "Ctrl-Right", table=TIME_KEYS)(steps(60))


@does("g", table=TIME_KEYS)
def go_to_time(desk: Desk, key: str) -> None:
    for text, seconds in (
        ("02:03:20", 200),
        ("-1m", 140),
        ("+90s", 230),
        ("start", 0),
        ("10s", 10),
        ("1m30s", 90),
        ("end", 300),
        ("2:01", 60),
    ):
        go_to(desk, text, key)
        expect_time(desk, seconds)
    go_to(desk, "noon", key)
    desk.top.wait_for(lambda: '"noon" is no time' in desk.top.message, "what times there are")
    desk.top.press(key)
    desk.top.type("10s")
    desk.top.press("Esc")
    expect_time(desk, 60)


@does("L", table=TIME_KEYS)
def to_the_end(desk: Desk, key: str) -> None:
    go_to(desk, "20s")
    expect_time(desk, 20)
    desk.top.press(key)
    expect_time(desk, 300)
