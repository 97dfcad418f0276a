#!/usr/bin/env python3
"""Makes data/gpu_names/ out of the tables that Debian packages: make_gpu_names.py PCI_IDS AMDGPU_IDS [FOLDER]

PCI_IDS is /usr/share/misc/pci.ids of the package pci.ids, AMDGPU_IDS /usr/share/libdrm/amdgpu.ids of libdrm-common.
Both outputs keep the form of their originals, so that one parser reads them all: of pci.ids the GPUs of three vendors,
by product where the table tells it; of amdgpu.ids everything but the vendor's name."""

from __future__ import annotations

import re
import sys
from pathlib import Path

OUT = Path(__file__).resolve().parent.parent / "data" / "gpu_names"

PCI_LICENCE = """\
# GPUs of pci.ids{version}, made by tools/make_gpu_names.py.
# Copyright (c) 1997-2026 Martin Mares, 2015-2026 Albert Pool. SPDX-License-Identifier: BSD-3-Clause
# See LICENSE in this folder.
"""
AMD_LICENCE = """\
# libdrm's amdgpu.ids, made by tools/make_gpu_names.py.
# Copyright (c) 2014-2024 Advanced Micro Devices, Inc. SPDX-License-Identifier: MIT
# See LICENSE in this folder.
"""

# pci.ids does not tell what a device is, only how it is called. These words outside the brackets are not of a GPU.
NO_GPU = re.compile(
    r"audio|bridge|usb|sata|smbus|\bide\b|ethernet|network|controller|host|memory|\bpci\b|\bpcie\b|isa\b|lpc|ucsi|"
    r"nvswitch|modem|raid|\bport\b|hub|dma|switch|tuner|camera|sensor|security|i2c|\bspi\b|uart|xilleon|theater|"
    r"tv wonder|cryptographic|co-?processor|mcp\d+|nforce|tegra|orin|xavier|thunderbolt|\brp x|registers|connectx|"
    r"bluefield|geode|secondary|root complex|bus|clock|stolen|tdc-|firewire|crush|emulat",
    re.IGNORECASE,
)
# Placeholders inside the brackets.
NO_PRODUCT = re.compile(r"nvswitch|reserved|generic|secondary|unknown", re.IGNORECASE)
INTEL_GPU = re.compile(r"graphics|\bGPU\b|\bArc\b|\bIris\b|\bNPU\b|\bVPU\b", re.IGNORECASE)
INTEL_NO_GPU = re.compile(
    r"audio|bridge|usb|root|port|host|memory|thermal|switch|sensor|trace|telemetry|aperture|dma|sriov|virtual",
    re.IGNORECASE,
)
# Chips that have no product name.
CHIP = {
    "1002": re.compile(r"^[A-Z][A-Za-z0-9 /+-]+$"),
    "10de": re.compile(r"^(NV[0-9]|G[0-9A-Z][0-9A-Zx]+)[0-9A-Za-z /.-]*$"),
}


def product(vendor: str, name: str) -> str | None:
    """What the program shows for a device; None when it is not a GPU."""
    inside = re.search(r"\[(.+)\]", name)
    outside = name[: inside.start()] + name[inside.end() :] if inside else name
    if vendor == "8086":
        if not INTEL_GPU.search(name) or INTEL_NO_GPU.search(name):
            return None
        return inside[1] if inside and INTEL_GPU.search(inside[1]) else name
    if NO_GPU.search(outside):
        return None
    if inside:
        return None if NO_PRODUCT.search(inside[1]) else inside[1]
    return name if CHIP[vendor].match(name) else None


def gpus_of(table: str) -> str:
    out: list[str] = []
    vendor = ""
    for line in table.splitlines():
        if line.startswith("C "):
            break
        if found := re.match(r"([0-9a-f]{4})  (.*)", line):
            vendor = found[1] if found[1] in ("1002", "10de", "8086") else ""
            if vendor:
                out.append(line)
        elif vendor and (found := re.match(r"\t([0-9a-f]{4})  (.*)", line)):
            if name := product(vendor, found[2].strip()):
                out.append(f"\t{found[1]}  {name.strip()}")
    return "\n".join(out) + "\n"


def products_of(table: str) -> str:
    # Of two rows for the same revision libdrm takes the first.
    out: dict[str, str] = {}
    for line in table.splitlines():
        if found := re.match(r"([0-9A-Fa-f]{4}),\s*([0-9A-Fa-f]{1,2}),\s*(?:AMD )?(.*\S)", line):
            out.setdefault(f"{found[1]},{found[2]}", found[3])
    return "".join(f"{ids},{name}\n" for ids, name in out.items())


def main() -> int:
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        return 2
    pci, amd = (Path(name).read_text(encoding="utf-8") for name in sys.argv[1:3])
    out = Path(sys.argv[3]) if len(sys.argv) > 3 else OUT
    version = re.search(r"Version: *(\S+)", pci)
    out.mkdir(parents=True, exist_ok=True)
    text = PCI_LICENCE.format(version=f" {version[1]}" if version else "") + gpus_of(pci)
    (out / "pci.ids").write_text(text, encoding="utf-8")
    (out / "amdgpu.ids").write_text(AMD_LICENCE + products_of(amd), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
