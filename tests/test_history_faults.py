"""What goes wrong around an agent's history: it goes on sampling, says so once, and goes on writing by itself. The
faults that need no agent are in src/history."""

from __future__ import annotations

import re
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from agent import Agent, needs_root, wait_for
from harness import BUILD

SLOW_DISK = BUILD / "tests" / "slow_disk.so"


@contextmanager
def small_disk(folder: Path, *options: str) -> Iterator[Path]:
    """A disk of its own, which can be made larger or read-only."""
    needs_root()
    disk = folder / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", disk], check=False).returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


def remount(disk: Path, *options: str) -> None:
    subprocess.run(["mount", "-o", ",".join(["remount", *options]), disk], check=True)


def kept(file: Path) -> list[float]:
    """When the samples were taken that are not packed yet, in seconds since 1970."""
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return [time / 1e9 for (time,) in database.execute("SELECT time FROM raw_tail ORDER BY id")]


def wait_kept(agent: Agent, samples: int) -> None:
    wait_for(lambda: agent.status()["history"]["samples"] >= samples, f"{samples} kept samples: {agent.log}")


def complaints(agent: Agent) -> list[str]:
    return re.findall(r"^gpulse: history: .*$", agent.log, re.M)


def test_a_kill_costs_a_second_at_most(place: Path) -> None:
    with Agent(place) as agent:
        wait_kept(agent, 3)
        time.sleep(0.5)
        agent.end(signal.SIGKILL)
        ended = time.time()
    times = kept(place / "history.db")
    assert ended - times[-1] < 1.2
    assert all(later - earlier < 1.5 for earlier, later in zip(times, times[1:], strict=False))
    with Agent(place) as agent:
        wait_kept(agent, 1)
        agent.end()
    with closing(sqlite3.connect(place / "history.db")) as database:
        packed = database.execute("SELECT sum(samples) FROM raw").fetchone()[0]
    assert packed == len(times)


def test_a_disk_that_hangs_delays_no_sample_and_not_the_end(place: Path) -> None:
    if not SLOW_DISK.exists():
        pytest.skip("make test builds the library that stands for a slow disk")
    sign = place / "hangs"
    with Agent(place, LD_PRELOAD=str(SLOW_DISK), GPULSE_SLOW_DISK=str(sign)) as agent:
        wait_kept(agent, 1)
        with agent.start_watch("--json", "--watch", "1") as watch:
            watch.wait_samples(1)
            sign.touch()
            begun = time.monotonic()
            watch.wait_more(5)
            assert time.monotonic() - begun < 6.5
            assert agent.status()["history"]["lost"] == 0
            sign.unlink()
            wait_kept(agent, 6)
            assert agent.status()["history"]["lost"] == 0
        assert complaints(agent) == []
        sign.touch()
        agent.wait_samples(2)
        begun = time.monotonic()
        assert agent.end() == 0
        # systemd gives it ten seconds.
        assert time.monotonic() - begun < 7
        assert len(complaints(agent)) == 1
        assert f"the disk of {place}/history.db does not answer" in complaints(agent)[0]


def test_a_disk_that_is_nearly_full_is_left_to_others(place: Path) -> None:
    with small_disk(place, "size=8m") as disk, Agent(place, "--history", disk / "history.db") as agent:
        words = f"the disk of {disk}/history.db is nearly full: make room on it"
        agent.wait_log(words)
        before = sum(file.stat().st_size for file in disk.iterdir())
        agent.wait_samples(3)
        assert sum(file.stat().st_size for file in disk.iterdir()) == before
        assert agent.status()["history"]["problem"] == words
        assert f"problem   {words}\n" in agent.run("agent", "status").out
        remount(disk, "size=1g")
        agent.wait_log("is written again", 20)
        assert agent.status()["history"]["problem"] is None
        assert len(complaints(agent)) == 2
        assert agent.status()["history"]["samples"] >= 3


def test_a_read_only_disk_is_tried_again(place: Path) -> None:
    with small_disk(place, "size=1g", "ro") as disk, Agent(place, "--history", disk / "history.db") as agent:
        agent.wait_log(f"history: {disk}/history.db cannot be written: Read-only file system")
        agent.wait_samples(2)
        assert len(complaints(agent)) == 1
        remount(disk, "rw")
        agent.wait_log("is written again", 20)
        wait_kept(agent, 3)


def test_what_is_not_ours_is_refused(place: Path) -> None:
    file = place / "history.db"
    with closing(sqlite3.connect(file)) as other:
        other.execute("CREATE TABLE bookmarks(url)")
        other.commit()
    before = file.read_bytes()
    with Agent(place) as agent:
        agent.wait_log(f"history: {file} is a database of another program: name another file with --history")
        agent.wait_samples(1)
        assert agent.end() == 0
    assert file.read_bytes() == before


def test_a_damaged_one_is_kept_aside(place: Path) -> None:
    file = place / "history.db"
    with Agent(place) as agent:
        wait_kept(agent, 1)
        agent.end()
    damaged = file.read_bytes()[:5000]
    file.write_bytes(damaged)
    with Agent(place) as agent:
        agent.wait_log(f"history: {file} is damaged: it is kept as {file}.damaged, and a new one begins")
        wait_kept(agent, 1)
        agent.end()
    assert (place / "history.db.damaged").read_bytes() == damaged
