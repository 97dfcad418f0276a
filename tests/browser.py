"""A browser for the page: Debian's chromium, driven by playwright. What it complains about fails the test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from agent import wait_for
from harness import BUILD

CHROMIUM = Path("/usr/bin/chromium")


@contextmanager
def open_browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.skip("there is no chromium")
    if "missing" in (BUILD / "web" / "index.html").read_text() or not (BUILD / "web" / "assets").exists():
        pytest.skip("gpulse was built without the page")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield browser
        browser.close()


class Visit:
    """A browser's window, with the complaints of its pages: code that fails, what the page's policy forbids."""

    def __init__(self, browser: Browser, **options: Any) -> None:
        options = {"viewport": {"width": 1400, "height": 900}, "timezone_id": "Europe/Berlin"} | options
        self.context: BrowserContext = browser.new_context(**options)
        self.context.set_default_timeout(10_000)
        self.complaints: list[str] = []

    def open(self, address: str, *, waits: bool = True) -> Page:
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda line: self.complaints.append(line.text) if line.type == "error" else None)
        page.goto(address)
        if waits:
            page.wait_for_selector(".status.good")
        return page

    def close(self) -> None:
        self.context.close()


@contextmanager
def visiting(browser: Browser, **options: Any) -> Iterator[Visit]:
    visit = Visit(browser, **options)
    try:
        yield visit
    finally:
        visit.close()
    # An agent that is gone, or has no sample yet, cannot be asked: that is no fault of the page.
    known = ("net::ERR", "status of 401", "status of 503")
    own = [line for line in visit.complaints if not any(word in line for word in known)]
    assert own == []


def address(port: int, fragment: str = "") -> str:
    return f"http://localhost:{port}/{fragment}"


def until(page: Page, condition: str, seconds: float = 10) -> None:
    """Asked from outside: the page's own policy forbids to evaluate texts in it."""
    wait_for(lambda: page.evaluate(condition), condition, seconds)
