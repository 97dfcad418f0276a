"""gpulse serve --remote-write: an engine has what a scraper would have got, also after an outage, each value once."""

from __future__ import annotations

import math
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from agent import Agent, wait_for
from harness import BUILD, gpulse, only_line
from remote_write import Receiver, Request, receiving
from scrapers import Engine, free_port, needs_prometheus, needs_victoria, prometheus, victoria_metrics
from web import WebAgent

HOURS = 10
STEP = 10  # seconds
GPUS = 2

class Writer(WebAgent):
    """An agent with a history that writes it to `url`, every second unless told otherwise."""

    def __init__(self, folder: Path, url: str, *arguments: str | Path, interval: str = "1s", **more: Any) -> None:
        every = ["--remote-write-interval", interval]
        super().__init__(folder, "--history", folder / "h.db", "--remote-write", url, *every, *arguments, **more)

    def writing(self) -> dict[str, Any]:
        return self.status()["remote_write"]

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)


# ---- the same as for a scraper


def series_of(engine: Engine, job: str) -> dict[tuple[tuple[str, str], ...], float]:
    """All that it has of a job at the moment, without what a scraper adds."""
    found = {}
    for labels, value in engine.query(f'{{job="{job}",__name__=~"gpulse_.*"}}'):
        found[tuple(sorted((name, text) for name, text in labels.items() if name != "job"))] = value
    return found


def both_are_the_same(engine: Engine) -> None:
    wait_for(lambda: len(engine.query('gpulse_sm_active_ratio{job="written"}')) == 8, "what was written", 30)
    wait_for(lambda: len(engine.query('gpulse_sm_active_ratio{job="gpulse"}')) == 8, "what was scraped", 30)

    def same() -> bool:
        return series_of(engine, "gpulse").keys() == series_of(engine, "written").keys()

    wait_for(same, "the same series", 20)
    first = series_of(engine, "gpulse")
    time.sleep(2.5)
    scraped, written = series_of(engine, "gpulse"), series_of(engine, "written")
    # The machine itself is a real one, whose numbers change.
    moving = ("gpulse_self_", "gpulse_host_")
    still = [key for key in scraped if scraped[key] == first.get(key) and not dict(key)["__name__"].startswith(moving)]
    assert len(still) > 150
    [total] = [key for key in scraped if dict(key)["__name__"] == "gpulse_host_memory_total_bytes"]
    assert written[total] == scraped[total]
    assert {key: written.get(key) for key in still} == {key: scraped[key] for key in still}
    for name, value in [("gpulse_power_draw_watts", 412.5), ("gpulse_temperature_gpu_celsius", 63)]:
        assert [found for _, found in engine.query(name + '{job="written"}')] == [value] * 8
    busy = engine.range('gpulse_busy_seconds_total{job="written",gpu="2"}')
    assert busy[-1][1] - busy[0][1] == pytest.approx(0.57 * (busy[-1][0] - busy[0][0]), rel=0.1)


def write_beside_scraping(place: Path, steady: Path, engine: Engine, address: str) -> None:
    url = f"http://{engine.address}/api/v1/write"
    names = ["--remote-write-job", "written", "--remote-write-instance", address, "--remote-write-metrics", "all"]
    with Writer(place, url, *names, listen=address, scenario=steady) as agent:
        both_are_the_same(engine)
        assert agent.writing()["refused"] == 0 and agent.writing()["problem"] is None


@needs_prometheus
def test_prometheus_has_the_same_from_both(place: Path, tmp_path: Path, steady: Path) -> None:
    address = f"127.0.0.1:{free_port()}"
    with prometheus(tmp_path, address) as engine:
        write_beside_scraping(place, steady, engine, address)


@needs_victoria
def test_victoria_metrics_has_the_same_from_both(place: Path, tmp_path: Path, steady: Path) -> None:
    address = f"127.0.0.1:{free_port()}"
    with victoria_metrics(tmp_path, address) as engine:
        write_beside_scraping(place, steady, engine, address)


# ---- how much of it

TROUBLE = """
[[device]]
profile = "h100"
gpu_util = 100
power_w = 402
temperature = 86
event_reasons = 0x24
held_sw_thermal_ns = { steps = [[0, 0], [86400, 43200000000000]], linear = true }
remapped_pending = 1

[[process]]
device = 0
command = "python3"
memory_mib = 61900
sm = 90

[[event]]
time = 1
device = 0
type = "xid"
data = 31
"""
PER_GPU, PER_HOST = 60, 50


