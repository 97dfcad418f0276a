"""`gpulse top` and time: recordings that play, a live view that is stopped and looked back through, what happened."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Iterator

import pytest

from harness import ROOT, gpulse
from top import Top
from top_desk import USER
from top_jobs import Jobs


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[Jobs]:
    jobs = Jobs(tmp_path)
    yield jobs
    jobs.end()


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seconds of the scenario eight, in which GPU 6 stands out."""
    path = tmp_path_factory.mktemp("recording") / "eight.gpr"
    result = gpulse("record", "-o", path, "--count", "21", "--interval", "100ms", scenario="eight")
    assert result.code == 0
    return path


def shown_time(top: Top) -> str:
    """How far from the start, "0:01"."""
    found = re.search(r"[▶‖] (\d+:\d\d) of 0:0[23]", top.lines[0])
    assert found, top.text
    return found.group(1)


def test_a_recording_plays_to_its_end(tmp_path: Path, recording: Path) -> None:
    with Top(tmp_path, "--replay", recording, ready="▶ 0:00 of 0:0") as top:
        assert "REPLAY" in top.lines[0]
        # What was recorded, though no driver is there now.
        assert re.search(r"│ +6 H100 80GB HBM3 .*100% .* 402/700W 86°C", top.text)
        assert len(top.rows) == 8
        clock = top.clock
        top.wait_for(lambda: "▶ 0:01" in top.lines[0], "the next second")
        top.press("p")
        top.wait_for(lambda: "‖" in top.lines[0], "a pause")
        assert shown_time(top) == "0:01" and top.clock != clock
        top.press("p")
        # At the end it stays.
        top.wait_for(lambda: re.search(r"‖ 0:0[23] of 0:0[23]", top.lines[0]), "the end")
        # Played again it starts anew.
        top.press("p")
        top.wait_for(lambda: "▶ 0:00" in top.lines[0] and top.clock == clock, "the start")


def test_a_recording_is_stepped_through(tmp_path: Path, recording: Path) -> None:
    with Top(tmp_path, "--replay", recording, ready="▶") as top:
        first = top.clock
        top.press("L")
        top.wait_for(lambda: re.search(r"‖ 0:0[23] of", top.lines[0]), "the end")
        last = top.clock
        assert last > first
        # A hundred milliseconds each: ten or eleven steps change the second.
        top.press(*["("] * 11)
        top.wait_for(lambda: shown_time(top) < "0:02" and top.clock < last, "a second earlier")
        top.press(*[")"] * 11)
        top.wait_for(lambda: top.clock == last, "the end again")
        # A minute is more than there is.
        top.press("{")
        top.wait_for(lambda: shown_time(top) == "0:00" and top.clock == first, "the start")
        top.press("}")
        top.wait_for(lambda: top.clock == last, "the end")
        for text, where in (("1.5s", "0:01"), ("start", "0:00"), ("10s", "0:02"), ("-0.5s", "0:01")):
            top.press("g")
            top.wait_for(lambda: top.message.startswith("go to time:"), "the question")
            top.type(text)
            top.press("Enter")
            top.wait_for(lambda: shown_time(top) in (where, where.replace("2", "3")), f"{text} at {where}")


def test_where_and_how_fast_a_recording_plays(tmp_path: Path, recording: Path) -> None:
    with Top(tmp_path, "--replay", recording, "--at", "1s", "--speed", "0.01", ready="▶") as top:
        assert shown_time(top) in ("0:00", "0:01") and top.lines[0].endswith("x0.01")
        first = top.clock
        top.press("(", "(")
        top.wait_for(lambda: "‖" in top.lines[0], "a pause")
        assert top.clock <= first
    with Top(tmp_path, "--replay", recording, "--speed", "20", ready="of 0:0") as top:
        top.wait_for(lambda: re.search(r"‖ 0:0[23] of", top.lines[0]), "the end", seconds=1.5)


