"""Notebooks with the real Jupyter: run by nbclient, looked at in JupyterLab, and the agent's page behind its proxy."""

from __future__ import annotations

import json
import re
import shutil
import urllib.error
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from agent import open_folder, wait_for
from browser import open_browser, visiting
from harness import ROOT
from jupyter import Lab, execute, html_of, kernel_environment, notebook_of, open_lab
from machines import small_kernels
from web import WebAgent

EXAMPLE = ROOT / "examples" / "python" / "live_plot.ipynb"

# There is something to find, and the power goes up and down.
MACHINE = small_kernels("power_w = { steps = [[0, 200], [2, 600]], period = 4 }")


@pytest.fixture
def env(scenario: Callable[[str], Path], tmp_path: Path) -> dict[str, str]:
    return kernel_environment(scenario(MACHINE), tmp_path)


def points(html: str) -> int:
    """How many steps the longest line of the plot has."""
    return max((line.count("L") for line in re.findall(r'<path d="([^"]*)" fill="none"', html)), default=0)


# -- nbclient


def test_the_plot_is_drawn_anew_every_second_while_the_cell_runs(env: dict[str, str]) -> None:
    client = execute(notebook_of("import gpulse, time\ngpulse.live()\ntime.sleep(6)"), env)
    pictures = [told for told in client.told if told.kind == "update_display_data"]
    idle = [told for told in client.told if told.kind == "status" and told.content["execution_state"] == "idle"]
    assert 5 <= len(pictures) <= 9
    assert all(picture.at <= idle[-1].at for picture in pictures)
    sizes = [points(picture.content["data"]["text/html"]) for picture in pictures]
    assert sizes == sorted(sizes) and sizes[-1] >= sizes[0] + 4
    # One picture stays in the notebook: the last.
    (kept,) = html_of(client.nb.cells[0])
    assert points(kept) == sizes[-1] and "ended with its cell" in kept


def test_a_cell_that_keeps_the_interpreter_busy_loses_no_sample(env: dict[str, str]) -> None:
    """A regular expression that backtracks holds the interpreter's lock: nothing can be drawn, but all is sampled."""
    busy = "import gpulse, re, time\ngpulse.live(interval=0.2)\ntime.sleep(1)\nbegun = time.time()\n"
    busy += "n = 20\nwhile time.time() - begun < 4:\n    re.match('(a+)+b', 'a' * n); n += 1\n"
    client = execute(notebook_of(busy), env)
    (kept,) = html_of(client.nb.cells[0])
    lines = re.findall(r'<path d="([^"]*)" fill="none"', kept)
    assert lines and all(line.count("M") == 1 and line.count("L") >= 15 for line in lines)


def test_a_cell_is_told_what_it_took_and_what_was_wrong(env: dict[str, str]) -> None:
    cells = ("%load_ext gpulse", "%%gpu forward\nimport time\nx = 6\ntime.sleep(4)\nx * 7", "x")
    _, told, after = execute(notebook_of(*cells), env).nb.cells
    (report,) = html_of(told)
    for words in ("<b>forward</b> 4", "90500 / 143771", "problem: launch-bound"):
        assert words in report, words
    # The cell's own result is shown, and what it has set is there afterwards.
    results = [cell["outputs"][-1]["data"]["text/plain"] for cell in (told, after)]
    assert results == ["42", "6"]


def test_a_cell_that_fails_is_told_what_it_took_too(env: dict[str, str]) -> None:
    _, told, after = execute(notebook_of("%load_ext gpulse", "%%gpu\n1 / 0", "2"), env, allow_errors=True).nb.cells
    assert "cell 2" in html_of(told)[0]
    error = told["outputs"][-1]
    assert error["ename"] == "ZeroDivisionError" and any("1 / 0" in line for line in error["traceback"])
    assert after["outputs"][0]["data"]["text/plain"] == "2"


def test_a_plot_between_cells_goes_on_until_it_is_stopped(env: dict[str, str]) -> None:
    cells = ("%load_ext gpulse\n%gpu_live 5m power_draw_watts", "import time; time.sleep(3)", "%gpu_live stop")
    client = execute(notebook_of(*cells), env)
    assert [told.cell for told in client.told if told.kind == "update_display_data"].count(1) >= 2
    (kept,) = html_of(client.nb.cells[0])
    assert "the last 5 min" in kept and "stopped" in kept
    assert html_of(client.nb.cells[1]) == html_of(client.nb.cells[2]) == []


def test_the_example_runs(env: dict[str, str]) -> None:
    _, setup, live, _, measured, _, look = execute(nbformat.read(EXAMPLE, as_version=4), env).nb.cells
    assert setup["outputs"] == []
    assert points(html_of(live)[0]) >= 8
    assert "forward and backward" in html_of(measured)[0]
    assert "NVIDIA H200" in html_of(look)[0]


# -- JupyterLab in a browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture
def lab(env: dict[str, str], tmp_path: Path) -> Iterator[Lab]:
    folder = tmp_path / "notebooks"
    folder.mkdir()
    shutil.copy(EXAMPLE, folder)
    with open_lab(folder, env) as running:
        yield running


