"""What `gpulse top` does to processes: only what was asked for and said yes to, and never to another one."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Iterator

import pytest

from harness import GPULSE, SIM
from harness import ROOT as REPOSITORY
from top import Top
from top_desk import USER
from top_jobs import NOTER, SLEEP, Job, Jobs, niceness

ROOT = os.geteuid() == 0
NOBODY = 65534
needs_root = pytest.mark.skipif(not ROOT, reason="needs root: it acts as other users or beyond their rights")

# Starts a program under a PID of our choice, and waits for it.
WITH_PID = """
import ctypes, os, signal, sys
fields = "flags pidfd child_tid parent_tid exit_signal stack stack_size tls set_tid set_tid_size cgroup".split()
class Arguments(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in fields]
wanted = ctypes.c_int(int(sys.argv[1]))
arguments = Arguments(exit_signal=signal.SIGCHLD, set_tid=ctypes.addressof(wanted), set_tid_size=1)
libc = ctypes.CDLL(None, use_errno=True)
made = libc.syscall(435, ctypes.byref(arguments), ctypes.sizeof(arguments))
if made == 0:
    os.execv(sys.argv[2], sys.argv[2:])
print(made if made > 0 else os.strerror(ctypes.get_errno()), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[Jobs]:
    jobs = Jobs(tmp_path)
    yield jobs
    jobs.end()


class Noter:
    """A process that writes down each signal it gets."""

    def __init__(self, jobs: Jobs, name: str, memory: int, signals: str = "SIGTERM SIGINT SIGUSR1 SIGHUP") -> None:
        self.file = jobs.folder / f"{name}.notes"
        self.job = jobs.add_python(NOTER, str(self.file), *signals.split(), name=name, memory=memory)

    @property
    def notes(self) -> list[str]:
        return self.file.read_text().splitlines() if self.file.exists() else []

    def wait_for(self, *notes: str) -> None:
        end = time.monotonic() + 10
        while self.notes != list(notes):
            assert time.monotonic() < end, self.notes
            time.sleep(0.005)


@pytest.fixture
def three(jobs: Jobs) -> list[Noter]:
    """In the order in which they are listed."""
    noters = [Noter(jobs, name, memory) for name, memory in (("ann", 3000), ("bob", 2000), ("cyd", 1000))]
    for noter in noters:
        noter.wait_for("ready")
    return noters


def start(jobs: Jobs, *arguments: str) -> Top:
    top = Top(jobs.folder, "--interval", "100ms", *arguments, scenario=jobs.scenario(), COLORTERM="truecolor")
    top.wait_for(lambda: len(top.rows) == len(jobs.all), "all processes")
    return top


def choose(top: Top, job: Job) -> None:
    places = top.pids
    top.press("Home", *["Down"] * places.index(job.pid))
    top.wait_for(lambda: top.chosen == job.pid, f"{job.pid} chosen")


def expect(top: Top, message: str) -> None:
    top.wait_for(lambda: top.message == message, repr(message))


def say_something_else(top: Top) -> None:
    """So that the next message is seen to be a new one."""
    top.press("n")
    expect(top, "nothing is searched for: / starts a search")


def ask(top: Top, key: str, question: str) -> None:
    top.press(key)
    top.wait_text(question)


@pytest.mark.parametrize(
    "answers", [["n"], ["N"], ["q"], ["Esc"], ["Enter"], ["Ctrl-C"], ["Tab", "Tab", "Enter"]], ids="-".join
)
def test_no_means_no(shared_three: tuple[Top, list[Noter]], answers: list[str]) -> None:
    top, noters = shared_three
    say_something_else(top)
    choose(top, noters[0].job)
    ask(top, "T", "Send SIGTERM to 1 process?")
    # What is not an answer changes nothing.
    top.press("x", "Space")
    top.press(*answers)
    expect(top, "no signal was sent")
    top.wait_gone("Send SIGTERM")
    assert [noter.notes for noter in noters] == [["ready"]] * 3


@pytest.fixture(scope="module")
def shared_three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Top, list[Noter]]]:
    jobs = Jobs(tmp_path_factory.mktemp("no"))
    noters = [Noter(jobs, name, memory) for name, memory in (("ann", 3000), ("bob", 2000), ("cyd", 1000))]
    for noter in noters:
        noter.wait_for("ready")
    with start(jobs) as top:
        yield top, noters
    jobs.end()


