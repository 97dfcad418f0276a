"""The pytest plugin, as it runs in somebody's project."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import Result, run
from python_program import python_environment

# The process holds 1 GiB until the third second, then 3 GiB. Two hundred watts.
GROWS = """
[[device]]
profile = "h100"
power_w = 200
memory_used_mib = { steps = [[0, 2048], [3, 4096]] }

[[process]]
device = 0
pid = "self"
command = "python3"
memory_mib = { steps = [[0, 1024], [3, 3072]] }
"""

# Memory goes, but the driver knows nothing of the process: as in a container with pids of its own.
UNSEEN = """
[[device]]
profile = "h100"
memory_used_mib = { steps = [[0, 2048], [2, 4096]] }
"""


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., Result]:
    """Runs tests of this text, with the plugin that a wheel would bring."""

    def run_tests(tests: str, *arguments: str, scenario: Path | None, settings: str = "") -> Result:
        folder = tmp_path / "project"
        folder.mkdir()
        (folder / "pytest.ini").write_text(f"[pytest]\naddopts = --strict-markers -p no:cacheprovider\n{settings}")
        (folder / "test_it.py").write_text("import time\nimport pytest\n" + tests)
        words = [sys.executable, "-m", "pytest", "-p", "pytest_gpulse", "-q", "-rA", *arguments, str(folder)]
        return run(words, python_environment(scenario))

    return run_tests


def test_a_budget_of_memory_holds_or_fails(project: Callable[..., Result], scenario: Callable[[str], Path]) -> None:
    done = project(
        """
@pytest.mark.gpu_memory("2GiB")
def test_small():
    time.sleep(0.3)

@pytest.mark.gpu_memory(limit="2GiB")
def test_large():
    time.sleep(4)

@pytest.mark.gpu_memory("2GiB")
def test_that_fails_by_itself():
    assert False, "its own reason"
""",
        scenario=scenario(GROWS),
    )
    assert done.code == 1 and "2 failed, 1 passed" in done.out, done
    assert "held 3 GiB of GPU memory at its peak, and may hold 2 GiB" in done.out
    assert "PASSED" in done.out and "its own reason" in done.out


def test_memory_that_is_left_behind_fails_the_test_that_left_it(
    project: Callable[..., Result], scenario: Callable[[str], Path]
) -> None:
    done = project(
        """
def test_before():
    time.sleep(0.3)

def test_leaks():
    time.sleep(4)

@pytest.mark.gpu_leak_check("4GiB")
def test_after():
    pass
""",
        scenario=scenario(GROWS),
        settings="gpu_leak_check = true\n",
    )
    assert done.code == 1 and "1 failed, 2 passed" in done.out, done
    assert "left 2 GiB of GPU memory behind, and may leave 16 MiB" in done.out and "FAILED" in done.out
    assert "test_it.py::test_leaks" in done.out


def test_a_budget_of_energy(project: Callable[..., Result], scenario: Callable[[str], Path]) -> None:
    done = project(
        """
@pytest.mark.gpu_energy("2kJ")
def test_thrifty():
    time.sleep(3)

@pytest.mark.gpu_energy("300J")
def test_wasteful():
    time.sleep(3)

@pytest.mark.gpu_energy(5)
def test_too_short_to_tell():
    time.sleep(0.05)
""",
        scenario=scenario(GROWS),
    )
    # Three seconds at 200 W are 600 J.
    assert done.code == 1 and "1 failed, 2 passed, 1 warning" in done.out, done
    used = float(done.out.split("used ")[1].split(" J, and may use 300 J")[0])
    assert used == pytest.approx(600, rel=0.15)
    assert "GpuNotMeasuredWarning: gpu_energy was not checked: the test is too short to tell, it used 0 to " in done.out


def test_without_a_gpu_it_is_skipped_with_the_reason(project: Callable[..., Result]) -> None:
    done = project(
        """
@pytest.mark.gpu_memory("2GiB")
def test_measured():
    raise AssertionError("must not run")

def test_other():
    pass
""",
        scenario=None,
    )
    assert done.code == 0 and "1 passed, 1 skipped" in done.out, done
    assert "no GPU to measure the test on: " in done.out


def test_a_process_that_the_driver_does_not_list_is_not_passed_in_silence(
    project: Callable[..., Result], scenario: Callable[[str], Path]
) -> None:
    done = project(
        """
@pytest.mark.gpu_memory("1MiB")
@pytest.mark.gpu_leak_check
def test_measured():
    time.sleep(3)
""",
        scenario=scenario(UNSEEN),
    )
    assert done.code == 0 and "1 passed, 2 warnings" in done.out, done
    assert "gpu_memory was not checked: the driver does not list this process on the GPU" in done.out
    assert "gpu_leak_check was not done: the driver does not list this process on the GPU" in done.out


def test_a_test_can_ask_what_it_took(project: Callable[..., Result], scenario: Callable[[str], Path]) -> None:
    done = project(
        """
def test_region(gpu_region):
    time.sleep(0.3)
    assert gpu_region.name == "test_region"
    assert gpu_region.result.seconds > 0.2
    assert gpu_region.result.devices[0].memory_peak_bytes == 2048 << 20
""",
        scenario=scenario(GROWS),
    )
    assert done.code == 0 and "1 passed" in done.out, done


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        ('gpu_memory("much")', "'much' is no size: write '20GiB' or a number of bytes"),
        ('gpu_energy("5 apples")', "'5 apples' is no energy: write '500J', '2kJ' or '0.1kWh'"),
        ("gpu_memory()", "gpu_memory takes one argument: pytest.mark.gpu_memory(limit)"),
    ],
)
def test_a_mistake_in_a_marker_is_a_sentence(project: Callable[..., Result], mark: str, words: str) -> None:
    done = project(f"@pytest.mark.{mark}\ndef test_it():\n    pass\n", scenario=None)
    assert done.code == 1 and words in done.out, done


def test_where_nobody_asks_it_loads_nothing(project: Callable[..., Result], scenario: Callable[[str], Path]) -> None:
    done = project(
        """
import pathlib, sys, threading

def test_nothing_is_loaded():
    assert "gpulse" not in sys.modules and threading.active_count() == 1
    assert "libgpulse" not in pathlib.Path("/proc/self/maps").read_text()
""",
        scenario=scenario(GROWS),
    )
    assert done.code == 0 and "1 passed" in done.out, done
