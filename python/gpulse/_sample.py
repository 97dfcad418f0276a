# SPDX-License-Identifier: Apache-2.0
"""A sample: what the machine looked like at one moment. It never changes.

Readings are attributes named after the metrics' keys: `sample.devices[0].power_draw_watts`. One that is not there is
None, and `reason()` says why.
"""

from __future__ import annotations

import ctypes
import datetime
import json
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Optional, Union

from . import _library
from ._errors import UnknownDevice, UnknownMetric
from ._library import DeviceInfo, Metric, ProcessInfo, SampleInfo, library, metrics

if TYPE_CHECKING:
    from ._metrics import DeviceMetrics, HostMetrics, ProcessMetrics  # pyright: ignore[reportMissingModuleSource]
else:
    DeviceMetrics = HostMetrics = ProcessMetrics = object

# A number; the word of a state; the words of a set; a text. None: there is none, see reason().
Value = Union[float, str, "tuple[str, ...]", None]


def _words(metric: Metric, value: float) -> list[str]:
    text = ctypes.create_string_buffer(1024)
    library().words(metric.number, value, text, len(text))
    return [word for word in text.value.decode().split(", ") if word]


class Readings:
    """Something that has readings."""

    __slots__ = ()
    _scope = ""  # how the keys of its metrics begin
    _sample: Sample
    _position: int

    def _metric(self, key: str) -> Metric:
        metric = metrics().get(self._scope + key)
        if metric is None:
            raise UnknownMetric(f"no metric {key!r} here: gpulse.metrics() lists them")
        return metric

    def __getitem__(self, key: str) -> Value:
        metric = self._metric(key)
        sample = self._sample._handle
        if metric.kind == _library.TEXT:
            text = library().text(sample, metric.number, self._position)
            return None if text is None else text.decode()
        value: float = library().value(sample, metric.number, self._position)
        if math.isnan(value):
            return None
        if metric.kind == _library.STATE:
            return ", ".join(_words(metric, value))
        return tuple(_words(metric, value)) if metric.kind == _library.SET else value

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Value:
            if name.startswith("_"):
                raise AttributeError(name)
            try:
                return self[name]
            except UnknownMetric as problem:
                raise AttributeError(str(problem)) from None

    def reason(self, key: str) -> Optional[str]:
        """Why a reading is not there: "not supported", "no permission", "asleep", …; None where it is."""
        metric = self._metric(key)
        if metric.kind == _library.TEXT:
            return None if self[key] is not None else "not available"
        value = library().value(self._sample._handle, metric.number, self._position)
        return library().reason(value).decode() or None

    def keys(self) -> Iterator[str]:
        """The metrics that have a value."""
        for key in self._all_keys():
            if self[key] is not None:
                yield key

    def _all_keys(self) -> Iterator[str]:
        scopes = {"": _library.DEVICE, "process.": _library.PROCESS, "host.": _library.HOST}
        for metric in metrics().values():
            if metric.scope == scopes[self._scope]:
                yield metric.key[len(self._scope) :]

    def to_dict(self) -> dict[str, Value]:
        """All metrics; None for what is not there."""
        return {key: self[key] for key in self._all_keys()}


class Device(Readings, DeviceMetrics):
    """A GPU, or an instance of one, as a sample saw it."""

    __slots__ = ("_sample", "_position", "_info", "cuda_index")

    def __init__(self, sample: Sample, position: int, cuda_index: Optional[int] = None) -> None:
        self._sample = sample
        self._position = position
        self._info = DeviceInfo(size=ctypes.sizeof(DeviceInfo))
        _library.raise_for(library().get_device(sample._handle, position, ctypes.byref(self._info)))
        # Its number in this process's CUDA, HIP or Level Zero, where that is known and it is visible.
        self.cuda_index = cuda_index

    @property
    def index(self) -> int:
        """The GPU's number in the machine, as nvidia-smi counts."""
        return int(self._info.index)

    @property
    def instance(self) -> Optional[int]:
        """The number of a MIG instance on its GPU; None: it is a whole GPU."""
        return None if self._info.instance < 0 else int(self._info.instance)

    @property
    def id(self) -> str:
        """ "0", or "0:1" of an instance."""
        return str(self._info.id.decode())

    @property
    def uuid(self) -> str:
        return str(self._info.uuid.decode())

    @property
    def name(self) -> str:
        return str(self._info.name.decode())

    @property
    def vendor(self) -> str:
        return str(self._info.vendor.decode())

    @property
    def pci(self) -> str:
        return str(self._info.pci.decode())

    @property
    def driver(self) -> str:
        return str(self._info.driver.decode())

    @property
    def parent(self) -> Optional[str]:
        """The UUID of the GPU that it is an instance of."""
        return self._info.parent.decode() or None

    @property
    def state(self) -> str:
        """ "ok", "asleep", "lost" or "not responding"."""
        return str(self._info.state.decode())

    @property
    def processes(self) -> list[Process]:
        return [process for process in self._sample.processes if process.device == self]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.uuid == self.uuid

    def __hash__(self) -> int:
        return hash(self.uuid)

    def _repr_html_(self) -> str:
        from ._html import device_html

        return device_html(self)

    def __repr__(self) -> str:
        return f"<gpulse.Device {self.id} {self.name} {self.uuid}>"


