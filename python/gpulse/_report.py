# SPDX-License-Identifier: Apache-2.0
"""What all regions of this process took together, by name."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Optional, Protocol

from ._result import MB, RegionResult, energy_words, megabytes


class _Ended(Protocol):
    """A region that has ended."""

    name: str
    ended: Optional[float]

    @property
    def result(self) -> RegionResult: ...


@dataclass
class ReportRow:
    """What all calls of one name took together."""

    name: str
    calls: int = 0
    seconds: float = 0.0
    longest_seconds: float = 0.0
    memory_peak_bytes: Optional[float] = None
    memory_delta_bytes: Optional[float] = None  # the largest of a call
    energy_joules: Optional[float] = 0.0
    energy_min_joules: Optional[float] = 0.0
    energy_max_joules: Optional[float] = 0.0
    _busy: float = field(default=0.0, repr=False)
    _active: float = field(default=0.0, repr=False)
    _busy_seconds: float = field(default=0.0, repr=False)
    _active_seconds: float = field(default=0.0, repr=False)

    @property
    def utilization_percent(self) -> Optional[float]:
        """The mean over the time that the calls took."""
        return self._busy / self._busy_seconds if self._busy_seconds > 0 else None

    @property
    def true_activity_percent(self) -> Optional[float]:
        return self._active / self._active_seconds if self._active_seconds > 0 else None

    def add(self, result: RegionResult) -> None:
        self.calls += 1
        self.seconds += result.seconds
        self.longest_seconds = max(self.longest_seconds, result.seconds)
        self.memory_peak_bytes = _most(self.memory_peak_bytes, result.memory_peak_bytes)
        self.memory_delta_bytes = _most(self.memory_delta_bytes, result.memory_delta_bytes)
        self.energy_joules = _plus(self.energy_joules, result.energy_joules)
        self.energy_min_joules = _plus(self.energy_min_joules, result.energy_min_joules)
        self.energy_max_joules = _plus(self.energy_max_joules, result.energy_max_joules)
        if result.utilization_percent is not None:
            self._busy += result.utilization_percent * result.seconds
            self._busy_seconds += result.seconds
        if result.true_activity_percent is not None:
            self._active += result.true_activity_percent * result.seconds
            self._active_seconds += result.seconds


def _plus(one: Optional[float], other: Optional[float]) -> Optional[float]:
    return None if one is None or other is None else one + other


def _most(one: Optional[float], other: Optional[float]) -> Optional[float]:
    return other if one is None else one if other is None else max(one, other)


class Report:
    """What the regions of this process took, by name: `print(gpulse.report())`."""

    def __init__(self, rows: list[ReportRow]) -> None:
        self.rows = rows

    def __iter__(self) -> Iterator[ReportRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> ReportRow:
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(name)

    def _repr_html_(self) -> str:
        from ._html import report_html

        return report_html(self.rows)

    def __str__(self) -> str:
        if not self.rows:
            return "no region has ended yet"
        lines = [("REGION", "CALLS", "TOTAL s", "MEAN s", "PEAK MB", "DELTA MB", "BUSY %", "ACTIVE %", "ENERGY")]
        for row in self.rows:
            energy = energy_words(row.energy_min_joules, row.energy_joules, row.energy_max_joules)
            lines.append((row.name, str(row.calls), f"{row.seconds:.3f}", f"{row.seconds / row.calls:.3g}",
                          megabytes(row.memory_peak_bytes).replace("?", "-"),
                          "-" if row.memory_delta_bytes is None else f"{row.memory_delta_bytes / MB:+.0f}",
                          "-" if row.utilization_percent is None else f"{row.utilization_percent:.0f}",
                          "-" if row.true_activity_percent is None else f"{row.true_activity_percent:.0f}",
                          energy or "-"))  # fmt: skip
        widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
        return "\n".join(
            "  ".join(cell.ljust(width) if column == 0 else cell.rjust(width)
                      for column, (cell, width) in enumerate(zip(line, widths))).rstrip()
            for line in lines
        )  # fmt: skip


class Reports:
    """Regions wait here until their figures are final, a thousand of them at most."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[_Ended] = deque()
        self._rows: dict[str, ReportRow] = {}

    def _fold(self, region: _Ended) -> None:
        row = self._rows.setdefault(region.name, ReportRow(region.name))
        row.add(region.result)

    def add(self, region: _Ended) -> None:
        with self._lock:
            self._waiting.append(region)
            while self._waiting and (len(self._waiting) > 1000 or time.perf_counter() - (self._waiting[0].ended or 0) > 3):
                self._fold(self._waiting.popleft())

    def report(self, wait: float) -> Report:
        until = time.monotonic() + wait
        with self._lock:
            taken, self._waiting = self._waiting, deque()
        # Not with the lock held: the program goes on to end regions meanwhile.
        for region in taken:
            while not region.result.settled and time.monotonic() < until:
                time.sleep(0.02)
        with self._lock:
            for region in taken:
                self._fold(region)
            return Report(sorted((replace(row) for row in self._rows.values()), key=lambda row: -row.seconds))

    def clear(self) -> None:
        with self._lock:
            self._waiting.clear()
            self._rows.clear()


reports = Reports()


def report(*, wait: float = 3.0, reset: bool = False) -> Report:
    """What the regions of this process took so far, by name, the longest first. `wait`: at most so many seconds for the
    figures of those that have just ended."""
    found = reports.report(wait)
    if reset:
        reports.clear()
    return found


