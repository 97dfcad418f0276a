"""The agent over HTTP: started on a port of its own, asked by Python's own client or by bytes."""

from __future__ import annotations

import http.client
import json
import re
import socket
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent import Agent


@dataclass
class Answer:
    status: int
    headers: dict[str, str] = field(repr=False)
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class WebAgent(Agent):
    """An agent that answers on a port of 127.0.0.1, which nobody else has."""

    def __init__(self, folder: Path, *arguments: str | Path, listen: str = "127.0.0.1:0", **more: Any) -> None:
        super().__init__(folder, "--listen", listen, *arguments, **more)
        found = re.search(r"answers on (https?)://\S+:(\d+)", self.wait_log("answers on"))
        assert found
        self.scheme, self.port = found[1], int(found[2])

    def connect(self, timeout: float = 10) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def ask(
        self, path: str = "/version", method: str = "GET", tls: ssl.SSLContext | None = None, **headers: str
    ) -> Answer:
        """Underscores in the names of header fields stand for dashes."""
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.scheme == "https":
            connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=20, context=tls)
        else:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, headers=fields)
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def send(self, request: bytes, timeout: float = 10) -> bytes:
        """All that comes until the agent closes the connection."""
        with self.connect(timeout) as connection:
            connection.sendall(request)
            return read_all(connection)


def read_all(connection: socket.socket) -> bytes:
    pieces = []
    while piece := connection.recv(65536):
        pieces.append(piece)
    return b"".join(pieces)
