"""gpulse smi says, byte for byte, what nvidia-smi said on an H200: the outputs that were recorded there, each at its moment."""

from __future__ import annotations

import re
import subprocess
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Iterator

import pytest

from harness import GPULSE, ROOT, environment

DATA = ROOT / "tests" / "data" / "h200"
CAPTURES = tomllib.loads((DATA / "moments.toml").read_text())["capture"]
SECONDS_PER_MOMENT = 100

# When it was is nobody's to repeat.
TIMES = [
    re.compile(r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{3}"),
    re.compile(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}"),
    re.compile(r"(?<= )\d{8}((?:, |    )\d\d:\d\d:\d\d)?(?=[ ,])"),
    re.compile(r"^ \d\d:\d\d:\d\d(?=[ ,])", re.MULTILINE),
]


def timeless(text: str) -> str:
    for pattern in TIMES:
        text = pattern.sub(lambda match: re.sub(r"\w", "T", match[0]), text)
    return text


def run_at(moment: int, arguments: list[str], machine: Path, seconds: float | None) -> tuple[str, int]:
    """The output and the exit code; after so many seconds it is stopped, as a user would."""
    env = environment("h200-capture", GPULSE_SIM_TIME=str(moment * SECONDS_PER_MOMENT), TZ="UTC")
    command = [GPULSE, "smi", "--sysroot", machine, *arguments]
    with subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        try:
            out, _ = process.communicate(timeout=seconds or 60)
        except subprocess.TimeoutExpired:
            process.terminate()
            out, _ = process.communicate(timeout=10)
            return out.decode(), 0
        return out.decode(), process.returncode


@pytest.fixture(scope="module")
def outputs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What each chosen command prints; several at a time, as most of them wait for the next second."""
    machine = tmp_path_factory.mktemp("machine")
    (machine / "proc").mkdir()
    chosen = [item.callspec.params["capture"] for item in request.session.items if item.name.startswith("test_output[")
              and item.path == Path(__file__)]  # fmt: skip
    with ThreadPoolExecutor(4) as pool:
        yield {
            one["file"]: pool.submit(run_at, one["moment"], one["arguments"], machine, one.get("seconds"))
            for one in chosen
        }


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda capture: capture["file"])
def test_output(capture: dict[str, Any], outputs: dict[str, Any]) -> None:
    expected = (DATA / capture["file"]).read_text()
    seconds = capture.get("seconds")
    out, code = outputs[capture["file"]].result()
    if seconds:
        # How many rows it came to is a matter of the machine's pace.
        rows = min(out.count("\n"), expected.count("\n"))
        assert rows > 1
        out = "".join(out.splitlines(keepends=True)[:rows])
        expected = "".join(expected.splitlines(keepends=True)[:rows])
    assert timeless(out) == timeless(expected)
    assert code == capture.get("exit", 0)


def test_nothing_recorded_is_left_out() -> None:
    listed = {capture["file"] for capture in CAPTURES}
    files = {str(path.relative_to(DATA)) for path in DATA.rglob("*") if path.is_file()}
    assert files - listed == {"moments.toml", "nvsmi_device.dtd"}


def test_nobodys_identity_is_told() -> None:
    masked = "GPU-00000000-1111-2222-3333-444444444444"
    for path in DATA.rglob("*"):
        if not path.is_file() or path.name == "moments.toml":
            continue
        assert set(re.findall(r"GPU-[0-9a-f]{8}-[0-9a-f-]{27}", path.read_text())) <= {masked}, path
