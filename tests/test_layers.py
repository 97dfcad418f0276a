"""The rules that keep one metric and one vendor in one place, held by searching the sources."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness import ROOT, gpulse


def sources(folder: str) -> list[Path]:
    """The product's own files: tests name metrics and vendors as they like."""
    files = [path for pattern in ("*.cpp", "*.hpp") for path in (ROOT / "src" / folder).rglob(pattern)]
    product = [path for path in files if not path.stem.endswith(("_test", "_fuzz", "_bench")) and path.stem != "testing"]
    assert product
    return sorted(product)


# A drop-in is a list of metrics in one vendor's words: that is what it is for.
DROP_IN = ROOT / "src" / "view" / "smi"


def lines_with(pattern: str, folder: str, flags: re.RegexFlag = re.IGNORECASE) -> list[str]:
    expression = re.compile(pattern, flags)
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sources(folder)
        if DROP_IN not in path.parents
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if expression.search(line.split("//")[0])
    ]


# What people type to find processes; each stands for the role that a metric plays.
QUERY_WORDS = {"user", "job", "pod", "container", "command"}


@pytest.mark.parametrize("folder", ["view", "tui"])
def test_no_view_names_a_metric(folder: str) -> None:
    keys = {row["key"] for row in gpulse("explain", "--all", "--json").json["metrics"]}
    assert len(keys) > 100
    # A process has metrics of these names; a device's name and parent are no metrics but part of what it is.
    keys -= {"name", "parent"} | (QUERY_WORDS if folder == "tui" else set())
    assert lines_with('"(' + "|".join(sorted(keys)) + ')"', folder, re.NOFLAG) == []


@pytest.mark.parametrize("folder", ["view", "tui"])
def test_no_view_names_a_vendor(folder: str) -> None:
    # nvidia-smi is a program whose names for metrics the table has as well.
    assert lines_with(r"nvidia(?![-_]smi)|nvml|\bamd|radeon|\bintel\b", folder) == []


@pytest.mark.parametrize("folder", ["base", "term"])
def test_the_lowest_layers_know_nothing_of_gpus(folder: str) -> None:
    assert lines_with(r"gpu(?!lse)|nvidia|nvml|cuda|radeon|graphics", folder) == []


def test_every_file_carries_its_licence() -> None:
    for path in sources("."):
        assert path.read_text().startswith("// SPDX-License-Identifier: Apache-2.0\n"), path
