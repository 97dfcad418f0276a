"""A running `gpulse top` that many checks share, and what they do with it again and again."""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import time
from pathlib import Path
from typing import Any, Callable, Iterator

from top import Top
from top_jobs import BURNER, SLEEP, Job, Jobs

USER = pwd.getpwuid(os.geteuid()).pw_name

# Theme dark of src/tui/theme.cpp, as a terminal with all colours gets it.
TITLE, TAGGED, SELECTED = "6cb6ff", "e0b64c", "2d3b4e"

LONG_COMMAND = " ".join(["long-runner", "600", *(str(number) for number in range(100, 160))])

Check = Callable[["Desk", str], None]
# A check for each key, by the name that the help has for it; those of the second table need a recording.
KEYS: dict[str, Check] = {}
TIME_KEYS: dict[str, Check] = {}


def does(*keys: str, table: dict[str, Check] = KEYS) -> Callable[[Check], Check]:
    def note(check: Check) -> Check:
        for key in keys:
            assert key not in table
            table[key] = check
        return check

    return note


class Desk:
    """One running program that all checks share; who leaves it in disorder gets the next check a new one."""

    def __init__(self, start: Callable[[], Top], jobs: Jobs) -> None:
        self.start = start
        self.jobs = jobs
        self.opened: Top | None = None

    @property
    def top(self) -> Top:
        if self.opened is None:
            self.opened = self.start()
        return self.opened

    def drop(self) -> None:
        if self.opened is not None:
            self.opened.close()
        self.opened = None

    def check(self, check: Check, key: str, settled: Callable[[Desk], bool]) -> None:
        try:
            check(self, key)
            self.top.wait_for(lambda: settled(self), "the screen as it was before")
        except BaseException:
            self.drop()
            raise

    # What the tests know of the jobs

    def order(self, by: Callable[[Job], Any], descending: bool = False) -> list[int]:
        """All PIDs as a list sorted like this would have them: ties by GPU and PID, unknowns last."""
        known = [job for job in self.jobs.all if by(job) is not None]
        known.sort(key=lambda job: (job.gpu, job.pid))
        known.sort(key=by, reverse=descending)
        return [job.pid for job in known] + sorted(job.pid for job in self.jobs.all if by(job) is None)

    @property
    def start_order(self) -> list[int]:
        return self.order(lambda job: job.memory, descending=True)

    def job(self, name: str) -> Job:
        return next(job for job in self.jobs.all if job.command.split()[0] == name)

    # What the checks do again and again

    def choose(self, number: int) -> int:
        """Chooses a line of the list, counted from 0."""
        pids = self.start_order
        self.top.press("Home", *["Down"] * number)
        self.top.wait_for(lambda: self.top.chosen == pids[number], f"line {number} chosen")
        return pids[number]

    def let_go(self) -> None:
        """Nothing is chosen any more."""
        self.top.press("Esc")
        self.top.wait_for(lambda: self.top.chosen is None, "nothing chosen")

    def expect_chosen(self, pid: int | None) -> None:
        self.top.wait_for(lambda: self.top.chosen == pid, f"{pid} chosen")

    def expect_order(self, sorted_by: str, pids: list[int]) -> None:
        top = self.top
        top.wait_for(lambda: top.sorted_by == sorted_by, f"sorted by {sorted_by}")
        # One frame later the scroll may have followed.
        top.wait_for(lambda: top.pids and top.pids == pids[: len(top.pids)], f"the order of {sorted_by}")

    def expect_note(self, note: str) -> None:
        self.top.wait_for(lambda: self.top.note == note, f"the note {note!r}")

    def back_to_start_order(self) -> None:
        self.top.press("o", "g")
        self.expect_order("GPU MEM▼", self.start_order)

    def show_only(self, pattern: str) -> None:
        self.top.press("\\")
        self.top.wait_for(lambda: self.top.message.startswith("filter:"), "the question for a filter")
        self.top.type(pattern)
        self.top.press("Enter")
        self.top.wait_for(lambda: f"filter {pattern}" in self.top.note, "the filter")

    def show_all(self) -> None:
        self.top.press("Esc")
        self.expect_note("")

    def search_for(self, pattern: str, key: str = "/") -> None:
        self.top.press(key)
        self.top.wait_for(lambda: self.top.message.startswith("search:"), "the question")
        self.top.type(pattern)
        self.top.press("Enter")
        self.top.wait_for(lambda: f"search {pattern}" in self.top.note, "the search")

    def matches(self, pattern: str) -> list[int]:
        commands = {job.pid: job.command for job in self.jobs.all}
        return [pid for pid in self.start_order if re.search(pattern, commands[pid])]

    def end_search(self) -> None:
        self.top.press("Esc")
        self.expect_note("")
        self.choose(0)
        self.let_go()


def nested_sleeper(folder: Path, jobs: Jobs) -> None:
    """A GPU process that is the parent of another one."""
    told = folder / "nested"
    jobs.add(
        ["/bin/sh", "-c", f"{SLEEP} 600 & echo $! >{told}.new; mv {told}.new {told}; wait"], name="launcher", memory=905
    )
    while not told.exists():
        time.sleep(0.005)
    jobs.adopt(int(told.read_text()), f"{SLEEP} 600", memory=904)


@contextlib.contextmanager
def many_jobs(folder: Path) -> Iterator[Jobs]:
    """More than the list has lines for; each column sorts them differently."""
    jobs = Jobs(folder)
    try:
        for i in range(20):
            name = f"train-{i:02}"
            jobs.add(
                [SLEEP, "600", str(i)],
                name=name,
                gpu=i % 2,
                memory=1000 + i * 37 % 20 * 100,
                sm=i * 7 % 20 + 1,
                memory_util=i * 11 % 20 + 1,
                type="graphics" if i in (3, 17) else "compute",
                env={"PATH": os.environ["PATH"], "GPULSE_TEST_JOB": name},
            )
        jobs.add([SLEEP, *LONG_COMMAND.split()[1:]], name="long-runner", gpu=1, memory=908)
        jobs.add_python(BURNER, name="burner", memory=907)
        for name in ("]", "F7", "[", "F8"):
            jobs.add(name=f"nice-{name}", memory=906)
        nested_sleeper(folder, jobs)
        jobs.add_gone(4000001, memory=901)
        jobs.add_gone(4000002, gpu=1, memory=902)
        yield jobs
    finally:
        jobs.end()


PANELS = ["GPUs", "Plots", "Host", "Processes", "Events"]


def panels_shown(top: Top) -> list[str]:
    return [panel for panel in PANELS if re.search(rf"[╭├]─ {panel} ─", top.text)]


def is_at_start(desk: Desk) -> bool:
    top = desk.top
    return (
        panels_shown(top) == PANELS
        and top.sorted_by == "GPU MEM▼"
        and top.note == ""
        and top.chosen is None
        and top.pids == desk.start_order[: len(top.pids)]
        and len(top.pids) > 5
    )
