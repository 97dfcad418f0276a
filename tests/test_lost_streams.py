"""Standard streams that are full or closed: what cannot be said is no failure of the work, and what is opened later is
never taken for one of them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from harness import GPULSE, environment, gpulse

COMMANDS: list[list[str]] = [
    ["--fast"],
    ["--json", "--fast"],
    ["--csv", "--fast"],
    ["--watch", "--count", "2", "--interval", "50ms"],
    ["--help"],
    ["--version"],
    ["--nosuch"],
    ["nosuch"],
    ["--replay", "/nonexistent"],
    ["--source", "host", "--fast"],
    ["top"],
    ["doctor"],
    ["explain"],
    ["explain", "xid", "79"],
    ["explain", "nosuch"],
    ["set", "power-limit", "300", "--yes"],
    ["set", "nosuch"],
    ["record", "-o", "{folder}/new.gpr", "--count", "2", "--interval", "50ms"],
    ["record", "-o", "/nonexistent/new.gpr", "--count", "2"],
    ["history"],
    ["history", "--history", "/nonexistent", "--csv"],
    ["history", "--from", "nosuch"],
    ["pick", "--min-free", "0", "--max-util", "100"],
    ["pick", "-n", "100"],
    ["log", "--count", "2", "--interval", "50ms"],
    ["log", "-o", "{folder}/new.csv", "--count", "2", "--interval", "50ms"],
    ["log", "--format", "tensorboard", "-o", "{folder}/runs", "--interval", "50ms", "--", "true"],
    ["log", "--format", "prometheus", "-o", "{folder}/new.prom", "--count", "2", "--interval", "50ms"],
    ["run", "--html", "{folder}/report.html", "--", "true"],
    ["run", "--json", "-", "--", "true"],
    ["smi"],
    ["smi", "-L"],
    ["smi", "-q", "-x"],
    ["smi", "--nosuch"],
    ["smi", "--query-gpu=name", "--format=csv"],
    ["smi", "-f", "{folder}/smi.txt"],
    ["smi", "--parse", "/nonexistent"],
    ["smi", "dmon", "-c", "1"],
    ["smi", "pmon", "-c", "1"],
    ["smi", "topo", "-m"],
    ["smi", "-pl", "300"],
    ["gpustat"],
    ["gpustat", "--json"],
    ["gpustat", "--debug"],
    ["gpustat", "--nosuch"],
    ["gpustat", "--json", "-i"],
    ["gpustat", "--replay", "/nonexistent"],
]

# What a shell does with the standard output and the standard error.
STREAMS = {
    "stderr full": "2>/dev/full",
    "stderr closed": "2>&-",
    "stdout full": ">/dev/full",
    "stdout closed": ">&-",
    "stdout and stderr full": ">/dev/full 2>&1",
    "stdout and stderr closed": ">&- 2>&-",
    "all closed": "<&- >&- 2>&-",
}


def code_of(arguments: list[str], redirection: str, folder: Path) -> int:
    folder.mkdir()
    words = [word.replace("{folder}", str(folder)) for word in arguments]
    line = f'"$0" "$@" {redirection}'
    done = subprocess.run(
        ["sh", "-c", line, str(GPULSE), *words],
        env=environment("single"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
    )
    return done.returncode


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_every_command(arguments: list[str], tmp_path: Path) -> None:
    usual = code_of(arguments, "", tmp_path / "usual")
    for streams, redirection in STREAMS.items():
        code = code_of(arguments, redirection, tmp_path / streams)
        # What was to be on the standard output is the work, and is missed; what was to be on the other one is not.
        expected = {usual, 1} if "stdout" in streams or "all" in streams else {usual}
        assert code in expected, f"{streams}: {code} instead of {usual}"


@pytest.mark.parametrize("redirection", STREAMS.values(), ids=STREAMS)
def test_a_recording_is_complete(redirection: str, tmp_path: Path) -> None:
    path = tmp_path / "made" / "new.gpr"
    arguments = ["record", "-o", str(path), "--count", "3", "--interval", "50ms"]
    assert code_of(arguments, redirection, tmp_path / "made") == 0
    played = gpulse("--replay", path, "--watch", "--speed", "1000", "--json")
    assert (played.code, played.err) == (0, "")
    assert len(played.json_lines) == 3


def test_a_closed_output_is_noticed_and_nothing_else_is_written_to() -> None:
    done = subprocess.run(
        ["sh", "-c", '"$0" --fast >&-', str(GPULSE)],
        env=environment("single"),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stderr == "gpulse: cannot write the output: Bad file descriptor\n"


def test_a_reader_of_complaints_that_is_gone_does_not_end_a_recording(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    path = tmp_path / "new.gpr"
    command = [GPULSE, "record", "-o", path, "--count", "2", "--interval", "50ms"]
    try:
        # Python ignores broken pipes, and a program inherits that; one that a shell has started dies of them.
        done = subprocess.run(
            ["env", "--default-signal=PIPE", *command], env=environment("single"), stderr=writing, timeout=60
        )
    finally:
        os.close(writing)
    assert done.returncode == 0
    assert len(gpulse("--replay", path, "--watch", "--speed", "1000", "--json").lines) == 2
