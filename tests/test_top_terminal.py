"""`gpulse top` as a guest of the terminal: it leaves it as it was, however it ends, and answers whatever hangs."""

from __future__ import annotations

import os
import re
import resource
import select
import shlex
import signal
import termios
import time
from pathlib import Path

import pytest

from harness import GPULSE, gpulse, only_line
from top import ALTERNATE, MOUSE, MOUSE_DRAG, MOUSE_SGR, PASTE, Top

WRAP = 7

SWITCHED = (MOUSE, MOUSE_DRAG, MOUSE_SGR, PASTE, ALTERNATE)


def expect_taken(top: Top) -> None:
    assert all(top.mode(each) for each in SWITCHED)
    assert top.screen.cursor.hidden and not top.mode(WRAP)
    modes = termios.tcgetattr(top.slave)[3]
    assert not modes & (termios.ICANON | termios.ECHO | termios.ISIG)


def expect_given_back(top: Top) -> None:
    assert [each for each in SWITCHED if top.mode(each)] == []
    assert not top.screen.cursor.hidden and top.mode(WRAP)
    assert termios.tcgetattr(top.slave) == top.found
    # Colours are off, and the alternate screen goes last: what was there before is there again.
    end = bytes(top.raw)
    assert end.endswith(b"\033[?1049l") and b"\033[m" in end[-60:]


ENDS = {
    "SIGTERM": 0,
    "SIGINT": 0,
    "SIGHUP": 0,
    "SIGQUIT": 0,
    "SIGSEGV": -signal.SIGSEGV,
    "SIGABRT": -signal.SIGABRT,
    "SIGBUS": -signal.SIGBUS,
}


def no_core() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


@pytest.mark.parametrize("name", ["q", "Ctrl-C", *ENDS])
def test_the_terminal_is_as_it_was(tmp_path: Path, name: str) -> None:
    no_core()
    with Top(tmp_path, "--interval", "100ms", scenario="eight") as top:
        expect_taken(top)
        if name in ENDS:
            top.signal(signal.Signals[name])
        else:
            top.press(name)
        assert top.exit_code() == ENDS.get(name, 0)
        expect_given_back(top)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_also_with_a_window_open(tmp_path: Path, name: str) -> None:
    with Top(tmp_path, "--interval", "100ms", scenario="eight") as top:
        top.press("/")
        top.wait_for(lambda: top.message.startswith("search:"), "the question")
        top.signal(signal.Signals[name])
        assert top.exit_code() == 0
        expect_given_back(top)


class Shell(Top):
    """A shell with job control, in which the program is started."""

    def __init__(self, folder: Path, scenario: str) -> None:
        command: list[str | Path] = ["bash", "--norc", "--noprofile", "-i"]
        super().__init__(folder, command=command, scenario=scenario, columns=100, rows=30, PS1="$ ", ready="$")

    def enter(self, line: str) -> None:
        self.type(line + "\r")

    def expect_prompt(self) -> None:
        self.wait_for(lambda: self.raw.endswith(b"$ "), "the prompt")


def test_stop_and_go_on(tmp_path: Path) -> None:
    with Shell(tmp_path, "eight") as shell:
        shell.enter(f"{shlex.quote(str(GPULSE))} top --interval 100ms")
        shell.wait_text("LIVE")
        for stopped_by in ("key", "signal"):
            expect_taken(shell)
            if stopped_by == "key":
                shell.press("Ctrl-Z")
            else:
                children = Path(f"/proc/{shell.process.pid}/task/{shell.process.pid}/children").read_text()
                os.kill(int(children), signal.SIGTSTP)
            shell.expect_prompt()
            assert b"Stopped" in shell.raw
            assert [each for each in SWITCHED if each != PASTE and shell.mode(each)] == []
            assert not shell.screen.cursor.hidden and shell.mode(WRAP)
            # Meanwhile somebody writes here, and the window gets another size.
            shell.enter("clear; echo written over")
            shell.wait_for(lambda: "written over" in shell.text and shell.raw.endswith(b"$ "), "the echo")
            shell.resize(120 if stopped_by == "key" else 90, 32)
            shell.enter("fg")
            shell.wait_for(lambda: "LIVE" in shell.lines[0] and len(shell.lines[0]) == shell.screen.columns, "the view")
            assert "written over" not in shell.text and shell.lines[-1].startswith("? Help")
        shell.press("q")
        shell.expect_prompt()
        shell.enter("echo code=$?")
        shell.wait_text("code=0")


