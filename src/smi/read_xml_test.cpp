// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/nvml_error.hpp"
#include "smi/testing.hpp"
#include "smi/value.hpp"

namespace gpulse::smi {
namespace {

using ::testing::HasSubstr;

TEST(SmiXml, Identity) {
  const auto snapshot = read(
      "<driver_version>535.1</driver_version><cuda_version>Not Found</cuda_version><attached_gpus>6</attached_gpus>"
      "<gpu id=\"0000:2D:00.0\"><product_name>NVIDIA &lt;A&gt; &#65;</product_name><uuid>GPU-1</uuid>"
      "<serial>0320717030197</serial></gpu>"
      "<gpu><pci><pci_bus_id>00000000:82:1F.7</pci_bus_id></pci><minor_number>0</minor_number></gpu>"
      "<gpu id=\"nonsense\"><uuid>GPU-1</uuid></gpu><gpu></gpu><gpu><uuid>GPU-1</uuid></gpu>");
  ASSERT_EQ(snapshot.devices.size(), 5U);
  EXPECT_EQ(snapshot.devices[4].identity->uuid, "GPU-1#3");
  const auto &first = *snapshot.devices[0].identity;
  EXPECT_EQ(first.source, "nvidia-smi");
  EXPECT_EQ(first.vendor, "nvidia");
  EXPECT_EQ(first.driver, "535.1");
  EXPECT_EQ(first.name, "NVIDIA <A> A");
  EXPECT_EQ(first.pci, "0000:2d:00.0");
  EXPECT_EQ(first.texts[device_metric("serial")], TextReading("0320717030197"));
  EXPECT_EQ(first.texts[device_metric("cuda_version")], TextReading(Reason::not_supported, nvml_code::kNotFound));
  EXPECT_EQ(snapshot.devices[1].identity->pci, "0000:82:1f.7");
  EXPECT_EQ(snapshot.devices[1].identity->uuid, "PCI-0000:82:1f.7");
  EXPECT_EQ(snapshot.devices[1].identity->name, "NVIDIA GPU");
  EXPECT_EQ(snapshot.devices[1].id.index, 1U);
  EXPECT_EQ(snapshot.devices[2].identity->uuid, "GPU-1#2");
  EXPECT_EQ(snapshot.devices[2].identity->pci, "");
  EXPECT_EQ(snapshot.devices[3].identity->uuid, "LOG-3");
}

TEST(SmiXml, ALostDevice) {
  const auto device = gpu("<product_name>GPU is lost</product_name><fan_speed>GPU is lost</fan_speed>");
  EXPECT_EQ(device.state, DeviceState::lost);
  EXPECT_EQ(device.identity->name, "NVIDIA GPU");
  EXPECT_EQ(number(device, "fan_speed_percent"), Reading(Reason::lost));
}

TEST(SmiXml, TheSnapshotSaysLogAndNothingOfTheHost) {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  const auto snapshot = read("<timestamp>Wed Sep  6 21:52:51 2017</timestamp><gpu/>");
  EXPECT_EQ(iso8601_utc(snapshot.time), "2017-09-06T21:52:51.000Z");
  EXPECT_EQ(snapshot.origin, "LOG");
  EXPECT_EQ(snapshot.hostname, "");
  for (const auto &reading : snapshot.host.readings()) EXPECT_EQ(reading, Reading(Reason::not_supported));
  for (const auto &reading : snapshot.self.readings()) EXPECT_EQ(reading, Reading(Reason::not_supported));
  for (const auto *time :
       {"", "yesterday", "Wed Sep 6 25:00:00 2017", "Wed Sop 6 21:52:51 2017", "Wed Sep 6 21:52:51 0"}) {
    EXPECT_FALSE(has_time(read("<timestamp>" + std::string(time) + "</timestamp>"))) << time;
  }
  EXPECT_FALSE(has_time(read("")));
}

TEST(SmiXml, LocalTimeIsThatOfThisMachine) {
  ::setenv("TZ", "EST5", 1);
  ::tzset();
  EXPECT_EQ(iso8601_utc(read("<timestamp>Wed Sep 6 21:52:51 2017</timestamp>").time), "2017-09-07T02:52:51.000Z");
  ::setenv("TZ", "UTC", 1);
  ::tzset();
}

constexpr const char *kInstances =
    "<gpu><uuid>GPU-a</uuid><product_name>A100</product_name><mig_devices>"
    "<mig_device><index>0</index><gpu_instance_id>3</gpu_instance_id><compute_instance_id>0</compute_instance_id>"
    "<device_attributes><shared><multiprocessor_count>14</multiprocessor_count><jpg_count>1</jpg_count></shared></"
    "device_attributes>"
    "<ecc_error_count><volatile_count><sram_uncorrectable>2</sram_uncorrectable></volatile_count></ecc_error_count>"
    "<fb_memory_usage><total>19968 MiB</total><used>12 MiB</used></fb_memory_usage></mig_device>"
    "<mig_device><gpu_instance_id>4</gpu_instance_id><compute_instance_id>1</compute_instance_id></mig_device>"
    "</mig_devices><processes><process_info><gpu_instance_id>4</gpu_instance_id>"
    "<compute_instance_id>1</compute_instance_id><pid>7</pid><type>C</type></process_info>"
    "<process_info><gpu_instance_id>N/A</gpu_instance_id><pid>8</pid><type>C</type></process_info></processes></gpu>"
    "<gpu><uuid>GPU-b</uuid><mig_devices>None</mig_devices></gpu>";

TEST(SmiXml, InstancesComeWithTheirDeviceAndTakeNoNumber) {
  const auto snapshot = read(kInstances);
  ASSERT_EQ(snapshot.devices.size(), 4U);
  EXPECT_EQ(text(snapshot.devices[0].id), "0");
  EXPECT_EQ(text(snapshot.devices[2].id), "0:1");
  EXPECT_EQ(text(snapshot.devices[3].id), "1");
  EXPECT_EQ(snapshot.devices[3].identity->uuid, "GPU-b");
  const auto &instance = snapshot.devices[1];
  EXPECT_EQ(text(instance.id), "0:0");
  EXPECT_EQ(instance.identity->parent, "GPU-a");
  EXPECT_EQ(instance.identity->uuid, "MIG-GPU-a/3/0");
  EXPECT_EQ(instance.identity->label, "3/0");
  EXPECT_EQ(instance.identity->name, "A100 MIG 3/0");
  EXPECT_EQ(number(instance, "memory_total_bytes"), Reading(19968 * kMiB));
  EXPECT_EQ(number(instance, "memory_used_bytes"), Reading(12 * kMiB));
  EXPECT_EQ(number(instance, "multiprocessor_count"), Reading(14.0));
  EXPECT_EQ(number(instance, "jpeg_count"), Reading(1.0));
  EXPECT_EQ(number(instance, "gpu_instance_id"), Reading(3.0));
  EXPECT_EQ(number(instance, "ecc_sram_uncorrected_volatile_total"), Reading(2.0));
  EXPECT_EQ(number(instance, "gpu_utilization_percent"), Reading(Reason::not_supported));
  EXPECT_EQ(snapshot.devices[2].identity->label, "4/1");
}

TEST(SmiXml, AProcessBelongsToItsInstance) {
  const auto snapshot = read(kInstances);
  ASSERT_EQ(snapshot.processes.size(), 2U);
  EXPECT_EQ(snapshot.processes[0].pid, 8U);
  EXPECT_EQ(text(snapshot.processes[0].device), "0");
  EXPECT_EQ(snapshot.processes[1].pid, 7U);
  EXPECT_EQ(text(snapshot.processes[1].device), "0:1");
  EXPECT_EQ(number(snapshot.devices[0], "process_count"), Reading(1.0));
  EXPECT_EQ(number(snapshot.devices[1], "process_count"), Reading(0.0));
  EXPECT_EQ(number(snapshot.devices[2], "process_count"), Reading(1.0));
  EXPECT_EQ(number(snapshot.devices[3], "process_count"), Reading(Reason::not_supported));
}

TEST(SmiXml, Processes) {
  const auto process = [](const std::string &pid, const std::string &type, const std::string &name,
                          const std::string &memory) {
    return "<process_info><pid>" + pid + "</pid><type>" + type + "</type><process_name>" + name +
           "</process_name><used_memory>" + memory + "</used_memory></process_info>";
  };
  const auto snapshot = read(
      "<gpu><processes>" + process("9", "C+G", "C:\\Program Files\\A B\\c.exe", "Not available in WDDM driver model") +
      process("2", "M+C", "/usr/bin/python3 train.py --a=/b", "2283 MiB") +
      process("3", "G", "[Insufficient Permissions]", "lots") + process("4", "C", "./a", "1 MiB") +
      process("4", "G", "./a", "1 MiB") + process("10", "C", "/usr/lib/plexmediaserver/Plex Transcoder", "1 MiB") +
      process("11", "G", "", "1 MiB") + process("12", "G", "C:\\A - B\\x.EXE --type=gpu", "1 MiB") +
      "</processes></gpu>");
  ASSERT_EQ(snapshot.processes.size(), 7U);
  const auto memory = [&](std::size_t i) { return snapshot.processes[i].row[process_metric("gpu_memory_bytes")]; };
  const auto name = [&](std::size_t i) { return (*snapshot.processes[i].texts)[process_metric("name")]; };
  const auto command = [&](std::size_t i) { return (*snapshot.processes[i].texts)[process_metric("command")]; };
  EXPECT_EQ(type_word(snapshot.processes[0].types), "compute+mps");
  EXPECT_EQ(name(0), TextReading("python3 train.py"));
  EXPECT_EQ(command(0), TextReading("/usr/bin/python3 train.py --a=/b"));
  EXPECT_EQ((*snapshot.processes[0].texts)[process_metric("program")], command(0));  // the log tells them as one
  EXPECT_EQ(memory(0), Reading(2283 * kMiB));
  EXPECT_EQ(type_word(snapshot.processes[1].types), "graphics");
  EXPECT_EQ(name(1), TextReading(Reason::no_permission));
  EXPECT_EQ(memory(1), Reading(Reason::error));
  EXPECT_EQ(type_word(snapshot.processes[2].types), "compute+graphics");  // listed twice
  EXPECT_EQ(name(3), TextReading("c.exe"));
  EXPECT_EQ(memory(3), Reading(Reason::not_supported, kNotInWddm));
  EXPECT_EQ(name(4), TextReading("Plex Transcoder"));
  EXPECT_EQ(name(5), TextReading(""));
  EXPECT_EQ(name(6), TextReading("x.EXE"));
  EXPECT_EQ(number(snapshot.devices[0], "process_count"), Reading(7.0));
}

TEST(SmiXml, AProcessWithoutANumberLeavesTheirCountUnknown) {
  const auto snapshot = read("<gpu><processes><process_info><pid>x</pid></process_info></processes></gpu>");
  EXPECT_TRUE(snapshot.processes.empty());
  EXPECT_EQ(number(snapshot.devices[0], "process_count"), Reading(Reason::error));
  EXPECT_EQ(number(gpu("<processes>N/A</processes>"), "process_count"), Reading(Reason::not_supported));
}

TEST(SmiXml, ListsOfTheDetails) {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  const auto device = gpu(
      "<supported_clocks><supported_mem_clock><value>3201 MHz</value><supported_graphics_clock>1980 MHz"
      "</supported_graphics_clock><supported_graphics_clock>345 MHz</supported_graphics_clock></supported_mem_clock>"
      "</supported_clocks>"
      "<retired_pages><multiple_single_bit_retirement><retired_count>1</retired_count><retired_page_addresses>"
      "<retired_page_address>0x10</retired_page_address></retired_page_addresses></multiple_single_bit_retirement>"
      "<double_bit_retirement><retired_count>1</retired_count><retired_pagelist><retired_page><retired_page_address>"
      "0x44e99d</retired_page_address><retired_page_timestamp>Thu Jan 1 00:01:00 1970</retired_page_timestamp>"
      "</retired_page></retired_pagelist></double_bit_retirement></retired_pages>"
      "<accounted_processes><accounted_process_info><pid>5</pid><gpu_util>66 %</gpu_util><memory_util>N/A</memory_util>"
      "<max_memory_usage>10 MiB</max_memory_usage><time>1500 ms</time><is_running>0</is_running>"
      "</accounted_process_info></accounted_processes>"
      "<power_profiles><power_profile_requested_profiles><power_profile_requested_profile>2"
      "</power_profile_requested_profile><power_profile_requested_profile>5</power_profile_requested_profile>"
      "</power_profile_requested_profiles></power_profiles>");
  const auto &details = *device.details;
  ASSERT_EQ(details.clocks.size(), 1U);
  EXPECT_EQ(details.clocks[0].memory_mhz, 3201);
  EXPECT_EQ(details.clocks[0].graphics_mhz, (std::vector<double>{1980, 345}));
  EXPECT_EQ(number(device, "supported_clock_count"), Reading(2.0));
  ASSERT_EQ(details.retired_pages.size(), 2U);
  EXPECT_EQ(details.retired_pages[0].address, 0x10U);
  EXPECT_FALSE(details.retired_pages[0].double_bit);
  EXPECT_EQ(details.retired_pages[1].address, 0x44e99dU);
  EXPECT_EQ(details.retired_pages[1].time, 60);
  EXPECT_TRUE(details.retired_pages[1].double_bit);
  EXPECT_EQ(number(device, "retired_page_count"), Reading(2.0));
  ASSERT_EQ(details.accounted.size(), 1U);
  EXPECT_EQ(details.accounted[0].gpu_percent, Reading(66.0));
  EXPECT_EQ(details.accounted[0].memory_percent, Reading(Reason::not_supported));
  EXPECT_EQ(details.accounted[0].memory_max_bytes, Reading(10 * kMiB));
  EXPECT_EQ(details.accounted[0].running_seconds, Reading(1.5));
  EXPECT_FALSE(details.accounted[0].running);
  EXPECT_EQ(details.texts[detail_metric("workload_profiles_requested")], TextReading("2, 5"));
}

TEST(SmiXml, ListsThatAreNotThereSayWhy) {
  const auto device = gpu("<supported_clocks>N/A</supported_clocks><accounted_processes>\n</accounted_processes>");
  EXPECT_EQ(number(device, "supported_clock_count"), Reading(Reason::not_supported));
  EXPECT_EQ(number(device, "accounted_process_count"), Reading(0.0));
  EXPECT_EQ(number(device, "retired_page_count"), Reading(Reason::not_supported));
}

TEST(SmiXml, NoGpuIsNoError) {
  const auto snapshot = read("<attached_gpus>0</attached_gpus>");
  EXPECT_TRUE(snapshot.devices.empty());
  EXPECT_FALSE(snapshot.sources.at(0).problem.empty());
}

TEST(SmiXml, ALogMadeInALoopHoldsSeveralMoments) {
  const auto log = read_log(document("<gpu/>") + document("<gpu/><gpu/>"), "log");
  ASSERT_TRUE(log);
  ASSERT_EQ(log->size(), 2U);
  EXPECT_EQ((*log)[1]->devices.size(), 2U);
}

TEST(SmiXml, RefusedInOneLine) {
  EXPECT_EQ(refusal("<nvidia_smi_log>\n<gpu></nvidia_smi_log>"),
            "log: line 2: bad XML: Start-end tags mismatch: is the file whole?");
  EXPECT_THAT(refusal("<html><body/></html>"), HasSubstr("no log of nvidia-smi"));
  EXPECT_THAT(refusal("<html\x1b[2J><body/></html\x1b[2J>"), ::testing::Not(HasSubstr("\x1b")));
  EXPECT_THAT(refusal("<?xml version=\"1.0\"?>"), HasSubstr("bad XML"));
  EXPECT_THAT(refusal(""), HasSubstr("log: empty"));
  EXPECT_THAT(refusal(std::string(kLargestLog + 1, ' ')), HasSubstr("too large"));
}

TEST(SmiXml, EntitiesAreNotExpanded) {
  const auto log = read_log(
      "<!DOCTYPE nvidia_smi_log [<!ENTITY a \"ha\"><!ENTITY b SYSTEM \"file:///etc/hostname\">]>"
      "<nvidia_smi_log><gpu><product_name>&a;&b;&amp;</product_name></gpu></nvidia_smi_log>",
      "log");
  ASSERT_TRUE(log) << log.error().line();
  EXPECT_EQ(log->front()->devices.at(0).identity->name, "&a;&b;&");
}

TEST(SmiXml, Bounds) {
  std::string many;
  for (int i = 0; i < 1025; ++i) many += "<gpu/>";
  EXPECT_THAT(refusal(document(many)), HasSubstr("more than 1024 GPUs"));
  many = "<gpu><processes>";
  for (int i = 0; i < 65537; ++i) many += "<process_info><pid>1</pid></process_info>";
  EXPECT_THAT(refusal(document(many + "</processes></gpu>")), HasSubstr("more than 65536 processes"));
  many = "<gpu><mig_devices>";
  for (int i = 0; i < 8193; ++i) many += "<mig_device/>";
  EXPECT_THAT(refusal(document(many + "</mig_devices></gpu>")), HasSubstr("more than 8192 MIG devices"));
  many.clear();
  for (int i = 0; i < 16384; ++i) many += "<nvidia_smi_log><gpu/></nvidia_smi_log>";
  EXPECT_THAT(refusal(many), HasSubstr("too many moments: cut the file"));
  EXPECT_THAT(refusal(document(std::string(std::size_t{1} << 23U, '<'))), HasSubstr("too many elements"));
  std::string deep;
  for (int i = 0; i < 200000; ++i) deep += "<a>";
  for (int i = 0; i < 200000; ++i) deep += "</a>";
  EXPECT_EQ(read("<gpu>" + deep + "</gpu>").devices.size(), 1U);
  const auto device = gpu("<product_name>" + std::string(10000, 'x') + "</product_name>");
  EXPECT_EQ(device.identity->name.size(), 4096U);
}

TEST(SmiXml, OtherEncodingsAndWhatStandsBefore) {
  const auto text = document("<gpu><product_name>A</product_name></gpu>");
  std::string wide = "\xFF\xFE";
  for (const char c : text) wide += std::string(1, c) + '\0';
  for (const auto &form : {wide, "\xEF\xBB\xBF" + text, "WARNING: infoROM is corrupted at gpu 0000:02:00.0\n" + text}) {
    EXPECT_TRUE(is_log(form));
    const auto log = read_log(form, "log");
    ASSERT_TRUE(log) << log.error().line();
    EXPECT_EQ(log->front()->devices.at(0).identity->name, "A");
  }
}

}  // namespace
}  // namespace gpulse::smi
