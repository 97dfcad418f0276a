# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, as types: each with one sentence that says what, and what to do."""

from __future__ import annotations

from collections.abc import Mapping


class GpulseError(Exception):
    """The base of all of these."""


class LibraryError(GpulseError):
    """libgpulse.so is missing, or is not the one that this package needs."""


class UnknownMetric(GpulseError, KeyError):
    """No metric has this key."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class UnknownDevice(GpulseError, LookupError):
    """No device, or more than one, is meant."""


class MonitorClosed(GpulseError):
    """The monitor was closed."""


class MonitorForked(MonitorClosed):
    """The monitor belongs to the process that this one was forked from, and no agent runs that it could attach to."""


class NoSample(GpulseError, TimeoutError):
    """No sample came in time."""


class NoGpuAvailable(GpulseError):
    """No GPU can be had. `reasons` says why, for each."""

    def __init__(self, message: str, reasons: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.reasons: dict[str, str] = dict(reasons or {})
