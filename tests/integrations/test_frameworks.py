"""The examples with real frameworks, on the simulator: read back by each one's own reader."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # type: ignore[import-untyped]

from harness import ROOT, Result, run
from offline_runs import axes_of, history_of
from python_program import python_environment

EXAMPLES = ROOT / "examples" / "python" / "frameworks"
VALUES = {"gpu0/gpu_utilization_percent": 37, "gpu0/power_draw_watts": 300, "gpu0/temperature_gpu_celsius": 51}
EPOCHS = 2

QUIET = {"HF_HUB_OFFLINE": "1", "WANDB_MODE": "offline", "WANDB_SILENT": "true", "MLFLOW_ALLOW_FILE_STORE": "true",
         "KERAS_BACKEND": "torch", "ACCELERATOR": "cpu", "OMP_NUM_THREADS": "1"}  # fmt: skip

# Lightning has torch ask NVML for GPUs, which then finds the simulator's, and CUDA finds none.
RUNNER = """
import os, runpy, sys
import {package}
os.environ.pop("PYTORCH_NVML_BASED_CUDA_CHECK", None)
sys.argv.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def run_training(path: Path, *arguments: str | Path, scenario: Path, home: Path, package: str = "torch", **more: str) -> Result:
    # Without -W error: what the frameworks warn of is not ours.
    env = python_environment(scenario, **QUIET, HOME=str(home), **more)
    done = run([sys.executable, "-c", RUNNER.format(package=package), path, *arguments], env, timeout=300)
    assert done.code == 0, done.err
    assert "goes on without GPU values" not in done.err, done.err
    return done


def example(name: str, *arguments: str | Path, scenario: Path, home: Path, package: str = "torch", **more: str) -> Result:
    return run_training(EXAMPLES / f"{name}.py", *arguments, scenario=scenario, home=home, package=package, **more)


def check_energy(joules: Sequence[float], seconds: Sequence[float]) -> None:
    assert len(joules) == len(seconds) == EPOCHS
    assert list(joules) == pytest.approx([300 * one for one in seconds], rel=0.15)


def check_board(folder: Path, tags: Iterable[str] = ()) -> None:
    loaded = EventAccumulator(str(folder), size_guidance={"scalars": 0}).Reload()
    assert {*tags, "throughput/samples_per_second"} <= {*loaded.Tags()["scalars"]}
    for tag, value in VALUES.items():
        points = loaded.Scalars(tag)
        assert len(points) >= 3 and {point.value for point in points} == {value}, tag
        assert [point.step for point in points] == sorted({point.step for point in points}), tag
    check_energy(*([point.value for point in loaded.Scalars(f"epoch/{name}")] for name in ("gpu0/energy_joules", "seconds")))


def test_lightning_in_tensorboard_and_csv(steady: Path, tmp_path: Path) -> None:
    example("train_with_lightning", tmp_path / "logs", scenario=steady, home=tmp_path, package="lightning")
    check_board(tmp_path / "logs" / "tensorboard", ["loss"])
    with open(tmp_path / "logs" / "csv" / "metrics.csv") as file:
        rows = list(csv.DictReader(file))
    for name, value in VALUES.items():
        assert {float(row[name]) for row in rows if row[name]} == {value}
    check_energy(*([float(row[name]) for row in rows if row[name]] for name in ("epoch/gpu0/energy_joules", "epoch/seconds")))
    # Fifty steps an epoch: the loss and the GPU have the same axis.
    assert max(int(row["step"]) for row in rows) <= EPOCHS * 50


def test_pytorch_lightning_too(steady: Path, tmp_path: Path) -> None:
    """The same file with the other name of the package."""
    text = (EXAMPLES / "train_with_lightning.py").read_text().replace("lightning.pytorch", "pytorch_lightning")
    changed = tmp_path / "train.py"
    changed.write_text(text.replace("gpulse.integrations.pytorch_lightning", "gpulse.integrations.lightning"))
    run_training(changed, tmp_path / "logs", scenario=steady, home=tmp_path, package="pytorch_lightning")
    check_board(tmp_path / "logs" / "tensorboard", ["loss"])


