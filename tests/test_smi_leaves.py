"""Every value of every log of nvidia-smi that other people published comes out of gpulse again, where it was and as it was.
What does not is listed here with the reason. The files are read where they lie; those beside the code are our own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from harness import ROOT, gpulse
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
