"""/metrics of the agent: promtool, Prometheus, VictoriaMetrics and a strict parser take it, and its numbers are true."""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from prometheus_client.openmetrics import parser as openmetrics

from agent import Agent, open_folder, sleeper, wait_for
from harness import ROOT, SCENARIOS, gpulse
from prometheus_text import Series, parse, promtool_says
from scrapers import (
    PROMETHEUS_ACCEPT,
    Engine,
    fetch,
    free_port,
    needs_prometheus,
    needs_victoria,
    prometheus,
    victoria_metrics,
)

needs_promtool = pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool, of Debian's prometheus")


class Exporter(Agent):
    """An agent that answers over HTTP."""

    def __init__(self, folder: Path, *arguments: str | Path, **more: Any) -> None:
        self.address = f"127.0.0.1:{free_port()}"
        super().__init__(folder, "--listen", self.address, "--history", "off", *arguments, **more)

    def scrape(self, accept: str = "*/*") -> str:
        return fetch(f"http://{self.address}/metrics", accept)[0]

    def series(self) -> dict[Series, float]:
        return parse(self.scrape())

    def value(self, name: str, /, **labels: str) -> float | None:
        found = [value for (family, own), value in self.series().items() if family == name and labels.items() <= dict(own).items()]
        assert len(found) <= 1, found
        return found[0] if found else None


@contextmanager
def exporting(scenario: str | Path = "single", *arguments: str | Path, interval: str = "100ms", **more: Any) -> Iterator[Exporter]:
    with open_folder() as folder, Exporter(folder, "--interval", interval, *arguments, scenario=scenario, **more) as agent:
        wait_for(agent.scrape, "an answer over HTTP")
        yield agent


def read_strictly(text: str) -> dict[Series, float]:
    """By the reference parser of OpenMetrics."""
    found: dict[Series, float] = {}
    for family in openmetrics.text_string_to_metric_families(text):
        for sample in family.samples:
            found[sample.name, frozenset(sample.labels.items())] = sample.value
    return found


@needs_promtool
@pytest.mark.parametrize("scenario", [s for s in SCENARIOS if s != "mismatch"])
def test_promtool_and_the_parser_of_openmetrics_find_nothing(scenario: str) -> None:
    with exporting(scenario, "--process-metrics") as agent:
        agent.wait_samples(3)
        text = agent.scrape()
        assert promtool_says(text) == ""
        open_text, kind = fetch(f"http://{agent.address}/metrics", PROMETHEUS_ACCEPT)
        assert kind == "application/openmetrics-text; version=1.0.0; charset=utf-8"
        assert fetch(f"http://{agent.address}/metrics")[1] == "text/plain; version=0.0.4; charset=utf-8"
        names = {name for name, _ in parse(text)}
        found = {name for name, _ in read_strictly(open_text)}
        assert found == names
        assert {"gpulse_up", "gpulse_busy_seconds_total", "gpulse_self_call_seconds_total"} <= names


def test_labels_are_few_and_none_is_the_scrapers_own() -> None:
    with exporting("eight", "--process-metrics") as agent:
        agent.wait_samples(2)
        extra = {"gpulse_gpu_info", "gpulse_gpu_owner_info"}
        for name, labels in agent.series():
            keys = {key for key, _ in labels}
            assert not keys & {"job", "instance", "pod", "namespace", "container", "service", "cluster"}, name
            if "gpu" in keys and name not in extra:
                assert keys <= {"gpu", "uuid", "vendor"} | {"state", "reason", "xid"}, name
        # A word more only where it says what the number is of.
        with_reason = {name for name, labels in agent.series() if "reason" in dict(labels)}
        assert with_reason == {"gpulse_throttled_seconds_total"}


BURST = """
[[device]]
profile = "h200"
power_w = 300
gpu_util = { steps = [[0, 0], [BEGIN, 100], [END, 0]], period = PERIOD }
event_reasons = { steps = [[0, 0], [BEGIN, 4], [END, 0]], period = PERIOD }
"""


