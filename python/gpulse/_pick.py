# SPDX-License-Identifier: Apache-2.0
"""GPUs for this process alone, without a race."""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, NamedTuple, Optional, Union

from . import _library
from ._errors import NoGpuAvailable
from ._library import Leased, LeaseInfo, PickOptions, library, raise_for
from ._monitor import seconds_of
from ._program import program
from ._snapshot import snapshot
from ._visible import visible


class LeasedDevice(NamedTuple):
    id: str
    uuid: str
    name: str


class Lease:
    """GPUs that are this process's own until it ends, or until release(). Also a context manager."""

    def __init__(self, handle: int, devices: list[LeasedDevice], variables: Mapping[str, str]) -> None:
        self._handle = handle
        self._pid = os.getpid()
        self._before: Optional[dict[str, Optional[str]]] = None
        self.devices = devices
        self._variables = dict(variables)

    @property
    def uuids(self) -> list[str]:
        return [device.uuid for device in self.devices]

    def env(self) -> dict[str, str]:
        """What to set for a program that is to use these GPUs: CUDA_VISIBLE_DEVICES and the like."""
        return dict(self._variables)

    def apply(self) -> Lease:
        """Sets these variables in this process. Before CUDA is used: it looks at them only once."""
        torch = sys.modules.get("torch")
        if torch is not None and getattr(torch, "cuda", None) is not None and torch.cuda.is_initialized():
            warnings.warn("CUDA is in use already: it will not look at CUDA_VISIBLE_DEVICES again", RuntimeWarning, 2)
        self._before = {name: os.environ.get(name) for name in self._variables}
        os.environ.update(self._variables)
        return self

    def release(self) -> None:
        """Gives the GPUs back. In a forked child it does nothing: they are the parent's."""
        handle, self._handle = self._handle, 0
        if handle and self._pid == os.getpid():
            _held.pop(handle, None)
            library().lease_free(handle)

    def __enter__(self) -> Lease:
        return self.apply()

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:  # fmt: skip
        for name, before in (self._before or {}).items():
            if before is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = before
        self.release()

    def __repr__(self) -> str:
        return f"<gpulse.Lease of GPU {', '.join(device.id for device in self.devices)}>"


# By handle: held for the life of the process, also where nobody keeps the object.
_held: dict[int, Lease] = {}


def bytes_of(size: Union[int, float, str]) -> float:
    """20e9, "20GiB", "500 MB": G is GiB, GB is 10^9."""
    if not isinstance(size, str):
        return float(size)
    text = size.strip()
    number = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
    unit = text[len(number) :].strip().lower()
    powers = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
    letter = unit.rstrip("ib") if unit != "b" else ""
    base = 1000 if unit.endswith("b") and not unit.endswith("ib") else 1024
    try:
        return float(number) * float(base ** powers[letter])
    except (ValueError, KeyError):
        raise ValueError(f"{size!r} is no size: write '20GiB' or a number of bytes") from None


def _share_of(text: object) -> Optional[float]:
    if isinstance(text, str) and text.strip().endswith("%"):
        return float(text.strip()[:-1]) / 100
    return None


def pick(
    n: int = 1,
    *,
    min_free: Union[None, int, float, str] = None,
    max_util: Optional[float] = None,
    wait: Union[None, float, str] = None,
    inherit: bool = False,
) -> Lease:
    """Takes GPUs that nobody uses, among those that this process sees, and holds them until it ends.

    `min_free`: memory that must be free, "20GiB" or "50%"; by default nine tenths. `max_util`: percent, by default 10.
    `wait`: seconds or "10m" to wait for; None: fail at once; math.inf: for ever. `inherit`: child processes and programs
    that they start hold them too. NoGpuAvailable says for each GPU why it cannot be had.
    """
    if n < 1:
        raise ValueError(f"{n} GPUs cannot be picked")
    options = PickOptions()
    library().pick_options_init(ctypes.byref(options))
    options.count = n
    share = _share_of(min_free)
    if share is not None:
        options.min_free_share = share
    elif min_free is not None:
        options.min_free = bytes_of(min_free)
    if max_util is not None:
        options.max_util = max_util
    options.wait = 0 if wait is None else 1e8 if wait == math.inf else seconds_of(wait)
    options.pass_on = inherit
    options.program = os.fsencode(program())
    handle = ctypes.c_void_p()
    with _Interruptible(options):
        status = library().pick(ctypes.byref(options), ctypes.byref(handle))
        message = library().error()
    if status == _library.CLOSED:
        raise NoGpuAvailable(message)
    if status != _library.NO_GPU:
        raise_for(status, message)
    lease = int(handle.value or 0)
    info = LeaseInfo(size=ctypes.sizeof(LeaseInfo))
    raise_for(library().get_lease(lease, ctypes.byref(info)))
    if status == _library.NO_GPU:
        reasons = {one.uuid.decode(): f"GPU {one.id.decode()}: {one.reason.decode()}"
                   for one in _entries(library().get_refused, lease, info.refused)}  # fmt: skip
        library().lease_free(lease)
        raise NoGpuAvailable("; ".join([message, *reasons.values()]), reasons)
    devices = [LeasedDevice(one.id.decode(), one.uuid.decode(), one.name.decode())
               for one in _entries(library().get_leased, lease, info.devices)]  # fmt: skip
    variables: dict[str, str] = {}
    for number in range(info.variables):
        value = ctypes.c_char_p()
        name = library().lease_variable(lease, number, ctypes.byref(value))
        variables[name.decode()] = (value.value or b"").decode()
    _held[lease] = Lease(lease, devices, variables)
    return _held[lease]


