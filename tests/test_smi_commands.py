"""The subcommands of gpulse smi that look once, as nvidia-smi 580 answers them: nvlink, mig, compute-policy, topo.

data/h200_commands.txt is what it said on an H200 without NVLink and with MIG off, to each of these command lines. What it says where
there are links and instances are the lines that people have published.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness import ROOT, Result, gpulse
from settings_machine import Scenario, Sysroot, as_nobody
from test_mixed_machine import FILES, LINKS

UUID = "GPU-00000000-1111-2222-3333-444444444444"
H200 = f'[[device]]\nprofile = "h200"\npci_bus_id = "00000000:00:06.0"\nuuid = "{UUID}"\n'


def captured() -> list[tuple[str, str, int]]:
    """The command line, what it printed and how it ended."""
    answers = []
    for part in (ROOT / "tests" / "data" / "h200_commands.txt").read_text().split("##### ")[1:]:
        command, rest = part.split("\n", 1)
        text, code = rest.rsplit("--- rc=", 1)
        answers.append((command, text, int(code)))
    return answers


def smi(line: str, scenario: str | Path) -> Result:
    return gpulse("smi", *line.split(), scenario=scenario)


@pytest.mark.parametrize(("line", "text", "code"), captured(), ids=[line for line, _, _ in captured()])
def test_it_says_what_nvidia_smi_said_on_an_h200(scenario: Scenario, line: str, text: str, code: int) -> None:
    result = smi(line, scenario(H200))
    assert (result.out, result.code, result.err) == (text, code, "")


def links(more: str = "") -> str:
    return (
        f'[[device]]\nprofile = "h100"\nuuid = "{UUID}"\nnvlink_links = 4\nnvlink_down = [2]\n{more}'
        '[[device]]\nprofile = "h200"\n'
    )


HEAD = f"GPU 0: NVIDIA H100 80GB HBM3 (UUID: {UUID})\n"


def test_links_and_their_speed(scenario: Scenario) -> None:
    """A link that is down is told as such; the H200 beside it has none and is left out."""
    result = smi("nvlink --status", scenario(links()))
    up = "26.562 GB/s"
    expected = HEAD + f"\t Link 0: {up}\n\t Link 1: {up}\n\t Link 2: <inactive>\n\t Link 3: {up}\n"
    assert (result.out, result.code) == (expected, 0)


def test_one_link_only(scenario: Scenario) -> None:
    assert smi("nvlink -s -l 3", scenario(links())).out == HEAD + "\t Link 3: 26.562 GB/s\n"


def test_errors_of_a_link(scenario: Scenario) -> None:
    more = "nvlink_replay_errors = 7\nnvlink_recovery_errors = 1\nnvlink_crc_errors = 65535\n"
    result = smi("nvlink -e -l 1 -i 0", scenario(links(more)))
    expected = "\t Link 1: Replay Errors: 7\n\t Link 1: Recovery Errors: 1\n\t Link 1: CRC Errors: 65535\n\n"
    assert result.out == HEAD + expected


def test_capabilities_of_a_link(scenario: Scenario) -> None:
    lines = smi("nvlink -c -l 0", scenario(links())).lines
    assert lines[0] + "\n" == HEAD
    assert lines[1:] == [
        "\t Link 0, P2P is supported: true",
        "\t Link 0, Access to system memory supported: true",
        "\t Link 0, P2P atomics supported: true",
        "\t Link 0, System memory atomics supported: true",
        "\t Link 0, SLI is supported: true",
        "\t Link 0, Link is supported: true",
    ]


def test_the_other_end_of_links(scenario: Scenario) -> None:
    """Those that are down have none."""
    path = scenario(links())
    ends = smi("nvlink -p", path).lines[1:]
    assert [line.split(":")[0] for line in ends] == ["\t Link 0", "\t Link 1", "\t Link 3"]
    address = ends[2].split(": ")[1]
    assert smi("nvlink -R -l 3", path).lines[1] == f"\t Link 3: Remote Device {address}: Link 3"


def test_what_has_passed_over_a_link(scenario: Scenario) -> None:
    """The simulator counts from its start, at a steady rate; raw is a quarter more."""
    path = scenario(links("nvlink_tx_kibs = 4000000\nnvlink_rx_kibs = 8000000\n"))
    result = gpulse("smi", "nvlink", "-gt", "d", "-l", "0", scenario=path, GPULSE_SIM_TIME="1000")
    words = [line.split() for line in result.lines[1:]]
    assert [word[:4] + word[5:] for word in words] == [
        ["Link", "0:", "Data", "Tx:", "KiB"],
        ["Link", "0:", "Data", "Rx:", "KiB"],
    ]
    assert [round(int(word[4]) / 1e9) for word in words] == [1, 2]
    raw = gpulse("smi", "nvlink", "-gt", "r", "-l", "0", scenario=path, GPULSE_SIM_TIME="1000")
    assert [round(int(line.split()[4]) / 1.25e9) for line in raw.lines[1:]] == [1, 2]
    assert "\t Link 0: Raw Tx: " in raw.out


def test_only_what_is_shown_is_read(scenario: Scenario, tmp_path: Path) -> None:
    log = tmp_path / "calls"
    gpulse("smi", "nvlink", "-s", scenario=scenario(links()), GPULSE_SIM_LOG=str(log))
    calls = set(log.read_text().split("\n"))
    assert "nvmlDeviceGetNvLinkState" in calls
    assert not calls & {"nvmlDeviceGetNvLinkCapability", "nvmlDeviceGetNvLinkErrorCounter"}


def instances(line: str, scenario: str | Path = "mig") -> list[str]:
    result = smi(line, scenario)
    assert result.code == 0, result.out + result.err
    return [row for row in result.lines if row.startswith("|   ") and row[4].isdigit()]


def test_gpu_instances() -> None:
    rows = instances("mig -lgi -i 1")
    assert rows == [
        "|   1  MIG 1g.10gb           19       13          6:1     |",
        "|   1  MIG 2g.20gb           14        5          4:2     |",
        "|   1  MIG 4g.40gb            5        1          0:4     |",
    ]


def test_compute_instances() -> None:
    assert instances("mig -lci -i 0 -gi 2,9") == [
        "|   0      9       MIG 1g.10gb          0         0          0:1     |",
        "|   0      2       MIG 3g.40gb          2         0          0:3     |",
    ]


def test_kinds_of_compute_instances() -> None:
    """The one that takes the whole GPU instance is the default, marked with a star."""
    assert instances("mig -lcip -i 0 -gi 3") == [
        "|   0      3       MIG 1c.2g.20gb       0      0/2           14        1     0     0   |",
        "|   0      3       MIG 2g.20gb          1*     0/1           28        1     0     0   |",
    ]


def test_room_for_more_instances(scenario: Scenario) -> None:
    """A 3g.71gb in the upper half of the memory leaves room for three small ones, or one of half the size."""
    split = 'mig = [{ profile = "3g.71gb", gi = 1, ci = 0, start = 4, memory_total_mib = 71424, compute_slices = 3 }]\n'
    rows = instances("mig -lgip", scenario(H200 + split))
    assert [row.split()[3:6] for row in rows] == [
        ["1g.18gb", "19", "4/7"],
        ["1g.18gb+me", "20", "1/1"],
        ["1g.35gb", "15", "2/4"],
        ["2g.35gb", "14", "2/3"],
        ["3g.71gb", "9", "1/2"],
        ["4g.71gb", "5", "1/1"],
        ["7g.141gb", "0", "0/1"],
    ]


def test_a_gpu_that_is_not_split_yet(scenario: Scenario) -> None:
    """nvidia-smi then ends with NVML's "not found"."""
    path = scenario(H200 + "mig_mode = 1\nmig_pending = 1\n")
    result = smi("mig -lgi", path)
    assert (result.out, result.code) == ("No GPU instances found: Not Found\n", 6)
    result = smi("mig -lci", path)
    assert (result.out, result.code) == ("No compute instances found: Not Found\n", 6)


