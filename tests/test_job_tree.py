"""What a GPU process and all that it has started use, on real processes."""

from __future__ import annotations

import mmap
import os
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agent import Agent, open_folder
from harness import GPULSE, environment, gpulse, run

JOB = [
    "tree_processes",
    "tree_cpu_percent",
    "tree_busy_processes",
    "tree_memory_bytes",
    "tree_read_bytes_per_second",
    "tree_write_bytes_per_second",
    "tree_disk_wait_percent",
    "tree_idle_percent",
]


@contextmanager
def job(code: str, folder: Path) -> Iterator[tuple[int, Path]]:
    """A Python program on a simulated GPU. It says "ready" when it is; everything it has started ends with it."""
    command = [sys.executable, "-c", textwrap.dedent(code)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=folder, start_new_session=True) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == b"ready\n"
            path = folder / "scenario.toml"
            path.write_text(f'[[device]]\nprofile = "h100"\n[[process]]\npid = {process.pid}\nmemory_mib = 5\n')
            yield process.pid, path
        finally:
            os.killpg(process.pid, 9)


def samples(scenario: Path, seconds: float, *more: str) -> list[dict[str, Any]]:
    """The process at each sample."""
    words = ["log", "--format", "jsonl", "--interval", "0.5", "--duration", str(seconds), *more]
    return [process for sample in gpulse(*words, scenario=scenario).json_lines for process in sample["processes"]]


LOADERS = """
    import os, time
    listen, tell = os.pipe()
    for _ in range(2):
        if os.fork() == 0:
            while True: pass
    if os.fork() == 0:
        if os.fork() == 0: time.sleep(1000)
        os.write(tell, b".")
        time.sleep(1000)
    os.read(listen, 1)
    print("ready", flush=True)
    time.sleep(1000)
"""


def cpu_seconds(group: int) -> float:
    """Of all processes of a process group, by the kernel's own count."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(words[2]) == group:
            ticks += int(words[11]) + int(words[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def test_loaders_count_to_their_process(tmp_path: Path) -> None:
    with job(LOADERS, tmp_path) as (pid, scenario):
        now = gpulse("--json", scenario=scenario).json["processes"][0]
        assert now["pid"] == pid and now["tree_processes"] == 5, "itself, two that work, one that waits and its child"
        begun, before = time.monotonic(), cpu_seconds(pid)
        told = samples(scenario, 4)
        used = 100 * (cpu_seconds(pid) - before) / (time.monotonic() - begun)
        last = told[-1]
        assert last["cpu_percent"] < 20, "it does nothing itself"
        # Two cores where the machine has nothing else to do.
        shares = [each["tree_cpu_percent"] for each in told]
        assert 0.7 * used < sum(shares) / len(shares) < 1.3 * used, (used, shares)
        assert last["tree_busy_processes"] <= 2
        assert last["tree_idle_percent"] == 60, "three of five"
        assert last["tree_memory_bytes"] > last["host_memory_bytes"] > 0
        assert not set(last["unavailable"]) & set(JOB)


def test_a_loader_whose_parent_has_ended_stays(tmp_path: Path) -> None:
    code = """
        import os, time
        listen, tell = os.pipe()
        if os.fork() == 0:
            if os.fork() == 0: time.sleep(1000)
            os.write(tell, b".")
            time.sleep(2)
            os._exit(0)
        os.read(listen, 1)
        print("ready", flush=True)
        os.wait()
        time.sleep(1000)
    """
    with job(code, tmp_path) as (_, scenario):
        counts = [each["tree_processes"] for each in samples(scenario, 5)]
    assert (counts[0], counts[-1]) == (3, 2)


def test_what_a_loader_reads_from_disk_counts(tmp_path: Path) -> None:
    # A file system in memory reads nothing from anywhere.
    if not reads_from_disk(tmp_path):
        pytest.skip("this folder is on no disk")
    code = """
        import os, time
        if os.fork() == 0:
            data = open("data", "rb")
            while True:
                os.posix_fadvise(data.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                data.seek(0)
                while data.read(1 << 20): time.sleep(0.01)
        print("ready", flush=True)
        time.sleep(1000)
    """
    with job(code, tmp_path) as (_, scenario):
        rates = [each["tree_read_bytes_per_second"] for each in samples(scenario, 3)]
    # About a MiB each 10 ms, less what a busy machine takes.
    assert rates[-1] > 1 << 20
    assert rates[-1] < 1 << 30


def reads_from_disk(folder: Path) -> bool:
    """Leaves a file of 16 MiB there."""
    data = folder / "data"
    data.write_bytes(os.urandom(16 << 20))

    def read_bytes() -> int:
        lines = Path("/proc/self/io").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("read_bytes")).split()[1])

    before = read_bytes()
    with data.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        file.read()
    return read_bytes() > before


def test_the_framework_is_told_by_its_library(tmp_path: Path) -> None:
    (tmp_path / "libtorch_cpu.so").write_bytes(b"x" * mmap.PAGESIZE)
    code = """
        import mmap, time
        with open("libtorch_cpu.so", "rb") as file: library = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        print("ready", flush=True)
        time.sleep(1000)
    """
    with job(code, tmp_path) as (_, scenario):
        assert gpulse("--json", scenario=scenario).json["processes"][0]["framework"] == "PyTorch"
        recording = tmp_path / "job.gpr"
        gpulse("record", "-o", recording, "--duration", "2", "--interval", "0.5", scenario=scenario)
    replayed = gpulse("--json", "--replay", recording).json["processes"][0]
    assert replayed["framework"] == "PyTorch"
    assert replayed["tree_processes"] == 1 and replayed["tree_cpu_percent"] >= 0


def test_a_command_that_shows_nothing_of_it_does_not_look(tmp_path: Path) -> None:
    """Neither at the libraries nor at other processes."""
    if shutil.which("strace") is None:
        pytest.skip("no strace")
    with job("import time; print('ready', flush=True); time.sleep(1000)", tmp_path) as (pid, scenario):

        def opened(*words: str) -> str:
            log = tmp_path / "calls"
            command: list[str | Path] = ["strace", "-f", "-e", "trace=openat", "-o", log, GPULSE, *words]
            assert run(command, environment(scenario)).code == 0
            return log.read_text()

        everything = opened("--json")
        assert f"/proc/{pid}/maps" in everything and '"/proc/1/stat"' in everything
        status = opened()
        assert f"/proc/{pid}/maps" not in status and f"/proc/{pid}/io" not in status
        assert '"/proc", ' not in status


def test_the_agent_tells_everybody_what_everybody_may_know(tmp_path: Path) -> None:
    """Each reader adds what it may know itself."""
    with open_folder() as folder, job(LOADERS, tmp_path) as (pid, scenario):
        with Agent(folder, "--interval", "0.3", scenario=scenario) as agent:
            agent.wait_samples(5)
            process = agent.run("--json", scenario=scenario).json["processes"][0]
            assert process["pid"] == pid and process["tree_processes"] == 5
            assert process["tree_cpu_percent"] > 20
            # Rates take two looks, which a single answer does not have; they are not somebody else's to refuse.
            assert process["unavailable"]["tree_read_bytes_per_second"] == "not sampled yet"
            log = agent.run("log", "--format", "jsonl", "--interval", "1", "--count", "4", scenario=scenario)
            last = log.json_lines[-1]["processes"][0]
            assert last["tree_read_bytes_per_second"] >= 0
