# SPDX-License-Identifier: Apache-2.0
"""`%load_ext gpulse`: %%gpu tells what a cell took, %gpu_live draws while cells run.

The only module that IPython is imported for.
"""

# IPython need not be there when this is checked: then its types are unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import ast
import contextlib
import shlex
from dataclasses import dataclass
from typing import Any, Optional

from IPython.core.magic import output_can_be_silenced
from IPython.display import display

from ._errors import GpulseError, NoSample
from ._finding import Findings
from ._html import dim, findings_html, region_html
from ._live import Live, live
from ._monitor import Monitor
from ._region import region
from ._result import RegionResult, line_of

_INTERVAL = 0.1  # as that of regions
# What can be judged as one.
_SHORTEST, _LONGEST = 3.0, 120.0


@dataclass(frozen=True)
class CellReport:
    """What a cell took, and why the GPUs were not busy."""

    result: RegionResult
    findings: Findings
    note: Optional[str] = None  # what the findings do not speak of

    def __str__(self) -> str:
        lines = [line_of(self.result), *map(str, self.findings)]
        return "\n".join(lines + ([self.note] if self.note else []))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        findings = findings_html(self.findings) if self.findings else ""
        return region_html(self.result) + findings + (dim(self.note) if self.note else "")


def _judge(monitor: Monitor, result: RegionResult) -> CellReport:
    if not result.devices:
        return CellReport(result, Findings())
    if result.seconds < _SHORTEST:
        return CellReport(result, Findings(), f"findings need a cell of {_SHORTEST:g} seconds or more")
    try:
        findings = monitor.diagnose(min(result.seconds, _LONGEST))
    except GpulseError as problem:
        return CellReport(result, Findings(), str(problem))
    late = f"the findings are of its last {_LONGEST:g} seconds" if result.seconds > _LONGEST else None
    return CellReport(result, findings, late)


def _run_cell(shell: Any, cell: str) -> object:
    """Runs it as a cell of its own: the value of its last expression, and tracebacks that show its lines."""
    text = shell.transform_cell(cell)
    file = shell.compile.cache(text, shell.execution_count, raw_code=cell)
    tree = shell.transform_ast(shell.compile.ast_parse(text, filename=file))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(shell.compile(tree, file, "exec"), shell.user_ns)
    return None if last is None else eval(shell.compile(ast.Expression(last.value), file, "eval"), shell.user_ns)


class Magics:
    """What `%load_ext gpulse` adds to a shell."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._live: Optional[Live] = None

    def gpu(self, line: str, cell: str) -> object:
        """What the cell took of the GPUs: time, memory, use, energy, and why they were not busy.

        %%gpu [NAME]
        """
        name = line.strip() or f"cell {len(self._shell.user_ns['In']) - 1}"
        # Made anew for each cell, so that nothing goes on between them.
        with Monitor(interval=_INTERVAL, history=0, findings=True) as monitor:
            # The region would have nothing to begin with.
            with contextlib.suppress(NoSample):
                monitor.wait(timeout=3.0)
            measured = region(name, monitor=monitor)
            entered = measured.__enter__()
            try:
                return _run_cell(self._shell, cell)
            finally:
                # Also of a cell that failed.
                measured.__exit__(None, None, None)
                display(_judge(monitor, entered.settle()))

    def gpu_live(self, line: str) -> None:
        """Draws the GPUs until `%gpu_live stop`, while cells run and between them.

        %gpu_live [WINDOW] [METRIC …]
        """
        if self._live is not None:
            self._live.stop()
            self._live = None
        words = shlex.split(line)
        if words != ["stop"]:
            self._live = live(words[0] if words else "1m", metrics=words[1:] or None, background=True)


def load(shell: Any) -> None:
    magics = Magics(shell)
    output_can_be_silenced(Magics.gpu)  # by a semicolon behind the last expression, as elsewhere
    shell.register_magic_function(magics.gpu, "cell", "gpu")
    shell.register_magic_function(magics.gpu_live, "line", "gpu_live")
