# SPDX-License-Identifier: Apache-2.0
"""A training under way: when to write what. Called from its loop, on its thread.

A step costs some microseconds: it counts, and looks for a new sample only a few times per sample. What is written is written
once per sample.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Optional, TypedDict, Union

from .._errors import NoSample
from .._finding import Finding
from .._monitor import Monitor, seconds_of
from .._region import Region
from .._sample import Readings, Sample
from ._rank import Rank, spoken_for
from ._sampler import start_shared
from ._throughput import Throughput, cost_of

Write = Callable[[Mapping[str, float], int], object]  # values by name, and the training step
Tell = Callable[[str], object]

DEFAULT_METRICS = (
    "gpu_utilization_percent",
    "sm_active_percent",
    "memory_used_percent",
    "power_draw_watts",
    "temperature_gpu_celsius",
    "host.cpu_percent",
)
_HOST = "host."
_LONGEST_PAUSE = 0.05  # seconds between two looks for a new sample


class Options(TypedDict, total=False):
    """What every integration can be asked for."""

    interval: Union[float, str]  # between two samples, and so between two points: 1 second
    metrics: Iterable[str]  # keys of metrics, "host." before those of the machine
    findings: bool  # False: nothing is said of why the GPUs are not busy


class Session:
    """From the begin of a training to its end. `for_node`: this rank speaks for all ranks of its machine."""

    def __init__(self, write: Write, tell: Tell, rank: Rank, for_node: bool, options: Options) -> None:
        self._write = write
        self._tell = tell
        self._keys = tuple(options.get("metrics", DEFAULT_METRICS))
        self._watch = options.get("findings", True)
        self._number = 0  # of the sample that was written last
        self._step = -1
        self._told: set[int] = set()  # numbers of findings
        self._region: Optional[Region] = None
        self._epoch_samples: Optional[float] = None
        self._throughput = Throughput()
        interval = options.get("interval", 1.0)
        self._pause = min(_LONGEST_PAUSE, seconds_of(interval) / 4)
        self._next_look = 0.0
        self._monitor = Monitor("all", interval=interval, metrics=self._keys, history=0, findings=self._watch)
        self._uuids = self._begin(rank, for_node)

    def _begin(self, rank: Rank, for_node: bool) -> Sequence[str]:
        if rank.is_distributed and not for_node:
            start_shared(self._monitor)
        try:
            sample = self._monitor.wait(timeout=3.0)
        except NoSample as problem:
            self._tell(f"gpulse: {problem}: no values are logged")
            return ()
        devices = spoken_for(sample, rank, for_node)
        if not devices:
            why = sample.absence or "none of the machine's GPUs is this process's"
            self._tell(f"gpulse: {why}: only the values of the machine are logged")
        return [device.uuid for device in devices]

    def close(self) -> None:
        self._monitor.close()

    # -- steps

    def step(self, number: Optional[int], samples: Optional[float]) -> None:
        self._step = self._step + 1 if number is None else number
        self._monitor.set_step(self._step)
        now = time.monotonic()
        self._throughput.add(samples, now)
        if samples is not None:
            self._epoch_samples = (self._epoch_samples or 0.0) + samples
        if now < self._next_look:
            return
        self._next_look = now + self._pause
        sample = self._monitor.latest()
        if sample is None or sample.number == self._number:
            return
        self._number = sample.number
        self._write(self._values_of(sample), self._step)
        if self._watch:
            self._tell_new(self._monitor.findings())

    def _values_of(self, sample: Sample) -> dict[str, float]:
        of_host = [key[len(_HOST) :] for key in self._keys if key.startswith(_HOST)]
        of_device = [key for key in self._keys if not key.startswith(_HOST)]
        values = _numbers(sample.host, "host/", of_host)
        for device in sample.all_devices:
            if device.uuid in self._uuids:
                values.update(_numbers(device, f"gpu{device.id}/", of_device))
        speed = self._throughput.per_second()
        if speed is not None:
            values[f"throughput/{self._throughput.unit}_per_second"] = speed
        return values

    def _tell_new(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            if finding.number in self._told or not any(uuid in self._uuids for uuid in finding.uuids):
                continue
            self._told.add(finding.number)
            cost = cost_of(finding, self._throughput)
            # One thing to try at a time; `gpulse explain` has the rest.
            advice = f"; try: {finding.advice[0]}" if finding.advice else ""
            self._tell(f"gpulse: {finding}{cost and f' ({cost})'}{advice}")

    # -- epochs

    def begin_epoch(self) -> None:
        self._epoch_samples = None
        self._region = Region("epoch", self._uuids, "device", None, False, self._monitor)

    def end_epoch(self) -> Optional[dict[str, float]]:
        """Waits for nothing: the counters' last second is taken to be as the seconds before."""
        region, self._region = self._region, None
        if region is None:
            return None
        region._end()
        result = region.result
        values: dict[str, float] = {"epoch/seconds": result.seconds}
        if self._epoch_samples is not None:
            values["epoch/samples_per_second"] = self._epoch_samples / result.seconds
        for use in result.devices:
            peak, total = use.memory_peak_bytes, use.memory_total_bytes
            figures = {
                "energy_joules": use.energy_joules,
                "utilization_percent": use.utilization_percent,
                "true_activity_percent": use.true_activity_percent,
                "memory_peak_percent": None if peak is None or not total else 100 * peak / total,
            }
            values.update({f"epoch/gpu{use.id}/{name}": value for name, value in figures.items() if value is not None})
        self._write(values, max(self._step, 0))
        return values


def _numbers(readings: Readings, before: str, keys: Iterable[str]) -> dict[str, float]:
    """Those that have a number now."""
    found = ((key, readings[key]) for key in keys)
    return {before + key: float(value) for key, value in found if isinstance(value, (int, float))}
