"""What a notebook gets to see of the Python package, without a notebook: HTML of results, and the plot that moves.

A stand-in for IPython keeps what would be displayed. tests/integrations/test_notebook.py uses the real thing.
"""

from __future__ import annotations

import base64
import json
import re
import textwrap
import xml.etree.ElementTree
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from harness import MIB, ROOT
from machines import small_kernels
from python_program import output_of, run_python

# The second GPU is lost from second 7 to 11; what the processes call themselves is hostile.
MACHINE = """
[[device]]
profile = "h100"
uuid = "GPU-aaaaaaaa-0000-0000-0000-000000000000"
power_w = 111
gpu_util = 37
memory_used_mib = 4096

[[device]]
profile = "h100"
uuid = "GPU-bbbbbbbb-0000-0000-0000-000000000000"
name = "<script>alert(1)</script>"
power_w = 222
gpu_util = 74
lost = [[7, 11]]

[[process]]
device = 0
pid = 4000001
command = "<img src=x onerror=alert(1)>"
memory_mib = 1130
"""

# IPython as far as the package uses it: what is displayed is kept, and a cell ends when the test says so.
STAND_IN = '''
import sys, types

class Shown(list):
    def update(self, bundle, raw):
        self.append(bundle["text/html"])

class Events:
    def __init__(self): self.ended = []
    def register(self, name, function): self.ended.append(function)
    def unregister(self, name, function): self.ended.remove(function)
    def end_cell(self):
        for function in list(self.ended): function(None)

shown = Shown()
shell = types.SimpleNamespace(kernel=object(), events=Events())

def display(bundle, raw, display_id):
    shown.append(bundle["text/html"])
    return shown

sys.modules["IPython"] = types.ModuleType("IPython")
sys.modules["IPython"].get_ipython = lambda: shell
sys.modules["IPython.display"] = types.ModuleType("IPython.display")
sys.modules["IPython.display"].display = display
'''

HARMLESS = {"div", "span", "b", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "style", "svg", "g", "path", "text",
            "title", "tspan", "details", "summary", "img"}  # fmt: skip

IMAGE = "data:image/svg+xml;base64,"


