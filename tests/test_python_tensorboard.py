"""The loop of the blog posts, with ten lines of gpulse in it: what TensorBoard itself then shows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # type: ignore[import-untyped]

from harness import ROOT
from python_program import output_of

# Numbers of an H100 that are easily known again: 25 % of 81559 MiB is 20389.75 MiB.
MACHINE = """
[[device]]
profile = "h100"
gpu_util = 37
temperature = 51
power_w = 222
memory_used_mib = 20000
"""


def test_a_training_loop_has_its_gpu_in_tensorboard(scenario: Callable[[str], Path], tmp_path: Path) -> None:
    machine = scenario(MACHINE)
    logdir = tmp_path / "runs"
    out = output_of(ROOT / "examples" / "python" / "background_stats.py", logdir, "30", scenario=machine)
    assert out.startswith("gpu-0: ") and "51 °C, 37 % busy" in out
    assert [path.name for path in logdir.iterdir()] == ["gpu"]
    loaded = EventAccumulator(str(logdir / "gpu"), size_guidance={"scalars": 0}).Reload()
    tags = loaded.Tags()["scalars"]
    assert {"gpu0/memory_used_percent", "gpu0/sm_active_percent", "gpu0/temperature_gpu_celsius", "host/cpu_percent"} <= set(tags)
    for tag, value in (("gpu0/gpu_utilization_percent", 37), ("gpu0/temperature_gpu_celsius", 51), ("gpu0/power_draw_watts", 222)):
        points = loaded.Scalars(tag)
        # Three seconds at one sample a second, on the axis of the thirty steps.
        assert 2 <= len(points) <= 4, tag
        assert [point.step for point in points] == sorted({point.step for point in points})
        assert all(0 <= point.step < 30 and point.value == value for point in points), tag
    percent = loaded.Scalars("gpu0/memory_used_percent")[0].value
    assert 24.5 < percent < 25.5  # 20000 MiB and what the driver keeps for itself


def test_a_program_without_steps_and_one_that_goes_on(scenario: Callable[[str], Path], tmp_path: Path) -> None:
    machine = scenario(MACHINE)
    program = """
        import sys
        with gpulse.Monitor(interval=0.05, sinks=[gpulse.TensorBoard(sys.argv[1], fields=["power_draw_watts"])]) as monitor:
            number = 0
            for _ in range(4):
                sample = monitor.wait(number)
                number = sample.number
        """
    for _ in range(2):
        output_of(program, tmp_path / "runs", scenario=machine)
    # The second one does not touch the run of the first.
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["gpu", "gpu_1"]
    for run in ("gpu", "gpu_1"):
        loaded = EventAccumulator(str(tmp_path / "runs" / run), size_guidance={"scalars": 0}).Reload()
        points = loaded.Scalars("gpu0/power_draw_watts")
        assert [point.step for point in points][:4] == [0, 1, 2, 3] and {point.value for point in points} == {222}
