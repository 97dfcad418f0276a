#!/usr/bin/env python3
"""What live views cost, side by side: CPU time, bytes written to the terminal, resident memory.

    bench/top_bench.py                      # gpulse top, nvtop, nvitop, btop, all-smi, for 60 s after 8 s of warm-up
    bench/top_bench.py --seconds 5 --only gpulse,nvitop
    bench/top_bench.py --processes 8        # one per GPU
    bench/top_bench.py --nvtop PATH --btop PATH --all-smi PATH

All run on the same simulated machine, 8 GPUs whose values move and 40 real processes on them, each in a pseudo-terminal of
200x50, at one sample a second: at the same time, a part of a second apart, so that whatever else the machine does meets all of
them. Each is looked at first: a program that does not show the GPUs is not measured.
Ends with 1 when gpulse is not the cheapest, is not five times cheaper than nvitop, or takes more than 16 MB. Needs pyte and
nvitop (tests/requirements.txt).
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyte

ROOT = Path(__file__).resolve().parent.parent
GPUS = 8
MOST_RESIDENT_KB = 16_000

DEVICES = """
[[device]]
profile = "h100"
count = 8
gpu_util = { steps = [[0, 98], [7, 100], [9, 41], [10, 97], [20, 60], [30, 98]], period = 40, stagger = 2.2, linear = true }
memory_used_mib = { steps = [[0, 30000], [20, 70000], [40, 30000]], period = 40, stagger = 3, linear = true }
power_w = { steps = [[0, 640], [7, 655], [9, 310], [10, 620]], period = 12, stagger = 0.7, linear = true }
power_average_w = { steps = [[0, 640], [7, 655], [9, 310], [10, 620]], period = 12, stagger = 0.7, linear = true }
temperature = { steps = [[0, 55], [30, 63], [60, 55]], period = 60, stagger = 4, linear = true }
[device.gpm]
smutil = { steps = [[0, 80], [7, 90], [9, 21], [10, 77], [20, 30], [30, 80]], period = 40, stagger = 2.2, linear = true }
"""
PROCESS = """
[[process]]
device = {device}
pid = {pid}
command = "python3"
memory_mib = {memory}
sm = {{ steps = [[0, {high}], [5, {low}]], period = 10, linear = true }}
memory_util = {low}
"""


@dataclass
class View:
    name: str
    command: list[str]
    version: list[str]
    sign: str  # what the screen must show


@dataclass
class Cost:
    cpu_percent: float
    bytes_per_second: float
    resident_kb: int
    threads: int


@contextlib.contextmanager
def machine(folder: Path, processes: int) -> Iterator[Path]:
    """A scenario with processes that are really there: monitors leave out those that are not."""
    jobs = [subprocess.Popen(["sleep", "100000"]) for _ in range(processes)]
    try:
        text = DEVICES
        for place, job in enumerate(jobs):
            text += PROCESS.format(
                device=place * GPUS // processes, pid=job.pid, memory=1000 + 100 * place, high=20 + place % 7, low=3 + place % 5
            )
        path = folder / "eight.toml"
        path.write_text(text)
        yield path
    finally:
        for job in jobs:
            job.kill()


def family(pid: int) -> list[int]:
    """The process and its children."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [one for child in task.read_text().split() for one in family(int(child))]
    return found


def cpu_seconds(pid: int) -> float:
    """Of all threads, from the scheduler's own nanoseconds; the clock ticks of /proc/PID/stat are too coarse for this."""
    total = 0
    for one in family(pid):
        for task in Path(f"/proc/{one}/task").glob("*/schedstat"):
            with contextlib.suppress(OSError):
                total += int(task.read_text().split()[0])
    return total / 1e9


