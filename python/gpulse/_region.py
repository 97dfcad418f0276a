# SPDX-License-Identifier: Apache-2.0
"""What a stretch of a program takes of the GPUs: time, memory, use, energy.

A region is a context manager and a decorator. Its figures come from samples that a background monitor takes ten times a
second: the program is neither stopped nor synchronised, unless it asks for that.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import inspect
import math
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Optional, TypeVar, Union, cast, overload

from ._errors import GpulseError, MonitorForked, NoSample
from ._library import OK, RegionUse, library
from ._monitor import DeviceChoice, Monitor
from ._sample import Device, Sample
from ._snapshot import snapshot
from ._visible import shown_devices, visible

Function = TypeVar("Function", bound=Callable[..., Any])
Sync = Union[None, str, Callable[[], object]]

_MB = 1 << 20  # as nvidia-smi and everybody who quotes it count
_INTERVAL = 0.1


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
        return _minus(self.memory_end_bytes, self.memory_begin_bytes)

    @property
    def process_memory_delta_bytes(self) -> Optional[float]:
        return _minus(self.process_memory_end_bytes, self.process_memory_begin_bytes)


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
    torch: Optional[TorchMemory] = None
    note: Optional[str] = None  # why there are no figures of devices

    def _sum(self, get: Callable[[DeviceUse], Optional[float]]) -> Optional[float]:
        values = [get(device) for device in self.devices]
        known = [value for value in values if value is not None]
        return sum(known) if known and len(known) == len(values) else None

    @property
    def settled(self) -> bool:
        return all(device.settled for device in self.devices)

    @property
    def memory_peak_bytes(self) -> Optional[float]:
        """Of all its devices together; of torch's allocator where that was asked for."""
        return self.torch.peak_bytes if self.torch is not None else self._sum(lambda one: one.memory_peak_bytes)

    @property
    def memory_delta_bytes(self) -> Optional[float]:
        if self.torch is not None:
            return self.torch.end_bytes - self.torch.begin_bytes
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


def _minus(one: Optional[float], other: Optional[float]) -> Optional[float]:
    return None if one is None or other is None else one - other


def _known(value: float) -> Optional[float]:
    return None if math.isnan(value) else value


# -- the monitor behind all regions

_lock = threading.Lock()
_shared: Optional[Monitor] = None


def _monitor() -> Monitor:
    global _shared
    with _lock:
        if _shared is None or _shared.closed:
            _shared = Monitor("all", interval=_INTERVAL, history=0)
            _shared.start()
            # The first region would have nothing to begin with.
            with contextlib.suppress(NoSample):
                _shared.wait(0, timeout=3.0)
        _shared.start()
        return _shared


