"""Who is kept out, and what cannot be done to the agent over HTTP."""

from __future__ import annotations

import base64
import os
import select
import signal
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agent import open_folder, wait_for
from harness import gpulse, only_line
from web import WebAgent, read_all

TOKEN = "0123456789abcdef0123456789abcdef"
# Of "correct horse", made by Python's crypt with the cost 4.
HASH = "$2b$04$saltsaltsaltsaltsaltsuIgBK9OuwxlmzcTNPY1Z2nCpWB7ue/62"


@pytest.fixture(scope="module")
def shared() -> Iterator[WebAgent]:
    """One for the tests that leave nothing behind."""
    with open_folder() as folder, WebAgent(folder, "--allowed-host", "gpus.example") as agent:
        yield agent


def token_file(folder: Path) -> Path:
    file = folder / "token"
    file.write_text(TOKEN + "\n")
    file.chmod(0o600)
    return file


# --- Browsers


def test_a_name_that_was_pointed_here_reads_nothing(shared: WebAgent) -> None:
    """DNS rebinding: the browser believes that this machine is evil.org."""
    for host in ("evil.org", f"evil.org:{shared.port}", "localhost.evil.org", "127.0.0.1.evil.org"):
        answer = shared.ask(Host=host)
        assert answer.status == 421 and b"version" not in answer.body
    for host in ("localhost", f"127.0.0.1:{shared.port}", "[::1]:1", "gpus.example", socket.gethostname()):
        assert shared.ask(Host=host).status == 200


