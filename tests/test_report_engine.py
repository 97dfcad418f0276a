"""`gpulse report --url`: a made-up week of two machines in Prometheus and VictoriaMetrics, whose sums are known by hand."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from engine_data import HOUR, Series, write
from harness import Result, gpulse
from scrapers import Engine, fetch, empty_prometheus, empty_victoria_metrics, needs_prometheus, needs_victoria

DAY, WEEK, INTERVAL = 24 * HOUR, 7 * 24 * HOUR, 60
# The agent of node2 was away in here, and counts from 0 again behind it.
AWAY = range(72 * HOUR, 96 * HOUR)
FOUND = range(24 * HOUR, 48 * HOUR)
AMOUNTS = ["held_gpu_hours", "active_gpu_hours", "used_gpu_hours", "wasted_gpu_hours", "energy_kwh"]


@dataclass
class Work:
    """What a GPU does from one hour to another, for whom."""

    hours: range
    owners: list[dict[str, str]]
    active: float
    used: float | None
    watts: float

    def has(self, second: int) -> bool:
        return self.hours.start * HOUR <= second < self.hours.stop * HOUR


ANN_1, BOB = {"user": "ann", "batch_job": "job-1"}, {"user": "bob"}
ANN_2, POD = {"user": "ann", "batch_job": "job-2"}, {"gpu_pod": "web-0", "gpu_namespace": "shop", "gpu_container": "c1"}
GPUS: dict[tuple[str, int], list[Work]] = {
    ("node1", 0): [Work(range(84), [ANN_1], 0.8, 0.5, 300), Work(range(84, 168), [BOB], 0.3, 0.1, 150)],
    ("node1", 1): [Work(range(168), [], 0.0, 0.0, 50)],
    ("node2", 0): [Work(range(168), [ANN_2, POD], 0.6, 0.4, 200)],
    ("node2", 1): [Work(range(168), [ANN_2], 0.2, None, 100)],
}
# By user, in GPU-hours and kWh: node2 was there for 144 hours, and its first GPU is shared by two.
WANTED: dict[str, list[float | None]] = {
    "ann": [84 + 72 + 144, 67.2 + 43.2 + 28.8, 42 + 28.8, 42 + 43.2 + 115.2, 25.2 + 14.4 + 14.4],
    "bob": [84, 25.2, 8.4, 75.6, 12.6],
    "": [72, 43.2, 28.8, 43.2, 14.4],
}
NOBODY = [168, 0, 0, None, 8.4]


def uuid(host: str, index: int) -> str:
    return f"GPU-{host}-{index}"


def is_there(host: str, second: int) -> bool:
    return host != "node2" or second not in AWAY


def counter(host: str, works: list[Work], rate: str) -> Series:
    def value(second: int) -> float | None:
        if not is_there(host, second) or any(getattr(work, rate) is None for work in works):
            return None
        begin = AWAY.stop if host == "node2" and second >= AWAY.stop else 0
        parts = ((max(begin, w.hours.start * HOUR), min(second, w.hours.stop * HOUR), getattr(w, rate)) for w in works)
        return sum(max(0, end - start) * share for start, end, share in parts)

    return Series({}, value)


def series_of(host: str, index: int, works: list[Work]) -> Iterator[Series]:
    place = {"instance": f"{host}:9837", "job": "gpulse"}
    gpu = {"gpu": str(index), "uuid": uuid(host, index), "vendor": "nvidia"}

    def there(second: int) -> float | None:
        return 1 if is_there(host, second) else None

    yield Series({"__name__": "gpulse_gpu_info", "name": "NVIDIA H200", **place, **gpu}, there)
    yield Series({"__name__": "gpulse_gpu_state", "state": "ok", **place, **gpu}, there)
    for name, rate in (("gpulse_busy_seconds", "active"), ("gpulse_sm_busy_seconds", "used"), ("gpulse_energy_joules", "watts")):
        yield Series({"__name__": f"{name}_total", **place, **gpu}, counter(host, works, rate).value)
    for work in works:
        for owner in work.owners:
            labels = {"__name__": "gpulse_gpu_owner_info", "uuid": gpu["uuid"], **place, **owner}
            yield Series(labels, lambda second, work=work: there(second) if work.has(second) else None)  # type: ignore[misc]


def week_of_series() -> list[Series]:
    place = {"instance": "node2:9837", "job": "gpulse", "uuid": uuid("node2", 1), "finding": "idle"}
    found = Series({"__name__": "gpulse_finding", "severity": "note", **place}, lambda s: 1 if s in FOUND else None)
    lost = Series({"__name__": "gpulse_finding_lost_seconds_total", **place},
                  lambda s: min(s - FOUND.start, DAY) / 2 if FOUND.start <= s < AWAY.start else None)  # fmt: skip
    times = [Series({"__name__": "gpulse_sample_timestamp_seconds", "instance": f"{host}:9837", "job": "gpulse"},
                    lambda s, host=host: BEGIN + s if is_there(host, s) else None) for host in ("node1", "node2")]  # type: ignore[misc] # fmt: skip
    return [one for (host, index), works in GPUS.items() for one in series_of(host, index, works)] + times + [found, lost]


END = int(time.time()) // HOUR * HOUR - HOUR
BEGIN = END - WEEK


@pytest.fixture(scope="module", params=[pytest.param("prometheus", marks=needs_prometheus), pytest.param("victoria", marks=needs_victoria)])
def week(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    start = empty_prometheus if request.param == "prometheus" else empty_victoria_metrics
    with ExitStack() as stack:
        engine = stack.enter_context(start(tmp_path_factory.mktemp("engine")))
        write(engine, week_of_series(), BEGIN, WEEK, INTERVAL)
        if request.param == "victoria":
            fetch(f"http://{engine.address}/internal/force_flush")  # else it is searched for later only
        yield engine


def report(engine: Engine, *arguments: str | Path, begin: int = BEGIN, end: int = END) -> Result:
    return gpulse("report", "--url", f"http://{engine.address}", "--from", f"@{begin}", "--to", f"@{end}", *arguments)


def near(wanted: list[float | None]) -> list[object]:
    return [None if value is None else pytest.approx(value, rel=0.01, abs=0.1) for value in wanted]


def test_sums_are_those_of_what_was_written(week: Engine) -> None:
    result = report(week, "--json")
    assert result.code == 0, result.err
    rows = {row["name"] or "": row for row in result.json["rows"]}
    assert set(rows) == set(WANTED)
    for user, wanted in WANTED.items():
        assert [rows[user][name] for name in AMOUNTS] == near(wanted), user
    assert [result.json["nobody"][name] for name in AMOUNTS] == near(NOBODY)
