"""Runs Python programs that use the package, on the simulator."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

from harness import BUILD, ROOT, Result, environment, run

LIBRARY = BUILD / "libgpulse.so"


def python_environment(scenario: str | Path | None, **more: str) -> dict[str, str]:
    found = {"PYTHONPATH": str(ROOT / "python"), "GPULSE_LIBRARY": str(LIBRARY), "PYTHONDONTWRITEBYTECODE": "1"}
    env = environment(scenario, **found)
    # The program that answers for CUDA's order, as it would be found in an installed package.
    env["PATH"] = f"{BUILD}:{env['PATH']}"
    return env | more


def run_python(program: str | Path, *arguments: str | Path, scenario: str | Path | None = None, timeout: float = 60,
               **more: str) -> Result:  # fmt: skip
    """`program`: the text of one, or a file."""
    words = [program] if isinstance(program, Path) else ["-c", "import gpulse\n" + textwrap.dedent(program)]
    return run([sys.executable, "-X", "dev", "-W", "error", *words, *arguments], python_environment(scenario, **more),
               timeout)  # fmt: skip


def output_of(program: str | Path, *arguments: str | Path, scenario: str | Path | None = None, timeout: float = 60,
              **more: str) -> str:  # fmt: skip
    """What a program prints that must end well and complain of nothing."""
    done = run_python(program, *arguments, scenario=scenario, timeout=timeout, **more)
    assert (done.code, done.err) == (0, ""), done
    return done.out
