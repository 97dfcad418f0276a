"""Changing settings by nvidia-smi's options, on the simulator and on made-up machines only: no test ever changes a real
device.

What is refused or so already is said word for word as by nvidia-smi 580 on an H200 at 00000000:00:06.0; for changes that
were made the words are those that people have published.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness import only_line
from settings_machine import (
    BUS,
    GOOD,
    NO_PERMISSION,
    PCI_CLASS,
    RESET,
    TERMINATING,
    USAGE,
    Scenario,
    Sysroot,
    as_nobody,
    machine,
    smi,
)


@pytest.fixture
def free(scenario: Scenario) -> Path:
    """An H200 on which everybody may do everything."""
    return scenario(machine("anyone"))


@pytest.fixture
def closed(scenario: Scenario) -> Path:
    """An H200 on which nobody may change anything."""
    return scenario(machine("nobody"))


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["-pm", "0"], f"Disabled persistence mode for GPU {BUS}.\nAll done.\n"),
        (["-c", "3"], f"Set compute mode to EXCLUSIVE_PROCESS for GPU {BUS}.\nAll done.\n"),
        (["--compute-mode=PROHIBITED"], f"Set compute mode to PROHIBITED for GPU {BUS}.\nAll done.\n"),
        (["-pl", "300"], f"Power limit for GPU {BUS} was set to 300.00 W from 700.00 W.\nAll done.\n"),
        (["-pl", "700"], f"Power limit for GPU {BUS} was set to 700.00 W from 700.00 W.\nAll done.\n"),
        (["-lgc", "345,1980"], f'GPU clocks set to "(gpuClkMin 345, gpuClkMax 1980)" for GPU {BUS}\nAll done.\n'),
        (["-lgc", "1500"], f'GPU clocks set to "(gpuClkMin 1500, gpuClkMax 1500)" for GPU {BUS}\nAll done.\n'),
        (
            ["-lgc", "tdp,unlimited"],
            f'GPU clocks set to "(gpuClkMin tdp, gpuClkMax unlimited)" for GPU {BUS}\nAll done.\n',
        ),
        (["-rgc"], "All done.\n"),
        (["-lmc", "3201"], f'Memory clocks set to "(memClkMin 3201, memClkMax 3201)" for GPU {BUS}\nAll done.\n'),
        (["-rmc"], "All done.\n"),
        (["-e", "0"], f"Disabled ECC support for GPU {BUS}.\nAll done.\nReboot required.\n"),
    ],
    ids=" ".join,
)
def test_each_setting_in_nvidia_smis_form(free: Path, words: list[str], shown: str) -> None:
    result = smi(*words, "--yes", scenario=free)
    assert (result.code, result.out, result.err) == (GOOD, shown, "")


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["-pm", "1"], f"Persistence mode is already Enabled for GPU {BUS}.\nAll done.\n"),
        (["-c", "0"], f"Compute mode is already set to DEFAULT for GPU {BUS}.\nAll done.\n"),
        (["-c", "DEFAULT"], f"Compute mode is already set to DEFAULT for GPU {BUS}.\nAll done.\n"),
        (["-e", "1"], f"ECC support is already Enabled for GPU {BUS}.\nAll done.\n"),
    ],
    ids=" ".join,
)
def test_nvidia_smi_says_what_is_so_already(closed: Path, words: list[str], shown: str) -> None:
    result = smi(*words, scenario=closed)
    assert (result.code, result.out, result.err) == (GOOD, shown, "")


REFUSED = [
    (["-pm", "0"], f"Unable to set persistence mode for GPU {BUS}: Insufficient Permissions\n"),
    (["-c", "3"], f"Unable to set compute mode for GPU {BUS}: Insufficient Permissions\n"),
    (["-pl", "700"], f"Failed to set power management limit for GPU {BUS}: Insufficient Permissions\n"),
    (["-i", "0", "-pl", "700"], f"Failed to set power management limit for GPU {BUS}: Insufficient Permissions\n"),
    (["-lgc", "345,1980"], f"The current user does not have permission to change clocks for GPU {BUS}.\n"),
    (["-rgc"], f"The current user does not have permission to change clocks for GPU {BUS}.\n"),
    (["-lmc", "3201"], f"The current user does not have permission to change clocks for GPU {BUS}.\n"),
    (["-rmc"], f"The current user does not have permission to change clocks for GPU {BUS}.\n"),
    (["-e", "0"], f"Unable to disable ECC support for GPU {BUS}: Insufficient Permissions\n"),
]
REFUSED_IDS = [" ".join(words) for words, _ in REFUSED]


@pytest.mark.parametrize(("words", "shown"), REFUSED, ids=REFUSED_IDS)
def test_nvidia_smi_says_what_the_driver_refused(closed: Path, words: list[str], shown: str) -> None:
    result = smi(*words, "--yes", scenario=closed)
    assert (result.code, result.out, result.err) == (NO_PERMISSION, shown + TERMINATING, "")


@pytest.mark.parametrize(("words", "shown"), REFUSED, ids=REFUSED_IDS)
def test_another_user_is_refused_as_by_nvidia_smi(words: list[str], shown: str) -> None:
    result = as_nobody("smi", *words, text=machine("root"))
    assert (result.code, result.out, result.err) == (NO_PERMISSION, shown + TERMINATING, "")


def test_another_user_may_not_reset() -> None:
    result = as_nobody("smi", "--gpu-reset", text=machine("root"))
    assert result.code == NO_PERMISSION
    assert result.out == f"Unable to reset GPU {BUS}: Insufficient Permissions\n{TERMINATING}"


@pytest.mark.parametrize("words", [["-pm", "0"], ["-pl", "300"], ["-rgc"], ["--gpu-reset"]], ids=" ".join)
def test_nvidia_smis_form_needs_root_and_a_yes(free: Path, sysroot: Sysroot, words: list[str]) -> None:
    root = sysroot({PCI_CLASS: "0x030200\n", RESET: ""})
    result = smi(*words, "--sysroot", root, scenario=free)
    if os.geteuid() != 0:
        assert result.code == NO_PERMISSION
        assert TERMINATING in result.out
    else:
        assert (result.code, result.out) == (USAGE, "")
        assert only_line(result.err).startswith("gpulse: not confirmed: --yes would do it: ")
    assert (root / RESET).read_text() == ""


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["-pm", "7"], "Invalid persistence mode: 7\nTerminating early due to previous errors.\n"),
        (["-c", "foo"], "ERROR: Option foo is invalid for -c. Please run 'nvidia-smi -h' for help.\n\n"),
        (["-pl", "abc"], "ERROR: Option abc is invalid for -pl. Please run 'nvidia-smi -h' for help.\n\n"),
        (
            ["-lgc", "foo"],
            "Specified clocks \"foo\" are not valid. Please format input as 'gpuClkMin,gpuClkMax' or 'gpuClkVal' e.g. "
            "'--lock-gpu-clocks=1500,1500', '--lock-gpu-clocks=1500', or '--lock-gpu-clocks=tdp,unlimited'\n"
            "Terminating early due to previous errors.\n",
        ),
    ],
    ids=" ".join,
)
def test_nvidia_smi_says_what_is_no_value(free: Path, words: list[str], shown: str) -> None:
    result = smi(*words, "--yes", scenario=free)
    assert (result.code, result.out, result.err) == (2, shown, "")


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "0"])
def test_a_limit_that_is_no_power_reaches_no_driver(scenario: Scenario, value: str) -> None:
    # Without a range to check it against.
    path = scenario(machine("anyone", 'power_min_w = "not supported"\npower_max_w = "not supported"\n'))
    assert smi("-pl", value, "--yes", scenario=path).code == 2
