"""Text from outside is shown and never acted on: whatever a driver, a file, an argument or a setting says, each view stays
the lines, rows and elements that it would be with harmless text, and holds nothing that a terminal would act on."""

from __future__ import annotations

import csv
import io
import json
import socket
import struct
import subprocess
import unicodedata
import xml.etree.ElementTree
from pathlib import Path
from typing import Any, Callable

import pytest

from harness import GPULSE, environment
from prometheus_text import parse
from top import Top

# Each text is as long as its harmless double, so that nothing but its characters can change a view.
LENGTH = 24
HOSTILE = [
    b"evil \x1b]0;owned\x07\x1b[2J",  # renames the window, clears the screen
    b"evil\nGPU 9: fake\r\x0b\x0c\x00",  # a line, a row or a device of its own
    b"evil \xff\xfe\xc0\xaf\xed\xa0\x80 \xe2\x80",  # no UTF-8
    b"evil \xc2\x9b31m\xc2\x85\xc2\x90",  # the control characters that are two bytes
    "evil \u202egpj.\u2066a\u200f".encode(),  # turns the writing direction
    "evil\u2028a\u2029b\ufeff\u200b".encode(),  # breaks lines; cannot be seen
    "evil<b>&\"']]>\uffff\ufffe-->".encode(),  # means something in XML, or is forbidden there
    b"evil, \"x\", 'y', ;|\\\t\x7f",  # means something in CSV and JSON
]
HOSTILE = [(text + b"........................")[:LENGTH] for text in HOSTILE]
HARMLESS = [f"evil harmless text no. {number}".encode() for number in range(len(HOSTILE))]
assert {len(text) for text in HOSTILE + HARMLESS} == {LENGTH}
EACH = pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))

Source = list[str | bytes | Path]
Maker = Callable[[Path, list[bytes]], tuple[Source, dict[str, str]]]


# What a view may consist of


# What nvidia-smi itself puts into its output.
OWN = {"smi -q -x": ("\t",), "smi topo": ("\t", "\x1b[4m", "\x1b[0m"), "usage": ("\t",)}


def check_text(raw: bytes, own: tuple[str, ...] = ()) -> str:
    text = raw.decode("utf-8", errors="strict")
    for piece in own:
        text = text.replace(piece, " ")
    for character in set(text) - {"\n"}:
        assert unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Cn", "Zl", "Zp"), f"{character!r} in {text!r}"
    return text


