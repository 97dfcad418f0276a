"""Changing settings by nvidia-smi's options, on the simulator and on made-up machines only: no test ever changes a real
device.

What is refused or so already is said word for word as by nvidia-smi 580 on an H200 at 00000000:00:06.0; for changes that
were made the words are those that people have published.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

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
    on_terminal,
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
        (["-ac", "3201,1980"], f'Applications clocks set to "(MEM 3201, SM 1980)" for GPU {BUS}\nAll done.\n'),
        (["-rac"], "All done.\n"),
        (["-mig", "1"], f"Enabled MIG Mode for GPU {BUS}\nAll done.\n"),
        (["--multi-instance-gpu=ENABLED"], f"Enabled MIG Mode for GPU {BUS}\nAll done.\n"),
        (["-am", "1"], f"Enabled Accounting Mode for GPU {BUS}.\nAll done.\n"),
        (["-p", "0"], f"Reset volatile ECC errors to zero for GPU {BUS}.\nAll done.\n"),
        (["-p", "AGGREGATE"], f"Reset aggregate ECC errors to zero for GPU {BUS}.\nAll done.\n"),
        (["-caa"], f"Cleared Accounted PIDs for GPU {BUS}.\nAll done.\n"),
    ],
    ids=" ".join,
)
def test_each_setting_in_nvidia_smis_form(free: Path, words: list[str], shown: str) -> None:
    result = smi(*words, scenario=free)
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
    (["-ac", "3201,1980"], f"The current user does not have permission to change clocks for GPU {BUS}.\n"),
    (["-rac"], f"The current user does not have permission to change clocks for GPU {BUS}.\n"),
    (["-mig", "1"], f"Unable to enable MIG Mode for GPU {BUS}: Insufficient Permissions\n"),
    (["-am", "1"], f"Unable to enable Accounting Mode for GPU {BUS}: Insufficient Permissions\n"),
    (["-p", "1"], f"Unable to reset aggregate ECC errors for GPU {BUS}: Insufficient Permissions\n"),
    (["-caa"], f"Unable to clear Accounted PIDs for GPU {BUS}: Insufficient Permissions\n"),
]
REFUSED_IDS = [" ".join(words) for words, _ in REFUSED]


@pytest.mark.parametrize(("words", "shown"), REFUSED, ids=REFUSED_IDS)
def test_nvidia_smi_says_what_the_driver_refused(closed: Path, words: list[str], shown: str) -> None:
    result = smi(*words, scenario=closed)
    assert (result.code, result.out, result.err) == (NO_PERMISSION, shown + TERMINATING, "")


@pytest.mark.parametrize(("words", "shown"), REFUSED, ids=REFUSED_IDS)
def test_another_user_is_refused_as_by_nvidia_smi(words: list[str], shown: str) -> None:
    result = as_nobody("smi", *words, text=machine("root"))
    assert (result.code, result.out, result.err) == (NO_PERMISSION, shown + TERMINATING, "")


def test_another_user_may_not_reset() -> None:
    result = as_nobody("smi", "--gpu-reset", text=machine("root"))
    assert result.code == NO_PERMISSION
    assert result.out == f"Unable to reset GPU {BUS}: Insufficient Permissions\n{TERMINATING}"


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["-pm", "0"], f"Disabled persistence mode for GPU {BUS}.\nAll done.\n"),
        (["-pl", "300"], f"Power limit for GPU {BUS} was set to 300.00 W from 700.00 W.\nAll done.\n"),
        (["-mig", "1"], f"Enabled MIG Mode for GPU {BUS}\nAll done.\n"),
    ],
    ids=str,
)
def test_who_types_nvidia_smis_words_at_a_terminal_is_not_asked(free: Path, words: list[str], shown: str) -> None:
    assert on_terminal("n", "smi", *words, scenario=free) == (GOOD, f"n\n{shown}")


def test_a_script_resets_without_a_question(free: Path, sysroot: Sysroot) -> None:
    root = sysroot({PCI_CLASS: "0x030200\n", RESET: ""})
    result = smi("--gpu-reset", "--sysroot", root, scenario=free)
    assert (result.code, result.out, result.err) == (GOOD, f"GPU {BUS} was successfully reset.\n", "")
    assert (root / RESET).read_text() == "1"


@pytest.mark.parametrize(("answer", "done"), [("y", True), ("n", False)])
def test_a_terminal_is_asked_before_a_reset(free: Path, sysroot: Sysroot, answer: str, done: bool) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root is asked: others are refused")
    root = sysroot({PCI_CLASS: "0x030200\n", RESET: ""})
    code, shown = on_terminal(answer, "smi", "-r", "--sysroot", str(root), scenario=free)
    assert "Reset GPU 0 (NVIDIA H200)? [y/N] " in shown
    assert (root / RESET).read_text() == ("1" if done else "")
    assert code == (GOOD if done else USAGE)
    assert ("gpulse: nothing was changed" in shown) == (not done)


PENDING = f"Warning: MIG mode is in pending enable state for GPU {BUS}:"


@pytest.mark.parametrize(
    ("activation", "shown"),
    [
        (
            3,
            f"{PENDING}Not Supported\nReboot the system or try nvidia-smi --gpu-reset to make MIG mode effective on GPU "
            f"{BUS}\n",
        ),
        (
            19,
            f"{PENDING}In use by another client\n{BUS} is currently being used by one or more other processes (e.g. CUDA "
            "application or a monitoring application such as another instance of nvidia-smi). Please first kill all "
            "processes using the device and retry the command or reboot the system to make MIG mode effective.\n",
        ),
    ],
    ids=["needs a reset", "in use"],
)
def test_mig_that_has_to_wait_is_a_warning(scenario: Scenario, activation: int, shown: str) -> None:
    path = scenario(machine("anyone", f"mig_activation = {activation}\n"))
    result = smi("-mig", "1", scenario=path)
    assert (result.code, result.out, result.err) == (GOOD, f"{shown}All done.\n", "")


def test_what_a_device_cannot_do_is_a_warning(scenario: Scenario) -> None:
    lacks = ('mig_mode = "not supported"', 'app_clock_memory = "not supported"', 'ecc_mode = "not supported"')
    path = scenario(machine("anyone", "\n".join(lacks) + "\n"))
    moving_on = "Treating as warning and moving on.\nAll done.\n"
    for words, said in (
        (["-mig", "1"], f"Unable to enable MIG Mode for GPU {BUS}: Not Supported\n"),
        (["-ac", "3201,1980"], f"Setting applications clocks is not supported for GPU {BUS}.\n"),
        (["-p", "0"], f"Resetting ECC errors is not supported for GPU {BUS}.\n"),
        (["-gtt", "85"], f"Setting GPU target temperature is not supported for GPU {BUS}.\n"),
    ):
        result = smi(*words, scenario=path)
        assert (result.code, result.out, result.err) == (GOOD, said + moving_on, "")


def test_clocks_that_the_device_does_not_list_are_a_warning(free: Path) -> None:
    result = smi("-ac", "3201,111", scenario=free)
    expected = (
        f'Specified clock combination "(MEM 3201, SM 111)" is not supported for GPU {BUS}. Run '
        "'nvidia-smi -q -d SUPPORTED_CLOCKS' to see list of supported clock combinations\n"
        "Treating as warning and moving on.\nAll done.\n"
    )
    assert (result.code, result.out) == (GOOD, expected)


TARGET = "threshold_acoustic_min = 65\nthreshold_acoustic_current = 83\nthreshold_acoustic_max = 91\n"


def test_a_target_temperature_is_read_back_and_kept_in_its_range(scenario: Scenario) -> None:
    path = scenario(machine("anyone", TARGET))
    result = smi("-gtt", "70", scenario=path)
    expected = f"GPU target temperature for GPU {BUS} was set to 70 C from 83 C.\nAll done.\n"
    assert (result.code, result.out) == (GOOD, expected)
    result = smi("-gtt", "99", scenario=path)
    assert result.code == 2
    assert "99 C is not between 65 C and 91 C" in result.out


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
    result = smi(*words, scenario=free)
    assert (result.code, result.out, result.err) == (2, shown, "")


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "0"])
def test_a_limit_that_is_no_power_reaches_no_driver(scenario: Scenario, value: str) -> None:
    # Without a range to check it against.
    path = scenario(machine("anyone", 'power_min_w = "not supported"\npower_max_w = "not supported"\n'))
    assert smi("-pl", value, scenario=path).code == 2
