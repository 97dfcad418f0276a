"""The pages that the program prints are the ones in docs/."""

from __future__ import annotations

import pytest

from harness import ROOT, gpulse


@pytest.mark.parametrize(
    "page, flag", [("docs/metrics.md", "--markdown"), ("docs/schema/gpulse-1.schema.json", "--schema")]
)
def test_the_committed_page_is_the_current_one(page: str, flag: str) -> None:
    assert (ROOT / page).read_text() == gpulse("explain", flag).out, f"{page} is out of date: run make docs"
