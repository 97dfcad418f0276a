# SPDX-License-Identifier: Apache-2.0
"""libgpulse.so: where it lies, and its functions as ctypes has them.

It is loaded when it is first needed, so that importing the package costs nothing and cannot fail. Functions that return
at once are called with the interpreter's lock held (`fast`), because letting go of it costs more than they do; those
that may wait are called without (`slow`).
"""

from __future__ import annotations

import ctypes
import functools
import os
from ctypes import POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any, NamedTuple

from ._errors import GpulseError, LibraryError, MonitorClosed, MonitorForked, NoSample

ABI = 1

OK, FAILED, INVALID, CLOSED, FORKED, TIMEOUT, NO_GPU = range(7)
DEVICE, PROCESS, HOST = range(3)
GAUGE, COUNTER, STATE, SET, TEXT = range(5)
NO_AGENT, ONLY_AGENT, FINDINGS = 1, 2, 4
TIME_COLUMN, INTEGER_COLUMN, NUMBER_COLUMN, STRING_COLUMN = range(4)


class Options(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("interval", c_double), ("history", c_double), ("metrics", c_char_p),
                ("flags", c_uint32)]  # fmt: skip


class MetricInfo(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("key", c_char_p), ("scope", c_int), ("kind", c_int), ("unit", c_char_p),
                ("label", c_char_p), ("help", c_char_p)]  # fmt: skip


class SampleInfo(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("number", c_uint64), ("time", c_int64), ("monotonic", c_int64), ("step", c_int64),
                ("devices", c_uint32), ("processes", c_uint32), ("from_agent", c_int32), ("hostname", c_char_p),
                ("absence", c_char_p)]  # fmt: skip


class DeviceInfo(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("index", c_uint32), ("instance", c_int32), ("id", c_char_p), ("uuid", c_char_p),
                ("name", c_char_p), ("vendor", c_char_p), ("pci", c_char_p), ("driver", c_char_p), ("parent", c_char_p),
                ("state", c_char_p)]  # fmt: skip


class ProcessInfo(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("pid", c_uint32), ("device", c_uint32), ("type", c_char_p), ("is_self", c_int32)]


class Stats(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("samples", c_uint64), ("missed", c_uint64), ("processor_seconds", c_double),
                ("driver_seconds", c_double), ("driver_calls", c_uint64), ("from_agent", c_int32),
                ("interval", c_double)]  # fmt: skip


class RegionUse(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("seconds", c_double), ("samples", c_uint32), ("settled", c_int32),
                ("memory_begin", c_double), ("memory_end", c_double), ("memory_peak", c_double),
                ("process_memory_begin", c_double), ("process_memory_end", c_double), ("process_memory_peak", c_double),
                ("memory_total", c_double), ("utilization", c_double), ("true_activity", c_double), ("energy", c_double),
                ("energy_min", c_double), ("energy_max", c_double)]  # fmt: skip


class HistoryOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("since", c_int64), ("until", c_int64), ("every", c_double), ("scope", c_int),
                ("uuids", c_char_p)]  # fmt: skip


class ColumnInfo(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("type", c_int), ("values", c_void_p),
                ("validity", POINTER(c_uint8))]  # fmt: skip


class FindingsInfo(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("count", c_uint32), ("samples", c_uint32), ("begin", c_int64), ("end", c_int64),
                ("verdict", c_char_p)]  # fmt: skip


class Finding(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("number", c_uint64), ("id", c_char_p), ("severity", c_int), ("estimated", c_int32),
                ("confidence", c_double), ("lost_share", c_double), ("since", c_int64), ("until", c_int64),
                ("text", c_char_p), ("device_count", c_uint32), ("pid_count", c_uint32), ("fact_count", c_uint32),
                ("advice_count", c_uint32), ("devices", POINTER(c_char_p)), ("uuids", POINTER(c_char_p)),
                ("pids", POINTER(c_uint32)), ("facts", POINTER(c_char_p)), ("values", POINTER(c_double)),
                ("advice", POINTER(c_char_p))]  # fmt: skip


class VisibleOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("program", c_char_p), ("environment", POINTER(c_char_p))]


class ViewInfo(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("devices", c_uint32), ("ignored", c_uint32), ("method", c_char_p),
                ("problem", c_char_p)]  # fmt: skip


