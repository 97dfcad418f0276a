"""The Debian packages, made from what is built."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from harness import BUILD, ROOT

BUILDER = ROOT / "tools" / "system_packages.py"
# Who makes them, for a lintian that has nothing to say about it.
MAKER = {"DEBFULLNAME": "A Maker", "DEBEMAIL": "maker@gpulse.dev"}


def make_packages(folder: Path, **more: str) -> dict[str, Path]:
    """The packages by name, and the tarball as "tar"."""
    env = os.environ | MAKER | {"GPULSE_BUILD": str(BUILD)} | more
    done = subprocess.run([sys.executable, BUILDER, folder], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    made = [Path(line) for line in done.stdout.split()]
    return {path.name.split("_")[0] if path.suffix == ".deb" else "tar": path for path in made}
