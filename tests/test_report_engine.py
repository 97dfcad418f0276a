"""`gpulse report --url`: a made-up week of two machines in Prometheus and VictoriaMetrics, whose sums are known by hand."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.error
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent import open_folder, wait_for
from engine_data import HOUR, Series, write
from harness import BUILD, Result, gpulse, only_line
from impostor import Impostor, engine_says
from scrapers import Engine, fetch, free_port, needs_prometheus, needs_victoria, prometheus, victoria_metrics
from web import WebAgent

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


ANN_1, BOB = {"user": "ann", "batch_job": "job-1", "batch_account": "physics"}, {"user": "bob"}
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


ENGINES = {"prometheus": prometheus, "victoria": victoria_metrics}
BOTH = [pytest.param("prometheus", marks=needs_prometheus), pytest.param("victoria", marks=needs_victoria)]


@pytest.fixture(scope="module", params=BOTH)
def week(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with ENGINES[request.param](tmp_path_factory.mktemp("engine"), None) as engine:
        write(engine, week_of_series(), BEGIN, WEEK, INTERVAL)
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


def test_findings_are_what_they_alone_cost(week: Engine) -> None:
    result = report(week, "--json").json
    (found,) = result["findings"]
    assert found == {"id": "idle", "lost_gpu_hours": pytest.approx(12, rel=0.01), "stood_gpu_hours": pytest.approx(24, rel=0.01),
                     "times": None}  # fmt: skip
    assert result["findings_are_upper_bounds"] is False and result["source"] == "engine"
    worst = {row["batch_job"]: row["worst_finding"] for row in result["worst"]}
    assert worst == {"job-1": None, "job-2": "idle", "shop/web-0": None, None: None}


def test_rows_of_other_kinds(week: Engine) -> None:
    hosts = {row["name"]: row for row in report(week, "--by", "host", "--json").json["rows"]}
    assert hosts["node1"]["held_gpu_hours"] == pytest.approx(168) and hosts["node1"]["gpus"] == 1
    assert hosts["node2"]["held_gpu_hours"] == pytest.approx(288) and hosts["node2"]["gpus"] == 2
    (model,) = report(week, "--by", "model", "--json").json["rows"]
    assert model["name"] == "NVIDIA H200" and model["held_gpu_hours"] == pytest.approx(456)
    jobs = {row["name"]: row["held_gpu_hours"] for row in report(week, "--by", "job", "--json").json["rows"]}
    assert jobs == {"job-1": pytest.approx(84), "job-2": pytest.approx(216), "shop/web-0": pytest.approx(72), None: pytest.approx(84)}
    accounts = {row["name"]: row["held_gpu_hours"] for row in report(week, "--by", "account", "--json").json["rows"]}
    assert accounts == {"physics": pytest.approx(84), None: pytest.approx(216 + 72 + 84)}


def test_a_part_of_it(week: Engine) -> None:
    alone = report(week, "--user", "bob", "--json").json
    assert [alone["held"][name] for name in AMOUNTS] == near(WANTED["bob"]) and "nobody" not in alone
    first = report(week, "-i", "0", "--json").json
    assert first["gpus"] == 2 and first["held"]["held_gpu_hours"] == pytest.approx(168 + 144)
    one = report(week, "-i", uuid("node2", 1), "--json").json
    assert one["gpus"] == 1 and one["held"]["held_gpu_hours"] == pytest.approx(144)
    assert one["recorded_seconds"] == pytest.approx(144 * HOUR), "the agent of node2 was away for a day"
    assert report(week, "-i", "7").code == 2
    day = report(week, "--json", begin=BEGIN + DAY, end=BEGIN + DAY + 17 * 60).json
    assert day["span_seconds"] == 17 * 60, "what is no whole stretch counts too"
    assert day["held"]["held_gpu_hours"] == pytest.approx(3 * 17 / 60, rel=0.02)


def test_every_format(week: Engine, tmp_path: Path) -> None:
    text = report(week, "--width", "130")
    assert text.lines[0].startswith(week.address) and "recorded 7 d of 7 d, 4 GPUs of 2 hosts" in text.lines[0]
    assert "from an engine: who held a GPU is known every 15 s, what it did by stretches of 5 min" in text.out
    assert text.err == ""
    rows = {row["name"]: row for row in report(week, "--csv").csv if row["kind"] == "user"}
    assert float(rows["bob"]["energy_kwh"]) == pytest.approx(12.6, rel=0.01) and rows[""]["gpus"] == "1"
    page = tmp_path / "report.html"
    assert report(week, "--html", page).code == 0 and "GPU-hours lost" in page.read_text()


@pytest.mark.parametrize(
    "kind, options",
    [
        pytest.param("prometheus", ["--query.max-samples=20000"], marks=needs_prometheus),
        pytest.param("victoria", ["-search.maxUniqueTimeseries=3", "-search.maxPointsPerTimeseries=8000"], marks=needs_victoria),
    ],
)
def test_an_engine_with_narrow_limits_is_asked_for_less(tmp_path: Path, kind: str, options: list[str]) -> None:
    with ENGINES[kind](tmp_path, None, options=options) as engine:
        write(engine, week_of_series(), BEGIN, WEEK, INTERVAL)
        assert engine_refuses(engine, "count_over_time(gpulse_gpu_owner_info[7d:15s])")
        result = report(engine, "--json")
        assert result.code == 0, result.err
        for row in result.json["rows"]:
            assert [row[name] for name in AMOUNTS] == near(WANTED[row["name"] or ""])


def engine_refuses(engine: Engine, query: str) -> bool:
    try:
        engine.get("query", query=query, time=str(END))
    except urllib.error.HTTPError as error:
        return error.code == 422
    return False


@pytest.mark.parametrize("kind", BOTH)
def test_history_and_engine_agree(tmp_path: Path, kind: str) -> None:
    """Within 1 percent or three minutes of one GPU, whichever is more: who comes and goes is known every 15 seconds."""
    hours = 2
    end = int(time.time()) // 60 * 60 - 60
    command = [BUILD / "tests" / "make_history", tmp_path / "h.db", end, hours * 60, 4, 6, "report"]
    subprocess.run([str(word) for word in command], check=True)
    words = ["--from", f"@{end - hours * HOUR}", "--to", f"@{end - 300}", "--by", "job", "--json"]
    address = f"127.0.0.1:{free_port()}"
    with open_folder() as place, ENGINES[kind](tmp_path, None, address=address) as engine:
        to = ["--remote-write", f"http://{address}/api/v1/write", "--remote-write-since", f"{hours + 1}h"]
        with WebAgent(place, "--history", tmp_path / "h.db", "--remote-write-instance", "made-up:9837", *to) as agent:
            wait_for(lambda: time.time() - agent.status()["remote_write"]["behind_seconds"] > end - 300, "all to be written", 60)
        fetch(f"http://{address}/internal/force_flush")
        own = gpulse("report", "--history", tmp_path / "h.db", *words).json
        told = gpulse("report", "--url", f"http://{address}", *words).json
    assert told["recorded_seconds"] == pytest.approx(own["recorded_seconds"], abs=180)
    rows = {row["name"]: row for row in told["rows"]}
    assert set(rows) == {row["name"] for row in own["rows"]} == {f"job-{j}" for j in range(6)}
    for row in own["rows"]:
        for name in AMOUNTS:
            close = None if row[name] is None else pytest.approx(row[name], rel=0.01, abs=0.05)
            assert rows[row["name"]][name] == close, (row["name"], name)
    for name in AMOUNTS[:3]:
        assert told["nobody"][name] == pytest.approx(own["nobody"][name], rel=0.02, abs=0.1)


# ---- what can go wrong


HUGE = b'{"status":"success","data":[' + b'{"a":"b"},' * 400_000 + b"{}]}"


@pytest.mark.parametrize(
    "status, body, headers, why",
    [
        (401, b"", {}, "it does not let us ask"),
        (403, b"<html>", {}, "--url-token-file"),
        (404, b"404 page not found", {}, "is no engine that answers PromQL (status 404): give what stands before /api/v1"),
        (200, b"<html>Welcome</html>", {}, "is no engine"),
        (200, b'{"status":"success"', {}, "is no engine"),
        (302, b"", {"Location": "https://login.example/"}, "https://login.example/"),
        (502, b"<html>Bad Gateway</html>", {}, "answered 502"),
        (400, engine_says("1:2: parse error\n\x1b[31mred"), {}, "refused the query: 1:2: parse error  [31mred"),
        (422, engine_says("query processing would load too many samples"), {}, "too many samples"),
        (503, engine_says("query timed out", "timeout"), {}, "gave up on the query: query timed out"),
        (200, b'{"status":"success","data":[]}', {}, "has no GPUs of that time"),
        (200, HUGE, {}, "too many series or values"),
    ],
)
def test_one_line_for_each_fault(status: int, body: bytes, headers: dict[str, str], why: str) -> None:
    with Impostor(status, body, **headers) as impostor:
        done = gpulse("report", "--url", impostor.url)
    assert done.code == 1 and done.out == ""
    assert why in only_line(done.err) and "\x1b" not in done.err


def test_nobody_there_and_nobody_who_answers() -> None:
    away = gpulse("report", "--url", f"http://127.0.0.1:{free_port()}")
    assert away.code == 1 and "nothing listens at" in only_line(away.err)
    with Impostor(pause=5) as impostor:
        begun = time.monotonic()
        late = gpulse("report", "--url", impostor.url, "--url-timeout", "300ms")
        assert late.code == 1 and "did not answer within 0.3 s" in only_line(late.err)
        assert time.monotonic() - begun < 3


def test_a_slow_engine_is_waited_for_with_a_word() -> None:
    with Impostor(body=b'{"status":"success","data":[]}', pause=2.5) as impostor:
        done = gpulse("report", "--url", impostor.url)
    assert done.code == 1 and len(done.err.splitlines()) == 2
    assert done.err.startswith(f"gpulse: asking {impostor.url[7:]}")


def test_who_asks_says_who_it_is(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cret\n")
    with Impostor(401) as impostor:
        gpulse("report", "--url", impostor.url + "/prom/api/v1/write", "--url-token-file", secret)
        gpulse("report", "--url", impostor.url, "--url-user", "ann", "--url-password-file", secret)
        assert impostor.asked == [("/prom/api/v1/series", "Bearer s3cret"), ("/api/v1/series", "Basic YW5uOnMzY3JldA==")]
    missing = gpulse("report", "--url", impostor.url, "--url-token-file", tmp_path / "none")
    assert missing.code == 1 and "none" in only_line(missing.err)


@pytest.mark.parametrize(
    "words, why",
    [
        (["--url", "prometheus:9090"], "is no address of a web server"),
        (["--url", "http://ann:secret@p:9090"], "password"),
        (["--url", "http://p:9090", "--history", "h.db"], "excludes"),
        (["--url", "http://p:9090", "--url-user", "ann"], "a user of --url needs a password"),
        (["--url", "http://p:9090", "--url-user", "a", "--url-password-file", "b", "--url-token-file", "c"], "not both"),
        (["--url-token-file", "c"], "--url"),
    ],
)
def test_wrong_usage(words: list[str], why: str) -> None:
    done = gpulse("report", *words)
    assert done.code == 2 and why in only_line(done.err) and "secret" not in done.err


def test_too_short_a_time(week: Engine) -> None:
    short = report(week, end=BEGIN + 240)
    assert short.code == 1 and "at least five minutes" in only_line(short.err)
    early = report(week, begin=BEGIN - 10 * DAY, end=BEGIN - 9 * DAY)
    assert early.code == 1 and "of that time" in only_line(early.err)


def test_the_configuration_can_say_it(week: Engine, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f'[report]\nurl = "http://{week.address}"\nurl-timeout = "30s"\n')
    done = gpulse("--config", config, "report", "--from", f"@{BEGIN}", "--to", f"@{END}", "--json")
    assert done.code == 0 and done.json["place"] == week.address


def always(_: int) -> float:
    return 1


@needs_prometheus
def test_hostile_labels_are_text(tmp_path: Path) -> None:
    evil = 'e"v\\il\x1b[31m\n<img src=x>}'
    place = {"instance": evil, "job": "gpulse", "uuid": "GPU-" + evil}
    series = [Series({"__name__": "gpulse_gpu_info", "gpu": "0", "name": evil, **place}, always),
              Series({"__name__": "gpulse_gpu_state", "state": "ok", "gpu": "0", **place}, always),
              Series({"__name__": "gpulse_gpu_owner_info", "user": evil, **place}, always),
              Series({"__name__": "gpulse_finding", "finding": evil, **place}, always)]  # fmt: skip
    with prometheus(tmp_path, None) as engine:
        write(engine, series, BEGIN, HOUR, INTERVAL)
        # Naming the instance has to find it.
        for words in ([], ["-i", "0"], ["--by", "host"], ["--by", "model"]):
            done = report(engine, "--color", "--width", "150", *words, end=BEGIN + HOUR)
            assert done.code == 0 and "1.00" in done.out, done.err
            assert evil.split("\n")[1] in done.out and "\x1b[31m\n" not in done.out and "il\x1b[31m" not in done.out
        page = tmp_path / "report.html"
        assert report(engine, "--html", page, end=BEGIN + HOUR).code == 0 and "<img" not in page.read_text()
