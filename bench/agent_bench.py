#!/usr/bin/env python3
"""What the agent takes of a processor and of memory, and how long commands take with it and without, on the simulator.

Everything in one run. Processor time is the scheduler's own count of all threads (/proc/PID/task/*/schedstat). Prints
Markdown. Needs Python 3.8 and nothing else.

    bench/agent_bench.py [--gpulse build/gpulse] [--readers 100] [--history]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIVE = "utilization.gpu,memory.used,temperature.gpu,power.draw,clocks.current.sm"


def processor_ns(pid: int) -> int:
    return sum(int(Path(f"/proc/{pid}/task/{task}/schedstat").read_text().split()[0])
               for task in os.listdir(f"/proc/{pid}/task"))


def resident_mb(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6


class Machine:
    """A scenario of the simulator with processes that exist, and an agent on it."""

    def __init__(self, gpulse: Path, folder: Path, devices: int, processes: int, load: str = "gpu_util = 85\npower_w = 500\n") -> None:
        self.gpulse, self.folder = gpulse, folder
        self.sleepers = [subprocess.Popen(["sleep", "3600"]) for _ in range(processes)]
        text = f'[[device]]\nprofile = "h200"\ncount = {devices}\n{load}'
        for i, sleeper in enumerate(self.sleepers):
            text += f"[[process]]\ndevice = {i % devices}\npid = {sleeper.pid}\nmemory_mib = {1000 + i}\nsm = 10\n"
        scenario = folder / f"{devices}.toml"
        scenario.write_text(text)
        self.place = folder / f"agent-{devices}"
        self.place.mkdir()
        self.env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8",
                    "LD_LIBRARY_PATH": str(gpulse.parent / "sim"), "GPULSE_SIM_SCENARIO": str(scenario)}

    def command(self, *arguments: str, agent: bool = True) -> subprocess.Popen[bytes]:
        return subprocess.Popen([str(self.gpulse), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL,
                                env={**self.env, "GPULSE_AGENT": str(self.place) if agent else "off"})

    def end(self) -> None:
        for sleeper in self.sleepers:
            sleeper.kill()
            sleeper.wait()


def cost(agent: subprocess.Popen[bytes], seconds: float) -> float:
    """Per cent of one core."""
    before, begun = processor_ns(agent.pid), time.monotonic()
    time.sleep(seconds)
    return (processor_ns(agent.pid) - before) / 1e7 / (time.monotonic() - begun)


def measure_agent(machine: Machine, interval: str, readers: int, arguments: list[str]) -> str:
    agent = machine.command("serve", "--interval", interval)
    time.sleep(4)
    alone = cost(agent, 12)
    memory = resident_mb(agent.pid)
    others = [machine.command(*arguments) for _ in range(readers)]
    time.sleep(3)
    beside = cost(agent, 12)
    for other in others:
        other.kill()
        other.wait()
    row = f"| {alone:.3f} % | {memory:.1f} MB | {beside:.3f} % | {resident_mb(agent.pid):.1f} MB |"
    agent.terminate()
    agent.wait()
    return row


def measure_history(machine: Machine, seconds: float) -> None:
    """Side by side: an agent that keeps a history, and one that does not."""
    agents = {}
    for words in ("off", "on"):
        place = machine.folder / f"history-{words}"
        place.mkdir()
        file = "off" if words == "off" else str(place / "history.db")
        agents[words] = subprocess.Popen([str(machine.gpulse), "serve", "--history", file], stdin=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL, env={**machine.env, "GPULSE_AGENT": str(place)})
    time.sleep(10)
    before = {words: processor_ns(agent.pid) for words, agent in agents.items()}
    time.sleep(seconds)
    print("| 8 GPUs, 40 processes, 1 Hz | of a core | memory |\n|---|---|---|")
    for words, agent in agents.items():
        used = (processor_ns(agent.pid) - before[words]) / 1e7 / seconds
        print(f"| history {words} | {used:.3f} % | {resident_mb(agent.pid):.1f} MB |", flush=True)
        agent.terminate()
        agent.wait()


def wall_ms(machine: Machine, arguments: list[str], agent: bool) -> float:
    times = []
    for _ in range(15):
        begun = time.perf_counter()
        machine.command(*arguments, agent=agent).wait()
        times.append((time.perf_counter() - begun) * 1e3)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpulse", type=Path, default=ROOT / "build" / "gpulse")
    parser.add_argument("--readers", type=int, default=100)
    parser.add_argument("--history", action="store_true", help="what the history costs, and nothing else: six minutes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        eight = Machine(options.gpulse, folder, 8, 40)
        if options.history:
            try:
                # Three chunks are packed in that time, and six minutes rolled up.
                measure_history(eight, 360)
            finally:
                eight.end()
            return
        many = Machine(options.gpulse, folder, 128, 0)
        try:
            print(f"| agent | alone | | {options.readers} readers | |\n|---|---|---|---|---|")
            print("| 8 GPUs, 40 processes, 1 Hz; readers at 1 Hz",
                  measure_agent(eight, "1s", options.readers, ["--csv", "--fields", FIVE, "--watch", "1"]), flush=True)
            print("| 128 GPUs, 10 Hz; readers at 10 Hz",
                  measure_agent(many, "100ms", options.readers, ["--csv", "--fields", FIVE, "--watch", "0.1"]),
                  flush=True)
            agent = eight.command("serve")
            time.sleep(2)
            print("\n| command, 8 GPUs, 40 processes | with the agent | without | \n|---|---|---|")
            for arguments in ([], ["--json"], ["smi"], ["smi", f"--query-gpu={FIVE}", "--format=csv"], ["smi", "-q"],
                              ["gpustat"], ["--version"]):
                print(f"| `gpulse {' '.join(arguments)}` | {wall_ms(eight, arguments, True):.2f} ms "
                      f"| {wall_ms(eight, arguments, False):.2f} ms |", flush=True)
            agent.terminate()
            agent.wait()
        finally:
            eight.end()
            many.end()


if __name__ == "__main__":
    main()