def test_yes_sends_to_the_chosen_one_only(jobs: Jobs, three: list[Noter]) -> None:
    ann, bob, cyd = three
    with start(jobs) as top:
        choose(top, bob.job)
        sent = ["ready"]
        for key, name, answers in (
            ("T", "SIGTERM", ["y"]),
            ("I", "SIGINT", ["Y"]),
            ("Ctrl-C", "SIGINT", ["Tab", "Enter"]),
            ("T", "SIGTERM", ["Right", "Enter"]),
        ):
            ask(top, key, f"Send {name} to 1 process?")
            assert re.search(rf"\b{bob.job.pid} {USER} bob ", top.text)
            top.press(*answers)
            expect(top, f"{name} was sent to 1 process")
            sent.append(name)
            bob.wait_for(*sent)
        ask(top, "X", "Send SIGKILL to 1 process?")
        top.press("y")
        assert bob.job.ends() == -signal.SIGKILL
        assert ann.notes == cyd.notes == ["ready"]
        # The driver still lists it; it says so and sends nothing.
        top.wait_for(lambda: re.search(rf"\b{bob.job.pid}\b.* gone", top.text), "that it is gone")
        top.press("T")
        expect(top, f"no signal was sent: {bob.job.pid}: it is gone")


@pytest.mark.parametrize("key", ["K", "F9"])
def test_any_signal_of_the_menu(jobs: Jobs, three: list[Noter], key: str) -> None:
    ann, bob, cyd = three
    with start(jobs) as top:
        choose(top, cyd.job)
        top.press(key)
        top.wait_text("─ Send signal ─")
        # All that a process can get, by number and name.
        for name in ("HUP", "INT", "QUIT", "KILL", "USR1", "USR2", "TERM", "CONT", "STOP", "TSTP", "SYS"):
            number = signal.Signals[f"SIG{name}"]
            assert re.search(rf"\b{number} SIG{name}\b", top.text)
        top.type("sigusr1")
        top.press("Enter")
        top.wait_text("Send SIGUSR1 to 1 process?")
        top.press("y")
        expect(top, "SIGUSR1 was sent to 1 process")
        cyd.wait_for("ready", "SIGUSR1")
        assert ann.notes == bob.notes == ["ready"]
        top.press(key, "Home", "Enter")
        top.wait_text("Send SIGHUP to 1 process?")
        top.press("n")
        expect(top, "no signal was sent")
        assert cyd.notes == ["ready", "SIGUSR1"]


def test_all_that_are_tagged_and_not_the_chosen_one(jobs: Jobs, three: list[Noter]) -> None:
    ann, bob, cyd = three
    with start(jobs) as top:
        choose(top, ann.job)
        top.press("Space")
        choose(top, cyd.job)
        top.press("Space")
        choose(top, bob.job)
        top.wait_for(lambda: top.note == "2 tagged", "two tags")
        ask(top, "T", "Send SIGTERM to 2 processes?")
        assert all(re.search(rf"\b{noter.job.pid} {USER} ", top.text) for noter in (ann, cyd))
        top.press("y")
        expect(top, "SIGTERM was sent to 2 processes")
        ann.wait_for("ready", "SIGTERM")
        cyd.wait_for("ready", "SIGTERM")
        assert bob.notes == ["ready"]
        # What is done is done once.
        top.wait_for(lambda: top.note == "", "no tags")


def test_one_process_on_two_gpus_gets_it_once(jobs: Jobs, three: list[Noter]) -> None:
    ann = three[0]
    jobs.add_gone(ann.job.pid, gpu=1, memory=500)
    with start(jobs) as top:
        choose(top, ann.job)
        top.press("Space")
        ask(top, "I", "Send SIGINT to 1 process?")
        top.press("y")
        expect(top, "SIGINT was sent to 1 process")
        ann.wait_for("ready", "SIGINT")


