#!/usr/bin/env python3
"""What the page costs: the browser that shows it, the wire, and the agent behind it, on the simulator.

Twelve hours of eight GPUs behind the agent; then one minute live. Processor time is the scheduler's own count of all
threads. Times inside of the page are those of Chromium's own metrics: script and layout of the main thread. Prints
Markdown. Needs the tests' environment (playwright) and Debian's chromium.

    .venv/bin/python bench/page_bench.py [--history FILE] [--seconds 60]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from playwright.sync_api import CDPSession, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
PORT = 9871


def processor_seconds(pid: int) -> float:
    tasks = os.listdir(f"/proc/{pid}/task")
    return sum(int(Path(f"/proc/{pid}/task/{task}/schedstat").read_text().split()[0]) for task in tasks) / 1e9


def resident_mb(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6


def metrics(session: CDPSession) -> dict[str, float]:
    return {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}


class Wire:
    """Bytes that came over the network, compressed as they were; those of the shared worker's stream are its own."""

    def __init__(self, session: CDPSession) -> None:
        self.bytes = 0
        session.on("Network.dataReceived", self.took)
        session.send("Network.enable")

    def took(self, event: dict[str, Any]) -> None:
        self.bytes += event["encodedDataLength"]


def range_ms(metric_keys: str) -> float:
    best = float("inf")
    for _ in range(5):
        begun = time.monotonic()
        with urlopen(f"http://localhost:{PORT}/api/v1/history?since=12h&points=600&metrics={metric_keys}") as answer:
            answer.read()
        best = min(best, time.monotonic() - begun)
    return best * 1000


def measure(agent: subprocess.Popen[bytes], seconds: float, scenario: str, span: str) -> None:
    with sync_playwright() as playwright:
        alone = processor_seconds(agent.pid)
        time.sleep(seconds / 2)
        alone = (processor_seconds(agent.pid) - alone) / (seconds / 2)
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        wire = Wire(session)
        page.goto(f"http://localhost:{PORT}/#range={span}")
        page.wait_for_selector(".plot canvas", state="attached")
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        drawn = page.evaluate("performance.now()")
        page.wait_for_timeout(3000)
        loaded = wire.bytes
        before, begun, used = metrics(session), time.monotonic(), processor_seconds(agent.pid)
        page.evaluate("performance.clearMeasures()")
        page.wait_for_timeout(seconds * 1000)
        after, took = metrics(session), time.monotonic() - begun
        used = (processor_seconds(agent.pid) - used) / took
        updates = page.evaluate("performance.getEntriesByName('gpulse update').map(({ duration }) => duration)")
        count = max(1, len(updates))
        spent = {name: (after[name] - before[name]) * 1000 / count for name in ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration", "TaskDuration")}
        text = page.evaluate("fetch('api/v1/snapshot').then((a) => a.text()).then((t) => t.length)")
        keys = page.evaluate("gpulse.model.table.streamed([]).join()")
        browser.close()
        with urlopen(f"http://localhost:{PORT}/api/v1/stream?metrics={keys}") as stream:
            end, size = time.monotonic() + 10, 0
            while time.monotonic() < end:
                size += len(stream.readline())
    main = spent["ScriptDuration"] + spent["LayoutDuration"] + spent["RecalcStyleDuration"]
    print(f"| {scenario}, {span} | {paint:.0f} ms | {drawn:.0f} ms | {loaded / 1000:.0f} kB | {main:.1f} ms "
          f"(script {spent['ScriptDuration']:.1f}) | {max(updates, default=0):.1f} ms | {(size * 6 + (wire.bytes - loaded - text) * 60 / took) / 1e6:.2f} MB "
          f"| {100 * alone:.2f} % | {100 * used:.2f} % | {resident_mb(agent.pid):.1f} MB |")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--history", type=Path)
    parser.add_argument("--scenarios", default="eight:12h,eight:1m,hundred-twenty-eight:1m")
    options = parser.parse_args()
    build = ROOT / "build"
    print("| | first paint | plots drawn | loaded | main thread per update | longest update | a minute live | agent alone | agent, one browser | agent's memory |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for one in options.scenarios.split(","):
        scenario, span = one.split(":")
        with tempfile.TemporaryDirectory(prefix="gpulse-bench-") as folder:
            history = options.history or Path(folder) / "history.db"
            if not options.history:
                made = [build / "tests" / "make_history", history, int(time.time()) - 5, 720, 8, 16]
                subprocess.run([str(word) for word in made], check=True)
            env = {**os.environ, "LD_LIBRARY_PATH": str(build / "sim"), "GPULSE_SIM_SCENARIO": scenario, "GPULSE_AGENT": folder}
            agent = subprocess.Popen([build / "gpulse", "serve", "--history", history, "--listen", f"127.0.0.1:{PORT}"],
                                     env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                time.sleep(5)
                if span == "12h":
                    keys = "gpu_utilization_percent,power_draw_watts,memory_used_bytes,temperature_gpu_celsius,memory_utilization_percent,host.cpu_percent,host.memory_used_bytes"
                    first = range_ms(keys)
                measure(agent, options.seconds, scenario, span)
            finally:
                agent.terminate()
                agent.wait()
    print(f"\n12 hours of the seven plots over HTTP, 600 points: {first:.1f} ms (the best of 5)")


if __name__ == "__main__":
    main()
