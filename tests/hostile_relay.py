"""Stands between a browser and an agent, and puts a hostile text wherever the agent speaks of something from outside: host,
GPU, process, user, job, event, finding, reason. What the page does with each of them can then be seen at once."""

from __future__ import annotations

import http.client
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# Of these the page understands the values; all other texts are for people.
UNDERSTOOD = {
    "schema", "version", "time", "since", "begin", "end", "first", "last", "from", "to", "missed_from", "id", "uuid", "device", "device_id",
    "devices", "parent", "state", "severity", "key", "keys", "scope", "unit", "symbol", "fold", "kept", "role", "tier", "metric", "metrics",
    "words", "calm", "grave", "label", "kind", "type",
}  # fmt: skip


def spoil(value: Any, evil: str, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: spoil(inner, evil, name) if name not in UNDERSTOOD or isinstance(inner, (dict, list)) else inner for name, inner in value.items()}
    if isinstance(value, list):
        return value if key in UNDERSTOOD and not any(isinstance(one, dict) for one in value) else [spoil(one, evil, key) for one in value]
    return evil if isinstance(value, str) else value


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Relay

    def do_GET(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.agent_port, timeout=60)
        try:
            connection.request("GET", self.path, headers={"Host": self.headers["Host"]})
            answer = connection.getresponse()
            if answer.headers.get_content_type() == "text/event-stream":
                self.pass_stream(answer)
                return
            body = answer.read()
            if answer.headers.get_content_type() == "application/json" and answer.status == 200:
                body = json.dumps(spoil(json.loads(body), self.server.evil)).encode()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("content-length", "transfer-encoding", "connection", "etag", "server", "date"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except (ConnectionError, http.client.HTTPException, TimeoutError):
            self.close_connection = True
        finally:
            connection.close()

    def pass_stream(self, answer: http.client.HTTPResponse) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        with self.server.counting():
            while line := answer.readline():
                if found := re.fullmatch(rb"data: (.*)\n", line):
                    line = b"data: " + json.dumps(spoil(json.loads(found[1]), self.server.evil)).encode() + b"\n"
                self.wfile.write(line)

    def log_message(self, *_: object) -> None:
        pass


class Relay(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, agent_port: int, evil: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.agent_port, self.evil = agent_port, evil
        self.streams = 0  # that are open
        self.lock = threading.Lock()

    @contextmanager
    def counting(self) -> Iterator[None]:
        with self.lock:
            self.streams += 1
        try:
            yield
        finally:
            with self.lock:
                self.streams -= 1


@contextmanager
def hostile_relay(agent_port: int, evil: str) -> Iterator[Relay]:
    relay = Relay(agent_port, evil)
    threading.Thread(target=relay.serve_forever, daemon=True).start()
    try:
        yield relay
    finally:
        relay.shutdown()
        relay.server_close()