def status(pid: int, field: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    return 0


class Running:
    def __init__(self, view: View, env: dict[str, str], columns: int, rows: int) -> None:
        self.view = view
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.written = 0
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execvpe(view.command[0], view.command, env)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def text(self) -> str:
        return "\n".join(self.screen.display)

    def begin(self) -> None:
        self.written = 0
        self.cpu, self.since = cpu_seconds(self.pid), time.monotonic()

    def cost(self) -> Cost:
        took = time.monotonic() - self.since
        return Cost(
            cpu_percent=100 * (cpu_seconds(self.pid) - self.cpu) / took,
            bytes_per_second=self.written / took,
            resident_kb=sum(status(one, "VmRSS") for one in family(self.pid)),
            threads=sum(status(one, "Threads") for one in family(self.pid)),
        )

    def end(self) -> None:
        with contextlib.suppress(OSError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


def read(all_running: list[Running], seconds: float, look: bool) -> None:
    """Takes what they write within that time. Looking at it costs us time, not the programs."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        ready = select.select([one.terminal for one in all_running], [], [], left)[0]
        for one in all_running:
            if one.terminal not in ready:
                continue
            try:
                piece = os.read(one.terminal, 1 << 16)
            except OSError as error:
                raise SystemExit(f"{one.view.name} ended:\n{one.text()}") from error
            one.written += len(piece)
            if look:
                # pyte does not know sequences with a private marker before "m" or "q".
                with contextlib.suppress(Exception):
                    one.stream.feed(piece)


def measure(chosen: list[View], env: dict[str, str], size: tuple[int, int], warm_up: float, seconds: float) -> dict[str, Cost]:
    all_running: list[Running] = []
    try:
        for view in chosen:
            all_running.append(Running(view, env, *size))
            read(all_running, 1 / len(chosen), look=True)
        read(all_running, warm_up, look=True)
        for one in all_running:
            if one.view.sign not in one.text():
                raise SystemExit(f"{one.view.name} does not show {one.view.sign!r}:\n{one.text()}")
            one.begin()
        read(all_running, seconds, look=False)
        return {one.view.name: one.cost() for one in all_running}
    finally:
        for one in all_running:
            one.end()


def views(options: argparse.Namespace, folder: Path) -> list[View]:
    venv = Path(sys.executable).parent
    btop = folder / "btop" / "btop.conf"
    btop.parent.mkdir()
    # As many GPU boxes as 50 lines hold beside its processes.
    btop.write_text('#? Config file for btop v. 1.4.0\nupdate_ms=1000\nshown_boxes="gpu0 gpu1 gpu2 proc"\n')
    nvitop = str(venv / "nvitop")
    return [
        View("gpulse top", [str(options.gpulse), "top"], [str(options.gpulse), "--version"], "H100"),
        View("nvtop", [options.nvtop, "-d", "10"], [options.nvtop, "--version"], "H100"),
        View("nvitop", [nvitop, "--interval", "1"], [nvitop, "--version"], "700W"),
        View("btop", [options.btop], [options.btop, "--version"], "H100"),
        View("all-smi", [options.all_smi, "local", "--interval", "1"], [options.all_smi, "--version"], "HBM3"),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--warm-up", type=float, default=8)
    parser.add_argument("--size", default="200x50")
    parser.add_argument("--only", default="", help="names, with commas between them")
    parser.add_argument("--gpulse", type=Path, default=ROOT / "build" / "gpulse")
    parser.add_argument("--nvtop", default="nvtop")
    parser.add_argument("--btop", default="btop")
    parser.add_argument("--all-smi", default="all-smi")
    parser.add_argument("--processes", type=int, default=40)
    options = parser.parse_args()
    columns, rows = (int(part) for part in options.size.split("x"))
    only = [name for name in options.only.split(",") if name]

    with tempfile.TemporaryDirectory() as name, machine(Path(name), options.processes) as scenario:
        # all-smi asks the program whether there are GPUs before it asks the library.
        programs = Path(name) / "bin"
        programs.mkdir()
        (programs / "nvidia-smi").symlink_to(options.gpulse.resolve())
        env = {
            "PATH": f"{programs}:{os.environ['PATH']}", "HOME": name, "XDG_CONFIG_HOME": name, "LANG": "C.UTF-8", "TERM": "xterm-256color",
            "LD_LIBRARY_PATH": str(options.gpulse.resolve().parent / "sim"), "GPULSE_SIM_SCENARIO": str(scenario),
        }
        print(f"{GPUS} simulated GPUs, {options.processes} processes, {options.size}, {options.seconds:g} s after {options.warm_up:g} s, "
              f"load before {os.getloadavg()[0]:.2f}\n", flush=True)
        wanted = [view for view in views(options, Path(name)) if not only or any(part in view.name for part in only)]
        installed = [view for view in wanted if shutil.which(view.command[0]) is not None]
        costs = measure(installed, env, (columns, rows), options.warm_up, options.seconds)
        print(f"| {'view':<32} | CPU, % of a core | times ours | bytes/s | resident MB | threads |\n|---|---|---|---|---|---|")
        for view in wanted:
            if view not in installed:
                print(f"| {view.name:<32} | not installed |")
                continue
            told = subprocess.run(view.version, env=env, capture_output=True, text=True).stdout.split("\n")[0]
            number = told.split()[-1] if told else "?"
            cost = costs[view.name]
            ours = costs.get("gpulse top", cost).cpu_percent
            print(
                f"| {view.name + ' ' + number:<32} | {cost.cpu_percent:16.3f} | {cost.cpu_percent / ours:10.1f} "
                f"| {cost.bytes_per_second:7.0f} | {cost.resident_kb / 1000:11.1f} | {cost.threads:7d} |"
            )
    return judge(costs)


def judge(costs: dict[str, Cost]) -> int:
    ours = costs.get("gpulse top")
    if ours is None:
        return 0
    faults = []
    if any(other.cpu_percent < ours.cpu_percent for other in costs.values()):
        faults.append("gpulse top is not the cheapest")
    if "nvitop" in costs and costs["nvitop"].cpu_percent < 5 * ours.cpu_percent:
        faults.append("nvitop costs less than five times as much")
    if ours.resident_kb > MOST_RESIDENT_KB:
        faults.append(f"gpulse top takes more than {MOST_RESIDENT_KB / 1000:g} MB")
    for fault in faults:
        print(f"FAILED: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
