# SPDX-License-Identifier: Apache-2.0
"""Readings of the past in columns, for anything that speaks Arrow, and for numpy, pandas and polars."""

# numpy, pandas and polars need not be there when this is checked: then their types are unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownParameterType=false

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Optional, Union

from . import _library
from ._library import ColumnInfo, library, raise_for

if TYPE_CHECKING:
    import numpy
    import pandas  # type: ignore[import-untyped,unused-ignore]
    import polars

Cell = Union[int, float, str, None]


class _ArrowStream(ctypes.Structure):
    _fields_ = [("functions", ctypes.c_void_p * 4), ("private_data", ctypes.c_void_p)]


_STREAM_NAME = b"arrow_array_stream"


def _release(capsule: int) -> None:
    """Frees a stream that nobody has taken."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]
    address = get(capsule, _STREAM_NAME)
    stream = _ArrowStream.from_address(address)
    if stream.functions[3]:
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(stream.functions[3])(address)
    _streams.pop(address, None)


_release_capsule = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_release)

# The memory of streams that are under way, by address.
_streams: dict[int, _ArrowStream] = {}


class Table:
    """Columns: time, monotonic, step, gpu, uuid, then a metric each. Rows in the order of time."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._columns: dict[str, tuple[int, ColumnInfo]] = {}
        for number in range(library().table_columns(handle)):
            info = ColumnInfo(size=ctypes.sizeof(ColumnInfo))
            raise_for(library().get_column(handle, number, ctypes.byref(info)))
            self._columns[info.name.decode()] = (number, info)

    def __del__(self) -> None:
        library().table_free(self._handle)

    def __len__(self) -> int:
        return int(library().table_rows(self._handle))

    @property
    def column_names(self) -> list[str]:
        return list(self._columns)

    def __iter__(self) -> Iterator[dict[str, Cell]]:
        columns = self.to_dict()
        for row in range(len(self)):
            yield {name: values[row] for name, values in columns.items()}

    def __getitem__(self, column: str) -> list[Cell]:
        """A column; None where there is no value. Times are nanoseconds since 1970."""
        number, info = self._columns[column]
        rows = len(self)
        if info.type == _library.STRING_COLUMN:
            return [library().table_text(self._handle, number, row).decode() for row in range(rows)]
        kind = ctypes.c_double if info.type == _library.NUMBER_COLUMN else ctypes.c_int64
        values = (kind * rows).from_address(info.values) if rows else ()
        if not info.validity:
            return list(values)
        return [value if info.validity[row // 8] >> (row % 8) & 1 else None for row, value in enumerate(values)]

    def to_dict(self) -> dict[str, list[Cell]]:
        return {name: self[name] for name in self._columns}

    def to_numpy(self) -> dict[str, numpy.ndarray[Any, Any]]:
        """Columns as arrays: datetime64[ns] for time, NaN for a number that is not there, masked arrays for integers."""
        import numpy

        arrays: dict[str, Any] = {}
        for name, (_, info) in self._columns.items():
            if info.type == _library.STRING_COLUMN:
                arrays[name] = numpy.array(self[name], dtype=str)
                continue
            kind = ctypes.c_double if info.type == _library.NUMBER_COLUMN else ctypes.c_int64
            rows = len(self)
            array: Any = numpy.array((kind * rows).from_address(info.values) if rows else (), dtype=kind)
            if info.type == _library.TIME_COLUMN:
                array = array.astype("datetime64[ns]")
            elif info.type == _library.INTEGER_COLUMN and info.validity:
                array = numpy.ma.array(array, mask=[cell is None for cell in self[name]])
            arrays[name] = array
        return arrays

    def to_pandas(self) -> pandas.DataFrame:
        import pandas  # type: ignore[import-untyped,unused-ignore]

        frame = pandas.DataFrame(self.to_numpy())
        frame["time"] = frame["time"].dt.tz_localize("UTC")
        if any(cell is None for cell in self["step"]):
            frame["step"] = pandas.array(self["step"], dtype="Int64")
        return frame

    def to_polars(self) -> polars.DataFrame:
        import polars

        return polars.DataFrame(self)

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        """Arrow's PyCapsule interface: `pyarrow.table(t)`, `polars.DataFrame(t)`, DuckDB."""
        stream = _ArrowStream()
        address = ctypes.addressof(stream)
        raise_for(library().table_arrow(self._handle, address))
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        _streams[address] = stream
        capsule: object = new(address, _STREAM_NAME, ctypes.cast(_release_capsule, ctypes.c_void_p))
        return capsule

    def _repr_html_(self) -> str:
        from ._html import table_html

        return table_html(self)

    def __repr__(self) -> str:
        return f"<gpulse.Table {len(self)} rows, {len(self._columns)} columns>"
