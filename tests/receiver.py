"""One who is told of alerts over HTTP: notes what comes, and answers as a test wants it to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from agent import wait_for


@dataclass
class Told:
    path: str
    headers: dict[str, str]
    body: bytes
    status: int  # that it was answered with

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.body)


class Receiver:
    """Inside of its block it answers on a port of 127.0.0.1, `status` to everything."""

    def __init__(self, port: int = 0, status: int = 200) -> None:
        self.status = status
        self.port = port
        self.all: list[Told] = []
        self.hang = threading.Event()  # set: it does not answer
        self.end = threading.Event()
        self.before_answer: Callable[[], None] | None = None  # called once

    def __enter__(self) -> Self:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                while receiver.hang.is_set() and not receiver.end.wait(0.05):
                    pass
                headers = {name.lower(): value for name, value in self.headers.items()}
                before, receiver.before_answer = receiver.before_answer, None
                if before is not None:
                    before()
                receiver.all.append(Told(self.path, headers, body, receiver.status))
                # Whoever has asked may be gone.
                with suppress(OSError):
                    self.answer()

            def answer(self) -> None:
                self.send_response(receiver.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.server.daemon_threads = True
        self.server.block_on_close = False
        self.port = self.server.server_port
        self.thread = threading.Thread(target=self.server.serve_forever, args=[0.02])
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/alerts"

    @property
    def taken(self) -> list[Told]:
        return [told for told in list(self.all) if told.status == 200]

    def messages(self, status: str, rule: str | None = None) -> list[dict[str, Any]]:
        """Those that it has taken, each once: a repeated one has the same key."""
        known = {told.json["key"]: told.json for told in self.taken}
        return [each for each in known.values() if each["status"] == status and rule in (None, each["rule"])]

    def wait(self, status: str, rule: str, seconds: float = 20) -> dict[str, Any]:
        wait_for(lambda: self.messages(status, rule), f"{status} {rule}", seconds)
        return self.messages(status, rule)[0]
