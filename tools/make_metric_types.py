#!/usr/bin/env python3
"""Prints python/gpulse/_metrics.pyi: the readings of devices, processes and the host with their types, for type checkers
and editors. Reads `gpulse explain --all --json` from its standard input."""

from __future__ import annotations

import json
import sys

TYPES = {"gauge": "float", "counter": "float", "state": "str", "set": "tuple[str, ...]", "text": "str"}
CLASSES = {"device": "DeviceMetrics", "process": "ProcessMetrics", "host": "HostMetrics"}


def main() -> None:
    metrics = json.load(sys.stdin)["metrics"]
    print("# SPDX-License-Identifier: Apache-2.0")
    print("# Written by `make docs` from the table of metrics.")
    print("from typing import Optional")
    for scope, name in CLASSES.items():
        print(f"\nclass {name}:")
        for metric in metrics:
            if metric["scope"] == scope:
                print("    @property")
                print(f"    def {metric['key']}(self) -> Optional[{TYPES[metric['kind']]}]:")
                text = metric["help"].replace("\\", "\\\\")
                print(f'        """{text}."""')


main()