def test_gpus_without_instances(scenario: Scenario) -> None:
    path = scenario('[[device]]\nprofile = "rtx4090"\n')
    assert smi("mig -lgip", path).out == "No MIG-supported devices found.\n"
    assert smi("mig -lgi", path).out == "No MIG-enabled devices found.\n"


def test_instances_are_shown_to_their_owner_only() -> None:
    text = (
        '[[device]]\nprofile = "h200"\n'
        'mig = [{ profile = "7g.141gb", gi = 0, ci = 0, memory_total_mib = 143360, compute_slices = 7 }]\n'
    )
    refused = as_nobody("smi", "mig", "-lgi", text=text)
    expected = "Failed to display GPU instances: Insufficient Permissions\nNo GPU instances found: Insufficient Permissions\n"
    assert (refused.out, refused.code) == (expected, 4)
    profiles = as_nobody("smi", "mig", "-lgip", text=text)
    assert profiles.code == 0 and "MIG 7g.141gb         0     0/1" in profiles.out


@pytest.mark.parametrize(("value", "word"), list(enumerate(["Default", "Short", "Medium", "Long"])))
def test_the_time_slice_is_the_one_that_was_set(scenario: Scenario, value: int, word: str) -> None:
    result = smi("compute-policy -l", scenario(H200 + f"timeslice = {value}\n"))
    assert result.lines[4] == f"|   0   Timeslice       {word:<14}|"


