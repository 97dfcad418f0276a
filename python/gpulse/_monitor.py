# SPDX-License-Identifier: Apache-2.0
"""Samples in the background of this program.

The sampling is done by a C++ thread, or by the machine's agent where one runs; neither takes the interpreter's lock.
Only callbacks run in Python, on a thread of their own that starts with the first of them.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import datetime
import os
import threading
import time
import warnings
import weakref
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Optional, Union

from . import _library
from ._errors import MonitorClosed, MonitorForked, NoSample
from ._finding import Findings, take_findings
from ._library import library, make_options, raise_for
from ._sample import Sample
from ._table import Table
from ._visible import DeviceChoice, shown_devices

# So long a wait in C++ may keep Ctrl-C waiting.
_SLICE = 0.2

_open_monitors: weakref.WeakSet[Monitor] = weakref.WeakSet()


@dataclass(frozen=True)
class Stats:
    """What a monitor has done, and what it has cost."""

    samples: int
    missed: int  # turns for which a driver or the machine was too slow
    processor_seconds: float  # of all threads of gpulse in this process
    driver_seconds: float  # spent inside the drivers, by the clock; 0 where the agent calls them
    driver_calls: int
    from_agent: bool
    interval: float


def seconds_of(value: Union[float, str, datetime.timedelta]) -> float:
    """A number of seconds: 900, "15m", timedelta(minutes=15)."""
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, str):
        units = {"ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
        number = value.strip().rstrip("abcdefghijklmnopqrstuvwxyz ")
        unit = value.strip()[len(number) :].strip() or "s"
        try:
            return float(number) * units[unit]
        except (ValueError, KeyError):
            raise ValueError(f"{value!r} is no time: write 900, '15m' or '2h'") from None
    return float(value)


class Monitor:
    """Samples in the background.

        with gpulse.Monitor(interval=1.0, sinks=[gpulse.TensorBoard("runs/today")]) as monitor:
            for step, batch in enumerate(loader):
                train(batch)
                monitor.set_step(step)
            print(monitor.latest().devices[0].power_draw_watts)

    `devices`: "visible" (those that CUDA, HIP or Level Zero would give this process, in its order), "all", or a list of
    selectors. `metrics`: keys, or "all"; by default what a status page shows. `history`: how much of the past is kept.
    `agent`: False reads the drivers even where an agent runs. `findings`: True watches for findings from the start, not
    only from the first call of findings() on. It starts with the first use, or with start().
    """

    def __init__(
        self,
        devices: DeviceChoice = "visible",
        *,
        interval: Union[float, str] = 1.0,
        metrics: Union[None, str, Iterable[str]] = None,
        history: Union[float, str, datetime.timedelta] = "15m",
        sinks: Iterable[object] = (),
        callback: Optional[Callable[[Sample], object]] = None,
        agent: bool = True,
        findings: bool = False,
    ) -> None:
        self._devices = devices
        self._sinks = tuple(sinks)
        self._keys = _with_fields(metrics, self._sinks)
        self._interval = seconds_of(interval)
        self._history = seconds_of(history)
        self._flags = (0 if agent else _library.NO_AGENT) | (_library.FINDINGS if findings else 0)
        self._lock = threading.Lock()
        self._handle: Optional[int] = None
        # Bound once: these stand in training loops.
        self._latest, self._set_step = library().latest, library().set_step
        self._pid = os.getpid()
        self._closed = False
        self._shown: Optional[Mapping[str, Optional[int]]] = None
        self._callbacks: list[Callable[[Sample], object]] = []
        self._caller: Optional[threading.Thread] = None
        if callback is not None:
            self.on_sample(callback)

    # -- beginning and end

    def start(self) -> Monitor:
        """Begins to sample; does nothing where that has begun."""
        with self._lock:
            self._begin()
        return self

    def _begin(self) -> int:
        if self._closed:
            raise MonitorClosed("the monitor was closed: make a new one")
        if self._handle is not None and self._pid == os.getpid():
            return self._handle
        child = self._handle is not None
        flags = self._flags | (_library.ONLY_AGENT if child else 0)
        options = make_options(self._interval, self._history, self._keys, flags)
        handle = ctypes.c_void_p()
        status = library().open(ctypes.byref(options), ctypes.byref(handle))
        if child and status != _library.OK:
            raise MonitorForked(
                "the monitor stayed with the process that this one was forked from, and no agent runs: "
                "make a new Monitor here, or start `gpulse serve`"
            )
        raise_for(status)
        self._handle, self._pid = int(handle.value or 0), os.getpid()
        if not child:
            for sink in self._sinks:
                sink._add_to(self._handle)  # type: ignore[attr-defined]
        _open_monitors.add(self)
        return self._handle

    def stop(self) -> None:
        """Ends the sampling and flushes the sinks; the callbacks have returned when it does."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            handle, pid = self._handle, self._pid
        caller = self._caller
        if caller is not None and caller is not threading.current_thread() and pid == os.getpid():
            caller.join()
        problem = self.sink_error
        with self._lock:
            self._handle = None
            if handle is not None and pid == os.getpid():
                library().close(handle)
        _open_monitors.discard(self)
        if problem is not None:
            warnings.warn(f"samples were lost: {problem}", RuntimeWarning, stacklevel=2)

    close = stop

    def __enter__(self) -> Monitor:
        return self.start()

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:  # fmt: skip
        self.stop()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.stop()

    # -- the newest

    def latest(self) -> Optional[Sample]:
        """The newest sample, without waiting; None before the first."""
        handle = self._handle
        if handle is None or self._pid != _pid:
            with self._lock:
                handle = self._begin()
        sample = self._latest(handle)
        if not sample:
            return None
        return Sample(sample, self._shown if self._shown is not None else self._shown_devices())

    def wait(self, after: int = 0, timeout: Union[float, str] = 10.0) -> Sample:
        """A sample whose number is greater; NoSample where none comes in time."""
        until = time.monotonic() + seconds_of(timeout)
        while True:
            with self._lock:
                handle = self._begin()
            sample = ctypes.c_void_p()
            left = until - time.monotonic()
            status = library().wait(handle, after, max(0.0, min(_SLICE, left)), ctypes.byref(sample))
            if status == _library.OK:
                return Sample(int(sample.value or 0), self._shown_devices())
            if status != _library.TIMEOUT or left <= _SLICE:
                raise_for(status)

    def refresh(self, timeout: Union[float, str] = 3.0) -> Sample:
        """A sample that is taken now. With an agent it is the agent's next one."""
        with self._lock:
            handle = self._begin()
        sample = ctypes.c_void_p()
        raise_for(library().refresh(handle, seconds_of(timeout), ctypes.byref(sample)))
        return Sample(int(sample.value or 0), self._shown_devices())

    def __iter__(self) -> Iterator[Sample]:
        """Every new sample; the newest where the loop is slower than the monitor. Ends when the monitor is closed."""
        number = 0
        while not self._closed:
            try:
                sample = self.wait(number, timeout=1.0)
            except NoSample:
                continue
            except MonitorForked:
                raise
            except MonitorClosed:
                return
            number = sample.number
            yield sample

    async def __aiter__(self) -> AsyncIterator[Sample]:
        import asyncio  # half of what importing the package would take

        loop = asyncio.get_running_loop()
        with self._lock:
            handle = self._begin()
        descriptor = library().subscribe(handle)
        if descriptor < 0:
            raise OSError("no file descriptor is left to wait for samples with")
        came = asyncio.Event()

        def note() -> None:
            os.read(descriptor, 8)
            came.set()

        loop.add_reader(descriptor, note)
        number = 0
        try:
            while not self._closed:
                sample = self.latest()
                if sample is not None and sample.number > number:
                    number = sample.number
                    yield sample
                    continue
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(came.wait(), 1.0)
                came.clear()
        finally:
            loop.remove_reader(descriptor)
            if self._handle is not None:
                library().unsubscribe(handle, descriptor)

    # -- the rest

    def set_step(self, step: int) -> None:
        """The training step that goes on: samples taken from now on carry it."""
        handle = self._handle
        if handle is not None and self._pid == _pid:
            self._set_step(handle, step)

    def on_sample(self, callback: Callable[[Sample], object]) -> None:
        """Calls it with every sample, on a thread of its own, until the monitor is closed."""
        with self._lock:
            self._callbacks.append(callback)
            if self._caller is None:
                self._caller = threading.Thread(target=_call_back, args=(weakref.ref(self),), daemon=True)
                self._caller.start()

    def history(
        self,
        since: Union[None, float, str, datetime.datetime, datetime.timedelta] = None,
        until: Union[None, float, datetime.datetime] = None,
        every: Union[float, str] = 0.0,
        *,
        host: bool = False,
    ) -> Table:
        """What was: a row per sample and device, or per stretch of `every` seconds; `host`: a row per sample.

        `since`: a time (seconds since 1970 or a datetime), or how long ago ("5m", a timedelta).
        """
        with self._lock:
            handle = self._begin()
        shown = self._shown_devices()
        options = _library.HistoryOptions(
            size=ctypes.sizeof(_library.HistoryOptions),
            since=_nanoseconds(since),
            until=_nanoseconds(until),
            every=seconds_of(every),
            scope=_library.HOST if host else _library.DEVICE,
            uuids=None if shown is None or host else (",".join(shown) or "none").encode(),
        )
        table = ctypes.c_void_p()
        raise_for(library().history(handle, ctypes.byref(options), ctypes.byref(table)))
        return Table(int(table.value or 0))

    def findings(self) -> Findings:
        """Why the GPUs are not busy, and what to do: problems and notes that last, the worst first.

            for finding in monitor.findings():
                print(finding, *finding.advice, sep="\\n  ")

        It waits for nothing: the monitor's own thread judges the last half minute every five seconds. That begins with the
        first call, or with Monitor(findings=True), and the first findings come 15 seconds later; at once where an agent
        runs. An empty list before that does not mean that all is well.
        """
        with self._lock:
            handle = self._begin()
        found = ctypes.c_void_p()
        raise_for(library().get_findings(handle, ctypes.byref(found)))
        return take_findings(int(found.value or 0), self._shown_devices())

    def diagnose(self, seconds: Union[float, str] = 30.0) -> Findings:
        """The last 3 to 120 seconds judged as one: also what is well, such as "healthy" and "idle".

        NoSample where less than 3 seconds were seen, counted as for findings(). gpulse.diagnose() does the waiting too.
        """
        with self._lock:
            handle = self._begin()
        found = ctypes.c_void_p()
        raise_for(library().diagnose(handle, seconds_of(seconds), ctypes.byref(found)))
        return take_findings(int(found.value or 0), self._shown_devices())

    def stats(self) -> Stats:
        """What the monitor has done and cost."""
        with self._lock:
            handle = self._begin()
        stats = _library.Stats(size=ctypes.sizeof(_library.Stats))
        raise_for(library().get_stats(handle, ctypes.byref(stats)))
        return Stats(stats.samples, stats.missed, stats.processor_seconds, stats.driver_seconds, stats.driver_calls,
                     bool(stats.from_agent), stats.interval)  # fmt: skip

    @property
    def sink_error(self) -> Optional[str]:
        """What last went wrong with a sink, such as a disk that is full; None: nothing. The other sinks go on."""
        if self._handle is None or self._pid != os.getpid():
            return None
        return library().sink_error(self._handle).decode() or None

    @property
    def interval(self) -> float:
        return self._interval

    @property
    def closed(self) -> bool:
        return self._closed

    def _shown_devices(self) -> Optional[Mapping[str, Optional[int]]]:
        if self._devices == "all":
            return None
        if self._shown is None:
            handle = self._handle
            taken = self._latest(handle) if handle is not None else None
            # A driver that is loaded later brings its devices with it.
            if taken and (sample := Sample(taken)).device_count > 0:
                self._shown = {one.uuid: one.cuda_index for one in shown_devices(sample, self._devices)}
        return {} if self._shown is None else self._shown

    def __repr__(self) -> str:
        state = "closed" if self._closed else "running" if self._handle is not None else "not started"
        return f"<gpulse.Monitor every {self._interval:g} s, {state}>"


