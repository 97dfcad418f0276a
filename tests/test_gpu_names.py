"""The names of GPUs that are compiled in: how they are made, and that what is committed is well formed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from harness import ROOT

NAMES = ROOT / "data" / "gpu_names"

PCI = """\
#	Version: 2026.01.02
1002  Advanced Micro Devices, Inc. [AMD/ATI]
	731f  Navi 10 [Radeon RX 5600 OEM/5600 XT / 5700/5700 XT]
		1da2 e409  Sapphire Navi 10 [Radeon RX 5600 OEM/5600 XT / 5700/5700 XT]
	73e0  Navi 23
	ab38  Navi 10 HDMI Audio
	4395  SB8x0/SB9x0 SATA Controller [Storage mode]
	5874  RS480 [Radeon Xpress 1150] (Secondary)
10de  NVIDIA Corporation
	1b80  GP104 [GeForce GTX 1080]
	22a3  GH100 [H100 NVSwitch]
	10f0  GP104 High Definition Audio Controller
	03d6  C61 [GeForce 7025 / nForce 630a]
8086  Intel Corporation
	56a5  DG2 [Arc A380]
	0412  Xeon E3-1200 v3/4th Gen Core Processor Integrated Graphics Controller
	7d1d  Meteor Lake NPU
	4f90  DG2 Audio Controller [Arc]
	1533  I210 Gigabit Network Connection
1af4  Red Hat, Inc.
	1050  Virtio 1.0 GPU
C 03  Display controller
	00  VGA compatible controller
"""
AMD = "# List of AMDGPU IDs\n\n1.0.0\n731F,\tC1,\tAMD Radeon RX 5700 XT\n15BF,\tDD,\tAMD Radeon 780M Graphics \n"


def lines(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


def test_gpus_are_taken_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "pci.ids").write_text(PCI)
    (tmp_path / "amdgpu.ids").write_text(AMD)
    tool = [sys.executable, ROOT / "tools" / "make_gpu_names.py"]
    subprocess.run([*tool, tmp_path / "pci.ids", tmp_path / "amdgpu.ids", tmp_path / "out"], check=True)
    assert lines(tmp_path / "out" / "pci.ids") == [
        "1002  Advanced Micro Devices, Inc. [AMD/ATI]",
        "\t731f  Radeon RX 5600 OEM/5600 XT / 5700/5700 XT",
        "\t73e0  Navi 23",
        "10de  NVIDIA Corporation",
        "\t1b80  GeForce GTX 1080",
        "\t03d6  GeForce 7025 / nForce 630a",
        "8086  Intel Corporation",
        "\t56a5  Arc A380",
        "\t0412  Xeon E3-1200 v3/4th Gen Core Processor Integrated Graphics Controller",
        "\t7d1d  Meteor Lake NPU",
    ]
    assert lines(tmp_path / "out" / "amdgpu.ids") == ["731F,C1,Radeon RX 5700 XT", "15BF,DD,Radeon 780M Graphics"]
    assert "GPUs of pci.ids 2026.01.02" in (tmp_path / "out" / "pci.ids").read_text()


def test_committed_tables_are_compact_and_say_whose_they_are() -> None:
    pci, amd = NAMES / "pci.ids", NAMES / "amdgpu.ids"
    assert "BSD-3-Clause" in pci.read_text().splitlines()[1]
    assert "MIT" in amd.read_text().splitlines()[1]
    licence = (NAMES / "LICENSE").read_text()
    for words in ("Martin Mares", "Albert Pool", "Redistributions in binary form", "Permission is hereby granted"):
        assert words in licence
    assert pci.stat().st_size + amd.stat().st_size < 100_000
    assert all(re.fullmatch(r"[0-9a-f]{4}  \S.*|\t[0-9a-f]{4}  \S.*", line) for line in lines(pci))
    rows = lines(amd)
    assert all(re.fullmatch(r"[0-9A-F]{4},[0-9A-F]{2},\S.*", line) for line in rows)
    keys = [row.rsplit(",", 1)[0] for row in rows]
    assert len(keys) == len(set(keys))