def test_a_driver_that_does_not_tell_the_time_slice_has_none(scenario: Scenario) -> None:
    result = smi("compute-policy -l", scenario(H200 + 'timeslice = "not supported"\n'))
    assert result.code == 0 and "Timeslice" not in result.out


@pytest.mark.parametrize(
    ("status", "word"), [(0, "OK"), (1, "CNS"), (2, "GNS"), (3, "TNS"), (4, "DR"), (5, "NS"), (6, "U"), (77, "U")]
)
def test_who_may_use_whose_memory(scenario: Scenario, status: int, word: str) -> None:
    path = scenario(f'[[device]]\nprofile = "h200"\ncount = 2\n[topology]\np2p = {status}\n')
    lines = smi("topo -p2p r", path).lines
    assert lines[:3] == [" \t\x1b[4mGPU0\tGPU1\t\x1b[0m", f" GPU0\tX\t{word}\t", f" GPU1\t{word}\tX\t"]


def test_a_gpu_that_cannot_be_used_is_unknown_to_the_others(scenario: Scenario) -> None:
    fault = '[[fault]]\ncall = "nvmlDeviceGetP2PStatus"\ndevice = 1\ncode = 999\n'
    path = scenario('[[device]]\nprofile = "h200"\ncount = 3\n' + fault)
    assert smi("topo -p2p w", path).lines[2] == " GPU1\tU\tX\tU\t"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("topo -i 0 -n 1", "Device 0 is connected by way of a single PCIe switch to device(s): 1\n\n"),
        ("topo -i 1 -n 5", "Device 1 is connected by way of an SMP interconnect link between NUMA nodes to device(s): 2\n\n"),
        ("topo -i 0 -n 2", "Device 0 is not connected to other devices by way of potentially multiple PCIe switches.\n\n"),
        ("topo -p -i 0,1", "Device 0 is connected to device 1 by way of a single PCIe switch.\n"),
        ("topo -p -i 2,0", "Device 0 is connected to device 2 by way of an SMP interconnect link between NUMA nodes.\n"),
    ],
)  # fmt: skip
def test_paths_between_gpus(scenario: Scenario, line: str, said: str) -> None:
    path = scenario('[[device]]\nprofile = "h200"\ncount = 3\n[topology]\nlevel = 50\npairs = [[0, 1, 10], [1, 0, 10]]\n')
    result = smi(line, path)
    assert (result.out, result.code) == (said, 0)


@pytest.mark.parametrize(
    "line",
    [
        "nvlink -re", "nvlink --setBandwidthMode FULL", "nvlink -info", "mig -cgi 19", "mig -dgi", "mig -cci",
        "compute-policy --set-timeslice=1", "topo -nvme",
    ],
)  # fmt: skip
def test_what_is_not_offered_is_said_in_one_line(line: str) -> None:
    result = smi(line, "single")
    assert (result.out, result.code) == ("", 255)
    assert result.err.startswith("gpulse: -") and result.err.endswith(" is not offered: use nvidia-smi itself for it\n")


@pytest.mark.parametrize(
    "name",
    [
        "daemon", "replay", "drain", "c2c", "clocks", "encodersessions", "fbcsessions", "vgpu", "boost-slider",
        "power-hint", "base-clocks", "conf-compute", "gpm", "pci", "power-smoothing", "power-profiles", "prm",
    ],
)  # fmt: skip
def test_subcommands_without_a_counterpart_say_what_to_use(name: str) -> None:
    result = smi(f"{name} -h", "single")
    assert (result.out, result.code) == ("", 255)
    assert result.err.startswith(f"gpulse: smi {name} is not offered: ") and result.err.count("\n") == 1