def see_burst(folder: Path, seconds: float, every: float, agent_interval: str, scrape_seconds: float) -> None:
    """A burst now and then: between two scrapes that both saw nothing the counters have grown by it."""
    scenario = folder / "burst.toml"
    times = {"BEGIN": f"{every - seconds:g}", "END": f"{every:g}", "PERIOD": f"{every:g}"}
    scenario.write_text(re.sub("BEGIN|END|PERIOD", lambda found: times[found[0]], BURST))
    families = ("gpulse_gpu_utilization_ratio", "gpulse_busy_seconds_total", "gpulse_throttled_seconds_total")
    with exporting(scenario, interval=agent_interval) as agent, prometheus(folder, agent.address, f"{scrape_seconds:g}s") as engine:

        def growth() -> list[float]:
            """Between the first two scrapes that have a burst between them, and did not see it."""
            if len(engine.query("gpulse_up")) == 0:
                return []
            gauge, busy = (engine.range(f'{family}{{gpu="0"}}') for family in families[:2])
            held = engine.range(f'{families[2]}{{gpu="0",reason="power cap"}}')
            for i in range(1, min(len(gauge), len(busy), len(held))):
                if busy[i][1] > busy[i - 1][1] and gauge[i - 1][1] == gauge[i][1] == 0:
                    return [busy[i][1] - busy[i - 1][1], held[i][1] - held[i - 1][1]]
            return []

        grown = wait_for(growth, "a burst between two scrapes", 10 + 4 * (scrape_seconds + every))
        assert grown == pytest.approx([seconds, seconds], abs=0.35 * seconds)
        assert engine.value('gpulse_gpu_utilization_peak_ratio{gpu="0"}') == 1


@needs_prometheus
def test_a_burst_between_two_scrapes_is_in_the_counters(tmp_path: Path) -> None:
    """Of 2 seconds between scrapes a minute apart, at fifteen times the speed."""
    see_burst(tmp_path, 0.4, 6, "50ms", 4)


@needs_prometheus
@pytest.mark.skipif(not os.environ.get("GPULSE_LONG_TESTS"), reason="takes minutes: GPULSE_LONG_TESTS=1")
def test_a_burst_of_two_seconds_between_scrapes_a_minute_apart(tmp_path: Path) -> None:
    see_burst(tmp_path, 2, 90, "1s", 60)


def numbers_are_the_simulators(engine: Engine) -> None:
    wait_for(lambda: len(engine.query("gpulse_sm_active_ratio")) == 8, "eight GPUs", 30)
    for name, value in [
        ("gpulse_gpu_utilization_ratio", 0.57),
        ("gpulse_power_draw_watts", 412.5),
        ("gpulse_temperature_gpu_celsius", 63),
        ("gpulse_sm_active_ratio", pytest.approx(0.3125, abs=0.001)),
    ]:
        assert [found for _, found in engine.query(name)] == [value] * 8, name
    assert engine.value("sum(gpulse_gpus)") == 8
    assert engine.value("gpulse_up") == 1
    joined = engine.query("gpulse_power_draw_watts * on (uuid) group_left (name) gpulse_gpu_info")
    assert len(joined) == 8 and all(labels["name"] == "NVIDIA H200" for labels, _ in joined)

    def samples() -> list[tuple[float, float]]:
        found = engine.range('gpulse_busy_seconds_total{gpu="3"}')
        return found if len(found) > 4 else []

    counted = wait_for(samples, "counters that grow", 20)
    assert counted[-1][1] - counted[0][1] == pytest.approx(0.57 * (counted[-1][0] - counted[0][0]), rel=0.15)


@needs_prometheus
def test_prometheus_scrapes_it(tmp_path: Path, steady: Path) -> None:
    rules = tmp_path / "gpulse.rules.yml"
    rules.write_text(gpulse("rules", "--format", "prometheus").out)
    with exporting(steady) as agent, prometheus(tmp_path, agent.address, "1s", rules) as engine:
        numbers_are_the_simulators(engine)
        [target] = engine.get("targets")["activeTargets"]
        assert target["health"] == "up" and target["lastError"] == ""
        # It understood what the families are.
        metadata = engine.get("metadata", limit="10000")
        assert metadata["gpulse_busy_seconds"][0]["type"] == "counter"
        assert metadata["gpulse_busy_seconds"][0]["unit"] == "seconds"
        [group] = engine.get("rules")["groups"]
        wait_for(lambda: all(rule["health"] != "unknown" for rule in engine.get("rules")["groups"][0]["rules"]), "the rules", 90)
        assert {rule["health"] for rule in engine.get("rules")["groups"][0]["rules"]} == {"ok"}
        board = gpulse("rules", "--format", "grafana").json
        for panel in board["panels"]:
            for asked in panel.get("targets", []):
                text = asked["expr"].replace("$__rate_interval", "1m").replace("$host", ".*").replace("$gpu", ".*")
                engine.query(text)


