#!/usr/bin/env python3
"""What a fleet costs an engine, and how fast it is shown: Debian's victoria-metrics on loopback, filled by the code that
an agent runs.

(1) 1,000 machines of 8 GPUs for an hour, a step every 15 seconds: samples a second, processor time, disk, memory, series;
    the time that `gpulse fleet` takes; what `gpulse fleet --watch` in a terminal of 200x50 and `gpulse serve --fleet` with
    somebody who looks cost while they run. Half of that hour is still to come when it is written, so that the view is live.
(2) 50 machines for 12 hours: disk, and the time that the curves of one GPU and of one machine take.

    .venv/bin/python bench/fleet_scale.py [--nodes 1000] [--span 1h] [--few 50] [--long 12h] [--connections 2] [--only 1]

Needs fleet_load and host_curves (make check builds them). Prints Markdown; says how busy the machine was.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from agent import open_folder  # noqa: E402
from harness import GPULSE, environment, gpulse  # noqa: E402
from scrapers import Engine, fetch, victoria_metrics  # noqa: E402
from top_bench import Running, View, cpu_seconds, read, status  # noqa: E402
from web import WebAgent  # noqa: E402

# As people see them first.
MAIN = ["gpulse_gpu_utilization_ratio", "gpulse_sm_active_ratio", "gpulse_memory_used_bytes", "gpulse_power_draw_watts",
        "gpulse_temperature_gpu_celsius", "gpulse_clock_graphics_hertz"]  # fmt: skip
HOURS_OF_CURVES = 12


def numbers(engine: Engine) -> dict[str, float]:
    """What the engine says of itself."""
    found: dict[str, float] = {}
    for line in fetch(f"http://{engine.address}/metrics")[0].splitlines():
        name, _, value = line.rpartition(" ")
        found[name] = float(value)
    return found


def total(found: dict[str, float], name: str, kind: str = "storage/") -> float:
    return sum(value for key, value in found.items() if key.startswith(f'{name}{{type="{kind}'))


def settle(engine: Engine) -> dict[str, float]:
    """Everything on the disk, and merged as it will be after a while."""
    fetch(f"http://{engine.address}/internal/force_flush")
    for _ in range(3):
        urllib.request.urlopen(f"http://{engine.address}/internal/force_merge", timeout=600).read()
        before = numbers(engine)
        for _ in range(600):
            time.sleep(1)
            found = numbers(engine)
            is_busy = any(value > 0 for name, value in found.items() if name.startswith("vm_active_merges"))
            if not is_busy:
                break
        if total(found, "vm_data_size_bytes") == total(before, "vm_data_size_bytes"):
            break
    return numbers(engine)


def times(runs: int, ask: Callable[[], Any]) -> list[float]:
    taken = []
    for _ in range(runs):
        begun = time.monotonic()
        ask()
        taken.append(time.monotonic() - begun)
    return taken


def spread(taken: list[float], unit: float = 1, digits: int = 2) -> str:
    values = [one * unit for one in taken]
    return f"{statistics.median(values):.{digits}f} | {min(values):.{digits}f} to {max(values):.{digits}f}"


def load() -> str:
    return " ".join(f"{one:.1f}" for one in os.getloadavg())


def fill(engine: Engine, options: argparse.Namespace, nodes: int, span: str, ahead: int) -> dict[str, Any]:
    before, begun = numbers(engine), load()
    command = [options.load, f"http://{engine.address}/api/v1/write", "--nodes", str(nodes), "--span", span,
               "--connections", str(options.connections), "--at-once", str(options.at_once), "--end", str(int(time.time()) + ahead)]  # fmt: skip
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, check=True)
    took: dict[str, Any] = json.loads(done.stdout)
    peak = numbers(engine)
    after = settle(engine)
    size, index = total(after, "vm_data_size_bytes"), total(after, "vm_data_size_bytes", "indexdb")
    rows = total(after, "vm_rows")
    own = took["processor"]
    million = took["samples"] / 1e6
    agent = own["text"] + own["series"] + own["request"]
    engine_time = peak["process_cpu_seconds_total"] - before["process_cpu_seconds_total"]
    print(f"\n{nodes} machines, {nodes * 8} GPUs, {span}, a step every 15 s; {options.at_once} steps in a request, "
          f"{options.connections} connections; load before {begun}, after {load()}\n")  # fmt: skip
    print("| | |\n|---|---|")
    print(f"| samples | {million:.1f} M in {took['requests']} requests ({took['retries']} made again), {took['bytes'] / took['samples']:.1f} bytes each on the wire |")
    print(f"| series of a GPU, of a machine besides | {took['series_per_gpu']:.1f} on average, {took['most_series_per_gpu']} at most; {took['series_per_host']:.0f} |")
    print(f"| taken | {took['seconds']:.0f} s: {took['samples'] / took['seconds'] / 1e3:.0f} thousand a second |")
    print(f"| processor time per million, of an agent's part | {agent / million:.2f} s: text {own['text'] / million:.2f}, series {own['series'] / million:.2f}, "
          f"request {own['request'] / million:.2f}; besides, to send {own['sending'] / million:.2f}, to make the readings up {own['readings'] / million:.2f} |")  # fmt: skip
    print(f"| processor time per million, of the engine | {engine_time / million:.2f} s |")
    print(f"| on the disk, merged | {size / 1e6:.0f} MB of data for {rows / 1e6:.1f} M rows: {size / rows:.2f} bytes a sample; index {index / 1e6:.0f} MB |")
    print(f"| memory of the engine | {peak['process_resident_memory_bytes'] / 1e6:.0f} MB after writing, {after['process_resident_memory_bytes'] / 1e6:.0f} MB after merging |")
    return took


def look(engine: Engine, runs: int) -> None:
    words = ["fleet", "--url", f"http://{engine.address}"]

    def ask() -> None:
        done = gpulse(*words)
        assert done.code == 0, done.err

    print(f"\n| `gpulse fleet`, {runs} runs, load {load()} | median, s | least to most |\n|---|---|---|")
    first = times(1, ask)
    print(f"| the first, after the load | {first[0]:.2f} | |")
    print(f"| then | {spread(times(runs, ask))} |")
    print("\n```\n" + "\n".join(gpulse(*words, "-n", "5").lines) + "\n```")


def watch(engine: Engine, seconds: float) -> None:
    """The terminal, and the server with somebody who asks as the page does, at the same time."""
    url = f"http://{engine.address}"
    with open_folder() as folder, WebAgent(folder, "--fleet", url, scenario=None, wait=False) as server:
        view = Running(View("gpulse fleet", [str(GPULSE), "fleet", "--url", url, "--watch"], [], ""), environment(), 200, 50)
        try:
            read([view], 20, look=True)
            assert "q quit" in view.text(), view.text()
            overview = server.ask("/api/v1/fleet", accept_encoding="gzip")
            taken: list[float] = []
            view.begin()
            before, begun = cpu_seconds(server.pid), time.monotonic()
            while time.monotonic() - begun < seconds:
                taken += times(1, lambda: server.ask("/api/v1/fleet", accept_encoding="gzip"))
                read([view], min(15, max(0.1, begun + seconds - time.monotonic())), look=False)
            took, cost = time.monotonic() - begun, view.cost()
            used = 100 * (cpu_seconds(server.pid) - before) / took
        finally:
            view.end()
        print(f"\n| a look every 15 s, for {took:.0f} s, load {load()} | of a core | resident | |\n|---|---|---|---|")
        print(f"| `gpulse fleet --watch`, 200x50 | {cost.cpu_percent:.2f} % | {cost.resident_kb / 1e3:.0f} MB | {cost.bytes_per_second:.0f} bytes a second to the terminal |")
        print(f"| `gpulse serve --fleet`, somebody looks | {used:.2f} % | {status(server.pid, 'VmRSS') / 1e3:.0f} MB | "
              f"the whole fleet: {len(overview.body) / 1e3:.0f} kB by gzip, there after {spread(taken, 1e3, 1).replace(' | ', ' ms, ')} ms |")  # fmt: skip


def curves(engine: Engine, options: argparse.Namespace, end: int, runs: int) -> None:
    instance = "node00017:9837"
    [info] = engine.get("query", query=f'gpulse_gpu_info{{instance="{instance}",gpu="3"}}', time=str(end - 15))["result"]
    gpu = f'{{instance="{instance}",uuid="{info["metric"]["uuid"]}"}}'

    def ask(query: str) -> int:
        url = urllib.parse.urlencode({"query": query, "start": end - HOURS_OF_CURVES * 3600, "end": end, "step": 60, "nocache": 1})
        with urllib.request.urlopen(f"http://{engine.address}/api/v1/query_range?{url}", timeout=60) as answer:
            result = json.load(answer)["data"]["result"]
        return sum(len(one["values"]) for one in result)

    points = sum(ask(name + gpu) for name in MAIN)
    print(f"\n| {HOURS_OF_CURVES} h in steps of a minute, {runs} runs, load {load()} | median, ms | least to most |\n|---|---|---|")
    print(f"| one curve of one GPU | {spread(times(runs, lambda: ask(MAIN[3] + gpu)), 1e3, 1)} |")
    print(f"| {len(MAIN)} curves of one GPU, {points} points, one after the other | {spread(times(runs, lambda: [ask(name + gpu) for name in MAIN]), 1e3, 1)} |")
    means = [f"avg_over_time({name}{gpu}[1m])" for name in MAIN]
    print(f"| the same, means of each minute | {spread(times(runs, lambda: [ask(one) for one in means]), 1e3, 1)} |")
    command = [options.curves, f"http://{engine.address}", instance, end, HOURS_OF_CURVES, 60, runs]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, check=True)
    took = json.loads(done.stdout)
    milliseconds = [one / 1e3 for one in took["milliseconds"]]
    print(f"| as the host view asks, all GPUs of the machine: {took['curves']} curves with means, least and greatest, {took['points']} points | {spread(milliseconds, 1e3, 1)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--span", default="1h")
    parser.add_argument("--few", type=int, default=50, help="machines of the second part")
    parser.add_argument("--long", default="12h", help="and their time")
    parser.add_argument("--connections", type=int, default=2)
    parser.add_argument("--at-once", type=int, default=4, help="steps in a request")
    parser.add_argument("--runs", type=int, default=7, help="of each question")
    parser.add_argument("--watched", type=float, default=90, help="seconds for which the fleet is watched")
    parser.add_argument("--ahead", type=int, default=1800, help="seconds of the first part that are still to come")
    parser.add_argument("--only", type=int, choices=(1, 2), help="this part alone")
    parser.add_argument("--load", type=Path, default=ROOT / "build" / "bench" / "fleet_load")
    parser.add_argument("--curves", type=Path, default=ROOT / "build" / "bench" / "host_curves")
    parser.add_argument("--folder", type=Path, help="where the engines' data lies while this runs (the system's)")
    options = parser.parse_args()
    # What is asked is to be read, not remembered.
    engine_options = ["-search.disableCache", "-retentionPeriod=1"]
    for part in (1, 2):
        if options.only not in (None, part):
            continue
        with tempfile.TemporaryDirectory(dir=options.folder) as folder, victoria_metrics(Path(folder), None, options=engine_options) as engine:
            if part == 1:
                fill(engine, options, options.nodes, options.span, options.ahead)
                look(engine, options.runs)
                watch(engine, options.watched)
            else:
                curves(engine, options, fill(engine, options, options.few, options.long, 0)["end"], options.runs)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
