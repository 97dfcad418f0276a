"""Prometheus and VictoriaMetrics, Debian's, on loopback: they scrape what a test has them scrape, and answer queries."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agent import wait_for

needs_prometheus = pytest.mark.skipif(shutil.which("prometheus") is None, reason="needs Debian's prometheus")
needs_victoria = pytest.mark.skipif(shutil.which("victoria-metrics") is None, reason="needs Debian's victoria-metrics")

# As each of them asks.
PROMETHEUS_ACCEPT = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def fetch(url: str, accept: str = "*/*") -> tuple[str, str]:
    """The text and its content type; an empty text where nobody answers yet."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers={"Accept": accept}), timeout=10) as answer:
            return answer.read().decode(), answer.headers["Content-Type"]
    except (urllib.error.URLError, ConnectionError):
        return "", ""


class Engine:
    """One that answers PromQL."""

    def __init__(self, address: str) -> None:
        self.address = address

    def get(self, path: str, **parameters: str) -> Any:
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=10) as answer:
            got = json.load(answer)
        assert got["status"] == "success", got
        return got["data"]

    def query(self, text: str) -> list[tuple[dict[str, str], float]]:
        return [(one["metric"], float(one["value"][1])) for one in self.get("query", query=text)["result"]]

    def value(self, text: str) -> float | None:
        found = self.query(text)
        assert len(found) <= 1, found
        return found[0][1] if found else None

    def range(self, text: str) -> list[tuple[float, float]]:
        """All samples of the one series of the last ten minutes, as they were scraped."""
        found = self.get("query", query=f"{text}[10m]")["result"]
        assert len(found) == 1, found
        return [(float(time), float(value)) for time, value in found[0]["values"]]


def scrape_file(folder: Path, target: str | None, interval: str, rules: Path | None = None, **more: Any) -> Path:
    path = folder / "scrape.yml"
    config: dict[str, Any] = {
        "global": {"scrape_interval": interval, "scrape_timeout": interval},
        "scrape_configs": [{"job_name": "gpulse", "static_configs": [{"targets": [target]}]}] if target else [],
    } | more
    if rules is not None:
        config["rule_files"] = [str(rules)]
    path.write_text(json.dumps(config))
    return path


@contextmanager
def running(command: Sequence[str | Path], address: str, ready: str) -> Iterator[Engine]:
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(lambda: fetch(f"http://{address}{ready}")[0], f"{command[0]}", 30)
            yield Engine(address)
        finally:
            process.kill()


@contextmanager
def prometheus(
    folder: Path,
    target: str | None,
    interval: str = "1s",
    rules: Path | None = None,
    address: str = "",
    options: Sequence[str] = (),
    **more: Any,
) -> Iterator[Engine]:
    """One that takes remote writes too. `more`: what else stands in its configuration."""
    address = address or f"127.0.0.1:{free_port()}"
    config = scrape_file(folder, target, interval, rules, **more)
    command = ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
               f"--web.listen-address={address}", "--web.enable-remote-write-receiver", *options]  # fmt: skip
    with running(command, address, "/-/ready") as engine:
        yield engine


@contextmanager
def victoria_metrics(
    folder: Path, target: str | None, interval: str = "1s", address: str = "", options: Sequence[str] = ()
) -> Iterator[Engine]:
    address = address or f"127.0.0.1:{free_port()}"
    config = json.loads(scrape_file(folder, target, interval).read_text())
    path = folder / "victoria.yml"
    path.write_text(json.dumps(config))
    # It hides what is younger than 30 seconds unless it is told not to, and keeps what comes twice twice.
    command = ["victoria-metrics", f"-promscrape.config={path}", f"-storageDataPath={folder}/victoria",
               f"-httpListenAddr={address}", "-search.latencyOffset=0s", "-dedup.minScrapeInterval=1ms", *options]  # fmt: skip
    with running(command, address, "/health") as engine:
        yield engine
