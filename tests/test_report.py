"""`gpulse report` of a made-up week, whose sums are checked by SQL on the history's own tables."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from browser import open_browser, visiting
from harness import BUILD, Result, gpulse, only_line

MINUTES, GPUS, PROCESSES = 7 * 24 * 60, 4, 6
HOSTILE = '<img src=x onerror=alert(1)> "eve", [31m'

# Who held how much of each minute: owners that are there at the same time have equal parts of the GPU.
HELD = """
WITH present AS (
  SELECT m.time, p.device, coalesce(p.user, '') AS user, coalesce(p.job, '') AS job, sum(m.seconds) AS seconds
  FROM process_1min AS m JOIN process AS p ON p.id = m.process
  WHERE m.time >= :begin AND m.time < :end GROUP BY 1, 2, 3, 4),
bounded AS (
  SELECT present.*, d.seconds AS whole, min(present.seconds, d.seconds) AS part, gpu_utilization_percent / 100 AS busy,
    sm_active_percent / 100 AS sm, coalesce(energy_joules, power_draw_watts * d.seconds) AS joules
  FROM present JOIN device_1min AS d USING (time, device)),
shared AS (SELECT *, part * min(1.0, whole / sum(part) OVER w) AS held FROM bounded WINDOW w AS (PARTITION BY time, device)),
summed AS (SELECT *, sum(held) OVER (PARTITION BY time, device) AS all_held FROM shared)
SELECT {by}, sum(held) / 3600, sum(min(all_held, whole * busy) * held / all_held) / 3600,
  sum(min(all_held, whole * sm) * held / all_held) / 3600,
  sum(held - min(all_held, whole * coalesce(sm, busy)) * held / all_held) / 3600,
  sum(joules * held / whole) / 3.6e6
