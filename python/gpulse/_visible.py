# SPDX-License-Identifier: Apache-2.0
"""Which devices this process gets to see, by the rules of CUDA, HIP and Level Zero, without initialising any of them."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Optional, Union

from ._errors import UnknownDevice
from ._library import Ignored as _Ignored
from ._library import ViewInfo, VisibleOptions, library, raise_for
from ._program import program
from ._sample import Device, Sample


@dataclass(frozen=True)
class Ignored:
    """An entry of a variable that shows no device."""

    variable: str
    entry: str
    reason: str


@dataclass(frozen=True)
class Visible:
    """What a process sees. The first device is its number 0."""

    devices: list[Device]
    ignored: list[Ignored]
    method: str  # how it was found
    problem: Optional[str]  # why nothing is visible, or why it is not certain


def resolve(sample: Sample, environment: Optional[Mapping[str, str]] = None) -> Visible:
    options = VisibleOptions(size=ctypes.sizeof(VisibleOptions), program=os.fsencode(program()))
    if environment is not None:
        entries = [f"{name}={value}".encode() for name, value in environment.items()]
        options.environment = (ctypes.c_char_p * (len(entries) + 1))(*entries, None)
    view = ctypes.c_void_p()
    raise_for(library().visible(sample._handle, ctypes.byref(options), ctypes.byref(view)))
    try:
        info = ViewInfo(size=ctypes.sizeof(ViewInfo))
        raise_for(library().get_view(view, ctypes.byref(info)))
        devices = [Device(sample, library().view_device(view, i), i) for i in range(info.devices)]
        ignored: list[Ignored] = []
        for number in range(info.ignored):
            one = _Ignored(size=ctypes.sizeof(_Ignored))
            raise_for(library().get_ignored(view, number, ctypes.byref(one)))
            ignored.append(Ignored(one.variable.decode(), one.entry.decode(), one.reason.decode()))
        return Visible(devices, ignored, info.method.decode(), info.problem.decode() or None)
    finally:
        library().view_free(view)


def _cuda_uuids() -> Optional[list[str]]:
    """From torch, where it has initialised CUDA: the variables may have changed since, and CUDA does not look again."""
    torch = sys.modules.get("torch")
    try:
        if torch is None or not torch.cuda.is_initialized():
            return None
        return [str(torch.cuda.get_device_properties(i).uuid) for i in range(torch.cuda.device_count())]
    except (AttributeError, RuntimeError):
        return None


def visible(sample: Sample) -> Visible:
    """For this process."""
    uuids = _cuda_uuids()
    if uuids is None:
        return resolve(sample)
    by_uuid = {device.uuid.lower().removeprefix("gpu-"): device for device in sample.all_devices}
    found: list[Device] = []
    for number, uuid in enumerate(uuids):
        device = by_uuid.get(uuid.lower().removeprefix("gpu-"))
        if device is None:  # it tells no UUID that we know: an old torch, or an instance
            return resolve(sample)
        device.cuda_index = number
        found.append(device)
    return Visible(found, [], "asked torch, which has initialised CUDA", None)


class Shown(NamedTuple):
    """A device that somebody looks at."""

    id: str
    uuid: str
    name: str
    cuda_index: Optional[int]


# What the answer depends on. HIP and Level Zero read theirs as CUDA does.
_VARIABLES = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
              "ZE_AFFINITY_MASK", "ZE_FLAT_DEVICE_HIERARCHY")  # fmt: skip

DeviceChoice = Union[str, Sequence[Union[str, int, Device]]]

_known: dict[tuple[object, ...], tuple[Shown, ...]] = {}


def shown_devices(sample: Sample, choice: DeviceChoice) -> tuple[Shown, ...]:
    """What a choice of devices means: "all", "visible", or a list. Asked for by every region, so it is kept for as long
    as nothing changes that it depends on; CUDA's own order may even have to be asked from another process."""
    torch = sys.modules.get("torch")
    key = (choice if isinstance(choice, (str, int, Device)) else tuple(choice), sample.device_count,
           torch is not None and torch.cuda.is_initialized(), *map(os.environ.get, _VARIABLES))  # fmt: skip
    found = _known.get(key)
    if found is None:
        found = tuple(Shown(one.id, one.uuid, one.name, one.cuda_index) for one in _choose(sample, choice))
        if len(_known) >= 64:
            _known.clear()
        _known[key] = found
    return found


def _choose(sample: Sample, choice: DeviceChoice) -> list[Device]:
    if choice == "all":
        return sample.all_devices
    if choice == "visible":
        return visible(sample).devices
    chosen: Sequence[Union[str, int, Device]] = [choice] if isinstance(choice, (str, int, Device)) else choice
    return [find(sample, one) for one in chosen]


def find(sample: Sample, what: object) -> Device:
    """A device of the sample: an int or "cuda:1" is its number in this process, as torch counts; a text is the number in
    the machine ("0", "0:1"), the UUID or its beginning, or the PCI address; else anything with `.uuid` or `.index`."""
    if isinstance(what, Device):
        what = what.uuid
    kind = getattr(what, "type", None)
    if kind is not None and not isinstance(what, str):  # torch.device
        if kind == "cpu":
            raise UnknownDevice("a processor is not a GPU")
        what = _torch_index(what)
    elif not isinstance(what, (str, int)):
        for name in ("uuid", "index"):
            if hasattr(what, name):
                what = getattr(what, name)
                break
    if isinstance(what, str) and what.startswith(("cuda", "hip", "xpu")):
        _, _, number = what.partition(":")
        if number and not number.isdecimal():
            raise UnknownDevice(f"{what!r} names no device: write 'cuda:1'")
        what = int(number or 0)
    if isinstance(what, int) and not isinstance(what, bool):
        devices = visible(sample).devices
        if not 0 <= what < len(devices):
            raise UnknownDevice(f"this process sees {len(devices)} GPUs: there is no number {what}")
        return devices[what]
    if not isinstance(what, str):
        raise UnknownDevice(f"{what!r} names no device")
    found = sample.device(what)
    for device in visible(sample).devices:
        if device.uuid == found.uuid:
            return device
    return found


def _torch_index(device: object) -> int:
    index = getattr(device, "index", None)
    if index is not None:
        return int(index)
    torch = sys.modules.get("torch")
    return int(torch.cuda.current_device()) if torch is not None and torch.cuda.is_initialized() else 0


def torch_uuid(shown: Sequence[Union[Shown, Device]]) -> Optional[str]:
    """Of torch's current device, where it has one."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return None
    current = int(torch.cuda.current_device())
    return next((one.uuid for one in shown if one.cuda_index == current), None)


__all__ = ["DeviceChoice", "Ignored", "Shown", "Visible", "find", "resolve", "shown_devices", "torch_uuid", "visible"]
