"""`gpulse fleet` compares GPUs with those of their job and of their model: made-up hosts in real engines, where something is to be
said and where nothing is."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from engine_data import Series, write
from harness import Result, gpulse
from scrapers import Engine, needs_prometheus, needs_victoria, prometheus, victoria_metrics

ENGINES = {"prometheus": prometheus, "victoria": victoria_metrics}
BOTH = [pytest.param("prometheus", marks=needs_prometheus), pytest.param("victoria", marks=needs_victoria)]
SPAN = 20 * 60

# A value, or what it is at each second.
Value = float | Callable[[int], float]
Change = dict[str, Value]

H100: Change = {
    "gpu_utilization_ratio": 0.99, "sm_active_ratio": 0.4, "power_draw_watts": 600, "temperature_gpu_celsius": 60, "clock_graphics_hertz": 1.755e9,
    "pcie_link_generation": 5, "pcie_link_width": 16, "power_limit_watts": 700, "clock_max_graphics_hertz": 1.98e9}  # fmt: skip
A100: Change = H100 | {"power_draw_watts": 380, "temperature_gpu_celsius": 45, "clock_graphics_hertz": 1.3e9, "pcie_link_generation": 4,
                       "power_limit_watts": 400, "clock_max_graphics_hertz": 1.41e9}  # fmt: skip
AT_REST: Change = {"gpu_utilization_ratio": 0.0, "sm_active_ratio": 0.0, "power_draw_watts": 70, "temperature_gpu_celsius": 30,
                   "clock_graphics_hertz": 3.45e8, "pcie_link_generation": 1}  # fmt: skip


def always(value: float, _: int) -> float:
    return value


def since(begin: int, value: float, second: int) -> float | None:
    return value if second >= begin else None


def host_series(begin: int, host: str) -> Series:
    return Series({"__name__": "gpulse_sample_timestamp_seconds", "instance": f"{host}:9837", "job": "gpulse"}, lambda second: begin + second)


def gpu_series(host: str, index: int, values: Change, *, model: str = "NVIDIA H100", job: str = "12", held_since: int = 0, finding: str = "") -> Iterator[Series]:
    uuid = {"uuid": f"GPU-{host}-{index}", "instance": f"{host}:9837", "job": "gpulse"}
    gpu = {"gpu": str(index), "vendor": "nvidia", **uuid}
    yield Series({"__name__": "gpulse_gpu_info", "name": model, **gpu}, partial(always, 1))
    yield Series({"__name__": "gpulse_gpu_state", "state": "ok", **gpu}, partial(always, 1))
    for name, value in values.items():
        yield Series({"__name__": f"gpulse_{name}", **gpu}, value if callable(value) else partial(always, value))
    if job:
        yield Series({"__name__": "gpulse_gpu_owner_info", "user": "ann", "batch_job": job, **uuid}, partial(since, held_since, 1))
    if finding:
        yield Series({"__name__": "gpulse_finding", "finding": finding, "severity": "problem", **uuid}, partial(always, 1))


def fleet(engine: Engine, *arguments: str) -> Result:
    done = gpulse("fleet", "--url", f"http://{engine.address}", *arguments)
    assert done.code == 0, done.err
    return done


def remarks(engine: Engine) -> dict[tuple[str, str], list[dict[str, Any]]]:
    shown = fleet(engine, "--json").json
    assert shown["faults"] == []
    return {(gpu["host"], gpu["id"]): gpu["remarks"] for gpu in shown["gpus"] if gpu["remarks"]}


# ---- four hosts with a job, and what is odd about them


def late(value: float, usual: float, second: int) -> float:
    """Usual until the last two minutes."""
    return value if second >= SPAN - 120 else usual


def odd_ones() -> Iterator[tuple[str, int, Change, str]]:
    # Which decides nothing: a checkpoint is written.
    moment: Change = {"clock_graphics_hertz": partial(late, 3.45e8, 1.755e9), "pcie_link_generation": partial(late, 1, 5), "sm_active_ratio": partial(late, 0, 0.4)}
    odd: dict[tuple[str, int], tuple[Change, str]] = {
        ("n1", 3): ({"clock_graphics_hertz": 1.095e9, "sm_active_ratio": 0.95, "power_draw_watts": 350}, "throttled-thermal"),
        ("n2", 0): ({"temperature_gpu_celsius": 82}, ""),
        ("n3", 7): ({"pcie_link_generation": 1}, ""),
        ("n4", 5): (moment, ""),
    }
    for host in ("n1", "n2", "n3", "n4"):
        for index in range(8):
            change, finding = odd.get((host, index), ({}, ""))
            yield host, index, H100 | change, finding


@pytest.fixture(scope="module", params=BOTH)
def job(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    begin = int(time.time()) - SPAN
    series = [host_series(begin, host) for host in ("n1", "n2", "n3", "n4")]
    for host, index, values, finding in odd_ones():
        series += gpu_series(host, index, values, finding=finding)
    with ENGINES[request.param](tmp_path_factory.mktemp("engine"), None) as engine:
        write(engine, series, begin, SPAN, 15)
        yield engine


def test_each_odd_one_is_named_with_its_numbers(job: Engine) -> None:
    found = remarks(job)
    texts = {place: [remark["text"] for remark in all_of] for place, all_of in found.items()}
    assert texts == {
        ("n1", "3"): [
            "slower clocked than its sisters: 1095 MHz against 1755 MHz (31 others of NVIDIA H100); held back by its temperature",
            "holds its job back: truly used 95 % against 40 % (31 others of job 12); its clock is 1095 MHz against 1755 MHz; held back by its temperature",
        ],
        ("n2", "0"): ["hotter than its sisters: 82 °C against 60 °C (30 others of NVIDIA H100 at such power)"],
        ("n3", "7"): ["slower PCIe link than its sisters: generation 1 x16 against generation 5 x16 (31 others of NVIDIA H100)"],
    }
    clock = found["n1", "3"][0]
    assert clock == {"kind": "slower-clock", "severity": "problem", "text": clock["text"], "metric": "clock_graphics_mhz", "value": 1095, "usual": 1755, "others": 31}


def test_they_are_seen_counted_and_found(job: Engine) -> None:
    lines = fleet(job, "--width", "130").lines
    assert any("3 differ from their sisters" in line for line in lines)
    assert "nothing is wrong" not in "\n".join(lines)
    rows = {name: line for line in lines for name in ("n1", "n2", "n3", "n4") if line.startswith(f"{name} ") and " GPU " not in line}
    assert "slower-clock" in rows["n1"] or "job-straggler" in rows["n1"] or "throttled-thermal" in rows["n1"]
    assert rows["n2"].rstrip().endswith("hotter") and rows["n3"].rstrip().endswith("slower-link")
    assert lines.index(rows["n4"]) > max(lines.index(rows[name]) for name in ("n1", "n2", "n3")), "the one that is well comes last"
    assert any(line.startswith("n3 GPU 7: slower PCIe link than its sisters: generation 1 x16") for line in lines)
    chosen = fleet(job, "--json", "--filter", "remark=slower-*").json
    assert [(gpu["host"], gpu["id"]) for gpu in chosen["gpus"]] == [("n1", "3"), ("n3", "7")], "compared with all, whatever is shown"
    assert fleet(job, "--csv", "--sort", "name").csv[0]["with_remarks"] == "1"
    assert fleet(job, "--json").json["totals"]["with_remarks"] == 3
    (throttled,) = [gpu for gpu in fleet(job, "--json").json["gpus"] if gpu["findings"]]
    assert throttled["findings"] == [{"id": "throttled-thermal", "severity": "problem", "title": "held back by its temperature"}]


def test_every_kind_is_explained(job: Engine) -> None:
    table = gpulse("explain", "--all", "--json").json
    kinds = {row["id"]: row["title"] for row in table["remarks"]}
    assert list(kinds) == ["job-straggler", "job-differs", "slower-clock", "hotter", "lower-limit", "slower-link"]
    for kind, title in kinds.items():
        assert gpulse("explain", kind).out.startswith(f"{kind}  {title}\n")
    for all_of in remarks(job).values():
        for remark in all_of:
            assert remark["text"].startswith(kinds[remark["kind"]])
    listed = gpulse("explain").out
    assert all(f"  {kind}" in listed for kind in kinds)


@pytest.mark.parametrize("kind", BOTH)
def test_a_job_that_has_just_begun_is_not_judged(tmp_path: Path, kind: str) -> None:
    """One host worked for somebody else until five minutes ago, and the means are still of that."""
    begin = int(time.time()) - SPAN

    def began(second: int) -> float:
        return 0.9 if second < SPAN - 300 else 0.1

    series = [host_series(begin, host) for host in ("n1", "n2")]
    for host in ("n1", "n2"):
        for index in range(2):
            busy_before: Change = {"sm_active_ratio": began if (host, index) == ("n1", 0) else 0.1}
            series += gpu_series(host, index, H100 | busy_before, job="13", held_since=SPAN - 300)
    with ENGINES[kind](tmp_path, None) as engine:
        write(engine, series, begin, SPAN, 15)
        assert remarks(engine) == {}


# ---- nothing is to be said


def noisy(value: float, scatter: float, seed: str, second: int) -> float:
    return max(0.0, value + random.Random(f"{seed} {second}").gauss(0, scatter))


def healthy(begin: int, hosts: range) -> Iterator[Series]:
    """Two models, a half at rest, all with noise, jobs of four hosts."""
    scatters = {"sm_active_ratio": 0.05, "power_draw_watts": 30, "temperature_gpu_celsius": 2, "clock_graphics_hertz": 4e7}
    for number in hosts:
        host, is_old, rests = f"n{number}", number % 3 == 0, number // 4 % 2 == 1
        yield host_series(begin, host)
        for index in range(8):
            values = (A100 if is_old else H100) | (AT_REST if rests else {})
            place = random.Random(f"{host} {index}")
            for name, scatter in scatters.items():
                value = values[name]
                assert not callable(value)
                # Each has its own place, and moves about it.
                values |= {name: partial(noisy, value + (0 if rests else place.gauss(0, scatter)), scatter / 2, f"{host} {index} {name}")}
            yield from gpu_series(host, index, values, model="NVIDIA A100" if is_old else "NVIDIA H100", job="" if rests else f"job-{number // 4}")


@pytest.mark.parametrize("kind", BOTH)
def test_nothing_is_said_of_a_healthy_fleet(tmp_path: Path, kind: str) -> None:
    begin = int(time.time()) - SPAN
    with ENGINES[kind](tmp_path, None) as engine:
        write(engine, list(healthy(begin, range(24))), begin, SPAN, 30)
        assert remarks(engine) == {}
        assert "nothing is wrong" in fleet(engine).out


@needs_victoria
def test_nothing_is_said_of_ten_thousand_gpus(tmp_path: Path) -> None:
    begin = int(time.time()) - SPAN
    with victoria_metrics(tmp_path, None) as engine:
        # In parts: a hundred thousand series with their values are much to hold at once.
        for first in range(0, 1250, 250):
            write(engine, list(healthy(begin, range(first, first + 250))), begin, SPAN, 120)
        shown = fleet(engine, "--json").json
    assert shown["totals"]["gpus"] == 10_000 and shown["faults"] == []
    assert [gpu["remarks"] for gpu in shown["gpus"] if gpu["remarks"]] == []
