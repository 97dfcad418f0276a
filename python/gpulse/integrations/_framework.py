# SPDX-License-Identifier: Apache-2.0
"""Frameworks are imported only here, and only by the module that is about them."""

from __future__ import annotations

import importlib
import sys
from typing import Any


def framework(*names: str, install: str) -> Any:
    """The first of these modules that the program uses already, else the first that can be imported."""
    problems: list[str] = []
    for name in sorted(names, key=lambda name: name not in sys.modules):
        try:
            return importlib.import_module(name)
        except ImportError as problem:
            problems.append(str(problem))
    raise ImportError(f"this part of gpulse needs {' or '.join(names)} ({problems[0]}): pip install {install}")
