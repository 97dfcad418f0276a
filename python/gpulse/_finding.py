# SPDX-License-Identifier: Apache-2.0
"""Why the GPUs are not busy, as plain values."""

from __future__ import annotations

import ctypes
import datetime
import math
from collections.abc import Container
from dataclasses import dataclass, field
from typing import Optional

from . import _library
from ._library import library, raise_for

_SEVERITIES = ("ok", "note", "problem")


@dataclass(frozen=True)
class Finding:
    """Something that is to be said of the GPUs. Printed, it is its sentence."""

    id: str  # "input-cpu", "launch-bound", "hung", …: `gpulse explain ID` has more
    severity: str  # "problem", "note", or "ok" where there is nothing to mend
    confidence: float  # from 0 to 1
    estimated: bool  # the GPU does not tell what would be needed to be sure
    devices: list[str]  # "0", "0:1": numbers in the machine
    uuids: list[str]  # of the same devices; "" where it is not known
    pids: list[int]
    since: float  # seconds since 1970, as in a Sample
    until: float
    lost_share: Optional[float]  # of GPU time, from 0 to 1; None: it costs none, or how much cannot be told
    text: str  # one sentence
    evidence: dict[str, float] = field(repr=False)  # the numbers that it rests on; names end in their unit
    advice: list[str] = field(repr=False)  # what to try, the first first
    number: int = 0  # stays the same while it lasts, never used again by its monitor; 0: of diagnose()

    @property
    def datetime(self) -> datetime.datetime:
        """When it began."""
        return datetime.datetime.fromtimestamp(self.since, datetime.timezone.utc)

    def __str__(self) -> str:
        estimated = ", estimated" if self.estimated else ""
        return f"{self.severity}: {self.id}, GPU {', '.join(self.devices)}{estimated}: {self.text}"

    def _repr_html_(self) -> str:
        from ._html import finding_html

        return finding_html(self)


class Findings(list[Finding]):
    """A list of them, which a notebook shows as such."""

    def _repr_html_(self) -> str:
        from ._html import findings_html

        return findings_html(self)


def take_findings(handle: int, uuids: Optional[Container[str]] = None) -> Findings:
    """Those of a list of the library's, which is freed; `uuids`: only what is about any of these devices."""
    lib = library()
    try:
        info = _library.FindingsInfo(size=ctypes.sizeof(_library.FindingsInfo))
        raise_for(lib.get_findings_info(handle, ctypes.byref(info)))
        found = [_finding(handle, index) for index in range(info.count)]
    finally:
        lib.findings_free(handle)
    return Findings(one for one in found if uuids is None or any(uuid in uuids for uuid in one.uuids))


def _finding(handle: int, index: int) -> Finding:
    told = _library.Finding(size=ctypes.sizeof(_library.Finding))
    raise_for(library().get_finding(handle, index, ctypes.byref(told)))
    facts = zip(told.facts[: told.fact_count], told.values[: told.fact_count])
    return Finding(
        id=told.id.decode(),
        severity=_SEVERITIES[int(told.severity)],
        confidence=told.confidence,
        estimated=bool(told.estimated),
        devices=[one.decode() for one in told.devices[: told.device_count]],
        uuids=[one.decode() for one in told.uuids[: told.device_count]],
        pids=list(told.pids[: told.pid_count]),
        since=told.since / 1e9,
        until=told.until / 1e9,
        lost_share=None if math.isnan(told.lost_share) else told.lost_share,
        text=told.text.decode(),
        evidence={name.decode(): value for name, value in facts},
        advice=[one.decode() for one in told.advice[: told.advice_count]],
        number=told.number,
    )
