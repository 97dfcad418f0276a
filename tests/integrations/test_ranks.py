"""Two ranks on one machine, started by torchrun: one sampler, and each logs its own GPU."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # type: ignore[import-untyped]

from agent import open_folder, wait_for
from harness import ROOT, run
from python_program import python_environment

TWO = """
[[device]]
profile = "h100"
uuid = "GPU-aaaaaaaa-0000-0000-0000-000000000000"
power_w = 300

[[device]]
profile = "h100"
uuid = "GPU-bbbbbbbb-0000-0000-0000-000000000000"
power_w = 200
"""


def torchrun(program: Path, *arguments: Path, scenario: Path, folder: Path) -> str:
    words = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", program, *arguments]
    env = python_environment(scenario, GPULSE_AGENT=str(folder / "none"), TMPDIR=str(folder), OMP_NUM_THREADS="1",
                             GPULSE_SIM_LOG=str(folder / "calls"), HOME=str(folder))  # fmt: skip
    done = run(words, env, timeout=300)
    assert done.code == 0, done.err
    return done.out


def scalars(folder: Path) -> EventAccumulator:
    return EventAccumulator(str(folder), size_guidance={"scalars": 0}).Reload()


def test_each_rank_logs_its_own_gpu_and_one_sampler_reads_both(scenario: Callable[[str], Path], tmp_path: Path) -> None:
    with open_folder() as folder:
        out = torchrun(ROOT / "tests" / "integrations" / "rank.py", tmp_path, scenario=scenario(TWO), folder=folder)
        told = [json.loads(line) for line in re.findall(r"\{.*?\}", out)]
        assert sorted(told, key=lambda one: one["rank"]) == [{"rank": 0, "driver": False}, {"rank": 1, "driver": False}]
        calls = (folder / "calls").read_text().splitlines()
        assert sum(call.startswith("nvmlInit") for call in calls) == 1
        wait_for(lambda: not list(folder.glob("gpulse-*-job-*")), "the job's agent to end")
    for rank, watts in ((0, 300), (1, 200)):
        loaded = scalars(tmp_path / f"rank{rank}")
        assert [tag for tag in loaded.Tags()["scalars"] if tag.endswith("draw_watts")] == [f"gpu{rank}/power_draw_watts"]
        assert {point.value for point in loaded.Scalars(f"gpu{rank}/power_draw_watts")} == {watts}
