#!/usr/bin/env python3
"""What a page costs: gpulse's beside another GPU monitor's, on the same simulator, in turns in one run.

Eight H200 with 40 processes. Each server is started afresh for every round: first nobody looks, then one browser with an
empty cache opens the page and stays. Bytes are counted by a relay between browser and server, so whatever protocol they
speak, compressed as it was; processor time is the kernel's clock of the server's processes. Prints the median of the
rounds, as Markdown. Pages that load programs from elsewhere are given them at once from files (--elsewhere), or get no
answer: this machine has no network then.

    .venv/bin/python bench/page_beside.py --beside NAME COMMAND ADDRESS READY [--elsewhere ADDRESS=FILE] [--rounds 3] [--seconds 60]

READY is a CSS selector of what has to be there for the page to show GPUs. Needs the tests' environment (playwright) and Debian's
chromium.
"""

from __future__ import annotations

import argparse
import os
import shlex
import socket
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

from playwright.sync_api import Browser, Route, sync_playwright

from agent_bench import Machine

ROOT = Path(__file__).resolve().parent.parent
# Values that change all the time, as those of a GPU at work do.
LOAD = """
gpu_util = { steps = [[0, 83], [13, 97]], linear = true, period = 13, stagger = 1.7 }
power_w = { steps = [[0, 512], [17, 655]], linear = true, period = 17, stagger = 2.3 }
temperature = { steps = [[0, 55], [30, 63], [60, 55]], linear = true, period = 60, stagger = 4 }
"""
CHROMIUM_ARGUMENTS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync"]


class Relay:
    """Passes connections on to a port of this machine, and counts what comes back."""

    def __init__(self, port: int) -> None:
        self.target, self.bytes = port, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.target))
            for one in (near, far):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.pump, args=(near, far, False), daemon=True).start()
            threading.Thread(target=self.pump, args=(far, near, True), daemon=True).start()

    def pump(self, source: socket.socket, sink: socket.socket, is_answer: bool) -> None:
        try:
            while piece := source.recv(65536):
                if is_answer:
                    self.bytes += len(piece)
                sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            sink.close()

    def close(self) -> None:
        self.listener.close()


