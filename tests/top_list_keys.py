"""Keys of `gpulse top` that go through the list of processes: checks for each, by its name in the help."""

from __future__ import annotations

import os
import re
from pathlib import Path

from top_desk import LONG_COMMAND, USER, Desk, does
from top_jobs import SLEEP, Job

# Processes


@does("Up", "k", "Alt-k", "Shift-Tab")
def up(desk: Desk, key: str) -> None:
    desk.choose(2)
    desk.top.press(key)
    desk.expect_chosen(desk.start_order[1])
    desk.let_go()


@does("Down", "j", "Alt-j", "Tab")
def down(desk: Desk, key: str) -> None:
    desk.top.press(key)
    desk.expect_chosen(desk.start_order[0])
    desk.top.press(key)
    desk.expect_chosen(desk.start_order[1])
    desk.let_go()


def page(desk: Desk) -> int:
    return len(desk.top.listed())


@does("PgUp", "Alt-K", "Ctrl-B")
def page_up(desk: Desk, key: str) -> None:
    pids = desk.start_order
    desk.top.press("End")
    desk.expect_chosen(pids[-1])
    desk.top.press(key)
    desk.expect_chosen(pids[-1 - page(desk)])
    desk.top.press("Home")
    desk.expect_chosen(pids[0])
    desk.let_go()


@does("PgDn", "Alt-J", "Ctrl-F")
def page_down(desk: Desk, key: str) -> None:
    desk.choose(0)
    desk.top.press(key)
    desk.expect_chosen(desk.start_order[page(desk)])
    desk.choose(0)
    desk.let_go()


@does("Home")
def first(desk: Desk, key: str) -> None:
    desk.choose(3)
    desk.top.press(key)
    desk.expect_chosen(desk.start_order[0])
    desk.let_go()


@does("End", "G")
def last(desk: Desk, key: str) -> None:
    desk.top.press(key)
    desk.expect_chosen(desk.start_order[-1])
    desk.choose(0)
    desk.let_go()


def expect_command(desk: Desk, start: str) -> None:
    top = desk.top
    top.wait_for(lambda: top.rows and top.rows[0].command.startswith(start), f"a command from {start!r} on")


@does("Right", "l", "Alt-l")
def scroll_right(desk: Desk, key: str) -> None:
    desk.show_only("long-runner")
    expect_command(desk, LONG_COMMAND[:30])
    desk.top.press(key)
    expect_command(desk, LONG_COMMAND[4:34])
    desk.top.press(key)
    expect_command(desk, LONG_COMMAND[8:38])
    desk.top.press("Ctrl-A")
    desk.show_all()


@does("Left", "Alt-h")
def scroll_left(desk: Desk, key: str) -> None:
    desk.show_only("long-runner")
    desk.top.press("Right", "Right")
    expect_command(desk, LONG_COMMAND[8:38])
    desk.top.press(key)
    expect_command(desk, LONG_COMMAND[4:34])
    # At the start it stays there.
    desk.top.press(key, key, key)
    expect_command(desk, LONG_COMMAND[:30])
    desk.show_all()


@does("Ctrl-A", "^")
def row_start(desk: Desk, key: str) -> None:
    desk.show_only("long-runner")
    desk.top.press("Right", "Right", "Right")
    expect_command(desk, LONG_COMMAND[12:40])
    desk.top.press(key)
    expect_command(desk, LONG_COMMAND[:30])
    desk.show_all()


@does("Ctrl-E", "$")
def row_end(desk: Desk, key: str) -> None:
    top = desk.top
    desk.show_only("long-runner")
    assert not LONG_COMMAND.endswith(top.rows[0].command)
    top.press(key)
    top.wait_for(lambda: LONG_COMMAND.endswith(top.rows[0].command), "the end of the command")
    top.press("^")
    desk.show_all()