def open_notebook(page: Page, lab: Lab) -> None:
    """And runs its first cell: the rest stands on it."""
    page.goto(f"{lab.address}/doc/tree/{EXAMPLE.name}?reset")
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]", timeout=60_000)
    first = page.locator(".jp-CodeCell").first
    run(page, first)
    expect(first.locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]:"), timeout=30_000)


def run(page: Page, cell: Locator) -> None:
    """JupyterLab does not hear the first keys while it gets ready."""

    def is_asked() -> bool:
        if page.locator("dialog.jp-Dialog").count() > 0:  # which kernel is meant
            page.keyboard.press("Enter")
        cell.locator(".cm-content").click()
        page.keyboard.press("Control+Enter")
        page.wait_for_timeout(1000)
        return cell.locator(".jp-InputPrompt").inner_text().strip() != "[ ]:"

    wait_for(is_asked, "the cell to run", 60)


def test_the_plot_moves_in_jupyterlab_while_the_cell_runs(browser: Browser, lab: Lab) -> None:
    with visiting(browser) as visit:
        page = visit.context.new_page()
        open_notebook(page, lab)
        running = page.locator(".jp-CodeCell").nth(1)
        run(page, running)
        plot = running.locator(".gpulse-live svg[role=img]")
        expect(plot).to_be_visible(timeout=30_000)
        seen: set[str] = set()
        while running.locator(".jp-InputPrompt").inner_text().strip() == "[*]:":
            seen.add(plot.inner_html())
            page.wait_for_timeout(200)
        # The cell takes ten seconds.
        assert len(seen) >= 6
        expect(running.locator(".gpulse-live")).to_contain_text("ended with its cell")


def test_a_notebook_of_somebody_else_shows_the_plot_as_an_image(browser: Browser, lab: Lab, env: dict[str, str]) -> None:
    """JupyterLab trusts nothing that it has not run itself."""
    done = execute(notebook_of("import gpulse, time\ngpulse.live()\ntime.sleep(2)"), env).nb
    nbformat.write(done, lab.folder / "done.ipynb")
    with visiting(browser) as visit:
        page = visit.context.new_page()
        page.goto(f"{lab.address}/doc/tree/done.ipynb?reset")
        image = page.locator(".jp-OutputArea-output img")
        expect(image).to_be_visible(timeout=60_000)
        wait_for(lambda: image.evaluate("(image) => image.naturalWidth"), "the image")
        assert page.locator(".jp-OutputArea-output svg").count() == 0


# -- the agent's page through jupyter-server-proxy


def test_the_page_works_behind_the_proxy_and_in_a_frame(browser: Browser, lab: Lab) -> None:
    with open_folder() as folder, WebAgent(folder, "--frame-origin", "self", scenario="eight") as agent:
        below = f"{lab.address}/proxy/{agent.port}/"
        with visiting(browser) as visit:
            page = visit.open(below)
            expect(page.locator(".gpus tbody tr")).to_have_count(8)
            outer = visit.context.new_page()
            outer.goto(f"{lab.address}/lab")
            outer.evaluate("(address) => { document.body.innerHTML = `<iframe src='${address}'></iframe>`; }", below)
            expect(outer.frame_locator("iframe").locator(".status.good")).to_have_count(1)


def test_without_the_option_no_frame_shows_the_page(browser: Browser, lab: Lab) -> None:
    with open_folder() as folder, WebAgent(folder) as agent, visiting(browser) as visit:
        outer = visit.context.new_page()
        refused: list[str] = []
        outer.on("console", lambda line: refused.append(line.text))
        outer.goto(f"{lab.address}/lab")
        address = f"{lab.address}/proxy/{agent.port}/"
        outer.evaluate("(address) => { document.body.innerHTML = `<iframe src='${address}'></iframe>`; }", address)
        wait_for(lambda: outer.wait_for_timeout(50) or any("frame-ancestors" in line for line in refused), "a refusal")
        assert outer.frame_locator("iframe").locator("#main").count() == 0


def test_the_api_and_the_stream_come_through_the_proxy(lab: Lab) -> None:
    with open_folder() as folder, WebAgent(folder, "--allowed-host", "hub.example") as agent:
        below = f"/proxy/{agent.port}/"
        assert json.load(lab.ask(below + "version"))["name"] == "gpulse"
        stream = lab.ask(below + "api/v1/stream?metrics=power_draw_watts", Accept="text/event-stream")
        samples = (line for line in iter(stream.readline, b"") if line.strip() == b"event: sample")
        # They come one by one, while the stream goes on.
        assert [next(samples) for _ in range(3)]
        # The proxy hands on the name by which Jupyter was asked: the agent has to know it.
        assert lab.ask(below + "version", Host="hub.example").status == 200
        with pytest.raises(urllib.error.HTTPError, match="421"):
            lab.ask(below + "version", Host="other.example")