def family(pid: int) -> list[int]:
    """A process and all that it started."""
    found = [pid]
    for one in found:
        for task in Path(f"/proc/{one}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


def processor_seconds(pid: int) -> float:
    # The clocks of processes, as clock_getcpuclockid(3) has them: threads that have ended are in them.
    return sum(time.clock_gettime_ns((~one << 3) | 2) for one in family(pid)) / 1e9


def memory_mb(pid: int, kind: str) -> float:
    sizes = [line for one in family(pid) for line in Path(f"/proc/{one}/smaps_rollup").read_text().splitlines() if line.startswith(f"{kind}:")]
    return sum(int(line.split()[1]) for line in sizes) * 1024 / 1e6


@dataclass
class Server:
    name: str
    command: list[str]
    address: str
    ready: str
    rounds: list[dict[str, float]] = field(default_factory=list)

    def port(self) -> int:
        return urlsplit(self.address).port or 80

    @contextmanager
    def running(self, env: dict[str, str]) -> Iterator[int]:
        with subprocess.Popen(self.command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                for _ in range(200):
                    try:
                        with urlopen(self.address, timeout=5):
                            break
                    except (URLError, ConnectionError):
                        time.sleep(0.1)
                else:
                    raise SystemExit(f"{self.name} does not answer at {self.address}")
                yield process.pid
            finally:
                process.terminate()

    def measure(self, browser: Browser, env: dict[str, str], seconds: float, elsewhere: dict[str, Path]) -> None:
        with self.running(env) as pid:
            time.sleep(5)
            alone = self.share(pid, seconds / 2)
            relay = Relay(self.port())
            context = browser.new_context(viewport={"width": 1400, "height": 900})
            page = context.new_page()

            def answer(route: Route) -> None:
                file = elsewhere.get(route.request.url)
                if file:
                    route.fulfill(path=file)
                else:
                    route.abort()

            page.route(lambda url: urlsplit(url).hostname not in ("localhost", "127.0.0.1"), answer)
            session = context.new_cdp_session(page)
            session.send("Performance.enable", {"timeDomain": "threadTicks"})
            page.goto(f"http://localhost:{relay.port}/", wait_until="commit")
            page.wait_for_selector(self.ready, state="visible")
            shown = page.evaluate("performance.now()")
            page.wait_for_timeout(3000)
            paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
            loaded = relay.bytes
            before = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
            begun, used = time.monotonic(), processor_seconds(pid)
            page.wait_for_timeout(seconds * 1000)
            after = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
            took = time.monotonic() - begun
            names = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")
            self.rounds.append({
                "paint": paint, "shown": shown, "loaded": loaded / 1e3, "minute": (relay.bytes - loaded) * 60 / took / 1e6,
                "main": 100 * sum(after[name] - before[name] for name in names) / took,
                "alone": 100 * alone, "used": 100 * (processor_seconds(pid) - used) / took,
                "resident": memory_mb(pid, "Rss"), "own": memory_mb(pid, "Pss"),
            })  # fmt: skip
            context.close()
            relay.close()

    @staticmethod
    def share(pid: int, seconds: float) -> float:
        before, begun = processor_seconds(pid), time.monotonic()
        time.sleep(seconds)
        return (processor_seconds(pid) - before) / (time.monotonic() - begun)

    def row(self) -> str:
        def value(key: str, form: str) -> str:
            values = [one[key] for one in self.rounds]
            return f"{statistics.median(values):{form}}"

        return (f"| {self.name} | {value('paint', '.0f')} ms | {value('shown', '.0f')} ms | {value('loaded', '.0f')} kB | {value('minute', '.2f')} MB | "
                f"{value('main', '.2f')} % | {value('alone', '.2f')} % | {value('used', '.2f')} % | {value('resident', '.1f')}, {value('own', '.1f')} MB |")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpulse", type=Path, default=ROOT / "build" / "gpulse")
    parser.add_argument("--beside", nargs=4, action="append", default=[], metavar=("NAME", "COMMAND", "ADDRESS", "READY"))
    parser.add_argument("--elsewhere", action="append", default=[], metavar="ADDRESS=FILE")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60)
    given = parser.parse_args()
    elsewhere = {address: Path(file) for address, _, file in (one.rpartition("=") for one in given.elsewhere)}
    gpulse = given.gpulse.resolve()
    with tempfile.TemporaryDirectory(prefix="gpulse-bench-") as name:
        folder = Path(name)
        machine = Machine(gpulse, folder, devices=8, processes=40, load=LOAD)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        ours = [str(gpulse), "serve", "--listen", f"127.0.0.1:{port}", "--history", str(folder / "history.db")]
        servers = [Server("gpulse serve", ours, f"http://127.0.0.1:{port}/", ".plot canvas")]
        servers += [Server(name, shlex.split(command), address, ready) for name, command, address, ready in given.beside]
        env = {**machine.env, "GPULSE_AGENT": str(machine.place)}
        loads = []
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM_ARGUMENTS)
                # The first page of a browser pays for what all later ones find ready.
                browser.new_page().goto("data:text/html,<canvas>")
                for _ in range(given.rounds):
                    for server in servers:
                        server.measure(browser, env, given.seconds, elsewhere)
                        loads.append(os.getloadavg()[0])
                browser.close()
        finally:
            machine.end()
    print("| | first paint | GPUs shown | loaded | a minute live | main thread | server alone | server, one browser | its memory: resident, own share |")
    print("|---|---|---|---|---|---|---|---|---|")
    for server in servers:
        print(server.row())
    print(f"\nThe median of {given.rounds} rounds; load {min(loads):.1f} to {max(loads):.1f}.")


if __name__ == "__main__":
    main()
