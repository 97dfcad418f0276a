"""What the tests of settings share: machines that let their settings be changed, and who tries to."""

from __future__ import annotations

import os
import pty
import subprocess
import tempfile
from pathlib import Path
from typing import Callable

import pytest

from harness import GPULSE, Result, environment, gpulse

Scenario = Callable[[str], Path]
Sysroot = Callable[[dict[str, str]], Path]

GOOD, FAILURE, USAGE, NO_DEVICE = 0, 1, 2, 3
NO_PERMISSION = 4

DEVICE = '[[device]]\nprofile = "h200"\npci_bus_id = "00000000:00:06.0"\n'
BUS = "00000000:00:06.0"
RESET = "sys/bus/pci/devices/0000:00:06.0/reset"
PCI_CLASS = "sys/bus/pci/devices/0000:00:06.0/class"
TERMINATING = "Terminating early due to previous errors.\n"


def machine(setters: str, more: str = "", devices: str = DEVICE) -> str:
    return f'[driver]\nsetters = "{setters}"\n{devices}{more}'


def own(*words: str | Path, scenario: Path, **more: str) -> Result:
    return gpulse("set", *words, scenario=scenario, **more)


def smi(*words: str | Path, scenario: Path) -> Result:
    return gpulse("smi", *words, scenario=scenario)


def as_nobody(*words: str, text: str) -> Result:
    """The command as another user, who can read neither root's files nor a test's."""
    if os.geteuid() != 0:
        pytest.skip("only root can be somebody else")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        path = Path(folder) / "scenario.toml"
        path.write_text(text)
        path.chmod(0o644)
        switch = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        if subprocess.run([*switch, "test", "-x", str(GPULSE)], check=False).returncode != 0:
            pytest.skip("the program lies where only root may go")
        done = subprocess.run(
            [*switch, str(GPULSE), *words], env=environment(path), cwd="/", stdin=subprocess.DEVNULL,
            capture_output=True, encoding="utf-8", timeout=60, check=False,
        )  # fmt: skip
        return Result(done.returncode, done.stdout, done.stderr)


def on_terminal(answer: str, *words: str, scenario: Path) -> tuple[int, str]:
    """The exit code, and what a person at a terminal sees who answers so."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [str(GPULSE), *words], env=environment(scenario), stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        os.write(ours, f"{answer}\n".encode())
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:  # the other side has closed
            pass
        process.wait(timeout=60)
    os.close(ours)
    return process.returncode, shown.decode().replace("\r\n", "\n")
