# SPDX-License-Identifier: Apache-2.0
"""One reader of the drivers for all ranks of a job on this machine.

Where the machine's agent runs, it is that one. Where none runs, the first rank starts an agent for the job alone, in a
folder of its own, and all ranks read what it publishes. Every rank holds a shared lock in that folder until it ends,
however it ends; the agent ends when nobody holds it any more.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import glob
import hashlib
import os
import stat
import subprocess
import tempfile
import time
from collections.abc import Generator
from pathlib import Path

from .. import _library
from .._library import library, make_options
from .._monitor import Monitor
from .._program import find_program

_START_SECONDS = 5.0

# What the ranks of a job have in common, and no other job of this user has.
_JOB_VARIABLES = ("SLURM_JOB_ID", "SLURM_STEP_ID", "PBS_JOBID", "LSB_JOBID", "TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT")

# $0 is the program, $1 the lock, $2 the interval. flock(1) waits until no rank holds the lock.
_AGENT = """
{ "$0" serve --listen off --history off --interval "$2" &
  flock -x "$1" sh -c 'kill "$1"; rm -rf -- "$GPULSE_AGENT"' sh $!; } &
"""

# The lock of this process. Never closed: the system does that, also after a crash.
_held: dict[Path, int] = {}


def start_shared(monitor: Monitor) -> None:
    """Starts it so that it, and those of the other ranks, read what one process samples."""
    if os.environ.get("GPULSE_AGENT") != "off" and not _has_agent():
        folder = _job_folder()
        if _join(folder, monitor.interval):
            with _agent_in(folder):
                monitor.start()
            return
    monitor.start()


def _has_agent() -> bool:
    sample = ctypes.c_void_p()
    options = make_options(1.0, 0.0, "host.cpu_percent", _library.ONLY_AGENT)
    if library().look(ctypes.byref(options), ctypes.byref(sample)) != _library.OK:
        return False
    library().release(sample)
    return True


@contextlib.contextmanager
def _agent_in(folder: Path) -> Generator[None, None, None]:
    """The library takes the place of the agent from the environment, once for each monitor."""
    before = os.environ.get("GPULSE_AGENT")
    os.environ["GPULSE_AGENT"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["GPULSE_AGENT"]
        else:
            os.environ["GPULSE_AGENT"] = before


def _job_folder() -> Path:
    # Slurm can give every rank its own GPUs and hide the others: then each has to read for itself.
    devices = [path for path in sorted(glob.glob("/dev/nvidia[0-9]*") + glob.glob("/dev/dri/renderD*")) if _can_open(path)]
    job = repr([*map(os.environ.get, _JOB_VARIABLES), devices])
    name = f"gpulse-{os.geteuid()}-job-{hashlib.sha256(job.encode()).hexdigest()[:16]}"
    return Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()) / name


def _can_open(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_RDWR))
    except OSError:
        return False
    return True


def _join(folder: Path, interval: float) -> bool:
    """Whether an agent for this job runs now."""
    program = find_program()
    if program is None:
        return False
    first = folder not in _held and _lock(folder)
    with _agent_in(folder):
        if first:
            words = ["sh", "-c", _AGENT, program, str(folder / "ranks"), f"{interval:g}s"]
            # A session of its own: Ctrl-C is for the ranks, and the agent ends after them.
            subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           start_new_session=True, check=True)  # fmt: skip
        until = time.monotonic() + _START_SECONDS
        while not _has_agent():
            if time.monotonic() > until:
                return False
            time.sleep(0.02)
        return True


def _lock(folder: Path) -> bool:
    """Takes this rank's share of the lock. True: nobody had one."""
    while True:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            raise OSError(f"{folder} is not ours")
        descriptor = os.open(folder / "ranks", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            first = True
        except BlockingIOError:
            first = False
        # Two that are first in the same moment start two agents, and the second agent finds the place taken.
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        # An agent that ended meanwhile has taken the folder with it.
        with contextlib.suppress(FileNotFoundError):
            if os.stat(folder / "ranks").st_ino == os.fstat(descriptor).st_ino:
                _held[folder] = descriptor
                return first
        os.close(descriptor)