class Ignored(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("variable", c_char_p), ("entry", c_char_p), ("reason", c_char_p)]


PROGRESS = ctypes.CFUNCTYPE(c_int32, c_void_p, c_double, c_uint32)


class PickOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("count", c_uint32), ("min_free", c_double), ("min_free_share", c_double),
                ("max_util", c_double), ("wait", c_double), ("pass_on", c_int32), ("program", c_char_p),
                ("progress", PROGRESS), ("context", c_void_p)]  # fmt: skip


class LeaseInfo(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("devices", c_uint32), ("variables", c_uint32), ("refused", c_uint32)]


class Leased(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("id", c_char_p), ("uuid", c_char_p), ("name", c_char_p), ("reason", c_char_p)]


class SinkOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("format", c_char_p), ("path", c_char_p), ("fields", c_char_p), ("uuids", c_char_p),
                ("run", c_char_p), ("existing", c_int32), ("steps", c_int32)]  # fmt: skip


_FAST: dict[str, tuple[Any, list[Any]]] = {
    "abi": (c_uint32, []),
    "version": (c_char_p, []),
    "last_error": (c_char_p, []),
    "metric": (c_int32, [c_char_p]),
    "metric_count": (c_int32, []),
    "describe": (c_int, [c_int32, POINTER(MetricInfo)]),
    "reason": (c_char_p, [c_double]),
    "words": (c_size_t, [c_int32, c_double, c_char_p, c_size_t]),
    "format": (c_size_t, [c_int32, c_double, c_char_p, c_size_t]),
    "options_init": (None, [POINTER(Options)]),
    "latest": (c_void_p, [c_void_p]),
    "subscribe": (c_int, [c_void_p]),
    "unsubscribe": (None, [c_void_p, c_int]),
    "set_step": (None, [c_void_p, c_int64]),
    "sink_error": (c_char_p, [c_void_p]),
    "retain": (None, [c_void_p]),
    "release": (None, [c_void_p]),
    "get_info": (c_int, [c_void_p, POINTER(SampleInfo)]),
    "get_device": (c_int, [c_void_p, c_uint32, POINTER(DeviceInfo)]),
    "find_device": (c_int32, [c_void_p, c_char_p]),
    "get_process": (c_int, [c_void_p, c_uint32, POINTER(ProcessInfo)]),
    "value": (c_double, [c_void_p, c_int32, c_uint32]),
    "text": (c_char_p, [c_void_p, c_int32, c_uint32]),
    "region_begin": (c_void_p, [c_void_p, c_char_p]),
    "region_end": (None, [c_void_p]),
    "region_free": (None, [c_void_p]),
    "region_get": (c_int, [c_void_p, c_char_p, POINTER(RegionUse)]),
    "get_findings": (c_int, [c_void_p, POINTER(c_void_p)]),
    "findings_free": (None, [c_void_p]),
    "get_findings_info": (c_int, [c_void_p, POINTER(FindingsInfo)]),
    "get_finding": (c_int, [c_void_p, c_uint32, POINTER(Finding)]),
    "view_free": (None, [c_void_p]),
    "get_view": (c_int, [c_void_p, POINTER(ViewInfo)]),
    "view_device": (c_int32, [c_void_p, c_uint32]),
    "get_ignored": (c_int, [c_void_p, c_uint32, POINTER(Ignored)]),
    "pick_options_init": (None, [POINTER(PickOptions)]),
    "lease_free": (None, [c_void_p]),
    "get_lease": (c_int, [c_void_p, POINTER(LeaseInfo)]),
    "get_leased": (c_int, [c_void_p, c_uint32, POINTER(Leased)]),
    "get_refused": (c_int, [c_void_p, c_uint32, POINTER(Leased)]),
    "lease_variable": (c_char_p, [c_void_p, c_uint32, POINTER(c_char_p)]),
    "table_free": (None, [c_void_p]),
    "table_rows": (c_uint64, [c_void_p]),
    "table_columns": (c_uint32, [c_void_p]),
    "get_column": (c_int, [c_void_p, c_uint32, POINTER(ColumnInfo)]),
    "table_text": (c_char_p, [c_void_p, c_uint32, c_uint64]),
    "table_arrow": (c_int, [c_void_p, c_void_p]),
}
_SLOW: dict[str, tuple[Any, list[Any]]] = {
    "open": (c_int, [POINTER(Options), POINTER(c_void_p)]),
    "close": (None, [c_void_p]),
    "look": (c_int, [POINTER(Options), POINTER(c_void_p)]),
    "wait": (c_int, [c_void_p, c_uint64, c_double, POINTER(c_void_p)]),
    "refresh": (c_int, [c_void_p, c_double, POINTER(c_void_p)]),
    "get_stats": (c_int, [c_void_p, POINTER(Stats)]),
    "json": (c_char_p, [c_void_p]),
    "diagnose": (c_int, [c_void_p, c_double, POINTER(c_void_p)]),
    "add_sink": (c_int, [c_void_p, POINTER(SinkOptions)]),
    "visible": (c_int, [c_void_p, POINTER(VisibleOptions), POINTER(c_void_p)]),
    "pick": (c_int, [POINTER(PickOptions), POINTER(c_void_p)]),
    "history": (c_int, [c_void_p, POINTER(HistoryOptions), POINTER(c_void_p)]),
}


