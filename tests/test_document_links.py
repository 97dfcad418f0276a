"""Every file and every heading that the documents lead to is there, and every picture is shown somewhere."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from harness import ROOT

DOCUMENTS = [ROOT / name for name in subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.split()]
LINK = re.compile(r"\]\(([^)\s]+)\)")
ELSEWHERE = re.compile(r"[a-z]+:")


def text_of(document: Path) -> str:
    """Without blocks of code, in which brackets are code."""
    return re.sub(r"^```.*?^```", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)


def anchors(document: Path) -> set[str]:
    """As GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", text_of(document), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda one: str(one.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    for link in LINK.findall(text_of(document)):
        if ELSEWHERE.match(link):
            continue
        name, _, heading = link.partition("#")
        target = document.parent / name if name else document
        assert target.exists(), link
        if heading and target.suffix == ".md":
            assert heading in anchors(target) or f'id="{heading}"' in target.read_text(), link


def test_every_picture_is_shown() -> None:
    shown = {Path(link).name for document in DOCUMENTS for link in LINK.findall(document.read_text())}
    pictures = {path.name for path in (ROOT / "docs" / "pictures").iterdir()}
    assert pictures <= shown
