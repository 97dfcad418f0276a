"""The agent on the simulator: started in a folder of its own, ready when it says so, ended with its test."""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, TypeVar

import pytest

from harness import GPULSE, ROOT, Result, environment, run

T = TypeVar("T")

NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


def needs_root() -> None:
    """Skips what only root can try: other users, mounts, namespaces."""
    if os.geteuid() != 0:
        pytest.skip("only root can be somebody else, or mount")
    if subprocess.run([*AS_NOBODY, "test", "-x", str(GPULSE)], check=False).returncode != 0:
        pytest.skip("the program lies where only root may go")


def wait_for(condition: Callable[[], T], what: str, seconds: float = 10) -> T:
    """The condition's first answer that is true."""
    end = time.monotonic() + seconds
    while True:
        if answer := condition():
            return answer
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.01)


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that every user may look into, unlike those of pytest; its path is short enough for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="gpulse-test-", dir="/tmp"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def sleeper(*prefix: str, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that does nothing, to stand on a simulated GPU."""
    with subprocess.Popen([*prefix, "sleep", "1000"], env={"PATH": os.environ["PATH"]} | variables) as process:
        # Its name is that of the shell or of setpriv before.
        comm = Path(f"/proc/{process.pid}/comm")
        wait_for(lambda: comm.read_text() == "sleep\n", "sleep to run")
        try:
            yield process
        finally:
            process.kill()


class Agent:
    """`gpulse serve` in a folder. Inside of its block it runs, and has its first sample unless `wait` is false."""

    listens = False  # where nobody says so

    def __init__(
        self,
        folder: Path,
        *arguments: str | Path,
        scenario: str | Path | None = "single",
        prefix: list[str] | None = None,
        wait: bool = True,
        **variables: str,
    ) -> None:
        self.folder = folder
        self.segment, self.socket, self.lock = (folder / name for name in ("segment", "socket", "lock"))
        self.told: list[str] = []  # what it told the service manager
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        # A name without a file: any user may send to it.
        self.notify.bind(b"\0gpulse-test-%d-%d" % (os.getpid(), id(self)))
        name = "@" + self.notify.getsockname()[1:].decode()
        variables = {"GPULSE_AGENT": str(folder), "NOTIFY_SOCKET": name} | variables
        self.log_file = tempfile.TemporaryFile()
        # Agents of tests that run side by side would all want the same port.
        quiet = [] if "--listen" in arguments or self.listens else ["--listen", "off"]
        self.process = subprocess.Popen(
            [*(prefix or []), str(GPULSE), "serve", *quiet, *map(str, arguments)],
            env=environment(scenario, **variables),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=self.log_file,
            stderr=self.log_file,
        )
        if wait:
            try:
                self.wait_told("READY=1")
            except AssertionError:
                log = self.log
                self.close()
                raise AssertionError(f"the agent did not get ready: {log}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.notify.close()
        self.log_file.close()

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def log(self) -> str:
        # Read from the start; the program writes on at its own place.
        return os.pread(self.log_file.fileno(), 1 << 20, 0).decode()

    def messages(self) -> list[str]:
        """All that the service manager was told so far."""
        while select.select([self.notify], [], [], 0)[0]:
            self.told += self.notify.recv(4096).decode().splitlines()
        return self.told

    def wait_told(self, line: str, seconds: float = 10) -> None:
        wait_for(lambda: line in self.messages() or self.process.poll() is not None, line, seconds)
        assert line in self.messages(), f"it has ended: {self.log}"

    def wait_log(self, words: str, seconds: float = 10) -> str:
        return wait_for(lambda: self.log if words in self.log else "", f'"{words}" in its log: {self.log}', seconds)

    def end(self, number: signal.Signals = signal.SIGTERM, seconds: float = 10) -> int:
        self.process.send_signal(number)
        return self.process.wait(seconds)

    def run(self, *arguments: str | Path, prefix: list[str] | None = None, scenario: Any = None, **more: str) -> Result:
        """Another command of gpulse, which finds this agent. Without a scenario it would find no driver."""
        env = environment(scenario, **{"GPULSE_AGENT": str(self.folder)} | more)
        return run([*(prefix or []), GPULSE, *arguments], env)

    def status(self) -> dict[str, Any]:
        result = self.run("agent", "status", "--json")
        assert result.code == 0, result.err
        return result.json

    def samples(self) -> int:
        return self.status()["samples"]

    def wait_samples(self, more: int) -> None:
        begun = self.samples()
        wait_for(lambda: self.samples() >= begun + more, f"{more} samples")

    def start_watch(self, *arguments: str | Path, scenario: Any = None, **more: str) -> Watch:
        return Watch([GPULSE, *arguments], environment(scenario, **{"GPULSE_AGENT": str(self.folder)} | more))


class Watch:
    """A command that writes a line of JSON for each sample, and what it has said so far."""

    def __init__(self, command: list[str | Path], env: dict[str, str]) -> None:
        self.out_file, self.err_file = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [str(word) for word in command], env=env, stdin=subprocess.DEVNULL,
            stdout=self.out_file, stderr=self.err_file,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self.out_file.close()
        self.err_file.close()

    @property
    def text(self) -> str:
        """Its whole lines."""
        text = os.pread(self.out_file.fileno(), 1 << 28, 0).decode()
        return text[: text.rfind("\n") + 1]

    @property
    def samples(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]

    @property
    def err(self) -> str:
        return os.pread(self.err_file.fileno(), 1 << 20, 0).decode()

    def wait_samples(self, count: int, seconds: float = 10) -> list[dict[str, Any]]:
        return wait_for(lambda: self.samples if len(self.samples) >= count else [], f"{count} samples", seconds)

    def wait_more(self, count: int, seconds: float = 10) -> list[dict[str, Any]]:
        """The next ones from now on."""
        seen = len(self.samples)
        return self.wait_samples(seen + count, seconds)[seen:]


def still(name: str, second: float, pids: list[int]) -> str:
    """A scenario of the simulator as it is at one second, for ever; its processes get the pids of ones that exist."""
    text = (ROOT / "sim" / "scenarios" / f"{name}.toml").read_text()

    def value_then(found: re.Match[str]) -> str:
        steps = json.loads(re.sub(r"\s+", "", found["steps"]))
        return str(next((value for time, value in reversed(steps) if time <= second), steps[0][1]))

    text = re.sub(r"\{ steps = (?P<steps>\[\s*\[.*?\]\s*\])[^}]*\}", value_then, text, flags=re.DOTALL)
    text = re.sub(r"(?m)^lost = \[\[(\d+), (\d+)\]\]", lambda found: lasting(found, second, "lost = [[{}, {}]]"), text)
    text = re.sub(r"(?m)^from = (\d+)\nuntil = (\d+)", lambda found: lasting(found, second, FROM_UNTIL), text)
    text = re.sub(r"(?m)^from = (\d+)$(?!\nuntil)", lambda found: f"from = {begin(found, second)}", text)
    text = text.split("[[event]]")[0]
    known: dict[str, int] = {}
    rest = iter(pids)

    def pid_of(found: re.Match[str]) -> str:
        pid = re.search(r"^pid = (\d+)$", found[0], re.M)
        key = pid[1] if pid else str(len(known))
        if key not in known:
            known[key] = next(rest)
        block = re.sub(r"^pid = .*\n", "", found[0], flags=re.M)
        return block.replace("[[process]]\n", f"[[process]]\npid = {known[key]}\n")

    return re.sub(r"^\[\[process\]\]\n(?:[^\[\n].*\n?)*", pid_of, text, flags=re.M)


NEVER = 1000000000
FROM_UNTIL = "from = {}\nuntil = {}"


def begin(found: re.Match[str], second: float) -> int:
    return 0 if float(found[1]) <= second else NEVER


def lasting(found: re.Match[str], second: float, form: str) -> str:
    first, last = float(found[1]), float(found[2])
    return form.format(0, NEVER) if first <= second < last else form.format(NEVER, NEVER + 1)
