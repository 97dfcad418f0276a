"""What the tests share: places to write scenarios and fake machines into."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Callable

import pytest
from playwright.sync_api import Browser

import harness
from agent import open_folder
from browser import open_browser


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes a worker minutes begins first, while the others do the rest."""
    items.sort(key=lambda item: item.path.name != "test_walkthroughs.py")


@pytest.fixture(scope="session", autouse=True)
def built() -> None:
    for product in (harness.GPULSE, harness.SIM / "libnvidia-ml.so.1"):
        assert product.exists(), f"{product} is missing: run make"


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that every user may look into."""
    with open_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


@pytest.fixture
def scenario(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a scenario of the test's own and gives its path."""

    def write(text: str) -> Path:
        path = tmp_path / "scenario.toml"
        path.write_text(text)
        return path

    return write


@pytest.fixture
def sysroot(tmp_path: Path) -> Callable[[dict[str, str]], Path]:
    """Makes a fake machine out of files below /proc, /sys and /dev."""

    def make(files: dict[str, str]) -> Path:
        root = tmp_path / "machine"
        (root / "proc").mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            path = root / name.lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return root

    return make


STEADY = """
[[device]]
profile = "h200"
count = 8
gpu_util = 57
power_w = 412.5
temperature = 63
[device.gpm]
smutil = 31.25
"""


@pytest.fixture
def steady(tmp_path: Path) -> Path:
    """A machine on which nothing changes."""
    path = tmp_path / "steady.toml"
    path.write_text(STEADY)
    return path
