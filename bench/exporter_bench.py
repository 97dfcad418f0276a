#!/usr/bin/env python3
"""What it costs to be scraped: gpulse serve beside other exporters, on the same simulator, one after the other in one run.

Each samples eight H200 every second, and is then scraped once a second for a while, so that every scrape gets a new
sample. Processor time is the kernel's clock of the process: first without a scraper, then with one; the difference is
what a scrape costs. Prints Markdown. nvitop-exporter is taken from a Python that has it
(pip install nvitop-exporter), nvidia_gpu_exporter from where --exporter says (built with cgo, for its NVML backend); else
they are left out. The latter reads when it is scraped, not every second.

    bench/exporter_bench.py [--gpulse build/gpulse] [--python PYTHON] [--exporter PROGRAM] [--seconds 30] [--devices 8]
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ACCEPT = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"


def processor_ns(pid: int) -> int:
    """Of all its threads, those that have ended too: the kernel's clock of the process, as clock_getcpuclockid(3) has it."""
    return time.clock_gettime_ns((~pid << 3) | 2)


def resident_mb(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def scrape(port: int, compressed: bool = False) -> bytes:
    headers = {"Accept": ACCEPT} | ({"Accept-Encoding": "gzip"} if compressed else {})
    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers=headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read()


@contextmanager
def exporter(command: list[str], port: int, env: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(100):
                try:
                    scrape(port)
                    break
                except (urllib.error.URLError, ConnectionError):
                    time.sleep(0.1)
            yield process
        finally:
            process.terminate()


def measure(name: str, command: list[str], port: int, env: dict[str, str], seconds: int, devices: int) -> str:
    with exporter(command, port, env) as process:
        time.sleep(3)
        before, begun = processor_ns(process.pid), time.monotonic()
        time.sleep(seconds)
        idle = (processor_ns(process.pid) - before) / (time.monotonic() - begun) / 1e9
        waits = []
        before, begun = processor_ns(process.pid), time.monotonic()
        for i in range(seconds):
            time.sleep(max(0.0, begun + i - time.monotonic()))
            asked = time.monotonic()
            text = scrape(port)
            waits.append(time.monotonic() - asked)
        busy = (processor_ns(process.pid) - before) / (time.monotonic() - begun) / 1e9
        lines = [line for line in text.decode().splitlines() if line and not line.startswith("#")]
        marks = ('gpu="', 'uuid="', 'index="')
        of_gpus = [line for line in lines if any(mark in line for mark in marks)]
        # Every 15 seconds for a day, and the samples in between.
        day = idle * 86400 + (busy - idle) * 86400 / 15
        return (f"| {name} | {100 * idle:.3f} % | {1000 * (busy - idle):.2f} ms | {1000 * statistics.median(waits):.1f} ms | "
                f"{len(text) / 1e3:.0f} kB, {len(scrape(port, True)) / 1e3:.0f} kB | {len(lines)} | {len(of_gpus) / devices:.0f} | "
                f"{resident_mb(process.pid):.1f} MB | {day:.0f} s |")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpulse", type=Path, default=ROOT / "build" / "gpulse")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--exporter", type=Path, help="nvidia_gpu_exporter")
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--devices", type=int, default=8)
    given = parser.parse_args()
    gpulse = given.gpulse.resolve()
    with tempfile.TemporaryDirectory(prefix="gpulse-bench-") as name:
        folder = Path(name)
        sleepers = [subprocess.Popen(["sleep", "3600"]) for _ in range(given.devices)]
        scenario = folder / "machine.toml"
        text = f'[[device]]\nprofile = "h200"\ncount = {given.devices}\ngpu_util = 85\npower_w = 500\n'
        for i, sleeper in enumerate(sleepers):
            text += f"[[process]]\ndevice = {i}\npid = {sleeper.pid}\nmemory_mib = {1000 + i}\nsm = 80\n"
        scenario.write_text(text)
        env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8",
               "LD_LIBRARY_PATH": str(gpulse.parent / "sim"), "GPULSE_SIM_SCENARIO": str(scenario)}  # fmt: skip
        print("| 8 GPUs, 1 Hz | of a core | a scrape | it waits | size, gzip | series | per GPU | memory | a day, every 15 s |".replace("8", str(given.devices), 1))
        print("|---|---|---|---|---|---|---|---|---|")
        try:
            for more in ([], ["--process-metrics"]):
                port = free_port()
                (folder / f"agent{len(more)}").mkdir()
                command = [str(gpulse), "serve", "--listen", f"127.0.0.1:{port}", "--history", "off", *more]
                own = env | {"GPULSE_AGENT": str(folder / f"agent{len(more)}")}
                print(measure(" ".join(["gpulse serve", *more]), command, port, own, given.seconds, given.devices), flush=True)
            has_nvitop = subprocess.run([given.python, "-c", "import nvitop_exporter"], stderr=subprocess.DEVNULL).returncode == 0
            if has_nvitop:
                port = free_port()
                command = [given.python, "-m", "nvitop_exporter", "--bind-address", "127.0.0.1", "--port", str(port), "--interval", "1"]
                print(measure("nvitop-exporter", command, port, env, given.seconds, given.devices), flush=True)
            if given.exporter:
                port = free_port()
                command = [str(given.exporter.resolve()), f"--web.listen-address=127.0.0.1:{port}", "--collect.backend=nvml"]
                print(measure("nvidia_gpu_exporter, NVML", command, port, env, given.seconds, given.devices), flush=True)
        finally:
            for sleeper in sleepers:
                sleeper.kill()
                sleeper.wait()


if __name__ == "__main__":
    main()
