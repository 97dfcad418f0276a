"""Follows the walkthroughs of CONTRIBUTING.md word by word, in a copy of the tree."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from harness import BUILD, ROOT

# Kept between runs, so that only what has changed is built again.
COPY = BUILD / "walkthrough"
TITLES = ["Add a metric", "Add a vendor", "Add a page to the live view"]


@dataclass
class Block:
    kind: str
    file: str
    text: str


def walkthrough(title: str) -> list[Block]:
    page = (ROOT / "CONTRIBUTING.md").read_text()
    section = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    assert section, f"CONTRIBUTING.md has no section {title}"
    found = re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", section[1], re.MULTILINE | re.DOTALL)
    return [Block(*block) for block in found]


def copy_tree(target: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def apply(block: Block, tree: Path) -> None:
    if block.kind == "diff":
        done = subprocess.run(["git", "apply", "-"], input=block.text, cwd=tree, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    elif block.file:
        (tree / block.file).parent.mkdir(parents=True, exist_ok=True)
        (tree / block.file).write_text(block.text)


def update_copy(stage: Path) -> None:
    """Makes the copy like the stage, touching only what differs."""
    wanted = {path.relative_to(stage) for path in stage.rglob("*") if path.is_file()}
    for path in list(COPY.rglob("*")):
        name = path.relative_to(COPY)
        if path.is_file() and name.parts[0] != "build" and name not in wanted:
            path.unlink()
    for name in wanted:
        target = COPY / name
        if not target.exists() or target.read_bytes() != (stage / name).read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(stage / name, target)


def follow(title: str) -> None:
    """Does what the section says, in a copy of the tree in which those before it were done."""
    with tempfile.TemporaryDirectory() as folder:
        stage = Path(folder)
        copy_tree(stage)
        for done in TITLES[: TITLES.index(title) + 1]:
            blocks = walkthrough(done)
            for block in blocks:
                apply(block, stage)
        update_copy(stage)
    (commands,) = [block.text for block in blocks if block.kind == "sh"]
    (expected,) = [block.text for block in blocks if block.kind == "text"]
    # Unoptimised, because it is only looked at once.
    env = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    env["CMAKE_ARGS"] = "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DGPULSE_TESTS=OFF -DGPULSE_PCH=ON"
    shell = ["nice", "bash", "-euo", "pipefail", "-c", commands]
    built = subprocess.run(shell, cwd=COPY, env=env, text=True, capture_output=True, timeout=900)
    assert built.returncode == 0, built.stdout[-4000:] + built.stderr[-4000:]
    building = re.compile(r"\[\d+/\d+\]|ninja: |-- |Installing |\d+ samples, ")
    shown = [line for line in built.stdout.splitlines() if not building.match(line)]
    assert shown == expected.splitlines()
