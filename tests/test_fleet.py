"""`gpulse fleet`: agents on simulators, made-up hosts of every kind, and all that an engine can do wrong."""

from __future__ import annotations

import json
import re
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from agent import open_folder, wait_for
from browser import address, visiting
from engine_data import Series, write
from fleet_web import FleetServer
from harness import GPULSE, ROOT, Result, environment, gpulse, only_line
from impostor import Impostor, engine_says
from scrapers import Engine, fetch, free_port, needs_prometheus, needs_victoria, prometheus, victoria_metrics
from test_mixed_machine import FILES
from top import Top
from web import WebAgent

ENGINES = {"prometheus": prometheus, "victoria": victoria_metrics}
BOTH = [pytest.param("prometheus", marks=needs_prometheus), pytest.param("victoria", marks=needs_victoria)]
MINUTE = 60
EVIL = '\u202ee"v\\il\x1b[31m\n<img src=x>}'


def fleet(engine: Engine, *arguments: str | Path) -> Result:
    return gpulse("fleet", "--url", f"http://{engine.address}", *arguments)


def gpus_of(shown: dict[str, Any], host: str) -> list[dict[str, Any]]:
    return [gpu for gpu in shown["gpus"] if gpu["host"] == host]


# ---- three agents


LOSES = "[[device]]\nprofile = \"h100\"\n\n[[device]]\nprofile = \"h100\"\nlost = [[3, 7]]\n"


@pytest.mark.parametrize("kind", BOTH)
def test_three_agents(tmp_path: Path, browser: Browser, kind: str) -> None:
    """Eight GPUs, three vendors, and one that is lost for a while; scraped by the one engine, writing to the other."""
    tree = tmp_path / "machine"
    for name, text in FILES.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    (tmp_path / "loses.toml").write_text(LOSES)
    machines: dict[str, tuple[list[str | Path], str | Path]] = {
        "eight": ([], "eight"), "mixed": (["--sysroot", tree], "single"), "loses": ([], tmp_path / "loses.toml")}  # fmt: skip
    listens = {name: f"127.0.0.1:{free_port()}" for name in machines}
    engine_address = f"127.0.0.1:{free_port()}"
    with ExitStack() as stack:
        if kind == "prometheus":
            jobs = [{"job_name": "gpulse", "static_configs": [{"targets": list(listens.values())}]}]
            engine, hosts = stack.enter_context(prometheus(tmp_path, None, address=engine_address, scrape_configs=jobs)), listens
        else:
            engine, hosts = stack.enter_context(victoria_metrics(tmp_path, None, address=engine_address)), {name: name for name in machines}
        for name, (words, scenario) in machines.items():
            more: list[str | Path] = ["--history", tmp_path / f"{name}.db"]
            if kind == "victoria":
                more += ["--remote-write", f"http://{engine_address}/api/v1/write", "--remote-write-interval", "1s",
                         "--remote-write-instance", f"{name}:9837"]  # fmt: skip
            place = stack.enter_context(open_folder())
            stack.enter_context(WebAgent(place, *words, *more, listen=listens[name], scenario=scenario))

        def look() -> dict[str, Any]:
            fetch(f"http://{engine_address}/internal/force_flush")
            done = fleet(engine, "--json")
            return done.json if done.code == 0 else {"gpus": [], "hosts": []}

        def states() -> list[str]:
            return [gpu["state"] for gpu in gpus_of(look(), hosts["loses"])]

        wait_for(lambda: "lost" in states(), "the GPU to be lost", 30)
        # An agent that was scraped before its first sample has no GPUs yet.
        shown = wait_for(lambda: now if len((now := look())["gpus"]) == 13 else {}, "all GPUs", 30)
        assert len(shown["hosts"]) == 3
        assert len(gpus_of(shown, hosts["eight"])) == 8
        assert {gpu["vendor"] for gpu in gpus_of(shown, hosts["mixed"])} >= {"nvidia", "amd", "intel"}
        (amd,) = [gpu for gpu in gpus_of(shown, hosts["mixed"]) if gpu["vendor"] == "amd"]
        assert amd["metrics"]["gpu_utilization_percent"] == pytest.approx(73)
        assert amd["metrics"]["sm_active_percent"] is None and amd["unavailable"]["sm_active_percent"]
        (intel,) = [gpu for gpu in gpus_of(shown, hosts["mixed"]) if gpu["vendor"] == "intel"]
        assert intel["metrics"]["memory_used_bytes"] is None or intel["metrics"]["memory_used_bytes"] > 0
        wait_for(lambda: states() == ["ok", "ok"], "it to come back", 30)
        told = fleet(engine, "--width", "100")
        assert told.code == 0 and "3 hosts, 13 GPUs" in told.out and told.err == ""
        walk(tmp_path, engine, hosts)
        visit_page(browser, engine, hosts)


