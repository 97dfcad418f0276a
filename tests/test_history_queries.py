"""The questions of docs/history.md, asked of a history whose answers are known by hand: by sqlite3, pandas and DuckDB."""

import re
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from harness import BUILD, ROOT

MINUTES, GPUS, PROCESSES = 130, 4, 6


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ends at a whole minute, so that all but the last one are rolled up."""
    path = tmp_path_factory.mktemp("history") / "history.db"
    end = int(time.time()) // 60 * 60
    command = [BUILD / "tests" / "make_history", path, str(end), str(MINUTES), str(GPUS), str(PROCESSES)]
    subprocess.run(command, check=True, timeout=60)
    return path


def queries() -> list[str]:
    return re.findall(r"```sql\n(.*?)```", (ROOT / "docs" / "history.md").read_text(), re.S)


def ask(history: Path, number: int) -> list[sqlite3.Row]:
    connection = sqlite3.connect(f"file:{history}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    return connection.execute(queries()[number]).fetchall()


def test_there_are_five_of_them() -> None:
    assert len(queries()) == 5


def test_how_busy_each_gpu_was(history: Path) -> None:
    rows = ask(history, 0)
    assert {row["gpu"] for row in rows} == {"0", "1", "2", "3"}
    assert {row["busy"] for row in rows if row["gpu"] == "2"} == {24.5}
    assert {row["peak"] for row in rows if row["gpu"] == "2"} == {29}


def test_who_was_on_gpu_3(history: Path) -> None:
    rows = ask(history, 1)
    # Process 3 is the only one on GPU 3: 4 percent and 4 GiB; the last minute is not over.
    assert [(row["user"], row["pid"], row["peak_mib"]) for row in rows] == [("bob", 1003, 4096)]
    assert rows[0]["gpu_minutes"] == pytest.approx(0.04 * (MINUTES - 1), abs=0.05)


def test_gpu_hours_of_each_user(history: Path) -> None:
    hours = (MINUTES - 1) / 60
    # Ann has processes 0, 2, 4 with 1, 3 and 5 percent; Bob the other three with 2, 4 and 6.
    answers = {row["user"]: (row["gpu_hours"], row["hours_there"]) for row in ask(history, 2)}
    assert answers["ann"] == (pytest.approx(0.09 * hours, abs=0.006), pytest.approx(3 * hours, abs=0.006))
    assert answers["bob"] == (pytest.approx(0.12 * hours, abs=0.006), pytest.approx(3 * hours, abs=0.006))


def test_energy_of_each_day(history: Path) -> None:
    total = sum(row["kwh"] for row in ask(history, 3) if row["gpu"] == "1")
    # 101 W; the first sample has grown since nothing. A counter that begins anew within the time loses one second.
    assert total == pytest.approx(101 * ((MINUTES - 1) * 60 - 1) / 3.6e6, rel=0.002, abs=0.0002)


def test_who_holds_a_gpu_without_using_it(history: Path) -> None:
    assert ask(history, 4) == [], "GPU 0 goes up to nine percent"
    connection = sqlite3.connect(history)
    connection.execute("UPDATE device_1min SET gpu_utilization_percent_max=4 WHERE device=2")
    connection.commit()
    rows = ask(history, 4)
    assert [(row["gpu"], row["name"]) for row in rows] == [("1", "NVIDIA H200")]
    assert rows[0]["idle_hours"] == pytest.approx((MINUTES - 1) / 60, abs=0.01)


def test_pandas_reads_it(history: Path) -> None:
    pandas = pytest.importorskip("pandas")
    connection = sqlite3.connect(f"file:{history}?mode=ro", uri=True)
    minutes = pandas.read_sql("SELECT * FROM device_1min", connection)
    minutes.index = pandas.to_datetime(minutes.time, unit="s", utc=True)
    assert minutes[minutes.device == 1].power_draw_watts.mean() == 100
    assert minutes.gpu_utilization_percent.dtype == "float64"


def test_duckdb_reads_it(history: Path) -> None:
    extensions = pytest.importorskip("duckdb_extensions")
    import duckdb

    extensions.import_extension("sqlite_scanner")
    duckdb.sql(f"LOAD sqlite_scanner; ATTACH '{history}' AS history (TYPE sqlite, READ_ONLY)")
    answer = duckdb.sql("SELECT device, avg(power_draw_watts) FROM history.device_1min GROUP BY device ORDER BY device")
    assert answer.fetchall() == [(1, 100.0), (2, 101.0), (3, 102.0), (4, 103.0)]

