# SPDX-License-Identifier: Apache-2.0
"""Where the gpulse program lies: the native one, never a script of that name, which might start us again."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Optional


def _is_native(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == b"\x7fELF" and os.access(path, os.X_OK)
    except OSError:
        return False


def _recorded() -> Iterator[Path]:
    """Where pip has put it, by its own record."""
    import importlib.metadata  # takes longer than the rest of the package

    try:
        files = importlib.metadata.files("gpulse") or []
    except importlib.metadata.PackageNotFoundError:
        return
    for file in files:
        if file.parts[-2:] == ("bin", "gpulse"):
            yield Path(str(file.locate()))


def _candidates() -> Iterator[Path]:
    named = os.environ.get("GPULSE_PROGRAM")
    if named:
        yield Path(named)
        return
    # After `pip install --target` the record names a place outside that folder, so this comes first.
    yield Path(__file__).parent.parent / "bin" / "gpulse"
    yield from _recorded()
    import sysconfig

    yield Path(sysconfig.get_path("scripts")) / "gpulse"
    yield from (Path(folder) / "gpulse" for folder in os.get_exec_path())


@functools.lru_cache(maxsize=None)
def find_program() -> Optional[str]:
    """Looked for once, when it is first needed."""
    return next((os.path.abspath(path) for path in _candidates() if _is_native(path)), None)


def program() -> str:
    """For the library to start; where there is none, a path that cannot be started."""
    return find_program() or str(Path(__file__).with_name("no-gpulse-program"))


__all__ = ["find_program", "program"]
