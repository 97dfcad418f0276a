# SPDX-License-Identifier: Apache-2.0
"""How fast the training goes, and how fast it could go at best."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, Optional

from .._finding import Finding

# Findings judge the last half minute, so the speed beside them is of the same time.
_WINDOW_SECONDS = 30.0


class Throughput:
    """Samples, or steps where nobody tells how many samples a step has."""

    def __init__(self) -> None:
        self.unit = "steps"
        self._count = 0.0
        self._marks: deque[tuple[float, float]] = deque()

    def add(self, samples: Optional[float], now: float) -> None:
        """A step has ended."""
        if samples is not None and self.unit == "steps":
            self.unit = "samples"
            self._count = 0.0
            self._marks.clear()
        if not self._marks:  # counted from the end of the first step: it has started everything up
            self._marks.append((now, 0.0))
            return
        self._count += samples if self.unit == "samples" and samples is not None else 1.0 if self.unit == "steps" else 0.0
        if now - self._marks[-1][0] >= 0.5 or len(self._marks) < 2:
            self._marks.append((now, self._count))
        else:
            self._marks[-1] = (now, self._count)
        while len(self._marks) > 2 and now - self._marks[1][0] > _WINDOW_SECONDS:
            self._marks.popleft()

    def per_second(self) -> Optional[float]:
        if len(self._marks) < 2:
            return None
        (begin, before), (end, after) = self._marks[0], self._marks[-1]
        return (after - before) / (end - begin) if end > begin else None


def cost_of(finding: Finding, throughput: Throughput) -> str:
    """What it costs, in the words of who trains: "at best 2.9x faster: 410 -> 1180 samples/s"."""
    lost = finding.lost_share
    # Of a GPU that does nothing at all no speed can be foretold.
    if lost is None or not 0.01 <= lost <= 0.99:
        return ""
    factor = 1 / (1 - lost)
    speed = throughput.per_second()
    figures = "" if speed is None else f": {speed:.3g} -> {speed * factor:.3g} {throughput.unit}/s"
    return f"at best {factor:.2g}x faster{figures}"


def batch_size_of(batch: Any) -> Optional[int]:
    """The length of the first array in a batch, however it is nested."""
    shape = getattr(batch, "shape", None)
    if shape is not None:
        try:
            return int(shape[0])
        except (IndexError, TypeError):  # a number, or an array whose size is not known yet
            return None
    if isinstance(batch, Mapping):
        batch = list(batch.values())  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if not isinstance(batch, (list, tuple)):
        return None
    sizes = (batch_size_of(part) for part in batch)  # pyright: ignore[reportUnknownVariableType]
    return next((size for size in sizes if size is not None), None)
