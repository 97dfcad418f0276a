"""What the agent answers over HTTP, whatever the path: where it listens, health, version, caching, its configuration."""

from __future__ import annotations

import re
import signal
import socket
from pathlib import Path

import pytest

from agent import Agent, wait_for
from harness import gpulse, only_line
from web import WebAgent, read_all


WITHOUT = "nothing is answered over HTTP"


def test_it_says_that_it_is_well_and_which_version_it_is(place: Path) -> None:
    with WebAgent(place) as agent:
        health = agent.ask("/healthz")
        assert (health.status, health.text) == (200, "ok\n")
        version = agent.ask("/version")
        assert (version.status, version.headers["content-type"]) == (200, "application/json")
        assert version.json == {"name": "gpulse", "version": gpulse("--version").out.split()[1]}
        assert version.headers["cache-control"] == "no-store"
        head = agent.ask("/version", "HEAD")
        assert (head.status, head.body) == (200, b"")
        assert head.headers["content-length"] == str(len(version.body))


def test_it_is_only_for_reading(place: Path) -> None:
    with WebAgent(place) as agent:
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
            answer = agent.ask("/version", method)
            assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")


def test_what_is_not_there_is_404_as_json(place: Path) -> None:
    with WebAgent(place) as agent:
        answer = agent.ask("/nothing")
        assert (answer.status, answer.json) == (404, {"error": {"message": "there is nothing here"}})


def test_it_listens_where_it_is_told_to(place: Path) -> None:
    with WebAgent(place, "--listen", "[::1]:0", "--listen", f"unix:{place}/http") as agent:
        six = int(re.search(r"answers on http://\[::1\]:(\d+)", agent.log)[1])  # type: ignore[index]
        request = b"GET /healthz HTTP/1.0\r\n\r\n"
        with socket.create_connection(("::1", six), 10) as connection:
            connection.sendall(request)
            assert read_all(connection).endswith(b"\r\n\r\nok\n")
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(f"{place}/http")
            connection.sendall(request)
            assert read_all(connection).endswith(b"\r\n\r\nok\n")
        assert agent.end() == 0
    assert not (place / "http").exists()


def test_off_is_off(place: Path) -> None:
    with Agent(place, "--listen", "off") as agent:
        assert "answers on" not in agent.log


def test_a_port_that_is_taken_is_an_error_where_it_was_asked_for(place: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        result = gpulse("serve", "--listen", f"127.0.0.1:{port}", scenario="single", GPULSE_AGENT=str(place))
    expected = f"gpulse: cannot listen on 127.0.0.1:{port}: another program listens there"
    assert (result.code, only_line(result.err)) == (1, expected)


def test_without_being_asked_for_a_port_that_is_taken_is_only_told(place: Path) -> None:
    """Two users' agents on one machine: the second does without HTTP."""
    try:
        taken = socket.create_server(("127.0.0.1", 9837))
    except OSError:
        taken = None  # whoever has it will do
    try:
        with DefaultAgent(place) as agent:
            assert f"cannot listen on 127.0.0.1:9837: another program listens there: {WITHOUT}" in agent.log
            assert agent.samples() >= 1
    finally:
        if taken:
            taken.close()


class DefaultAgent(Agent):
    """One that nobody tells where to listen."""

    listens = True


@pytest.mark.parametrize(
    "address", ["localhost", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:70000", "::1:9837", "unix:relative", "no.such.name.invalid:1"]
)
def test_an_address_that_is_none_is_refused(place: Path, address: str) -> None:
    result = gpulse("serve", "--listen", address, scenario="single", GPULSE_AGENT=str(place))
    assert result.code == 2 and only_line(result.err).startswith("gpulse: ")


def write_config(folder: Path, text: str) -> Path:
    config = folder / "config.toml"
    config.write_text(text)
    return config


@pytest.mark.parametrize(
    "text, words",
    [
        ("[web]\nport = 1\n", "[web] port is nothing to configure"),
        ("[web]\ncert = 1\n", "[web] cert is no text"),
        ('[web]\ncert = "a"\n', "[web] needs cert and key, or neither"),
        ('[web]\nclient_ca = "a"\n', "[web] client_ca needs cert and key"),
        ('[web.users]\nann = "secret"\n', "[web] users has no bcrypt hash for ann"),
        ("[serve]\n\n[web]\nusers = {\n", "line 4"),
        ('[web]\nmax_streams = "many"\n', "[web] max_streams is no whole number"),
    ],
)
def test_a_mistake_in_its_configuration_is_named(place: Path, text: str, words: str) -> None:
    config = write_config(place, text)
    result = gpulse("--config", config, "serve", scenario="single", GPULSE_AGENT=str(place))
    assert result.code == 2 and words in only_line(result.err), result.err


def test_the_rest_of_the_configuration_does_not_mind_it(place: Path) -> None:
    config = write_config(place, '[web]\nmax_streams = 7\n[web.users]\n[status]\nascii = true\n')
    assert gpulse("--config", config, "--demo").code == 0


def test_the_configuration_says_where_it_listens(place: Path) -> None:
    config = place / "config" / "gpulse" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[serve]\nlisten = ["127.0.0.1:0", "[::1]:0"]\n[web]\nallowed_hosts = ["gpus.example"]\n')
    with DefaultAgent(place, XDG_CONFIG_HOME=str(place / "config")) as agent:
        log = agent.wait_log("answers on http://[::1]:")
        assert "answers on http://127.0.0.1:" in log
        port = int(re.search(r"127.0.0.1:(\d+)", log)[1])  # type: ignore[index]
        with socket.create_connection(("127.0.0.1", port), 10) as connection:
            connection.sendall(b"GET /version HTTP/1.1\r\nHost: gpus.example\r\nConnection: close\r\n\r\n")
            assert read_all(connection).startswith(b"HTTP/1.1 200 ")


def test_it_ends_while_somebody_is_connected(place: Path) -> None:
    with WebAgent(place) as agent, agent.connect() as connection:
        connection.sendall(b"GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 200 ")
        agent.process.send_signal(signal.SIGTERM)
        wait_for(lambda: agent.process.poll() is not None, "it to end", 2)
        assert agent.process.returncode == 0
