"""The examples that need no framework, run as they stand. Those with one are run by `make test-integrations`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import ROOT
from python_program import output_of, run_python

EXAMPLES = ROOT / "examples" / "python"
# Each is run by the test of what it shows: tensorboard, regions, devices and pick.
ELSEWHERE = {"background_stats.py", "decorator.py", "five_prints.py", "grab.py"}

# The process grows by 100 MiB a second. 250 W.
MACHINE = """
[[device]]
profile = "h100"
uuid = "GPU-aaaaaaaa-0000-0000-0000-000000000000"
gpu_util = 0
power_w = 250
memory_used_mib = { steps = [[0, 1000], [100, 11000]], linear = true }

[[process]]
device = 0
pid = "self"
command = "python3"
memory_mib = { steps = [[0, 400], [100, 10400]], linear = true }
"""

FREE = """
[[device]]
profile = "h100"
uuid = "GPU-aaaaaaaa-0000-0000-0000-000000000000"
gpu_util = 95
memory_used_mib = 70000

[[device]]
profile = "h100"
uuid = "GPU-bbbbbbbb-0000-0000-0000-000000000000"
gpu_util = 0
memory_used_mib = 10
"""


def test_memory_per_function(scenario: Callable[[str], Path]) -> None:
    out = output_of(EXAMPLES / "memory_per_function.py", scenario=scenario(MACHINE))
    told = re.findall(r"^(\w+), called (\d)x: peak (\d+) MiB, \+(\d+) MiB$", out, re.MULTILINE)
    (name, calls, peak, grown), (first_name, first_calls, first_peak, first_grown) = told
    assert (name, calls, first_name, first_calls) == ("train_epoch", "3", "load_model", "1")
    # Half a second each, one after the other: some 50 MiB, of which a sample every tenth of a second sees its part.
    assert 400 < int(first_peak) < int(peak) and 20 <= int(first_grown) <= 200 and 20 <= int(grown) <= 200


def test_the_energy_of_an_epoch(scenario: Callable[[str], Path]) -> None:
    out = output_of(EXAMPLES / "energy_of_an_epoch.py", scenario=scenario(MACHINE))
    joules, seconds, money = map(float, re.fullmatch(r"(\d+) J in ([\d.]+) s: ([\d.]+) per epoch\n", out).groups())  # type: ignore[union-attr]
    assert joules == pytest.approx(250 * seconds, rel=0.1)
    assert money == pytest.approx(joules / 3.6e6 * 0.3, abs=1e-6)


def test_a_gpu_is_picked_that_is_free(scenario: Callable[[str], Path], tmp_path: Path) -> None:
    out = output_of(EXAMPLES / "pick_a_gpu.py", scenario=scenario(FREE), GPULSE_LEASES=str(tmp_path))
    assert out == "GPU 1, NVIDIA H100 80GB HBM3\nTrue\n"


@pytest.mark.parametrize("name", ["memory_per_function", "energy_of_an_epoch", "pick_a_gpu"])
def test_without_a_gpu_they_say_so(name: str, tmp_path: Path) -> None:
    done = run_python(EXAMPLES / f"{name}.py", GPULSE_LEASES=str(tmp_path))
    assert "Traceback" not in done.err and len((done.out + done.err).splitlines()) <= 2


def test_every_example_is_run_by_some_test() -> None:
    here = set(re.findall(r'EXAMPLES / "(\w+\.py)"', Path(__file__).read_text()))
    assert {path.name for path in EXAMPLES.glob("*.py")} == here | ELSEWHERE
    others = "".join(path.read_text() for path in (ROOT / "tests").glob("test_*.py") if path != Path(__file__))
    assert all(name in others for name in ELSEWHERE)
    with_a_framework = (ROOT / "tests" / "integrations" / "test_frameworks.py").read_text()
    assert all(f'example("{path.stem}"' in with_a_framework for path in (EXAMPLES / "frameworks").glob("*.py"))
