#!/usr/bin/env python3
"""What gpulse takes of a processor beside what it replaces, on a machine with a GPU, in one run.

Each program runs in turn, several times over, so that a change of the machine meets all of them. What a loop takes is the
scheduler's own count of its threads (/proc/PID/task/*/schedstat) over a window that begins after it has settled. Prints
Markdown. Needs Python 3.8 and nothing else; programs that are not installed are left out.

    bench/like_for_like.py --gpulse build/gpulse --load 'python3 matmul.py'
    LD_LIBRARY_PATH=build/sim GPULSE_SIM_SCENARIO=measured-cost bench/like_for_like.py   # on the simulator
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import shlex
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

FIVE = "utilization.gpu,memory.used,temperature.gpu,power.draw,clocks.current.sm"


def processor_seconds(pid: int) -> float:
    """Of all threads of the process and of its children."""
    total = 0
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            try:
                total += int(Path(f"/proc/{pid}/task/{task}/schedstat").read_text().split()[0])
                for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split():
                    total += round(processor_seconds(int(child)) * 1e9)
            except FileNotFoundError:
                continue  # it has just ended
    except FileNotFoundError:
        return 0
    return total / 1e9


class Loop:
    """A program that runs until it is stopped; its output goes nowhere, or to a terminal of its own."""

    def __init__(self, command: list[str], terminal: bool = False) -> None:
        self.reader, self.pid = -1, 0
        if not terminal:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                            stderr=subprocess.DEVNULL)
            self.pid = self.process.pid
            return
        self.pid, self.reader = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
            os.environ["TERM"] = "xterm-256color"
            os.execvp(command[0], command)
        os.set_blocking(self.reader, False)

    def wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(min(0.2, max(0.0, end - time.monotonic())))
            if self.reader >= 0:
                try:
                    while os.read(self.reader, 1 << 16):
                        pass
                except OSError:
                    pass

    def stop(self) -> None:
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        if self.reader >= 0:
            os.close(self.reader)


def percent_of_a_core(command: list[str], settle: float, window: float, terminal: bool) -> float | None:
    loop = Loop(command, terminal)
    try:
        loop.wait(settle)
        before, begun = processor_seconds(loop.pid), time.monotonic()
        loop.wait(window)
        after, taken = processor_seconds(loop.pid), time.monotonic() - begun
        return 100 * (after - before) / taken if before and after else None  # none: it ended before its time
    finally:
        loop.stop()


def percents_side_by_side(wanted: list[tuple[str, str, list[str], bool]], settle: float, window: float) -> list[float | None]:
    """Of all loops at the same time, begun evenly over a second so that their samples do not meet."""
    running = []
    try:
        for _, _, command, terminal in wanted:
            running.append(Loop(command, terminal))
            time.sleep(1 / len(wanted))
        time.sleep(settle)
        before, begun = [processor_seconds(loop.pid) for loop in running], time.monotonic()
        time.sleep(window)
        after, taken = [processor_seconds(loop.pid) for loop in running], time.monotonic() - begun
        return [100 * (b - a) / taken if a and b else None for a, b in zip(before, after)]
    finally:
        for loop in running:
            loop.stop()


def milliseconds(command: list[str]) -> float:
    begun = time.monotonic()
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return 1e3 * (time.monotonic() - begun)


def loops(gpulse: str, smi: str | None, folder: str) -> list[tuple[str, str, list[str], bool]]:
    """What is asked for, by which program, the command, whether on a terminal."""
    query = [f"--query-gpu={FIVE}", "--format=csv"]
    apps = ["--query-compute-apps=pid,used_memory", "--format=csv"]
    own = [gpulse, "smi"]
    all_ = []
    for what, arguments in (
        ("five fields, 10 Hz", [*query, "-lms", "100"]),
        ("five fields, 1 Hz", [*query, "-l", "1"]),
        ("processes, 10 Hz", [*apps, "-lms", "100"]),
        ("dmon, 1 Hz", ["dmon"]),
        ("pmon, 1 Hz", ["pmon"]),
    ):
        if smi:
            all_.append((what, "nvidia-smi", [smi, *arguments], False))
        all_.append((what, "gpulse smi", [*own, *arguments], False))
        if what.startswith("five"):
            interval = "0.1" if "10 Hz" in what else "1"
            for form in ("--csv", "--json"):
                command = [gpulse, form, "--fields", FIVE, "--watch", interval]
                all_.append((what, f"gpulse {form} --fields", command, False))
    all_.append(("everything, 1 Hz", "gpulse --json --watch", [gpulse, "--json", "--watch"], False))
    all_.append(("everything, 1 Hz", "gpulse record", [gpulse, "record", "-o", f"{folder}/x.gpr", "--force"], False))
    all_.append(("the table, 1 Hz", "gpulse --watch", [gpulse, "--watch"], False))
    all_.append(("live view, 200×50", "gpulse top", [gpulse, "top", "--settings", f"{folder}/top.toml"], True))
    for peer, command in (("nvtop", ["nvtop", "-d", "10"]), ("nvitop", ["nvitop", "--interval", "1"])):
        if shutil.which(peer):
            all_.append(("live view, 200×50", peer, command, True))
    return all_


def single_runs(gpulse: str, smi: str | None) -> list[tuple[str, str, list[str]]]:
    query = [f"--query-gpu={FIVE}", "--format=csv"]
    all_ = []
    for what, arguments in (("five fields", query), ("table", []), ("-q", ["-q"]), ("-L", ["-L"])):
        if smi:
            all_.append((what, "nvidia-smi", [smi, *arguments]))
        all_.append((what, "gpulse smi", [gpulse, "smi", *arguments]))
        if what == "five fields":
            all_.append((what, "gpulse --csv --fields", [gpulse, "--csv", "--fields", FIVE]))
    all_.append(("a look, with a window of 100 ms", "gpulse", [gpulse]))
    all_.append(("everything, with a window of 100 ms", "gpulse --json", [gpulse, "--json"]))
    all_.append(("a quick look", "gpulse --fast", [gpulse, "--fast"]))
    for peer, command in (("nvitop", ["nvitop", "-1"]), ("gpustat", ["gpustat"])):
        if shutil.which(peer):
            all_.append(("a quick look", peer, command))
    return all_


def versions(gpulse: str, smi: str | None) -> str:
    def first_line(command: list[str]) -> str:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return (done.stdout.splitlines() or ["?"])[0].strip()

    names = [first_line([gpulse, "--version"])]
    if smi:
        names.append("nvidia-smi " + first_line([smi, "--query-gpu=driver_version,name", "--format=csv,noheader"]))
    return "; ".join(names)


def main() -> int:
    here = Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpulse", default=str(here / "build" / "gpulse"), help="the program to measure")
    parser.add_argument("--smi", default=shutil.which("nvidia-smi"), help="nvidia-smi, or an empty word for none")
    parser.add_argument("--load", help="a command that keeps the GPU busy meanwhile")
    parser.add_argument("--warm-up", type=float, default=10, help="seconds that the load gets first (10)")
    parser.add_argument("--settle", type=float, default=3, help="seconds before a window begins (3)")
    # Slow readers have their turn every ten seconds: a window holds a whole number of those.
    parser.add_argument("--window", type=float, default=10, help="seconds of a window (10)")
    parser.add_argument("--rounds", type=int, default=3, help="how often each loop is measured (3)")
    parser.add_argument("--together", action="store_true", help="all loops at the same time instead of in turn")
    parser.add_argument("--only", default="", help="only loops whose name or program holds this regular expression")
    parser.add_argument("--runs", type=int, default=20, help="how often each single run is measured (20)")
    options = parser.parse_args()
    gpulse = str(Path(options.gpulse).resolve())
    if not os.access(gpulse, os.X_OK):
        parser.error(f"no program {gpulse}: give one to --gpulse")
    load = None
    if options.load:
        load = subprocess.Popen(shlex.split(options.load), stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        if load:
            time.sleep(options.warm_up)
            if load.poll() is not None:
                parser.error("the load ended before anything was measured")
        with tempfile.TemporaryDirectory() as folder:
            measure(gpulse, options.smi or None, folder, options)
        if load and load.poll() is not None:
            print("\nThe load ended before the last measurement.")
    finally:
        if load and load.poll() is None:
            os.killpg(load.pid, signal.SIGKILL)
    return 0


def measure(gpulse: str, smi: str | None, folder: str, options: argparse.Namespace) -> None:
    print(f"{versions(gpulse, smi)}; {'under load' if options.load else 'idle'}; {os.cpu_count()} cores\n")
    wanted = [loop for loop in loops(gpulse, smi, folder) if re.search(options.only, f"{loop[0]} {loop[1]}")]
    taken: list[list[float]] = [[] for _ in wanted]
    for _ in range(options.rounds):
        if options.together:
            shares = percents_side_by_side(wanted, options.settle, options.window)
        else:
            shares = (percent_of_a_core(command, options.settle, options.window, terminal)
                      for _, _, command, terminal in wanted)
        for values, share in zip(taken, shares):
            if share is not None:
                values.append(share)
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(f"Processor time of one core, %, {options.rounds} windows of {options.window:g} s "
          f"{'side by side' if options.together else 'in turn'}\n")
    print("| loop | program | least | median | most |\n|---|---|---|---|---|")
    for values, (what, program, _, _) in zip(taken, wanted):
        cells = [f"{f(values):.4f}" for f in (min, statistics.median, max)] if values else ["failed", "", ""]
        print(f"| {what} | `{program}` | {' | '.join(cells)} |")

    if not options.runs:
        return
    runs = single_runs(gpulse, smi)
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(options.runs):
        for values, (_, _, command) in zip(times, runs):
            values.append(milliseconds(command))
    print(f"\nFrom start to end, ms, {options.runs} runs in turn\n")
    print("| run | program | least | median |\n|---|---|---|---|")
    for values, (what, program, _) in zip(times, runs):
        print(f"| {what} | `{program}` | {min(values):.1f} | {statistics.median(values):.1f} |")


if __name__ == "__main__":
    sys.exit(main())