@pytest.mark.parametrize("ignores", [False, True], ids=["SIGHUP", "nohup"])
def test_no_terminal_no_program(tmp_path: Path, ignores: bool) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN) if ignores else None
    try:
        top = Top(tmp_path, "--interval", "100ms", scenario="eight")
    finally:
        if ignores:
            signal.signal(signal.SIGHUP, before)
    top.hang_up()
    try:
        top.process.wait(5)
    finally:
        top.close()


def test_not_a_terminal() -> None:
    result = gpulse("top", scenario="single")
    assert (result.code, result.out) == (1, "")
    assert only_line(result.err) == "gpulse: gpulse top needs a terminal: use gpulse --watch for a stream"


def test_a_recording_that_is_missing_is_said_before_the_terminal_is(tmp_path: Path) -> None:
    missing = tmp_path / "missing.gpr"
    result = gpulse("top", "--replay", missing)
    assert (result.code, result.out) == (1, "")
    assert only_line(result.err) == f"gpulse: cannot read {missing}: No such file or directory"
    assert only_line(gpulse("top", "--demo").err).startswith("gpulse: gpulse top needs a terminal")


def test_a_terminal_that_can_do_nothing(tmp_path: Path) -> None:
    with Top(tmp_path, scenario="single", ready=None, TERM="dumb") as top:
        assert top.exit_code() == 1
        assert top.text.split() == (
            "gpulse: gpulse top needs a terminal that can move its cursor, and TERM is dumb: use gpulse --watch for a stream".split()
        )
        assert b"\033" not in top.raw


