// SPDX-License-Identifier: Apache-2.0
#include "view/gpustat.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "view/testing.hpp"

namespace gpulse::view {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr double kMiB = 1024.0 * 1024.0;

Device full_device(std::uint32_t index, std::string name = "Some GPU 80GB") {
  auto device = testing::make_device(index, std::move(name));
  auto &row = device.row;
  row[device_metric("gpu_utilization_percent")] = 42;
  row[device_metric("temperature_gpu_celsius")] = 61;
  row[device_metric("fan_speed_percent")] = 30;
  row[device_metric("encoder_utilization_percent")] = 49;
  row[device_metric("decoder_utilization_percent")] = 50;
  row[device_metric("power_draw_watts")] = 298000 * 1e-3;
  row[device_metric("power_limit_watts")] = 700;
  row[device_metric("memory_used_bytes")] = 10240.9 * kMiB;
  row[device_metric("memory_total_bytes")] = 81559 * kMiB;
  row[device_metric("process_count")] = 0;
  return device;
}

Process job(std::uint32_t pid, std::uint32_t device, std::uint32_t place, std::vector<std::string> arguments) {
  auto process = testing::make_process(pid, device, "not used");
  process.place = place;
  process.row[process_metric("gpu_memory_bytes")] = 9000 * kMiB;
  process.row[process_metric("cpu_percent")] = 99.5;
  process.row[process_metric("host_memory_bytes")] = 10240 * 1024;
  process.arguments = std::make_shared<const std::vector<std::string>>(std::move(arguments));
  return process;
}

Snapshot one_device() {
  Snapshot snapshot;
  snapshot.hostname = "node7";
  snapshot.time = WallTime(std::chrono::seconds(1794709878) + std::chrono::microseconds(42));
  snapshot.devices.push_back(full_device(0));
  return snapshot;
}

std::string line(const Snapshot &snapshot, GpustatOptions options) {
  options.header = false;
  return render_gpustat(snapshot, options);
}

GpustatOptions everything() {
  GpustatOptions all;
  all.command = all.user = all.pid = all.fan = all.encoder = all.decoder = all.power = all.power_limit = true;
  return all;
}

TEST(Gpustat, ALinePerDevice) {
  auto snapshot = one_device();
  EXPECT_EQ(line(snapshot, {}), "[0] Some GPU 80GB | 61°C,  42 % | 10240 / 81559 MB |\n");
  EXPECT_EQ(line(snapshot, {.processes = false}), "[0] Some GPU 80GB | 61°C,  42 % | 10240 / 81559 MB\n");
  EXPECT_EQ(line(snapshot, everything()),
            "[0] Some GPU 80GB | 61°C,  30 %,  42 % (E:  49 %  D:  50 %),  298 / 700 W | 10240 / 81559 MB |\n");
  EXPECT_EQ(line(snapshot, {.decoder = true, .power = true}),
            "[0] Some GPU 80GB | 61°C,  42 % (D:  50 %),  298 W | 10240 / 81559 MB |\n");
}

TEST(Gpustat, TheHeader) {
  auto snapshot = one_device();
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  EXPECT_THAT(render_gpustat(snapshot, {}), StartsWith("node7             Sun Nov 15 02:31:18 2026  580.159.04\n[0]"));
  snapshot.origin = "DEMO";
  EXPECT_THAT(render_gpustat(snapshot, {}), HasSubstr("  580.159.04  DEMO\n"));
  snapshot.devices.clear();
  EXPECT_EQ(render_gpustat(snapshot, {}),
            "node7                Sun Nov 15 02:31:18 2026  None  DEMO\n(No GPUs are available)\n");
  snapshot.sources = {{.name = "x", .problem = "", .remedy = "", .driver = "1.2"}};
  EXPECT_THAT(render_gpustat(snapshot, {}), HasSubstr(" 2026  1.2  DEMO\n"));
}

TEST(Gpustat, Names) {
  auto snapshot = one_device();
  snapshot.devices.push_back(full_device(1, "A much longer one"));
  EXPECT_THAT(line(snapshot, {}), StartsWith("[0] Some GPU 80GB     | 61"));
  EXPECT_THAT(line(snapshot, {.name_width = 5}), StartsWith("[0] …80GB | 61"));
  EXPECT_THAT(line(snapshot, {.name_width = 1}), StartsWith("[0] … | 61"));
  EXPECT_THAT(line(snapshot, {.name_width = 0}), StartsWith("[0]  61°C"));
  EXPECT_THAT(line(snapshot, {.name_width = 20}), StartsWith("[0] Some GPU 80GB        | 61"));
  snapshot.devices[0] = full_device(0, "Grüße\x1B[2J");
  EXPECT_THAT(line(snapshot, {.name_width = 7}), StartsWith("[0] …ße [2J | 61"));
}

TEST(Gpustat, WhatIsNotKnown) {
  auto snapshot = one_device();
  snapshot.devices[0].row.fill(Reason::not_supported);
  EXPECT_EQ(line(snapshot, everything()),
            "[0] Some GPU 80GB | ??°C,  ?? %,  ?? % (E:  ?? %  D:  ?? %),   ?? /  ?? W |    ?? /    ?? MB | (Not "
            "Supported)\n");
  snapshot.devices[0].state = DeviceState::lost;
  snapshot.devices[0].row.fill(Reason::lost);
  EXPECT_EQ(line(snapshot, {.power = true}),
            "[0] ((GPU is lost)) |  ?°C,   ? %,    ? W |     ? /     ? MB | (Not Supported)\n");
  snapshot.devices[0].row.fill(Reading(Reason::error, 999));
  EXPECT_THAT(line(snapshot, {}), StartsWith("[0] ((Unknown Error)) |  ?°C"));
}

TEST(Gpustat, Processes) {
  auto snapshot = one_device();
  snapshot.processes = {job(41, 0, 1, {"/usr/bin/python3", "train.py"}), job(500, 0, 0, {"blender"})};
  snapshot.processes[1].row[process_metric("gpu_memory_bytes")] = 0;
  EXPECT_THAT(line(snapshot, {}), EndsWith(" MB | ann(?M) ann(9000M)\n"));
  EXPECT_THAT(line(snapshot, {.command = true}), EndsWith(" MB | blender(?M) python3(9000M)\n"));
  EXPECT_THAT(line(snapshot, {.command = true, .user = true, .pid = true}),
              EndsWith(" MB | ann:blender/500(?M) ann:python3/41(9000M)\n"));
  EXPECT_THAT(line(snapshot, {.full_command = true}),
              EndsWith(" MB | ann(?M) ann(9000M)\n"
                       " ├─    500 ( 100%,   10MB): blender\n"
                       " └─     41 ( 100%,   10MB): /usr/bin/python3 train.py\n"));
}

TEST(Gpustat, ProcessesThatAreOver) {
  auto snapshot = one_device();
  snapshot.processes = {job(1, 0, 0, {"a"}), job(2, 0, 1, {}), job(3, 0, 2, {"c"})};
  snapshot.processes[0].gone = true;
  snapshot.processes[0].arguments.reset();
  snapshot.processes[1].gone = true;
  snapshot.processes[2].types = static_cast<std::uint8_t>(ProcessType::mps);
  EXPECT_THAT(line(snapshot, {.command = true, .full_command = true, .pid = true}),
              EndsWith(" MB | ?/2(9000M)\n └─      2 (   0%,     0B): ?\n"));
}

TEST(Gpustat, ProcessesOfARecordingOrAnotherNamespace) {
  auto snapshot = one_device();
  snapshot.processes = {testing::make_process(7, 0, "/opt/run me"), testing::make_process(8, 0, "x")};
  snapshot.processes[1].texts.reset();
  snapshot.processes[1].row.fill(Reason::no_permission);
  EXPECT_THAT(line(snapshot, {.command = true, .full_command = true, .user = true}),
              EndsWith(" | ann:run(112844M) ?:?(?M)\n"
                       " ├─      7 ( 101%,   12GB): /opt/run me\n"
                       " └─      8 (  --%,      ?): ?\n"));
}

TEST(Gpustat, CommandsAreSafeToPrint) {
  auto snapshot = one_device();
  snapshot.processes = {job(7, 0, 0, {"//opt///x\x1B]0;hi\x07", "a\nb", ""})};
  EXPECT_THAT(line(snapshot, {.full_command = true}), EndsWith("): //opt/x ]0;hi  a b \n"));
}

TEST(Gpustat, InstancesCountWithTheirDevice) {
  auto snapshot = one_device();
  snapshot.devices.push_back(full_device(1, "instance"));
  snapshot.devices[1].id = {.index = 0, .instance = 0};
  snapshot.processes = {job(7, 0, 0, {"a"}), job(7, 0, 0, {"a"}), job(3, 0, 1, {"b"})};
  snapshot.processes[0].device = snapshot.processes[2].device = snapshot.devices[1].id;
  EXPECT_THAT(line(snapshot, {.pid = true}), EndsWith(" MB | ann/7(9000M) ann/3(9000M)\n"));
}

TEST(Gpustat, ChosenDevices) {
  auto snapshot = one_device();
  snapshot.devices.push_back(full_device(1));
  const auto text = line(snapshot, {.devices = std::vector<std::uint32_t>{1, 0, 1, 9}});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_THAT(text, StartsWith("[1]"));
}

TEST(Gpustat, Colours) {
  auto snapshot = one_device();
  auto options = everything();
  options.colour = true;
  snapshot.processes = {job(41, 0, 0, {"/bin/x", "y"})};
  options.full_command = true;
  EXPECT_EQ(line(snapshot, options),
            "\033[36m[0]\033[m \033[34mSome GPU 80GB\033[m |\033[1m\033[31m 61°C\033[m, \033[1m\033[36m 30 %\033[m, "
            "\033[1m\033[32m 42 %\033[m (\033[1mE: \033[m\033[32m 49 %\033[m  \033[1mD: \033[m\033[1m\033[32m 50 "
            "%\033[m),  \033[1m\033[35m298\033[m / \033[35m700\033[m \033[35mW\033[m | \033[36m\033[1m\033[33m10240"
            "\033[m / \033[33m81559\033[m MB | \033[1m\033[30mann\033[m:\033[36mx\033[m/41(\033[33m9000M\033[m)\n"
            "\033[m └─     41 \033[m(\033[32m 100%\033[m, \033[33m  10MB\033[m)\033[m: \033[38;5;24m\033[38;5;24m/bin/"
            "\033[36mx\033[38;5;24m y\033[m\n");
  options.normal = "\033[0;10m";
  EXPECT_THAT(line(snapshot, options), Not(HasSubstr("\033[m")));
  snapshot.devices[0].row[device_metric("power_draw_watts")] = 279.9;
  EXPECT_THAT(line(snapshot, options), HasSubstr(",  \033[35m279\033[0;10m / "));
}

TEST(Gpustat, Json) {
  auto snapshot = one_device();
  snapshot.devices[0].row[device_metric("fan_speed_percent")] = Reason::not_supported;
  snapshot.devices.push_back(full_device(1));
  snapshot.devices[1].state = DeviceState::lost;
  snapshot.devices[1].row.fill(Reason::lost);
  snapshot.processes = {job(41, 0, 0, {"/bin/x", "ü\x1B\xFF\"\U0001F600\n"})};
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  const std::string wanted = R"json({
    "hostname": "node7",
    "driver_version": "580.159.04",
    "query_time": "2026-11-15T02:31:18.000042",
    "gpus": [
        {
            "index": 0,
            "uuid": "GPU-00000000-0000",
            "name": "Some GPU 80GB",
            "temperature.gpu": 61,
            "fan.speed": null,
            "utilization.gpu": 42,
            "utilization.enc": 49,
            "utilization.dec": 50,
            "power.draw": 298,
            "enforced.power.limit": 700,
            "memory.used": 10240,
            "memory.total": 81559,
            "processes": [
                {
                    "username": "ann",
                    "command": "x",
                    "full_command": [
                        "/bin/x",
                        "\u00fc\u001b\ufffd\"\ud83d\ude00\n"
                    ],
                    "gpu_memory_usage": 9000,
                    "cpu_percent": 99.5,
                    "cpu_memory_usage": 10485760,
                    "pid": 41
                }
            ]
        },
        {
            "index": 1,
            "name": "((GPU is lost))",
            "processes": null
        }
    ]
}
)json";
  EXPECT_EQ(gpustat_json(snapshot, {}), wanted);
  EXPECT_EQ(gpustat_json(Snapshot{}, {}),
            "{\n    \"hostname\": \"\",\n    \"driver_version\": null,\n    \"query_time\": null,\n"
            "    \"gpus\": []\n}\n");
}

TEST(Gpustat, ReportOfWhatIsMissing) {
  auto snapshot = one_device();
  for (std::uint32_t i = 1; i < 4; ++i) snapshot.devices.push_back(full_device(i));
  snapshot.devices[1].row[device_metric("fan_speed_percent")] = Reason::not_supported;
  snapshot.devices[2].row[device_metric("fan_speed_percent")] = Reason::not_supported;
  snapshot.devices[3].state = DeviceState::asleep;
  EXPECT_EQ(gpustat_report(snapshot),
            "> An error while retrieving `fan_speed`: not supported -> Total 2 occurrences.\n"
            "> An error while retrieving `GPU 3`: asleep -> Total 1 occurrences.\n\n");
}

}  // namespace
}  // namespace gpulse::view
