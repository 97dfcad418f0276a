"""The agent's API, asked by a client that knows nothing of it but its OpenAPI document."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import jsonschema

from harness import ROOT

OPENAPI = json.loads((ROOT / "docs" / "openapi.json").read_text())


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Api:
    port: int
    headers: dict[str, str] = field(default_factory=dict)

    def raw(self, target: str, **headers: str) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request("GET", target, headers=self.headers | headers)
            response = connection.getresponse()
            names = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, names, response.read())
        finally:
            connection.close()

    def ask(self, name: str, **parameters: object) -> Answer:
        """Any answer, held to the document."""
        query = f"?{urlencode(parameters)}" if parameters else ""
        answer = self.raw(f"/api/v1/{name}{query}")
        check(name, answer)
        return answer

    def get(self, name: str, **parameters: object) -> Any:
        answer = self.ask(name, **parameters)
        assert answer.status == 200, answer.body
        return answer.json

    @contextmanager
    def stream(self, target: str = "/api/v1/stream", **headers: str) -> Iterator[Iterator[dict[str, str]]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request("GET", target, headers=self.headers | headers)
            response = connection.getresponse()
            assert response.status == 200, response.read()
            assert response.getheader("Content-Type", "").startswith("text/event-stream")
            yield events(response)
        finally:
            connection.close()


def events(response: http.client.HTTPResponse) -> Iterator[dict[str, str]]:
    """As https://html.spec.whatwg.org/multipage/server-sent-events.html reads them; a comment is nothing."""
    event: dict[str, str] = {}
    while line := response.readline():
        text = line.decode().rstrip("\n")
        if not text:
            if "data" in event:
                yield event
            event = {}
        elif not text.startswith(":"):
            name, _, value = text.partition(": ")
            event[name] = f"{event[name]}\n{value}" if name in event else value


def validator(schema: dict[str, Any]) -> jsonschema.Draft202012Validator:
    # A reference is looked for in the document as a whole.
    return jsonschema.Draft202012Validator({"components": OPENAPI["components"], **schema})


def check(name: str, answer: Answer) -> None:
    operation = OPENAPI["paths"][f"/api/v1/{name}"]["get"]
    described = operation["responses"].get(str(answer.status))
    assert described, f"{name}: {answer.status} is not in the document"
    if "$ref" in described:
        described = OPENAPI["components"]["responses"][described["$ref"].rsplit("/", 1)[1]]
    if content := described.get("content"):
        assert answer.headers["content-type"].split(";")[0] in content
        validator(content["application/json"]["schema"]).validate(answer.json)


def check_event(event: dict[str, str]) -> None:
    """An event of the stream, by its name."""
    names = {"hello": "hello", "sample": "snapshot", "event": "event", "finding": "lasting_finding"}
    name = names[event["event"].removesuffix("_ended")]
    validator({"$ref": f"#/components/schemas/{name}"}).validate(json.loads(event["data"]))