@pytest.mark.parametrize(
    "text, complaint",
    [
        ('colour = "blue"\n', "colour: is no setting"),
        ('theme = "pink"\n', "theme: one of dark, light, colour-blind, mono"),
        ('rows = "three"\n', "rows: one of auto, full, compact"),
        ('columns = ["pid", "speed"]\n', 'columns: "speed" is not known'),
        ("zoom = 0\n", "zoom: a number from 1 to "),
        ("mouse = 3\n", "mouse: true or false"),
        ("theme = \n", ", line 1: "),
    ],
)
def test_settings_that_are_wrong(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "look.toml"
    file.write_text(text)
    with Top(tmp_path, "--settings", file, scenario="single", ready=None, columns=300) as top:
        assert top.exit_code() == 2
        line = only_line(top.raw.decode())
        assert line.startswith(f"gpulse: {file}") and complaint in line
        assert termios.tcgetattr(top.slave) == top.found


@pytest.mark.parametrize(
    "arguments",
    [["--theme", "pink"], ["--sort", "speed"], ["--rows", "three"], ["--filter", "a("], ["--speed", "fast"]],
    ids=" ".join,
)
def test_options_that_are_wrong(tmp_path: Path, arguments: list[str]) -> None:
    with Top(tmp_path, *arguments, scenario="single", ready=None, columns=300) as top:
        assert top.exit_code() == 2
        assert only_line(top.raw.decode()).startswith("gpulse: ")
        assert b"\033" not in top.raw


def test_options(tmp_path: Path) -> None:
    arguments = [
        "--sort",
        "-pid",
        "--theme",
        "light",
        "--rows",
        "compact",
        "--no-plots",
        "--filter",
        "gpu:2-3",
        "-i",
        "2,3",
    ]
    with Top(tmp_path, "--interval", "100ms", *arguments, scenario="eight", COLORTERM="truecolor") as top:
        top.wait_for(lambda: top.sorted_by == "PID▼", "the order")
        assert "─ Plots ─" not in top.text and "filter gpu:2-3" in top.note
        assert [row.gpu for row in top.rows] == [2, 3]
        assert re.findall(r"│ +(\d) H100", top.text) == ["2", "3"]
        assert top.cell(*top.find("GPUs")).fg == "0550ae"
        # Said once is not said for ever.
        top.press("q")
        assert top.exit_code() == 0
        assert not (tmp_path / "gpulse" / "top.toml").exists()


def test_the_look_is_remembered(tmp_path: Path) -> None:
    with Top(tmp_path, "--interval", "100ms", scenario="eight") as top:
        top.press("4", "5", "i", "c", "w")
        top.wait_for(lambda: "─ Events ─" not in top.text and top.sorted_by == "GPU MEM▲", "the changes")
        top.press("q")
        assert top.exit_code() == 0
    file = tmp_path / "gpulse" / "top.toml"
    file.write_text("# mine\n" + file.read_text())
    with Top(tmp_path, "--interval", "100ms", scenario="eight", COLORTERM="truecolor") as top:
        top.wait_for(lambda: top.sorted_by == "GPU MEM▲", "the order")
        assert "─ Events ─" not in top.text and "─ Host ─" not in top.text
        assert top.cell(*top.find("GPUs")).fg == "0550ae"
        top.press("4", "q")
        assert top.exit_code() == 0
    text = file.read_text()
    assert text.startswith("# mine\n") and '"host"' in text and 'theme = "light"' in text
    # Another file, another look.
    other = tmp_path / "other.toml"
    with Top(tmp_path, "--interval", "100ms", "--settings", other, scenario="eight") as top:
        top.wait_text("─ Events ─")
        top.press("3", "W")
        top.wait_for(lambda: top.message == f"saved in {other}", "where it is saved")
    assert '"processes"' not in other.read_text() and file.read_text() == text


def test_a_flag_is_not_remembered_with_what_was_changed_by_key(tmp_path: Path) -> None:
    flags = ["--theme", "light", "--sort", "pid"]
    with Top(tmp_path, "--interval", "100ms", *flags, scenario="eight") as top:
        top.press("5")
        top.wait_for(lambda: "─ Events ─" not in top.text and top.sorted_by.startswith("PID"), "the changes")
        top.press("q")
        assert top.exit_code() == 0
    text = (tmp_path / "gpulse" / "top.toml").read_text()
    assert '"events"' not in text
    assert 'theme = "dark"' in text and 'sort = "-gpu_memory_bytes"' in text
    # Saved on purpose is saved as seen.
    with Top(tmp_path, "--interval", "100ms", *flags, scenario="eight") as top:
        top.press("W")
        top.wait_for(lambda: top.message.startswith("saved in "), "a word of it")
    assert 'theme = "light"' in (tmp_path / "gpulse" / "top.toml").read_text()


def test_settings_are_saved_where_a_link_leads_to(tmp_path: Path) -> None:
    dotfiles = tmp_path / "dotfiles"
    dotfiles.mkdir()
    (dotfiles / "look.toml").write_text("# in my repository\n")
    link = tmp_path / "look.toml"
    link.symlink_to("dotfiles/look.toml")
    # What somebody else may have laid there for us to write into.
    victim = tmp_path / "victim"
    victim.write_text("precious")
    for place in (tmp_path, dotfiles):
        (place / "look.toml.new").symlink_to(victim)
    with Top(tmp_path, "--interval", "100ms", "--settings", link, scenario="eight") as top:
        top.press("5", "W")
        top.wait_for(lambda: top.message == f"saved in {link}", "where it is saved")
    assert link.is_symlink()
    text = (dotfiles / "look.toml").read_text()
    assert text.startswith("# in my repository\n") and '"events"' not in text
    assert victim.read_text() == "precious"
    assert sorted(path.name for path in dotfiles.iterdir()) == ["look.toml", "look.toml.new"]


def test_a_look_that_cannot_be_saved(tmp_path: Path) -> None:
    with Top(tmp_path, "--interval", "100ms", "--settings", "/proc/no/top.toml", scenario="eight") as top:
        top.press("W")
        top.wait_for(lambda: top.message.startswith("cannot write /proc/no/top.toml: "), "why not")
        top.press("i", "q")
        assert top.exit_code() == 1
        expect_last_words(top, "gpulse: cannot write /proc/no/top.toml: ")


def expect_last_words(top: Top, start: str) -> None:
    """Said when the screen is the user's again."""
    said = bytes(top.raw).rpartition(b"\033[?1049l")[2].decode()
    assert only_line(said).startswith(start)


HANG = """
[[device]]
profile = "h100"
count = 3

[[fault]]
call = "*"
hang = true
"""

# Seconds: far more than it takes on a busy machine, far less than a driver call that hangs.
AT_ONCE = 1.5


def press_and_measure(top: Top, key: str, shown: str) -> float:
    begun = time.monotonic()
    top.press(key)
    top.wait_text(shown)
    return time.monotonic() - begun


def test_keys_work_while_the_driver_hangs_from_the_start(tmp_path: Path) -> None:
    scenario = tmp_path / "hang.toml"
    scenario.write_text(HANG)
    with Top(tmp_path, scenario=scenario, ready="waiting for the driver to answer … 1 s") as top:
        for key, shown in (("?", "─ Keys ─"), ("S", "[x] gpus"), ("/", "search:")):
            assert press_and_measure(top, key, shown) < AT_ONCE
            top.press("Esc")
            top.wait_gone(shown)
        assert press_and_measure(top, "T", "choose a process first") < AT_ONCE
        # It counts on, and nobody writes across it.
        top.wait_text("driver not responding for 4 s")
        assert "the driver does not answer" in top.text
        assert "gpulse:" not in top.text
        begun = time.monotonic()
        top.press("q")
        assert top.exit_code() == 0
        assert time.monotonic() - begun < AT_ONCE
        expect_given_back(top)


def test_keys_work_while_one_gpu_hangs(tmp_path: Path) -> None:
    scenario = tmp_path / "hang.toml"
    scenario.write_text(HANG + "device = 1\nfrom = 0.5\n")
    with Top(tmp_path, "--interval", "100ms", scenario=scenario) as top:
        # Before anybody has noticed, and after.
        for _ in range(2):
            for key, shown in (("?", "─ Keys ─"), ("s", "─ Sort by ─"), ("S", "[x] gpus")):
                assert press_and_measure(top, key, shown) < AT_ONCE
                top.press("Esc")
                top.wait_gone(shown)
            top.wait_for(lambda: re.search(r"│ +1 H100 80GB HBM3 +not responding", top.text), "that it hangs")
        # The others go on.
        for gpu in (0, 2):
            assert re.search(rf"│ +{gpu} H100 80GB HBM3 .* 58°C", top.text)
        top.wait_for(lambda: "GPU 1 does not respond" in top.text[top.text.index("─ Events ─") :], "that it is told")
        begun = time.monotonic()
        top.press("q")
        assert top.exit_code() == 0
        assert time.monotonic() - begun < AT_ONCE


def is_full(top: Top) -> bool:
    """Whether who writes to the terminal has to wait."""
    return not select.select([], [top.slave], [], 0)[1]


def test_a_terminal_that_takes_nothing(tmp_path: Path) -> None:
    with Top(tmp_path, "--interval", "50ms", scenario="eight", columns=500, rows=200) as top:
        # Nobody reads: one of these large frames finds no room any more, and the program waits for it.
        end = time.monotonic() + 10
        while not is_full(top):
            assert time.monotonic() < end
            top.press("Ctrl-L")
            time.sleep(0.01)
        top.signal(signal.SIGTERM)
        assert top.process.wait(5) == 0
        assert termios.tcgetattr(top.slave) == top.found


def test_no_gpu(tmp_path: Path) -> None:
    root = tmp_path / "bare"
    (root / "proc").mkdir(parents=True)
    with Top(tmp_path, "--sysroot", root, "--interval", "100ms") as top:
        top.wait_text("no GPU found")
        top.press("Down", "T", "b", "t", "v", "d", "Esc", "q")
        assert top.exit_code() == 0