def diagnose(
    seconds: Union[float, str] = 30.0, *, devices: DeviceChoice = "visible", agent: bool = True
) -> Findings:
    """Watches for so long, 3 to 120 seconds, and tells what the GPUs did and why they were not busy, the worst first.

        for finding in gpulse.diagnose("10s"):
            print(finding)
    """
    wanted = seconds_of(seconds)
    if not 3 <= wanted <= 120:
        raise ValueError(f"{seconds!r} cannot be judged as one: 3 to 120 seconds")
    interval = 0.5
    with Monitor(devices, interval=interval, history=0, agent=agent, findings=True) as monitor:
        sample = monitor.wait()
        # One more than is needed: the newest may not be among those that are judged yet.
        until = sample.monotonic + wanted + interval
        while sample.device_count > 0 and sample.monotonic < until:
            sample = monitor.wait(sample.number)
        if sample.device_count == 0:
            return Findings()
        return monitor.diagnose(wanted)


def _with_fields(metrics: Union[None, str, Iterable[str]], sinks: Iterable[object]) -> Optional[str]:
    """What is asked for, and what the sinks want to write beyond that."""
    keys = metrics if metrics is None or isinstance(metrics, str) else ",".join(metrics)
    fields = [field for sink in sinks for field in getattr(sink, "fields", ()) if library().metric(field.encode()) >= 0]
    return ",".join([keys or "default", *fields]) if fields else keys


