#!/usr/bin/env python3
"""What `gpulse fleet` costs: the wall time of one look at many hosts in VictoriaMetrics, and what of it is its own.

Series as agents show them are written into Debian's victoria-metrics on loopback, a value every 15 seconds: what GPUs
are compared by for a quarter of an hour, the rest for a minute. Then each command runs several times in turn.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from harness import gpulse  # noqa: E402
from scrapers import Engine, fetch, victoria_metrics  # noqa: E402

GPUS = 8
READINGS = {"memory_used_bytes": 4e10, "memory_total_bytes": 8e10, "temperature_gpu_celsius": 60, "power_limit_watts": 700,
            "clock_max_graphics_hertz": 1.98e9}  # fmt: skip
COMPARED = {"gpu_utilization_ratio": 0.95, "sm_active_ratio": 0.25, "power_draw_watts": 400, "clock_graphics_hertz": 1.755e9,
            "pcie_link_generation": 5, "pcie_link_width": 16}  # fmt: skip
BEFORE = 900


def lines(hosts: int, second: float, *, is_whole: bool) -> Iterator[str]:
    stamp = int(second * 1000)
    for host in range(hosts):
        place = f'instance="node{host}:9837"'
        if is_whole:
            yield f"gpulse_sample_timestamp_seconds{{{place}}} {second - 1} {stamp}"
        for index in range(GPUS):
            uuid = f'{place},uuid="GPU-{host:08x}-{index:04x}-4444-5555-666677778888"'
            gpu = f'{uuid},gpu="{index}",vendor="nvidia"'
            for name, value in (COMPARED | (READINGS if is_whole else {}) | {"busy_seconds_total": second / 2}).items():
                yield f"gpulse_{name}{{{gpu}}} {value} {stamp}"
            if is_whole:
                yield f'gpulse_gpu_info{{{gpu},name="NVIDIA H100"}} 1 {stamp}'
                for state in ("ok", "asleep", "lost", "not responding"):
                    yield f'gpulse_gpu_state{{{gpu},state="{state}"}} {int(state == "ok")} {stamp}'
            yield f'gpulse_gpu_owner_info{{{uuid},user="u{host % 50}",batch_job="{host // 4}"}} 1 {stamp}'


def fill(engine: Engine, hosts: int) -> None:
    now = int(time.time())
    for back in range(BEFORE, -1, -15):
        body = "\n".join(lines(hosts, now - back, is_whole=back < 60)).encode()
        urllib.request.urlopen(f"http://{engine.address}/api/v1/import/prometheus", body).read()
    fetch(f"http://{engine.address}/internal/force_flush")
    time.sleep(2)


def run(engine: Engine, words: list[str]) -> tuple[float, float]:
    """Seconds by the clock, and of a processor in gpulse alone."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = gpulse("fleet", "--url", f"http://{engine.address}", *words)
    taken, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.code == 0, done.err
    return taken, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=1000, help=f"of {GPUS} GPUs each (1000)")
    parser.add_argument("--runs", type=int, default=5, help="of each command (5)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, victoria_metrics(Path(folder), None) as engine:
        fill(engine, options.hosts)
        commands: list[list[str]] = [[], ["--by", "job"], ["--json"]]
        taken: list[list[tuple[float, float]]] = [[] for _ in commands]
        for _ in range(options.runs):
            for times, words in zip(taken, commands):
                times.append(run(engine, words))
        print(f"{options.hosts} hosts, {options.hosts * GPUS} GPUs; load {os.getloadavg()[0]:.1f}\n")
        print("| gpulse fleet | median | least to most | its own processor time |\n|---|---|---|---|")
        for times, words in zip(taken, commands):
            clock = [each[0] for each in times]
            own = statistics.median(each[1] for each in times)
            print(f"| {' '.join(words)} | {statistics.median(clock):.2f} s | {min(clock):.2f} to {max(clock):.2f} s | {own:.2f} s |")


if __name__ == "__main__":
    main()