def latest(receiver: Receiver) -> dict[tuple[tuple[str, str], ...], float]:
    """The values of the newest moment."""
    newest = max(times(receiver))
    return {tuple(sorted(labels)): value for labels, at, value in receiver.samples() if at == newest and not math.isnan(value)}


def test_what_is_usual_is_part_of_all_and_has_at_most_60_series_per_gpu(place: Path, tmp_path: Path) -> None:
    scenario = tmp_path / "trouble.toml"
    scenario.write_text(TROUBLE)
    with receiving() as receiver:
        words = ["--remote-write-instance", "n1", "--remote-write-job", "j"]
        with Writer(place, receiver.url, *words, scenario=scenario) as agent:
            wait_for(lambda: any(("finding", "throttled-thermal") in labels for labels, _, _ in receiver.samples()), "a finding", 60)
            wait_for(lambda: values(receiver, "gpulse_xid_errors_total"), "the error", 20)
            usual, page = latest(receiver), agent.ask("/metrics").text
            brief = agent.ask("/metrics?metrics=usual").text
    names = {dict(key)["__name__"] for key in usual}
    of_gpu = [key for key in usual if "uuid" in dict(key)]
    assert len(of_gpu) <= PER_GPU and len(usual) - len(of_gpu) <= PER_HOST, sorted(names)
    assert len(of_gpu) > 45
    # The same names and labels as at /metrics, where there is three times as much.
    scraped = {line.rsplit(" ", 1)[0] for line in page.splitlines() if not line.startswith("#")}
    assert len([line for line in scraped if "uuid=" in line]) > 2.5 * len(of_gpu)
    as_scraped = {tuple(sorted([*re.findall(r'(\w+)="([^"]*)"', line), ("__name__", line.split("{")[0]), ("instance", "n1"), ("job", "j")]))
                  for line in scraped}  # fmt: skip
    assert usual.keys() <= as_scraped
    # What a scraper gets that asks for it.
    asked = {line.split("{")[0].split(" ")[0] for line in brief.splitlines() if not line.startswith("#")}
    assert asked == names
    here = {word for key in usual if dict(key)["__name__"] == "gpulse_throttle_reasons" for word in [(dict(key)["state"], usual[key])]}
    assert here == {("idle", 0), ("power cap", 1), ("sw thermal", 1)}


def test_further_metrics_are_named(place: Path) -> None:
    with receiving() as receiver, Writer(place, receiver.url, "--remote-write-metrics", "usual,fp16_active_percent"):
        wait_for(lambda: values(receiver, "gpulse_fp16_active_ratio"), "values")
        assert values(receiver, "gpulse_power_draw_watts") and not values(receiver, "gpulse_fp32_active_ratio")


# ---- outages


def make_history(place: Path, hours: int = HOURS) -> int:
    """A history that ends now: GPU i is busy to 10 i percent and the last digit of the second (tests/make_history.cpp)."""
    end = int(time.time()) // 60 * 60
    command = [BUILD / "tests" / "make_history", place / "h.db", end, hours * 60, GPUS, 4]
    subprocess.run([str(word) for word in command], check=True)
    return end


def counts(engine: Engine, end: int) -> list[int]:
    """Samples of the hours that were made up, by GPU."""
    found = []
    for i in range(GPUS):
        series = f'gpulse_gpu_utilization_ratio{{job="gpulse",uuid="GPU-00000000-0000-0000-0000-00000000000{i}"}}'
        got = engine.get("query", query=f"{series}[{HOURS * 3600 + 60}s]", time=str(end))["result"]
        values = [(int(at), float(value)) for one in got for at, value in one["values"]]
        # At the last second of every ten: 9.
        assert all(at % STEP == STEP - 1 and value == pytest.approx(0.1 * i + 0.09) for at, value in values)
        assert len({at for at, _ in values}) == len(values)
        found.append(len(values))
    return found


