"""Every value of every log of nvidia-smi that other people published comes out of gpulse again, where it was and as it was.
What does not is listed here with the reason. The files are read where they lie; those beside the code are our own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from harness import ROOT, gpulse, only_line
from smi_leaves import Leaves, differences, schema_of, text_leaves, xml_leaves

SHARED = ROOT.parent / "shared" / "fixtures"
OURS = ROOT / "src" / "smi"

# What does not come out as it was: the log (a part of its name), where in it (a pattern), and why.
EXCEPTIONS = [
    ("hadoop", r"/gpu\[\d\]/utilization/gpu_util", "33.4 %, edited by hand: nvidia-smi writes whole percent"),
    ("pai__", "/attached_gpus", "the file was shortened: it holds fewer GPUs than it says"),
    ("telegraf__a100", "/attached_gpus", "the file was shortened: it holds fewer GPUs than it says"),
]


def unexplained(name: str, log: Leaves, ours: Leaves) -> list[Any]:
    reasons = [pattern for part, pattern, _ in EXCEPTIONS if part in name]
    return [one for one in differences(log, ours) if not any(re.fullmatch(reason, one[0]) for reason in reasons)]


def xml_logs() -> list[Any]:
    found = sorted((SHARED / "nvidia-smi" / "xml").glob("*.xml")) + sorted((SHARED / "h200").glob("*/q.xml"))
    found.append(OURS / "read_xml_corpus" / "h200_load.xml")
    return [pytest.param(path, id=f"{path.parent.name}/{path.name}") for path in found]


@pytest.mark.parametrize("path", xml_logs())
def test_every_value_of_an_xml_log_comes_back_in_its_own_layout(path: Path) -> None:
    document = path.read_text()
    # One of them lost its document type; its driver, 418, writes v10.
    result = gpulse("smi", "--replay", path, "-q", "-x", "--schema", schema_of(document) or "v10", TZ="UTC")
    assert (result.code, result.err) == (0, "")
    log = xml_leaves(document)
    assert len(log) > 15
    assert unexplained(path.name, log, xml_leaves(result.out)) == []


# A log with what the published ones do not have: elements that only some machines write, and every word that can stand
# in place of a value. It is written in each version of the format.
RARE = """<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_{schema}.dtd">
<nvidia_smi_log>
	<timestamp>Tue Nov  1 12:06:50 2022</timestamp>
	<driver_version>525.147.01</driver_version>
	<cuda_version>Not Found</cuda_version>
	<vgpu_driver_capability><heterogenous_multivGPU>Supported</heterogenous_multivGPU></vgpu_driver_capability>
	<attached_gpus>1</attached_gpus>
	<gpu id="00000000:01:00.0">
		<product_name>GRID A100D-40C</product_name>
		<product_brand>NVIDIA Virtual Compute Server</product_brand>
		<display_mode>Enabled</display_mode>
		<vgpu_device_capability>
			<fractional_multiVgpu>Supported</fractional_multiVgpu>
			<heterogeneous_timeSlice_sizes>Not Supported</heterogeneous_timeSlice_sizes>
		</vgpu_device_capability>
		<driver_model><current_dm>TCC</current_dm><pending_dm>WDDM</pending_dm></driver_model>
		<serial>[REDACTED]</serial>
		<platformInfo>
			<chassis_serial_number></chassis_serial_number>
			<slot_number>0</slot_number>
			<peer_type>Direct Connected</peer_type>
			<gpu_fabric_guid>0x0000000000000000</gpu_fabric_guid>
		</platformInfo>
		<uuid>GPU-00000000-1111-2222-3333-444444444444</uuid>
		<gpu_part_number>900-21001-0020-100</gpu_part_number>
		<gpu_virtualization_mode>
			<virtualization_mode>VGPU</virtualization_mode>
			<host_vgpu_mode>SR-IOV</host_vgpu_mode>
		</gpu_virtualization_mode>
		<vgpu_software_licensed_product>
			<licensed_product_name>NVIDIA RTX Virtual Workstation</licensed_product_name>
			<license_status>Licensed (Expiry: 2026-7-7 16:1:44 GMT)</license_status>
		</vgpu_software_licensed_product>
		<gpu_reset_status>
			<reset_required>Yes</reset_required>
			<drain_and_reset_recommended>No</drain_and_reset_recommended>
		</gpu_reset_status>
		<pci>
			<pci_bridge_chip><bridge_chip_type>PLX</bridge_chip_type><bridge_chip_fw>0</bridge_chip_fw></pci_bridge_chip>
			<tx_util>1000 KB/s</tx_util>
			<rx_util>2000 KB/s</rx_util>
		</pci>
		<fan_speed>Unknown Error</fan_speed>
		<performance_state>GPU access blocked by the operating system</performance_state>
		<clocks_throttle_reasons>N/A</clocks_throttle_reasons>
		<compute_mode>Insufficient Permissions</compute_mode>
		<utilization>
			<gpu_util>Not Found</gpu_util>
			<memory_util>Not Supported</memory_util>
			<encoder_util>Function Not Found</encoder_util>
			<decoder_util>No data</decoder_util>
		</utilization>
		<ecc_errors>
			<volatile>
				<single_bit><texture_shm>3</texture_shm><total>3</total></single_bit>
			</volatile>
		</ecc_errors>
		<temperature>GPU is lost</temperature>
		<power_readings>
			<power_state>Requested functionality has been deprecated</power_state>
			<power_management>Supported</power_management>
			<power_draw>119.47 W</power_draw>
		</power_readings>
		<power_profiles>
			<power_profile_requested_profiles>
				<power_profile_requested_profile>Max-P Training</power_profile_requested_profile>
				<power_profile_requested_profile>Memory Bound</power_profile_requested_profile>
			</power_profile_requested_profiles>
			<power_profile_enforced_profiles>N/A</power_profile_enforced_profiles>
		</power_profiles>
		<voltage><graphics_volt>631.250 mV</graphics_volt></voltage>
		<processes>
			<process_info>
				<pid>1</pid><type>C</type>
				<process_name>/usr/lib/plexmediaserver/Plex Transcoder</process_name><used_memory>1 MiB</used_memory>
			</process_info>
			<process_info><pid>2</pid><type>G</type><process_name></process_name><used_memory>N/A</used_memory></process_info>
			<process_info>
				<pid>3</pid><type>C+G</type>
				<process_name>C:\\Program Files\\A - B\\c d.exe --type=gpu</process_name><used_memory>N/A</used_memory>
			</process_info>
			<process_info>
				<pid>4</pid><type>M+C</type>
				<process_name>[Insufficient Permissions]</process_name><used_memory>3 MiB</used_memory>
			</process_info>
		</processes>
	</gpu>
