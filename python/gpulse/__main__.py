# SPDX-License-Identifier: Apache-2.0
"""`python -m gpulse` is `gpulse`."""

from __future__ import annotations

import os
import sys

from ._visible import program


def main() -> None:
    path = program()
    try:
        os.execvp(path, ["gpulse", *sys.argv[1:]])
    except OSError as problem:
        sys.exit(f"gpulse: {path} cannot be run: {problem.strerror}: reinstall gpulse")


if __name__ == "__main__":
    main()
