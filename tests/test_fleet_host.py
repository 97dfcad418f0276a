"""`gpulse serve --fleet` out of real engines: curves of the fleet and of its hosts, hosts of one name, and what dcgm-exporter tells."""

from __future__ import annotations

import time
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from agent import open_folder
from engine_data import Series, write
from harness import gpulse
from scrapers import Engine, needs_prometheus, needs_victoria, prometheus, victoria_metrics
from web import WebAgent

ENGINES = {"prometheus": prometheus, "victoria": victoria_metrics}
BOTH = [pytest.param("prometheus", marks=needs_prometheus), pytest.param("victoria", marks=needs_victoria)]
SPAN = 40 * 60
BROKE = 15 * 60  # before the end
Value = Callable[[int], float | None]


def flat(value: float) -> Value:
    return lambda _: value


def until(end: int, value: Value) -> Value:
    return lambda second: value(second) if second < end else None


def since(begin: int, value: float) -> Value:
    return lambda second: value if second >= begin else None


def agent_of(begin: int, host: str, cluster: str = "", end: int = SPAN, **more: Value) -> Iterator[tuple[dict[str, str], Value]]:
    place = {"instance": f"{host}:9837", "job": "gpulse", "cluster": cluster}
    uuid = {"uuid": f"GPU-{cluster}{host}", **place}
    gpu = {"gpu": "0", "vendor": "nvidia", **uuid}
    yield {"__name__": "gpulse_sample_timestamp_seconds", **place}, until(end, lambda second: begin + second)
    yield {"__name__": "gpulse_gpu_info", "name": "NVIDIA H100", **gpu}, until(end, flat(1))
    yield {"__name__": "gpulse_gpu_state", "state": "ok", **gpu}, until(end, flat(1))
    for name, value in more.items():
        labels = {"gpu_namespace": "shop", "gpu_pod": "web-0", **uuid} if name == "gpu_owner_info" else gpu
        yield {"__name__": f"gpulse_{name}", **labels}, until(end, value)


def parted_of(begin: int) -> Iterator[tuple[dict[str, str], Value]]:
    """A GPU of two instances, both of which are held."""
    yield from agent_of(begin, "parted")
    place = {"instance": "parted:9837", "job": "gpulse"}
    for part in ("1", "2"):
        uuid = {"uuid": f"MIG-{part}", **place}
        yield {"__name__": "gpulse_gpu_info", "gpu": f"0:{part}", "parent": "GPU-parted", **uuid}, flat(1)
        yield {"__name__": "gpulse_gpu_state", "gpu": f"0:{part}", "state": "ok", **uuid}, flat(1)
        yield {"__name__": "gpulse_gpu_owner_info", "user": "ann", **uuid}, flat(1)


def dcgm_of() -> Iterator[tuple[dict[str, str], Value]]:
    """A GPU in seven parts, of which one has a new job; one that falls away."""
    place = {"instance": "old:9400", "Hostname": "old", "modelName": "NVIDIA A100"}
    parted = {"UUID": "GPU-M", "gpu": "0", **place}
    for instance in range(7):
        part = {"GPU_I_ID": str(instance), **parted}
        jobs: list[tuple[str, Value]] = [("100", until(SPAN - 1200, flat(1))), ("200", since(SPAN - 1200, 1))] if instance == 3 else [("", flat(1))]
        for job, there in jobs:
            for name, value in {"DEV_GPU_TEMP": 61, "DEV_POWER_USAGE": 300, "DEV_FB_USED": 1024, "DEV_FB_FREE": 4096}.items():
                yield {"__name__": f"DCGM_FI_{name}", "hpc_job": job, **part}, lambda second, there=there, value=value: value if there(second) else None  # type: ignore[misc] # fmt: skip
    away = {"UUID": "GPU-A", "gpu": "1", **place}
    for name, value in {"DEV_GPU_TEMP": 50, "DEV_POWER_USAGE": 200}.items():
        yield {"__name__": f"DCGM_FI_{name}", **away}, until(SPAN - BROKE, flat(value))
    # The same by the other exporter.
    yield {"__name__": "nvidia_smi_gpu_info", "name": "NVIDIA A100", "index": "0", "instance": "old:9835", "uuid": "m"}, flat(1)


class Fleet(NamedTuple):
    engine: Engine
    begin: int
    server: WebAgent

    def overview(self, *arguments: str) -> dict[str, Any]:
        done = gpulse("fleet", "--url", f"http://{self.engine.address}", "--json", *arguments)
        assert done.code == 0, done.err
        shown: dict[str, Any] = done.json
        return shown

    def ask(self, path: str, **parameters: str | int) -> dict[str, Any]:
        answer = self.server.ask(f"/{path}?{urllib.parse.urlencode(parameters)}")
        assert answer.status == 200, answer.text
        told: dict[str, Any] = answer.json
        return told

    def curves(self, *filters: str) -> dict[str, list[float | None]]:
        span = f"from={self.begin}&to={self.begin + SPAN}&points=160"
        more = "".join(f"&filter={urllib.parse.quote(one)}" for one in filters)
        answer = self.server.ask(f"/api/v1/fleet/curves?{span}{more}")
        assert answer.status == 200, answer.text
        assert answer.json["only_agents"] is True and answer.json["step_seconds"] == 15
        return {series["name"]: series["value"] for series in answer.json["series"]}

    def history(self, host: str, metric: str, first: int, last: int) -> list[float | None]:
        told = self.ask(f"host/{host}/api/v1/history", **{"from": self.begin + first, "to": self.begin + last, "step": "15", "metrics": metric})
        (series,) = told["series"]
        values: list[float | None] = series["value"]
        return values


