"""gpulse run: the job is left alone, its exit status is ours, and the report says what it did with the GPUs."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from agent import wait_for
from harness import GPULSE, MIB, Result, environment, gpulse, only_line

# The driver that the job itself makes: the simulator waits for the scenario, which names the job's own number.
ON_A_GPU = """
[[device]]
profile = "h200"
count = 2
gpu_util = {{ steps = [[0, 0], [1, 60]] }}
memory_used_mib = 40000
power_w = 500
[device.gpm]
smutil = 42
[[process]]
device = 1
pid = {pid}
memory_mib = {memory}
sm = 30
[[process]]
device = 1
pid = 1
memory_mib = 3000
"""


def run(*arguments: str | Path, **more: Any) -> Result:
    return gpulse("run", *arguments, **more)


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    path = tmp_path / "scenario"
    os.mkfifo(path)
    return path


def on_gpu(machine: Path, then: str, pid: str = "os.getpid()", memory: int = 20000) -> list[str]:
    """A job that is on GPU 1 as long as it lives."""
    program = f"import os, sys, time; text = {ON_A_GPU!r}; open({str(machine)!r}, 'w').write(text.format(pid={pid}, memory={memory})); {then}"
    return [sys.executable, "-c", program]


@pytest.mark.parametrize("script, code", [("exit 0", 0), ("exit 3", 3), ("kill -SEGV $$", 128 + signal.SIGSEGV), ("kill -KILL $$", 137)])
def test_the_exit_code_is_the_job_s(script: str, code: int, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    result = run("--json", report, "--", "sh", "-c", script, scenario="single")
    assert (result.code, result.out) == (code, "")
    said = json.loads(report.read_text())
    assert said["schema"] == "gpulse.run/1"
    assert (said["exit_code"], said["signal"]) == (code, code - 128 if code > 128 else None)
    assert {0: "ended well", 3: "failed with exit code 3", 139: "signal 11 (SEGV)", 137: "signal 9 (KILL)"}[code] in result.err


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    result = run("--html", tmp_path / "report.html", "--", "no-such-program", scenario="single")
    assert result.code == 127
    assert only_line(result.err) == "gpulse: cannot run no-such-program: there is no such program"
    assert list(tmp_path.iterdir()) == []
    for words in ((), ("--",), ("true",), ("--price", "cheap", "--", "true")):
        result = run(*words, scenario="single")
        assert result.code == 2 and result.err.startswith("gpulse: ") and only_line(result.err)


def test_the_streams_are_the_job_s(tmp_path: Path) -> None:
    payload = bytes(range(256)) * 1000
    command = [str(GPULSE), "run", "--", sys.executable, "-c", "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"]
    done = subprocess.run(command, env=environment("single"), input=payload, capture_output=True, timeout=60)
    assert done.stdout == payload
    assert run("-q", "--", "sh", "-c", "echo out; echo err >&2", scenario="single") == Result(0, "out\n", "err\n")
    # JSON comes behind what the job wrote.
    lines = run("-q", "--json", "-", "--", "echo", "trained", scenario="single").lines
    assert lines[0] == "trained" and json.loads(lines[1])["exit_code"] == 0


def test_a_job_that_uses_no_gpu() -> None:
    result = run("--", "sleep", "0.6", scenario="eight")
    assert [line for line in result.err.splitlines() if "it used no GPU" in line]
    assert "problem" not in result.err


def test_a_machine_without_a_gpu() -> None:
    result = run("--", "sh", "-c", "sleep 0.6; exit 5")
    assert result.code == 5
    assert result.err.count("no GPU found") == 1


def test_the_numbers_are_those_of_the_scenario(machine: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    busy = "end = time.process_time() + 0.8\nwhile time.process_time() < end: pass\ntime.sleep(2)"
    command = on_gpu(machine, f"exec({busy!r})")
    result = run("--json", report, "--price", "0.30 EUR", "--", *command, scenario=machine)
    assert result.code == 0
    said = json.loads(report.read_text())
    assert 2.8 <= said["duration_seconds"] <= 10
    (gpu,) = said["gpus"]
    assert (gpu["id"], gpu["name"], gpu["assumed"], gpu["shared"]) == ("1", "NVIDIA H200", False, True)
    assert 2 <= gpu["on_it_seconds"] <= said["duration_seconds"]
    assert gpu["activity_mean_percent"] == pytest.approx(42, abs=5)
    # The job's own, because another process is there too.
    assert gpu["utilization_mean_percent"] == pytest.approx(30, abs=5)
    assert gpu["memory_peak_bytes"] == 20000 * MIB
    assert gpu["power_mean_watts"] == pytest.approx(500, abs=1)
    # 500 W all the time: two seconds at the least, and at most two more than it ran.
    energy = said["energy"]
    assert energy["least_joules"] <= 500 * gpu["on_it_seconds"] <= energy["most_joules"]
    assert 500 <= energy["least_joules"] and energy["most_joules"] <= 500 * (said["duration_seconds"] + 3)
    assert energy["cost"] == pytest.approx(energy["joules"] / 3.6e6 * 0.30)
    assert energy["currency"] == "EUR"
    assert 0.8 <= said["host"]["cpu_seconds"] <= 3
    assert said["host"]["memory_peak_bytes"] > 1e6
    (other,) = said["others"]
    assert (other["pid"], other["gpu"], other["memory_peak_bytes"]) == (1, "1", 3000 * MIB)
    assert "H200" in result.err and " EUR" in result.err


TRAINING = 'trap "echo saved; exit 9" {}; echo ready; n=0; while [ $n -lt 300 ]; do n=$((n+1)); sleep 0.05; done'


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP", "USR1"])
def test_a_signal_reaches_the_job(name: str) -> None:
    command = [str(GPULSE), "run", "--", "sh", "-c", TRAINING.format(name)]
    with subprocess.Popen(command, env=environment("single"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        process.send_signal(getattr(signal, f"SIG{name}"))
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (9, "saved\n")
    assert "failed with exit code 9" in err


def test_what_a_job_leaves_behind_is_told(machine: Path, tmp_path: Path) -> None:
    """A daemon leaves the tree, the session and its parents, and is the one on the GPU."""
    marker = tmp_path / "pid"
    daemon = on_gpu(machine, f"open({str(marker)!r}, 'w').write(str(os.getpid())); time.sleep(100)")
    # Both forks are over long before a sample comes.
    outer = f"import os, time\nif os.fork() == 0:\n  os.setsid(); null = os.open('/dev/null', os.O_RDWR); [os.dup2(null, n) for n in range(3)]\n  if os.fork() == 0: os.execv({daemon[0]!r}, {daemon!r})\n  os._exit(0)\nos.wait(); time.sleep(2)"
    report = tmp_path / "report.json"
    try:
        result = run("--json", report, "--", sys.executable, "-c", outer, scenario=machine)
        assert result.code == 0
        said = json.loads(report.read_text())
        assert [gpu["id"] for gpu in said["gpus"]] == ["1"]
        assert said["host"]["processes_left"] == 1
        assert "1 process of the job still runs" in result.err
    finally:
        wait_for(marker.exists, "the daemon's number")
        os.kill(int(marker.read_text()), signal.SIGKILL)


def test_a_driver_that_hangs_delays_nothing(scenario: Any) -> None:
    path = scenario('[[device]]\nprofile = "h100"\n[[fault]]\ncall = "*"\nhang = true\n')
    begun = time.monotonic()
    result = run("--", "sh", "-c", "sleep 0.5; exit 4", scenario=path)
    assert result.code == 4
    assert time.monotonic() - begun < 4


def test_a_job_that_dies_with_its_memory_full(machine: Path, tmp_path: Path) -> None:
    text = ON_A_GPU.replace("memory_used_mib = 40000", "memory_used_mib = {{ steps = [[0, 4000], [1, 142000]] }}")
    command = on_gpu(machine, "time.sleep(2.5); sys.exit(1)", memory=137000)
    command[2] = command[2].replace(repr(ON_A_GPU), repr(text))
    result = run("--json", tmp_path / "report.json", "--", *command, scenario=machine)
    assert result.code == 1
    said = json.loads((tmp_path / "report.json").read_text())
    assert said["verdict"] == "out-of-memory"
    assert said["findings"][0]["devices"] == ["1"] and said["findings"][0]["advice"]
    assert "out-of-memory" in result.err


class Page(HTMLParser):
    """Notes what a browser would fetch or run, and that every element is closed."""

    EMPTY = {"meta", "line", "rect", "path", "br"}

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [str(value) for name, value in attrs if name in ("src", "href", "xlink:href", "data") or name.startswith("on")]
        assert tag not in ("script", "link", "iframe", "object", "img", "b0ld")
        if tag not in self.EMPTY or tag == "rect":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_page_needs_nothing_else_and_escapes_everything(machine: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    hostile = "</title><b0ld onclick=x>&\"'\x1b[31m"
    command = on_gpu(machine, "time.sleep(1.5)")
    assert run("--html", report, "--", *command, hostile, scenario=machine).code == 0
    text = report.read_text()
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == [] and page.links == []
    assert not re.search(r"https?://|url\(|@import|\x1b", text)
    assert any("<b0ld onclick=x>&\"'" in piece for piece in page.texts)
    assert "NVIDIA H200" in text and "<svg" in text and "prefers-color-scheme" in text
    # A report of ours is replaced, anything else is not.
    assert run("--html", report, "--", "true", scenario="single").code == 0
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    for option in ("--html", "--json"):
        refused = run(option, notes, "--", "touch", tmp_path / "ran", scenario="single")
        assert refused.code == 1 and "--force overwrites it" in only_line(refused.err)
    assert notes.read_text() == "mine" and not (tmp_path / "ran").exists()
    assert run("--force", "--json", notes, "--", "true", scenario="single").code == 0
    assert json.loads(notes.read_text())["exit_code"] == 0


def test_a_report_that_cannot_be_written_costs_the_job_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "reports"
    folder.mkdir()
    result = run("--html", folder / "a.html", "--", "sh", "-c", f"rmdir {folder}; exit 6", scenario="single")
    assert result.code == 6
    assert "gpulse: cannot write" in result.err


def test_options_come_from_the_configuration(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f'[run]\nquiet = true\njson = "{tmp_path}/report.json"\n')
    result = gpulse("--config", config, "run", "--", "true", scenario="single")
    assert result == Result(0, "", "")
    assert (tmp_path / "report.json").exists()