def test_the_past_of_a_live_view(jobs: Jobs, tmp_path: Path) -> None:
    stays, visitor = jobs.add(memory=2000), jobs.add(memory=1000, more="until = 1.0")
    with Top(tmp_path, "--interval", "100ms", scenario=jobs.scenario()) as top:
        top.wait_for(lambda: top.pids == [stays.pid, visitor.pid], "both")
        begun = top.clock
        top.wait_for(lambda: top.pids == [stays.pid], "the visitor gone")
        top.wait_for(lambda: top.clock > begun, "a later time")
        top.press("p")
        top.wait_for(lambda: "PAUSED" in top.lines[0], "a pause")
        stopped = top.clock
        # It goes on behind the scenes.
        top.wait_for(lambda: "PAUSED 0:01 ago" in top.lines[0], "a second that has gone by")
        assert top.clock == stopped
        # Step by step to where the visitor was there.
        for _ in range(30):
            top.press("(")
        top.wait_for(lambda: top.pids == [stays.pid, visitor.pid] and top.clock <= begun, "the visitor again")
        assert re.search(r"PAUSED 0:0[1-9] ago", top.lines[0])
        top.press(")")
        top.press("{")
        top.wait_for(lambda: top.clock <= begun, "the start")
        top.press("g")
        top.type("1s")
        top.press("Enter")
        top.wait_for(lambda: begun <= top.clock <= stopped, "a second after the start")
        top.press("L")
        top.wait_for(lambda: "LIVE" in top.lines[0] and top.clock > stopped, "now")
        assert top.pids == [stays.pid]


EVENTS = """
[[event]]
time = 0.5
device = 1
type = "xid"
data = 79

[[event]]
time = 0.7
device = 0
type = "ecc"
"""


def test_what_happened(jobs: Jobs, tmp_path: Path) -> None:
    jobs.add(name="stays", memory=2000)
    comes = jobs.add(name="comes", memory=1000, gpu=1, more="from = 0.4")
    goes = jobs.add(name="goes", memory=500, more="until = 0.6")
    with Top(tmp_path, "--interval", "100ms", scenario=jobs.scenario(EVENTS), COLORTERM="truecolor") as top:

        def events() -> list[str]:
            lines = top.lines[top.find("─ Events ─")[1] + 1 :]
            return [line.strip("│ ") for line in lines if re.match(r"│\d\d:\d\d:\d\d ", line)]

        top.wait_for(lambda: len(events()) >= 4, "four events")
        # The newest first, each with its time.
        said = [re.sub(r"^\d\d:\d\d:\d\d ", "", event) for event in events()]
        assert said == [
            "GPU 0 memory error not corrected",
            f"GPU 0 process {goes.pid} sleep ({USER}) went from GPU 0",
            "GPU 1 XID 79: the device has fallen off the bus: the host can no longer reach it",
            f"GPU 1 process {comes.pid} sleep ({USER}) came on GPU 1",
        ]
        # What is bad is seen to be bad.
        x, y = top.find("XID 79")
        assert top.cell(x, y).fg == "f0616d"


def test_a_finding_says_since_when(tmp_path: Path) -> None:
    """A training that starves began at 04:24:18, and its first step some seconds later."""
    recording = ROOT / "tests/data/workloads/long_jobs.gpr"
    since = r"! GPU 0  input-cpu .*  since (\d\d:\d\d:\d\d){}  D says more"
    with Top(tmp_path, "--replay", recording, "--at", "170s", ready="▶ 2:5", columns=160) as top:
        top.wait_for(lambda: re.search(since.format(""), top.text), "a finding")
        found = re.search(since.format(""), top.text)
        assert found and "04:24:18" < found.group(1) < top.clock, top.text
        # A minute on, only half a minute is looked back over: it was so all that time.
        top.press("p", "}")
        top.wait_for(lambda: re.search(since.format(" or before"), top.text), "a minute on")
    # Where there is no room for it, what is wrong comes first.
    with Top(tmp_path, "--replay", recording, "--at", "175s", ready="▶ 2:5", columns=80) as top:
        top.wait_for(lambda: re.search(r"! GPU 0  input-cpu  The GPU waits 9\d % of the .*…  D says more", top.text), "a finding")
