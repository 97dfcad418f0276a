"""The rules that keep one metric and one vendor in one place, held by searching the sources."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from harness import ROOT, gpulse
from layers import broken_rules, read_rules


def sources(folder: str) -> list[Path]:
    """The product's own files: tests name metrics and vendors as they like."""
    files = [path for pattern in ("*.cpp", "*.hpp") for path in (ROOT / "src" / folder).rglob(pattern)]
    product = [path for path in files if not re.search(r"_(test|fuzz|bench)$|^testing", path.stem)]
    assert product
    return sorted(product)


# A drop-in writes metrics in one vendor's words: that is what it is for. The words themselves are in src/smi.
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


@pytest.mark.parametrize("folder", ["view", "sink", "tui"])
def test_no_view_names_a_metric(folder: str) -> None:
    keys = {row["key"] for row in gpulse("explain", "--all", "--json").json["metrics"]}
    assert len(keys) > 100
    # A process has metrics of these names; a device's name and parent are no metrics but part of what it is.
    keys -= {"name", "parent"} | (QUERY_WORDS if folder == "tui" else set())
    assert lines_with('"(' + "|".join(sorted(keys)) + ')"', folder, re.NOFLAG) == []


@pytest.mark.parametrize("folder", ["view", "sink", "tui"])
def test_no_view_names_a_vendor(folder: str) -> None:
    # nvidia-smi is a program whose names for metrics the table has as well.
    assert lines_with(r"nvidia(?![-_]smi)|nvml|\bamd|radeon|\bintel\b", folder) == []


def test_what_a_source_is_knows_no_vendor() -> None:
    assert lines_with(r"nvidia|nvml|\bamd|radeon|\bintel\b|\bdrm\b", "source/api") == []


def test_xml_is_read_in_one_folder() -> None:
    assert [line for line in lines_with(r"#include <pugixml", ".") if not line.startswith("src/smi/")] == []


@pytest.mark.parametrize("folder", ["base", "term"])
def test_the_lowest_layers_know_nothing_of_gpus(folder: str) -> None:
    assert lines_with(r"gpu(?!lse)|nvidia|nvml|cuda|radeon|graphics", folder) == []


def test_no_folder_includes_what_the_table_forbids() -> None:
    rules = read_rules((ROOT / "docs" / "architecture.md").read_text())
    assert broken_rules(ROOT, rules) == []
    folders = {"/".join(path.relative_to(ROOT / "src").parts[:-1]) for path in (ROOT / "src").rglob("CMakeLists.txt")}
    assert folders - {""} <= rules.uses.keys(), "a folder has no row in docs/architecture.md"


def test_a_wrong_include_is_found(tmp_path: Path) -> None:
    """As if somebody let a view look at the hardware, and the lowest layer at a metric."""
    rules = read_rules((ROOT / "docs" / "architecture.md").read_text())
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    for name, include in {
        "src/view/json.cpp": "source/nvml/device.hpp",
        "src/view/good.cpp": "insight/notices.hpp",
        "src/base/text.cpp": "metric/table.hpp",
        "src/cli/smi.cpp": "source/nvml/excluded.hpp",
        "src/new/file.cpp": "base/text.hpp",
        "src/source/nvml/nvml_test.cpp": "tests/fake_root.hpp",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f'#include "{include}"\n')
    assert sorted(broken_rules(tmp_path, rules)) == [
        'src/base/text.cpp:1: src/base may not include "metric/table.hpp"',
        'src/cli/smi.cpp:1: src/cli may not include "source/nvml/excluded.hpp"',
        "src/new/file.cpp: its folder has no row in docs/architecture.md",
        'src/source/nvml/nvml_test.cpp:1: src/source/nvml may not include "tests/fake_root.hpp"',
        'src/view/json.cpp:1: src/view may not include "source/nvml/device.hpp"',
    ]


def test_what_the_rules_look_at_is_among_what_is_read_for_them() -> None:
    """Else a program that reads nothing but what is asked for would get other findings."""
    named = re.compile(r'(?:device|process|host)_metric\("\w+"\)')
    read = set(named.findall((ROOT / "src" / "insight" / "needs.cpp").read_text()))
    looked_at = set(named.findall((ROOT / "src" / "insight" / "signals.cpp").read_text()))
    assert len(looked_at) > 40
    assert looked_at - read == set()


def test_every_file_carries_its_licence() -> None:
    for path in sources("."):
        assert path.read_text().startswith("// SPDX-License-Identifier: Apache-2.0\n"), path