def test_trainer_in_tensorboard(steady: Path, tmp_path: Path) -> None:
    example("train_with_transformers", tmp_path / "logs", scenario=steady, home=tmp_path)
    check_board(tmp_path / "logs" / "runs" / "gpu")


def test_keras_in_its_history_and_csv(steady: Path, tmp_path: Path) -> None:
    out = example("train_with_keras", tmp_path / "log.csv", scenario=steady, home=tmp_path).out
    assert "epoch/gpu0/utilization_percent [37.0, 37.0]\n" in out
    with open(tmp_path / "log.csv") as file:
        rows = list(csv.DictReader(file))
    check_energy(*([float(row[name]) for row in rows] for name in ("epoch/gpu0/energy_joules", "epoch/seconds")))
    assert all(100 < float(row["epoch/samples_per_second"]) < 320 for row in rows)  # 16 in a twentieth of a second


def test_wandb_offline_on_an_axis_of_its_own(steady: Path, tmp_path: Path) -> None:
    example("log_to_wandb", scenario=steady, home=tmp_path, WANDB_DIR=str(tmp_path))
    [path] = tmp_path.glob("wandb/offline-run-*/run-*.wandb")
    rows = history_of(path)
    for name, value in VALUES.items():
        found = [(row["gpulse/step"], row[f"gpulse/{name}"]) for row in rows if f"gpulse/{name}" in row]
        assert len(found) >= 3 and {one for _, one in found} == {value}
        assert [step for step, _ in found] == sorted({step for step, _ in found}) and found[-1][0] < EPOCHS * 50
    ended = [row for row in rows if "gpulse/epoch/seconds" in row]
    check_energy(*([row[f"gpulse/epoch/{name}"] for row in ended] for name in ("gpu0/energy_joules", "seconds")))
    assert [row["gpulse/step"] for row in ended] == [49, 99]
    assert axes_of(path)["gpulse/*"] == "gpulse/step"


@pytest.mark.parametrize("store", ["file", "sqlite"])
def test_mlflow_in_its_stores(steady: Path, tmp_path: Path, store: str) -> None:
    import mlflow

    where = f"file://{tmp_path}/runs" if store == "file" else f"sqlite:///{tmp_path}/runs.db"
    out = example("log_to_mlflow", scenario=steady, home=tmp_path, MLFLOW_TRACKING_URI=where).out
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    client = mlflow.MlflowClient(where)
    run_id = out.split()[-1]
    for name, value in VALUES.items():
        points = client.get_metric_history(run_id, f"system/{name}")
        assert len(points) >= 3 and {point.value for point in points} == {value}
    check_energy(*([point.value for point in client.get_metric_history(run_id, f"system/epoch/{name}")]
                   for name in ("gpu0/energy_joules", "seconds")))  # fmt: skip


def test_a_writer_of_torch(steady: Path, tmp_path: Path) -> None:
    example("log_to_tensorboard", tmp_path / "runs", scenario=steady, home=tmp_path)
    check_board(tmp_path / "runs")


@pytest.mark.parametrize(("name", "package"), [("train_with_lightning", "lightning"), ("train_with_transformers", "torch")])
def test_a_finding_stands_in_the_log_of_the_run(name: str, package: str, small_kernels: Path, tmp_path: Path) -> None:
    """Ten epochs of two and a half seconds: the first findings come after fifteen."""
    done = example(name, tmp_path / "logs", "10", scenario=small_kernels, home=tmp_path, package=package)
    lines = [line for line in done.err.splitlines() if "launch-bound" in line]
    assert len(lines) == 1, done.err
    # 3 % of the processors work: 33 times as fast at best.
    assert "gpulse: problem: launch-bound, GPU 0: " in lines[0] and "(at best 33x faster: " in lines[0] and " samples/s); try: " in lines[0]


def test_say_which_versions_these_were(capsys: pytest.CaptureFixture[str]) -> None:
    names = ("torch", "lightning", "pytorch-lightning", "transformers", "keras", "wandb", "mlflow", "tensorboard")
    with capsys.disabled():
        print("\n" + ", ".join(f"{name} {version(name)}" for name in names))
