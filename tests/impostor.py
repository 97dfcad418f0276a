"""A server that stands where an engine should, and answers as a test tells it to."""

from __future__ import annotations

import json
import threading
import time
import urllib.parse
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

# From a path and the fields of a form to a status and a body.
Answer = Callable[[str, dict[str, list[str]]], tuple[int, bytes]]


class Impostor:
    """Answers as it is told."""

    def __init__(self, status: int = 200, body: bytes = b"", pause: float = 0, **headers: str) -> None:
        outer = self
        self.answer: Answer = lambda _path, _form: (status, body)
        self.asked: list[tuple[str, str]] = []  # path and Authorization

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                form = self.rfile.read(int(self.headers["Content-Length"])).decode()
                outer.asked.append((self.path, self.headers.get("Authorization", "")))
                time.sleep(pause)
                code, text = outer.answer(self.path, urllib.parse.parse_qs(form))
                self.send_response(code)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, *_: object) -> None:
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def engine_says(words: str, kind: str = "bad_data") -> bytes:
    return json.dumps({"status": "error", "errorType": kind, "error": words}).encode()
