"""Processes for `gpulse top` to show: children of the test that sleep, and a scenario in which they use GPUs."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SLEEP = shutil.which("sleep") or "/bin/sleep"


def niceness(steps: int = 0) -> int:
    """Of a job so many steps from its start: the tests may run under nice(1) themselves."""
    return max(-20, min(19, os.getpriority(os.PRIO_PROCESS, 0) + steps))


# Works a fifth of the time and holds more memory than the others, for the columns of the host.
BURNER = """
import time
kept = bytearray(64 << 20)
while True:
    end = time.monotonic() + 0.02
    while time.monotonic() < end: pass
    time.sleep(0.08)
"""

# Notes in a file what it is sent, and goes on.
NOTER = """
import signal, sys, time
def note(number, frame):
    with open(sys.argv[1], "a") as out: out.write(signal.Signals(number).name + "\\n")
for name in sys.argv[2:]: signal.signal(signal.Signals[name], note)
with open(sys.argv[1], "a") as out: out.write("ready\\n")
while True: time.sleep(600)
"""

DEVICES = """
[[device]]
profile = "h100"
gpu_util = 37
power_w = 298
power_average_w = 298

[[device]]
profile = "rtx4090"
gpu_util = 99
fan_speed = 63
"""


@dataclass
class Job:
    pid: int
    command: str
    gpu: int = 0
    memory: int = 1000  # MiB
    sm: int = 0
    memory_util: int = 0
    type: str = "compute"
    more: str = ""
    process: subprocess.Popen[Any] | None = None

    @property
    def start_ticks(self) -> int:
        text = Path(f"/proc/{self.pid}/stat").read_text()
        return int(text.rpartition(")")[2].split()[19])

    @property
    def nice(self) -> int:
        return int(Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[16])

    @property
    def alive(self) -> bool:
        assert self.process is not None
        return self.process.poll() is None

    def ends(self, seconds: float = 10) -> int:
        assert self.process is not None
        return self.process.wait(seconds)

    def toml(self) -> str:
        return (
            f'[[process]]\ndevice = {self.gpu}\npid = {self.pid}\ntype = "{self.type}"\nmemory_mib = {self.memory}\n'
            f"sm = {self.sm}\nmemory_util = {self.memory_util}\n{self.more}\n"
        )


@dataclass
class Jobs:
    folder: Path
    devices: str = DEVICES
    all: list[Job] = field(default_factory=list)
    adopted: list[int] = field(default_factory=list)

    def add(self, command: list[str] | None = None, name: str | None = None, process: Any = None, **facts: Any) -> Job:
        """A child that runs `command`, `sleep 600` unless told; it calls itself `name`."""
        words = command or [SLEEP, "600"]
        shown = [name or words[0], *words[1:]]
        user, env = facts.pop("user", None), facts.pop("env", None)
        process = subprocess.Popen(shown, executable=words[0], user=user, env=env, stdout=subprocess.DEVNULL)
        job = Job(process.pid, " ".join(shown), process=process, **facts)
        self.all.append(job)
        return job

    def add_python(self, script: str, *arguments: str, name: str = "python3", **facts: Any) -> Job:
        return self.add([sys.executable, "-IS", "-c", script, *arguments], name=name, **facts)

    def add_gone(self, pid: int, **facts: Any) -> Job:
        """A process that only the driver knows."""
        job = Job(pid, "gone", **facts)
        self.all.append(job)
        return job

    def adopt(self, pid: int, command: str, **facts: Any) -> Job:
        """A process that is somebody else's child."""
        job = Job(pid, command, **facts)
        self.all.append(job)
        self.adopted.append(pid)
        return job

    def scenario(self, more: str = "") -> Path:
        path = self.folder / "jobs.toml"
        path.write_text(self.devices + "".join(job.toml() for job in self.all) + more)
        return path

    def end(self) -> None:
        for pid in self.adopted:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for job in self.all:
            if job.process is not None:
                job.process.kill()
                job.process.wait()
