# SPDX-License-Identifier: Apache-2.0
"""A plot in a notebook that moves while a cell runs.

A thread draws it anew about once a second. That needs no message from the browser, which the kernel would not read
while it runs a cell.
"""

# IPython need not be there when this is checked: then its types are unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
import datetime
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, Optional, Union

from ._curve import Curve
from ._errors import GpulseError, MonitorClosed, UnknownMetric
from ._html import dim
from ._library import COUNTER, DEVICE, GAUGE, HOST, Metric, metrics
from ._monitor import Monitor, seconds_of
from ._plot import Line, Panel, Picture, draw
from ._sample import Device, Sample
from ._visible import DeviceChoice

# What is drawn where nobody asks for anything else.
DEFAULT_METRICS = ("gpu_utilization_percent", "sm_active_percent", "memory_used_bytes", "power_draw_watts")

_SHORTEST, _LONGEST = 60.0, 12 * 3600.0
_MOST_STEPS = 240  # of a curve: more cannot be told apart in the picture
_MOST_LINES = 16  # beyond them, the devices share one
# So long may a cell keep the interpreter to itself without a sample being lost.
_KEPT = "10m"


def notebook() -> Optional[Any]:
    """The shell of the notebook's kernel; None: this is no notebook. Never imports IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell if getattr(shell, "kernel", None) is not None else None


class Live:
    """A plot that goes on until stop(), the end of its cell, or that of the kernel."""

    def __init__(self, shell: Optional[Any], monitor: Monitor, is_own: bool, window: float,
                 keys: Optional[Sequence[str]], background: bool) -> None:  # fmt: skip
        self._shell = shell
        self._monitor = monitor
        self._is_own = is_own
        self._window = window
        self._asked = keys is not None
        self._metrics = [_drawable(key) for key in keys or DEFAULT_METRICS]
        self._background = background
        self._curves: dict[tuple[str, str], Line] = {}  # by metric and device
        self._known_since: Optional[float] = None
        self._seen = {DEVICE: 0, HOST: 0}  # nanoseconds: what is later is new
        self._devices: dict[str, Device] = {}  # those that are shown, by UUID
        self._reasons: dict[str, str] = {}
        self._absence: Optional[str] = None
        self._is_drawn = False
        self._ended: Optional[str] = None
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="gpulse live", daemon=True)
        self._shown: Any = None
        if shell is not None:
            self._begin(shell)

    def _begin(self, shell: Any) -> None:
        from IPython.display import display

        self._monitor.start()
        self._begun = time.monotonic()
        self._shown = display(self._bundle(dim("waiting for the first sample…")), raw=True, display_id=True)
        if not self._background:
            shell.events.register("post_run_cell", self._cell_ended)
        self._thread.start()

    def _cell_ended(self, *_: object) -> None:
        brief = time.monotonic() - self._begun < 3
        self._end("ended with its cell" + ("; live(background=True) goes on after it" if brief else ""))

    @property
    def running(self) -> bool:
        return self._thread.is_alive() and not self._stop.is_set()

    def stop(self) -> None:
        """Draws it a last time. Nothing is left behind but the picture."""
        self._end("stopped")

    def _end(self, why: str) -> None:
        with self._lock:
            if self._stop.is_set() or self._shell is None:
                return
            self._stop.set()
        self._thread.join()
        self._ended = why
        if not self._background:
            self._shell.events.unregister("post_run_cell", self._cell_ended)
        with contextlib.suppress(GpulseError):
            self._monitor.refresh(timeout=1.0)
        with contextlib.suppress(GpulseError):
            self._draw()
        if self._is_own:
            self._monitor.stop()

    def __enter__(self) -> Live:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:  # fmt: skip
        self.stop()

    # -- on the thread that draws

    @property
    def period(self) -> float:
        """Seconds from one picture to the next: no more of them than can be told apart."""
        return max(self._monitor.interval, min(5.0, max(1.0, self._window / _MOST_STEPS)))

    def _run(self) -> None:
        # The first picture comes with the first sample.
        while not self._stop.wait(self.period if self._is_drawn else 0.1):
            try:
                self._draw()
            except MonitorClosed:
                return
            except Exception as problem:
                # The cell goes on: its plot is no reason to disturb it.
                with contextlib.suppress(Exception):
                    self._shown.update(self._bundle(dim(f"the plot has ended: {problem}")), raw=True)
                return

    def _draw(self) -> None:
        sample = self._monitor.latest()
        if sample is None:
            return
        self._look_at(sample)
        for scope in self._seen:
            if any(metric.scope == scope for metric in self._metrics):
                self._take_past(scope)
        picture = draw(self._picture(sample.time), is_last=self._ended is not None)
        self._shown.update(self._bundle(picture), raw=True)
        self._is_drawn = True

    def _look_at(self, sample: Sample) -> None:
        self._absence = sample.absence
        devices = sample.devices
        self._devices = {one.uuid: one for one in devices}
        for metric in self._metrics:
            if metric.scope == DEVICE:
                told = [one.reason(metric.key) for one in devices]
                self._reasons[metric.key] = next((reason for reason in told if reason), "")

    def _take_past(self, scope: int) -> None:
        """Adds what came since the last time to the curves."""
        seen = self._seen[scope]
        since = seen / 1e9 if seen else time.time() - self._window
        past = self._monitor.history(since=since, host=scope == HOST)
        times = [int(at or 0) for at in past["time"]]
        lines = [self._line_of(str(uuid)) for uuid in past["uuid"]] if scope == DEVICE else [""] * len(times)
        for metric in self._metrics:
            key = metric.key.rpartition(".")[2]
            if metric.scope != scope or key not in past.column_names:
                continue
            samples: dict[tuple[int, str], list[float]] = {}
            for at, line, value in zip(times, lines, past[key]):
                if at > seen and line is not None:
                    samples.setdefault((at, line), []).extend([] if value is None else [float(value)])
            for (at, line), values in samples.items():
                self._curve(metric, line).add(at / 1e9, values)
        self._seen[scope] = max([seen, *times])
        if self._known_since is None and times:
            self._known_since = times[0] / 1e9

    def _line_of(self, uuid: str) -> Optional[str]:
        """Devices that are not shown have none; those that are too many share one."""
        if uuid not in self._devices:
            return None
        return "" if len(self._devices) > _MOST_LINES else uuid

    def _curve(self, metric: Metric, uuid: str) -> Curve:
        key = (metric.key, uuid)
        if key not in self._curves:
            # Beyond this, samples are missing. An agent may take them less often than it is asked to.
            curve = Curve(self._window, _MOST_STEPS, patience=2.5 * max(1.0, self._monitor.interval))
            self._curves[key] = self._new_line(metric, uuid, curve)
        return self._curves[key].curve

    def _new_line(self, metric: Metric, uuid: str, curve: Curve) -> Line:
        if metric.scope == HOST:
            return Line("this machine", "", 0, curve)
        device = self._devices.get(uuid)
        if device is None:
            return Line(f"{len(self._devices)} GPUs: least, mean, greatest", "", 0, curve)
        return Line(f"GPU {device.id} {device.name}", device.id, device._position, curve)

    def _picture(self, end: float) -> Picture:
        begin = end - self._window
        zone = datetime.datetime.now().astimezone().tzinfo or datetime.timezone.utc
        panels: list[Panel] = []
        for metric in self._metrics:
            lines = [line for (key, _), line in self._curves.items() if key == metric.key]
            is_known = any(line.curve.steps for line in lines)
            # What no device has is left out, unless it was asked for.
            if is_known or (self._asked and not self._absence):
                panels.append(Panel(metric, lines, "" if is_known else self._reasons.get(metric.key) or "no value yet"))
        return Picture(panels, begin, end, zone, self._notes(begin, end, zone))

    def _notes(self, begin: float, end: float, zone: datetime.tzinfo) -> list[str]:
        now = datetime.datetime.fromtimestamp(end, zone)
        notes = [self._absence] if self._absence else []
        notes.append(f"the last {_span(self._window)} until {now:%Y-%m-%d %H:%M:%S} {now.tzname()}")
        if self._known_since is not None and self._known_since > begin + self.period:
            since = datetime.datetime.fromtimestamp(self._known_since, zone)
            notes.append(f"known since {since:%H:%M:%S}")
        return notes + ([self._ended] if self._ended else [])

    def _bundle(self, html: str) -> dict[str, str]:
        return {"text/html": html, "text/plain": repr(self)}

    def _ipython_display_(self) -> None:
        """It is on the screen already."""

    def __repr__(self) -> str:
        return f"<gpulse.Live, the last {_span(self._window)}, {'running' if self.running else 'ended'}>"


def _span(seconds: float) -> str:
    for unit, name in ((3600.0, "h"), (60.0, "min")):
        if seconds >= unit and seconds % unit == 0:
            return f"{seconds / unit:g} {name}"
    return f"{seconds:g} s"


def _drawable(key: str) -> Metric:
    metric = metrics().get(key)
    if metric is None:
        raise UnknownMetric(f"no metric {key!r}: gpulse.metrics() lists them")
    if metric.kind not in (GAUGE, COUNTER) or metric.scope not in (DEVICE, HOST):
        raise ValueError(f"{key!r} cannot be drawn: it is not a number of a device or of the machine")
    return metric


def live(
    window: Union[float, str, datetime.timedelta] = "1m",
    devices: DeviceChoice = "visible",
    metrics: Union[None, str, Iterable[str]] = None,
    *,
    interval: Union[float, str] = 1.0,
    monitor: Optional[Monitor] = None,
    background: bool = False,
) -> Live:
    """Draws the GPUs below the cell of a notebook while it runs.

        gpulse.live("5m")
        train()

    `window`: how far back it reaches, "1m" to "12h". `metrics`: keys; "host." before those of the machine. `monitor`: one
    that runs already, with its past and its devices; else one is made, and ends with the plot. It ends with the cell, or
    with stop() where that comes first; `background`: only with stop() and with the kernel. Outside of a notebook it says
    that there is no place to draw, and does nothing.
    """
    span = seconds_of(window)
    if not _SHORTEST <= span <= _LONGEST:
        raise ValueError(f"window={window!r}: 1 minute to 12 hours")
    named = metrics.split(",") if isinstance(metrics, str) else metrics
    keys = None if named is None else [key.strip() for key in named]
    shell = notebook()
    if shell is None:
        print("gpulse.live() draws in notebooks only: `gpulse top` shows the same in a terminal", file=sys.stderr)
    source = monitor or Monitor(devices, interval=interval, metrics=keys or DEFAULT_METRICS, history=_KEPT)
    return Live(shell, source, monitor is None, span, keys, background)