def test_a_process_that_ends_while_it_asks(jobs: Jobs, three: list[Noter]) -> None:
    ann, bob, cyd = three
    with start(jobs) as top:
        choose(top, bob.job)
        ask(top, "T", "Send SIGTERM to 1 process?")
        os.kill(bob.job.pid, signal.SIGKILL)
        bob.job.ends()
        top.press("y")
        expect(top, f"no signal was sent: {bob.job.pid}: it is gone")
        assert ann.notes == cyd.notes == ["ready"]


def take_over(jobs: Jobs, victim: Noter) -> Noter:
    """Ends the process and gives its number to another."""
    os.kill(victim.job.pid, signal.SIGKILL)
    victim.job.ends()
    heir = Noter.__new__(Noter)
    heir.file = jobs.folder / "heir.notes"
    helper = subprocess.Popen(
        [sys.executable, "-c", WITH_PID, str(victim.job.pid)]
        + [sys.executable, "-c", NOTER, str(heir.file), "SIGTERM", "SIGINT", "SIGUSR1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert helper.stdout is not None
    answer = helper.stdout.readline().strip()
    heir.job = Job(victim.job.pid, "heir", process=helper)
    jobs.all.append(heir.job)
    if answer != str(victim.job.pid):
        pytest.skip(f"the kernel gives no process number of our choice: {answer}")
    jobs.adopted.append(victim.job.pid)
    heir.wait_for("ready")
    return heir


def test_a_number_that_is_used_again_while_it_asks(jobs: Jobs, three: list[Noter]) -> None:
    ann, bob, cyd = three
    with start(jobs) as top:
        choose(top, bob.job)
        ask(top, "T", "Send SIGTERM to 1 process?")
        heir = take_over(jobs, bob)
        top.press("y")
        expect(top, f"no signal was sent: {bob.job.pid}: it is gone")
        assert Path(f"/proc/{bob.job.pid}").exists()
        # It can be chosen, asked for and reached as what it is now.
        top.wait_for(lambda: re.search(rf"\b{bob.job.pid}\b.* {Path(sys.executable).name} -c", top.text), "the new one in the list")
        ask(top, "T", "Send SIGTERM to 1 process?")
        top.press("y")
        expect(top, "SIGTERM was sent to 1 process")
        heir.wait_for("ready", "SIGTERM")
        assert ann.notes == cyd.notes == ["ready"]


def test_a_tag_is_of_the_process_and_not_of_its_number(jobs: Jobs, three: list[Noter]) -> None:
    ann, bob, cyd = three
    with start(jobs) as top:
        choose(top, ann.job)
        top.press("Space", "Space")
        top.wait_for(lambda: top.note == "2 tagged", "two tags")
        heir = take_over(jobs, bob)
        top.wait_for(lambda: top.note == "1 tagged", "one tag less")
        ask(top, "T", "Send SIGTERM to 1 process?")
        top.press("y")
        expect(top, "SIGTERM was sent to 1 process")
        ann.wait_for("ready", "SIGTERM")
        assert heir.notes == cyd.notes == ["ready"]


def test_a_number_that_is_used_again_before_it_asks(jobs: Jobs, three: list[Noter]) -> None:
    bob = three[1]
    with start(jobs) as top:
        choose(top, bob.job)
        top.press("p")
        top.wait_text("PAUSED")
        heir = take_over(jobs, bob)
        for key in ("T", "I", "X"):
            say_something_else(top)
            top.press(key)
            expect(top, f"no signal was sent: {bob.job.pid}: it was replaced by another")
        top.press("[")
        expect(top, f"{bob.job.pid}: it was replaced by another")
        assert heir.notes == ["ready"]


def refuses_everything(top: Top, why: str) -> None:
    for key in ("T", "I", "X", "Ctrl-C"):
        top.press(key)
        expect(top, f"no signal was sent: {why}")
        # No question is open: a yes is none.
        top.press("y")
        top.wait_for(lambda: top.message.startswith("mouse o"), "what y does otherwise")
    top.press("K")
    top.wait_text("─ Send signal ─")
    top.press("Enter")
    top.wait_gone("─ Send signal ─")
    expect(top, f"no signal was sent: {why}")
    for key in ("[", "]", "F7", "F8"):
        say_something_else(top)
        top.press(key)
        expect(top, f"nothing was changed: {why}")


def test_readonly(jobs: Jobs, three: list[Noter]) -> None:
    with start(jobs, "--readonly") as top:
        choose(top, three[0].job)
        refuses_everything(top, "started with --readonly")
        assert three[0].notes == ["ready"] and three[0].job.nice == niceness()


@pytest.mark.parametrize(
    "what", [["--demo"], ["--replay", REPOSITORY / "data" / "h200_trace.csv"]], ids=["demo", "replay"]
)
def test_a_recording_is_not_this_machine(tmp_path: Path, what: list[str | Path]) -> None:
    # Its process has number 560, which may be anybody's here.
    with Top(tmp_path, *what, "--at", "15s", ready="of 3:03") as top:
        top.press("p", "Home")
        top.wait_for(lambda: re.search(r"\b560 root\b", top.text), "its process")
        refuses_everything(top, "this is a recording")
        top.press("e")
        expect(top, "a recording holds no environment")


@needs_root
def test_a_user_without_rights(jobs: Jobs) -> None:
    # Where everybody can read: the folder of a test is only its user's.
    folder = Path(tempfile.mkdtemp())
    try:
        folder.chmod(0o755)
        jobs.folder = folder
        theirs = jobs.add(name="theirs", memory=2000)
        mine = jobs.add(name="mine", memory=1000, user=NOBODY)
        if not all(readable_by_all(path) for path in (GPULSE, SIM / "libnvidia-ml.so.1")):
            pytest.skip("another user cannot run the program from this folder")
        with Top(folder, "--interval", "100ms", scenario=jobs.scenario(), user=NOBODY) as top:
            top.wait_for(lambda: len(top.rows) == 2, "both")
            choose(top, theirs)
            for key in ("T", "I", "X"):
                say_something_else(top)
                top.press(key)
                top.wait_text("Send SIG")
                top.press("y")
                expect(top, f"no signal was sent: {theirs.pid}: no permission: it belongs to root")
            top.press("[")
            expect(top, f"{theirs.pid}: no permission: it belongs to root")
            say_something_else(top)
            top.press("e")
            expect(top, f"{theirs.pid}: no permission: it belongs to root")
            choose(top, mine)
            top.press("[")
            expect(top, f"{mine.pid} has nice {niceness(1)} now")
            top.press("]")
            expect(top, f"{mine.pid}: no permission: only root may have it served sooner")
            top.press("T")
            top.wait_text("Send SIGTERM to 1 process?")
            top.press("y")
            expect(top, "SIGTERM was sent to 1 process")
            assert mine.ends() == -signal.SIGTERM
        assert theirs.alive and theirs.nice == niceness()
    finally:
        shutil.rmtree(folder)


def readable_by_all(path: Path) -> bool:
    return all(part.stat().st_mode & 0o005 == 0o005 for part in path.resolve().parents) and path.stat().st_mode & 4 != 0


@needs_root
def test_priority(jobs: Jobs) -> None:
    first, second = jobs.add(memory=2000), jobs.add(memory=1000)
    with start(jobs) as top:
        choose(top, first)
        for key, steps in (("[", 1), ("F8", 2), ("]", 1), ("F7", 0), ("]", -1)):
            top.press(key)
            expect(top, f"{first.pid} has nice {niceness(steps)} now")
            assert (first.nice, second.nice) == (niceness(steps), niceness())
        os.setpriority(os.PRIO_PROCESS, first.pid, 18)
        for _ in range(2):
            say_something_else(top)
            top.press("[")
            expect(top, f"{first.pid} has nice 19 now")
        assert first.nice == 19
        os.setpriority(os.PRIO_PROCESS, first.pid, 4)
        top.press("Home", "Space", "Space")
        top.wait_for(lambda: top.note == "2 tagged", "two tags")
        top.press("[")
        top.wait_for(lambda: f"{first.pid} has nice 5 now" in top.message, "one")
        assert f"{second.pid} has nice {niceness(1)} now" in top.message
        assert (first.nice, second.nice) == (5, niceness(1))


EVIL = "\033]2;owned\007\033[77;7H\033[31mred\u009b32m\r\n\tend"


def test_nothing_a_process_says_of_itself_steers_the_terminal(jobs: Jobs) -> None:
    # Its name, its command line and its environment; also what the kernel takes as its name.
    program = jobs.folder / "p\033[77;8Hn"
    program.symlink_to(SLEEP)
    env = {"EVIL": EVIL, "A": "plain", "NAME\033[77;9H": "x", "WIDE": "漢字"}
    job = jobs.add([str(program), "600"], name=f"name{EVIL}", env=env)
    with start(jobs) as top:
        choose(top, job)
        assert "red" in top.rows[0].command and "end" in top.rows[0].command
        top.press("Enter")
        top.wait_text(f"Process {job.pid} on GPU")
        assert re.search(r"COMMAND +name.*red.*end", top.text)
        top.press("e")
        top.wait_text(f"Environment of {job.pid}")
        assert "A=plain" in top.text and "WIDE=漢字" in top.text
        assert re.search(r"EVIL=.*owned.*red.*end", top.text), "one line, whatever is in it"
        top.press("Esc")
        ask(top, "T", "Send SIGTERM to 1 process?")
        top.press("y")
        expect(top, "SIGTERM was sent to 1 process")
        job.ends()
        top.wait_for(lambda: re.search(rf"\b{job.pid}\b.* gone", top.text), "that it is gone")
        for part in (b"\033]2;", b"\033[77;", b"\033[31mred", b"\xc2\x9b", b"\x9b32m", b"\t", b"\007"):
            assert part not in top.raw


def test_environment(jobs: Jobs) -> None:
    many = {f"VARIABLE_{i:03}": f"{'value ' * 40}{i}" for i in range(100)}
    job = jobs.add(name="worker", env=many)
    with start(jobs) as top:
        choose(top, job)
        top.press("e")
        top.wait_text(f"Environment of {job.pid} {USER} worker 600")
        assert "VARIABLE_000=value value" in top.text and "VARIABLE_099" not in top.text
        # It scrolls, down and to the right.
        top.press("PgDn")
        top.wait_gone("VARIABLE_000")
        top.press("End")
        top.wait_text("VARIABLE_099")
        top.press("Home")
        top.wait_text("VARIABLE_000=value")
        top.press("Right")
        top.wait_text("│_000=value")
        top.press("Left", "q")
        top.wait_text("─ Processes ─")


def test_details_of_a_process_that_ends(jobs: Jobs) -> None:
    job = jobs.add(name="short", more="until = 1.0")
    with start(jobs) as top:
        choose(top, job)
        top.press("Enter")
        top.wait_text(f"Process {job.pid} on GPU 0")
        top.wait_text("it has ended")
        # A look back finds it again.
        top.press("(")
        top.wait_text("GPU MEM")
        top.press("Esc")
        top.wait_text("─ Processes ─")


def test_a_total_leads_to_its_processes(jobs: Jobs, three: list[Noter]) -> None:
    jobs.add_gone(4000001, memory=10)
    with start(jobs) as top:
        top.press("v")
        top.wait_for(lambda: top.note == "totals per user", "totals")
        top.press("Home", "T")
        expect(top, "choose a process first")
        top.press("Enter")
        top.wait_for(lambda: top.note == f"filter user:{USER}, 1 hidden", "whose they are")
        assert top.pids == [noter.job.pid for noter in three]


def test_what_is_no_regular_expression(jobs: Jobs, three: list[Noter]) -> None:
    with start(jobs) as top:
        for key in ("/", "\\"):
            top.press(key)
            top.type("bob(")
            top.wait_for(lambda: "is no regular expression" in top.message, "that it is wrong")
            top.press("Backspace")
            top.wait_for(lambda: "is no regular expression" not in top.message, "that it is right")
            top.press("Esc")
        top.wait_for(lambda: top.note == "" and len(top.pids) == 3, "all as it was")
