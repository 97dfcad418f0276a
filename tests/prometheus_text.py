"""Prometheus' text format 0.0.4, read strictly: https://prometheus.io/docs/instrumenting/exposition_formats/"""

from __future__ import annotations

import re
import subprocess

Series = tuple[str, frozenset[tuple[str, str]]]

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\[\\"n])*)"')
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? (\S+)")


def labels_of(text: str) -> frozenset[tuple[str, str]]:
    found: dict[str, str] = {}
    at = 0
    while at < len(text):
        match = LABEL.match(text, at)
        assert match, text
        assert match[1] not in found, f"{match[1]} twice in {text}"
        found[match[1]] = re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], match[2])
        at = match.end()
        assert at == len(text) or text[at] == ",", text
        at += 1
    return frozenset(found.items())


def parse(text: str) -> dict[Series, float]:
    """Each family in one piece, below its HELP and TYPE; each series once."""
    assert text.endswith("\n")
    series: dict[Series, float] = {}
    types: dict[str, str] = {}
    family = ""
    for line in text.split("\n")[:-1]:
        if line.startswith("# HELP "):
            family = line.split(" ")[2]
            assert family not in types and len(line.split(" ", 3)[3]) > 0, line
            types[family] = ""
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name == family and types[name] == "" and kind in ("gauge", "counter"), line
            types[name] = kind
        else:
            match = SAMPLE.fullmatch(line)
            assert match, line
            assert match[1] == family and types[family], f"{line}: not below its head"
            key = (match[1], labels_of(match[2] or ""))
            assert key not in series, f"{line}: twice"
            series[key] = float(match[3])
    return series


def promtool_says(text: str) -> str:
    """Nothing where all is well."""
    command = ["promtool", "check", "metrics"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=30)
    assert (done.returncode == 0) == (done.stdout + done.stderr == "")
    return done.stdout + done.stderr
