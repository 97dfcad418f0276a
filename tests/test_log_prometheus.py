"""gpulse log --format prometheus: what promtool accepts and node_exporter serves is what was measured, and is now."""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import stat
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agent import wait_for
from harness import GPULSE, ROOT, SCENARIOS, Result, environment, gpulse, only_line
from prometheus_text import parse, promtool_says

needs_promtool = pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool, of Debian's prometheus")


def log(*arguments: str | Path, **more: Any) -> Result:
    return gpulse("log", "--format", "prometheus", *arguments, **more)


def one_sample(*arguments: str | Path, **more: Any) -> str:
    done = log("--count", "1", *arguments, **more)
    assert done.code in (0, 3), done.err
    return done.out


@needs_promtool
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_promtool_finds_nothing(scenario: str) -> None:
    text = one_sample(scenario=scenario)
    assert parse(text)
    assert promtool_says(text) == ""


FIXTURES = ROOT.parent / "shared" / "fixtures"


@needs_promtool
def test_promtool_finds_nothing_on_recorded_machines() -> None:
    """Cards of AMD and Intel as somebody has recorded them, and logs of nvidia-smi of all ages."""
    machines = [path for path in sorted(FIXTURES.glob("drm/*")) if (path / "sys").is_dir()]
    logs = [ROOT / "tests" / "data" / "workloads" / "jobs.gpr", *sorted(FIXTURES.glob("nvidia-smi/xml/*.xml"))]
    texts = {path: one_sample("--sysroot", path, "--source", "auto") for path in machines}
    texts |= {path: one_sample("--replay", path) for path in logs}
    for path, text in texts.items():
        assert promtool_says(text) == "", path
    assert not FIXTURES.exists() or len(texts) > 20


@pytest.fixture(scope="module")
def metrics() -> list[dict[str, Any]]:
    return gpulse("explain", "--all", "--json").json["metrics"]


@needs_promtool
def test_promtool_likes_every_name(metrics: list[dict[str, Any]]) -> None:
    # Details are no part of a sample.
    shown = [m for m in metrics if m["prometheus"] and m["scope"] != "detail"]
    heads = {m["prometheus"]: "counter" if m["kind"] == "counter" else "gauge" for m in shown}
    assert len(heads) > 200
    assert promtool_says("".join(f"# HELP {name} x\n# TYPE {name} {kind}\n{name} 1\n" for name, kind in heads.items())) == ""


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory, metrics: list[dict[str, Any]]) -> Path:
    """A recording of two devices that has a number for everything there is."""
    path = tmp_path_factory.mktemp("recording") / "everything.csv"
    numbers = [m for m in metrics if m["scope"] in ("device", "host") and m["kind"] in ("gauge", "counter")]
    titles = ["host." * (m["scope"] == "host") + m["key"] for m in numbers]
    lines = [",".join(["time", "index", "uuid", "name", *titles])]
    for index in range(2):
        lines.append(",".join(["2026-11-15T02:30:00.250Z", str(index), f"GPU-{index}", "Made Up", *(["57"] * len(titles))]))
    path.write_text("\n".join(lines) + "\n")
    return path


@needs_promtool
def test_every_family_of_the_table_passes(everything: Path, metrics: list[dict[str, Any]]) -> None:
    text = one_sample("--replay", everything)
    assert promtool_says(text) == ""
    found = {name for name, _ in parse(text)}
    wanted = {m["prometheus"] for m in metrics if m["scope"] in ("device", "host") and m["kind"] in ("gauge", "counter")}
    # What no hardware can have is no reading: a width, a share above 1 of something.
    assert len(wanted - found) < 0.1 * len(wanted), sorted(wanted - found)


def test_values_are_those_of_json_in_base_units(metrics: list[dict[str, Any]], tmp_path: Path) -> None:
    recording = tmp_path / "one.gpr"
    assert gpulse("record", "-o", recording, "--count", "2", "--interval", "200ms", scenario="eight").code == 0
    line = gpulse("log", "--replay", recording, "--format", "jsonl", "--count", "1").json
    series = parse(one_sample("--replay", recording))
    by_key = {(m["scope"], m["key"]): m for m in metrics}
    factor = {"percent": 0.01, "megahertz": 1e6, "bits": 1 / 8}
    compared = 0
    for device in line["devices"]:
        labels = {("gpu", device["id"]), ("uuid", device["uuid"]), ("vendor", "nvidia")}
        for key, value in device["metrics"].items():
            metric = by_key["device", key]
            name = metric["prometheus"]
            if metric["kind"] == "set":
                words = {dict(found)["state"]: number for (family, found), number in series.items() if family == name and labels < found}
                assert {word for word, number in words.items() if number == 1} == set(value or []) and len(words) > 10
            elif value is None:
                assert (name, frozenset(labels)) not in series, "what could not be read has no series"
            elif metric["kind"] in ("gauge", "counter"):
                assert series[name, frozenset(labels)] == pytest.approx(value * factor.get(metric["unit"], 1), rel=1e-12)
                compared += 1
    for key, value in line["host"].items():
        metric = by_key.get(("host", key))
        assert metric is None or value is None or series[metric["prometheus"], frozenset()] == pytest.approx(value * factor.get(metric["unit"], 1))
    assert compared > 8 * 50
    assert series["gpulse_gpus", frozenset()] == 8


