"""gpulse log beside a process or a command: how long it lasts, which signals go where, and what is left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Callable

import pytest

from agent import wait_for
from harness import GPULSE, Result, environment, gpulse, only_line


def log(*arguments: str | Path, **more: Any) -> Result:
    return gpulse("log", *arguments, **more)


def log_while(path: Path, *command: str, interval: str = "50ms") -> list[str]:
    return [str(GPULSE), "log", "-o", str(path), "--interval", interval, "--fields", "time,power.draw", "--", *command]


@pytest.mark.parametrize("script, code", [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 128 + signal.SIGTERM)])
def test_the_exit_code_is_the_command_s(script: str, code: int, tmp_path: Path) -> None:
    done = subprocess.run(log_while(tmp_path / "log", "sh", "-c", script), env=environment("single"), timeout=60)
    assert done.returncode == code
    assert (tmp_path / "log").read_text().count("\n") >= 2


def test_the_log_lasts_as_long_as_the_command(tmp_path: Path) -> None:
    path = tmp_path / "log"
    command = log_while(path, "sh", "-c", "echo trained -- --append; sleep 0.6")
    done = subprocess.run(command, env=environment("single"), capture_output=True, text=True, timeout=60)
    assert done.stdout == "trained -- --append\n"
    assert 5 <= len(path.read_text().splitlines()) - 1 <= 40


def test_a_command_that_cannot_run_leaves_no_log(tmp_path: Path) -> None:
    for command in ("no-such-program", "/etc/passwd"):
        result = log("-o", tmp_path / "log", "--", command, scenario="single")
        assert result.code == 127 and f"cannot run {command}" in only_line(result.err)
    assert not (tmp_path / "log").exists()


def test_a_command_goes_on_when_the_log_cannot(tmp_path: Path) -> None:
    done = subprocess.run(
        log_while(Path("/dev/full"), "sh", "-c", "sleep 0.3; echo done; exit 4"), env=environment("single"),
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (4, "done\n")
    assert "No space left" in only_line(done.stderr)


TRAINING = 'trap "echo saved; exit 9" {}; echo ready; n=0; while [ $n -lt 300 ]; do n=$((n+1)); sleep 0.05; done'


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP", "USR1"])
def test_a_signal_reaches_the_command(name: str, tmp_path: Path) -> None:
    command = log_while(tmp_path / "log", "sh", "-c", TRAINING.format(name))
    with subprocess.Popen(command, env=environment("single"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        process.send_signal(getattr(signal, f"SIG{name}"))
        out, _ = process.communicate()
    assert (process.returncode, out) == (9, "saved\n")
    assert (tmp_path / "log").read_bytes().endswith(b"\n")


def test_a_signal_at_the_very_start_reaches_the_command(tmp_path: Path) -> None:
    script = 'trap "exit 9" TERM; kill -TERM $PPID; for i in 1 2 3 4 5 6 7 8 9; do sleep 0.1; done'
    for number in range(5):
        command = log_while(tmp_path / str(number), "sh", "-c", script)
        assert subprocess.run(command, env=environment("single"), timeout=60).returncode == 9


def test_ctrl_c_reaches_the_command_once(tmp_path: Path) -> None:
    script = 'n=0; trap "n=\\$((n+1))" INT; echo ready; for i in 1 2 3 4 5 6 7 8; do sleep 0.1; done; exit $((40+n))'
    main, terminal = os.openpty()

    def begin() -> None:
        os.setsid()
        os.close(os.open(os.ttyname(terminal), os.O_RDWR))  # the first terminal that is opened is the session's

    with subprocess.Popen(
        log_while(tmp_path / "log", "bash", "-c", script), env=environment("single"), stdin=terminal,
        stdout=terminal, stderr=subprocess.PIPE, preexec_fn=begin,
    ) as process:  # fmt: skip
        os.close(terminal)
        seen = b""
        while b"ready" not in seen:
            seen += os.read(main, 100)
        os.write(main, b"\x03")
        process.communicate(timeout=20)
    os.close(main)
    assert process.returncode == 41


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_a_kill_leaves_no_command_behind(tmp_path: Path) -> None:
    command = log_while(tmp_path / "log", "sh", "-c", "echo $$; exec sleep 1000")
    with subprocess.Popen(command, env=environment("single"), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.kill()
    wait_for(lambda: not is_running(pid), "the command to end")


def test_a_process_is_followed_to_its_end(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "0.6"]) as process:
        begun = time.monotonic()
        # Not the interval decides when the end is noticed.
        result = log("--pid", str(process.pid), "--interval", "20s", "-o", tmp_path / "log", scenario="eight")
        assert time.monotonic() - begun < 10
    assert result.code == 0
    assert f"process {process.pid} is on no GPU that can be told: all are logged" in result.err
    gone = log("--pid", str(process.pid), "-o", tmp_path / "other", scenario="eight")
    assert gone.code == 1
    assert only_line(gone.err) == f"gpulse: cannot log process {process.pid}: it is gone"


def test_only_the_gpus_of_the_process_and_its_children(tmp_path: Path, scenario: Callable[[str], Path]) -> None:
    # The simulated process is the one that runs gpulse: this one.
    path = scenario('[[device]]\nprofile = "h100"\ncount = 4\n[[process]]\ndevice = 2\npid = "parent"\nmemory_mib = 100\n')
    for pid in (os.getpid(), os.getppid()):
        result = log("--pid", str(pid), "--count", "1", "--fields", "index,power.draw", scenario=path)
        assert only_line(result.err) == f"gpulse: process {pid} is on GPU 2: no other is logged"
        assert [row["index"] for row in result.csv] == ["2"]


def test_a_log_of_json_has_the_processes_of_the_tree_alone(tmp_path: Path, scenario: Callable[[str], Path]) -> None:
    with subprocess.Popen(["sleep", "100"]) as child, subprocess.Popen(["sleep", "100"]) as other:
        try:
            listed = "".join(
                f"[[process]]\ndevice = {device}\npid = {pid}\nmemory_mib = 100\n"
                for device, pid in ((0, os.getpid()), (1, child.pid), (1, other.pid), (1, os.getpid()))
            )
            path = scenario('[[device]]\nprofile = "h100"\ncount = 2\n' + listed)
            words = ("--format", "jsonl", "--count", "1")
            for pid, gpus, pids in (
                (child.pid, [1], {child.pid}),
                (os.getpid(), [0, 1], {os.getpid(), child.pid, other.pid}),
            ):
                line = log(*words, "--pid", str(pid), scenario=path).json
                assert [device["index"] for device in line["devices"]] == gpus
                assert {process["pid"] for process in line["processes"]} == pids
            # A command has no process of theirs.
            log(*words, "-o", tmp_path / "log", "--", "sleep", "0.1", scenario=path)
            assert json.loads((tmp_path / "log").read_text())["processes"] == []
        finally:
            child.kill()
            other.kill()


@pytest.mark.parametrize(
    "mask, said, indexes",
    [
        (None, "", {0, 1, 2, 3, 4, 5, 6, 7}),
        ("5,3", "the command sees GPU 3, 5: no other is logged", {3, 5}),
        ("", "the environment hides every GPU from the command: all are logged", {0, 1, 2, 3, 4, 5, 6, 7}),
    ],
)
def test_only_the_gpus_that_a_command_can_see(mask: str | None, said: str, indexes: set[int], tmp_path: Path) -> None:
    more = {} if mask is None else {"CUDA_VISIBLE_DEVICES": mask}
    path = tmp_path / "log"
    done = log("-o", path, "--fields", "index,power.draw", "--", "sleep", "0.1", scenario="eight", **more)
    assert done.code == 0 and done.err.startswith(f"gpulse: {said}\n" if said else "gpulse: logged")
    assert {int(line.split(",")[0]) for line in path.read_text().splitlines()[1:]} == indexes
    # What was asked for goes before what was found out.
    done = log("-o", path, "--force", "-i", "7", "--fields", "index", "--", "sleep", "0.1", scenario="eight", **more)
    assert set(path.read_text().splitlines()) == {"index", "7"}
