"""The walkthroughs of CONTRIBUTING.md, done word by word in a copy of the tree."""

from __future__ import annotations

from walkthrough import TITLES, follow


def test_they_lead_to_what_they_say() -> None:
    """One after the other, as each builds on the copy of the one before."""
    for title in TITLES:
        follow(title)
