"""The real gpustat, for tests that hold ours against it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from harness import Result, environment, run

GPUSTAT = Path(sys.executable).parent / "gpustat"

MANY_TIMES = """
import contextlib, io, json, sys, time
time.sleep = lambda seconds: None
from gpustat.cli import main
answers = []
for arguments in json.load(open(sys.argv[1])):
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main("gpustat", *arguments)
        except SystemExit as end:
            code = end.code or 0
    answers.append([code, out.getvalue(), err.getvalue()])
json.dump(answers, open(sys.argv[2], "w"))
"""

TIMES = (
    (re.compile(r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}"), "TIME"),
    (re.compile(r'"query_time": "\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?"'), '"query_time": "TIME"'),
)


def mask(text: str) -> str:
    for pattern, word in TIMES:
        text = pattern.sub(word, text)
    return text


def theirs(folder: Path, scenario: str | Path | None, lines: list[list[str]], **more: str) -> list[Result]:
    """What it says to each command line, in one interpreter and without its pause of a tenth of a second per GPU."""
    (folder / "lines.json").write_text(json.dumps(lines))
    done = run(
        [sys.executable, "-I", "-c", MANY_TIMES, folder / "lines.json", folder / "answers.json"],
        environment(scenario, **more),
        timeout=300,
    )
    assert done.code == 0, done.err
    return [Result(*answer) for answer in json.loads((folder / "answers.json").read_text())]
