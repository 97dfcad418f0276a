"""The pages that the program prints are the ones in docs/."""

from __future__ import annotations

import subprocess

import pytest

from harness import ROOT, gpulse


@pytest.mark.parametrize(
    "page, arguments",
    [
        ("docs/metrics.md", ["--markdown"]),
        ("docs/findings.md", ["--markdown", "findings"]),
        ("docs/schema/gpulse-1.schema.json", ["--schema"]),
        ("docs/openapi.json", ["--openapi"]),
    ],
)
def test_the_committed_page_is_the_current_one(page: str, arguments: list[str]) -> None:
    assert (ROOT / page).read_text() == gpulse("explain", *arguments).out, f"{page} is out of date: run make docs"


def test_the_types_of_metrics_for_python_are_the_current_ones() -> None:
    told = gpulse("explain", "--all", "--json").out
    made = subprocess.run([ROOT / "tools" / "make_metric_types.py"], input=told, capture_output=True, text=True, check=True)
    assert (ROOT / "python" / "gpulse" / "_metrics.pyi").read_text() == made.stdout, "out of date: run make docs"
