"""The values of a log of nvidia-smi one by one: what a test compares between a log and what gpulse makes of it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Iterator

# Where a value lies, and what stands there in the order of the log: a list of clocks has many of one path.
Leaves = dict[str, list[str]]


def plain(text: str | None) -> str:
    return " ".join((text or "").split())


def xml_leaves(document: str) -> Leaves:
    """By path; every GPU, instance and process of its own counts on."""
    leaves: Leaves = defaultdict(list)

    def walk(element: ElementTree.Element, path: str) -> None:
        seen: dict[str, int] = defaultdict(int)
        for key, value in element.attrib.items():
            leaves[f"{path}@{key}"].append(value)
        children = list(element)
        if not children:
            leaves[path].append(plain(element.text))
        for child in children:
            name = child.tag
            if name in ("gpu", "mig_device", "process_info", "accounted_process_info", "supported_mem_clock"):
                name = f"{name}[{seen[child.tag]}]"
            seen[child.tag] += 1
            walk(child, f"{path}/{name}")

    walk(ElementTree.fromstring(document), "")
    return leaves


def text_lines(text: str) -> Iterator[tuple[int, str, str | None]]:
    """Depth, label and value of every line of `nvidia-smi -q`; no value: it begins a group."""
    for line in text.splitlines():
        if not line.strip() or line.startswith("==="):
            continue
        depth = (len(line) - len(line.lstrip())) // 4
        found = re.match(r"\s*(.*?)\s*:(?: (.*))?$", line) if " :" in line or ": " in line else None
        if found is None or line.startswith("GPU 0"):
            yield depth, line.strip(), None
        else:
            yield depth, found.group(1), plain(found.group(2))


def text_leaves(text: str) -> Leaves:
    leaves: Leaves = defaultdict(list)
    above: list[str] = []
    for depth, label, value in text_lines(text):
        del above[depth:]
        path = "/".join([*above, label])
        if value is None:
            above += [""] * (depth - len(above)) + [label]
        else:
            leaves[path].append(value)
            above += [""] * (depth - len(above)) + [label]  # of some values others are a part
    return leaves


def schema_of(document: str) -> str | None:
    found = re.search(r"nvsmi_device_(v\d+)\.dtd", document[:2000])
    return found.group(1) if found else None


def differences(log: Leaves, ours: Leaves) -> list[tuple[str, list[str], list[str]]]:
    return [(path, values, ours.get(path, [])) for path, values in log.items() if ours.get(path, []) != values]