@pytest.mark.parametrize("name", ["nvlink", "mig", "compute-policy", "topo"])
def test_each_has_a_help_of_its_own(name: str) -> None:
    result = smi(f"{name} -h", "single")
    assert result.code == 0
    assert result.out.startswith(f"\n    gpulse smi {name}: ")
    assert result.out == smi(name, "single").out


def test_other_vendors_gpus_have_neither_links_nor_instances(sysroot: Sysroot) -> None:
    root = sysroot(FILES)
    for link, target in LINKS.items():
        (root / link).parent.mkdir(parents=True, exist_ok=True)
        (root / link).symlink_to(target)
    for line in ("nvlink -s", "mig -lgip", "compute-policy -l", "topo -p2p r"):
        result = gpulse("smi", *line.split(), "--sysroot", root, scenario="single")
        assert result.code == 0, line
    assert gpulse("smi", "compute-policy", "-l", "--sysroot", root, scenario="single").out.count("Timeslice") == 1


UNITS = """
==============NVSMI LOG==============

Timestamp                                              : T
Driver Version                                         : 580.159.04
CUDA Version                                           : 13.0

HIC Info                                               : N/A
Attached Units                                         : 0

"""
UNITS_XML = """<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_unit_v13.dtd">
<nvidia_smi_log>
\t<timestamp>T</timestamp>
\t<driver_version>580.159.04</driver_version>
\t<cuda_version>13.0</cuda_version>
\t<hic_info>
\t</hic_info>
\t<attached_units>0</attached_units>
</nvidia_smi_log>
"""


@pytest.mark.parametrize(
    ("line", "text"), [("-q -u", UNITS), ("-q --unit", UNITS), ("-q -u -x", UNITS_XML), ("-q -x -u", UNITS_XML)]
)
def test_there_are_no_units(line: str, text: str) -> None:
    result = smi(line, "single")
    assert (re.sub(r"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}", "T", result.out), result.code) == (text, 0)


def test_a_unit_that_is_not_there() -> None:
    result = smi("-q -u -i 0", "single")
    assert (result.out, result.code) == ("Specified unit index 0 is not valid\n", 2)


def documented() -> dict[str, bool]:
    """Each option that docs/drop-in.md lists, by its name or "subcommand name", and whether it is offered."""
    page = (ROOT / "docs" / "drop-in.md").read_text().split("### Every option of nvidia-smi 580\n")[1].split("\n## ")[0]
    plain, subcommands = page.split("| subcommand |")
    offered = {}
    for row in plain.splitlines():
        if row.startswith("| `"):
            names, what = row.strip("| ").split(" | ")
            for name in re.findall(r"`([^`]+)`", names):
                offered[name] = not what.startswith("no")
    for row in subcommands.splitlines():
        if row.startswith("| `"):
            name, there, missing, _ = row.strip("|").split(" | ", 3)
            for cell, is_there in ((there, True), (missing, False)):
                for option in re.findall(r"`([^`]+)`", cell) or ([""] if cell == "all" else []):
                    offered[f"{name.strip(' `')} {option}".strip()] = is_there
    return offered


def options_of_nvidia_smi() -> list[list[str]]:
    """The lines of nvidia-smi 580's own help: (subcommand,) names."""
    return [line.split() for line in (ROOT / "tests" / "data" / "nvidia_smi_580_options.txt").read_text().splitlines()]


def test_the_page_lists_every_option_of_nvidia_smi() -> None:
    known = documented()
    for words in options_of_nvidia_smi():
        command = [] if words[0].startswith("-") else words[:1]
        name = " ".join([*command, *words[len(command) :][:1]])
        assert name in known, name


@pytest.mark.parametrize("name", documented())
def test_the_page_says_the_truth(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what it does not offer the program says so; what it offers it knows."""
    monkeypatch.chdir(tmp_path)  # some write files
    words = name.split()
    if words[0] in ("dmon", "pmon", "-l", "--loop", "-lms", "--loop-ms"):
        return  # they go on and on
    if name == "--format":
        words.insert(0, "--query-gpu=name")
    answers = [gpulse("smi", *words, *value, scenario="single") for value in ([], ["0"])]
    refused = [result for result in answers if " is not offered: " in result.err]
    assert bool(refused) == (not documented()[name])
    for result in refused:
        assert (result.code, result.out) == (255, "")
    for result in answers:
        assert not re.search(rf'Option "?{re.escape(words[-1])}"? is not recognized', result.out)