def _entries(get: Callable[..., int], lease: int, count: int) -> Iterator[Leased]:
    for number in range(count):
        one = Leased(size=ctypes.sizeof(Leased))
        raise_for(get(lease, number, ctypes.byref(one)))
        yield one


class _Interruptible:
    """Lets Ctrl-C end a wait in C++: an exception must not leave through it, so the signal is kept until the wait ends."""

    def __init__(self, options: PickOptions) -> None:
        self._came = False
        self._former: Any = None
        self._progress = _library.PROGRESS(self._tell)
        options.progress = self._progress

    def _tell(self, _context: object, _waited: float, _free: int) -> int:
        return int(self._came)

    def _note(self, _number: int, _frame: object) -> None:
        self._came = True

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT)):
            self._former = signal.signal(signal.SIGINT, self._note)

    def __exit__(self, kind: object, value: object, trace: object) -> None:
        if self._former is not None:
            signal.signal(signal.SIGINT, self._former)
        if self._came:
            signal.raise_signal(signal.SIGINT)


def grab_gpus(
    num_gpus: int = 1,
    gpu_select: Union[None, int, Iterable[int]] = None,
    gpu_fraction: float = 0.95,
    max_procs: int = -1,
    env_set_ok: bool = True,
    gpu_min_memory: Union[int, float, str, None] = None,
) -> int:
    """As py3nvml has it: takes up to `num_gpus` free GPUs, sets CUDA_VISIBLE_DEVICES and returns how many it got.

    Here without the race: they are leased until this process ends. Warns, where it cannot have as many; -1: all that
    are free. `gpu_select`: only these, by their number in the machine. `gpu_fraction`: of the memory, must be free.
    `max_procs`: none on which more processes run; -1: any number.
    """
    if not env_set_ok and os.environ.get("CUDA_VISIBLE_DEVICES"):
        warnings.warn("CUDA_VISIBLE_DEVICES is set: no GPU was grabbed", RuntimeWarning, 2)
        return 0
    if num_gpus == 0:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
        return 0
    wanted = None if gpu_select is None else {gpu_select} if isinstance(gpu_select, int) else set(gpu_select)
    least: Union[float, str] = f"{100 * gpu_fraction:g}%" if gpu_min_memory is None else bytes_of(gpu_min_memory)
    with _mask_of(wanted, max_procs):
        leases, why = _grab(num_gpus, least)
    taken = [device for lease in leases for device in lease.devices]
    if num_gpus > 0 and len(taken) < num_gpus:
        warnings.warn(f"{len(taken)} of {num_gpus} GPUs could be had: {why}", RuntimeWarning, 2)
    elif not taken:
        warnings.warn(f"no GPU could be had: {why}", RuntimeWarning, 2)
    names = {name for lease in leases for name in lease.env()} or {"CUDA_VISIBLE_DEVICES"}
    for name in names:
        os.environ[name] = ",".join(lease.env()[name] for lease in leases if name in lease.env())
    return len(taken)


def _grab(count: int, least: Union[float, str]) -> tuple[list[Lease], str]:
    """As many as there are, at once where they are, else one after the other."""
    why = ""
    if count > 0:
        try:
            return [pick(count, min_free=least, max_util=100)], why
        except NoGpuAvailable as problem:
            why = str(problem)
    leases: list[Lease] = []
    while count < 0 or len(leases) < count:
        try:
            leases.append(pick(1, min_free=least, max_util=100))
        except NoGpuAvailable as problem:
            return leases, why or str(problem)
    return leases, why


@contextlib.contextmanager
def _mask_of(numbers: Optional[set[int]], max_procs: int) -> Generator[None, None, None]:
    """For a moment only these GPUs of the machine are visible, with no more processes on them than that."""
    if numbers is None and max_procs < 0:
        yield
        return
    names = [
        device.uuid
        for device in visible(snapshot()).devices
        if (numbers is None or device.index in numbers) and (max_procs < 0 or len(device.processes) <= max_procs)
    ]
    before = os.environ.get("CUDA_VISIBLE_DEVICES")
    os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(names)
    try:
        yield
    finally:
        if before is None:
            del os.environ["CUDA_VISIBLE_DEVICES"]
        else:
            os.environ["CUDA_VISIBLE_DEVICES"] = before