def run(arguments: list[Any], env: dict[str, Any], view: str = "") -> tuple[int, str, str]:
    words = [word if isinstance(word, bytes) else str(word).encode() for word in [GPULSE, *arguments]]
    done = subprocess.run(words, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    assert 0 <= done.returncode, f"ended by signal {-done.returncode}"
    return done.returncode, check_text(done.stdout, OWN.get(view, ())), check_text(done.stderr)


def check_json(text: str) -> None:
    for line in text.splitlines():
        json.loads(line)


def check_whole_json(text: str) -> None:
    json.loads(text)


def check_csv(text: str) -> None:
    header, *rows = csv.reader(io.StringIO(text), strict=True)
    assert rows and all(len(row) == len(header) for row in rows)


def check_xml(text: str) -> None:
    assert xml.etree.ElementTree.fromstring(text).tag == "nvidia_smi_log"


def check_prometheus(text: str) -> None:
    assert parse(text)


def check_nothing(_: str) -> None:
    pass


TEXT_FIELDS = "hostname,index,uuid,name,vendor,pci,driver,label,state,serial,vbios_version"
GPU_FIELDS = "index,name,uuid,serial,pci.bus_id,driver_version,vbios_version"
VIEWS: dict[str, tuple[list[str], Callable[[str], None]]] = {
    "status": ([], check_nothing),
    "status in colour-less ASCII": (["--ascii", "--width", "200"], check_nothing),
    "json": (["--json"], check_json),
    "csv": (["--csv"], check_csv),
    "csv of texts": (["--csv", "--fields", TEXT_FIELDS], check_csv),
    "doctor": (["doctor"], check_nothing),
    "log": (["log", "--count", "1"], check_csv),
    "log of JSON lines": (["log", "--count", "1", "--format", "jsonl"], check_json),
    "log for Prometheus": (["log", "--count", "1", "--format", "prometheus"], check_prometheus),
    "smi": (["smi"], check_nothing),
    "smi -L": (["smi", "-L"], check_nothing),
    "smi -q": (["smi", "-q"], check_nothing),
    "smi -q -x": (["smi", "-q", "-x"], check_xml),
    "smi --query-gpu": (["smi", f"--query-gpu={GPU_FIELDS}", "--format=csv"], check_nothing),
    "smi --query-compute-apps": (
        ["smi", "--query-compute-apps=pid,process_name,gpu_name,gpu_uuid", "--format=csv,noheader"],
        check_nothing,
    ),
    "smi --version": (["smi", "--version"], check_nothing),
    "smi dmon": (["smi", "dmon", "-c", "1"], check_nothing),
    "smi pmon": (["smi", "pmon", "-c", "1"], check_nothing),
    "smi topo": (["smi", "topo", "-m"], check_nothing),
    "gpustat": (["gpustat"], check_nothing),
    "gpustat with everything": (["gpustat", "-a", "-f", "--debug"], check_nothing),
    "gpustat --json": (["gpustat", "--json"], check_whole_json),
}


# Where text comes from


def toml(text: bytes) -> str:
    """What is no UTF-8 cannot be written in TOML."""
    return '"' + "".join(f"\\U{ord(letter):08x}" for letter in text.decode("utf-8", "replace") if letter != "\0") + '"'


def scenario(path: Path, texts: list[bytes]) -> Path:
    lines = ["[driver]", 'version = "580.1"']
    for number, text in enumerate(texts):
        lines += ["[[device]]", 'profile = "h100"']
        lines += [f"{key} = {toml(text)}" for key in ("name", "serial", "vbios", "part_number", "inforom_image")]
        lines += [f"uuid = {toml(text[:-1] + str(number).encode())}"]
        lines += [f"mig = [{{ profile = {toml(text)}, slot = 0, gi = 7, ci = 0, memory_total_mib = 9728, sms = 14 }}]"]
        lines += ["[[process]]", f"device = {number}", f"pid = {4_100_000 + number}", f"command = {toml(text)}"]
    path.write_text("\n".join(lines) + "\n")
    return path


def from_driver(folder: Path, texts: list[bytes]) -> tuple[Source, dict[str, str]]:
    return [], environment(scenario(folder / "scenario.toml", texts))


def from_kernel(folder: Path, texts: list[bytes]) -> tuple[Source, dict[str, str]]:
    def write(path: str, content: bytes) -> None:
        file = folder / "machine" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    write("proc/sys/kernel/hostname", texts[0])
    for number, text in enumerate(texts):
        device = f"sys/class/drm/card{number}/device"
        place = f"0000:{number:02x}:00.0".encode()
        write(f"{device}/uevent", b"DRIVER=amdgpu\nPCI_ID=1002:0001\nPCI_SLOT_NAME=" + place + b"\n")
        write(f"{device}/drm/renderD{128 + number}/dev", f"226:{128 + number}\n".encode())
        for file in ("product_name", "serial_number", "vbios_version"):
            write(f"{device}/{file}", text + b"\n")
        pid = 700 + number
        name = text[:15].replace(b"\n", b" ")
        stat = f" S 1 1 1 0 -1 0 0 0 0 0 5 5 0 0 20 0 1 0 {number + 1} 0 100\n".encode()
        write(f"proc/{pid}/stat", f"{pid} (".encode() + name + b")" + stat)
        write(f"proc/{pid}/cmdline", b"/opt/%s\0%s\0" % ((text.replace(b"\0", b"\1"),) * 2))
        write(f"proc/{pid}/status", f"Uid:\t{1000 + number}\t{1000 + number}\t0\t0\n".encode())
        write(f"proc/{pid}/cgroup", b"0::/slurm/job_%d/lxc/" % pid + text.replace(b"\n", b" ") + b"\n")
        write(f"run/gpulse-jobs/{pid}", b"account=" + text + b"\n")
        client = f"drm-driver:\tamdgpu\ndrm-client-id:\t{number}\ndrm-pdev:\t{place.decode()}\n"
        write(f"proc/{pid}/fdinfo/3", (client + "drm-memory-vram:\t1024 KiB\n").encode())
        link = folder / f"machine/proc/{pid}/fd/3"
        link.parent.mkdir(parents=True)
        link.symlink_to(f"/dev/dri/renderD{128 + number}")
    # A line is a user, and a colon ends the name.
    users = (text.translate(None, b"\n:") for text in texts)
    write("etc/passwd", b"".join(user + f":x:{1000 + i}:0::/:/bin/sh\n".encode() for i, user in enumerate(users)))
    return ["--sysroot", folder / "machine"], environment()


def crc32c(data: bytes) -> int:
    rest = 0xFFFFFFFF
    for byte in data:
        rest ^= byte
        for _ in range(8):
            rest = rest >> 1 ^ (0x82F63B78 if rest & 1 else 0)
    return rest ^ 0xFFFFFFFF


def craft(recording: Path, changes: dict[bytes, bytes]) -> int:
    """Puts texts of the same length into a recording and mends its checksums; says how many were there."""
    whole = recording.read_bytes()
    at = whole.index(b"\xf5\x9c")
    crafted, count = whole[:at], 0
    while at < len(whole):
        (length,) = struct.unpack_from("<I", whole, at + 2)
        payload = whole[at + 10 : at + 10 + length]
        for old, new in changes.items():
            assert len(old) == len(new)
            count += payload.count(old)
            payload = payload.replace(old, new)
        head = whole[at + 2 : at + 6]
        crafted += b"\xf5\x9c" + head + struct.pack("<I", crc32c(head + payload)) + payload
        at += 10 + length
    recording.write_bytes(crafted)
    return count


def places(kind: str, count: int) -> list[bytes]:
    return [f"{kind} of place {number} ".ljust(LENGTH, "-").encode() for number in range(count)]


def from_recording(folder: Path, texts: list[bytes]) -> tuple[Source, dict[str, str]]:
    blank = places("text", len(texts))
    recording = folder / "crafted.gpr"
    env = environment(scenario(folder / "scenario.toml", blank))
    assert run(["record", "-o", recording, "--count", "1"], env)[0] == 0
    # Of each device: name, serial, … are one text, written once; the uuid, which has its number at the end; the name of
    # its instance, and how that is called.
    changes = dict(zip(blank, texts)) | {a[:-1] + b"%d" % i: texts[i][:-1] + b"%d" % i for i, a in enumerate(blank)}
    assert craft(recording, changes) == 4 * len(texts)
    host = socket.gethostname().encode()
    assert craft(recording, {bytes([len(host)]) + host: bytes([len(host)]) + (texts[0][4:] * 20)[: len(host)]}) == 1
    return ["--replay", recording], environment()


def from_recorded_events(folder: Path, texts: list[bytes]) -> tuple[Source, dict[str, str]]:
    blank = places("phase", len(texts))
    (trace, env), recording = from_trace(folder, blank), folder / "events.gpr"
    assert run(["record", *trace, "--speed", "1000", "-o", recording, "--count", "1"], env)[0] == 0
    assert craft(recording, dict(zip(blank, texts))) == 1
    return ["--replay", recording], environment()


def from_xml_log(folder: Path, texts: list[bytes]) -> tuple[Source, dict[str, str]]:
    def element(name: str, text: bytes) -> bytes:
        # What XML has no way to write otherwise goes in as it is: the file is whatever somebody made it.
        for old, new in ((b"&", b"&amp;"), (b"<", b"&lt;"), (b"\x1b", b"&#27;"), ("\u202e".encode(), b"&#x202e;")):
            text = text.replace(old, new)
        return f"<{name}>".encode() + text.replace(b"\0", b"") + f"</{name}>\n".encode()

    log = b'<?xml version="1.0" ?>\n<nvidia_smi_log>\n' + element("driver_version", texts[0])
    for number, text in enumerate(texts):
        log += f'<gpu id="00000000:{number:02X}:00.0">\n'.encode()
        log += b"".join(element(name, text) for name in ("product_name", "serial", "vbios_version", "gpu_part_number"))
        log += element("uuid", text[:-1] + b"%d" % number)
        log += b"<processes><process_info>" + element("pid", b"%d" % (4100 + number)) + element("type", b"C")
        log += element("process_name", text) + element("used_memory", b"12 MiB") + b"</process_info></processes></gpu>\n"
    (folder / "log.xml").write_bytes(log + b"</nvidia_smi_log>\n")
    return ["--replay", folder / "log.xml"], environment()


def from_csv_log(folder: Path, texts: list[bytes]) -> tuple[Source, dict[str, str]]:
    lines = [b"index, uuid, name, serial, driver_version, vbios_version, temperature.gpu"]
    for number, text in enumerate(texts):
        # A line break or a comma would be the next row or cell of the log.
        cell = text.translate(None, b"\n\r,")
        lines.append(b", ".join([b"%d" % number, cell + b"%d" % number, cell, cell, cell, cell, b"40"]))
    (folder / "log.csv").write_bytes(b"\n".join(lines) + b"\n")
    return ["--replay", folder / "log.csv"], environment()


def from_trace(folder: Path, texts: list[bytes]) -> tuple[Source, dict[str, str]]:
    cells = [text.translate(None, b"\n\r,") for text in texts]
    lines = [b"t_s,phase,util_gpu_pct,n_procs"] + [b"%d.0,%s,50,1" % (i, cell) for i, cell in enumerate(cells)]
    (folder / "trace.csv").write_bytes(b"\n".join(lines) + b"\n")
    return ["--replay", folder / "trace.csv"], environment()


SOURCES: dict[str, Maker] = {
    "driver": from_driver,
    "kernel": from_kernel,
    "recording": from_recording,
    "recorded events": from_recorded_events,
    "xml log": from_xml_log,
    "csv log": from_csv_log,
    "trace": from_trace,
}
# These say something of one device without a text of its own.
WITHOUT_NAMES = ("trace", "recorded events")


@pytest.fixture(scope="module", params=SOURCES)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A source with hostile texts, and the same one with harmless texts."""
    made = []
    for texts in (HOSTILE, HARMLESS):
        made.append(SOURCES[request.param](tmp_path_factory.mktemp("source"), texts))
    return request.param, *made


@pytest.mark.parametrize("view", VIEWS)
def test_each_view_of_each_source(pair: Any, view: str) -> None:
    name, hostile, harmless = pair
    words, check = VIEWS[view]
    seen = []
    for source, env in (hostile, harmless):
        # A drop-in has its name first, a command of gpulse's own may have it anywhere.
        code, out, err = run([*words, *source], env, view)
        if out and code == 0:
            check(out)
        if view in ("json", "csv of texts", "smi -L", "smi -q -x") and name not in WITHOUT_NAMES:
            assert out.count("evil") >= len(HOSTILE), "the text has not come through"
        # There each word of a command is a line.
        lines = json.loads(out)["gpus"] if view == "gpustat --json" and code == 0 else out.splitlines()
        seen.append((code, len(lines), len(err.splitlines())))
    assert seen[0] == seen[1], "(exit code, lines, lines of complaint) differ from those of harmless text"


def test_the_past_of_a_recording(pair: Any) -> None:
    name, (source, env), _ = pair
    if "--replay" not in source:
        pytest.skip("not a file")
    code, out, _ = run(["--json", "--watch", "--speed", "1000", *source], env)
    assert code == 0
    check_json(out)
    assert name not in WITHOUT_NAMES or "evil" in out


def check_terminal(raw: bytes, text: str) -> None:
    """What was drawn is ours: nothing of what a hostile text would have the terminal do, or not show."""
    for forbidden in (b"\x07", b"\x1b]0;owned", b"\x0b", b"\x0c", b"\xff", b"\xc2\x9b", b"\xc2\x85"):
        assert forbidden not in raw, forbidden
    drawn = raw.decode("utf-8", errors="strict")
    assert not set("\u202e\u2066\u200f\u2028\u2029\ufeff\u200b") & set(drawn)
    assert "evil" in text


def test_live_view(pair: Any, tmp_path: Path) -> None:
    name, (source, env), _ = pair
    variables = {key: env[key] for key in ("LD_LIBRARY_PATH", "GPULSE_SIM_SCENARIO") if key in env}
    with Top(tmp_path, *source, ready=None, columns=200, rows=60, **variables) as top:
        top.wait_text("GPU" if name in WITHOUT_NAMES else "evil")
        if name not in WITHOUT_NAMES:
            check_terminal(bytes(top.raw), top.text)
        top.press("Enter")
        top.wait_frame()
        check_terminal(bytes(top.raw), "evil")
        top.press("q", "q")


# What the user says, and what a file says that the user names


def table_of_arguments(word: bytes) -> list[list[Any]]:
    nowhere = b"/nonexistent/" + word
    own: list[list[Any]] = [
        [word],
        [b"--" + word],
        [b"-" + word],
        ["--source", word],
        ["--interval", word],
        ["--at", word],
        ["--speed", word],
        ["--width", word],
        ["--count", word],
        ["-i", word],
        ["--csv", "--fields", word],
        ["--replay", nowhere],
        ["--config", nowhere],
        ["--sysroot", nowhere],
        ["record", "-o", nowhere],
        ["record", "-o", "/dev/null", word],
        ["log", "-o", nowhere],
        ["log", "--format", word],
        ["log", "--format", "tensorboard", "-o", nowhere, "--run", b"/" + word],
        ["log", "-o", "/dev/null", "--", nowhere],
        ["history", "--history", nowhere],
        ["history", "--from", word],
        ["history", "--to", word],
        ["history", "--metrics", word],
        ["history", "--since", word],
        ["doctor", word],
        ["explain", word],
        ["explain", "xid", word],
        ["set", word],
        ["set", "power-limit", word],
        ["set", "power-limit", "300", "-i", word],
        ["top", "--theme", word],
        ["pick", word],
        ["pick", "--min-free", word],
        ["pick", "--max-util", word],
        ["run", word],
        ["run", "--", nowhere],
        ["run", "--price", word, "--", "true"],
        ["run", "--html", nowhere, "--", "true"],
    ]
    smi: list[list[Any]] = [
        [word],
        [b"--" + word],
        ["-q", "-d", word],
        ["-i", word],
        ["-f", nowhere],
        [b"--query-gpu=" + word],
        ["--query-gpu=name", b"--format=" + word],
        ["--parse", nowhere],
        ["--replay", nowhere],
        ["--source", word],
        ["-pl", word],
        ["-lgc", word],
        ["-c", word],
        ["-pm", word],
        ["-e", word],
        [b"--help-query-gpu=" + word],
        ["dmon", word],
        ["dmon", "-s", word],
        ["dmon", "-d", word],
        ["dmon", "-o", word],
        ["dmon", "-f", nowhere],
        ["dmon", "--format", word],
        ["dmon", "--gpm-metrics", word],
        ["dmon", "-c", "1", "-i", word],
        ["pmon", word],
        ["pmon", "-c", word],
        ["topo", word],
        ["topo", "-c", word],
    ]
    gpustat: list[list[Any]] = [
        [word],
        [b"--" + word],
        [b"-" + word],
        ["-i", word],
        ["--id", word],
        ["--gpuname-width", word],
        ["-P", word],
        ["--replay", nowhere],
        ["--source", word],
        [b"--json=" + word],
    ]
    return own + [["smi", *each] for each in smi] + [["gpustat", *each] for each in gpustat]


@pytest.mark.parametrize("number", range(len(table_of_arguments(b""))), ids=lambda n: str(table_of_arguments(b"X")[n]))
def test_arguments(number: int) -> None:
    env = environment("single")
    for hostile in HOSTILE:
        if b"\0" in hostile:
            hostile = hostile.replace(b"\0", b"\x01")
        seen = [run(table_of_arguments(word)[number], env, "usage") for word in (hostile, HARMLESS[0])]
        # CLI11 tells apart words with an equals sign, and fields may be many; a line is a line.
        assert [len(text.splitlines()) for text in seen[0][1:]] == [len(text.splitlines()) for text in seen[1][1:]]
        assert seen[0][0] == seen[1][0]


FILES: dict[str, Callable[[bytes], bytes]] = {
    "config.toml key": lambda text: text + b" = 1\n",
    "config.toml quoted key": lambda text: b'"' + text + b'" = 1\n',
    "config.toml value": lambda text: b'interval = "' + text + b'"\n',
    "config.toml choice": lambda text: b'source = "' + text + b'"\n',
    "config.toml section": lambda text: b"[" + text + b"]\nx = 1\n",
    "log.xml element": lambda text: b"<nvidia_smi_log><gpu><" + text + b"></gpu></nvidia_smi_log>",
    "log.xml text": lambda text: b"<nvidia_smi_log>" + text,
    "log.xml root": lambda text: b'<?xml version="1.0" ?>\n<' + text + b">",
    "log.csv header": lambda text: b"index, name, " + text + b"\n0, a, b\n",
    "log.csv cell": lambda text: b"index, name, temperature.gpu\n" + text + b", a, b\n0, a, 1, " + text + b"\n",
    "trace.csv number": lambda text: b"t_s,phase,util_gpu_pct\n0.0,a," + text + b"\n",
    "trace.csv time": lambda text: b"t_s,phase,util_gpu_pct\n" + text + b",a,1\n",
    "garbage": lambda text: text,
}


@EACH
@pytest.mark.parametrize("name", FILES)
def test_contents_of_files(name: str, hostile: bytes, tmp_path: Path) -> None:
    file = tmp_path / (hostile.translate(None, b"\0/")[:12].decode("utf-8", "surrogateescape") + name.split()[0])
    file.write_bytes(FILES[name](hostile))
    commands: list[list[Any]] = [["--replay"], ["smi", "--replay"], ["gpustat", "--replay"], ["smi", "--parse"]]
    for command in [["--config"]] if name.startswith("config") else commands:
        path = str(file).encode("utf-8", "surrogateescape")
        code, _, err = run([*command, path], environment("single"))
        assert code == 0 or command[0] != "--replay" or len(err.splitlines()) <= 2


@EACH
def test_settings_of_the_live_view(hostile: bytes, tmp_path: Path) -> None:
    harmless = b"evil plain"
    contents = (b"%s = 1\n", b"theme = '%s'\n", b"sort = '%s'\n", b"[%s]\n", b'"%s" = 1\n')
    for content in contents:
        lines = []
        for text in (hostile, harmless):
            file = tmp_path / "top.toml"
            file.write_bytes(content.replace(b"%s", text))
            with Top(tmp_path, "--settings", file, scenario="single", ready=None) as top:
                assert top.exit_code() == 2
                lines.append(len(check_text(bytes(top.raw).replace(b"\r\n", b"\n")).splitlines()))
        assert lines[0] == lines[1] == 1


@EACH
def test_environment(hostile: bytes) -> None:
    text = hostile.replace(b"\0", b"\x01")
    for variable in (
        "COLUMNS",
        "TERM",
        "LANG",
        "LC_ALL",
        "TZ",
        "HOME",
        "XDG_CONFIG_HOME",
        "NO_COLOR",
        "CUDA_VISIBLE_DEVICES",
        "GPULSE_SIM_SCENARIO",
    ):
        env: dict[Any, Any] = environment("single") | {variable: text}
        for command in ([], ["doctor"], ["smi"], ["gpustat"], ["--json"]):
            run(command, env)