@does("Enter")
def details(desk: Desk, key: str) -> None:
    top = desk.top
    pid = desk.choose(1)
    job = next(job for job in desk.jobs.all if job.pid == pid)
    top.press(key)
    top.wait_text(f"Process {pid} on GPU {job.gpu}")
    facts = top.text
    assert re.search(rf"PPID +{os.getpid()}\b", facts)
    assert re.search(rf"COMMAND +{job.command}", facts)
    assert f"{job.memory / 1024:.1f}G" in facts and USER in facts
    # Its plots.
    assert all(re.search(rf"{name} +●", facts) for name in ("GPU%", "GPU MEM", "CPU%", "HOST MEM")), facts
    # The keys that choose go on to the next process.
    top.press("Down")
    top.wait_text(f"Process {desk.start_order[2]} on GPU")
    top.press("Esc")
    top.wait_text("─ Processes ─")
    desk.let_go()


@does("e")
def environment_of_process(desk: Desk, key: str) -> None:
    top = desk.top
    pid = desk.choose(0)
    name = next(job.command.split()[0] for job in desk.jobs.all if job.pid == pid)
    top.press(key)
    top.wait_text(f"Environment of {pid}")
    assert f"GPULSE_TEST_JOB={name}" in top.text
    top.press("Esc")
    top.wait_text("─ Processes ─")
    desk.let_go()


@does("J")
def children(desk: Desk, key: str) -> None:
    """The launcher's child has a row of its own, so it has none below it; the burner has started nobody."""
    top = desk.top
    job = desk.job("burner")
    desk.show_only("burner")
    top.press("Home", key)
    top.wait_for(lambda: top.message == f"{job.pid} has started no other process", "a word of it")
    top.press(key)
    desk.let_go()
    desk.show_all()


@does("F")
def follow(desk: Desk, key: str) -> None:
    top = desk.top
    pid = desk.choose(0)
    # Upside down the first is the last, beyond what is seen …
    top.press("i")
    top.wait_for(lambda: top.sorted_by == "GPU MEM▲" and top.pids and pid not in top.pids, "it out of sight")
    # … unless it is followed.
    top.press(key)
    top.wait_for(lambda: "following" in top.note and top.chosen == pid, "it in sight")
    top.press("i")
    top.wait_for(lambda: top.sorted_by == "GPU MEM▼" and top.chosen == pid, "it in sight at the top")
    top.press("i")
    top.wait_for(lambda: top.sorted_by == "GPU MEM▲" and top.chosen == pid, "it in sight at the bottom")
    top.press(key, "i")
    desk.expect_note("")
    desk.choose(0)
    desk.let_go()


@does("t")
def tree(desk: Desk, key: str) -> None:
    top = desk.top
    desk.show_only("launcher|nested")
    launcher = desk.job("launcher")
    assert [line for _, line in top.listed() if "├" in line or "└" in line] == []
    top.press(key)
    top.wait_for(lambda: "tree" in top.note, "the tree")
    lines = [line for _, line in top.listed()]
    # This process uses no GPU, but is the parent of what does.
    assert str(os.getpid()) in lines[0].split()
    assert re.search(rf"\b{launcher.pid}\b.* └─ launcher", lines[1])
    top.press(key)
    top.wait_for(lambda: "tree" not in top.note, "no tree")
    desk.show_all()
    # A GPU process below another.
    nested = next(job for job in desk.jobs.all if job.process is None and job.command != "gone")
    desk.show_only(f"pid:{launcher.pid},{nested.pid}")
    top.press(key)
    top.wait_for(lambda: "tree" in top.note, "the tree")
    lines = [line for _, line in top.listed()]
    assert re.search(rf"\b{launcher.pid}\b.* └─ launcher", lines[1])
    assert re.search(rf"\b{nested.pid}\b.*    └─ {Path(SLEEP).name} 600", lines[2])
    top.press(key)
    desk.show_all()


