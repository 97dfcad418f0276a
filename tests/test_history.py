"""`gpulse history`: of what an agent has recorded on the simulator, and of a made-up history that is known by hand."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import time
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from agent import Agent, open_folder
from harness import BUILD, GPULSE, ROOT, Result, environment, gpulse, only_line

MINUTES, GPUS, PROCESSES = 130, 4, 6
GIB = 1 << 30


@dataclass
class MadeUp:
    path: Path
    end: datetime  # where a minute begins

    def run(self, *arguments: str | Path, **more: str) -> Result:
        return gpulse("history", "--history", self.path, *arguments, **more)

    def ago(self, minutes: float) -> str:
        """A moment before the end, as an argument."""
        return (self.end - timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")

    def span(self, begin: float, end: float) -> list[str]:
        return ["--from", self.ago(begin), "--to", self.ago(end)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> MadeUp:
    """GPU i is busy to 10 i + (second modulo 10) percent; process j is on GPU j modulo 4 and takes j + 1 percent."""
    path = tmp_path_factory.mktemp("history") / "history.db"
    end = int(time.time()) // 60 * 60
    command = [BUILD / "tests" / "make_history", path, str(end), str(MINUTES), str(GPUS), str(PROCESSES)]
    subprocess.run(command, check=True, timeout=60)
    return MadeUp(path, datetime.fromtimestamp(end, timezone.utc))


@pytest.fixture(scope="module")
def recorded() -> Iterator[Agent]:
    """An agent that has looked at two GPUs for a dozen seconds, in a folder that `Agent.run` looks into; it has ended."""
    with open_folder() as folder:
        scenario = folder / "scenario.toml"
        scenario.write_text(
            '[[device]]\nprofile = "h200"\ncount = 2\ngpu_util = 40\npower_w = 300\ntemperature = 50\n'
            f'[[process]]\ndevice = 1\npid = {os.getpid()}\nmemory_mib = 2048\nsm = 30\n'
        )
        with Agent(folder, scenario=scenario) as agent:
            for _ in range(2):
                agent.wait_samples(6)
            agent.end()
            yield agent


# What an agent has recorded


def test_a_page_of_what_the_agent_saw(recorded: Agent) -> None:
    result = recorded.run("history", "--since", "1m", "--width", "100")
    assert result.code == 0, result.err
    assert "from 1 s steps" in result.lines[0]
    assert result.lines[2] == "GPU 0  H200" and "GPU 1  H200" in result.lines
    figures = [line for line in result.lines if re.match(r"(UTIL|PWR|TEMP) ", line)]
    assert len(figures) == 6, "of each GPU one plot for each of them"
    for label, words in (("UTIL", "max  40%"), ("PWR", "max  300W"), ("TEMP", "max  50°C")):
        assert sum(line.startswith(label) and line.endswith(words) for line in figures) == 2
    processes = [line.split() for line in result.lines if str(os.getpid()) in line]
    assert [cells[0] for cells in processes] == ["1"]
    assert "2.0G" in processes[0] and "30%" in processes[0]
    assert all(len(line) <= 100 for line in result.lines)
    # The first half of the minute was before the agent: a gap, not zero.
    bottom = next(i for i, line in enumerate(result.lines) if line.startswith("UTIL")) + 2
    assert re.search(r"0 ┤ {20,}[⠀-⣿]", result.lines[bottom])


def test_seconds_as_csv_and_json(recorded: Agent) -> None:
    words = ["history", "--since", "1m", "-i", "1", "--metrics", "utilization.gpu,power_draw_watts,host.cpu_count"]
    table = recorded.run(*words, "--csv")
    assert table.code == 0 and 10 <= len(table.csv) <= 16
    for row in table.csv:
        assert (row["id"], row["gpu_utilization_percent"], row["power_draw_watts"]) == ("1", "40", "300")
        assert row["host.cpu_count"] == str(os.cpu_count())
    times = [datetime.fromisoformat(row["time"].replace("Z", "+00:00")) for row in table.csv]
    assert all(timedelta(seconds=1) <= b - a <= timedelta(seconds=2) for a, b in zip(times, times[1:]))
    lines = recorded.run(*words, "--jsonl").json_lines
    assert [line["time"] for line in lines] == [row["time"] for row in table.csv]
    assert lines[0]["origin"] == "HISTORY"
    assert lines[0]["devices"][0]["metrics"] == {"gpu_utilization_percent": 40, "power_draw_watts": 300}


def test_json_lines_are_of_the_published_schema(recorded: Agent) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "docs" / "schema" / "gpulse-1.schema.json").read_text())
    jsonschema.validate(recorded.run("history", "--since", "1m", "--jsonl").json_lines[0], schema)


def test_an_export_plays_in_every_command(recorded: Agent, tmp_path: Path) -> None:
    file = tmp_path / "seconds.gpr"
    made = recorded.run("history", "--since", "1m", "-i", "1", "--export", file)
    assert made.code == 0 and re.search(r"exported (\d+) of \1 samples", only_line(made.err))
    played = gpulse("--replay", file, "--json").json
    assert [device["id"] for device in played["devices"]] == ["1"]
    assert played["devices"][0]["metrics"]["power_draw_watts"] == 300
    assert [process["pid"] for process in played["processes"]] == [os.getpid()]
    assert "300 W" in gpulse("smi", "--replay", file, "--query-gpu=power.draw", "--format=csv").out.replace(".00", "")

    before = file.read_bytes()
    refused = recorded.run("history", "--since", "1m", "--export", file)
    assert refused.code == 1 and "--force overwrites it" in only_line(refused.err)
    assert file.read_bytes() == before
    both = recorded.run("history", "--since", "1m", "--export", file, "--force")
    assert both.code == 0
    assert len(gpulse("--replay", file, "--json").json["devices"]) == 2


# A history that is known by hand


def test_who_used_gpu_3_between_1_and_4_o_clock(made: MadeUp) -> None:
    """In a time zone where the history was written at night."""
    now = made.end - timedelta(minutes=MINUTES)
    # The first minute of the history is 02:30 there.
    shift = (2 * 60 + 30) - (now.hour * 60 + now.minute)
    shift = shift if shift >= -12 * 60 else shift + 24 * 60
    zone = f"<XYZ>{'-' if shift >= 0 else ''}{abs(shift) // 60}:{abs(shift) % 60:02}"
    result = made.run("-i", "3", "--from", "01:00", "--to", "04:00", "--processes", TZ=zone)
    assert result.code == 0, result.err
    assert re.match(r"made-up  \S+ 01:00 – 04:00 UTC", result.lines[0])
    assert result.lines[2] == "nothing was recorded from 01:00 to 02:30"
    # Process 3 takes 4 percent of ninety minutes.
    assert result.lines[4].split() == "GPU PID USER PEAK GPU TIME GPU% FROM TO JOB COMMAND".split()
    cells = result.lines[5].split()
    assert cells[:7] == ["3", "1003", "bob", "4.0G", "3:36", "4%", "02:30"]
    assert cells[7] in ("04:38", "04:39"), "when it was seen last is written down once a minute"
    assert cells[8] == "job-3" and len(result.lines) == 6


def test_the_mean_of_each_minute(made: MadeUp) -> None:
    words = [*made.span(120, 100), "--step", "1m", "--metrics", "gpu_utilization_percent,energy_joules", "-i", "2"]
    rows = made.run(*words, "--csv", "--range").csv
    assert [row["time"] for row in rows] == [made.ago(120 - i).replace("Z", ".000Z") for i in range(20)]
    for row in rows:
        # 20 to 29 percent, 102 W.
        assert [row["gpu_utilization_percent" + end] for end in ("", "_min", "_max")] == ["24.5", "20", "29"]
        assert float(row["energy_joules"]) == pytest.approx(60 * 102, rel=0.02)


def test_the_tier_that_is_fine_enough(made: MadeUp) -> None:
    assert "from 1 min steps" in made.run(*made.span(130, 0)).lines[0].replace("10 s", "1 min")
    assert "from 1 s steps" in made.run(*made.span(10, 5)).lines[0]
    # 24.5 at all scales.
    for begin, end in ((130, 0), (60, 0), (10, 5)):
        page = made.run("-i", "2", "--metrics", "utilization.gpu", *made.span(begin, end)).out
        assert re.search(r"max  29%\n.*mean 2[45]%\n.*min  20%", page)


def test_gpu_hours_of_users_and_jobs(made: MadeUp) -> None:
    users = made.run(*made.span(120, 60), "--users", "--jsonl").json_lines
    # An hour of processes 1, 3, 5 and 0, 2, 4, at j + 1 percent and as many GiB.
    assert [(user["user"], user["processes"], user["seconds"]) for user in users] == [("bob", 3, 10800), ("ann", 3, 10800)]
    assert [user["gpu_seconds"] for user in users] == [pytest.approx(432), pytest.approx(324)]
    assert [user["memory_byte_seconds"] for user in users] == [12 * GIB * 3600, 9 * GIB * 3600]
    jobs = made.run(*made.span(120, 60), "--jobs", "--csv").csv
    assert [job["job"] for job in jobs] == [f"job-{j}" for j in reversed(range(PROCESSES))]
    assert float(jobs[0]["gpu_seconds"]) == pytest.approx(216)
    text = made.run(*made.span(120, 60), "--users").lines
    assert text[2].startswith("USER") and text[3].split() == ["bob", "0.12", "12.0", "3.00", "2", "3"]


def test_one_user_alone(made: MadeUp) -> None:
    rows = made.run("--user", "ann", *made.span(60, 30), "--csv").csv
    assert sorted(row["pid"] for row in rows) == ["1000", "1002", "1004"]
    assert {row["user"] for row in rows} == {"ann"}
    assert made.run("--user", "nobody", *made.span(60, 30)).lines[-1] == "no GPU processes"


def test_what_happened(made: MadeUp) -> None:
    half = made.ago(MINUTES / 2)
    event = {"time": half.replace("Z", ".000Z"), "id": "0", "kind": "xid", "code": "79"}
    rows = made.run("--since", "1d", "--events", "--csv").csv
    assert [{key: row[key] for key in event} for row in rows] == [event]
    assert made.run("--since", "1d", "--events", "-i", "1", "--csv").csv == []
    text = made.run("--since", "1d", "--events", "-i", "0", TZ="UTC").out
    assert f"{half[5:10]} {half[11:16]}  GPU 0  XID 79: the device has fallen off the bus" in text


def test_plain_characters_on_request(made: MadeUp) -> None:
    result = made.run("--ascii", "--since", "2h")
    assert result.code == 0 and result.out.isascii()
    assert "\x1b" not in result.out
    assert "\x1b[" in made.run("--color", "--since", "2h").out


# What cannot be shown


def test_without_a_history(tmp_path: Path) -> None:
    result = gpulse("history", GPULSE_AGENT=str(tmp_path))
    assert result.code == 1 and result.out == ""
    assert "there is no history" in only_line(result.err) and "gpulse serve" in result.err


def test_of_a_time_that_is_not_there(made: MadeUp) -> None:
    for form in ([], ["--csv"], ["--jsonl"], ["--processes"], ["--export", "/dev/null"]):
        result = made.run("--from", "2020-01-01", "--to", "2020-01-02", *form)
        assert result.code == 1 and result.out == ""
        line = only_line(result.err)
        assert "there is nothing of 2020-01-01 00:00" in line and "the history is of" in line


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--from", "soon"], '"soon" is not a time'),
        (["--to", "25:00"], '"25:00" is not a time'),
        (["--from", "now", "--to", "-1h"], "--from comes before --to"),
        (["--from", "2200-01-01"], "before now"),
        (["--from", "-1h", "--since", "1h"], "--since excludes --from"),
        (["--step", "0"], "--step"),
        (["--metrics", "no_such"], "no metric 'no_such'"),
        (["--metrics", "user"], "no metric 'user'"),
        (["--metrics", "serial"], "'serial' is a text"),
        (["-i", "9"], 'no device "9"'),
        (["--csv", "--users", "--jobs"], "one table at a time"),
        (["--csv", "--jsonl"], "excludes"),
        (["--range"], "--csv"),
        (["--force"], "--export"),
        (["--export", "x.gpr", "--processes"], "whole samples"),
        (["--since", "1000d", "--step", "1s"], "too many"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage(made: MadeUp, arguments: list[str], words: str) -> None:
    result = made.run(*arguments)
    assert result.code == 2 and result.out == ""
    assert words in only_line(result.err)


def test_a_file_that_is_no_history(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("nothing of the kind\n" * 100)
    for file in (text, tmp_path, tmp_path / "missing"):
        result = gpulse("history", "--history", file)
        assert result.code == 1 and str(file) in only_line(result.err)


def with_texts(path: Path, text: str, target: Path) -> Path:
    target.write_bytes(path.read_bytes())
    with sqlite3.connect(target) as connection:
        connection.execute("UPDATE process SET user=?1, command=?1, job=?1", (text,))
        connection.execute("UPDATE device SET name=?1", (text,))
        connection.execute("UPDATE event SET text=?1", (text,))
        connection.execute("UPDATE info SET value=?1", (text,))
        columns = "from_time, to_time, samples, reason"
        connection.execute(f"INSERT INTO lost({columns}) SELECT time, time, 1, ?1 FROM event", (text,))
    return target


@pytest.mark.parametrize(
    "form",
    ["", "--ascii", "--users", "--jobs --csv", "--processes --csv", "--events --csv", "--events --jsonl",
     "--processes --jsonl", "--jsonl --step 1h"],
)  # fmt: skip
def test_hostile_text_in_the_file_stays_text(made: MadeUp, tmp_path: Path, form: str) -> None:
    hostile = with_texts(made.path, 'evil\x1b]0;owned\x07\n\u202e, "x"\x9b31m', tmp_path / "hostile.db")
    harmless = with_texts(made.path, "evil and harmless", tmp_path / "harmless.db")
    words = [*made.span(180, 0), *form.split()]
    result = gpulse("history", "--history", hostile, *words)
    assert result.code == 0, result.err
    assert "evil" in result.out
    assert not any(unicodedata.category(letter) in ("Cc", "Cf") for letter in set(result.out) - {"\n"})
    assert len(result.lines) == len(gpulse("history", "--history", harmless, *words).lines)


def test_an_export_is_not_written_over_the_history(made: MadeUp) -> None:
    before = made.path.read_bytes()
    result = made.run("--since", "1h", "--export", made.path, "--force")
    assert result.code == 1 and "into itself" in only_line(result.err)
    assert made.path.read_bytes() == before


def test_ctrl_c_ends_an_export_at_once(made: MadeUp, tmp_path: Path) -> None:
    """Nobody reads the pipe: it would wait for ever."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [GPULSE, "history", "--history", made.path, "--since", "3h", "--export", pipe]
    with subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True) as process:
        time.sleep(0.3)
        assert process.poll() is None
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 1
        assert time.monotonic() - begun < 1
        assert process.stderr is not None and "nothing was exported" in process.stderr.read()


def test_a_full_disk_is_noticed(made: MadeUp) -> None:
    for form in ("--csv", "--jsonl"):
        with open("/dev/full", "w") as full:
            command = [GPULSE, "history", "--history", made.path, "--since", "2h", form]
            done = subprocess.run(command, env=environment(), stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        assert done.returncode == 1 and "cannot write the output" in done.stderr
