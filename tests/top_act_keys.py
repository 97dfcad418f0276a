"""Keys of `gpulse top` that sort the processes and act on them: checks for each, by its name in the help."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Callable

from top_desk import SELECTED, TAGGED, USER, Check, Desk, does
from top_jobs import Job, niceness

ROOT = os.geteuid() == 0

# Sort


@does("s", "F6")
def sort_menu(desk: Desk, key: str) -> None:
    desk.top.press(key)
    desk.top.wait_text("─ Sort by ─")
    desk.top.press("Home", "Down", "Enter")
    desk.expect_order("PID▲", desk.order(lambda job: job.pid))
    desk.back_to_start_order()


@does(",", "<")
def sort_previous(desk: Desk, key: str) -> None:
    desk.top.press(key)
    desk.expect_order("T▲", desk.order(lambda job: job.type != "compute"))
    desk.top.press(key)
    desk.expect_order("USER▲", desk.order(lambda job: None if job.command == "gone" else 0))
    desk.back_to_start_order()


@does(".", ">")
def sort_next(desk: Desk, key: str) -> None:
    desk.top.press(key)
    desk.expect_order("GPU%▼", desk.order(lambda job: job.sm, descending=True))
    desk.top.press(key)
    desk.expect_order("MEM%▼", desk.order(lambda job: job.memory_util, descending=True))
    desk.back_to_start_order()


@does("i")
def sort_invert(desk: Desk, key: str) -> None:
    desk.top.press(key)
    desk.expect_order("GPU MEM▲", desk.order(lambda job: job.memory))
    desk.top.press(key)
    desk.expect_order("GPU MEM▼", desk.start_order)


@does("M")
def sort_memory(desk: Desk, key: str) -> None:
    desk.top.press("N")
    desk.expect_order("PID▲", desk.order(lambda job: job.pid))
    desk.top.press(key)
    desk.expect_order("GPU MEM▼", desk.start_order)


def expect_burner_first(desk: Desk, sorted_by: str) -> None:
    top = desk.top
    burner = desk.job("burner").pid
    top.wait_for(lambda: top.sorted_by == sorted_by and top.pids[:1] == [burner], f"the burner first by {sorted_by}")


@does("P")
def sort_cpu(desk: Desk, key: str) -> None:
    desk.top.press(key)
    expect_burner_first(desk, "CPU%▼")
    desk.back_to_start_order()


@does("o")
def sort_chord(desk: Desk, key: str) -> None:
    top = desk.top
    orders: dict[str, tuple[str, Callable[[Job], Any], bool]] = {
        "n": ("GPU", lambda job: job.gpu, False),
        "p": ("PID", lambda job: job.pid, False),
        "u": ("USER", lambda job: None if job.command == "gone" else 0, False),
        "g": ("GPU MEM", lambda job: job.memory, True),
        "s": ("GPU%", lambda job: job.sm, True),
        "b": ("MEM%", lambda job: job.memory_util, True),
        "t": ("TIME", lambda job: None if job.command == "gone" else -job.start_ticks, True),
    }
    for letter, (column, by, descending) in orders.items():
        top.press(key, letter)
        desk.expect_order(column + ("▼" if descending else "▲"), desk.order(by, descending))
        top.press(key, letter.upper())
        desk.expect_order(column + ("▲" if descending else "▼"), desk.order(by, not descending))
    for letter, column in (("c", "CPU%"), ("m", "HOST MEM")):
        top.press(key, letter)
        expect_burner_first(desk, column + "▼")
        top.press(key, letter.upper())
        burner = desk.job("burner").pid
        top.wait_for(lambda: top.sorted_by == column + "▲" and top.pids and burner not in top.pids, "the burner last")
    desk.back_to_start_order()


@does("C")
def columns(desk: Desk, key: str) -> None:
    top = desk.top

    def heading() -> list[str]:
        return top.lines[top.heading_y].strip("│").split()[:4]

    top.press(key)
    top.wait_text("─ Columns ─")
    top.type("user")
    top.press("Space")
    top.wait_for(lambda: "PID T" in " ".join(heading()), "a list without users")
    top.press("Space")
    top.wait_for(lambda: "PID USER T" in " ".join(heading()), "users again")
    # They are in the order that is chosen.
    top.press("-")
    top.wait_for(lambda: "GPU USER PID" in " ".join(heading()), "users first")
    top.press("+")
    top.wait_for(lambda: "GPU PID USER" in " ".join(heading()), "users where they were")
    top.press("Esc")


# Act


@does("Space")
def tag(desk: Desk, key: str) -> None:
    top = desk.top
    pid = desk.choose(0)
    top.press(key)
    desk.expect_note("1 tagged")
    desk.expect_chosen(desk.start_order[1])
    x, y = top.find(str(pid))
    assert (top.cell(x, y).fg, top.cell(x, y).bold) == (TAGGED, True)
    # Once more takes the tag off.
    top.press("Up", key)
    desk.expect_note("")
    desk.let_go()


@does("U")
def untag(desk: Desk, key: str) -> None:
    desk.choose(0)
    desk.top.press("Space", "Space")
    desk.expect_note("2 tagged")
    desk.top.press(key)
    desk.expect_note("")
    desk.let_go()


@does("K", "F9")
def signal_menu(desk: Desk, key: str) -> None:
    top = desk.top
    top.press(key)
    top.wait_for(lambda: top.message == "choose a process first", "a word why not")
    desk.choose(0)
    top.press(key)
    top.wait_text("─ Send signal ─")
    x, y = top.find("15 SIGTERM")
    assert top.cell(x, y).bg == SELECTED
    top.press("Esc")
    desk.let_go()


def asks(name: str) -> Check:
    def check(desk: Desk, key: str) -> None:
        top = desk.top
        pid = desk.choose(0)
        top.press(key)
        top.wait_text(f"Send {name} to 1 process?")
        assert re.search(rf"\b{pid} {USER} train-", top.text)
        top.press("n")
        top.wait_for(lambda: top.message == "no signal was sent", "the word that nothing was sent")
        assert Path(f"/proc/{pid}").exists()
        desk.let_go()

    return check


does("I", "Ctrl-C")(asks("SIGINT"))
does("T")(asks("SIGTERM"))
does("X")(asks("SIGKILL"))


def search_nice_job(desk: Desk, key: str) -> Job:
    job = desk.job(f"nice-{key}")
    desk.search_for(str(job.pid))
    desk.expect_chosen(job.pid)
    return job


@does("[", "F8")
def nicer(desk: Desk, key: str) -> None:
    job = search_nice_job(desk, key)
    desk.top.press(key)
    desk.top.wait_for(lambda: desk.top.message == f"{job.pid} has nice {niceness(1)} now", "a word of it")
    assert job.nice == niceness(1)
    desk.end_search()


@does("]", "F7")
def less_nice(desk: Desk, key: str) -> None:
    job = search_nice_job(desk, key)
    desk.top.press(key)
    if ROOT:
        desk.top.wait_for(lambda: desk.top.message == f"{job.pid} has nice {niceness(-1)} now", "a word of it")
        assert job.nice == niceness(-1)
    else:
        desk.top.wait_for(lambda: "no permission" in desk.top.message, "why not")
        assert job.nice == niceness()
    desk.end_search()