def test_a_page_of_another_site_reads_nothing(shared: WebAgent) -> None:
    for fields in (
        {"Origin": "http://evil.org"},
        {"Origin": "null"},
        {"Origin": f"http://localhost:{shared.port + 1}"},
        {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"},
        {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "iframe"},
    ):
        answer = shared.ask(**fields)
        assert answer.status == 403 and b"version" not in answer.body
    own = shared.ask(Origin=f"http://127.0.0.1:{shared.port}", Host=f"127.0.0.1:{shared.port}")
    assert own.status == 200
    assert not [name for name in own.headers if name.startswith("access-control")]


def test_a_browser_is_told_to_be_strict(shared: WebAgent) -> None:
    for path in ("/version", "/healthz", "/nothing"):
        headers = shared.ask(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "server" not in headers


def test_only_a_named_site_may_frame_the_page() -> None:
    """And only the page: what is read stays closed to frames."""
    with open_folder() as folder:
        config = folder / "config" / "gpulse" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text('[web]\nframe_origins = ["https://hub.example"]\n')
        with WebAgent(folder, "--frame-origin", "self", XDG_CONFIG_HOME=str(folder / "config")) as agent:

            def ancestors(path: str) -> str:
                return agent.ask(path).headers["content-security-policy"].rpartition("frame-ancestors ")[2]

            assert ancestors("/") == "https://hub.example 'self'"
            assert "x-frame-options" not in agent.ask("/").headers
            assert (ancestors("/version"), agent.ask("/version").headers["x-frame-options"]) == ("'none'", "DENY")
            # To be shown by a site is not to be called by its name.
            assert agent.ask(Host="hub.example").status == 421
            assert agent.ask(Origin="https://hub.example").status == 403
            config.write_text("[web]\n")
            agent.process.send_signal(signal.SIGHUP)
            agent.wait_log("was read again")
            assert ancestors("/") == "'self'"


@pytest.mark.parametrize("origin", ["hub.example", "https://*", "https://a; script-src *", "https://hub.example/lab"])
def test_what_is_no_origin_is_refused(origin: str) -> None:
    done = gpulse("serve", "--listen", "127.0.0.1:0", "--frame-origin", origin, GPULSE_AGENT="/nonexistent")
    assert done.code == 2
    assert f'"{origin}" is not the origin of a page' in only_line(done.err)


# --- Requests that are none


SMUGGLED = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize(
    "head, body",
    [
        (b"Content-Length: 6\r\nTransfer-Encoding: chunked", b"0\r\n\r\n" + SMUGGLED),
        (b"Transfer-Encoding: chunked\r\nContent-Length: 6", b"0\r\n\r\n" + SMUGGLED),
        (b"Content-Length: 0\r\nContent-Length: 44", SMUGGLED),
        (b"Content-Length: 0, 44", SMUGGLED),
        (b"Content-Length : 44", SMUGGLED),
        (b"Content-Length: +44", SMUGGLED),
        (b"X: a\r\n Content-Length: 44", SMUGGLED),
        (b"X: a\nContent-Length: 44", SMUGGLED),
        (b"X: a\rContent-Length: 44", SMUGGLED),
        (b"X: a\0", SMUGGLED),
        (b"Host: other", SMUGGLED),
    ],
)
def test_no_request_is_smuggled(shared: WebAgent, head: bytes, body: bytes) -> None:
    """What another program could take for two requests is refused, and nothing behind it is looked at."""
    answers = shared.send(b"POST /version HTTP/1.1\r\nHost: localhost\r\n" + head + b"\r\n\r\n" + body)
    assert answers.startswith(b"HTTP/1.1 400 ") and answers.count(b"HTTP/1.1 ") == 1
    assert b"Connection: close" in answers


@pytest.mark.parametrize(
    "target",
    ["/../etc/passwd", "/%2e%2e/etc/passwd", "/a/..%2f..%2fetc", "/..%5c", "/%00", "/version%00", "/%", "/%zz", "/%ff",
     "http://localhost/version", "*", "//../version", "/version?x=%00", "/version#x", "/a%0d%0aX: y"],
)  # fmt: skip
def test_no_path_leads_astray(shared: WebAgent, target: str) -> None:
    answer = shared.send(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize(
    "request_, status",
    [
        (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 414),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 100000 + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: a\r\n" * 200 + b"\r\n", 431),
        (b"POST /version HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n" + b"a" * 100000, 413),
        (b"POST /version HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
        (b"GET / HTTP/2.0\r\nHost: localhost\r\n\r\n", 505),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
    ],
)
def test_what_is_too_much_or_no_http_is_refused(shared: WebAgent, request_: bytes, status: int) -> None:
    assert shared.send(request_).startswith(b"HTTP/1.1 %d " % status)


def test_a_client_that_never_ends_its_request_is_dropped(shared: WebAgent) -> None:
    """Slowloris: a byte now and then keeps no place for longer than a request may take."""
    begun = time.monotonic()
    with shared.connect(30) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        while not select.select([slow], [], [], 0.5)[0]:
            try:
                slow.sendall(b"X")
            except OSError:
                break
            assert time.monotonic() - begun < 20
            assert shared.ask("/healthz").status == 200
    assert 9 < time.monotonic() - begun < 14


def test_others_are_served_while_one_takes_all_it_can_get(place: Path) -> None:
    config = place / "config.toml"
    config.write_text("[web]\nmax_connections = 20\n")
    with WebAgent(place, prefix=[], XDG_CONFIG_HOME=str(config_home(place, config.read_text()))) as agent:
        hogs = [agent.connect() for _ in range(40)]
        ended = wait_for(lambda: select.select(hogs, [], [], 0)[0][19:], "those that are too many to be turned away")
        assert len(ended) == 1
        for hog in hogs:
            hog.close()
        wait_for(lambda: answers(agent), "room for others")


def config_home(folder: Path, text: str) -> Path:
    file = folder / "config" / "gpulse" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return folder / "config"


def answers(agent: WebAgent) -> bool:
    try:
        return agent.ask("/healthz").status == 200
    except OSError:
        return False


# --- Who may read


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0"])
def test_an_address_for_everybody_needs_more(place: Path, address: str) -> None:
    result = gpulse("serve", "--listen", address, scenario="single", GPULSE_AGENT=str(place))
    assert result.code == 2
    assert only_line(result.err) == (
        f"gpulse: everybody on the network could read on {address}: give --token-file FILE, or users and a certificate "
        "in [web], or --insecure-no-auth"
    )


def test_a_token_that_everybody_can_read_is_none(place: Path) -> None:
    file = token_file(place)
    file.chmod(0o604)
    result = gpulse("serve", "--token-file", file, scenario="single", GPULSE_AGENT=str(place))
    assert (result.code, only_line(result.err)) == (
        1, f"gpulse: the token in {file} can be read by everybody: chmod o= {file}",
    )  # fmt: skip


def test_with_a_token_nobody_reads_without(place: Path) -> None:
    with WebAgent(place, "--token-file", token_file(place), listen="0.0.0.0:0") as agent:
        refused = agent.ask()
        assert (refused.status, refused.headers["www-authenticate"]) == (401, 'Bearer realm="gpulse"')
        assert refused.json == {"error": {"message": "this needs a token or a password"}}
        assert agent.ask("/nothing").status == 401, "not even what there is"
        assert agent.ask(Authorization=f"Bearer {TOKEN}").status == 200
        assert agent.ask("/healthz").status == 200


def test_guessing_is_slow_is_told_once_and_gives_no_hint(place: Path) -> None:
    """A thousand at a time: what is looked at comes at most every two seconds, the rest is turned away unseen."""
    with WebAgent(place, "--token-file", token_file(place)) as agent:
        begun = time.monotonic()
        with ThreadPoolExecutor(50) as pool:
            found = list(pool.map(lambda i: agent.ask(Authorization=f"Bearer {i:032x}"), range(1000)))
        took = time.monotonic() - begun
        looked_at = [answer for answer in found if answer.status == 401]
        assert {answer.status for answer in found} == {401, 429}
        assert len(looked_at) <= 6 + took / 2
        assert {answer.body for answer in looked_at} == {agent.ask().body}
        assert agent.log.count("a wrong token or password came from 127.0.0.1") == 1
        assert TOKEN not in agent.log and f"{7:032x}" not in agent.log
        right = wait_for(lambda: is_let_in(agent), "the right one to be let in again", 12)
        assert right


def is_let_in(agent: WebAgent) -> bool:
    return agent.ask(Authorization=f"Bearer {TOKEN}").status == 200


# --- TLS


def make_certificate(folder: Path, name: str, ca: str | None = None) -> None:
    """NAME.crt and NAME.key, by itself or by an authority."""
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1",
             "-keyout", f"{folder}/{name}.key", "-out", f"{folder}/{name}.crt"]  # fmt: skip
    if ca:
        words += ["-CA", f"{folder}/{ca}.crt", "-CAkey", f"{folder}/{ca}.key", "-addext", "basicConstraints=critical,CA:FALSE"]
    subprocess.run(words, check=True, capture_output=True)


@pytest.fixture(scope="module")
def certificates() -> Iterator[Path]:
    with open_folder() as folder:
        make_certificate(folder, "authority")
        make_certificate(folder, "server")
        make_certificate(folder, "renewed")
        make_client_certificate(folder)
        yield folder


def make_client_certificate(folder: Path) -> None:
    """Signed by the authority; OpenSSL 3.0 cannot do that in one step."""
    key, request = f"{folder}/client.key", f"{folder}/client.csr"
    for words in (
        ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=prometheus", "-keyout", key, "-out", request],
        ["x509", "-req", "-in", request, "-CA", f"{folder}/authority.crt", "-CAkey", f"{folder}/authority.key", "-CAcreateserial", "-days", "2", "-out", f"{folder}/client.crt"],
    ):  # fmt: skip
        subprocess.run(["openssl", *words], check=True, capture_output=True)


def trusting(folder: Path, name: str = "server") -> ssl.SSLContext:
    return ssl.create_default_context(cafile=f"{folder}/{name}.crt")


def basic(name: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


def tls_config(place: Path, certificates: Path, more: str = "") -> Path:
    for kind in ("crt", "key"):
        (place / f"now.{kind}").write_text((certificates / f"server.{kind}").read_text())
    return config_home(place, f'[web]\ncert = "{place}/now.crt"\nkey = "{place}/now.key"\n{more}')


def handshake(agent: WebAgent, *words: str) -> subprocess.CompletedProcess[bytes]:
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{agent.port}", *words]
    return subprocess.run(command, input=b"", capture_output=True, timeout=20)


def test_users_have_passwords_and_old_protocols_are_refused(place: Path, certificates: Path) -> None:
    home = tls_config(place, certificates, f'users = {{ann = "{HASH}"}}\n')
    with WebAgent(place, listen="0.0.0.0:0", XDG_CONFIG_HOME=str(home)) as agent:
        tls = trusting(certificates)
        assert agent.scheme == "https"
        assert agent.ask(tls=tls).headers["www-authenticate"].startswith("Basic realm=")
        for _ in range(2):
            assert agent.ask(tls=tls, Authorization=basic("ann", "correct horse")).status == 200
        for name, password in (("ann", "wrong"), ("bob", "correct horse"), ("ann", "")):
            assert agent.ask(tls=tls, Authorization=basic(name, password)).status == 401
        for new in ("-tls1_2", "-tls1_3"):
            assert handshake(agent, new).returncode == 0
        for old in ("-tls1", "-tls1_1"):
            assert handshake(agent, old, "-cipher", "ALL:@SECLEVEL=0").returncode != 0
        weak = handshake(agent, "-tls1_2", "-cipher", "AES128-SHA:AES256-SHA:DES-CBC3-SHA:@SECLEVEL=0")
        assert weak.returncode != 0
        # Plain HTTP is no TLS, and gets no answer.
        assert b"HTTP/1.1 200" not in agent.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")


def test_sighup_brings_a_new_certificate_and_drops_nobody(place: Path, certificates: Path) -> None:
    home = tls_config(place, certificates)
    with WebAgent(place, XDG_CONFIG_HOME=str(home)) as agent:
        with trusting(certificates).wrap_socket(agent.connect(), server_hostname="127.0.0.1") as old:
            for kind in ("crt", "key"):
                (place / f"now.{kind}").write_text((certificates / f"renewed.{kind}").read_text())
            agent.process.send_signal(signal.SIGHUP)
            agent.wait_log("the configuration was read again")
            wait_for(lambda: is_trusted(agent, certificates, "renewed"), "the new certificate")
            assert not is_trusted(agent, certificates, "server")
            old.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
            assert read_all(old).endswith(b"ok\n")
        # One that cannot be used leaves the one before.
        (place / "now.crt").write_text("nothing")
        agent.process.send_signal(signal.SIGHUP)
        agent.wait_log("who may read over HTTP stays as it was")
        assert is_trusted(agent, certificates, "renewed")


def is_trusted(agent: WebAgent, certificates: Path, name: str) -> bool:
    try:
        return agent.ask("/healthz", tls=trusting(certificates, name)).status == 200
    except ssl.SSLError:
        return False


def test_clients_must_have_a_certificate_where_it_is_asked_for(place: Path, certificates: Path) -> None:
    home = tls_config(place, certificates, f'client_ca = "{certificates}/authority.crt"\n')
    with WebAgent(place, listen="0.0.0.0:0", XDG_CONFIG_HOME=str(home)) as agent:
        with pytest.raises((ssl.SSLError, ConnectionError)):
            agent.ask(tls=trusting(certificates))
        foreign = trusting(certificates)
        foreign.load_cert_chain(certificates / "renewed.crt", certificates / "renewed.key")
        with pytest.raises((ssl.SSLError, ConnectionError)):
            agent.ask(tls=foreign)
        known = trusting(certificates)
        known.load_cert_chain(certificates / "client.crt", certificates / "client.key")
        assert agent.ask(tls=known).status == 200


@pytest.mark.parametrize(
    "cert, key, words",
    [
        ("nothing.crt", "server.key", "nothing.crt"),
        ("server.key", "server.key", "holds no certificate that can be used"),
        ("server.crt", "renewed.key", "holds no key that goes with the certificate"),
        ("server.crt", "server.crt", "holds no key that goes with the certificate"),
    ],
)
def test_a_bad_certificate_is_told_in_one_line(place: Path, certificates: Path, cert: str, key: str, words: str) -> None:
    home = config_home(place, f'[web]\ncert = "{certificates}/{cert}"\nkey = "{certificates}/{key}"\n')
    result = gpulse("serve", "--listen", "127.0.0.1:0", scenario="single", GPULSE_AGENT=str(place), XDG_CONFIG_HOME=str(home))
    assert result.code == 1 and words in only_line(result.err)


# --- Load


def test_connections_come_and_go_and_leave_nothing(place: Path) -> None:
    """Many idle connections at once, then none: files and memory are given back."""
    home = config_home(place, "[web]\nmax_connections = 2000\n")
    with WebAgent(place, XDG_CONFIG_HOME=str(home)) as agent:
        before = resident(agent.pid), files(agent.pid)
        held = [agent.connect() for _ in range(400)]
        for connection in held:
            connection.sendall(b"GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for connection in held:
            assert connection.recv(100).startswith(b"HTTP/1.1 200 ")
        for connection in held:
            connection.close()
        wait_for(lambda: files(agent.pid) <= before[1] + 2, "its files to be closed")
        wait_for(lambda: resident(agent.pid) < before[0] + 3_000_000, "its memory to be given back")


def test_streams_come_and_go_and_one_too_many_is_told_to_wait(place: Path) -> None:
    """All there may be, one more, then none: memory is given back."""
    most = 300
    home = config_home(place, f"[web]\nmax_streams = {most}\n")
    request = b"GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with WebAgent(place, XDG_CONFIG_HOME=str(home)) as agent:
        before = resident(agent.pid), files(agent.pid)
        held = [agent.connect() for _ in range(most)]
        for stream in held:
            stream.sendall(request)
        for stream in held:
            assert stream.recv(100).startswith(b"HTTP/1.1 200 ")
        refused = agent.send(request)
        assert refused.startswith(b"HTTP/1.1 503 ") and b"\r\nRetry-After: 10\r\n" in refused
        assert agent.ask("/healthz").status == 200
        for stream in held:
            stream.close()
        wait_for(lambda: files(agent.pid) <= before[1] + 2, "its streams to end")
        wait_for(lambda: resident(agent.pid) < before[0] + 4_000_000, "its memory to be given back")


def resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def files(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def test_nobody_waits_for_one_who_does_not_read(shared: WebAgent) -> None:
    """Requests without end, whose answers are never taken: the agent stops reading them, and serves the others."""
    with shared.connect() as greedy:
        greedy.settimeout(0.2)
        sent = 0
        with pytest.raises(TimeoutError):
            while sent < 100_000_000:
                sent += greedy.send(b"GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1000)
        done = threading.Event()
        threading.Thread(target=lambda: (shared.ask("/healthz"), done.set())).start()
        assert done.wait(5)
