"""Made-up series of agents, written to an engine as a remote writer would write them."""

from __future__ import annotations

import struct
import urllib.request
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from scrapers import Engine, fetch

STALE = 0x7FF0000000000002
HOUR = 3600

Points = list[tuple[int, float]]  # milliseconds and value


def varint(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def part(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2]) + varint(len(content)) + content


def snappy(raw: bytes) -> bytes:
    """Valid, and not any smaller: literals only."""
    out = varint(len(raw))
    for at in range(0, len(raw), 1 << 16):
        piece = raw[at : at + (1 << 16)]
        out += bytes([61 << 2]) + struct.pack("<H", len(piece) - 1) + piece
    return out


@dataclass
class Series:
    """One series: when it is there, and its value at a second since the beginning."""

    labels: dict[str, str]
    value: Callable[[int], float | None]
    encoded: bytes = field(init=False)

    def __post_init__(self) -> None:
        labels = sorted((name, text) for name, text in self.labels.items() if text)
        self.encoded = b"".join(part(1, part(1, name.encode()) + part(2, text.encode())) for name, text in labels)
        self.was_there = False

    def write(self, begin: int, moments: Iterable[int]) -> bytes:
        """Of these moments; b"": there is nothing of them. It is ended as soon as it is gone."""
        out = bytearray()
        for second in moments:
            value = self.value(second)
            if value is None and not self.was_there:
                continue
            self.was_there = value is not None
            bits = struct.pack("<Q", STALE) if value is None else struct.pack("<d", value)
            sample = b"\x09" + bits + b"\x10" + varint((begin + second) * 1000)
            out += part(2, sample)
        return part(1, self.encoded + bytes(out)) if out else b""


def write(engine: Engine, series: list[Series], begin: int, seconds: int, interval: int, offset: int = 7) -> None:
    """In the order of time, an hour at once: Prometheus takes nothing that is older than what it has."""
    for hour in range(0, seconds, HOUR):
        moments = range(hour + offset, min(hour + HOUR, seconds), interval)
        body = b"".join(one.write(begin, moments) for one in series)
        headers = {"Content-Encoding": "snappy", "Content-Type": "application/x-protobuf", "X-Prometheus-Remote-Write-Version": "0.1.0"}
        request = urllib.request.Request(f"http://{engine.address}/api/v1/write", snappy(body), headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert answer.status == 204
    # VictoriaMetrics does not search what has just come in; Prometheus knows no such page.
    fetch(f"http://{engine.address}/internal/force_flush")