</nvidia_smi_log>
"""


@pytest.mark.parametrize("schema", ["v10", "v11", "v12", "v13"])
def test_rare_elements_and_words_in_place_of_values(schema: str, tmp_path: Path) -> None:
    log = tmp_path / "log.xml"
    log.write_text(RARE.replace("{schema}", schema))
    result = gpulse("smi", "--replay", log, "-q", "-x", "--schema", schema, TZ="UTC")
    assert differences(xml_leaves(log.read_text()), xml_leaves(result.out)) == []


def sections(capture: Path) -> dict[str, str]:
    """The parts of a capture by state and name: "load query-gpu", "idle query (-q)"."""
    found = re.findall(
        r"^# (idle|load) :: (query[a-z-]*(?: \(-q\))?)[^\n]*\n# \$[^\n]*\n#+\n(.*?)(?=^####|\Z)",
        capture.read_text(),
        re.MULTILINE | re.DOTALL,
    )
    return {f"{state} {name}": text for state, name, text in found}


CAPTURES = sorted((SHARED / "nvidia-smi" / "captures").glob("*.txt"))
SECTIONS = {
    "q_d_many": "MEMORY,UTILIZATION,ECC,TEMPERATURE,POWER,CLOCK,COMPUTE,PIDS,PERFORMANCE,PAGE_RETIREMENT,ACCOUNTING,"
    "ENCODER_STATS,SUPPORTED_GPU_TARGET_TEMP,VOLTAGE,FBC_STATS,ROW_REMAPPER,GSP_FIRMWARE_VERSION",
    "q_d_supported": "SUPPORTED_CLOCKS",
    "q_d_utilization": "UTILIZATION",
}
# What nvidia-smi adds to a value since driver 610.
ADVICE = re.compile(r" \[Deprecated;.*\]$")


def text_logs() -> list[Any]:
    logs = [(f"{path.stem}-{state}", path, f"{state} query (-q)") for path in CAPTURES for state in ("idle", "load")]
    found = sorted((SHARED / "nvidia-smi" / "text").glob("*smi-query*.txt")) + sorted((SHARED / "h200").glob("*/q*.txt"))
    logs += [(f"{path.parent.name}-{path.stem}", path, "") for path in found]
    return [pytest.param(path, part, id=name) for name, path, part in logs]


@pytest.mark.parametrize(("path", "part"), text_logs())
def test_every_value_of_a_text_log_comes_back(path: Path, part: str, tmp_path: Path) -> None:
    text = sections(path)[part] if part else path.read_text()
    log = tmp_path / "log.txt"
    log.write_text(text)
    driver = re.search(r"^Driver Version +: (\d+)", text, re.MULTILINE)
    assert driver is not None
    arguments = ["--schema", "v13" if int(driver.group(1)) >= 580 else "v12"]
    if path.stem.startswith("q_d_"):
        arguments += ["-d", SECTIONS.get(path.stem, path.stem.removeprefix("q_d_"))]
    result = gpulse("smi", "--replay", log, "-q", *arguments, TZ="UTC")
    assert (result.code, result.err) == (0, "")
    # Up to 560 it is "Gpu"; labels are told apart by their letters, not by their case.
    expected = {
        where.replace("Utilization/Gpu", "Utilization/GPU"): [ADVICE.sub("", value) for value in values]
        for where, values in text_leaves(text).items()
    }
    assert len(expected) > 4
    assert differences(expected, text_leaves(result.out)) == []


def test_text_of_a_loop_holds_several_moments(tmp_path: Path) -> None:
    """`nvidia-smi -q -d UTILIZATION -l 1 > FILE`, as PowerShell writes it: with carriage returns."""
    moment = (
        "\n==============NVSMI LOG==============\n\nTimestamp                           : Mon Apr  9 12:25:{:02} 2018\n"
        "Driver Version                      : 390.30\n\nAttached GPUs                       : 1\nGPU 00000000:01:00.0\n"
        "    Utilization\n        Gpu                         : {} %\n        Memory                      : 3 %\n"
    )
    log = tmp_path / "log.txt"
    log.write_bytes((moment.format(1, 10) + moment.format(2, 20)).replace("\n", "\r\n").encode())
    table = gpulse("--replay", log, "--csv", "--fields", "time,gpu_utilization_percent", "--watch", "--speed", "1000", TZ="UTC")
    assert table.lines[1:] == ["2018-04-09T12:25:01.000Z,10", "2018-04-09T12:25:02.000Z,20"]


def csv_logs() -> list[Any]:
    logs = []
    for path in CAPTURES:
        for state in ("idle", "load"):
            for query in ("query-gpu", "query-compute-apps", "query-accounted-apps", "query-retired-pages"):
                logs.append(pytest.param(path, f"{state} {query}", id=f"{path.stem}-{state}-{query}"))
    for path in sorted((SHARED / "h200").glob("**/*.csv")):
        if path.parent.name != "trace" and path.stat().st_size > 1:  # our own observation; nothing at all
            logs.append(pytest.param(path, "", id=f"{path.parent.name}-{path.stem}"))
    for path in sorted((SHARED / "nvidia-smi" / "text").glob("*.csv")):
        logs.append(pytest.param(path, "", id=path.stem))
    return logs


# The query that a column belongs to, where it is not --query-gpu.
OTHER_QUERIES = {
    "used_gpu_memory": "query-compute-apps",
    "max_memory_usage": "query-accounted-apps",
    "retired_pages.address": "query-retired-pages",
    "graphics": "query-supported-clocks",
}
# What was asked for, where the answer has no titles.
UNTITLED = {
    "by_uuid": "index,name",
    "seed2": "timestamp,gpu_name,pid,used_gpu_memory",
    "query_gpu_nounits": "query_gpu",
    "query_compute-apps_nounits": "query_compute-apps",
    "query_accounted-apps_nounits": "query_accounted-apps",
    "query_retired-pages_nounits": "query_retired-pages",
    "query_remapped-rows_nounits": "query_remapped-rows",
    "query_supported-clocks_nounits": "query_supported-clocks",
}


@pytest.mark.parametrize(("path", "part"), csv_logs())
def test_every_cell_of_a_csv_log_comes_back(path: Path, part: str, tmp_path: Path) -> None:
    text = sections(path)[part] if part else path.read_text()
    text = "".join(line + "\n" for line in text.splitlines() if line)
    asked = UNTITLED.get(path.stem, "")
    if asked.startswith("query_"):
        asked = (path.parent / f"{asked}.csv").read_text().splitlines()[0]
    titles = [re.sub(r" \[.*\]", "", title.strip()) for title in (asked or text.split("\n", 1)[0]).split(",")]
    rows = text.splitlines()[0 if asked else 1 :]
    query = next((query for title, query in OTHER_QUERIES.items() if title in titles), "query-gpu")
    if "remapped_rows.correctable" in titles and "gpu_uuid" in titles:
        query = "query-remapped-rows"
    log = tmp_path / "log.csv"
    log.write_text(text)
    units = "nounits" not in path.stem and "tesla-p100" not in path.stem
    style = "csv" + (",noheader" if asked else "") + ("" if units else ",nounits")
    columns = ["--columns", ",".join(titles)] if asked else []
    result = gpulse("smi", "--replay", log, *columns, f"--{query}={','.join(titles)}", f"--format={style}", TZ="UTC")
    if not rows:  # an empty list names no GPU
        assert (result.code, result.out) == (6, "No devices were found\n")
        return
    assert (result.code, result.err) == (0, "")
    assert result.lines == text.splitlines()


H200 = OURS / "read_xml_corpus" / "h200_load.xml"


@pytest.mark.parametrize("schema", ["v8", "v9", "v10", "v11", "v12"])
def test_a_new_driver_in_an_older_layout(schema: str) -> None:
    """What programs of that time look for: an H200 of today, as nvidia-smi would have written it then."""
    back = gpulse("smi", "--replay", H200, "-q", "-x", "--schema", schema, TZ="UTC").out
    assert schema_of(back) == schema
    leaves = xml_leaves(back)
    older = schema in ("v8", "v9", "v10", "v11")
    assert ("/gpu[0]/power_readings/power_draw" in leaves) == older
    assert ("/gpu[0]/gpu_power_readings/average_power_draw" in leaves) != older
    assert leaves.get("/gpu[0]/power_readings/power_draw", ["692.70 W"]) == ["692.70 W"]
    assert leaves.get("/gpu[0]/power_readings/enforced_power_limit", ["700.00 W"]) == ["700.00 W"]
    reasons = "throttle" if older else "event"
    assert leaves[f"/gpu[0]/clocks_{reasons}_reasons/clocks_{reasons}_reason_sw_power_cap"] == ["Active"]
    assert leaves["/gpu[0]@id"] == ["0000:00:06.0" if schema == "v8" else "00000000:00:06.0"]
    assert ("/gpu[0]/mig_mode/current_mig" in leaves) == (schema in ("v11", "v12"))
    assert ("/gpu[0]/processes/process_info[0]/gpu_instance_id" in leaves) == (schema in ("v11", "v12"))
    assert leaves["/gpu[0]/utilization/gpu_util"] == ["84 %"]


def test_a_layout_that_there_is_not() -> None:
    result = gpulse("smi", "--replay", H200, "-q", "-x", "--schema", "v99")
    assert result.code == 2 and "from v8 to v13" in result.out


@pytest.mark.skipif(not SHARED.is_dir(), reason="no shared fixtures")
def test_the_only_power_that_is_known_is_shown() -> None:
    """A GTX 1070 of 2017 has one reading, which is no mean; an RTX 4090 of driver 535 has one that is."""
    old = SHARED / "nvidia-smi" / "xml" / "pai__nvidia_smi_sample.xml"
    lines = [line.split() for line in gpulse("smi", "--replay", old, "-q", "-d", "POWER").lines]
    assert ["Instantaneous", "Power", "Draw", ":", "119.47", "W"] in lines
    leaves = xml_leaves(gpulse("smi", "--replay", old, "-q", "-x").out)
    assert leaves["/gpu[0]/gpu_power_readings/instant_power_draw"] == ["119.47 W"]
    assert leaves["/gpu[0]/gpu_power_readings/average_power_draw"] == ["N/A"]
    newer = SHARED / "nvidia-smi" / "xml" / "netdata__rtx-4090-driver-535.xml"
    leaves = xml_leaves(gpulse("smi", "--replay", newer, "-q", "-x").out)
    assert leaves["/gpu[0]/gpu_power_readings/average_power_draw"] == ["26.84 W"]
    assert leaves["/gpu[0]/gpu_power_readings/instant_power_draw"] == ["N/A"]


def test_what_the_bus_carries_is_in_json(tmp_path: Path) -> None:
    log = tmp_path / "log.xml"
    log.write_text(RARE.replace("{schema}", "v12"))
    metrics = gpulse("--replay", log, "--json").json["devices"][0]["metrics"]
    assert (metrics["pcie_tx_bytes_per_second"], metrics["pcie_rx_bytes_per_second"]) == (1_000_000, 2_000_000)


def test_the_driver_model_of_windows_is_in_the_table(tmp_path: Path) -> None:
    log = tmp_path / "log.xml"
    log.write_text(RARE.replace("{schema}", "v12").replace("TCC", "WDDM"))
    table = gpulse("smi", "--replay", log, TZ="UTC").lines
    assert table[4].startswith("| GPU  Name                  Driver-Model | ")
    assert table[8].startswith("|   0  GRID A100D-40C               WDDM  | ")


NOTHING_OF_PROCESSES = "<nvidia_smi_log><gpu><product_name>X</product_name>{}</gpu></nvidia_smi_log>"


@pytest.mark.parametrize("words", ["", "<processes>N/A</processes>", "<processes>Insufficient Permissions</processes>"])
def test_processes_that_a_log_does_not_tell_are_not_none(words: str, tmp_path: Path) -> None:
    log = tmp_path / "log.xml"
    log.write_text(NOTHING_OF_PROCESSES.format(words))
    assert "no GPU processes" not in (status := gpulse("--replay", log).out) and "GPU processes unknown" in status
    assert "No running" not in (table := gpulse("smi", "--replay", log).out) and "processes are not known" in table
    told = gpulse("smi", "--replay", log, "-q", "-x", "--schema", "v12").out
    assert re.search(r"<processes>(N/A|Insufficient Permissions)</processes>", told)
    log.write_text(NOTHING_OF_PROCESSES.format("<processes></processes>"))
    assert "no GPU processes" in gpulse("--replay", log).out
    assert "No running processes found" in gpulse("smi", "--replay", log).out


def test_a_table_of_readings_does_not_tell_processes(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("index, name, utilization.gpu [%]\n0, NVIDIA H200, 5 %\n")
    assert "GPU processes unknown" in gpulse("--replay", log).out
    assert "processes are not known" in gpulse("smi", "--replay", log).out


def test_an_unknown_time_is_not_1970(tmp_path: Path) -> None:
    log = tmp_path / "log.xml"
    log.write_text(NOTHING_OF_PROCESSES.format(""))
    commands: list[list[str]] = [
        ["smi"],
        ["smi", "-q"],
        ["smi", "-q", "-x"],
        ["smi", "--query-gpu=timestamp,name", "--format=csv"],
        ["smi", "dmon", "-c", "1", "-o", "DT"],
        ["smi", "pmon", "-c", "1", "-o", "DT"],
        ["gpustat"],
        ["gpustat", "--json"],
    ]
    for command in commands:
        result = gpulse(command[0], "--replay", log, *command[1:], TZ="UTC")
        assert result.code == 0 and "1970" not in result.out, command
    assert gpulse("gpustat", "--replay", log, "--json").json["query_time"] is None
    stamps = gpulse("smi", "--replay", log, "--query-gpu=timestamp,name", "--format=csv,noheader").lines
    assert stamps == ["[N/A], X"]


def test_blacked_out_ids_are_not_success(tmp_path: Path) -> None:
    log = tmp_path / "log.xml"
    pci = "<pci><pci_device_id>[REDACTED]</pci_device_id><pci_sub_system_id>whatever</pci_sub_system_id></pci>"
    log.write_text(NOTHING_OF_PROCESSES.format(pci))
    out = gpulse("smi", "--replay", log, "-q").lines
    values = {line.split(" : ")[0].strip(): line.split(" : ")[1] for line in out if " : " in line}
    assert (values["Device Id"], values["Sub System Id"]) == ("N/A", "Unknown Error")


OWN_FIELDS = "time,hostname,index,uuid,name,power.draw,throttle_reasons,performance_state"


@pytest.mark.parametrize("style", [[], ["--fields", OWN_FIELDS]])
def test_our_own_csv_can_be_replayed(style: list[str], tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text(gpulse("--demo", "--csv", *style, "--watch", "--count", "3").out)
    assert len(table.read_text().splitlines()) == 4
    back = gpulse("--replay", table, "--csv", *style, "--watch", "--speed", "1000000")
    assert (back.code, back.err) == (0, "")
    assert back.out == table.read_text()
    assert gpulse("--replay", table).out.startswith("[REPLAY] ")


def test_names_with_commas_and_quotes_in_our_own_csv(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text('index,name,gpu_utilization_percent\n0,"A ""B"", C",5\n1,"D",\n')
    devices = gpulse("--replay", table, "--json").json["devices"]
    assert [one["name"] for one in devices] == ['A "B", C', "D"]
    assert [one["metrics"]["gpu_utilization_percent"] for one in devices] == [5, None]
    table.write_text("index,gpu_utilization_percent\n0,much\n")
    assert 'gpu_utilization_percent cannot be "much"' in gpulse("--replay", table).err


@pytest.mark.parametrize("command", ["daemon", "replay"])
def test_the_recorder_of_nvidia_smi_is_answered_with_ours(command: str) -> None:
    result = gpulse("smi", command)
    assert result.code == 255 and "gpulse record" in result.err


def fields_in_help(text: str) -> list[str]:
    lines = re.findall(r'^"[\w.]+"(?: or "[\w.]+")*$', text, re.MULTILINE)
    return [name for line in lines for name in re.findall(r'"([\w.]+)"', line)]


def test_fields_of_every_driver_are_understood() -> None:
    """What `--help-query-…` of drivers 510 to 610 lists: a query for all of it is not refused for one."""
    asked = 0
    for path in [*CAPTURES, *sorted((SHARED / "nvidia-smi" / "text").glob("*help-query-gpu*"))]:
        text = path.read_text()
        parts = re.findall(r"help-query-([a-z-]+)\n# \$[^\n]*\n#+\n(.*?)(?=^####|\Z)", text, re.MULTILINE | re.DOTALL)
        for query, listed in parts or [("gpu", text)]:
            fields = fields_in_help(listed)
            assert len(fields) > 5
            asked += len(fields)
            result = gpulse("smi", "--replay", H200, f"--query-{query}={','.join(fields)}", "--format=csv,noheader")
            assert result.code == 0, f"{path.name}: {result.out}"
            if query == "gpu":
                assert len(only_line(result.out).split(", ")) == len(fields)
    assert asked > 1000 or not CAPTURES


def dtd_document(words: str) -> str:
    """A log with every element of NVIDIA's DTD, the same words in each: also those that no published log has."""
    dtd = (ROOT / "tests" / "data" / "h200" / "nvsmi_device.dtd").read_text()
    content = {name: model for name, model in re.findall(r"<!ELEMENT\s+(\w+)\s+(.*?)>", dtd, re.DOTALL)}

    def element(name: str) -> str:
        # Lists have entries of their own; pages and processes have numbers.
        named = dict.fromkeys(re.findall(r"#?\w+", content[name]))
        children = [] if name in LISTS else [word for word in named if word != "#PCDATA"]
        inside = "".join(element(child) for child in children) or words
        attribute = ' id="00000000:01:00.0"' if name == "gpu" else ""
        return f"<{name}{attribute}>{'' if name in LISTS else inside}</{name}>"

    return '<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v13.dtd">\n' + element("nvidia_smi_log")