def _nanoseconds(time_of: Union[None, float, str, datetime.datetime, datetime.timedelta]) -> int:
    if time_of is None:
        return 0
    if isinstance(time_of, datetime.datetime):
        return int(time_of.timestamp() * 1e9)
    if isinstance(time_of, (str, datetime.timedelta)):
        return time.time_ns() - int(seconds_of(time_of) * 1e9)
    return int(time_of * 1e9)


def _call_back(reference: weakref.ref[Monitor]) -> None:
    """Waits without keeping the monitor alive, so that dropping it ends this thread too."""
    number = 0
    while True:
        monitor = reference()
        if monitor is None or monitor.closed:
            return
        try:
            sample = monitor.wait(number, timeout=_SLICE)
        except NoSample:
            continue
        except Exception:
            return
        finally:
            callbacks = list(monitor._callbacks)
            del monitor
        number = sample.number
        for callback in callbacks:
            callback(sample)


def _close_all() -> None:
    for monitor in list(_open_monitors):
        monitor.stop()


# Kept here because asking the kernel costs more than looking at the newest sample.
_pid = os.getpid()


def _after_fork() -> None:
    global _pid
    _pid = os.getpid()
    for monitor in list(_open_monitors):
        # A thread of the parent may have held it.
        monitor._lock = threading.Lock()
        monitor._caller = None


atexit.register(_close_all)
os.register_at_fork(after_in_child=_after_fork)
