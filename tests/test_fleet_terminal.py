"""`gpulse fleet --watch` in a terminal: walked through with keys, hosts in depth, the past, an engine that goes away."""

from __future__ import annotations

import re
import signal
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine_data import Series, write
from harness import GPULSE, gpulse, only_line
from impostor import Impostor
from scrapers import Engine, needs_victoria, victoria_metrics
from test_fleet_page import EVIL, STEP, write_three
from top import Top

pytestmark = needs_victoria


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with victoria_metrics(tmp_path_factory.mktemp("engine"), None) as engine:
        now = int(time.time())
        write_three(engine, now)
        finding = {"__name__": "gpulse_finding", "finding": "throttled-power", "severity": "note", "uuid": "GPU-alpha-0"}
        write(engine, [Series(finding | {"instance": "alpha:9837", "job": "gpulse", "cluster": "north"}, lambda _: 1.0)], now - 300, 900, STEP)
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
        view.wait_text("an engine knows only the processes on GPUs")
        assert "q Back" in view.lines[-1]
        view.press("Esc")
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
        (["--host", "n1"], "--host needs an engine to ask"),
        (["--host", ""], "--host: its value is empty"),
        (["--url", "http://127.0.0.1:1"], "--url needs --host"),
        (["--url", "nonsense", "--host", "n1"], "nonsense"),
        (["--host", "n1", "--demo"], "--host cannot be combined with --demo"),
        (["--url", "http://127.0.0.1:1", "--host", "n1", "--replay", "f.gpr"], "--host cannot be combined with --replay"),
        (["--url", "http://127.0.0.1:1", "--host", "n1", "--sysroot", "/"], "--host cannot be combined with --sysroot"),
        (["--url", "http://127.0.0.1:1", "--host", "n1", "-i", "visible"], "-i visible is about this machine"),
        (["--url", "http://127.0.0.1:1", "--host", "n1", "--filter", "usr:ann"], "usr"),
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


def test_a_first_answer_that_fails_comes_with_advice(tmp_path: Path) -> None:
    with Impostor(401) as refusing, fleet(tmp_path, refusing.url, ready="--url-token-file") as view:
        assert view.exit_code() == 1


def test_a_silent_host_is_marked_as_old_and_what_its_agent_found_is_shown(tmp_path: Path, engine: Engine) -> None:
    with fleet(tmp_path, url_of(engine)) as view:
        while not view.line_of("mute").startswith("▸"):
            view.press("Down")
            view.wait_frame()
        view.press("Enter")
        view.wait_text("OLD 1")
        view.press("D")
        view.wait_text("The agent of this host finds nothing wrong.")
        view.press("Esc")
        view.wait_for(lambda: "OLD" in view.lines[0])
        assert "mute has been silent for 1" in view.lines[0] and "LIVE" not in view.lines[0]
        age = view.lines[0].rsplit("OLD ", 1)[1]
        view.wait_for(lambda: view.lines[0].rsplit("OLD ", 1)[1] != age, "the age to grow", 5)
        view.press("q")
        view.wait_for(lambda: "mute" in names(view))
        while not view.line_of("alpha").startswith("▸"):
            view.press("Down")
            view.wait_frame()
        view.press("Enter")
        view.wait_text("held back by the power limit")
        assert "LIVE" in view.lines[0]
        view.press("D")
        view.wait_text("What is wrong")
        view.wait_text("try  ")
        assert "% sure" not in view.text
        view.press("Esc", "q")
        view.wait_for(lambda: "alpha" in names(view))
        view.press("q")
        assert view.exit_code() == 0


def test_ctrl_c_ends_it_inside_of_a_host_too(tmp_path: Path, engine: Engine) -> None:
    with fleet(tmp_path, url_of(engine)) as view:
        view.press("Enter")
        view.wait_text("LIVE")
        view.press("Ctrl-C")
        assert view.exit_code() == 0


def test_a_line_that_is_cut_says_so(tmp_path: Path, engine: Engine) -> None:
    with fleet(tmp_path, url_of(engine), ready="by host, sorted by health", columns=60) as view:
        assert view.lines[-1].rstrip().endswith("…") and len(view.lines[-1].rstrip()) == 60


def test_a_terminal_that_cannot_move_its_cursor_gets_lines(tmp_path: Path, engine: Engine) -> None:
    with Top(tmp_path, command=[GPULSE, "fleet", "--url", url_of(engine), "--watch", "1", "--count", "2"], ready=None, TERM="dumb") as view:
        assert view.exit_code() == 0
        assert b"\033" not in view.raw


def test_as_many_lines_as_wanted_are_a_stream(tmp_path: Path, engine: Engine) -> None:
    with fleet(tmp_path, url_of(engine), "-n2", ready="1 other, ") as view:
        assert "q quit" not in view.text
        view.press("q")


def test_a_signal_ends_it_inside_of_a_host_too(tmp_path: Path, engine: Engine) -> None:
    with fleet(tmp_path, url_of(engine)) as view:
        view.press("Enter")
        view.wait_text("LIVE")
        begun = time.monotonic()
        view.signal(signal.SIGTERM)
        assert view.exit_code() == 0 and time.monotonic() - begun < 1


class Between(Impostor):
    """Passes questions on to an engine, until it is to hang."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self.hangs = threading.Event()
        self.answer = lambda path, form: self.pass_on(f"{url_of(engine)}{path}", form)

    def pass_on(self, url: str, form: dict[str, list[str]]) -> tuple[int, bytes]:
        if self.hangs.is_set():
            time.sleep(30)
        with urllib.request.urlopen(url, urllib.parse.urlencode(form, doseq=True).encode(), timeout=20) as answer:
            return answer.status, answer.read()


def test_an_engine_that_hangs_while_somebody_looks_back_holds_nobody(tmp_path: Path, engine: Engine) -> None:
    with Between(engine) as between, Top(tmp_path, command=[GPULSE, "top", "--url", between.url, "--host", "alpha"]) as view:
        view.wait_text("H100")
        between.hangs.set()
        # Far back, which only the engine knows.
        view.press("g")
        view.type("-3h")
        view.press("Enter")
        view.wait_text("asking the engine: 1 s   Esc gives up")
        view.press("Esc")
        view.wait_text("the engine did not answer in time")
        # The sample on the screen gets old meanwhile, and can still be left.
        view.press("g")
        view.type("-3h")
        view.press("Enter")
        view.wait_text("asking the engine: 1 s")
        begun = time.monotonic()
        view.press("q")
        assert view.exit_code() == 0 and time.monotonic() - begun < 1


def test_what_lets_us_in_is_shown_to_no_other_engine(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("secret\n")
    (tmp_path / "config.toml").write_text(f'[fleet]\nurl = "http://127.0.0.1:9"\nurl-token-file = "{tmp_path}/token"\n')
    with Impostor(401) as other:
        command = [GPULSE, "--config", tmp_path / "config.toml", "top", "--url", other.url, "--host", "n1"]
        with Top(tmp_path, command=command, ready="401") as view:
            assert view.exit_code() == 1
        assert other.asked and not any(authorization for _, authorization in other.asked)


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
