"""The walkthroughs of CONTRIBUTING.md, done word by word in a copy of the tree."""

from __future__ import annotations

import pytest

from walkthrough import Walk

TITLES = ["Add a metric", "Add a vendor", "Add a page to the live view"]


@pytest.mark.parametrize("title", TITLES)
def test_leads_to_what_it_says(walk: Walk, title: str) -> None:
    walk.expect(title)
