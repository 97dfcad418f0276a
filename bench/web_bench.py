#!/usr/bin/env python3
"""What the agent takes while many ask it over HTTP: a thousand streams at 1 Hz, wrk on /metrics and on snapshots, and
both once more through nginx. Eight simulated H200 with 40 processes. The sampler must not notice: its lateness is how
far apart two samples of the stream are, beyond the interval. Prints Markdown.

    bench/web_bench.py [--gpulse build/gpulse] [--streams 1000] [--seconds 20]

Needs Debian's wrk and nginx-light; what is not there is left out.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import selectors
import shutil
import socket
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from agent_bench import Machine, processor_ns, resident_mb

ROOT = Path(__file__).resolve().parent.parent
PARTS = "/api/v1/stream?metrics=gpu_utilization_percent,power_draw_watts,memory_used_bytes,host.cpu_percent"


class Streams:
    """So many clients of a stream, read by one thread of ours."""

    def __init__(self, port: int, target: str, count: int) -> None:
        self.bytes, self.events, self.ended = 0, 0, 0
        self.selector = selectors.DefaultSelector()
        self.stopped = False
        self.sockets = []
        for _ in range(count):
            client = socket.create_connection(("127.0.0.1", port), 10)
            client.sendall(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n".encode())
            client.setblocking(False)
            self.selector.register(client, selectors.EVENT_READ)
            self.sockets.append(client)
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self) -> None:
        while not self.stopped:
            for key, _ in self.selector.select(0.2):
                try:
                    got = key.fileobj.recv(1 << 18)  # type: ignore[union-attr]
                except BlockingIOError:
                    continue
                except ConnectionResetError:  # too many at once before they are streams
                    got = b""
                if not got:
                    self.ended += 1
                    self.selector.unregister(key.fileobj)
                self.bytes += len(got)
                self.events += got.count(b"event: sample")

    def close(self) -> None:
        self.stopped = True
        self.thread.join()
        for client in self.sockets:
            client.close()


class Lateness:
    """Samples as one client gets them: by their own times, how much later than the interval each came."""

    def __init__(self, port: int) -> None:
        self.port, self.times, self.stopped = port, [], False
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self) -> None:
        target = "/api/v1/stream?metrics=power_draw_watts&processes=0"
        with socket.create_connection(("127.0.0.1", self.port), 10) as client:
            client.sendall(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            client.settimeout(0.2)
            rest = b""
            while not self.stopped:
                try:
                    rest += client.recv(1 << 16)
                except TimeoutError:
                    continue
                *lines, rest = rest.split(b"\n")
                self.times += [int(line[4:]) for line in lines if line.startswith(b"id: ")]

    def words(self) -> str:
        self.stopped = True
        self.thread.join()
        gaps = [(after - before) - 1000 for before, after in zip(self.times, self.times[1:])]
        return f"{statistics.median(gaps):.0f} / {max(gaps):.0f} ms" if gaps else "no sample"


def own_mb(pid: int) -> float:
    """Without the pages of the program itself."""
    found = re.search(r"RssAnon:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) * 1024 / 1e6 if found else float("nan")


def wrk(port: int, path: str, seconds: int, connections: int = 32) -> tuple[float, str, str]:
    done = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", f"http://127.0.0.1:{port}{path}"],
                          capture_output=True, text=True, check=True)
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", done.stdout)[1])  # type: ignore[index]
    tail = re.search(r"99%\s+(\S+)", done.stdout)[1]  # type: ignore[index]
    wrong = re.search(r"Non-2xx or 3xx responses: (\d+)", done.stdout)
    return rate, tail, wrong[1] if wrong else "0"


def nginx(folder: Path, port: int) -> tuple[subprocess.Popen[bytes], int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        own = free.getsockname()[1]
    (folder / "nginx.conf").write_text(f"""
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log; worker_processes 1; worker_rlimit_nofile 8192;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  upstream agent {{ server 127.0.0.1:{port}; keepalive 64; }}
  server {{
    listen 127.0.0.1:{own} backlog=2048;
    location / {{ proxy_pass http://agent; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host; proxy_read_timeout 1h; }}
  }}
}}
""")
    server = subprocess.Popen(["nginx", "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")])
    time.sleep(1)
    return server, own


def start(machine: Machine, folder: Path, streams: int) -> tuple[subprocess.Popen[bytes], int]:
    config = folder / "config.toml"
    config.write_text(f"[web]\nmax_streams = {streams + 100}\nmax_connections = 512\n")
    log = folder / "agent.log"
    with log.open("wb") as out:
        agent = subprocess.Popen([str(machine.gpulse), "--config", str(config), "serve", "--listen", "127.0.0.1:0",
                                  "--history", str(folder / "history.db")],
                                 stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                 env={**machine.env, "GPULSE_AGENT": str(machine.place)})
    for _ in range(100):
        time.sleep(0.1)
        if found := re.search(r"answers on http://127.0.0.1:(\d+)", log.read_text()):
            time.sleep(2)
            return agent, int(found[1])
    raise SystemExit(f"the agent does not answer: {log.read_text()}")


def measured(agent: subprocess.Popen[bytes], port: int, seconds: float) -> str:
    late = Lateness(port)
    before, begun = processor_ns(agent.pid), time.monotonic()
    time.sleep(seconds)
    used = (processor_ns(agent.pid) - before) / 1e7 / (time.monotonic() - begun)
    return f"{used:.2f} % | {resident_mb(agent.pid):.1f}, {own_mb(agent.pid):.1f} MB | {late.words()}"


def with_streams(agent: subprocess.Popen[bytes], port: int, through: int, count: int, seconds: float, what: str) -> None:
    streams = Streams(through, PARTS, count)
    time.sleep(3)
    events, size = streams.events, streams.bytes
    words = measured(agent, port, seconds)
    rate, volume = (streams.events - events) / seconds, (streams.bytes - size) / seconds / 1e6
    print(f"| {what} | {words} | {rate:.0f} samples/s, {volume:.2f} MB/s, {streams.ended} ended |", flush=True)
    streams.close()


def with_wrk(agent: subprocess.Popen[bytes], port: int, through: int, path: str, seconds: float, what: str) -> None:
    got: list[tuple[float, str, str]] = []
    thread = threading.Thread(target=lambda: got.append(wrk(through, path, int(seconds) + 1)))
    thread.start()
    words = measured(agent, port, seconds)
    thread.join()
    rate, tail, wrong = got[0]
    print(f"| {what} | {words} | {rate:.0f} requests/s, 99 % within {tail}, {wrong} wrong |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpulse", type=Path, default=ROOT / "build" / "gpulse")
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(16384, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
    with tempfile.TemporaryDirectory(prefix="gpulse-bench-", dir="/tmp") as name:
        folder = Path(name)
        machine = Machine(options.gpulse.resolve(), folder, 8, 40)
        agent, port = start(machine, folder, options.streams)
        proxy = None
        try:
            print("| 8 GPUs, 40 processes, 1 Hz | of a core | memory: resident, own | lateness, median / greatest | |\n|---|---|---|---|---|")
            print(f"| nobody asks | {measured(agent, port, options.seconds)} | |", flush=True)
            with_streams(agent, port, port, options.streams, options.seconds, f"{options.streams} streams")
            if shutil.which("wrk"):
                for path in ("/metrics", "/api/v1/snapshot"):
                    with_wrk(agent, port, port, path, options.seconds, f"wrk, {path}")
            if shutil.which("nginx"):
                proxy, through = nginx(folder, port)
                with_streams(agent, port, through, options.streams, options.seconds, f"nginx, {options.streams} streams")
                if shutil.which("wrk"):
                    with_wrk(agent, port, through, "/api/v1/snapshot", options.seconds, "nginx, wrk, /api/v1/snapshot")
            # A channel stays for a minute after its last client.
            time.sleep(70)
            print(f"| nobody asks any more | {measured(agent, port, options.seconds)} | |")
        finally:
            for process in (agent, proxy):
                if process is not None:
                    process.terminate()
                    process.wait()
            machine.end()


if __name__ == "__main__":
    main()
