#!/usr/bin/env python3
"""What watching a GPU takes from a training step on it.

One process trains; ways of watching come in turn, in short blocks and in another order each round, so that a card that
heats up or another user of the machine meets all of them. Every block begins with the same pause and with steps that do
not count. What a way costs is the median over all rounds of (its block minus the block without anything, of the same
round); "without (again)" is one more such way and tells how much of that is noise. The bounds hold 95 of 100 draws
(bootstrap over rounds). With blocks of a quarter of a second (--block 120 --pause 0.05 --warm-up 10) and hundreds of
rounds, what a card does over seconds drops out; the means of the blocks then tell a tenth of a per cent. A training step
runs into the power limit, and its clocks swing; --step stream does not, and tells hundredths of a per cent.

A process that watches from outside, an agent or `gpulse run`, is stopped (SIGSTOP) during the blocks of all other ways.

A second look does without rounds: of the steps of one block, those into which one of our samples fell against those into
which none did. As a control the same is done with moments in between, at which nothing was read.

    PYTHONPATH=python GPULSE_LIBRARY=build/libgpulse.so bench/step_cost.py --gpulse build/gpulse
    … build/gpulse run -- bench/step_cost.py --under-run --gpulse build/gpulse   # `gpulse run` as one more way
    … bench/step_cost.py --step spin         # without a GPU: to try the program itself

Needs torch with CUDA (unless --step spin); pynvml and nvidia-smi where they are to be compared. Prints Markdown.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import signal
import statistics
import subprocess
import tempfile
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Optional

import gpulse

LONG = 2.0  # times the usual step; longer ones are another's doing, and a few of them drown a tenth of a per cent


@dataclass
class Way:
    """How the GPU is watched, and what steps took meanwhile."""

    name: str
    watch: Callable[[], contextlib.AbstractContextManager[Optional[gpulse.Monitor]]]
    medians: list[float] = field(default_factory=list)  # of each round
    means: list[float] = field(default_factory=list)
    capped: list[float] = field(default_factory=list)  # means in which no step counts for more than LONG
    long: int = 0
    steps: list[float] = field(default_factory=list)
    hit: list[float] = field(default_factory=list)  # a sample fell into it
    missed: list[float] = field(default_factory=list)
    hit_between: list[float] = field(default_factory=list)
    missed_between: list[float] = field(default_factory=list)


@contextlib.contextmanager
def nothing() -> Iterator[None]:
    yield None


@contextlib.contextmanager
def awake(pid: int) -> Iterator[None]:
    """A process that is stopped the rest of the time."""
    os.kill(pid, signal.SIGCONT)
    try:
        yield None
    finally:
        os.kill(pid, signal.SIGSTOP)


@contextlib.contextmanager
def asleep(pid: int) -> Iterator[None]:
    if pid:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield None
    finally:
        if pid:
            os.kill(pid, signal.SIGCONT)


@contextlib.contextmanager
def from_agent(interval: float, pid: int) -> Iterator[gpulse.Monitor]:
    with awake(pid):
        time.sleep(0.2)  # its first sample after the pause
        with ours(interval, True) as monitor:
            yield monitor


@contextlib.contextmanager
def ours(interval: float, agent: bool) -> Iterator[gpulse.Monitor]:
    with gpulse.Monitor(interval=interval, agent=agent, history="10m") as monitor:
        monitor.start()
        monitor.wait()
        if monitor.stats().from_agent != agent:
            raise SystemExit(f"step_cost: the samples are {'not ' if agent else ''}an agent's")
        yield monitor


@contextlib.contextmanager
def pynvml_thread(interval: float) -> Iterator[None]:
    import pynvml

    pynvml.nvmlInit()
    device = pynvml.nvmlDeviceGetHandleByIndex(0)
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(interval):
            pynvml.nvmlDeviceGetUtilizationRates(device)
            pynvml.nvmlDeviceGetMemoryInfo(device)
            pynvml.nvmlDeviceGetTemperature(device, 0)
            pynvml.nvmlDeviceGetPowerUsage(device)
            pynvml.nvmlDeviceGetClockInfo(device, 1)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield None
    finally:
        ended.set()
        thread.join()
        pynvml.nvmlShutdown()


@contextlib.contextmanager
def nvidia_smi(interval: float) -> Iterator[None]:
    query = "utilization.gpu,memory.used,temperature.gpu,power.draw,clocks.sm"
    command = ["nvidia-smi", f"--query-gpu={query}", "--format=csv", "-lms", str(round(interval * 1000))]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield None
    finally:
        process.terminate()
        process.wait()


def training_step(layers: int, width: int, batch: int) -> Callable[[], None]:
    import torch

    parts = [part for _ in range(layers) for part in (torch.nn.Linear(width, width), torch.nn.ReLU())]
    model = torch.nn.Sequential(*parts).cuda().bfloat16()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    data = torch.randn(batch, width, device="cuda", dtype=torch.bfloat16)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        model(data).float().square().mean().backward()
        optimizer.step()
        torch.cuda.synchronize()

    return step


def streaming_step(gib: float) -> Callable[[], None]:
    """Bound by memory and below the power limit, so that clocks stand still and every step takes the same time."""
    import torch

    data = torch.zeros(int(gib * (1 << 28)), device="cuda")
    result = torch.empty_like(data)

    def step() -> None:
        torch.add(data, 1.0, out=result)
        torch.add(result, 1.0, out=data)
        torch.cuda.synchronize()

    return step


def spinning_step(seconds: float) -> Callable[[], None]:
    def step() -> None:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            pass

    return step


def run_block(way: Way, step: Callable[[], None], options: argparse.Namespace) -> None:
    with way.watch() as monitor:
        time.sleep(options.pause)
        for _ in range(options.warm_up):
            step()
        begins = [time.time()]
        for _ in range(options.block):
            step()
            begins.append(time.time())
        sampled = [] if monitor is None else [int(taken) / 1e9 for taken in monitor.history(host=True)["time"]]
    took = [end - begin for begin, end in zip(begins, begins[1:])]
    way.steps += took
    way.medians.append(statistics.median(took))
    way.means.append(statistics.fmean(took))
    most = LONG * way.medians[-1]
    way.capped.append(statistics.fmean(min(seconds, most) for seconds in took))
    way.long += sum(seconds > most for seconds in took)
    if not sampled:
        return
    split(begins, took, sampled, way.hit, way.missed)
    between = [(a + b) / 2 for a, b in zip(sampled, sampled[1:])]
    split(begins, took, between, way.hit_between, way.missed_between)


def split(begins: list[float], took: list[float], moments: list[float], hit: list[float], missed: list[float]) -> None:
    """A sample ends at its time; what it costs may reach into the step before and after."""
    touched = set()
    for moment in moments:
        place = bisect_left(begins, moment) - 1
        touched.update((place - 1, place, place + 1))
    for i, seconds in enumerate(took):
        (hit if i in touched else missed).append(seconds)


def trimmed_mean(values: list[float]) -> float:
    """Without the twentieth at either end: a block in which the machine did something else."""
    ordered, cut = sorted(values), len(values) // 20
    return statistics.fmean(ordered[cut : len(ordered) - cut])


def bounds_of_mean(differences: list[float]) -> tuple[float, float, float]:
    draws = sorted(trimmed_mean(random.choices(differences, k=len(differences))) for _ in range(2000))
    return draws[50], trimmed_mean(differences), draws[1949]


def bounds(differences: list[float]) -> tuple[float, float]:
    draws = sorted(statistics.median(random.choices(differences, k=len(differences))) for _ in range(2000))
    return draws[50], draws[1949]


def ways(options: argparse.Namespace, agent_pid: int) -> list[Way]:
    all_ways = [
        Way("without", nothing),
        Way("without (again)", nothing),
        Way("gpulse, in the process, 1 Hz", lambda: ours(1.0, False)),
        Way("gpulse, in the process, 10 Hz", lambda: ours(0.1, False)),
    ]
    if options.gpulse:
        all_ways.append(Way("gpulse, from the agent, 1 Hz", lambda: from_agent(1.0, agent_pid)))
        all_ways.append(Way("gpulse, from the agent, 10 Hz", lambda: from_agent(0.1, agent_pid)))
    if options.under_run:
        all_ways.append(Way("under gpulse run", lambda: awake(os.getppid())))
    try:
        import pynvml  # noqa: F401

        all_ways.append(Way("pynvml in a thread, 10 Hz", lambda: pynvml_thread(0.1)))
    except ImportError:
        pass
    if options.nvidia_smi:
        all_ways.append(Way("nvidia-smi -lms 100", lambda: nvidia_smi(0.1)))
    return all_ways[:2] + [way for way in all_ways[2:] if re.search(options.only, way.name)]


@contextlib.contextmanager
def agent(program: Optional[str]) -> Iterator[int]:
    """Its process, stopped; 0: there is none."""
    if not program:
        yield 0
        return
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GPULSE_AGENT"] = folder
        process = subprocess.Popen([program, "serve", "--history", "off"], stderr=subprocess.DEVNULL)
        time.sleep(3)
        process.send_signal(signal.SIGSTOP)
        try:
            yield process.pid
        finally:
            process.send_signal(signal.SIGCONT)
            process.terminate()
            process.wait()


def report(all_ways: list[Way]) -> None:
    base = all_ways[0]
    whole = statistics.median(base.steps)
    print(f"{len(base.medians)} rounds, {len(base.steps)} steps each; a step takes {whole * 1e3:.3f} ms.\n")
    print("| | median ms | mean ms | 99 of 100 | more than without | bounds |\n|---|---|---|---|---|---|")
    for way in all_ways:
        differences = [(a - b) / whole * 100 for a, b in zip(way.medians, base.medians)]
        low, high = bounds(differences)
        p99 = sorted(way.steps)[int(len(way.steps) * 0.99)]
        print(f"| {way.name} | {statistics.median(way.steps) * 1e3:.4f} | {statistics.fmean(way.steps) * 1e3:.4f} "
              f"| {p99 * 1e3:.3f} | {statistics.median(differences):+.3f} % | {low:+.3f} to {high:+.3f} % |")
    print("\nMeans of blocks, which see every step that took longer:\n")
    print("| | more than without | bounds |\n|---|---|---|")
    for way in all_ways:
        low, middle, high = bounds_of_mean([(a - b) / whole * 100 for a, b in zip(way.means, base.means)])
        print(f"| {way.name} | {middle:+.3f} % | {low:+.3f} to {high:+.3f} % |")
    print(f"\nThe same with steps of more than {LONG:g} times the usual counted as that, and how many those were:\n")
    print("| | more than without | bounds | longer steps |\n|---|---|---|---|")
    for way in all_ways:
        low, middle, high = bounds_of_mean([(a - b) / whole * 100 for a, b in zip(way.capped, base.capped)])
        print(f"| {way.name} | {middle:+.3f} % | {low:+.3f} to {high:+.3f} % | {way.long} of {len(way.steps)} |")
    print("\nSteps with a sample in or beside them against the others of the same block:\n")
    print("| | steps with | mean ms with | without | of all steps | control |\n|---|---|---|---|---|---|")
    for way in all_ways:
        if not way.hit or not way.missed:
            continue
        share = len(way.hit) / (len(way.hit) + len(way.missed))
        cost = (statistics.fmean(way.hit) / statistics.fmean(way.missed) - 1) * share * 100
        control = 0.0
        if way.hit_between and way.missed_between:
            control = (statistics.fmean(way.hit_between) / statistics.fmean(way.missed_between) - 1) * share * 100
        print(f"| {way.name} | {len(way.hit)} | {statistics.fmean(way.hit) * 1e3:.4f} "
              f"| {statistics.fmean(way.missed) * 1e3:.4f} | {cost:+.3f} % | {control:+.3f} % |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--step", choices=["train", "stream", "spin"], default="train")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--width", type=int, default=8192)
    parser.add_argument("--batch", type=int, default=1536)
    parser.add_argument("--block", type=int, default=500, help="steps in a row")
    parser.add_argument("--warm-up", type=int, default=50)
    parser.add_argument("--pause", type=float, default=0.3)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=540, help="no round begins after this time")
    parser.add_argument("--gpulse", help="the program, for an agent")
    parser.add_argument("--nvidia-smi", action="store_true")
    parser.add_argument("--only", default="", help="besides those without anything, only ways whose name holds this regular expression")
    parser.add_argument("--under-run", action="store_true", help="this program was started by gpulse run")
    options = parser.parse_args()
    steps = {"train": lambda: training_step(options.layers, options.width, options.batch),
             "stream": lambda: streaming_step(2), "spin": lambda: spinning_step(0.002)}
    step = steps[options.step]()
    for _ in range(200):
        step()
    with agent(options.gpulse) as agent_pid, asleep(os.getppid() if options.under_run else 0):
        all_ways = ways(options, agent_pid)
        begun = time.monotonic()
        for _ in range(options.rounds):
            if time.monotonic() - begun > options.seconds:
                break
            for way in random.sample(all_ways, len(all_ways)):
                run_block(way, step, options)
    report(all_ways)


if __name__ == "__main__":
    main()
