"""Every key of the help screen of `gpulse top` does what the help says."""

from __future__ import annotations

from pathlib import Path
from typing import Iterator

import pytest

import top_act_keys
import top_list_keys
import top_screen_keys
from harness import gpulse
from top import Top
from top_desk import KEYS, TIME_KEYS, Desk, is_at_start, many_jobs
from top_jobs import Jobs

# Importing them has filled the tables.
assert top_list_keys and top_act_keys and top_screen_keys

# Their check ends the program, so each has one of its own.
QUITS = ["q", "Q", "F10"]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("keys")
    with many_jobs(folder) as jobs:
        scenario = jobs.scenario()
        desk = Desk(lambda: Top(folder, "--interval", "100ms", scenario=scenario, COLORTERM="truecolor"), jobs)
        yield desk
        desk.drop()


@pytest.fixture(scope="module")
def five_minutes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trace") / "five-minutes.csv"
    lines = [f"{second},{second // 10},1000,2000" for second in range(0, 301, 10)]
    path.write_text("\n".join(["t_s,util_gpu_pct,mem_used_mib,mem_total_mib", *lines]) + "\n")
    return path


@pytest.fixture(scope="module", params=["trace", "recording"])
def time_desk(
    request: pytest.FixtureRequest, five_minutes: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Desk]:
    config = tmp_path_factory.mktemp("config")
    file = five_minutes
    if request.param == "recording":
        file = config / "five-minutes.gpr"
        assert gpulse("record", "--replay", five_minutes, "--speed", "10000", "-o", file).code == 0
    desk = Desk(lambda: Top(config, "--replay", file, ready="of 5:00"), Jobs(config))
    yield desk
    desk.drop()


def test_the_help_lists_no_key_without_a_test(desk: Desk) -> None:
    sections = desk.top.read_help()
    assert list(sections) == [
        *("Processes", "Find", "Sort", "Act", "Screen", "Time"),
        *("Mouse", "Where habits clash"),
    ]
    listed = [key for name in list(sections)[:6] for keys, _ in sections[name] for key in keys.split()]
    assert len(listed) == len(set(listed)), "a key is bound twice"
    tested = {*KEYS, *TIME_KEYS, *QUITS}
    assert set(listed) - tested == set(), "keys that no test presses"
    assert tested - set(listed) == set(), "keys that the help leaves out"
    chords = next(text for keys, text in sections["Sort"] if keys == "o")
    assert chords.startswith("then n p u g s b c m t: sort by"), "sort_chord presses these letters"


@pytest.mark.parametrize("key", KEYS)
def test_key(desk: Desk, key: str) -> None:
    desk.check(KEYS[key], key, is_at_start)


@pytest.mark.parametrize("key", TIME_KEYS)
def test_key_of_time(time_desk: Desk, key: str) -> None:
    time_desk.check(TIME_KEYS[key], key, lambda desk: "of 5:00" in desk.top.lines[0])


@pytest.mark.parametrize("key", [*QUITS, "Ctrl-C"])
def test_key_that_quits(tmp_path: Path, key: str) -> None:
    with Top(tmp_path, "--demo", ready="DEMO") as top:
        top.press(key)
        assert top.exit_code() == 0
        assert not (tmp_path / "gpulse" / "top.toml").exists()
