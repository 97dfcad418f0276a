"""What all integrations share, with a writer of the test's own: no framework is needed here."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent import Agent, open_folder, wait_for
from machines import small_kernels
from python_program import output_of, python_environment, run_python

# Two GPUs that are easily told apart; both draw the same power for ever, so that energy is known.
TWO = """
[[device]]
profile = "h100"
uuid = "GPU-aaaaaaaa-0000-0000-0000-000000000000"
gpu_util = 30
power_w = 300
temperature = 41

[[device]]
profile = "h100"
uuid = "GPU-bbbbbbbb-0000-0000-0000-000000000000"
gpu_util = 60
power_w = 200
temperature = 42
"""

# A writer that keeps what it is given.
WRITER = """
import json, sys, time
from gpulse.integrations.tensorboard import gpu_log

class Writer:
    def __init__(self):
        self.points = []
    def add_scalar(self, tag, value, step):
        self.points.append((tag, value, step))
    def tagged(self, tag):
        return [(value, step) for name, value, step in self.points if name == tag]

writer = Writer()
"""


@pytest.fixture
def two(scenario: Callable[[str], Path]) -> Path:
    return scenario(TWO)


def program(text: str) -> str:
    return WRITER + textwrap.dedent(text)


def test_a_loop_writes_every_sample_once_and_what_its_epochs_took(two: Path) -> None:
    told = json.loads(output_of(
        program("""
        with gpu_log(writer, interval=0.2) as gpu:
            for epoch in range(2):
                with gpu.epoch():
                    for _ in range(30):
                        time.sleep(0.1)
                        gpu.step(samples=8)
        print(json.dumps(writer.points))
        """),
        scenario=two,
    ))  # fmt: skip
    tags = {tag for tag, _, _ in told}
    assert {"gpu0/power_draw_watts", "gpu1/power_draw_watts", "host/cpu_percent"} <= tags
    assert {tag.split("/")[0] for tag in tags} == {"gpu0", "gpu1", "host", "throughput", "epoch"}

    def points(tag: str) -> list[tuple[float, int]]:
        return [(value, step) for name, value, step in told if name == tag]

    # Six seconds at five samples a second, fewer where the machine is busy; a step has a point only where a new sample came.
    power = points("gpu0/power_draw_watts")
    assert {value for value, _ in power} == {300} and {value for value, _ in points("gpu1/temperature_gpu_celsius")} == {42}
    assert 10 <= len(power) <= 35
    assert [step for _, step in power] == sorted({step for _, step in power}) and power[-1][1] < 60
    # 8 samples in a tenth of a second, and a little for the loop itself.
    assert all(20 < value < 81 for value, _ in points("throughput/samples_per_second")[5:])
    assert [step for _, step in points("epoch/seconds")] == [29, 59]
    for (joules, _), (seconds, _), (speed, _) in zip(
        points("epoch/gpu1/energy_joules"), points("epoch/seconds"), points("epoch/samples_per_second"), strict=True
    ):
        assert joules == pytest.approx(200 * seconds, rel=0.3)
        assert speed == pytest.approx(30 * 8 / seconds, rel=0.01)
    assert [value for value, _ in points("epoch/gpu0/utilization_percent")] == [30, 30]


def test_a_finding_is_told_once_with_what_it_costs(scenario: Callable[[str], Path]) -> None:
    done = run_python(
        program("""
        with gpu_log(writer, interval=0.5) as gpu:
            end = time.monotonic() + 24
            while time.monotonic() < end:
                time.sleep(0.05)
                gpu.step(samples=10)
        """),
        scenario=scenario(small_kernels()),
    )
    assert done.code == 0
    lines = done.err.splitlines()
    assert len(lines) == 1, lines
    # 3 % of the processors work: 33 times as fast at best. Ten samples in a twentieth of a second are at most 200 a second.
    assert lines[0].startswith("gpulse: problem: launch-bound, GPU 0: Kernels are too small: they run for 60 % of the time")
    assert " (at best 33x faster: " in lines[0] and " samples/s); try: " in lines[0]
    now, best = (float(word) for word in lines[0].split("faster: ")[1].split(" samples/s")[0].split(" -> "))
    assert 100 < now < 200 and best == pytest.approx(now / 0.03, rel=0.02)


def test_a_machine_without_a_gpu_says_so_once_and_has_its_own_values(tmp_path: Path) -> None:
    done = run_python(
        program("""
        with gpu_log(writer, interval=0.1) as gpu:
            with gpu.epoch():
                for _ in range(10):
                    time.sleep(0.05)
                    gpu.step()
        print(sorted({tag for tag, _, _ in writer.points}))
        """)
    )
    assert (done.code, done.out) == (0, "['epoch/seconds', 'host/cpu_percent', 'throughput/steps_per_second']\n")
    lines = done.err.splitlines()
    assert len(lines) == 1 and lines[0].startswith("gpulse: ") and lines[0].endswith(": only the values of the machine are logged")


def test_a_failure_is_told_once_and_the_training_goes_on(two: Path) -> None:
    done = run_python(
        program("""
        class Broken(Writer):
            def add_scalar(self, tag, value, step):
                raise OSError("the disk is full")

        with gpu_log(Broken(), interval=0.05) as gpu:
            for epoch in range(3):
                with gpu.epoch():
                    for _ in range(5):
                        time.sleep(0.05)
                        gpu.step()
        print("trained")
        """),
        scenario=two,
    )
    assert (done.code, done.out) == (0, "trained\n")
    assert done.err == "gpulse: OSError: the disk is full: the training goes on without GPU values\n"


def test_neither_a_missing_library_nor_a_wrong_option_ends_a_training(two: Path) -> None:
    loop = program("""
        with gpu_log(writer, metrics=sys.argv[1:]) as gpu, gpu.epoch():
            gpu.step()
        print("trained", writer.points)
        """)
    done = run_python(loop, scenario=two, GPULSE_LIBRARY="/nonexistent/libgpulse.so")
    assert (done.code, done.out) == (0, "trained []\n") and done.err.startswith("gpulse: LibraryError: ")
    done = run_python(loop, "nosuch_percent", scenario=two)
    assert (done.code, done.out) == (0, "trained []\n") and "nosuch_percent" in done.err and done.err.count("\n") == 1


def test_a_step_costs_next_to_nothing(two: Path) -> None:
    out = output_of(
        program("""
        with gpu_log(writer, interval=1.0) as gpu:
            gpu.step(samples=1)
            times = []
            for _ in range(20000):
                begun = time.perf_counter_ns()
                gpu.step(samples=1)
                times.append(time.perf_counter_ns() - begun)
        print(sorted(times)[len(times) // 2])
        """),
        scenario=two,
    )
    # Under -X dev, on a machine that does other things: some 10 µs, where a training step takes milliseconds.
    assert int(out) < 100_000


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("lightning", "lightning.pytorch or pytorch_lightning"),
        ("transformers", "transformers"),
        ("keras", "keras"),
        ("wandb", "wandb"),
        ("mlflow", "mlflow"),
    ],
)
def test_a_framework_that_is_missing_is_one_sentence(module: str, names: str) -> None:
    out = output_of(
        f"""
        import sys
        for name in ("lightning", "pytorch_lightning", "transformers", "keras", "wandb", "mlflow"):
            sys.modules[name] = None  # as where it is not installed
        try:
            import gpulse.integrations.{module}
        except ImportError as problem:
            print(problem)
        """
    )
    assert out.startswith(f"this part of gpulse needs {names} (") and "): pip install " in out and out.count("\n") == 1


def test_the_package_itself_imports_no_framework() -> None:
    out = output_of(
        """
        import sys
        import gpulse.integrations, gpulse.integrations.tensorboard
        print(sorted({"lightning", "torch", "transformers", "keras", "wandb", "mlflow", "numpy", "tensorboard"} & {*sys.modules}))
        """
    )
    assert out == "[]\n"


RANK = program("""
    import os, pathlib
    with gpu_log(writer, interval=0.2) as gpu:
        until = time.monotonic() + float(sys.argv[1])
        while time.monotonic() < until:
            time.sleep(0.02)
            gpu.step()
        maps = pathlib.Path("/proc/self/maps").read_text()
    print(json.dumps({"tags": sorted({tag for tag, _, _ in writer.points if tag.endswith("watts")}),
                      "power": sorted({value for tag, value, _ in writer.points if tag.endswith("watts")}),
                      "driver": "libnvidia-ml" in maps}))
    """)


def start_ranks(two: Path, folder: Path, agent: Path, seconds: tuple[float, float] = (2, 2)) -> list[subprocess.Popen[str]]:
    """As torchrun starts two ranks on one machine. Each has its own record of what it calls in the driver."""
    return [
        subprocess.Popen(
            [sys.executable, "-c", "import gpulse\n" + RANK, str(seconds[rank])],
            env=python_environment(two, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2", LOCAL_WORLD_SIZE="2",
                                   MASTER_PORT=folder.name, TMPDIR=str(folder), GPULSE_AGENT=str(agent),
                                   GPULSE_SIM_LOG=str(folder / f"calls-{rank}")),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]  # fmt: skip


def ends_of(ranks: list[subprocess.Popen[str]]) -> list[dict[str, object]]:
    told = []
    for rank in ranks:
        out, err = rank.communicate(timeout=60)
        assert (rank.returncode, err) == (0, ""), (out, err)
        told.append(json.loads(out))
    return told


def calls_of(folder: Path) -> list[list[str]]:
    return [path.read_text().splitlines() for path in sorted(folder.glob("calls-*"))]


def test_two_ranks_have_one_sampler_and_each_logs_its_own_gpu(two: Path) -> None:
    with open_folder() as folder:
        told = ends_of(start_ranks(two, folder, folder / "none"))
        assert told == [
            {"tags": ["gpu0/power_draw_watts"], "power": [300], "driver": False},
            {"tags": ["gpu1/power_draw_watts"], "power": [200], "driver": False},
        ]
        # The agent has the record of the rank that started it. Nobody else has ever called the driver.
        [calls] = calls_of(folder)
        assert sum(call.startswith("nvmlInit") for call in calls) == 1
        # It ends with the last rank, and takes its folder along.
        wait_for(lambda: not list(folder.glob("gpulse-*-job-*")), "the job's agent to end")


def test_the_sampler_outlives_the_rank_that_started_it(two: Path) -> None:
    with open_folder() as folder:
        first, second = start_ranks(two, folder, folder / "none", seconds=(60, 4))
        wait_for(lambda: list(folder.glob("gpulse-*-job-*/segment")), "the job's agent")
        time.sleep(1.5)
        first.kill()
        first.communicate()
        [told] = ends_of([second])
        assert told["driver"] is False
        [calls] = calls_of(folder)
        assert sum(call.startswith("nvmlInit") for call in calls) == 1
        wait_for(lambda: not list(folder.glob("gpulse-*-job-*")), "the job's agent to end")


def test_ranks_use_the_agent_of_the_machine_where_one_runs(two: Path) -> None:
    with open_folder() as folder, Agent(folder / "agent", scenario=two):
        told = ends_of(start_ranks(two, folder, folder / "agent"))
        assert [one["driver"] for one in told] == [False, False]
        assert not calls_of(folder) and not list(folder.glob("gpulse-*-job-*"))


def test_ranks_that_may_have_no_agent_read_by_themselves(two: Path) -> None:
    with open_folder() as folder:
        told = ends_of(start_ranks(two, folder, Path("off")))
        assert [one["driver"] for one in told] == [True, True] and [one["power"] for one in told] == [[300], [200]]
        assert not list(folder.glob("gpulse-*-job-*"))


def test_where_only_the_first_rank_can_write_it_logs_those_of_its_machine_and_the_others_do_nothing(
    scenario: Callable[[str], Path],
) -> None:
    """As in Lightning and Transformers: four ranks, two on each of two machines that have a third GPU."""
    out = output_of(
        program("""
        import pathlib
        from gpulse.integrations._log import log_of_node
        from gpulse.integrations._rank import Rank
        from gpulse.integrations.tensorboard import write_to

        def train(rank):
            writer = Writer()
            with log_of_node(lambda: write_to(writer), print, rank, {"interval": 0.1}) as gpu, gpu.epoch():
                for _ in range(10):
                    time.sleep(0.03)
                    gpu.step()
            print(rank.number, sorted({tag.split("/")[0] for tag, _, _ in writer.points}), "libnvidia-ml" in pathlib.Path("/proc/self/maps").read_text())

        train(Rank(1, 1, 4, 2))
        train(Rank(0, 0, 4, 2))
        """),
        scenario=scenario(TWO + '[[device]]\nprofile = "h100"\n'),
    )
    assert out.splitlines() == ["1 [] False", "0 ['epoch', 'gpu0', 'gpu1', 'host', 'throughput'] True"]


def test_launchers_tell_which_rank_this_is() -> None:
    out = output_of(
        """
        import os
        from gpulse.integrations._rank import rank_of_environment
        torchrun = dict(RANK="5", LOCAL_RANK="1", WORLD_SIZE="8", LOCAL_WORLD_SIZE="4")
        srun = dict(SLURM_PROCID="3", SLURM_LOCALID="1", SLURM_STEP_NUM_TASKS="4", SLURM_STEP_TASKS_PER_NODE="2(x2)")
        batch = dict(SLURM_PROCID="0", SLURM_LOCALID="0", SLURM_NTASKS="4")  # one process, whatever the job has
        for variables in ({}, torchrun, srun, batch):
            os.environ.update(variables)
            one = rank_of_environment()
            print(one.number, one.local, one.world, one.local_world)
            for name in variables:
                del os.environ[name]
        """
    )
    assert out.splitlines() == ["0 0 1 1", "5 1 8 4", "3 1 4 2", "0 0 1 1"]