def test_an_instance_is_a_device_of_its_own() -> None:
    infos = [dict(labels) for name, labels in parse(one_sample(scenario="mig")) if name == "gpulse_gpu_info"]
    uuids = {info["gpu"]: info["uuid"] for info in infos}
    instances = [info for info in infos if ":" in info["gpu"]]
    assert instances
    for info in instances:
        assert info["parent"] == uuids[info["gpu"].split(":")[0]] and info["profile"]


@contextmanager
def logging_to(path: Path, interval: str = "20ms") -> Iterator[subprocess.Popen[str]]:
    command = [GPULSE, "log", "--format", "prometheus", "-o", path, "--interval", interval]
    before = path.stat().st_mtime_ns if path.exists() else 0
    with subprocess.Popen(command, env=environment("eight"), stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_for(lambda: path.exists() and path.stat().st_mtime_ns > before, "the file")
            yield process
        finally:
            process.kill()


def test_a_reader_always_finds_one_whole_sample(tmp_path: Path) -> None:
    path = tmp_path / "gpus.prom"
    before = os.umask(0o077)
    try:
        with logging_to(path):
            assert stat.S_IMODE(path.stat().st_mode) == 0o644, "for the user of node_exporter"
            texts = {path.read_text() for _ in range(3000)}
    finally:
        os.umask(before)
    assert len(texts) > 3
    families = {frozenset(parse(text)) for text in texts}
    assert len(families) <= 2, "the same series in each, but for rates in the first"


def test_a_kill_leaves_one_temporary_file_at_the_most(tmp_path: Path) -> None:
    chance = random.Random(1)
    path = tmp_path / "gpus.prom"
    for _ in range(5):
        with logging_to(path, "10ms") as process:
            time.sleep(chance.uniform(0, 0.03))
            process.kill()
        assert {other.name for other in tmp_path.iterdir()} <= {"gpus.prom", "gpus.prom.tmp"}
        parse(path.read_text())
    (tmp_path / "gpus.prom.tmp").write_text("# HELP gpulse_half of a")
    assert log("-o", path, "--count", "1", scenario="single").code == 0
    assert [other.name for other in tmp_path.iterdir()] == ["gpus.prom"]


def test_old_values_are_not_left_behind(tmp_path: Path) -> None:
    path = tmp_path / "gpus.prom"
    for asked in (signal.SIGINT, signal.SIGTERM):
        with logging_to(path) as process:
            refused = log("-o", path, scenario="single")
            assert refused.code == 1 and "is being written by another gpulse" in only_line(refused.err)
            process.send_signal(asked)
            _, said = process.communicate(timeout=20)
        assert process.returncode == 0
        assert only_line(said).endswith(f"in {path}, which is removed: its values would be old")
        assert list(tmp_path.iterdir()) == []
    # One that is made by a timer stays until the next.
    for _ in range(2):
        assert log("-o", path, "--count", "1", scenario="single").code == 0
        taken = parse(path.read_text())["gpulse_sample_timestamp_seconds", frozenset()]
        assert abs(taken - time.time()) < 30


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.mark.skipif(shutil.which("prometheus-node-exporter") is None, reason="needs Debian's prometheus-node-exporter")
def test_node_exporter_serves_it(tmp_path: Path) -> None:
    address = f"127.0.0.1:{free_port()}"
    command = ["prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile",
               f"--collector.textfile.directory={tmp_path}", f"--web.listen-address={address}"]  # fmt: skip

    def scrape() -> str:
        try:
            with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
                return answer.read().decode()
        except urllib.error.URLError:
            return ""

    def series(text: str) -> dict[str, float]:
        samples = (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        return {name: float(value) for name, value in samples}

    path = tmp_path / "gpus.prom"
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as exporter:
        try:
            wait_for(scrape, "node_exporter")
            with logging_to(path) as process:
                for _ in range(20):
                    served = series(scrape())
                    assert served["node_textfile_scrape_error"] == 0
                    assert served["gpulse_gpus"] == 8
                    assert abs(served["gpulse_sample_timestamp_seconds"] - time.time()) < 10
                # It sorts labels; ours are in that order.
                powers = [value for name, value in served.items() if name.startswith('gpulse_power_draw_watts{gpu="')]
                assert len(powers) == 8 and all(50 < watts < 1000 for watts in powers)
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=20)
            assert not [name for name in series(scrape()) if name.startswith("gpulse_")], "ended: no series any more"
        finally:
            exporter.kill()
