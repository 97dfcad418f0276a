# SPDX-License-Identifier: Apache-2.0
"""Where a monitor's samples go beside memory. All of these are written in C++, without the interpreter's lock."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from typing import ClassVar, Union

from ._library import SinkOptions, library, raise_for

FilePath = Union[str, "os.PathLike[str]"]

_REFUSE, _APPEND, _OVERWRITE = range(3)


class _Sink:
    _format: ClassVar[str]

    def __init__(self, path: FilePath, fields: Iterable[str], run: str = "gpu", existing: int = _REFUSE) -> None:
        self.path = os.fspath(path)
        self.fields = tuple(fields)
        self._run = run
        self._existing = existing

    def _add_to(self, monitor: int) -> None:
        options = SinkOptions(
            size=ctypes.sizeof(SinkOptions),
            format=self._format.encode(),
            path=os.fsencode(self.path),
            fields=",".join(self.fields).encode() or None,
            run=self._run.encode(),
            existing=self._existing,
        )
        raise_for(library().add_sink(monitor, ctypes.byref(options)))

    def __repr__(self) -> str:
        return f"<gpulse.{type(self).__name__} {self.path}>"


class TensorBoard(_Sink):
    """Event files for `tensorboard --logdir LOGDIR`, in a run directory of their own: `LOGDIR/gpu`.

    A run that is there already is left alone: then it is `gpu_1`, `gpu_2`, … With Monitor.set_step() the horizontal
    axis is the training step, one point for each; without it samples are counted. `fields`: keys of metrics, "host."
    before those of the machine; by default what matters most.
    """

    _format = "tensorboard"

    def __init__(self, logdir: FilePath, run: str = "gpu", fields: Iterable[str] = ()) -> None:
        super().__init__(logdir, fields, run)


class Csv(_Sink):
    """A line per sample and device. `append` goes on with a file of the same columns; else one that is there is kept,
    unless `overwrite` says otherwise."""

    _format = "csv"

    def __init__(self, path: FilePath, fields: Iterable[str] = (), *, append: bool = False, overwrite: bool = False) -> None:
        super().__init__(path, fields, existing=_APPEND if append else _OVERWRITE if overwrite else _REFUSE)


class JsonLines(_Sink):
    """An object per sample, as `gpulse --json` prints it; with `fields`, only these."""

    _format = "jsonl"

    def __init__(self, path: FilePath, fields: Iterable[str] = (), *, append: bool = False, overwrite: bool = False) -> None:
        super().__init__(path, fields, existing=_APPEND if append else _OVERWRITE if overwrite else _REFUSE)
