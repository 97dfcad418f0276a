"""gpulse log in files that are rotated: whatever happens meanwhile, every line is in one of them."""

from __future__ import annotations

import csv
import gzip
import random
import re
import subprocess
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from agent import needs_root
from harness import GPULSE, Result, environment, gpulse, only_line

STAMP = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z"
TITLES = "index,power_draw_watts"
LONG = f"time,uuid,name,{TITLES}"  # so that a few lines fill a file


def log(*arguments: str | Path, **more: Any) -> Result:
    return gpulse("log", *arguments, **more)


def text_of(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()


def files_of(path: Path) -> list[Path]:
    """The log and its old files, the oldest first."""
    old = [other for other in path.parent.iterdir() if re.fullmatch(rf"{path.name}\.{STAMP}(\.gz)?", other.name)]
    return [*sorted(old), *([path] if path.exists() else [])]


def numbers_in(path: Path) -> list[int]:
    """What the recording below says in each line of all the files; each has its titles once, and whole lines."""
    numbers: list[int] = []
    for file in files_of(path):
        text = text_of(file)
        # A kill can come between the making of a new file and its titles.
        if file == path and text == "":
            continue
        assert text.startswith(f"{LONG}\n") and text.endswith("\n"), (file, text[-80:])
        rows = list(csv.DictReader(text.splitlines()))
        assert not any(row["index"] == "index" for row in rows)
        numbers += [int(row["power_draw_watts"]) for row in rows]
    return numbers


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sample every 10 ms, numbered from 0 to 999 by its watts."""
    path = tmp_path_factory.mktemp("recording") / "numbers.csv"
    lines = ["time,index,uuid,name,power_draw_watts"]
    lines += [f"2026-11-15T02:30:{n // 100:02}.{n % 100:02}0Z,0,GPU-0,Made Up,{n}" for n in range(1000)]
    path.write_text("\n".join(lines) + "\n")
    return path


def wait_for_rotation(path: Path, before: int | None, seconds: float = 10) -> None:
    """Without a pause, so that what happens next can be met."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if path.stat().st_ino != before:
                return
        except FileNotFoundError:
            pass
    raise AssertionError(f"waited {seconds} s for a new file")


def test_every_line_is_in_one_file_however_often_it_is_killed(tmp_path: Path, recording: Path) -> None:
    chance = random.Random(17)
    path = tmp_path / "log.csv"
    command = [GPULSE, "log", "--replay", recording, "-o", path, "--append", "--fields", LONG, "--rotate-size", "1K",
               "--keep", "1000000", "--speed"]  # fmt: skip
    seen = 0
    for _ in range(30):
        before = path.stat().st_ino if path.exists() else None
        with subprocess.Popen([*command, "10"], env=environment(), stderr=subprocess.DEVNULL) as process:
            wait_for_rotation(path, before)
            # Half of them right behind it, while the old file is being compressed.
            time.sleep(chance.uniform(0, chance.choice([0.002, 0.05])))
            process.kill()
        # Where a file is there in both forms, they say the same.
        for file in files_of(path):
            if file.suffix == ".gz" and (plain := file.with_suffix("")).exists():
                assert text_of(file) == plain.read_text()
                plain.unlink()
        numbers = numbers_in(path)
        new = numbers[seen:]
        assert new == list(range(len(new))), "the lines of this run, from the first, each once"
        seen = len(numbers)
    assert log(*command[2:], "1000000").code == 0
    assert numbers_in(path)[seen:] == list(range(1000))
    assert not [file.name for file in files_of(path)[:-1] if file.suffix != ".gz"]
    assert len(files_of(path)) == len(list(tmp_path.iterdir())), "nothing else is left"


def test_old_files_are_named_by_time_and_only_some_are_kept(tmp_path: Path, recording: Path) -> None:
    path = tmp_path / "log.csv"
    done = log("--replay", recording, "--speed", "1000000", "-o", path, "--fields", f"time,{TITLES}", "--rotate-time", "2s", "--keep", "3")
    assert done.code == 0, done.err
    # Ten seconds are five files: the newest, and three old ones.
    times = ["2026-11-15T02-30-04.000Z", "2026-11-15T02-30-06.000Z", "2026-11-15T02-30-08.000Z"]
    assert [file.name for file in files_of(path)] == [*(f"log.csv.{stamp}.gz" for stamp in times), "log.csv"]
    for file, first in zip(files_of(path), (2, 4, 6, 8)):
        rows = list(csv.DictReader(text_of(file).splitlines()))
        assert [rows[0]["time"], rows[-1]["time"]] == [f"2026-11-15T02:30:0{first}.000Z", f"2026-11-15T02:30:0{first + 1}.990Z"]
        assert len(rows) == 200


def test_json_lines_are_rotated_too_and_their_size_is_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    words = ("--format", "jsonl", "--fields", "power.draw", "--count", "3", "--interval", "50ms", "-o", path)
    assert log(*words, scenario="single").code == 0
    size = path.stat().st_size
    assert log(*words, "--append", "--rotate-size", str(size + 100), scenario="single").code == 0
    old, new = files_of(path)
    assert old.suffix == ".gz" and len(text_of(old)) == size
    assert len(new.read_text().splitlines()) == 3


def test_a_sample_never_waits_for_the_compression(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    titles = "time,index,power_draw_watts\n"
    line = "2026-11-15T02:30:00.000Z,0,{:.3f}\n"
    chance = random.Random(1)
    path.write_text(titles + "".join(line.format(chance.random()) for _ in range(1_000_000)))
    words = ("-o", path, "--append", "--fields", titles.strip(), "--rotate-size", "30M", "--interval", "20ms", "--duration", "1s")
    done = log(*words, scenario="single")
    assert done.code == 0, done.err
    old, new = files_of(path)
    assert old.suffix == ".gz" and len(text_of(old)) > 30 << 20
    times = [datetime.fromisoformat(row["time"]).timestamp() for row in csv.DictReader(new.read_text().splitlines())]
    assert len(times) > 25
    assert sorted(b - a for a, b in zip(times, times[1:]))[-3] < 0.1, "a busy machine may miss some"


def test_a_full_disk_keeps_what_could_not_be_compressed(tmp_path: Path) -> None:
    needs_root()
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", folder], capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        path = folder / "log.csv"
        # Compressed, random numbers still take 40 % of their room.
        chance = random.Random(1)
        path.write_text(f"{TITLES}\n" + "".join(f"0,{chance.random()}\n" for _ in range(38_000)))
        kept = path.read_text()
        words = ("-o", path, "--append", "--fields", TITLES, "--rotate-size", "1K", "--count", "2", "--interval", "50ms")
        done = log(*words, scenario="single")
        assert done.code == 0, done.err
        complaint, _ = done.err.splitlines()
        (old, _) = files_of(path)
        assert complaint == f"gpulse: cannot compress {old}: No space left on device"
        assert old.suffix != ".gz" and old.read_text() == kept
        assert len(list(folder.iterdir())) == 2
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize(
    "words",
    [
        ["--rotate-size", "1M"],
        ["--rotate-size", "1M", "-o", "-"],
        ["--rotate-time", "1d", "--format", "tensorboard", "-o", "/nonexistent"],
        ["--rotate-time", "1d", "--format", "prometheus", "-o", "/nonexistent"],
    ],
)
def test_only_files_of_lines_are_rotated(words: list[str]) -> None:
    refused = log(*words)
    assert refused.code == 2
    assert only_line(refused.err) == "gpulse: only files of csv and jsonl are rotated: name one with -o FILE"
