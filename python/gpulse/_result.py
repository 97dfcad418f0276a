# SPDX-License-Identifier: Apache-2.0
"""What a region took, as plain values, and in words."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Optional

MB = 1 << 20  # as nvidia-smi and everybody who quotes it count


@dataclass(frozen=True)
class DeviceUse:
    """What a region took of one device. None: it cannot be told."""

    id: str
    uuid: str
    name: str
    samples: int  # taken within the region; with none, the figures are of the samples around it
    settled: bool  # a sample from after the end is in: the figures will not change any more
    memory_begin_bytes: Optional[float]
    memory_end_bytes: Optional[float]
    memory_peak_bytes: Optional[float]
    memory_total_bytes: Optional[float]
    process_memory_begin_bytes: Optional[float]
    process_memory_end_bytes: Optional[float]
    process_memory_peak_bytes: Optional[float]
    utilization_percent: Optional[float]
    true_activity_percent: Optional[float]
    energy_joules: Optional[float]  # None also where the region is too short to tell: then the bounds say what is known
    energy_min_joules: Optional[float]
    energy_max_joules: Optional[float]

    @property
    def memory_delta_bytes(self) -> Optional[float]:
        return minus(self.memory_end_bytes, self.memory_begin_bytes)

    @property
    def process_memory_delta_bytes(self) -> Optional[float]:
        return minus(self.process_memory_end_bytes, self.process_memory_begin_bytes)


@dataclass(frozen=True)
class TorchMemory:
    """What torch's allocator says of its current device."""

    begin_bytes: int
    end_bytes: int
    peak_bytes: int


@dataclass(frozen=True)
class RegionResult:
    """What a region took."""

    name: str
    seconds: float
    devices: list[DeviceUse]
    synced: bool  # the device was waited for at both ends
    memory: str = "device"  # whose the two figures below are: the device's, this process's, or torch's allocator's
    torch: Optional[TorchMemory] = None
    note: Optional[str] = None  # why there are no figures of devices

    def _sum(self, get: Callable[[DeviceUse], Optional[float]]) -> Optional[float]:
        values = [get(device) for device in self.devices]
        known = [value for value in values if value is not None]
        return sum(known) if known and len(known) == len(values) else None

    def _repr_html_(self) -> str:
        from ._html import region_html

        return region_html(self)

    @property
    def settled(self) -> bool:
        return all(device.settled for device in self.devices)

    @property
    def memory_peak_bytes(self) -> Optional[float]:
        """Of all its devices together, as `memory` says."""
        if self.torch is not None:
            return self.torch.peak_bytes
        if self.memory == "process":
            return self.process_memory_peak_bytes
        return self._sum(lambda one: one.memory_peak_bytes)

    @property
    def memory_delta_bytes(self) -> Optional[float]:
        if self.torch is not None:
            return self.torch.end_bytes - self.torch.begin_bytes
        if self.memory == "process":
            return self._sum(lambda one: one.process_memory_delta_bytes)
        return self._sum(lambda one: one.memory_delta_bytes)

    @property
    def process_memory_peak_bytes(self) -> Optional[float]:
        return self._sum(lambda one: one.process_memory_peak_bytes)

    @property
    def energy_joules(self) -> Optional[float]:
        return self._sum(lambda one: one.energy_joules)

    @property
    def energy_min_joules(self) -> Optional[float]:
        return self._sum(lambda one: one.energy_min_joules)

    @property
    def energy_max_joules(self) -> Optional[float]:
        return self._sum(lambda one: one.energy_max_joules)

    @property
    def utilization_percent(self) -> Optional[float]:
        """The mean of its devices."""
        total = self._sum(lambda one: one.utilization_percent)
        return None if total is None else total / len(self.devices)

    @property
    def true_activity_percent(self) -> Optional[float]:
        total = self._sum(lambda one: one.true_activity_percent)
        return None if total is None else total / len(self.devices)


def minus(one: Optional[float], other: Optional[float]) -> Optional[float]:
    return None if one is None or other is None else one - other


def known(value: float) -> Optional[float]:
    return None if math.isnan(value) else value


def megabytes(value: Optional[float]) -> str:
    return "?" if value is None else f"{value / MB:.0f}"


def percent(part: Optional[float], whole: Optional[float]) -> str:
    return "?" if part is None or not whole else f"{100 * part / whole:.1f}"


def energy_words(low: Optional[float], best: Optional[float], high: Optional[float]) -> Optional[str]:
    if best is not None:
        return f"{best:.4g} J"
    return None if high is None else f"at most {high:.3g} J"


def line_of(result: RegionResult, current: Optional[str] = None) -> str:
    """`get_model: GPU 3, 62731/81559 MB (76.9 %), +1024 MB, 93 % busy, 80 % active, 812 J, 1.2 s`

    `current`: the UUID of the one device to speak of; else those that this process holds memory of, or all.
    """
    used = [one for one in result.devices if (one.process_memory_peak_bytes or 0) > 0]
    shown = [one for one in result.devices if one.uuid == current] or used or result.devices
    parts: list[str] = []
    for one in shown:
        words = [f"GPU {one.id}, {megabytes(one.memory_end_bytes)}/{megabytes(one.memory_total_bytes)} MB "
                 f"({percent(one.memory_end_bytes, one.memory_total_bytes)} %)"]  # fmt: skip
        if one.memory_delta_bytes is not None:
            words.append(f"{one.memory_delta_bytes / MB:+.0f} MB")
        if one.utilization_percent is not None:
            words.append(f"{one.utilization_percent:.0f} % busy")
        if one.true_activity_percent is not None:
            words.append(f"{one.true_activity_percent:.0f} % active")
        energy = energy_words(one.energy_min_joules, one.energy_joules, one.energy_max_joules)
        words += [energy] if energy is not None else []
        parts.append(", ".join(words))
    what = "; ".join(parts) or (result.note or "no GPU is visible")
    return f"{result.name}: {what}, {result.seconds:.3g} s"