class Process(Readings, ProcessMetrics):
    """A process on a device; one that is on several is listed with each."""

    __slots__ = ("_sample", "_position", "_info")
    _scope = "process."

    def __init__(self, sample: Sample, position: int) -> None:
        self._sample = sample
        self._position = position
        self._info = ProcessInfo(size=ctypes.sizeof(ProcessInfo))
        _library.raise_for(library().get_process(sample._handle, position, ctypes.byref(self._info)))

    @property
    def pid(self) -> int:
        return int(self._info.pid)

    @property
    def device(self) -> Device:
        return Device(self._sample, int(self._info.device))

    @property
    def type(self) -> str:
        return str(self._info.type.decode())

    @property
    def is_self(self) -> bool:
        """Whether it is this very process."""
        return bool(self._info.is_self)

    def __repr__(self) -> str:
        return f"<gpulse.Process {self.pid} on GPU {self.device.id}>"


class Host(Readings, HostMetrics):
    """The machine itself: processors, memory, disks, network."""

    __slots__ = ("_sample", "_position")
    _scope = "host."

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._position = 0

    def __repr__(self) -> str:
        return f"<gpulse.Host {self._sample.hostname}>"


class Sample:
    """What the machine looked like at one moment."""

    __slots__ = ("_handle", "_shown", "_known", "__weakref__")

    def __init__(self, handle: int, shown: Optional[Mapping[str, Optional[int]]] = None) -> None:
        self._handle = handle
        # The devices to show, in their order, with their numbers in CUDA; None: all.
        self._shown = shown
        self._known: Optional[SampleInfo] = None

    def __del__(self) -> None:
        library().release(self._handle)

    @property
    def _info(self) -> SampleInfo:
        if self._known is None:
            info = SampleInfo(size=ctypes.sizeof(SampleInfo))
            _library.raise_for(library().get_info(self._handle, ctypes.byref(info)))
            self._known = info
        return self._known

    @property
    def number(self) -> int:
        """1, 2, 3, … of its monitor; 0 of gpulse.snapshot()."""
        return int(self._info.number)

    @property
    def time(self) -> float:
        """Seconds since 1970."""
        return float(self._info.time / 1e9)

    @property
    def datetime(self) -> datetime.datetime:
        return datetime.datetime.fromtimestamp(self.time, datetime.timezone.utc)

    @property
    def monotonic(self) -> float:
        """As time.monotonic() has it."""
        return float(self._info.monotonic / 1e9)

    @property
    def step(self) -> Optional[int]:
        """The training step that went on, as set_step() told it."""
        return None if self._info.step == -1 else int(self._info.step)

    @property
    def from_agent(self) -> bool:
        return bool(self._info.from_agent)

    @property
    def hostname(self) -> str:
        return str(self._info.hostname.decode())

    @property
    def absence(self) -> Optional[str]:
        """Why there is no device; None where there are some."""
        return self._info.absence.decode() or None

    @property
    def device_count(self) -> int:
        """How many devices the machine has."""
        return int(self._info.devices)

    @property
    def all_devices(self) -> list[Device]:
        """Every device of the machine."""
        return [Device(self, position) for position in range(self._info.devices)]

    @property
    def devices(self) -> list[Device]:
        """The devices that the monitor looks at, in their order."""
        found = self.all_devices
        if self._shown is None:
            return found
        by_uuid = {device.uuid: device for device in found}
        shown: list[Device] = []
        for uuid, cuda_index in self._shown.items():
            if uuid in by_uuid:
                by_uuid[uuid].cuda_index = cuda_index
                shown.append(by_uuid[uuid])
        return shown

    @property
    def processes(self) -> list[Process]:
        """The processes on all devices that this user may know of."""
        return [Process(self, position) for position in range(self._info.processes)]

    @property
    def host(self) -> Host:
        return Host(self)

    def device(self, selector: str) -> Device:
        """By number ("0", "0:1"), UUID or its beginning, or PCI address."""
        position = library().find_device(self._handle, selector.encode())
        if position < 0:
            raise UnknownDevice(library().error())
        return Device(self, position)

    def to_dict(self) -> dict[str, Any]:
        """As `gpulse --json` prints it."""
        text = library().json(self._handle)
        return dict(json.loads(text))

    def _repr_html_(self) -> str:
        from ._html import sample_html

        return sample_html(self)

    def __repr__(self) -> str:
        return f"<gpulse.Sample {self.datetime:%Y-%m-%dT%H:%M:%S.%f}Z, {self._info.devices} devices>"
