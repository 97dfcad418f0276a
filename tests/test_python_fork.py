"""Children of a Python program that monitors: forked, spawned, killed; no deadlock, no warning, no lease kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agent import Agent, open_folder
from harness import ROOT
from python_program import output_of

EIGHT = ROOT / "sim" / "scenarios" / "eight.toml"
SINGLE = ROOT / "sim" / "scenarios" / "single.toml"

FREE = '[[device]]\nprofile = "h100"\ncount = 8\ngpu_util = 0\nmemory_used_mib = 500\n'


@pytest.fixture
def free(scenario: Callable[[str], Path]) -> Path:
    return scenario(FREE)


def test_a_forked_child_is_told_that_the_monitor_stayed_behind() -> None:
    out = output_of(
        """
        import os
        monitor = gpulse.Monitor(interval=0.01).start()
        monitor.wait()
        child = os.fork()
        if child == 0:
            monitor.set_step(1)
            for use in (monitor.latest, monitor.wait, monitor.refresh, monitor.history, monitor.stats):
                try:
                    use()
                except gpulse.MonitorForked as problem:
                    print(problem)
            with gpulse.region("child") as region:
                pass
            print(region.result.seconds < 9)
            with gpulse.Monitor(interval=0.01) as own:
                print(len(own.wait().devices), flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        print("parent", monitor.wait(monitor.latest().number).number > 1)
        """,
        scenario=SINGLE,
    ).splitlines()
    assert len(set(out[:5])) == 1 and "forked from" in out[0]
    assert out[5:] == ["True", "1", "parent True"]


def test_with_an_agent_a_forked_child_attaches() -> None:
    with open_folder() as folder, Agent(folder, scenario=SINGLE):
        out = output_of(
            """
            import os
            monitor = gpulse.Monitor().start()
            monitor.wait()
            child = os.fork()
            if child == 0:
                print(monitor.wait().from_agent, len(monitor.latest().devices), flush=True)
                os._exit(0)
            print(os.waitpid(child, 0)[1])
            """,
            scenario=SINGLE,
            GPULSE_AGENT=str(folder),
        )
    assert out == "True 1\n0\n"


@pytest.mark.parametrize("way", ["fork", "spawn", "forkserver"])
def test_workers_come_and_go_while_samples_are_taken(way: str, tmp_path: Path) -> None:
    program = tmp_path / "loader.py"
    program.write_text(
        """
import multiprocessing, sys
import gpulse

def load(number):
    return number * number

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    with gpulse.Monitor(interval=0.01, callback=lambda sample: None) as monitor:
        monitor.wait()
        for _ in range(4 if sys.argv[1] == "fork" else 1):
            with context.Pool(4) as pool:
                assert pool.map(load, range(20)) == [number * number for number in range(20)]
        print(monitor.wait(monitor.latest().number).number > 1)
"""
    )
    assert output_of(program, way, scenario=EIGHT, timeout=60, **quiet()) == "True\n"


def quiet() -> dict[str, str]:
    """Python itself warns of forks in programs with threads of Python's, as callbacks need; not of ours."""
    return {"PYTHONWARNINGS": "ignore::DeprecationWarning"}


def test_many_forks_at_a_fast_rate_do_not_hang() -> None:
    out = output_of(
        """
        import os
        monitor = gpulse.Monitor(interval=0.01).start()
        monitor.wait()
        for _ in range(40):
            child = os.fork()
            if child == 0:
                gpulse.snapshot("memory_used_bytes")
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        print(monitor.wait(monitor.latest().number).number > 1)
        """,
        scenario=SINGLE,
    )
    assert out == "True\n"


def test_grab_gpus_sets_the_mask_and_holds_what_it_took(free: Path, tmp_path: Path) -> None:
    out = output_of(ROOT / "examples" / "python" / "grab.py", scenario=free, GPULSE_LEASES=str(tmp_path / "leases"))
    count, mask = out.splitlines()
    assert count == "3" and len(set(mask.split(","))) == 3 and all(one.startswith("GPU-") for one in mask.split(","))


def test_leases_exclude_others_and_end_with_the_process(free: Path, tmp_path: Path) -> None:
    out = output_of(
        """
        import os, signal, subprocess, sys, time
        lease = gpulse.pick(5)
        print(len(lease.uuids), lease.env()["CUDA_VISIBLE_DEVICES"] == ",".join(lease.uuids))
        other = [sys.executable, "-c", "import gpulse; print(len(gpulse.pick(int(__import__('sys').argv[1])).uuids))"]
        print(subprocess.run([*other, "3"], capture_output=True, text=True).stdout.strip())
        refused = subprocess.run([*other, "4"], capture_output=True, text=True).stderr.strip().splitlines()[-1]
        print(refused.startswith("gpulse._errors.NoGpuAvailable: 4 GPUs were asked for"), refused.count("held by pid %d" % os.getpid()))
        # A child that was forked has none of it.
        child = os.fork()
        if child == 0:
            lease.release()
            time.sleep(60)
        lease.release()
        print(subprocess.run([*other, "8"], capture_output=True, text=True).stdout.strip())
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with gpulse.pick(2) as inside:
            print(os.environ["CUDA_VISIBLE_DEVICES"] == ",".join(inside.uuids), len(gpulse.visible_devices()))
        print("CUDA_VISIBLE_DEVICES" in os.environ)
        """,
        scenario=free,
        GPULSE_LEASES=str(tmp_path / "leases"),
    )
    assert out.splitlines() == ["5 True", "3", "True 5", "8", "True 2", "False"]


def test_grab_gpus_warns_where_it_cannot_have_as_many(free: Path, tmp_path: Path) -> None:
    out = output_of(
        """
        import os, warnings
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            print(gpulse.grab_gpus(2, gpu_select=[4, 5, 6]))
            del os.environ["CUDA_VISIBLE_DEVICES"]
            print(gpulse.grab_gpus(3, gpu_select=[4, 5, 6]), len(told))
            print(gpulse.grab_gpus(0), repr(os.environ["CUDA_VISIBLE_DEVICES"]))
            del os.environ["CUDA_VISIBLE_DEVICES"]
            print(gpulse.grab_gpus(-1))
            del os.environ["CUDA_VISIBLE_DEVICES"]
            print(gpulse.grab_gpus(-1), os.environ["CUDA_VISIBLE_DEVICES"] == "")
        """,
        scenario=free,
        GPULSE_LEASES=str(tmp_path / "leases"),
    )
    # 4, 5 and 6 less the two that are taken; then the other five; then none.
    assert out.splitlines() == ["2", "1 1", "0 ''", "5", "0 True"]


def test_grab_gpus_leaves_alone_what_others_are_on(tmp_path: Path, scenario: Callable[[str], Path]) -> None:
    busy = scenario(FREE + '[[process]]\ndevice = 0\ncommand = "python3"\nmemory_mib = 10\n')
    out = output_of(
        """
        import warnings
        warnings.simplefilter("ignore")
        print(gpulse.grab_gpus(-1, max_procs=0))
        """,
        scenario=busy,
        GPULSE_LEASES=str(tmp_path / "leases"),
    )
    assert out == "7\n"


def test_a_wait_for_a_gpu_ends_when_one_is_free_and_by_ctrl_c(free: Path, tmp_path: Path) -> None:
    out = output_of(
        """
        import os, signal, threading, time
        lease = gpulse.pick(8)
        child = os.fork()
        if child == 0:
            begun = time.monotonic()
            got = gpulse.pick(1, wait="30s")
            print(len(got.uuids), 0.3 < time.monotonic() - begun < 10, flush=True)
            os._exit(0)
        time.sleep(0.5)
        lease.release()
        os.waitpid(child, 0)
        lease = gpulse.pick(8)
        child = os.fork()
        if child == 0:
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            try:
                gpulse.pick(1, wait="30s")
            except KeyboardInterrupt:
                print("interrupted", flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        """,
        scenario=free,
        GPULSE_LEASES=str(tmp_path / "leases"),
    )
    assert out.splitlines() == ["1 True", "interrupted"]


def test_the_five_prints(tmp_path: Path) -> None:
    out = output_of(ROOT / "examples" / "python" / "five_prints.py", scenario=EIGHT, CUDA_VISIBLE_DEVICES="6")
    lines = out.splitlines()
    assert lines[0] == "Name: NVIDIA H100 80GB HBM3"
    assert lines[2:] == ["Temperature: 86.0", "Power: 402.0", "Fan: not supported"]
