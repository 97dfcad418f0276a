"""Who sees what through an agent: what is everybody's from the agent, what is one's own from one's own /proc."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent import AS_NOBODY, Agent, needs_root, open_folder, sleeper, wait_for

JOB = "847261930511"
OF_DRIVER = "name-by-the-driver"


def scenario_of(folder: Path, *pids: int) -> Path:
    path = folder / "scenario.toml"
    blocks = (f'[[process]]\npid = {pid}\nmemory_mib = 100\ncommand = "{OF_DRIVER}"\n' for pid in pids)
    path.write_text('[[device]]\nprofile = "h200"\n' + "".join(blocks))
    return path


def processes(out: str) -> dict[int, dict[str, Any]]:
    return {process["pid"]: process for process in json.loads(out)["processes"]}


def test_a_job_in_the_environment_is_its_owners_and_roots() -> None:
    needs_root()
    own = ["env", f"SLURM_JOB_ID={JOB}"]
    with open_folder() as folder, sleeper(*AS_NOBODY, *own) as theirs, sleeper(*own) as ours:
        place = folder / "place"
        place.mkdir()
        with Agent(place, scenario=scenario_of(folder, theirs.pid, ours.pid)) as agent:
            alone = processes(agent.run("--json", "--no-agent", scenario=folder / "scenario.toml").out)
            assert {pid: each["job"] for pid, each in alone.items()} == dict.fromkeys((theirs.pid, ours.pid), JOB)
            root = processes(agent.run("--json").out)
            assert {pid: each["job"] for pid, each in root.items()} == dict.fromkeys((theirs.pid, ours.pid), JOB)
            nobody = processes(agent.run("--json", prefix=AS_NOBODY).out)
            assert nobody[theirs.pid]["job"] == JOB
            assert JOB not in json.dumps(nobody[ours.pid])
            # Others see that there is a process, and whose.
            assert (nobody[ours.pid]["name"], nobody[ours.pid]["user"]) == ("sleep", "root")
            other = processes(agent.run("--json", prefix=["setpriv", "--reuid=65533", "--clear-groups"]).out)
            assert JOB not in json.dumps(other)
            assert JOB.encode() not in agent.segment.read_bytes()
            assert b"sleep" in agent.segment.read_bytes()


# Runs its arguments where /proc shows a user no processes but his own.
HIDDEN = ["unshare", "-m", "sh", "-c", 'mount -t proc -o hidepid=2 proc /proc && exec "$@"', "sh"]


def test_where_proc_hides_processes_the_agent_does_not_tell_of_them() -> None:
    needs_root()
    if subprocess.run([*HIDDEN, "true"], check=False).returncode != 0:
        pytest.skip("/proc cannot be mounted here")
    with open_folder() as folder, sleeper(*AS_NOBODY) as theirs, sleeper() as ours:
        place = folder / "place"
        place.mkdir()
        with Agent(place, scenario=scenario_of(folder, theirs.pid, ours.pid), prefix=HIDDEN) as agent:
            nobody = processes(agent.run("--json", prefix=[*HIDDEN, *AS_NOBODY]).out)
            own, hidden = nobody[theirs.pid], nobody[ours.pid]
            assert (own["name"], own["user"], own["command"]) == ("sleep", "nobody", "sleep 1000")
            assert (hidden["name"], hidden["user"], hidden["command"]) == (None, None, None)
            assert hidden["gpu_memory_bytes"] == 100 << 20
            root = processes(agent.run("--json", prefix=HIDDEN).out)
            assert {pid: (each["name"], each["command"]) for pid, each in root.items()} == dict.fromkeys(
                (theirs.pid, ours.pid), ("sleep", "sleep 1000")
            )
            for command in ([], ["smi"], ["smi", "--query-compute-apps=pid,name", "--format=csv"]):
                lines = agent.run(*command, prefix=[*HIDDEN, *AS_NOBODY]).lines
                (line,) = (line for line in lines if str(ours.pid) in line)
                assert "sleep" not in line and OF_DRIVER not in line
            assert f"?:?/{ours.pid}(100M)" in agent.run("gpustat", "-cpu", prefix=[*HIDDEN, *AS_NOBODY]).out
            held = agent.segment.read_bytes()
            assert b"sleep" not in held
            assert OF_DRIVER.encode() not in held


@pytest.fixture
def container() -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """PID 1 of a namespace of pids of its own, and the agent's folder, which is mounted read-only in it."""
    needs_root()
    with open_folder() as folder:
        place = folder / "place"
        place.mkdir()
        script = f"mount --bind {place} {place} && mount -o remount,bind,ro {place} && exec sleep 1001"
        command = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", script]
        with subprocess.Popen(command) as outer:
            try:
                children = Path(f"/proc/{outer.pid}/task/{outer.pid}/children")
                wait_for(lambda: outer.poll() is not None or inner_of(children), "the container")
                if outer.poll() is not None:
                    pytest.skip("no namespaces here")
                yield outer, folder
            finally:
                outer.kill()


def inner_of(children: Path) -> int:
    """The pid outside of the one inside, once it sleeps."""
    pids = children.read_text().split()
    return int(pids[0]) if pids and Path(f"/proc/{pids[0]}/comm").read_text() == "sleep\n" else 0


def test_in_a_container_processes_have_the_pids_that_they_have_there(container) -> None:
    outer, folder = container
    first = inner_of(Path(f"/proc/{outer.pid}/task/{outer.pid}/children"))
    enter = ["nsenter", "-t", str(first), "-p", "-m"]
    with sleeper() as outside:
        scenario = scenario_of(folder, first, outside.pid)
        with Agent(folder / "place", scenario=scenario) as agent:
            seen = processes(agent.run("--json", prefix=enter).out)
            assert seen[1]["name"] == "sleep"
            assert seen[1]["command"] == "sleep 1001"
            assert seen[1].get("state") != "host pid"
            assert seen[outside.pid]["state"] == "host pid"
            assert seen.keys() == {1, outside.pid}
            # From outside both have the pids of outside.
            assert processes(agent.run("--json").out).keys() == {first, outside.pid}
            # The folder cannot be written to, and the rate can be asked for all the same.
            assert agent.run("--json", "--watch", "0.1", "--count", "3", prefix=enter).err == ""