def walk(folder: Path, engine: Engine, hosts: dict[str, str]) -> None:
    """Through all three in a terminal, and into two of them."""
    with Top(folder, command=[GPULSE, "fleet", "--url", f"http://{engine.address}", "--watch", "1"], ready="q quit") as view:
        assert "3 hosts, 13 GPUs" in view.text and all(name in view.text for name in hosts.values())
        for host, shows in (("eight", "H100"), ("mixed", "Radeon")):
            while not view.line_of(hosts[host]).startswith("▸"):
                view.press("Down")
                view.wait_frame()
            view.press("Enter")
            view.wait_text("LIVE")
            view.wait_text(shows)
            view.press("q")
            view.wait_for(lambda: all(name in view.text for name in hosts.values()), "the overview again")
        view.press("q")
        assert view.exit_code() == 0


def visit_page(browser: Browser, engine: Engine, hosts: dict[str, str]) -> None:
    with open_folder() as folder, FleetServer(folder, engine.address) as server, visiting(browser) as visit:
        page = visit.open(address(server.port))
        expect(page.locator(".tile-card b").nth(1)).to_have_text("13")
        assert set(page.locator(".groups-list .opener").all_inner_texts()) == set(hosts.values())
        page.goto(address(server.port, f"host/{host_key(hosts['mixed'])}/"))
        expect(page.locator(".gpus tbody tr")).to_have_count(3)
        expect(page.locator(".gpus")).to_contain_text("Radeon")
        expect(page.locator(".status")).to_have_text("live")


def host_key(name: str) -> str:
    """What a host is called in an address: with its port, where that is not the usual one."""
    return name.replace(":", "~")


# ---- made-up hosts


def own_clock(begin: int, second: int) -> float:
    return begin + second