@needs_victoria
def test_victoria_metrics_scrapes_it(tmp_path: Path, steady: Path) -> None:
    with exporting(steady) as agent, victoria_metrics(tmp_path, agent.address) as engine:
        numbers_are_the_simulators(engine)


LOST = """
[[device]]
profile = "h200"
count = 2

[[device]]
profile = "h200"
lost = [[2, 1000000]]

[[event]]
time = 2
device = 2
type = "xid"
data = 79
"""


def test_a_lost_gpus_series_end_and_its_error_stays(tmp_path: Path) -> None:
    path = tmp_path / "lost.toml"
    path.write_text(LOST)
    with exporting(path) as agent:
        assert agent.value("gpulse_power_draw_watts", gpu="2") is not None
        wait_for(lambda: agent.value("gpulse_gpu_state", gpu="2", state="lost") == 1, "the loss", 20)
        wait_for(lambda: agent.value("gpulse_xid_errors_total", gpu="2", xid="79") == 1, "the error", 20)
        series = agent.series()
        left = {name for name, labels in series if dict(labels).get("gpu") == "2"}
        assert left == {"gpulse_gpu_info", "gpulse_gpu_state", "gpulse_xid_errors_total", "gpulse_xid_last_timestamp_seconds"}
        assert abs((agent.value("gpulse_xid_last_timestamp_seconds", xid="79") or 0) - time.time()) < 60
        assert agent.value("gpulse_power_draw_watts", gpu="0") is not None


def test_old_values_are_not_served_as_new() -> None:
    """A hung driver does not stop the samples; an agent whose sampler stands still is found out."""
    with exporting(interval="200ms") as agent:
        agent.wait_samples(2)
        before = agent.value("gpulse_busy_seconds_total") or 0
        os.kill(agent.pid, signal.SIGSTOP)
        time.sleep(5)
        os.kill(agent.pid, signal.SIGCONT)
        agent.wait_samples(2)
        grown = (agent.value("gpulse_busy_seconds_total") or 0) - before
        assert grown < 2.5, "the five seconds in between add nothing"
        assert agent.value("gpulse_self_late_peak_seconds") == pytest.approx(4.8, abs=1.5)


def test_a_release_ends_the_readings() -> None:
    with exporting() as agent:
        agent.wait_samples(2)
        assert agent.value("gpulse_self_released") == 0
        assert agent.run("agent", "release", "30s").code == 0
        wait_for(lambda: agent.value("gpulse_self_released") == 1, "the release")
        assert agent.value("gpulse_power_draw_watts") is None
        assert agent.value("gpulse_up") == 1 and agent.value("gpulse_gpus") == 0
        assert agent.run("agent", "resume").code == 0
        wait_for(lambda: agent.value("gpulse_power_draw_watts"), "the GPU")


HOLDERS = """
[[device]]
profile = "h200"

[[process]]
device = 0
pid = {pid}
memory_mib = 1000
"""


def test_processes_are_opt_in_and_without_their_command_lines(tmp_path: Path) -> None:
    with sleeper(SLURM_JOB_ID="4242") as process:
        path = tmp_path / "holders.toml"
        path.write_text(HOLDERS.format(pid=process.pid))
        with exporting(path) as agent:
            wait_for(lambda: "gpulse_gpu_owner_info{" in agent.scrape(), "the owner")
            assert 'pid="' not in agent.scrape()
        with exporting(path, "--process-metrics") as agent:
            wait_for(lambda: 'name="sleep"' in agent.scrape(), "the process")
            text = agent.scrape()
            assert agent.value("gpulse_process_gpu_memory_bytes", pid=str(process.pid), name="sleep") == 1000 * 2**20
            assert "1000\"" not in text, "no argument of it"


def field(number: int, content: bytes | str) -> bytes:
    """As protobuf writes a text or a message within."""
    content = content.encode() if isinstance(content, str) else content
    size, rest = b"", len(content)
    while rest > 0x7F:
        size, rest = size + bytes([rest & 0x7F | 0x80]), rest >> 7
    return bytes([number << 3 | 2]) + size + bytes([rest]) + content


def pod(name: str, namespace: str, container: str, *ids: str) -> bytes:
    devices = field(1, "nvidia.com/gpu") + b"".join(field(2, one) for one in ids)
    return field(1, field(1, name) + field(2, namespace) + field(3, field(1, container) + field(2, devices)))


