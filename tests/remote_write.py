"""A receiver of Prometheus' remote write that says what a test wants, and remembers what it was sent."""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Callable

Labels = frozenset[tuple[str, str]]


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value, at, shift = value | (byte & 0x7F) << shift, at + 1, shift + 7
        if byte < 0x80:
            return value, at


def unpacked(data: bytes) -> bytes:
    """Snappy's block format."""
    length, at = varint(data, 0)
    out = bytearray()
    while at < len(data):
        tag, at = data[at], at + 1
        if tag & 3 == 0:
            size = (tag >> 2) + 1
            if size > 60:
                extra = size - 60
                size, at = int.from_bytes(data[at : at + extra], "little") + 1, at + extra
            out += data[at : at + size]
            at += size
            continue
        if tag & 3 == 1:
            size, back, at = (tag >> 2 & 7) + 4, (tag >> 5) << 8 | data[at], at + 1
        else:
            width = 2 if tag & 3 == 2 else 4
            size, back, at = (tag >> 2) + 1, int.from_bytes(data[at : at + width], "little"), at + width
        for _ in range(size):
            out.append(out[-back])
    assert len(out) == length
    return bytes(out)


def fields(data: bytes) -> Iterator[tuple[int, bytes | int]]:
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 2:
            size, at = varint(data, at)
            yield tag >> 3, data[at : at + size]
            at += size
        elif tag & 7 == 1:
            yield tag >> 3, data[at : at + 8]
            at += 8
        else:
            value, at = varint(data, at)
            yield tag >> 3, value


def text(data: bytes | int) -> str:
    assert isinstance(data, bytes)
    return data.decode()


@dataclass
class Request:
    headers: dict[str, str]
    samples: list[tuple[Labels, int, float]]  # labels, milliseconds, value
    at: float = field(default_factory=time.time)


def samples_of(body: bytes) -> list[tuple[Labels, int, float]]:
    found: list[tuple[Labels, int, float]] = []
    for number, series in fields(unpacked(body)):
        assert number == 1 and isinstance(series, bytes)
        labels: list[tuple[str, str]] = []
        for kind, part in fields(series):
            assert isinstance(part, bytes)
            parts = dict(fields(part))
            if kind == 1:
                labels.append((text(parts[1]), text(parts[2])))
                continue
            value, moment = parts[1], parts[2]
            assert isinstance(value, bytes) and isinstance(moment, int)
            found.append((frozenset(labels), moment, struct.unpack("<d", value)[0]))
        assert labels == sorted(labels) and len({name for name, _ in labels}) == len(labels)
    return found


@dataclass
class Receiver:
    address: str = ""
    requests: list[Request] = field(default_factory=list)  # that it has taken
    seen: list[Request] = field(default_factory=list)  # all
    answer: Callable[[Request], tuple[int, dict[str, str], bytes]] = lambda _: (204, {}, b"")
    hangs: threading.Event | None = None  # until when it does not answer
    clock: Callable[[], float] | None = time.time  # none: it does not tell the time

    @property
    def url(self) -> str:
        return f"http://{self.address}/api/v1/write"

    def samples(self) -> list[tuple[Labels, int, float]]:
        return [sample for request in self.requests for sample in request.samples]


@contextmanager
def receiving(port: int = 0) -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            request = Request({name.lower(): value for name, value in self.headers.items()}, samples_of(body))
            receiver.seen.append(request)
            if receiver.hangs is not None:
                receiver.hangs.wait(60)
            status, headers, words = receiver.answer(request)
            if status == 204:
                receiver.requests.append(request)
            self.send_response_only(status)
            if receiver.clock is not None:
                self.send_header("Date", formatdate(receiver.clock(), usegmt=True))
            for name, value in ({"Content-Length": str(len(words))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(words)

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, *_: object) -> None:
            pass  # the agent may be killed while it is answered

    server = Server(("127.0.0.1", port), Handler)
    receiver.address = f"127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield receiver
    finally:
        if receiver.hangs is not None:
            receiver.hangs.set()
        server.shutdown()
        server.server_close()