class Region:
    """A region that is going on, or has ended. `result` may be asked for at any time."""

    def __init__(self, name: str, devices: DeviceChoice, memory: str, sync: Sync, echo: bool,
                 monitor: Optional[Monitor]) -> None:  # fmt: skip
        self.name = name
        self._memory = memory
        self._sync = sync
        self._echo = echo
        self._devices = devices
        self._handle: Optional[int] = None
        self._note: Optional[str] = None
        self._shown: list[Device] = []
        self._torch: Optional[_TorchPeak] = None
        self._ended: Optional[float] = None
        _synchronize(sync)
        try:
            source = monitor if monitor is not None else _monitor()
            self._source = source
            if echo:
                source.refresh()
            sample = source.latest()
            if sample is not None:
                chosen = shown_devices(sample, devices)
                everything = sample.all_devices
                by_uuid = {device.uuid: device for device in everything}
                self._shown = everything if chosen is None else [by_uuid[uuid] for uuid in chosen if uuid in by_uuid]
                self._note = sample.absence
            self._handle = library().region_begin(source._handle, name.encode())
        except (MonitorForked, NoSample) as problem:
            self._note = str(problem)
        if memory == "torch":
            self._torch = _TorchPeak()
        self._begun = time.perf_counter()

    def _end(self) -> None:
        if self._ended is not None:
            return
        _synchronize(self._sync)
        self._ended = time.perf_counter()
        if self._torch is not None:
            self._torch.end()
        if self._handle is not None:
            library().region_end(self._handle)
        if self._echo:
            with contextlib.suppress(GpulseError):
                if self._handle is not None:
                    self._source.refresh()
            print(line_of(self.result), flush=True)
        _report.add(self)

    def __del__(self) -> None:
        handle, self._handle = self.__dict__.get("_handle"), None
        if handle:
            library().region_free(handle)

    @property
    def result(self) -> RegionResult:
        """What it took, so far or until its end. Gets better for a moment after the end, until `settled`."""
        seconds = (self._ended if self._ended is not None else time.perf_counter()) - self._begun
        used = [one for one in (self._use_of(device) for device in self._shown) if one is not None]
        return RegionResult(self.name, seconds, used, self._sync is not None,
                            None if self._torch is None else self._torch.result(), self._note)  # fmt: skip

    def settle(self, timeout: float = 3.0) -> RegionResult:
        """Waits for the sample after the end, and gives the final figures."""
        until = time.monotonic() + timeout
        while True:
            result = self.result
            if result.settled or time.monotonic() > until:
                return result
            time.sleep(0.02)

    def _use_of(self, device: Device) -> Optional[DeviceUse]:
        use = RegionUse(size=ctypes.sizeof(RegionUse))
        if self._handle is None or library().region_get(self._handle, device.uuid.encode(), ctypes.byref(use)) != OK:
            return None
        return DeviceUse(
            device.id, device.uuid, device.name, use.samples, bool(use.settled),
            *(_known(value) for value in (
                use.memory_begin, use.memory_end, use.memory_peak, use.memory_total, use.process_memory_begin,
                use.process_memory_end, use.process_memory_peak, use.utilization, use.true_activity, use.energy,
                use.energy_min, use.energy_max)),
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<gpulse.Region {self.name!r}, {'ended' if self._ended is not None else 'going on'}>"


class _TorchPeak:
    """The peak of torch's allocator within a region. Regions inside one another each have their own."""

    _open: list[_TorchPeak] = []

    def __init__(self) -> None:
        torch = sys.modules.get("torch")
        if torch is None or not torch.cuda.is_initialized():
            raise GpulseError("torch has not used a GPU yet: there is nothing to ask its allocator for")
        self._cuda: Any = torch.cuda
        self._device = torch.cuda.current_device()
        self._keep_peaks()
        self.begin = int(self._cuda.memory_allocated(self._device))
        self.peak = self.begin
        self.last = self.begin
        self._open.append(self)

    def _keep_peaks(self) -> None:
        """The allocator has one peak: those that watch it keep theirs before it is reset."""
        peak = int(self._cuda.max_memory_allocated(self._device))
        for one in self._open:
            if one._device == self._device:
                one.peak = max(one.peak, peak)
        self._cuda.reset_peak_memory_stats(self._device)

    def end(self) -> None:
        self._keep_peaks()
        self.last = int(self._cuda.memory_allocated(self._device))
        self._open.remove(self)

    def result(self) -> TorchMemory:
        return TorchMemory(self.begin, self.last, self.peak)


def _synchronize(sync: Sync) -> None:
    if sync is None:
        return
    if callable(sync):
        sync()
    elif sync == "torch":
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            torch.cuda.synchronize()
    elif sync == "cupy":
        cupy = sys.modules.get("cupy")
        if cupy is not None:
            cupy.cuda.Device().synchronize()
    elif sync == "jax":
        jax = sys.modules.get("jax")
        if jax is not None:
            jax.effects_barrier()
    else:
        raise ValueError(f"sync={sync!r}: one of None, 'torch', 'cupy', 'jax', or a function")


# -- the decorator and context manager


class _Regions:
    """Makes a region each time it is entered or its function is called."""

    def __init__(self, name: Optional[str], devices: DeviceChoice, memory: str, sync: Sync, echo: bool,
                 monitor: Optional[Monitor]) -> None:  # fmt: skip
        if memory not in ("device", "process", "torch"):
            raise ValueError(f"memory={memory!r}: one of 'device', 'process', 'torch'")
        self._name = name
        self._make = functools.partial(Region, devices=devices, memory=memory, sync=sync, echo=echo, monitor=monitor)
        # Entered by several threads and tasks at once: each ends the one that it began.
        self._open: dict[int, list[Region]] = {}

    def _begin(self, name: Optional[str] = None) -> Region:
        return self._make(name or self._name or "region")

    def __enter__(self) -> Region:
        begun = self._begin()
        self._open.setdefault(threading.get_ident(), []).append(begun)
        return begun

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:  # fmt: skip
        open_here = self._open[threading.get_ident()]
        open_here.pop()._end()
        if not open_here:
            del self._open[threading.get_ident()]

    @contextlib.contextmanager
    def _around(self, function: Callable[..., Any]) -> Iterator[None]:
        begun = self._begin(self._name or function.__qualname__.rsplit("<locals>.", 1)[-1])
        try:
            yield
        finally:
            begun._end()

    def __call__(self, function: Function) -> Function:
        wrapper: Callable[..., Any]
        if inspect.isasyncgenfunction(function):

            @functools.wraps(function)
            async def wrapper(*args: Any, **named: Any) -> Any:
                with self._around(function):
                    inner = function(*args, **named)
                    try:
                        async for value in inner:
                            yield value
                    finally:
                        await inner.aclose()

        elif inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def wrapper(*args: Any, **named: Any) -> Any:
                with self._around(function):
                    return await function(*args, **named)

        elif inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def wrapper(*args: Any, **named: Any) -> Any:
                with self._around(function):
                    return (yield from function(*args, **named))

        else:

            @functools.wraps(function)
            def wrapper(*args: Any, **named: Any) -> Any:
                with self._around(function):
                    return function(*args, **named)

        return cast(Function, wrapper)


@overload
def region(name: Function, /) -> Function: ...
@overload
def region(
    name: Optional[str] = None,
    *,
    devices: DeviceChoice = "visible",
    memory: str = "device",
    sync: Sync = None,
    echo: bool = False,
    monitor: Optional[Monitor] = None,
) -> _Regions: ...
def region(
    name: Union[None, str, Callable[..., Any]] = None,
    *,
    devices: DeviceChoice = "visible",
    memory: str = "device",
    sync: Sync = None,
    echo: bool = False,
    monitor: Optional[Monitor] = None,
) -> Any:
    """What a stretch of the program takes of the GPUs that it sees.

        with gpulse.region("forward") as forward:
            …
        print(forward.result.memory_peak_bytes, forward.result.energy_joules)

        @gpulse.region
        def train_epoch(): …

        print(gpulse.report())

    `memory`: "device", "process", or "torch" for the exact peak of torch's allocator, whose own peak is reset for that.
    `sync`: "torch", "cupy", "jax" or a function to wait for the device with, at both ends; by default nothing waits, so
    that work which the region only started is not in its time. `echo` prints a line at the end.
    """
    if callable(name):
        return _Regions(None, devices, memory, sync, echo, monitor)(name)
    return _Regions(name, devices, memory, sync, echo, monitor)


def gpu_util(function: Function) -> Function:
    """Prints a line after each call: what the GPU's memory and use were."""
    return _Regions(None, "visible", "device", None, True, None)(function)


def _megabytes(value: Optional[float]) -> str:
    return "?" if value is None else f"{value / _MB:.0f}"


def _percent(part: Optional[float], whole: Optional[float]) -> str:
    return "?" if part is None or not whole else f"{100 * part / whole:.1f}"


def _energy_words(low: Optional[float], best: Optional[float], high: Optional[float]) -> Optional[str]:
    if best is not None:
        return f"{best:.4g} J"
    return None if high is None else f"at most {high:.3g} J"


def line_of(result: RegionResult) -> str:
    """`get_model: GPU 3, 62731/81559 MB (76.9 %), +1024 MB, 93 % busy, 80 % active, 1.20 s, 812 J`"""
    current = _torch_uuid()
    used = [one for one in result.devices if (one.process_memory_peak_bytes or 0) > 0]
    shown = [one for one in result.devices if one.uuid == current] or used or result.devices
    parts = []
    for one in shown:
        words = [f"GPU {one.id}, {_megabytes(one.memory_end_bytes)}/{_megabytes(one.memory_total_bytes)} MB "
                 f"({_percent(one.memory_end_bytes, one.memory_total_bytes)} %)"]  # fmt: skip
        if one.memory_delta_bytes is not None:
            words.append(f"{one.memory_delta_bytes / _MB:+.0f} MB")
        if one.utilization_percent is not None:
            words.append(f"{one.utilization_percent:.0f} % busy")
        if one.true_activity_percent is not None:
            words.append(f"{one.true_activity_percent:.0f} % active")
        energy = _energy_words(one.energy_min_joules, one.energy_joules, one.energy_max_joules)
        words += [energy] if energy is not None else []
        parts.append(", ".join(words))
    what = "; ".join(parts) or (result.note or "no GPU is visible")
    return f"{result.name}: {what}, {result.seconds:.3g} s"


def _torch_uuid() -> Optional[str]:
    """Of torch's current device, where it has one."""
    torch = sys.modules.get("torch")
    try:
        if torch is None or not torch.cuda.is_initialized():
            return None
        number = torch.cuda.current_device()
        found = visible(snapshot("memory_used_bytes")).devices
        return found[number].uuid if number < len(found) else None
    except (AttributeError, RuntimeError, GpulseError):
        return None


def print_gpu_utilization() -> None:
    """A line per GPU: torch's current device, where torch has one, else all that this process sees."""
    sample = snapshot("memory_used_bytes,memory_total_bytes,gpu_utilization_percent")
    found = visible(sample)
    current = _torch_uuid()
    shown = [device for device in found.devices if device.uuid == current] or found.devices
    if not shown:
        print(found.problem or sample.absence or "no GPU is visible")
    for device in shown:
        used, total = cast(Optional[float], device["memory_used_bytes"]), cast(Optional[float], device["memory_total_bytes"])
        busy = device["gpu_utilization_percent"]
        print(f"GPU {device.id} memory occupied: {_megabytes(used)}/{_megabytes(total)} MB = {_percent(used, total)} %"
              + ("" if busy is None else f", {busy:.0f} % busy"))  # fmt: skip


# -- the table


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

    def __str__(self) -> str:
        if not self.rows:
            return "no region has ended yet"
        lines = [("REGION", "CALLS", "TOTAL s", "MEAN s", "PEAK MB", "DELTA MB", "BUSY %", "ACTIVE %", "ENERGY")]
        for row in self.rows:
            energy = _energy_words(row.energy_min_joules, row.energy_joules, row.energy_max_joules)
            lines.append((row.name, str(row.calls), f"{row.seconds:.3f}", f"{row.seconds / row.calls:.3g}",
                          _megabytes(row.memory_peak_bytes).replace("?", "-"),
                          "-" if row.memory_delta_bytes is None else f"{row.memory_delta_bytes / _MB:+.0f}",
                          "-" if row.utilization_percent is None else f"{row.utilization_percent:.0f}",
                          "-" if row.true_activity_percent is None else f"{row.true_activity_percent:.0f}",
                          energy or "-"))  # fmt: skip
        widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
        return "\n".join(
            "  ".join(cell.ljust(width) if column == 0 else cell.rjust(width)
                      for column, (cell, width) in enumerate(zip(line, widths))).rstrip()
            for line in lines
        )  # fmt: skip


class _Reports:
    """Regions wait here until their figures are final, a thousand of them at most."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[Region] = deque()
        self._rows: dict[str, ReportRow] = {}

    def _fold(self, region: Region) -> None:
        row = self._rows.setdefault(region.name, ReportRow(region.name))
        row.add(region.result)

    def add(self, region: Region) -> None:
        with self._lock:
            self._waiting.append(region)
            while self._waiting and (len(self._waiting) > 1000 or time.perf_counter() - (self._waiting[0]._ended or 0) > 3):
                self._fold(self._waiting.popleft())

    def report(self, wait: float) -> Report:
        until = time.monotonic() + wait
        with self._lock:
            for region in self._waiting:
                while not region.result.settled and time.monotonic() < until:
                    time.sleep(0.02)
                self._fold(region)
            self._waiting.clear()
            return Report(sorted(self._rows.values(), key=lambda row: -row.seconds))

    def clear(self) -> None:
        with self._lock:
            self._waiting.clear()
            self._rows.clear()


_report = _Reports()


def report(*, wait: float = 3.0, reset: bool = False) -> Report:
    """What the regions of this process took so far, by name, the longest first. `wait`: at most so many seconds for the
    figures of those that have just ended."""
    found = _report.report(wait)
    if reset:
        _report.clear()
    return found


__all__ = ["DeviceUse", "Region", "RegionResult", "Report", "ReportRow", "Sample", "gpu_util", "line_of",
           "print_gpu_utilization", "region", "report"]  # fmt: skip