@contextmanager
def kubelet(socket: Path, answer: list[bytes]) -> Iterator[list[str]]:
    """A gRPC server of Google's that lists these pods; what it was asked."""
    asked: list[str] = []

    def lists(_request: bytes, _context: object) -> bytes:
        asked.append("List")
        return b"".join(answer)

    handler = grpc.method_handlers_generic_handler("v1.PodResourcesLister", {"List": grpc.unary_unary_rpc_method_handler(lists)})
    server = grpc.server(futures.ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((handler,))
    assert server.add_insecure_port(f"unix:{socket}") == 1
    server.start()
    try:
        yield asked
    finally:
        server.stop(0).wait()


def test_the_kubelet_says_which_pod_has_the_gpu() -> None:
    [uuid] = [device["uuid"] for device in gpulse("--json", "--fast", scenario="single").json["devices"]]
    answer = [pod(f"filler-{i}", "x", "c", *(f"nic-{i}-{k}" for k in range(50))) for i in range(100)]
    answer.append(pod('train"0\n\\', "research", "main", uuid))
    with open_folder() as folder, kubelet(folder / "kubelet.sock", answer) as asked:
        with exporting("single", "--pod-resources", folder / "kubelet.sock") as agent:
            wait_for(lambda: 'gpu_namespace="research"' in agent.scrape(), "the pod")
            owners = [dict(labels) for name, labels in agent.series() if name == "gpulse_gpu_owner_info"]
            assert {"uuid": uuid, "gpu_pod": 'train"0 \\', "gpu_namespace": "research", "gpu_container": "main"} in owners
            assert promtool_says(agent.scrape()) == "" and read_strictly(agent.scrape(PROMETHEUS_ACCEPT))
            agent.wait_samples(20)
            assert len(asked) == 1, "every ten seconds, whoever scrapes"


def test_a_kubelet_that_is_none_is_said_once(tmp_path: Path) -> None:
    with open_folder() as folder:
        with exporting("single", "--pod-resources", folder / "kubelet.sock") as agent:
            agent.wait_log("the kubelet does not tell which pod has which GPU")
            assert agent.value("gpulse_up") == 1


@contextmanager
def listening(path: Path, answer: bytes | None) -> Iterator[None]:
    """Somebody who is no kubelet: answers with these bytes, or not at all."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()
    held: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            if answer is None:
                held.append(client)
                continue
            with contextlib.suppress(OSError):
                client.sendall(answer)
            client.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join()
        for client in held:
            client.close()


@pytest.mark.parametrize(
    "answer, why",
    [
        pytest.param(None, "no answer in time", id="silent"),
        pytest.param(b"", "the connection broke", id="gone"),
        pytest.param(b"HTTP/1.1 400 Bad Request\r\n\r\n", "the connection broke", id="http1"),
        pytest.param(random.Random(1).randbytes(100_000), "the connection broke", id="noise"),
    ],
)
def test_somebody_who_is_no_kubelet_does_no_harm(answer: bytes | None, why: str) -> None:
    with open_folder() as folder, listening(folder / "kubelet.sock", answer):
        with exporting("single", "--pod-resources", folder / "kubelet.sock") as agent:
            agent.wait_log(f"the kubelet does not tell which pod has which GPU: {why}")
            assert agent.value("gpulse_up") == 1


def test_a_kubelet_that_refuses_is_quoted() -> None:
    with open_folder() as folder:
        server = grpc.server(futures.ThreadPoolExecutor(1))
        server.add_insecure_port(f"unix:{folder}/kubelet.sock")
        server.start()
        try:
            with exporting("single", "--pod-resources", folder / "kubelet.sock") as agent:
                agent.wait_log("the kubelet does not tell which pod has which GPU: refused: Method not found!")
        finally:
            server.stop(0).wait()


def test_the_page_names_what_there_is() -> None:
    """docs/prometheus.md speaks of no family that nobody has."""
    text = (ROOT / "docs" / "prometheus.md").read_text()
    named = set(re.findall(r"gpulse_[a-z0-9_]*[a-z0-9]", text))
    metrics = gpulse("explain", "--all", "--json").json["metrics"]
    known = {m["prometheus"] for m in metrics if m["prometheus"]}
    known |= set(re.findall(r'"(gpulse_\w+)"', (ROOT / "src" / "view" / "families.hpp").read_text()))
    markdown = gpulse("explain", "--markdown").out
    known |= set(re.findall(r"gpulse_\w+", markdown))
    prefixes = {"gpulse_host", "gpulse_process", "gpulse_self"}
    assert named - known - prefixes == set()