def made_up(now: int) -> Iterator[tuple[dict[str, str], Callable[[int], float | None]]]:
    """What is there of four hosts a minute ago until now, by seconds since then; dead is silent for ten minutes."""

    def flat(value: float) -> Callable[[int], float | None]:
        return lambda _: value

    for host in ("busy", "idle", "dead", EVIL):
        place = {"instance": f"{host}:9837", "job": "gpulse", "cluster": "north" if host == "busy" else ""}
        late = 600 if host == "dead" else 0
        yield {"__name__": "gpulse_sample_timestamp_seconds", **place}, partial(own_clock, now - MINUTE - late)
        for index in range(2):
            uuid = {"uuid": f"GPU-{host}-{index}"}
            gpu = {"gpu": str(index), "vendor": "nvidia", **uuid, **place}
            yield {"__name__": "gpulse_gpu_info", "name": EVIL if host == EVIL else "NVIDIA H100", **gpu}, flat(1)
            lost = host == "idle" and index == 1
            for state in ("ok", "lost"):
                yield {"__name__": "gpulse_gpu_state", "state": state, **gpu}, flat(float(lost == (state == "lost")))
            use = float("nan") if host == EVIL else {"busy": 0.9, "idle": 0.0, "dead": 0.7}[host]
            yield {"__name__": "gpulse_gpu_utilization_ratio", **gpu}, flat(use)
            yield {"__name__": "gpulse_sm_active_ratio", **gpu}, flat(use * 0.5)
            yield {"__name__": "gpulse_power_draw_watts", **gpu}, flat(500)
            owner = {"user": {"busy": "ann", EVIL: EVIL}.get(host, "bob"), "batch_job": f"job-{index}", "batch_account": "physics"}
            if not lost:
                yield {"__name__": "gpulse_gpu_owner_info", **owner, **uuid, **place}, flat(1)
        found = {"finding": EVIL if host == EVIL else "input-cpu", "severity": "problem", "uuid": f"GPU-{host}-0"}
        yield {"__name__": "gpulse_finding", **found, **place}, flat(1)
        yield {"__name__": "gpulse_xid_last_timestamp_seconds", "xid": "79", "uuid": "GPU-idle-1", "gpu": "1", **place}, flat(now - 99)
    dcgm = {"instance": "old:9400", "Hostname": "old", "UUID": "GPU-D", "gpu": "0", "modelName": "NVIDIA A100", "hpc_job": "slurm-7"}
    for name, value in {"DEV_GPU_UTIL": 40.0, "PROF_SM_ACTIVE": 0.25, "DEV_FB_USED": 1024, "DEV_FB_FREE": 3072, "DEV_POWER_USAGE": 250,
                        "DEV_GPU_TEMP": 61}.items():  # fmt: skip
        yield {"__name__": f"DCGM_FI_{name}", **dcgm}, flat(value)
    smi = {"instance": "desk:9835", "uuid": "aa-bb"}
    yield {"__name__": "nvidia_smi_gpu_info", "name": "RTX 4090", "index": "0", **smi}, flat(1)
    # The same GPU as an agent's, told once more.
    yield {"__name__": "nvidia_smi_gpu_info", "name": "NVIDIA H100", "instance": "busy:9835", "uuid": "busy-0"}, flat(1)
    for name, value in {"utilization_gpu_ratio": 0.5, "memory_used_bytes": 6e9, "memory_total_bytes": 24e9, "power_draw_watts": 300,
                        "temperature_gpu": 55}.items():  # fmt: skip
        yield {"__name__": f"nvidia_smi_{name}", **smi}, flat(value)


