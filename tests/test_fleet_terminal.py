"""`gpulse fleet --watch` in a terminal: walked through with keys, hosts in depth, the past, an engine that goes away."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import GPULSE, gpulse, only_line
from impostor import Impostor
from scrapers import Engine, needs_victoria, victoria_metrics
from test_fleet_page import EVIL, write_three
from top import Top

pytestmark = needs_victoria


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with victoria_metrics(tmp_path_factory.mktemp("engine"), None) as engine:
        write_three(engine, int(time.time()))
        yield engine


def fleet(folder: Path, url: str, *arguments: str | Path, ready: str | None = "q quit", **more: int) -> Top:
    return Top(folder, command=[GPULSE, "fleet", "--url", url, "--watch", "1", *arguments], ready=ready, **more)


def url_of(engine: Engine) -> str:
    return f"http://{engine.address}"


def names(view: Top) -> list[str]:
    """The first column, in order; the pointer is left out."""
    top = next((y for y, line in enumerate(view.lines) if "EACH GPU" in line), len(view.lines))
    found = [re.match(r"(?:▸ |  )(\S+)", line) for line in view.lines[top + 1 :]]
    return [one[1] for one in found if one]


def test_groups_hosts_and_a_host_in_depth(tmp_path: Path, engine: Engine) -> None:
    with fleet(tmp_path, url_of(engine)) as view:
        assert names(view) == ["beta", "mute", "alpha"]
        assert "silent" in view.line_of("mute") and "1 lost" in view.text
        view.press("b", "b")
        view.wait_text("by user")
        view.wait_for(lambda: set(names(view)) >= {"ann", "bob"})
        view.press("s", "s", "s")
        view.wait_text("sorted by waste")
        view.press("Home")
        while not view.line_of("ann").startswith("▸"):
            view.press("Down")
            view.wait_frame()
        view.press("Enter")
        view.wait_for(lambda: names(view) == ["alpha"], "the hosts that ann is on")
        assert "only user=ann" in view.lines[-1]
        view.press("Enter")
        # The live view of that host, out of the engine.
        view.wait_text("LIVE")
        view.wait_for(lambda: view.text.count("H100") >= 4 and "90%" in view.text, "the GPUs of alpha")
        assert "FLEET" in view.lines[0] and "alpha" in view.lines[0]
        # Nothing of this machine is taken for that one's.
        view.press("O")
        view.wait_text("an engine knows of processes on GPUs only")
        view.press("q")
        view.wait_for(lambda: names(view) == ["alpha"], "the overview again")
        view.press("Esc")
        view.wait_for(lambda: "bob" in names(view))
        view.press("q")
        assert view.exit_code() == 0


def test_filters_and_the_past(tmp_path: Path, engine: Engine) -> None:
    with fleet(tmp_path, url_of(engine)) as view:
        view.type("/state=lost")
        view.wait_text("filter (user=ann host=node1* word): state=lost")
        view.press("Enter")
        view.wait_for(lambda: names(view) == ["beta"])
        view.type("x")
        view.wait_for(lambda: len(names(view)) == 3)
        # Twenty minutes ago the GPU was not lost yet, and no host was silent.
        view.type("t-20m")
        view.press("Enter")
        view.wait_text("the past")
        assert "lost" not in view.text and "silent" not in view.text
        view.press("Enter")
        view.wait_text("‖")
        view.press("q")
        view.wait_text("the past")
        view.type("n")
        view.wait_text("1 lost")
        assert "the past" not in view.text
        view.signal(signal.SIGTERM)
        begun = time.monotonic()
        assert view.exit_code() == 0 and time.monotonic() - begun < 1


@pytest.mark.parametrize("columns, rows", [(40, 10), (80, 24), (200, 60), (20, 3)])
def test_any_size(tmp_path: Path, engine: Engine, columns: int, rows: int) -> None:
    with fleet(tmp_path, url_of(engine), ready=None, columns=columns, rows=rows) as view:
        view.wait_for(lambda: "127.0.0.1" in view.lines[0])
        view.resize(columns + 10, rows + 3)
        view.wait_for(lambda: "127.0.0.1" in view.lines[0])
        view.press("?", "Down", "b", "Enter", "q")
        view.wait_for(lambda: view.process.poll() is not None or bool(view.press("q")), "its end")
        assert view.exit_code() == 0


def test_top_of_a_host(tmp_path: Path, engine: Engine) -> None:
    url = url_of(engine)
    with Top(tmp_path, command=[GPULSE, "top", "--url", url, "--host", "ALPHA"]) as view:
        view.wait_text("H100")
        view.press("q")
        assert view.exit_code() == 0
    with Top(tmp_path, command=[GPULSE, "top", "--url", url, "--host", "beta", "--since", "20m"], ready="‖") as view:
        view.wait_text("lost")
        view.press("q")
        assert view.exit_code() == 0
    with Top(tmp_path, command=[GPULSE, "top", "--url", url, "--host", "alpah"], ready="knows of no host alpah: did you mean alpha?") as view:
        assert view.exit_code() == 1


def test_a_configured_engine_is_asked_for_a_host(tmp_path: Path, engine: Engine) -> None:
    (tmp_path / "gpulse").mkdir()
    (tmp_path / "gpulse" / "config.toml").write_text(f'[fleet]\nurl = "{url_of(engine)}"\n')
    with Top(tmp_path, command=[GPULSE, "top", "--host", "alpha"]) as view:
        view.wait_text("H100")
        view.press("q")
        assert view.exit_code() == 0


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["--host", "n1"], "which engine knows the host is not said"),
        (["--url", "http://127.0.0.1:1"], "--url needs --host"),
        (["--url", "http://127.0.0.1:1", "--host", "n1", "--demo"], "--host is of an engine"),
    ],
)
def test_wrong_usage(arguments: list[str], says: str) -> None:
    done = gpulse("top", *arguments)
    assert done.code == 2 and says in only_line(done.err)


def test_a_first_answer_that_fails_ends_the_command(tmp_path: Path) -> None:
    with Impostor(401) as refusing, fleet(tmp_path, refusing.url, ready="answered 401: it does not let us ask") as view:
        assert view.exit_code() == 1
    nothing = b'{"status":"success","data":[]}'
    with Impostor(body=nothing) as empty, fleet(tmp_path, empty.url, ready="knows of no GPUs") as view:
        assert view.exit_code() == 1


def test_the_view_stays_when_the_engine_goes(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    with victoria_metrics(tmp_path_factory.mktemp("engine"), None) as leaving:
        write_three(leaving, int(time.time()))
        view = fleet(tmp_path, url_of(leaving))
    with view:
        view.wait_text("nothing newer than")
        assert names(view) == ["beta", "mute", "alpha"]
        view.press("q")
        assert view.exit_code() == 0


def test_an_engine_that_hangs_can_be_left_at_once(tmp_path: Path) -> None:
    with Impostor(pause=30) as impostor, fleet(tmp_path, impostor.url, ready="asking") as view:
        begun = time.monotonic()
        view.press("Ctrl-C")
        assert view.exit_code() in (-signal.SIGINT, 130) and time.monotonic() - begun < 1


def test_typed_text_reaches_no_terminal_raw(tmp_path: Path, engine: Engine) -> None:
    with fleet(tmp_path, url_of(engine)) as view:
        view.type("/")
        view.send(b"\033[200~" + EVIL.encode()[:200] + b"\033]0;gone\007\033[201~")
        view.wait_text("]0;gone")
        view.press("Enter")
        view.wait_text("is no filter")
        assert b"\033]0;" not in view.raw and b"\xe2\x80\xae" not in view.raw
        view.press("Esc", "q")
        assert view.exit_code() == 0