FROM summed GROUP BY 1
"""
AMOUNTS = ["held_gpu_hours", "active_gpu_hours", "used_gpu_hours", "wasted_gpu_hours", "energy_kwh"]


@dataclass
class Week:
    path: Path
    begin: int
    end: int

    def run(self, *arguments: str | Path) -> Result:
        return gpulse("report", "--history", self.path, "--from", f"@{self.begin}", "--to", f"@{self.end}", *arguments)

    def sql(self, text: str) -> list[tuple]:
        database = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)
        try:
            return database.execute(text, {"begin": self.begin, "end": self.end}).fetchall()
        finally:
            database.close()

    def held(self, by: str) -> dict[str, list[float | None]]:
        return {row[0]: list(row[1:]) for row in self.sql(HELD.format(by=by))}


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Week:
    path = tmp_path_factory.mktemp("report") / "history.db"
    end = int(time.time()) // 60 * 60 - 60
    words = [BUILD / "tests" / "make_history", path, end, MINUTES, GPUS, PROCESSES, "report"]
    subprocess.run([str(word) for word in words], check=True, timeout=120)
    # The last minute is rolled up by the sample that follows it.
    return Week(path, end - MINUTES * 60, end - 60)


def near(wanted: list[float | None]) -> list[object]:
    return [None if value is None else pytest.approx(value, abs=2e-6, rel=1e-6) for value in wanted]


@pytest.mark.parametrize("by", ["user", "job"])
def test_sums_are_those_of_sql(week: Week, by: str) -> None:
    report = week.run("--by", by, "--json").json
    wanted = week.held(by)
    assert {row["name"] or "" for row in report["rows"]} == set(wanted)
    for row in report["rows"]:
        assert [row[name] for name in AMOUNTS] == near(wanted[row["name"] or ""]), row["name"]
    wasted = [row["wasted_gpu_hours"] for row in report["rows"]]
    assert wasted == sorted(wasted, reverse=True)


def test_a_week_of_one_machine_is_one_row(week: Week) -> None:
    wanted = week.held("'all'")["all"]
    for by, name in (("host", "made-up"), ("model", "NVIDIA H200")):
        (row,) = week.run("--by", by, "--json").json["rows"]
        assert row["name"] == name and row["gpus"] == GPUS
        assert [row[key] for key in AMOUNTS] == near(wanted)


def test_no_more_is_held_than_there_was(week: Week) -> None:
    report = week.run("--json").json
    whole, joules = week.sql(
        "SELECT sum(seconds) / 3600, sum(coalesce(energy_joules, power_draw_watts * seconds)) / 3.6e6 FROM device_1min"
        " WHERE time >= :begin AND time < :end"
    )[0]
    held, nobody = report["held"], report["nobody"]
    assert held["held_gpu_hours"] + nobody["held_gpu_hours"] == pytest.approx(whole)
    assert held["energy_kwh"] + nobody["energy_kwh"] == pytest.approx(joules)
    # GPUs 2 and 3 have one process each, which is away in every third hour.
    assert nobody["held_gpu_hours"] == pytest.approx(2 / 3 * whole / 4, rel=0.05)
    assert held["used_gpu_hours"] < held["active_gpu_hours"] < held["held_gpu_hours"]


def test_gaps_are_said(week: Week) -> None:
    report = week.run("--json").json
    recorded = week.sql("SELECT sum(seconds) FROM host_1min WHERE time >= :begin AND time < :end")[0][0]
    assert report["recorded_seconds"] == pytest.approx(recorded)
    assert recorded == pytest.approx(0.9 * MINUTES * 60, rel=0.01)
    assert "recorded 6 d 7 h of 7 d, 4 GPUs" in week.run("--width", "120").lines[0]


def test_what_is_not_known_is_not_0(week: Week) -> None:
    report = week.run("--by", "job", "--json").json
    row = next(row for row in report["rows"] if row["name"] == "job-1")
    assert row["used_gpu_hours"] is None and row["used_known_gpu_hours"] == 0, "GPU 1 does not tell"
    assert row["wasted_estimated_gpu_hours"] == row["held_gpu_hours"]
    notes = " / ".join(report["notes"])
    assert "true activity (SM) is not known of" in notes and "told by utilisation alone" in notes
    assert "added up from the power" in notes and "no cost: the price of a kWh is not configured" in notes
    cells = {row["name"]: row for row in week.run("--by", "job", "--csv").csv}
    assert cells["job-1"]["used_gpu_hours"] == "" and cells["job-1"]["cost"] == ""
    line = next(line.split() for line in week.run("--by", "job", "--width", "120").lines if line.startswith("job-1"))
    assert line[3] == "–" and line[4].startswith("≥")


def test_energy_has_a_price(week: Week) -> None:
    report = week.run("--price", "0.25 EUR", "--json").json
    assert report["currency"] == "EUR"
    assert report["held"]["cost"] == pytest.approx(report["held"]["energy_kwh"] / 4, abs=1e-5)
    assert week.run("--price", "0.25 EUR", "--csv").csv[0]["currency"] == "EUR"


def test_findings_by_what_was_wasted_meanwhile(week: Week) -> None:
    report = week.run("--json").json
    stood = {finding["id"]: finding for finding in report["findings"]}
    events = week.sql("SELECT count(*) FROM event WHERE kind = 'finding' AND text LIKE 'input-cpu%' AND time < :end")[0][0]
    assert stood["input-cpu"]["times"] == events
    # The hours in which it was found, of those on GPU 0 that were held; true activity is 3 percent there.
    assert stood["input-cpu"]["lost_gpu_hours"] == pytest.approx(0.97 * stood["input-cpu"]["stood_gpu_hours"])
    # An hour each, but for those that the gap has cut; somebody is always on GPU 0.
    assert 0.9 * events <= stood["input-cpu"]["stood_gpu_hours"] <= events
    # Two hours of GPU 0 and 1.
    assert stood["imbalance"]["stood_gpu_hours"] == pytest.approx(4, rel=0.2)
    lost = [finding["lost_gpu_hours"] for finding in report["findings"]]
    assert lost == sorted(lost, reverse=True) and report["findings_are_upper_bounds"]


def test_the_worst_are_named_with_their_finding(week: Week) -> None:
    worst = week.run("--json", "--top", "3").json["worst"]
    rows = week.run("--by", "job", "--json").json["rows"]
    assert [row["batch_job"] for row in worst] == [row["name"] for row in rows[:3]]
    assert {row["batch_job"]: row["worst_finding"] for row in week.run("--json").json["worst"]}["job-0"] == "input-cpu"


def test_a_part_of_it(week: Week) -> None:
    wanted = week.held("user")
    alone = week.run("--user", "ann", "--json").json
    assert [row["name"] for row in alone["rows"]] == ["ann"] and "nobody" not in alone
    assert [alone["held"][name] for name in AMOUNTS] == near(wanted["ann"])
    on_one = week.run("-i", "1", "--by", "job", "--json").json
    assert {row["name"] for row in on_one["rows"]} == {"job-1", "job-5"} and on_one["gpus"] == 1
    assert "nobody held a GPU" in week.run("--user", "nobody").out
    assert "only nobody" in week.run("--user", "nobody").out


def test_hostile_names_are_text(week: Week, tmp_path: Path) -> None:
    text = week.run("--width", "140", "--color").out
    assert HOSTILE in text and "\x1b[31meve" not in text
    assert HOSTILE in [row["name"] for row in week.run("--csv").csv]
    assert HOSTILE in [row["name"] for row in json.loads(week.run("--json").out)["rows"]]
    page = tmp_path / "report.html"
    assert week.run("--html", page).code == 0
    assert "<img" not in page.read_text() and "&lt;img src=x" in page.read_text()


def test_the_page_needs_nothing_else(week: Week, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    result = week.run("--html", page, "--price", "0.30 EUR", "--by", "job")
    assert (result.code, result.out, result.err) == (0, "", "")
    with open_browser() as browser, visiting(browser, offline=True) as visit:
        asked: list[str] = []
        visit.context.on("request", lambda request: asked.append(request.url))
        shown = visit.open(page.as_uri(), waits=False)
        assert asked == [page.as_uri()]
        assert shown.locator("svg rect.used").count() == 3, "two jobs on GPU 0 and one on GPU 2 tell their true activity"
        assert shown.locator("table").nth(1).locator("tr").count() == 1 + PROCESSES
        assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_file_of_somebody_else_stays(week: Week, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text("mine")
    refused = week.run("--html", page)
    assert refused.code == 1 and "--force" in only_line(refused.err) and page.read_text() == "mine"
    assert week.run("--html", page, "--force").code == 0
    assert week.run("--html", page).code == 0, "a report is replaced"


def test_wrong_usage_and_nothing_there(week: Week, tmp_path: Path) -> None:
    assert week.run("--by", "colour").code == 2
    assert week.run("-i", "77").code == 2
    early = gpulse("report", "--history", week.path, "--from", "2001-01-01", "--to", "2001-01-02")
    assert early.code == 1 and "there is nothing of" in only_line(early.err)
    short = gpulse("report", "--history", week.path, "--from", f"@{week.begin + 70}", "--to", f"@{week.begin + 80}")
    assert short.code == 1 and "whole minute" in only_line(short.err)
    assert gpulse("report", "--history", tmp_path / "none.db").code == 1


def test_plain_ascii_of_any_width(week: Week) -> None:
    for width in (40, 80, 132):
        lines = week.run("--ascii", "--width", str(width)).lines
        assert all(line.isascii() and len(line) <= width for line in lines)


def test_a_week_takes_no_time(week: Week) -> None:
    begun = time.monotonic()
    assert week.run("--csv").code == 0
    assert time.monotonic() - begun < 5
