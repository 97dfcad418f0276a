# SPDX-License-Identifier: Apache-2.0
"""The course of one metric over a window of time, folded as it comes: its size is bounded, however long it goes on."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Optional


class Step:
    """The samples of one stretch, no wider than what can be told apart in a picture."""

    __slots__ = ("number", "joined", "count", "times", "total", "least", "greatest")

    def __init__(self, number: int, joined: bool) -> None:
        self.number = number
        self.joined = joined  # nothing is missing between it and the step before
        self.count = 0
        self.times = 0.0
        self.total = 0.0
        self.least = float("inf")
        self.greatest = float("-inf")

    def add(self, time: float, value: float) -> None:
        self.count += 1
        self.times += time
        self.total += value
        self.least = min(self.least, value)
        self.greatest = max(self.greatest, value)

    @property
    def time(self) -> float:
        return self.times / self.count

    @property
    def mean(self) -> float:
        return self.total / self.count


class Curve:
    """At most so many steps of a window. `patience`: from which silence on something is missing."""

    def __init__(self, window: float, most_steps: int, patience: float) -> None:
        self._window = window
        self._width = window / most_steps
        self._patience = patience
        self._last_time: Optional[float] = None  # None: the next step begins anew
        self.steps: deque[Step] = deque(maxlen=most_steps + 2)  # bounded also where the clock is set back
        self.latest: Optional[float] = None  # None: the last sample had no value

    def add(self, time: float, values: Sequence[float]) -> None:
        """What a sample had: of one device, or of several that share a curve; nothing where it had no value."""
        self.latest = sum(values) / len(values) if values else None
        if not values:
            self._last_time = None
            return
        joined = self._last_time is not None and time - self._last_time <= self._patience
        number = int(time / self._width)
        if not self.steps or self.steps[-1].number != number:
            self.steps.append(Step(number, joined))
        for value in values:
            self.steps[-1].add(time, value)
        self._last_time = time
        self.forget(time - self._window)

    def forget(self, before: float) -> None:
        """What is older; the step that reaches into the window stays."""
        while len(self.steps) > 1 and self.steps[1].time < before:
            self.steps.popleft()
