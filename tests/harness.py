"""Runs the built program as a user would, on the simulator or on a bare machine."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("GPULSE_BUILD", ROOT / "build"))
GPULSE = BUILD / "gpulse"
SIM = BUILD / "sim"
SCENARIOS = sorted(path.stem for path in (ROOT / "sim" / "scenarios").glob("*.toml"))

MIB = 1 << 20


@dataclass
class Result:
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.out)

    @property
    def json_lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines]

    @property
    def csv(self) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.out)))


def environment(scenario: str | Path | None = None, **more: str) -> dict[str, str]:
    """What the program sees: nothing of the user's own settings; with a scenario, the simulator as the driver."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "GPULSE_AGENT": "off",
        "GPULSE_LEASES": str(BUILD / "leases"),
    }
    if scenario is not None:
        env["LD_LIBRARY_PATH"] = str(SIM)
        env["GPULSE_SIM_SCENARIO"] = str(scenario)
    return env | more


def run(command: list[str | Path], env: dict[str, str], timeout: float = 60, stdout: Any = subprocess.PIPE) -> Result:
    done = subprocess.run(
        [str(word) for word in command],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        timeout=timeout,
        encoding="utf-8",
    )
    return Result(done.returncode, done.stdout or "", done.stderr)


def gpulse(*arguments: str | Path, scenario: str | Path | None = None, timeout: float = 60, **more: str) -> Result:
    return run([GPULSE, *arguments], environment(scenario, **more), timeout)


def only_line(text: str) -> str:
    lines = text.splitlines()
    assert len(lines) == 1, f"expected one line, got {lines}"
    return lines[0]
