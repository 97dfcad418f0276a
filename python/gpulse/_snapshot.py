# SPDX-License-Identifier: Apache-2.0
"""One look at the machine, without a monitor."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping
from typing import Optional, Union

from . import _library
from ._library import library, make_options, raise_for
from ._sample import Device, Sample
from ._visible import Visible, find, resolve, visible


def snapshot(metrics: Union[None, str, Iterable[str]] = None, *, agent: bool = True) -> Sample:
    """What all devices do now: at once where an agent runs, else in about a tenth of a second."""
    keys = metrics if metrics is None or isinstance(metrics, str) else ",".join(metrics)
    options = make_options(1.0, 0.0, keys, 0 if agent else _library.NO_AGENT)
    sample = ctypes.c_void_p()
    raise_for(library().look(ctypes.byref(options), ctypes.byref(sample)))
    return Sample(int(sample.value or 0))


def devices() -> list[Device]:
    """All devices of this machine, whatever this process may see of them."""
    return snapshot().all_devices


def visible_devices() -> list[Device]:
    """Those that CUDA (HIP, Level Zero) would give this process, in its order. Never initialises it."""
    return visible(snapshot()).devices


def resolve_visible(environment: Optional[Mapping[str, str]] = None) -> Visible:
    """The same with what was ignored and why; for another environment, where one is given."""
    sample = snapshot()
    return visible(sample) if environment is None else resolve(sample, environment)


def device(which: object = 0) -> Device:
    """One device. An int, "cuda:1" or a torch.device counts as this process does; a text is the number in the machine
    ("0", "0:1"), the UUID or its beginning, or the PCI address."""
    return find(snapshot(), which)
