# SPDX-License-Identifier: Apache-2.0
"""`python -m gpulse` is `gpulse`."""

from __future__ import annotations

import os
import sys

from ._program import find_program


def main() -> None:
    path = find_program()
    if path is None:
        named = os.environ.get("GPULSE_PROGRAM")
        sys.exit(f"gpulse: GPULSE_PROGRAM={named} is not the gpulse program: set it right, or not at all" if named
                 else "gpulse: the gpulse program is not installed: reinstall gpulse, or set GPULSE_PROGRAM")  # fmt: skip
    try:
        os.execv(path, ["gpulse", *sys.argv[1:]])
    except OSError as problem:
        sys.exit(f"gpulse: {path} cannot be run: {problem.strerror}: reinstall gpulse")


if __name__ == "__main__":
    main()