def outage(place: Path, address: str, engine_runs: Any) -> tuple[Engine, int, Writer]:
    """Ten hours are owed; the engine is away at first, then the agent is killed again and again while it catches up."""
    end = make_history(place)
    arguments = (place, f"http://{address}/api/v1/write", "--remote-write-since", f"{HOURS + 1}h")
    with Writer(*arguments, interval="10s") as agent:
        agent.wait_log("remote write: ")
        assert "nothing listens" in wait_for(lambda: agent.writing()["problem"], "it to say that nobody is there")
        agent.kill()
    engine = engine_runs.__enter__()
    for pause in (0.2, 0.4, 0.1, 0.7, 0.3):
        with Writer(*arguments, interval="10s", wait=False) as agent:
            time.sleep(pause)
            agent.kill()
    return engine, end, Writer(*arguments, interval="10s")


def is_through(agent: Writer) -> bool:
    return bool(agent.writing()["behind_seconds"] < 60)


@needs_victoria
def test_victoria_metrics_gets_all_of_an_outage_once(place: Path, tmp_path: Path) -> None:
    address = f"127.0.0.1:{free_port()}"
    runs = victoria_metrics(tmp_path, None, address=address)
    engine, end, agent = outage(place, address, runs)
    with agent:
        wait_for(lambda: is_through(agent), "all to be written", 60)
        wait_for(lambda: counts(engine, end) == [HOURS * 3600 // STEP] * GPUS, "each step once", 20)
        assert agent.writing()["refused"] == 0
    runs.__exit__(None, None, None)


@needs_prometheus
def test_prometheus_gets_all_of_an_outage_once_where_its_window_reaches_so_far(place: Path, tmp_path: Path) -> None:
    address = f"127.0.0.1:{free_port()}"
    window = {"storage": {"tsdb": {"out_of_order_time_window": "12h"}}}
    # It watches itself too, so that it has something newer.
    runs = prometheus(tmp_path, address, address=address, **window)
    engine, end, agent = outage(place, address, runs)
    with agent:
        wait_for(lambda: is_through(agent), "all to be written", 60)
        assert counts(engine, end) == [HOURS * 3600 // STEP] * GPUS
        assert agent.writing()["refused"] == 0
    runs.__exit__(None, None, None)


@needs_prometheus
def test_prometheus_without_a_window_refuses_what_is_old_and_gets_the_rest(place: Path, tmp_path: Path) -> None:
    address = f"127.0.0.1:{free_port()}"
    with prometheus(tmp_path, address, address=address) as engine:
        wait_for(lambda: engine.query("up"), "it to watch itself", 30)
        end = make_history(place)
        url = f"http://{address}/api/v1/write"
        with Writer(place, url, "--remote-write-since", f"{HOURS + 1}h", interval="10s") as agent:
            wait_for(lambda: is_through(agent), "it to get through", 90)
            agent.wait_log("remote write: values are refused, and not sent again: status 400: out of bounds")
            present = counts(engine, end)
            # It takes what is less than an hour older than its newest.
            assert present == [pytest.approx(3600 // STEP, abs=12)] * GPUS
            writing = agent.writing()
            steps_refused = HOURS * 3600 // STEP - present[0]
            per_step = len(engine.query(f'{{uuid=~"GPU-0.*"}} @ {end - 1} or {{__name__=~"gpulse_host_.*"}} @ {end - 1}'))
            assert writing["refused"] >= steps_refused * per_step
            assert writing["taken"] >= present[0] * per_step
            assert writing["problem"] is None


# ---- a receiver that does what it is told


def times(receiver: Receiver) -> list[int]:
    found = sorted({at for _, at, value in receiver.samples() if not math.isnan(value)})
    return [at for at in found]


def values(receiver: Receiver, name: str) -> list[tuple[int, float]]:
    return [(at, value) for labels, at, value in receiver.samples() if ("__name__", name) in labels]


def test_what_goes_over_the_wire(place: Path) -> None:
    token = place / "token"
    token.write_text("s3cret-one\n")
    with receiving() as receiver:
        words = ["--remote-write-token-file", token, "--remote-write-label", "cluster=a1", "--remote-write-instance", "n7:9837"]
        with Writer(place, receiver.url, *words) as agent:
            wait_for(lambda: values(receiver, "gpulse_up"), "values")
            token.write_text("s3cret-two\n")
            wait_for(lambda: receiver.requests[-1].headers["authorization"] == "Bearer s3cret-two", "the new token")
            command_line = Path(f"/proc/{agent.pid}/cmdline").read_text()
            assert "s3cret" not in command_line + agent.log
        first = receiver.requests[0]
        assert first.headers["authorization"] == "Bearer s3cret-one"
        assert first.headers["content-encoding"] == "snappy"
        assert first.headers["content-type"] == "application/x-protobuf"
        assert first.headers["x-prometheus-remote-write-version"] == "0.1.0"
        assert first.headers["user-agent"].startswith("gpulse")
        labels = [labels for labels, _, _ in receiver.samples()]
        assert all({("instance", "n7:9837"), ("job", "gpulse"), ("cluster", "a1")} <= one for one in labels)


def test_by_default_it_is_called_as_a_scraper_would_call_it(place: Path) -> None:
    address = f"127.0.0.1:{free_port()}"
    with receiving() as receiver, Writer(place, receiver.url, listen=address):
        wait_for(lambda: receiver.samples(), "values")
        found = {dict(labels)["instance"] for labels, _, _ in receiver.samples()}
        assert found == {os.uname().nodename + ":" + address.split(":")[1]}


def test_a_user_and_a_password(place: Path) -> None:
    password = place / "password"
    password.write_text("hidden\n")
    words = ["--remote-write-user", "ann", "--remote-write-password-file", password]
    with receiving() as receiver, Writer(place, receiver.url, *words):
        wait_for(lambda: receiver.samples(), "values")
        assert receiver.requests[0].headers["authorization"] == "Basic YW5uOmhpZGRlbg=="


def test_an_engine_that_is_busy_gets_all_of_it_later_and_in_order(place: Path) -> None:
    busy = threading.Event()
    busy.set()
    with receiving() as receiver:
        receiver.answer = lambda _: (503, {"Retry-After": "1"}, b"starting") if busy.is_set() else (204, {}, b"")
        with Writer(place, receiver.url, "--remote-write-since", "1m") as agent:
            agent.wait_log("remote write: status 503: starting")
            agent.wait_samples(4)
            begun = time.time()
            busy.clear()
            wait_for(lambda: len(times(receiver)) >= 5, "what was owed", 20)
            agent.wait_log("remote write: goes on")
        up = [at for at, _ in values(receiver, "gpulse_up")]
        assert up == sorted(up) and up[0] / 1000 < begun - 2
        series = [(labels, at) for labels, at, _ in receiver.samples()]
        assert len(series) == len(set(series))
        steps = times(receiver)
        # A value each second: none is missing between the first and the last.
        assert max(b - a for a, b in zip(steps, steps[1:])) < 2500


def test_a_series_that_is_refused_does_not_keep_the_others(place: Path) -> None:
    def has_power(request: Request) -> bool:
        return any(("__name__", "gpulse_power_draw_watts") in labels for labels, _, _ in request.samples)

    with receiving() as receiver:
        receiver.answer = lambda request: (400, {}, b"label limit exceeded") if has_power(request) else (204, {}, b"")
        with Writer(place, receiver.url) as agent:
            agent.wait_log("remote write: values are refused, and not sent again: status 400: label limit exceeded")
            wait_for(lambda: len(values(receiver, "gpulse_temperature_gpu_celsius")) >= 3, "the others")
            writing = agent.writing()
            assert 1 <= writing["refused"] <= 10 and writing["problem"] is None
            assert agent.log.count("values are refused") == 1
        assert not values(receiver, "gpulse_power_draw_watts")


def test_nothing_is_sent_ahead_of_the_engines_clock(place: Path) -> None:
    with receiving() as receiver:
        receiver.clock = lambda: time.time() - 5
        with Writer(place, receiver.url, "--remote-write-since", "1m"):
            wait_for(lambda: len(times(receiver)) >= 4, "values", 20)
        for request in receiver.requests:
            assert all(at / 1000 <= request.at - 4 for _, at, _ in request.samples)


def test_a_receiver_that_never_answers_delays_nothing(place: Path) -> None:
    with receiving() as receiver:
        receiver.hangs = threading.Event()
        with Writer(place, receiver.url) as agent:
            wait_for(lambda: receiver.seen, "a request")
            begun, samples = time.monotonic(), agent.samples()
            agent.wait_samples(3)
            assert agent.samples() - samples <= time.monotonic() - begun + 1.5
            begun = time.monotonic()
            assert agent.end() == 0
            assert time.monotonic() - begun < 2


def test_a_wrong_token_is_said_once(place: Path) -> None:
    with receiving() as receiver:
        receiver.answer = lambda _: (401, {}, b"no such token\nsecond line")
        with Writer(place, receiver.url) as agent:
            agent.wait_log("remote write: status 401: no such token\n")
            assert agent.writing()["problem"] == "status 401: no such token"
            assert "problem   status 401: no such token" in agent.run("agent", "status").out
            time.sleep(1.5)
            assert len(receiver.seen) == 1 and agent.log.count("status 401") == 1


def test_a_gpu_that_goes_ends_its_series(place: Path, tmp_path: Path) -> None:
    scenario = tmp_path / "lost.toml"
    scenario.write_text('[[device]]\nprofile = "h200"\n\n[[device]]\nprofile = "h200"\nlost = [[3, 1000000]]\n')
    with receiving() as receiver, Writer(place, receiver.url, scenario=scenario):

        def ended() -> list[int]:
            return [at for labels, at, value in receiver.samples()
                    if {("__name__", "gpulse_power_draw_watts"), ("gpu", "1")} <= labels and math.isnan(value)]  # fmt: skip

        wait_for(ended, "the end of its power", 20)
        # The other goes on.
        wait_for(lambda: values(receiver, "gpulse_power_draw_watts")[-1][0] > ended()[0] + 2000, "the other", 20)
        assert len(ended()) == 1


def test_hostile_names_arrive_as_they_are_and_break_nothing(place: Path, tmp_path: Path) -> None:
    program = tmp_path / 'a"b\\c{d}=e'
    shutil.copy("/bin/sleep", program)
    with subprocess.Popen([str(program), "100"]) as process:
        scenario = tmp_path / "hostile.toml"
        scenario.write_text(f'[[device]]\nprofile = "h200"\n\n[[process]]\ndevice = 0\npid = {process.pid}\nmemory_mib = 100\n')
        try:
            with receiving() as receiver, Writer(place, receiver.url, "--process-metrics", scenario=scenario):

                def names() -> set[str]:
                    return {dict(labels).get("name", "") for labels, _, _ in receiver.samples()
                            if ("__name__", "gpulse_process_gpu_memory_bytes") in labels}  # fmt: skip

                wait_for(names, "the process", 20)
                assert names() == {program.name}
        finally:
            process.kill()


# ---- what is refused


@pytest.mark.parametrize(
    "words, why",
    [
        (["--history", "off", "--remote-write", "http://127.0.0.1:1/w"],
         "remote write needs a history: what an engine does not have yet waits there"),
        (["--remote-write", "metrics.example"], "metrics.example"),
        (["--remote-write", "http://ann:secret@127.0.0.1/w"], "password"),
        (["--remote-write", "http://127.0.0.1/w", "--remote-write-user", "ann"], "a user of --remote-write needs a password"),
        (["--remote-write", "http://127.0.0.1/w", "--remote-write-label", "a-b=c"], '"a-b=c" is no label'),
        (["--remote-write", "http://127.0.0.1/w", "--remote-write-label", "job=c"], "the label job has an option of its own"),
        (["--remote-write", "http://127.0.0.1/w", "--remote-write-metrics", "usual,power_drow_watts"], "power_draw_watts"),
        (["--remote-write", "http://127.0.0.1/w", "--remote-write-interval", "10ms"], "--remote-write-interval"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(place: Path, words: list[str], why: str) -> None:
    kept = [] if "--history" in words else ["--history", str(place / "h.db")]
    done = gpulse("serve", "--listen", "off", *kept, *words, scenario="single", GPULSE_AGENT=str(place))
    assert done.code == 2 and why in only_line(done.err), done.err
    assert "secret" not in done.err


def test_the_configuration_can_say_it(place: Path) -> None:
    with receiving() as receiver:
        config = place / "gpulse" / "config.toml"
        config.parent.mkdir()
        words = 'remote-write-interval = "1s"\nremote-write-label = ["a=b", "c=d"]'
        config.write_text(f'[serve]\nremote-write = "{receiver.url}"\n{words}\n')
        with Agent(place, "--history", place / "h.db", XDG_CONFIG_HOME=str(place)):
            wait_for(lambda: receiver.samples(), "values")
            assert {("a", "b"), ("c", "d")} <= receiver.samples()[0][0]