LISTS = {"mig_devices", "processes", "accounted_processes", "supported_clocks", "retired_pagelist"}
# What a device is called by; the moment; the number of GPUs, which is counted.
NAMES = (
    r"/(timestamp|driver_version|attached_gpus|error_string)"
    r"|/gpu\[0\]/(product_name|uuid|pci/pci_(bus|device|domain|bus_id))"
)


@pytest.mark.parametrize("words", ["N/A", "Unknown Error", "Insufficient Permissions", "Not Found", "Not Supported"])
def test_every_element_of_the_dtd_comes_back(words: str, tmp_path: Path) -> None:
    log = tmp_path / "log.xml"
    log.write_text(dtd_document(words))
    told = {where: values for where, values in xml_leaves(log.read_text()).items() if "".join(values)}
    assert len(told) > 250
    ours = xml_leaves(gpulse("smi", "--replay", log, "-q", "-x").out)
    missing = [one for one in differences(told, ours) if not re.fullmatch(NAMES, one[0])]
    # Not in place of a value, but a state of the fabric, for which today's nvidia-smi says N/A.
    fabric = [("/gpu[0]/fabric/state", ["Not Supported"], ["N/A"])]
    assert missing == (fabric if words == "Not Supported" else [])


@pytest.mark.skipif(not SHARED.is_dir(), reason="no shared fixtures")
def test_processes_that_a_tree_does_not_tell_are_not_none() -> None:
    tree = SHARED / "drm" / "amd-rx6600"
    assert not (tree / "proc").exists()
    assert "GPU processes unknown" in gpulse("--sysroot", tree).out
    assert "processes are not known" in gpulse("smi", "--sysroot", tree).out
    assert "<processes>N/A</processes>" in gpulse("smi", "--sysroot", tree, "-q", "-x").out
