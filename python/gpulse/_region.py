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
import sys
import threading
import time
from collections.abc import Callable, Generator
from types import TracebackType
from typing import Any, Optional, TypeVar, Union, cast, overload

from ._errors import GpulseError, MonitorForked, NoSample
from ._library import OK, RegionUse, library
from ._monitor import Monitor
from ._report import reports
from ._result import DeviceUse, RegionResult, TorchMemory, known, line_of, megabytes, percent
from ._snapshot import snapshot
from ._visible import DeviceChoice, Shown, shown_devices, torch_uuid, visible

Function = TypeVar("Function", bound=Callable[..., Any])
Sync = Union[None, str, Callable[[], object]]

_INTERVAL = 0.1


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
        self._handle: Optional[int] = None
        self._note: Optional[str] = None
        self._shown: tuple[Shown, ...] = ()
        self._torch: Optional[_TorchPeak] = None
        self.ended: Optional[float] = None
        _synchronize(sync)
        try:
            source = monitor if monitor is not None else _monitor()
            self._source = source
            if echo:
                source.refresh()
            sample = source.latest()
            if sample is not None:
                self._shown = shown_devices(sample, devices)
                self._note = sample.absence
            self._handle = library().region_begin(source._handle, name.encode())
        except (MonitorForked, NoSample) as problem:
            self._note = str(problem)
        if memory == "torch":
            self._torch = _TorchPeak()
        self._begun = time.perf_counter()

    def _end(self) -> None:
        if self.ended is not None:
            return
        _synchronize(self._sync)
        self.ended = time.perf_counter()
        if self._torch is not None:
            self._torch.end()
        if self._handle is not None:
            library().region_end(self._handle)
        if self._echo:
            with contextlib.suppress(GpulseError):
                if self._handle is not None:
                    self._source.refresh()
            print(line_of(self.result, torch_uuid(self._shown)), flush=True)
        reports.add(self)

    def __del__(self) -> None:
        handle, self._handle = self.__dict__.get("_handle"), None
        if handle:
            library().region_free(handle)

    @property
    def result(self) -> RegionResult:
        """What it took, so far or until its end. Gets better for a moment after the end, until `settled`."""
        seconds = (self.ended if self.ended is not None else time.perf_counter()) - self._begun
        used = [one for one in (self._use_of(device) for device in self._shown) if one is not None]
        return RegionResult(self.name, seconds, used, self._sync is not None, self._memory,
                            None if self._torch is None else self._torch.result(), self._note)  # fmt: skip

    def settle(self, timeout: float = 3.0) -> RegionResult:
        """Waits for the sample after the end, and gives the final figures."""
        until = time.monotonic() + timeout
        while True:
            result = self.result
            if result.settled or time.monotonic() > until:
                return result
            time.sleep(0.02)

    def _use_of(self, device: Shown) -> Optional[DeviceUse]:
        use = RegionUse(size=ctypes.sizeof(RegionUse))
        if self._handle is None or library().region_get(self._handle, device.uuid.encode(), ctypes.byref(use)) != OK:
            return None
        return DeviceUse(
            device.id, device.uuid, device.name, use.samples, bool(use.settled),
            *(known(value) for value in (
                use.memory_begin, use.memory_end, use.memory_peak, use.memory_total, use.process_memory_begin,
                use.process_memory_end, use.process_memory_peak, use.utilization, use.true_activity, use.energy,
                use.energy_min, use.energy_max)),
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<gpulse.Region {self.name!r}, {'ended' if self.ended is not None else 'going on'}>"


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
    def _around(self, function: Callable[..., Any]) -> Generator[None, None, None]:
        begun = self._begin(self._name or function.__qualname__.rsplit("<locals>.", 1)[-1])
        try:
            yield
        finally:
            begun._end()

    def __call__(self, function: Function) -> Function:
        if inspect.isasyncgenfunction(function):
            wrapped = self._around_async_generator(function)
        elif inspect.iscoroutinefunction(function):
            wrapped = self._around_coroutine(function)
        elif inspect.isgeneratorfunction(function):
            wrapped = self._around_generator(function)
        else:
            wrapped = self._around_function(function)
        return cast(Function, functools.wraps(function)(wrapped))

    def _around_function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            with self._around(function):
                return function(*args, **named)

        return call

    def _around_coroutine(self, function: Callable[..., Any]) -> Callable[..., Any]:
        async def call(*args: Any, **named: Any) -> Any:
            with self._around(function):
                return await function(*args, **named)

        return call

    def _around_generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            with self._around(function):
                steps: Generator[Any, Any, Any] = function(*args, **named)
                return (yield from steps)

        return call

    def _around_async_generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        async def call(*args: Any, **named: Any) -> Any:
            with self._around(function):
                inner = function(*args, **named)
                try:
                    async for value in inner:
                        yield value
                finally:
                    await inner.aclose()

        return call


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


def print_gpu_utilization() -> None:
    """A line per GPU: torch's current device, where torch has one, else all that this process sees."""
    sample = snapshot("memory_used_bytes,memory_total_bytes,gpu_utilization_percent")
    found = visible(sample)
    current = torch_uuid(found.devices)
    shown = [device for device in found.devices if device.uuid == current] or found.devices
    if not shown:
        print(found.problem or sample.absence or "no GPU is visible")
    for device in shown:
        used, total = cast(Optional[float], device["memory_used_bytes"]), cast(Optional[float], device["memory_total_bytes"])
        busy = device["gpu_utilization_percent"]
        print(f"GPU {device.id} memory occupied: {megabytes(used)}/{megabytes(total)} MB = {percent(used, total)} %"
              + ("" if busy is None else f", {busy:.0f} % busy"))  # fmt: skip