@does("v", "V")
def totals(desk: Desk, key: str) -> None:
    top = desk.top
    mine = [job for job in desk.jobs.all if job.command != "gone"]
    gone = [job for job in desk.jobs.all if job.command == "gone"]

    def total(jobs: list[Job], who: str) -> str:
        memory = sum(job.memory for job in jobs) / 1024
        return rf"0,1 +{len(jobs)}x {who} .* {memory:.1f}G .* {len(jobs)} processes"

    top.press(key)
    desk.expect_note("totals per user")
    lines = [line for _, line in top.listed()]
    assert len(lines) == 2
    assert re.search(total(mine, USER), lines[0])
    assert re.search(total(gone, "–"), lines[1])
    top.press(key)
    desk.expect_note("totals per job")
    lines = [line for _, line in top.listed()]
    assert len(lines) == 1 and re.search(total(desk.jobs.all, "–"), lines[0])
    top.press(key)
    desk.expect_note("")


# Find


@does("/", "F3")
def search(desk: Desk, key: str) -> None:
    pattern = "in-1[89]"
    desk.search_for(pattern, key)
    desk.expect_chosen(desk.matches(pattern)[0])
    desk.end_search()


@does("n")
def next_match(desk: Desk, key: str) -> None:
    desk.search_for("train-.[05]")
    found = desk.matches("train-.[05]")
    assert len(found) == 4
    # After the last comes the first again.
    for pid in [*found, found[0]]:
        desk.expect_chosen(pid)
        desk.top.press(key)
    desk.end_search()


@does("N")
def previous_match(desk: Desk, key: str) -> None:
    desk.search_for("train-.[05]")
    for pid in reversed(desk.matches("train-.[05]")):
        desk.top.press(key)
        desk.expect_chosen(pid)
    desk.end_search()
    desk.top.press(key)
    desk.expect_order("PID▲", desk.order(lambda job: job.pid))
    desk.back_to_start_order()


@does("\\", "F4")
def filter_list(desk: Desk, key: str) -> None:
    top = desk.top
    top.press(key)
    top.wait_for(lambda: top.message.startswith("filter:"), "the question")
    # What is typed counts at once.
    top.type("train-1")
    found = desk.matches("train-1")
    top.wait_for(lambda: top.pids == found, "only those")
    top.type("[0-3] gpu:1")
    mine = [job.pid for job in desk.jobs.all if job.gpu == 1]
    found = [pid for pid in desk.matches("train-1[0-3]") if pid in mine]
    assert found
    top.wait_for(lambda: top.pids == found, "only those of GPU 1")
    top.press("Enter")
    desk.expect_note(f"filter train-1[0-3] gpu:1, {len(desk.jobs.all) - len(found)} hidden")
    desk.show_all()


@does("u")
def only_user(desk: Desk, key: str) -> None:
    top = desk.top
    top.press(key)
    top.wait_text("─ Processes of ─")
    assert "everybody" in top.text
    top.type(USER[:2])
    top.press("Enter")
    desk.expect_note(f"filter user:{USER}, 2 hidden")
    top.press(key)
    top.wait_text("─ Processes of ─")
    top.press("Home", "Enter")
    desk.expect_note("")


@does("x")
def only_type(desk: Desk, key: str) -> None:
    top = desk.top
    graphics = [job.pid for job in desk.jobs.all if job.type == "graphics"]
    top.press(key)
    desk.expect_note("only compute, 2 hidden")
    assert not set(top.pids) & set(graphics) and len(top.pids) > 2
    top.press(key)
    desk.expect_note(f"only graphics, {len(desk.jobs.all) - 2} hidden")
    assert sorted(top.pids) == graphics
    top.press(key)
    desk.expect_note("")


@does("Esc")
def clear(desk: Desk, key: str) -> None:
    top = desk.top
    desk.show_only("train-")
    top.press("Home", "Space")
    top.wait_for(lambda: "1 tagged" in top.note, "a tag")
    desk.search_for("19")
    assert all(word in top.note for word in ("1 tagged", "filter train-", "search 19"))
    top.press(key)
    top.wait_for(lambda: "search" not in top.note, "no search")
    assert "1 tagged" in top.note and "filter train-" in top.note
    top.press(key)
    top.wait_for(lambda: "tagged" not in top.note, "no tag")
    assert "filter train-" in top.note
    top.press(key)
    desk.expect_note("")
    desk.choose(0)
    top.press(key)
    desk.expect_chosen(None)
    top.press(key)
    top.wait_for(lambda: top.message == "q quits", "a hint how to leave")
