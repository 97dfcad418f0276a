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
    code, seen = on_terminal("n", "smi", *words, scenario=free)
    # The terminal shows the answer that nobody waits for, before or after.
    assert (code, seen.replace("n\n", "", 1) if seen.startswith("n\n") else seen.removesuffix("n\n")) == (GOOD, shown)


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
        (["-gtt", "85"], f"GPU Target Temperature Threshold not supported for GPU {BUS}.\n"),
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
    expected = f"GPU Target Temperature Threshold for GPU {BUS} was set to 70 C from 83 C.\nAll done.\n"
    assert (result.code, result.out) == (GOOD, expected)
    result = smi("-gtt", "99", scenario=path)
    assert result.code == 2
    assert "99 C is not between 65 C and 91 C" in result.out


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["-pm", "7"], "Invalid persistence mode: 7\nTerminating early due to previous errors.\n"),
        (["-e", "9"], "Invalid ECC configuration code: 9\nTerminating early due to previous errors.\n"),
        (["-mig", "7"], "Invalid MIG Mode: 7\nTerminating early due to previous errors.\n"),
        (["-p", "7"], "Invalid ECC type: 7\nTerminating early due to previous errors.\n"),
        (["-am", "7"], "Invalid accounting mode: 7\nTerminating early due to previous errors.\n"),
        (["-mig", "x"], "ERROR: Option x is invalid for -mig. Please run 'nvidia-smi -h' for help.\n\n"),
        (
            ["--multi-instance-gpu=x"],
            "ERROR: Option x is invalid for --multi-instance-gpu=x. Please run 'nvidia-smi -h' for help.\n\n",
        ),
        (["-gtt", "x"], "ERROR: Option x is invalid for -gtt. Please run 'nvidia-smi -h' for help.\n\n"),
        (
            ["-ac", "1,1,1"],
            'Specified clocks "1,1,1" are not valid. Please format input as memClk,smClk e.g. '
            "--applications-clocks=2000,300\nTerminating early due to previous errors.\n",
        ),
        (
            ["-lmc", "x"],
            "Specified clocks \"x\" are not valid. Please format input as 'memClkMin,memClkMax' or 'memClkVal' e.g. "
            "--lock-memory-clocks=5100,5100 or --lock-memory-clocks=5100\n"
            "Terminating early due to previous errors.\n",
        ),
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


@pytest.mark.parametrize("words", [["-mig"], ["-mig", "-i", "0"], ["-ac"], ["-p"], ["-gtt"], ["-am"]], ids=" ".join)
def test_a_setting_without_its_value(free: Path, words: list[str]) -> None:
    result = smi(*words, scenario=free)
    shown = f"ERROR: Option {words[0]} is missing its value. Please run 'nvidia-smi -h' for help.\n\n"
    assert (result.code, result.out) == (255, shown)


@pytest.mark.parametrize("words", [["-mig", "7"], ["-am", "0"], ["-ac", "1,1"], ["-p", "0"], ["-gtt", "1"]], ids=" ".join)
def test_a_device_that_is_not_there_comes_before_a_bad_number(free: Path, words: list[str]) -> None:
    result = smi(*words, "-i", "7", scenario=free)
    assert (result.code, result.out) == (6, "No devices were found\n")


def test_another_user_is_told_first_what_the_board_cannot_do() -> None:
    """As on the H200: -ac of clocks that it does not list, and a target that it does not have, are warnings for anybody."""
    result = as_nobody("smi", "-gtt", "999", text=machine("root"))
    moving_on = "Treating as warning and moving on.\nAll done.\n"
    expected = f"GPU Target Temperature Threshold not supported for GPU {BUS}.\n{moving_on}"
    assert (result.code, result.out) == (GOOD, expected)
    result = as_nobody("smi", "-ac", "1,1", text=machine("root"))
    assert (result.code, result.out[:72]) == (GOOD, 'Specified clock combination "(MEM 1, SM 1)" is not supported for GPU 000')
    result = as_nobody("smi", "-mig", "0", text=machine("root"))
    expected = f"Unable to disable MIG Mode for GPU {BUS}: Insufficient Permissions\n{TERMINATING}"
    assert (result.code, result.out) == (NO_PERMISSION, expected)
    result = as_nobody("smi", "-am", "0", text=machine("root"))
    assert (result.code, result.out) == (GOOD, f"Accounting Mode is already Disabled for GPU {BUS}.\nAll done.\n")


def test_one_setting_at_a_time(free: Path) -> None:
    """A second one is refused before the first is made, never dropped without a word."""
    result = smi("-pm", "0", "-pl", "300", scenario=free)
    expected = "ERROR: Option -pl is not valid for this command. Please run 'nvidia-smi -h' for help.\n\n"
    assert (result.code, result.out) == (2, expected)


@pytest.mark.parametrize(
    "words",
    [
        ["-lmcd", "3201"], ["-rmcd"], ["-cc", "1"], ["--gom=0"], ["-vm", "3"], ["-lgc", "900", "-m", "1"],
        ["-pl", "300", "-sc", "1"], ["--auto-boost-default=0"], ["--auto-boost-permission=0"], ["-den", "1"],
        ["--set-hostname=n7"], ["--get-hostname"], ["-t", "1"], ["--debug=log"], ["-col"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_options_without_a_counterpart_are_refused_before_anything_is_done(free: Path, words: list[str]) -> None:
    result = smi(*words, scenario=free)
    assert (result.code, result.out) == (255, "")
    assert only_line(result.err).endswith(" is not offered: use nvidia-smi itself for it")


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "0"])
def test_a_limit_that_is_no_power_reaches_no_driver(scenario: Scenario, value: str) -> None:
    # Without a range to check it against.
    path = scenario(machine("anyone", 'power_min_w = "not supported"\npower_max_w = "not supported"\n'))
    assert smi(f"--power-limit={value}", scenario=path).code == 2
