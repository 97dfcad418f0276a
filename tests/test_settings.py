"""Changing settings, on the simulator and on made-up machines only: no test ever changes a real device.

What the simulator is told it keeps until the program ends; so what a run shows after the change is what it read back.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness import ROOT, Result, gpulse, only_line
from settings_machine import (
    BUS,
    DEVICE,
    FAILURE,
    GOOD,
    NO_DEVICE,
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
    own,
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
        (["persistence", "off"], "persistence mode  on → off"),
        (["compute-mode", "exclusive-process"], "compute mode  default → exclusive process"),
        (["compute-mode", "prohibited"], "compute mode  default → prohibited"),
        (["power-limit", "300W"], "power limit  700 W → 300 W"),
        (["power-limit", "312.5", "W"], "power limit  700 W → 312.5 W"),
        (["clocks", "1200-1980"], "graphics clocks  set to 1200-1980 MHz"),
        (["clocks", "1500"], "graphics clocks  set to 1500 MHz"),
        (["clocks", "default"], "graphics clocks  set to the default"),
        (["memory-clocks", "3201"], "memory clocks  set to 3201 MHz"),
        (["memory-clocks", "default"], "memory clocks  set to the default"),
        (["ecc", "off"], "ECC mode  on → off, from the next restart of the machine on"),
        (["mig", "on"], "MIG mode  off → on"),
        (["accounting", "on"], "accounting mode  off → on"),
        (["application-clocks", "3201,1500"], "application clocks  set to 3201,1500 MHz"),
        (["application-clocks", "default"], "application clocks  set to the default"),
        (["clear-ecc-errors", "volatile"], "volatile ECC error counts cleared"),
        (["clear-accounting"], "accounted processes forgotten"),
    ],
    ids=" ".join,
)
def test_each_setting_in_our_form(free: Path, words: list[str], shown: str) -> None:
    result = own(*words, "--yes", scenario=free)
    assert (result.code, result.out, result.err) == (GOOD, f"GPU 0  NVIDIA H200  {shown}\n", "")


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["persistence", "on"], "persistence mode  on already"),
        (["compute-mode", "default"], "compute mode  default already"),
        (["power-limit", "700"], "power limit  700 W already"),
        (["power-limit", "default"], "power limit  700 W already"),
        (["ecc", "on"], "ECC mode  on already"),
    ],
    ids=" ".join,
)
def test_what_is_so_already_needs_neither_permission_nor_a_yes(closed: Path, words: list[str], shown: str) -> None:
    result = own(*words, scenario=closed)
    assert (result.code, result.out, result.err) == (GOOD, f"GPU 0  NVIDIA H200  {shown}\n", "")


def test_another_user_is_told_to_be_root() -> None:
    result = as_nobody("set", "power-limit", "300", "--yes", text=machine("root"))
    assert result.code == FAILURE
    assert result.out == ""
    assert only_line(result.err) == "gpulse: GPU 0 (NVIDIA H200): power limit not changed: no permission: run as root"


@pytest.mark.parametrize(
    "words",
    [["persistence", "off"], ["compute-mode", "prohibited"], ["power-limit", "300"], ["clocks", "900"], ["ecc", "off"]],
    ids=" ".join,
)
def test_our_form_says_what_the_driver_refused(closed: Path, words: list[str]) -> None:
    result = own(*words, "--yes", scenario=closed)
    line = only_line(result.err)
    assert (result.code, result.out) == (FAILURE, "")
    assert line.startswith("gpulse: GPU 0 (NVIDIA H200): ")
    assert "not changed: no permission" in line


def test_nothing_happens_without_a_yes(free: Path) -> None:
    result = own("power-limit", "300", scenario=free)
    assert (result.code, result.out) == (USAGE, "")
    what = "Set the power limit of GPU 0 (NVIDIA H200) from 700 W to 300 W"
    assert only_line(result.err) == f"gpulse: not confirmed: --yes would do it: {what}"


@pytest.mark.parametrize(("answer", "done"), [("y", True), ("yes", True), ("", False), ("n", False), ("maybe", False)])
def test_a_terminal_is_asked(free: Path, answer: str, done: bool) -> None:
    code, shown = on_terminal(answer, "set", "power-limit", "300W", "-i", "0", scenario=free)
    assert "Set the power limit of GPU 0 (NVIDIA H200) from 700 W to 300 W? [y/N] " in shown
    assert code == (GOOD if done else FAILURE)
    assert ("power limit  700 W → 300 W" in shown) == done
    assert ("gpulse: nothing was changed" in shown) == (not done)


def test_the_question_says_that_all_are_meant(scenario: Scenario) -> None:
    path = scenario(machine("anyone", devices='[[device]]\nprofile = "h200"\ncount = 3\n'))
    _, shown = on_terminal("n", "set", "persistence", "off", scenario=path)
    assert "Set the persistence mode of all 3 GPUs from on to off? [y/N] " in shown
    _, shown = on_terminal("n", "set", "persistence", "off", "-i", "0,2", scenario=path)
    assert "Set the persistence mode of GPUs 0, 2 from on to off? [y/N] " in shown


def test_a_file_of_defaults_cannot_say_yes(free: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("[set]\nyes = true\n")
    result = gpulse("--config", config, "set", "power-limit", "300", scenario=free)
    assert (result.code, result.out) == (USAGE, "")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("1", "Provided power limit 1.00 W is not a valid power limit which should be between 200.00 W and 700.00 W"),
        (
            "100000",
            "Provided power limit 100000.00 W is not a valid power limit which should be between 200.00 W and 700.00 W",
        ),
    ],
)
def test_a_limit_out_of_range_is_not_tried(closed: Path, value: str, shown: str) -> None:
    result = smi("-pl", value, scenario=closed)
    assert (result.code, result.out) == (2, f"{shown} for GPU {BUS}\n{TERMINATING}")
    result = own("power-limit", value, "--yes", scenario=closed)
    assert (result.code, result.out) == (USAGE, "")
    expected = f"gpulse: GPU 0 (NVIDIA H200): a power limit of {value} W is not between 200 W and 700 W"
    assert only_line(result.err) == expected


@pytest.mark.parametrize(
    "words",
    [[], ["colour", "red"], ["ecc"], ["ecc", "maybe"], ["power-limit", "300V"], ["clocks", "9-1"], ["reset", "now"]],
    ids=" ".join,
)
def test_what_cannot_be_set_is_one_line(free: Path, words: list[str]) -> None:
    result = own(*words, "--yes", scenario=free)
    assert (result.code, result.out) == (USAGE, "")
    assert only_line(result.err).startswith("gpulse: ")


def test_an_unknown_device_is_refused(free: Path) -> None:
    result = smi("-i", "7", "-pm", "1", scenario=free)
    assert (result.code, result.out) == (6, "No devices were found\n")
    result = own("persistence", "on", "-i", "7", "--yes", scenario=free)
    assert (result.code, result.out) == (USAGE, "")
    assert "no device" in only_line(result.err)


def test_no_device_at_all(scenario: Scenario, sysroot: Sysroot) -> None:
    result = own("persistence", "on", "--sysroot", sysroot({}), "--yes", scenario=scenario("[driver]\ninit = 9\n"))
    assert (result.code, result.out) == (NO_DEVICE, "")


def test_some_of_several(scenario: Scenario) -> None:
    path = scenario(machine("anyone", devices='[[device]]\nprofile = "h200"\ncount = 4\n'))
    result = own("power-limit", "300", "-i", "3,1", "--yes", scenario=path)
    assert result.lines == [f"GPU {index}  NVIDIA H200  power limit  700 W → 300 W" for index in (1, 3)]
    result = smi("-i", "3,1", "-pm", "0", "--yes", scenario=path)
    assert [line[:34] for line in result.lines] == ["Disabled persistence mode for GPU "] * 2 + ["All done."]


def test_each_device_has_its_line_and_one_failure_is_a_failure(scenario: Scenario) -> None:
    fault = '[[fault]]\ncall = "nvmlDeviceSetPowerManagementLimit"\ndevice = 1\ncode = 4\n'
    path = scenario(machine("anyone", fault, devices='[[device]]\nprofile = "h200"\ncount = 3\n'))
    result = own("power-limit", "300", "--yes", scenario=path)
    assert result.code == FAILURE
    assert result.lines == [f"GPU {index}  NVIDIA H200  power limit  700 W → 300 W" for index in (0, 2)]
    assert only_line(result.err).startswith("gpulse: GPU 1 (NVIDIA H200): power limit not changed: no permission")
    # The original stops at the first.
    result = smi("-pl", "300", "--yes", scenario=path)
    assert result.code == NO_PERMISSION
    assert len(result.lines) == 3
    assert result.lines[2] + "\n" == TERMINATING


def test_a_target_temperature(scenario: Scenario) -> None:
    path = scenario(
        machine("anyone", "threshold_acoustic_min = 65\nthreshold_acoustic_current = 83\nthreshold_acoustic_max = 91\n")
    )
    result = own("target-temperature", "70", "--yes", scenario=path)
    assert (result.code, result.out) == (GOOD, "GPU 0  NVIDIA H200  target temperature  83 °C → 70 °C\n")
    result = own("target-temperature", "99 C", "--yes", scenario=path)
    assert result.code == USAGE
    assert only_line(result.err).endswith("a target temperature of 99 °C is not between 65 °C and 91 °C")


def test_mig_that_has_to_wait_for_a_reset(scenario: Scenario) -> None:
    path = scenario(machine("anyone", "mig_activation = 19\n"))
    result = own("mig", "on", "--yes", scenario=path)
    assert (result.code, result.err) == (GOOD, "")
    assert result.out == "GPU 0  NVIDIA H200  MIG mode  off → on, from the next reset or restart on: in use\n"


@pytest.mark.parametrize(
    ("words", "question"),
    [
        (["clear-ecc-errors", "aggregate"], "Clear the aggregate ECC error counts of GPU 0 (NVIDIA H200)? [y/N] "),
        (["clear-accounting"], "Forget the accounted processes of GPU 0 (NVIDIA H200)? [y/N] "),
        (["mig", "on"], "Set the MIG mode of GPU 0 (NVIDIA H200) from off to on? [y/N] "),
    ],
    ids=str,
)
def test_the_question_says_what_is_done(free: Path, words: list[str], question: str) -> None:
    code, shown = on_terminal("n", "set", *words, scenario=free)
    assert question in shown
    assert code == FAILURE


def test_without_persistence_a_limit_is_soon_forgotten(scenario: Scenario) -> None:
    path = scenario(machine("anyone", "persistence = 0\n"))
    result = own("power-limit", "300", "--yes", scenario=path)
    assert result.out.endswith("power limit  700 W → 300 W, until the driver unloads: persistence mode is off\n")
    result = smi("-lgc", "1500", "--yes", scenario=path)
    assert result.lines[1:3] == [
        "",
        f"Warning: persistence mode is disabled on device {BUS}. See the Known Issues section of the nvidia-smi(1) man "
        "page for more information. Run with [--help | -h] switch to get more information on how to enable persistence "
        "mode.",
    ]


def test_what_a_device_cannot_do(scenario: Scenario) -> None:
    lacks = ('clock_memory = "not supported"', 'clock_graphics = "not supported"', 'power_limit_w = "not supported"')
    path = scenario(machine("anyone", "\n".join(lacks) + "\n"))
    moving_on = "Treating as warning and moving on.\nAll done.\n"
    result = smi("-pl", "300", "--yes", scenario=path)
    expected = f"Changing power management limit is not supported for GPU: {BUS}.\n{moving_on}"
    assert (result.code, result.out) == (GOOD, expected)
    result = smi("-lgc", "900", "--yes", scenario=path)
    assert (result.code, result.out) == (GOOD, f"Setting locked GPU clocks is not supported for GPU {BUS}.\n{moving_on}")
    result = smi("-rmc", "--yes", scenario=path)
    expected = f"Setting locked Memory clocks is not supported for GPU {BUS}.\n{moving_on}"
    assert (result.code, result.out) == (GOOD, expected)
    result = own("clocks", "900", "--yes", scenario=path)
    assert (result.code, result.out) == (FAILURE, "")
    assert only_line(result.err) == "gpulse: GPU 0 (NVIDIA H200): graphics clocks not changed: not supported"


def test_an_old_driver_lacks_the_call(scenario: Scenario) -> None:
    path = scenario('[driver]\nsetters = "anyone"\nmissing = ["nvmlDeviceSetGpuLockedClocks"]\n' + DEVICE)
    result = own("clocks", "900", "--yes", scenario=path)
    assert result.code == FAILURE
    assert "not supported" in only_line(result.err)


def test_a_recording_has_no_settings() -> None:
    result = gpulse("--demo", "set", "persistence", "on", "--yes")
    assert (result.code, result.out) == (USAGE, "")
    assert gpulse("smi", "--demo", "-pm", "1").code == USAGE


def test_a_reset_is_written_to_the_kernels_file(closed: Path, sysroot: Sysroot) -> None:
    root = sysroot({PCI_CLASS: "0x030200\n", RESET: ""})
    result = own("reset", "--sysroot", root, "--yes", scenario=closed)
    assert (result.code, result.out, result.err) == (GOOD, "GPU 0  NVIDIA H200  reset\n", "")
    assert (root / RESET).read_text() == "1"
    (root / RESET).write_text("")
    result = smi("--gpu-reset", "-i", "0", "--sysroot", root, "--yes", scenario=closed)
    assert (result.code, result.out) == (GOOD, f"GPU {BUS} was successfully reset.\n")
    assert (root / RESET).read_text() == "1"


@pytest.mark.parametrize("files", [{}, {PCI_CLASS: "0x030200\n"}, {PCI_CLASS: "0x020000\n", RESET: ""}])
def test_what_cannot_be_reset_is_not(free: Path, sysroot: Sysroot, files: dict[str, str]) -> None:
    """No such device, one without a reset, and one at that address that is a network card."""
    root = sysroot(files)
    result = smi("-r", "--sysroot", root, "--yes", scenario=free)
    assert (result.code, result.out) == (3, f"Resetting GPU {BUS} is not supported.\n")
    result = own("reset", "--sysroot", root, "--yes", scenario=free)
    assert (result.code, result.out) == (FAILURE, "")
    assert only_line(result.err) == "gpulse: GPU 0 (NVIDIA H200): not reset: not supported"
    assert not (root / RESET).exists() or (root / RESET).read_text() == ""


def test_a_device_in_use_is_not_reset(scenario: Scenario, sysroot: Sysroot) -> None:
    process = '[[process]]\ndevice = 0\npid = 4711\ncommand = "python3"\nmemory_mib = 1130\n'
    path = scenario(machine("anyone", process))
    root = sysroot({PCI_CLASS: "0x030200\n", RESET: ""})
    result = own("reset", "--sysroot", root, "--yes", scenario=path)
    assert (result.code, result.out) == (FAILURE, "")
    assert only_line(result.err) == "gpulse: GPU 0 (NVIDIA H200): not reset: in use by 4711 python3"
    result = smi("--gpu-reset", "--sysroot", root, "--yes", scenario=path)
    assert result.code == 255
    assert result.lines[:3] == [
        "The following GPUs could not be reset:",
        f"  GPU {BUS}: In use by another client (4711 python3)",
        "",
    ]
    assert result.lines[3].startswith("1 device is currently being used by one or more other processes (e.g., ")
    assert (root / RESET).read_text() == ""


CARD = "sys/class/drm/card1/device"
CAP = f"{CARD}/hwmon/hwmon5/power1_cap"
AMD = {
    f"{CARD}/uevent": "DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_ID=1002:744C\nPCI_SLOT_NAME=0000:03:00.0\n",
    f"{CARD}/power/runtime_status": "active\n",
    f"{CARD}/hwmon/hwmon5/name": "amdgpu\n",
    CAP: "339000000\n",
    f"{CARD}/hwmon/hwmon5/power1_cap_min": "200000000\n",
    f"{CARD}/hwmon/hwmon5/power1_cap_max": "390000000\n",
    f"{CARD}/hwmon/hwmon5/power1_cap_default": "339000000\n",
    # Keeps the name tables of the machine that runs the test out of it.
    "usr/share/libdrm/amdgpu.ids": "744C,\t0,\tAMD Radeon RX 7900 XTX\n",
    "usr/share/hwdata/pci.ids": "",
    "usr/share/misc/pci.ids": "",
}


@pytest.fixture
def amd(sysroot: Sysroot) -> Path:
    return sysroot(AMD | {f"{CARD}/revision": "0x00\n"})


def amd_set(root: Path, *words: str) -> Result:
    return gpulse("set", *words, "--source", "amdgpu", "--sysroot", root, "--yes")


def test_an_amd_cards_power_limit(amd: Path) -> None:
    result = amd_set(amd, "power-limit", "300W")
    assert (result.code, result.err) == (GOOD, "")
    assert result.out == "GPU 0  AMD Radeon RX 7900 XTX  power limit  339 W → 300 W\n"
    assert (amd / CAP).read_text() == "300000000"
    result = amd_set(amd, "power-limit", "default")
    assert result.out == "GPU 0  AMD Radeon RX 7900 XTX  power limit  300 W → 339 W\n"
    assert (amd / CAP).read_text() == "339000000"


def test_an_amd_card_out_of_range(amd: Path) -> None:
    result = amd_set(amd, "power-limit", "500")
    assert (result.code, result.out) == (USAGE, "")
    assert "not between 200 W and 390 W" in only_line(result.err)
    assert (amd / CAP).read_text() == "339000000\n"


@pytest.mark.parametrize("words", [["persistence", "on"], ["clocks", "900"], ["ecc", "off"]], ids=" ".join)
def test_an_amd_card_has_no_other_settings(amd: Path, words: list[str]) -> None:
    result = amd_set(amd, *words)
    assert (result.code, result.out) == (FAILURE, "")
    assert "not supported" in only_line(result.err)


def test_an_amd_card_without_a_limit(sysroot: Sysroot) -> None:
    root = sysroot({name: text for name, text in AMD.items() if "_cap" not in name})
    result = amd_set(root, "power-limit", "300")
    assert (result.code, result.out) == (FAILURE, "")
    assert "power limit not changed: not supported" in only_line(result.err)


def test_plain_ascii(free: Path) -> None:
    assert own("power-limit", "300", "--ascii", "--yes", scenario=free).out.endswith("700 W -> 300 W\n")


def test_the_page_lists_every_setting() -> None:
    page = (ROOT / "docs" / "drop-in.md").read_text().split("\n## Settings\n")[1]
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| `")]
    words = [row[0].split("`")[1].split()[0] for row in rows[1:]]
    assert words == re.findall(r"^  (\S+) ", gpulse("set", "--help").out.split("\nSettings:\n")[1], re.MULTILINE)
    named = {word for row in rows[1:] for word in re.findall(r"`(-\w+)", row[1])}
    options = gpulse("smi", "-h").out.split("\nSettings, ")[1].split("\ngpulse's own:")[0]
    assert named == set(re.findall(r"(-\w+), --", options))
