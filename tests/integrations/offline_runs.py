"""What W&B keeps of an offline run: records of its own protobuf, in the blocks of a LevelDB log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wandb.proto.wandb_internal_pb2 import Record

_BLOCK = 1 << 15
_HEADER = 7  # of the file, and of every piece: checksum (4), length (2), kind (1)
_FULL, _FIRST, _MIDDLE, _LAST = range(1, 5)


def records(path: Path) -> Iterator[Record]:
    data = path.read_bytes()
    assert data[:4] == b":W&B"
    at, record = _HEADER, b""
    while at + _HEADER <= len(data):
        left = _BLOCK - at % _BLOCK
        if left < _HEADER:  # too little for another piece: the block is filled up
            at += left
            continue
        length, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        if kind == 0:
            return
        record += data[at + _HEADER : at + _HEADER + length]
        at += _HEADER + length
        if kind in (_FULL, _LAST):
            yield Record.FromString(record)
            record = b""


def history_of(path: Path) -> list[dict[str, Any]]:
    """What run.log() was given."""
    return [
        {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item}
        for record in records(path)
        if record.HasField("history")
    ]


def axes_of(path: Path) -> dict[str, str]:
    """By the name of a value, or how such names begin: the value that is its horizontal axis."""
    found = [record.metric for record in records(path) if record.HasField("metric")]
    return {one.name or one.glob_name: one.step_metric for one in found}