class Library:
    """The functions of gpulse.h by their names without `gpulse_`."""

    def __init__(self, path: str) -> None:
        self.path = path
        for loader, functions in ((ctypes.PyDLL, _FAST), (ctypes.CDLL, _SLOW)):
            loaded = loader(path)
            for name, (result, arguments) in functions.items():
                function = getattr(loaded, f"gpulse_{name}")
                function.restype, function.argtypes = result, arguments
                setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:  # what setattr has put there, for type checkers
        raise AttributeError(name)

    def error(self) -> str:
        told: bytes = self.last_error()
        return told.decode()


class Metric(NamedTuple):
    """What a metric is."""

    number: int
    key: str
    scope: int
    kind: int
    unit: str
    label: str
    help: str

    def format(self, value: float) -> str:
        """With its unit, as a person reads it: "85 %", "1.1 GiB"; of a NaN the reason why there is no value."""
        text = ctypes.create_string_buffer(256)
        library().format(self.number, value, text, len(text))
        return text.value.decode(errors="replace")


def _candidates() -> list[str]:
    named = os.environ.get("GPULSE_LIBRARY")
    if named:
        return [named]
    return [str(Path(__file__).with_name("libgpulse.so")), "libgpulse.so.1"]


@functools.lru_cache(maxsize=None)
def library() -> Library:
    problems: list[str] = []
    for path in _candidates():
        try:
            loaded = Library(path)
        except (OSError, AttributeError) as problem:
            problems.append(str(problem))
            continue
        if loaded.abi() < ABI:
            raise LibraryError(f"{path} is older than this package: install them together")
        return loaded
    raise LibraryError(f"libgpulse.so cannot be loaded ({problems[0]}): reinstall gpulse, or set GPULSE_LIBRARY")


@functools.lru_cache(maxsize=None)
def metrics() -> dict[str, Metric]:
    """By key: "power_draw_watts", "host.cpu_percent", "process.user"."""
    lib = library()
    found: dict[str, Metric] = {}
    for number in range(lib.metric_count()):
        info = MetricInfo(size=ctypes.sizeof(MetricInfo))
        if lib.describe(number, ctypes.byref(info)) == OK:
            key = info.key.decode()
            found[key] = Metric(number, key, info.scope, info.kind, info.unit.decode(), info.label.decode(),
                                info.help.decode())  # fmt: skip
    return found


def make_options(interval: float, history: float, keys: str | None, flags: int) -> Options:
    return Options(size=ctypes.sizeof(Options), interval=interval, history=history,
                   metrics=None if keys is None else keys.encode(), flags=flags)  # fmt: skip


def raise_for(status: int, message: str | None = None) -> None:
    """The exception that a status stands for; `message`: where another call has come in between."""
    if status == OK:
        return
    kinds: dict[int, type[Exception]] = {INVALID: ValueError, CLOSED: MonitorClosed, FORKED: MonitorForked,
                                         TIMEOUT: NoSample}  # fmt: skip
    raise kinds.get(status, GpulseError)(library().error() if message is None else message)