@pytest.fixture(scope="module", params=BOTH)
def some(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with ENGINES[request.param](tmp_path_factory.mktemp("engine"), None) as engine:
        now = int(time.time())
        write(engine, [Series(labels, value) for labels, value in made_up(now)], now - MINUTE, MINUTE, 15)
        yield engine


def test_silent_and_lost_are_said_and_in_no_mean(some: Engine) -> None:
    shown = fleet(some, "--json").json
    assert shown["schema"] == "gpulse.fleet/1" and shown["faults"] == [] and shown["trouble"] is None
    totals = shown["totals"]
    assert (totals["hosts"], totals["gpus"], totals["silent_hosts"], totals["lost"]) == (6, 10, 1, 1)
    # Two busy, one idle, the one with DCGM; what is silent, lost or NaN is in no mean.
    assert totals["true_activity_known"] == 4 and totals["true_activity_percent"] == pytest.approx((45 + 45 + 0 + 25) / 4)
    assert totals["power_watts"] == 2 * 500 + 500 + 2 * 500 + 250 + 300
    (dead,) = [host for host in shown["hosts"] if host["name"] == "dead"]
    assert dead["silent_seconds"] == pytest.approx(600, abs=30)
    for gpu in gpus_of(shown, "dead"):
        assert gpu["state"] == "silent" and set(gpu["metrics"].values()) == {None} and gpu["held"] is None
        assert set(gpu["unavailable"].values()) == {"silent"}
    lost = gpus_of(shown, "idle")[1]
    assert lost["state"] == "lost" and lost["xids"] == [79] and lost["metrics"]["gpu_utilization_percent"] is None
    text = fleet(some, "--width", "110").lines
    rows = {name: line for line in text for name in ("busy", "idle", "dead", "old", "desk") if line.startswith(name)}
    assert "silent 10 min" in rows["dead"] and "░░" in rows["dead"] and "✗" in rows["idle"] and "lost" in rows["idle"]
    assert text.index(rows["dead"]) < text.index(rows["busy"]) and text.index(rows["idle"]) < text.index(rows["busy"])


def test_hosts_of_other_exporters(some: Engine) -> None:
    shown = fleet(some, "--json").json
    exporters = {host["name"]: host["exporter"] for host in shown["hosts"]}
    assert exporters["old"] == "dcgm" and exporters["desk"] == "nvidia-smi" and exporters["busy"] == "gpulse"
    (old,), (desk,) = gpus_of(shown, "old"), gpus_of(shown, "desk")
    gib = 1 << 30
    assert old["metrics"] == {"gpu_utilization_percent": 40, "sm_active_percent": 25, "memory_used_bytes": gib, "memory_total_bytes": 4 * gib,
                              "power_draw_watts": 250, "temperature_gpu_celsius": 61}  # fmt: skip
    assert old["name"] == "NVIDIA A100" and [owner["batch_job"] for owner in old["owners"]] == ["slurm-7"]
    assert desk["metrics"]["gpu_utilization_percent"] == 50 and desk["metrics"]["sm_active_percent"] is None
    assert desk["held"] is None, "nobody tells who holds it"
    text = fleet(some, "--width", "110").out
    assert re.search(r"^old dcgm ", text, re.MULTILINE) and re.search(r"^desk nvidia-smi ", text, re.MULTILINE)


def test_the_names_of_others_are_those_of_the_documentation() -> None:
    page = (ROOT / "docs" / "prometheus.md").read_text().split("## Coming from another exporter")[1]
    source = (ROOT / "src" / "fleet" / "foreign.cpp").read_text()
    names = set(re.findall(r'"(DCGM_FI_\w+|nvidia_smi_\w+)"', source))
    assert len(names) > 10
    for name in names:
        # "`DCGM_FI_DEV_FB_USED`, `_FREE`, …"
        stem, last = name.rsplit("_", 1)
        assert f"`{name}`" in page or re.search(rf"`{stem}_\w+`[^|]*`_{last}`", page), name


def test_groups(some: Engine) -> None:
    def groups(by: str, *more: str) -> dict[str | None, dict[str, Any]]:
        return {group["name"] or group["kind"]: group for group in fleet(some, "--by", by, "--json", *more).json["groups"]}

    users = groups("user")
    assert users["ann"]["gpus"] == 2 and users["bob"]["gpus"] == 1 and users["unknown"]["gpus"] == 5
    assert users["ann"]["wasted_gpus"] == pytest.approx(1.1) and users["bob"]["wasted_gpus"] == pytest.approx(1)
    assert groups("job")["slurm-7"]["gpus"] == 1 and groups("account")["physics"]["gpus"] == 5
    assert groups("cluster")["north"]["hosts"] == 1 and groups("model")["NVIDIA A100"]["gpus"] == 1
    assert set(groups("host", "--filter", "user=ann")) == {"busy"}
    assert set(groups("host", "--filter", "state=silent", "--filter", "state=lost")) == {"dead", "idle"}
    none = fleet(some, "--filter", "user=nobody-here")
    assert none.code == 0 and "no GPU fits the filters" in none.out
    rows = fleet(some, "--by", "user", "--csv", "--sort", "name").csv
    assert rows[1]["user"] == "ann" and float(rows[1]["utilization_percent"]) == 90 and rows[-1]["kind"] == "unknown"
    assert [row["host"] for row in fleet(some, "--csv", "--sort", "waste").csv][:2] == ["busy", "idle"]


@pytest.mark.parametrize("kind", BOTH)
def test_held_but_idle_is_after_a_quarter_of_an_hour(tmp_path: Path, kind: str) -> None:
    span, place = 20 * MINUTE, {"instance": "n1:9837", "job": "gpulse"}
    begin = int(time.time()) - span
    # Since when it is held, and its busy share: None is never.
    cases: list[tuple[int | None, float]] = [(0, 0.001), (span - 5 * MINUTE, 0.001), (None, 0.001), (0, 0.5)]
    series = [Series({"__name__": "gpulse_sample_timestamp_seconds", **place}, partial(own_clock, begin))]
    for index, (since, busy) in enumerate(cases):
        uuid = {"uuid": f"GPU-{index}", **place}
        gpu = {"gpu": str(index), "vendor": "nvidia", **uuid}
        series += [Series({"__name__": "gpulse_gpu_info", **gpu}, lambda _: 1), Series({"__name__": "gpulse_gpu_state", "state": "ok", **gpu}, lambda _: 1),
                   Series({"__name__": "gpulse_processes", **gpu}, lambda s, since=since: int(since is not None and s >= since)),  # type: ignore[misc]
                   Series({"__name__": "gpulse_busy_seconds_total", **gpu}, lambda s, busy=busy: s * busy),  # type: ignore[misc]
                   Series({"__name__": "gpulse_gpu_owner_info", "user": "ann", **uuid},
                          lambda s, since=since: 1 if since is not None and s >= since else None)]  # type: ignore[misc] # fmt: skip
    with ENGINES[kind](tmp_path, None) as engine:
        write(engine, series, begin, span, 15)
        shown = fleet(engine, "--json").json
    assert [(gpu["held"], gpu["held_but_idle"]) for gpu in shown["gpus"]] == [(True, True), (True, False), (False, False), (True, False)]
    assert shown["totals"]["held_but_idle"] == 1 and shown["groups"][0]["worst"] == "held but idle"


def test_the_past_and_what_was_before_it(some: Engine) -> None:
    early = fleet(some, "--at", "-2h")
    assert early.code == 1 and "knows of no GPUs at that time" in only_line(early.err)
    assert fleet(some, "--at", "-20s", "--json").json["totals"]["hosts"] == 6


def test_hostile_labels_are_text(some: Engine) -> None:
    for words in ([], ["--by", "user"], ["--by", "model"], ["--csv"], ["--ascii"]):
        done = fleet(some, "--color", "--width", "160", *words)
        assert done.code == 0 and "<img" in done.out and "il\x1b[31m" not in done.out and "\u202e" not in done.out
    assert "\u202e" not in fleet(some, "--json").out and fleet(some, "--json").json["gpus"]


def test_it_fits_where_it_is_shown(some: Engine) -> None:
    for width in (40, 80, 200):
        assert max(len(line) for line in fleet(some, "--width", str(width)).lines) <= width
    assert fleet(some, "--ascii").out.replace("\n", "").isascii()
    assert re.search(r"^… 5 others, \d of them", fleet(some, "-n", "1").out, re.MULTILINE)
    config = Path("/dev/null")
    assert gpulse("--config", config, "fleet").code == 2


@needs_victoria
def test_a_thousand_hosts(tmp_path: Path) -> None:
    now = int(time.time()) * 1000
    lines = []
    for host in range(1000):
        place = f'instance="node{host}:9837"'
        lines.append(f"gpulse_sample_timestamp_seconds{{{place}}} {now / 1000 - 5} {now}")
        for index in range(8):
            gpu = f'{place},uuid="GPU-{host}-{index}",gpu="{index}",vendor="nvidia"'
            lines += [f'gpulse_gpu_info{{{gpu},name="NVIDIA H100"}} 1 {now}', f'gpulse_gpu_state{{{gpu},state="ok"}} 1 {now}',
                      f"gpulse_gpu_utilization_ratio{{{gpu}}} 0.5 {now}", f"gpulse_sm_active_ratio{{{gpu}}} 0.25 {now}",
                      f"gpulse_power_draw_watts{{{gpu}}} 400 {now}"]  # fmt: skip
    with victoria_metrics(tmp_path, None) as engine:
        body = "\n".join(lines).encode()
        with urllib.request.urlopen(f"http://{engine.address}/api/v1/import/prometheus", body, timeout=60):
            pass
        fetch(f"http://{engine.address}/internal/force_flush")
        text = fleet(engine)
        assert text.code == 0, text.err
        assert "1000 hosts, 8000 GPUs" in text.out and "3200.0 kW" in text.out and "… 980 others, all well" in text.out
        assert len(fleet(engine, "--json").json["gpus"]) == 8000


# ---- what can go wrong


HUGE = b'{"status":"success","data":[' + b'{"a":"b"},' * 400_000 + b"{}]}"


@pytest.mark.parametrize(
    "status, body, why",
    [
        (401, b"", "it does not let us ask"),
        (404, b"404 page not found", "is no engine that answers PromQL (status 404): give what stands before /api/v1"),
        (200, b"<html>Welcome</html>", "is no engine"),
        (502, b"<html>Bad Gateway</html>", "answered 502"),
        (400, engine_says("1:2: parse error\n\x1b[31mred"), "refused the query: 1:2: parse error  [31mred"),
        (503, engine_says("query timed out", "timeout"), "gave up on the query: query timed out"),
        (200, b'{"status":"success","data":[]}', "knows of no GPUs: see that it scrapes the agents"),
        (200, HUGE, "too many series or values"),
    ],
)
def test_one_line_for_each_fault(status: int, body: bytes, why: str) -> None:
    with Impostor(status, body) as impostor:
        done = gpulse("fleet", "--url", impostor.url)
    assert done.code == 1 and done.out == ""
    assert why in only_line(done.err) and "\x1b" not in done.err


def test_nobody_there() -> None:
    away = gpulse("fleet", "--url", f"http://127.0.0.1:{free_port()}")
    assert away.code == 1 and "nothing listens at" in only_line(away.err)


def one_gpu(path: str, form: dict[str, list[str]]) -> tuple[int, bytes]:
    """An engine that knows of a GPU, and of no power: that takes too long."""
    query = form.get("query", [""])[0]
    labels = {"instance": "n1:9837", "uuid": "GPU-a", "gpu": "0"}
    if "power_draw" in query:
        return 503, engine_says("query timed out", "timeout")
    if "utilization_ratio" in query:
        return 422, engine_says("too many samples", "execution")
    if path.endswith("/series"):
        return 200, json.dumps({"status": "success", "data": [{"__name__": "gpulse_gpu_info", **labels}]}).encode()
    now = float(form["time"][0])
    points: dict[str, tuple[dict[str, str], float]] = {
        "max by (instance,cluster)": (labels, now - 5), "gpulse_gpu_state": (labels | {"state": "ok"}, 1), "sm_active": (labels, 0.5)}  # fmt: skip
    found = [value for name, value in points.items() if name in query]
    result = [{"metric": series, "value": [now, str(value)]} for series, value in found]
    # Twice: a series that comes again changes nothing.
    data = {"resultType": "vector", "result": result * 2}
    return 200, json.dumps({"status": "success", "warnings": ["a shard is away"], "data": data}).encode()


def test_one_question_that_fails_leaves_the_others() -> None:
    with Impostor() as impostor:
        impostor.answer = one_gpu
        text, shown = gpulse("fleet", "--url", impostor.url), gpulse("fleet", "--url", impostor.url, "--json").json
    assert text.code == 0 and "query timed out" in text.out and "something is missing: a shard is away" in text.out
    # What GPUs are compared by fails too, and is said once.
    assert sorted(fault["what"] for fault in shown["faults"]) == ["comparison of sisters", "power", "utilization"]
    (gpu,) = shown["gpus"]
    assert gpu["metrics"]["sm_active_percent"] == 50 and gpu["metrics"]["power_draw_watts"] is None
    assert "query timed out" in gpu["unavailable"]["power_draw_watts"]


def test_a_view_that_is_watched_stays_when_the_engine_goes() -> None:
    with Impostor() as impostor:
        impostor.answer = one_gpu
        command = [str(GPULSE), "fleet", "--url", impostor.url, "--watch", "1", "--count", "2", "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(), text=True) as watching:
            assert watching.stdout is not None
            first = json.loads(watching.stdout.readline())
            impostor.close()
            second = json.loads(watching.stdout.readline())
            assert watching.wait(10) == 0
    assert first["trouble"] is None and "nothing listens" in second["trouble"]
    assert second["time"] == first["time"] and second["gpus"] == first["gpus"]


def test_watching_ends_at_once() -> None:
    with Impostor() as impostor:
        impostor.answer = one_gpu
        command = [str(GPULSE), "fleet", "--url", impostor.url, "--watch", "1h"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(), text=True) as watching:
            assert watching.stdout is not None and "127.0.0.1" in watching.stdout.readline()
            begun = time.monotonic()
            watching.terminate()
            assert watching.wait(10) == 0 and time.monotonic() - begun < 3


@pytest.mark.parametrize(
    "words, why",
    [
        ([], "no engine was given"),
        (["--url", "http://p:9090", "--by", "colour"], "--by"),
        (["--url", "http://p:9090", "--filter", "colour=red"], '"colour=red" is no filter'),
        (["--url", "http://p:9090", "--at", "soon"], '"soon" is not a time'),
        (["--url", "http://p:9090", "--at", "2199-01-01"], "in the future"),
        (["--url", "http://p:9090", "--at", "-1h", "--watch"], "excludes"),
        (["--url", "http://p:9090", "--json", "--csv"], "excludes"),
    ],
)
def test_wrong_usage(words: list[str], why: str) -> None:
    done = gpulse("fleet", *words)
    assert done.code == 2 and why in only_line(done.err)


def test_the_configuration_can_say_it(some: Engine, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f'[fleet]\nurl = "http://{some.address}"\nby = "user"\n')
    done = gpulse("--config", config, "fleet", "--json")
    assert done.code == 0 and done.json["engine"] == some.address and done.json["by"] == "user"


@pytest.mark.parametrize("kind", BOTH)
def test_clocks_that_are_wrong(tmp_path: Path, kind: str) -> None:
    """A host is there with a clock that is two hours slow; one of an hour fast went away four minutes ago."""
    span = 10 * MINUTE
    begin = int(time.time()) - span
    series = []
    for host, ahead, end in (("right", 0, span), ("slow", -7200, span), ("fast", 3600, span - 4 * MINUTE)):
        place = {"instance": f"{host}:9837", "job": "gpulse"}
        gpu = {"uuid": f"GPU-{host}", "gpu": "0", "vendor": "nvidia", **place}

        def there(second: int, value: float, end: int = end) -> float | None:
            return value if second <= end else None

        series += [Series({"__name__": "gpulse_sample_timestamp_seconds", **place}, lambda s, ahead=ahead, there=there: there(s, begin + s + ahead)),  # type: ignore[misc]
                   Series({"__name__": "gpulse_gpu_info", **gpu}, lambda s, there=there: there(s, 1)),  # type: ignore[misc]
                   Series({"__name__": "gpulse_gpu_state", "state": "ok", **gpu}, lambda s, there=there: there(s, 1)),  # type: ignore[misc]
                   Series({"__name__": "gpulse_power_draw_watts", **gpu}, lambda s, there=there: there(s, 300))]  # type: ignore[misc] # fmt: skip
    with ENGINES[kind](tmp_path, None) as engine:
        write(engine, series, begin, span, 15)
        shown = fleet(engine, "--json").json
    hosts = {host["name"]: host for host in shown["hosts"]}
    assert not hosts["right"]["silent"] and not hosts["slow"]["silent"]
    # Prometheus ends what was ended, and then only the host's own clock is left.
    since = None if kind == "prometheus" else pytest.approx(240, abs=40)
    assert hosts["fast"]["silent"] and hosts["fast"]["silent_seconds"] == since
    assert shown["totals"]["power_watts"] == 600
    (fault,) = shown["faults"]
    assert fault["what"] == "clocks" and re.fullmatch(r"that of (slow is 2 h slow|fast is 60 min fast)(, and 1 more)?", fault["why"])