class Reader(HTMLParser):
    """The text of a piece of HTML, in which nothing but harmless elements may stand, and nothing of another address."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.paths: list[dict[str, str | None]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag in HARMLESS, tag
        for name, value in attributes:
            assert not name.startswith("on") and name != "href", name
            assert name != "src" or (value or "").startswith(IMAGE), value
            assert "http" not in (value or "") or name == "xmlns", value
        if tag == "path":
            self.paths.append(dict(attributes))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return "\n".join(self.texts)


@pytest.fixture
def machine(scenario: Callable[[str], Path]) -> Path:
    return scenario(MACHINE)


def notebook(program: str, machine: Path | None, timeout: float = 60) -> str:
    return output_of(STAND_IN + textwrap.dedent(program), scenario=machine, timeout=timeout)


# -- results


def test_a_sample_and_a_device_are_tables_and_hostile_names_are_text(machine: Path) -> None:
    out = output_of(
        """
        import json
        sample = gpulse.snapshot("all")
        print(json.dumps([sample._repr_html_(), sample.devices[0]._repr_html_()]))
        """,
        scenario=machine,
    )
    sample, device = map(Reader, json.loads(out))
    assert "<script>alert(1)</script>" in sample.text and "<img src=x onerror=alert(1)>" in sample.text
    for text in ("37 %", "4.0 GiB", "111.0 W", "222.0 W", "1.1 GiB", "4000001"):
        assert text in sample.texts, text
    # In the words of the metric table, with the attribute's own name.
    assert device.texts[device.texts.index("power_draw_watts") + 1] == "111.0 W"
    assert "fan_speed_percent" not in device.texts  # it has none: reason() says why


def test_a_region_the_report_and_the_past_are_tables(machine: Path) -> None:
    out = output_of(
        """
        import json, time
        with gpulse.region("<b>forward</b>") as forward:
            time.sleep(0.5)
        result = forward.settle()
        with gpulse.Monitor(interval=0.1, metrics="power_draw_watts") as monitor:
            time.sleep(1.6)
            past = monitor.history()
        print(json.dumps([result._repr_html_(), gpulse.report()._repr_html_(), past._repr_html_(), len(past)]))
        """,
        scenario=machine,
    )
    *pieces, rows = json.loads(out)
    result, report, past = map(Reader, pieces)
    assert "<b>forward</b>" in result.text and "4096 / 81559" in result.texts and "37" in result.texts
    assert "<b>forward</b>" in report.texts and "1" in report.texts
    assert past.texts.count("111.0 W") == past.texts.count("222.0 W") == 5  # the first five rows and the last
    assert f"{rows} rows" in past.text and rows > 20


def test_findings_are_a_list_that_shows_evidence_and_advice(scenario: Callable[[str], Path]) -> None:
    out = output_of(
        """
        import json
        found = gpulse.diagnose("4s")
        print(json.dumps([isinstance(found, list), [one.id for one in found], found._repr_html_(),
                          found[0].advice, type(found)()._repr_html_()]))
        """,
        scenario=scenario(small_kernels()),
    )
    is_list, ids, html, advice, empty = json.loads(out)
    assert is_list and "launch-bound" in ids
    told = Reader(html)
    assert "problem: launch-bound" in told.texts
    assert advice and all(one in told.texts for one in advice)
    assert Reader(empty).texts == ["no findings"]


# -- the plot


def test_the_plot_moves_while_a_cell_runs_and_ends_with_it(machine: Path) -> None:
    out = notebook(
        """
        import json, time, threading
        live = gpulse.live(metrics=["power_draw_watts", "gpu_utilization_percent"])
        time.sleep(4.2)
        during = len(shown)
        shell.events.end_cell()
        ended = len(shown)
        time.sleep(1.5)
        print(json.dumps([during, ended, len(shown), live.running, threading.active_count(), shown[-1], max(map(len, shown))]))
        """,
        machine,
    )
    during, ended, later, running, threads, last, size = json.loads(out)
    assert 4 <= during <= 7  # about one picture a second, after the first words
    assert ended == later and not running and threads == 1  # nothing goes on
    assert "ended with its cell" in last and "background" not in last
    picture = Reader(last)
    for text in ("111.0 W", "222.0 W", "37 %", "74 %", "GPU 0 NVIDIA H100"):
        assert text in picture.text, text
    assert "<script>alert(1)</script>" in picture.text
    assert "known since" in picture.text  # it has not watched for a minute yet
    assert size < 30_000


def test_the_last_picture_is_an_image_too_for_those_who_trust_nobody(machine: Path) -> None:
    """What a front end leaves that takes elements and style sheets out, as JupyterLab does with foreign notebooks."""
    out = notebook(
        """
        import json, time
        with gpulse.live(metrics="power_draw_watts"):
            time.sleep(2.5)
        print(json.dumps(shown))
        """,
        machine,
    )
    *before, last = json.loads(out)
    assert IMAGE not in "".join(before)
    image = base64.b64decode(last.partition(IMAGE)[2].partition('"')[0]).decode()
    texts = [element.text for element in xml.etree.ElementTree.fromstring(image).iter() if element.tag.endswith("text")]
    assert "GPU 0 NVIDIA H100 80GB HBM3" in texts and "GPU 1 <script>alert(1)</script>" in texts
    assert ".fallback{display:none}" in last  # it is not seen where all of it is left


def test_a_gap_is_a_gap(machine: Path) -> None:
    out = notebook(
        """
        import json, time
        live = gpulse.live(metrics="power_draw_watts", devices="all", interval=0.2)
        time.sleep(13)
        live.stop()
        print(json.dumps(shown[-1]))
        """,
        machine,
    )
    picture = Reader(json.loads(out))
    lines = [path["d"] or "" for path in picture.paths if path.get("fill") == "none"]
    # Of two GPUs; the second was lost for four seconds.
    assert [line.count("M") for line in lines] == [1, 2]
    before, after = (stretch.split("L") for stretch in lines[1][1:].split("M"))
    gap = float(after[0].split()[0]) - float(before[-1].split()[0])
    rules = [path["d"] or "" for path in picture.paths if path.get("stroke") == "currentColor"]
    minute = next(float(rule.partition("h")[2]) for rule in rules if "h" in rule)  # the width of the plot
    # It takes a moment to be found again.
    assert 3.5 < 60 * gap / minute < 8


def test_a_plot_that_runs_in_the_background_goes_on_after_the_cell(machine: Path) -> None:
    out = notebook(
        """
        import time
        live = gpulse.live(background=True)
        shell.events.end_cell()
        time.sleep(2.5)
        print(live.running, len(shown) >= 3)
        live.stop()
        live.stop()
        print(live.running, "stopped" in shown[-1])
        """,
        machine,
    )
    assert out == "True True\nFalse True\n"


def test_a_plot_of_a_monitor_that_runs_shows_its_past_and_leaves_it_running(machine: Path) -> None:
    out = notebook(
        """
        import re, time
        with gpulse.Monitor("all", interval=0.2) as monitor:
            time.sleep(3)
            with gpulse.live(monitor=monitor, metrics="power_draw_watts"):
                time.sleep(0.5)
            print(monitor.closed, len(re.findall("L", shown[-1])) > 20)
        """,
        machine,
    )
    assert out == "False True\n"


def test_many_gpus_share_a_line(scenario: Callable[[str], Path]) -> None:
    steps = "[[0, 100], [1000000, 100]]"
    many = f'[[device]]\nprofile = "h100"\ncount = 17\npower_w = 100\n[[device]]\nprofile = "h100"\npower_w = {{ steps = {steps} }}\n'
    out = notebook(
        """
        import json, time
        with gpulse.live(metrics="power_draw_watts", devices="all"):
            time.sleep(2.5)
        print(json.dumps(shown[-1]))
        """,
        scenario(many),
    )
    picture = Reader(json.loads(out))
    assert "18 GPUs: least, mean, greatest" in picture.text
    assert len([path for path in picture.paths if path.get("fill") == "none"]) == 1


def test_what_cannot_be_drawn_is_refused_in_one_sentence(machine: Path) -> None:
    out = notebook(
        """
        for arguments in ({"window": "30s"}, {"window": "13h"}, {"metrics": "nosuch"}, {"metrics": "performance_state"}):
            try:
                gpulse.live(**arguments)
            except (ValueError, gpulse.UnknownMetric) as problem:
                print(problem)
        print(len(shown))
        """,
        machine,
    )
    assert out.splitlines() == [
        "window='30s': 1 minute to 12 hours",
        "window='13h': 1 minute to 12 hours",
        "no metric 'nosuch': gpulse.metrics() lists them",
        "'performance_state' cannot be drawn: it is not a number of a device or of the machine",
        "0",
    ]


def test_without_a_gpu_the_plot_says_why_there_is_none() -> None:
    out = notebook(
        """
        import time
        with gpulse.live():
            time.sleep(1.5)
        print("svg" in shown[-1], gpulse.snapshot().absence in shown[-1])
        """,
        None,
    )
    assert out == "False True\n"


def test_outside_of_a_notebook_it_says_so_and_does_nothing(machine: Path) -> None:
    done = run_python("with gpulse.live() as live: print(live.running)", scenario=machine)
    assert (done.code, done.out) == (0, "False\n")
    assert done.err == "gpulse.live() draws in notebooks only: `gpulse top` shows the same in a terminal\n"


def test_a_gpu_has_the_same_colour_as_on_the_page() -> None:
    out = output_of("from gpulse import _plot; print(*_plot.DARK, *_plot.LIGHT)")
    page = re.findall(r"#[0-9a-f]{6}", (ROOT / "web" / "src" / "colors.ts").read_text())
    assert out.split() == page[:16]


def test_colours_can_be_read_on_white_and_on_black() -> None:
    def luminance(color: str) -> float:
        shares = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
        linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def contrast(one: str, other: str) -> float:
        low, high = sorted((luminance(one), luminance(other)))
        return (high + 0.05) / (low + 0.05)

    # What WCAG asks of graphics; those that are not sure where they stand have to do on both.
    colors = output_of("from gpulse import _plot; print(*_plot.LIGHT, *_plot.DARK)").split()
    assert all(contrast(color, "#ffffff") >= 3 and contrast(color, "#111111") >= 3 for color in colors[:8])
    assert all(contrast(color, "#111111") >= 4.5 for color in colors[8:])


# -- parts of the picture, by hand


def test_marks_of_values_are_round() -> None:
    out = output_of(
        f"""
        from gpulse._plot import value_marks
        print(value_marks(37, "percent"), value_marks(690, "watts"), value_marks(0, "watts"), value_marks(130, "percent"))
        print([mark / {MIB} for mark in value_marks(9000 * {MIB}, "bytes")])
        """
    )
    assert out.splitlines() == [
        "[0.0, 50.0, 100.0] [0.0, 200.0, 400.0, 600.0, 800.0] [0.0, 1.0] [0.0, 50.0, 100.0, 150.0]",
        "[0.0, 4096.0, 8192.0, 12288.0]",
    ]


def test_marks_of_times_are_round_in_their_zone() -> None:
    out = output_of(
        """
        import datetime
        from gpulse._plot import time_marks
        india = datetime.timezone(datetime.timedelta(hours=5, minutes=30))
        noon = datetime.datetime(2026, 1, 5, 12, 0, 7, tzinfo=india).timestamp()
        print([text for _, text in time_marks(noon, noon + 60, india)])
        print([text for _, text in time_marks(noon, noon + 12 * 3600, india)])
        """
    )
    assert out.splitlines() == [
        "['12:00:15', '12:00:30', '12:00:45', '12:01:00']",
        "['15:00', '18:00', '21:00', '00:00']",
    ]


def test_labels_keep_their_distance_and_stay_inside() -> None:
    out = output_of("from gpulse._plot import spread; print(spread([50, 51, 52, 99], 10, 0, 100), spread([-5], 10, 0, 100))")
    assert out == "[50, 60, 70, 99] [0]\n"


def test_a_curve_keeps_least_mean_and_greatest_and_forgets_what_is_old() -> None:
    out = output_of(
        """
        from gpulse._curve import Curve
        curve = Curve(window=100, most_steps=10, patience=5)
        for time, value in ((0, 1.0), (3, 5.0), (6, 3.0), (12, 7.0), (30, 2.0)):
            curve.add(time, [value])
        print([(step.time, step.least, step.mean, step.greatest, step.joined) for step in curve.steps])
        curve.add(31, [])
        curve.add(32, [4.0])
        curve.add(41, [4.0])
        print(curve.latest, [step.joined for step in curve.steps])
        for second in range(42, 100_000):
            curve.add(second, [1.0])
        print(len(curve.steps))
        """
    )
    assert out.splitlines() == [
        "[(3.0, 1.0, 3.0, 5.0, False), (12.0, 7.0, 7.0, 7.0, False), (30.0, 2.0, 2.0, 2.0, False)]",
        "4.0 [False, False, False, False]",
        "11",
    ]
