"""The pre-commit hook refuses what it is there for, by what is staged, in a checkout where nothing is built."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from harness import ROOT

HOOK = "tools/hooks/pre-commit"

pytestmark = pytest.mark.skipif(
    shutil.which("clang-format-19") is None or shutil.which("shellcheck") is None, reason="no clang-format-19 or shellcheck here"
)


def git(folder: Path, *words: str, code: int = 0) -> str:
    done = subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@b.c", *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in (HOOK, "tests/layers.py", "docs/architecture.md", ".clang-format"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "config", "core.hooksPath", "tools/hooks")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "first")
    return tmp_path


@pytest.mark.parametrize("name, text, said", [
    ("src/base/text.cpp", "int   badly( int x );\n", "formatting (make format)"),
    ("src/base/text.cpp", '#include "tui/app.hpp"\n', 'src/base/text.cpp:1: src/base may not include "tui/app.hpp"'),
    ("tools/new.sh", "#!/bin/bash\nrm -rf $1\n", "tools/new.sh:2:8: note: Double quote to prevent globbing"),
    ("tools/new.py", "def f(:\n", "tools/new.py:1: invalid syntax"),
    ("README.md", "words  \n", "README.md:1: trailing whitespace."),
])  # fmt: skip
def test_a_fault_is_named_and_refused(checkout: Path, name: str, text: str, said: str) -> None:
    (checkout / name).parent.mkdir(parents=True, exist_ok=True)
    (checkout / name).write_text(text)
    git(checkout, "add", name)
    # What is not staged does not count.
    (checkout / name).write_text("")
    told = git(checkout, "commit", "--message", "second", code=1)
    assert said in told
    assert "pre-commit: not committed: " in told


def test_a_good_commit_passes(checkout: Path) -> None:
    (checkout / "src/base").mkdir(parents=True)
    (checkout / "src/base/text.cpp").write_text('#include "base/text.hpp"\n')
    (checkout / "tools/new.sh").write_text('#!/bin/bash\necho "$1"\n')
    git(checkout, "add", "--all")
    git(checkout, "commit", "--quiet", "--message", "second")