@pytest.fixture(scope="module", params=BOTH)
def fleet(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    begin = int(time.time()) - SPAN
    with ExitStack() as stack:
        engine = stack.enter_context(ENGINES[request.param](tmp_path_factory.mktemp("engine"), None))
        often = [
            *agent_of(begin, "meter", energy_joules_total=lambda second: 300 * second),
            *agent_of(begin, "cube", gpu_owner_info=since(SPAN // 2, 1)),
            *agent_of(begin, "twin", "east", power_draw_watts=flat(100)),
            *agent_of(begin, "twin", "west", power_draw_watts=flat(300), end=SPAN - 300),
            *parted_of(begin),
            *dcgm_of(),
        ]
        write(engine, [Series(*one) for one in often], begin, SPAN, 15)
        seldom = agent_of(begin, "slow", end=SPAN - BROKE, power_draw_watts=flat(150))
        write(engine, [Series(*one) for one in seldom], begin, SPAN, 60)
        folder = stack.enter_context(open_folder())
        server = WebAgent(folder, "--fleet", f"http://{engine.address}", "--interval", "15", scenario=None, wait=False)
        yield Fleet(engine, begin, stack.enter_context(server))


def test_a_counter_grows_by_what_it_does(fleet: Fleet) -> None:
    values = fleet.history("meter", "energy_joules", 300, SPAN - 120)
    assert len(values) > 100 and None not in values
    assert values == pytest.approx([300 * 15] * len(values), rel=0.02)


def test_a_host_that_is_silent_has_no_gaps_before(fleet: Fleet) -> None:
    values = fleet.history("slow", "power_draw_watts", 120, SPAN)
    told = (SPAN - BROKE - 120) // 15 - 4
    assert values[:told] == [150] * told
    assert values[told + 12 :] == [None] * len(values[told + 12 :])


def test_hosts_of_one_name_are_told_apart(fleet: Fleet) -> None:
    hosts = {host["name"]: host for host in fleet.overview()["hosts"]}
    assert hosts["east/twin"]["cluster"] == "east" and not hosts["east/twin"]["silent"]
    assert hosts["west/twin"]["silent"] and hosts["west/twin"]["silent_seconds"] == pytest.approx(300, abs=60)
    power = fleet.curves("host=east/twin")["power_draw_watts"]
    assert set(power[20:-20]) == {100}
    assert set(fleet.curves("host=twin")["power_draw_watts"][20:80]) == {400}
    keys = {host["name"]: host["key"] for host in fleet.ask("api/v1/fleet")["hosts"]}
    assert keys["west/twin"] == "twin__west"
    assert set(fleet.history("twin__west", "power_draw_watts", 300, 900)) == {300}


def test_a_job_is_a_pod_where_there_is_no_batch_job(fleet: Fleet) -> None:
    half = SPAN // 2 // 15
    for job in ("shop/web-0", "SHOP/*"):
        assert fleet.overview("--filter", f"job={job}")["totals"]["gpus"] == 1
        gpus = fleet.curves(f"job={job}")["gpus"]
        assert gpus[20 : half - 2] == [0] * (half - 22) and set(gpus[half + 2 : -20]) == {1}
    assert set(fleet.curves("job=web-0")["gpus"][20:-20]) == {0}


def test_where_nobody_holds_anything_the_curve_is_0(fleet: Fleet) -> None:
    held = fleet.curves("host=cube")["held"]
    half = SPAN // 2 // 15
    assert held[20 : half - 2] == [0] * (half - 22) and set(held[half + 2 : -20]) == {1}


def test_instances_hold_their_gpu_once(fleet: Fleet) -> None:
    assert set(fleet.curves("host=parted")["held"][20:-20]) == {1}
    assert fleet.overview("--filter", "host=parted")["totals"]["held"] == 1


def test_dcgm_tells_of_a_gpu_once(fleet: Fleet) -> None:
    shown = fleet.overview("--filter", "host=old")
    totals, gpus = shown["totals"], {gpu["id"]: gpu for gpu in shown["gpus"]}
    assert totals["hosts"] == 1 and totals["gpus"] == 2 and shown["faults"] == []
    assert [gpu["id"] for gpu in shown["gpus"]] == ["0", *(f"0:{part}" for part in range(7)), "1"]
    whole, mib = gpus["0"]["metrics"], 1 << 20
    assert whole["power_draw_watts"] == 300 == totals["power_watts"] and whole["temperature_gpu_celsius"] == 61
    assert whole["memory_used_bytes"] == 7 * 1024 * mib and whole["memory_total_bytes"] == 7 * 5120 * mib
    assert [owner["batch_job"] for owner in gpus["0"]["owners"]] == ["200"] == [owner["batch_job"] for owner in gpus["0:3"]["owners"]]
    assert gpus["1"]["state"] == "gone" and set(gpus["1"]["metrics"].values()) == {None} and totals["gone"] == 1
