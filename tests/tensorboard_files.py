"""TensorBoard's event files taken apart by what their format says: nothing of gpulse's and nothing of TensorBoard's."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator


def crc32c(data: bytes) -> int:
    rest = 0xFFFFFFFF
    for byte in data:
        rest ^= byte
        for _ in range(8):
            rest = (rest >> 1) ^ (0x82F63B78 if rest & 1 else 0)
    return rest ^ 0xFFFFFFFF


def masked(data: bytes) -> int:
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data: bytes) -> Iterator[bytes]:
    """Every payload; fails on a wrong length, a wrong checksum or a torn end."""
    at = 0
    while at < len(data):
        length, crc = struct.unpack_from("<QI", data, at)
        assert crc == masked(data[at : at + 8]), f"checksum of the length at {at}"
        payload = data[at + 12 : at + 12 + length]
        assert len(payload) == length, f"torn at {at}"
        (crc,) = struct.unpack_from("<I", data, at + 12 + length)
        assert crc == masked(payload), f"checksum of the event at {at}"
        yield payload
        at += 12 + length + 4


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at


def message(data: bytes) -> list[tuple[int, int | bytes]]:
    """The fields of a protocol buffer in their order."""
    fields: list[tuple[int, int | bytes]] = []
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        size = {1: 8, 5: 4}.get(key & 7)
        if key & 7 == 0:
            value, at = varint(data, at)
            fields.append((key >> 3, value))
            continue
        if size is None:
            assert key & 7 == 2, f"wire type {key & 7}"
            size, at = varint(data, at)
        assert at + size <= len(data)
        fields.append((key >> 3, data[at : at + size]))
        at += size
    return fields


@dataclass
class Event:
    time: float
    step: int = 0
    version: str = ""
    values: dict[str, float] = field(default_factory=dict)
    introduced: set[str] = field(default_factory=set)


def read_event(payload: bytes) -> Event:
    event = Event(time=float("nan"))
    for number, content in message(payload):
        if number == 2:
            assert isinstance(content, int)
            event.step = content - (1 << 64) if content >> 63 else content
            continue
        assert isinstance(content, bytes) and number in (1, 3, 5, 10), f"field {number} of an event"
        if number == 1:
            (event.time,) = struct.unpack("<d", content)
        elif number == 3:
            event.version = content.decode()
        elif number == 5:
            for one, value in message(content):
                assert one == 1 and isinstance(value, bytes)
                parts = dict(message(value))
                tag = bytes(parts[1]).decode()  # type: ignore[arg-type]
                assert tag not in event.values, f"{tag} twice in an event"
                (event.values[tag],) = struct.unpack("<f", bytes(parts[2]))  # type: ignore[arg-type]
                event.introduced |= {tag} if 9 in parts else set()
    return event


def only_file(run: Path) -> Path:
    (file,) = run.iterdir()
    assert "tfevents" in file.name
    return file


def events(run: Path) -> list[Event]:
    """Those of the run's one file, after the first, which must say the version."""
    first, *rest = (read_event(payload) for payload in records(only_file(run).read_bytes()))
    assert first.version == "brain.Event:2" and not first.values
    assert not any(event.version for event in rest)
    return rest
