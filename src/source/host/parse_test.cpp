// SPDX-License-Identifier: Apache-2.0
#include "source/host/parse.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

namespace gpulse::host {
namespace {

TEST(ParseStat, AllAndEachCore) {
  StatText text;
  ASSERT_TRUE(
      parse_stat("cpu  100 10 50 800 20 3 2 15 40 5\n"
                 "cpu0 60 5 25 400 10 2 1 8 40 5\n"
                 "cpu3 40 5 25 400 10 1 1 7 0 0\n"
                 "intr 12345 0 0\nctxt 1\n",
                 text));
  EXPECT_EQ(text.all, (CpuTimes{100, 10, 50, 800, 20, 3, 2, 15}));
  ASSERT_EQ(text.cores.size(), 2U);
  EXPECT_EQ(text.cores[1].id, 3U);
  EXPECT_EQ(text.cores[1].times[CpuField::steal], 7U);
}

TEST(ParseStat, OldKernelsHaveFewerFields) {
  StatText text;
  ASSERT_TRUE(parse_stat("cpu 1 2 3 4\n", text));
  EXPECT_EQ(text.all, (CpuTimes{1, 2, 3, 4, 0, 0, 0, 0}));
  EXPECT_TRUE(text.cores.empty());
}

TEST(ParseStat, RefusesNonsense) {
  StatText text;
  for (const auto *bad : {"", "intr 1\n", "cpu\n", "cpu 1 2 3\n", "cpu 1 2 3 x\n", "cpu 1 2 3 -4\n", "cpux 1 2 3 4\n",
                          "cpu0 1 2 3 4\n", "cpu 1 2 3 99999999999999999999\n"}) {
    EXPECT_FALSE(parse_stat(bad, text)) << bad;
  }
}

TEST(ParseStat, TasksAndWhatTheKernelDoesForThem) {
  StatText text;
  const std::string quiet_lines(20'000, '0');
  ASSERT_TRUE(parse_stat("cpu 1 2 3 4\nintr 12345 9 0 " + quiet_lines +
                             "\nctxt 678\nbtime 1794787205\nprocesses 2362899\nprocs_running 3\nprocs_blocked 0\n"
                             "softirq 5 1 2 2\n",
                         text));
  EXPECT_EQ(text.tasks.interrupts, 12345U);
  EXPECT_EQ(text.tasks.context_switches, 678U);
  EXPECT_EQ(text.tasks.running, 3U);
  EXPECT_EQ(text.tasks.blocked, 0U);
}

TEST(ParseStat, WhatTheKernelDoesNotCountIsNotZero) {
  StatText text;
  ASSERT_TRUE(parse_stat("cpu 1 2 3 4\nintr 7 7\nctxt 8\nprocs_running 1\nprocs_blocked 0\n", text));
  ASSERT_TRUE(parse_stat("cpu 1 2 3 4\nctxt 678\nbtime 1\n", text));
  EXPECT_FALSE(text.tasks.interrupts);
  EXPECT_EQ(text.tasks.context_switches, 678U);
  EXPECT_FALSE(text.tasks.running);
  EXPECT_FALSE(text.tasks.blocked);
  // A sandbox that has all the lines and counts nothing.
  ASSERT_TRUE(parse_stat("cpu 1 2 3 4\nintr 0\nctxt 0\nprocs_running 0\nprocs_blocked 0\n", text));
  EXPECT_FALSE(text.tasks.interrupts);
  EXPECT_FALSE(text.tasks.context_switches);
  EXPECT_FALSE(text.tasks.running);
  EXPECT_FALSE(text.tasks.blocked);
}

TEST(ParseStat, RefusesCountsThatAreNone) {
  StatText text;
  for (const auto *bad : {"intr\n", "intr x 1\n", "ctxt -1\n", "ctxt 18446744073709551616\n", "procs_running 1.5\n",
                          "procs_blocked \n"}) {
    EXPECT_FALSE(parse_stat(std::string("cpu 1 2 3 4\n") + bad, text)) << bad;
  }
  EXPECT_TRUE(parse_stat("cpu 1 2 3 4\nctxt 18446744073709551615\n", text));
  EXPECT_EQ(text.tasks.context_switches, 18446744073709551615U);
}

TEST(ParseLoadavg, ThreeMeans) {
  EXPECT_EQ(parse_loadavg("0.20 1.18 12.00 1/80 11206\n"), (std::array{0.20, 1.18, 12.00}));
  EXPECT_FALSE(parse_loadavg("0.20 1.18"));
  EXPECT_FALSE(parse_loadavg("0.20 -1.18 2"));
  EXPECT_FALSE(parse_loadavg("nan 1 2"));
}

TEST(ParseMeminfo, Kilobytes) {
  const auto memory = parse_meminfo(
      "MemTotal:       16000 kB\nMemFree:         1000 kB\nMemAvailable:    4000 kB\n"
      "SwapCached:         7 kB\nSwapTotal:       2000 kB\nSwapFree:         500 kB\n");
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->total_bytes, 16384000);
  EXPECT_EQ(memory->available_bytes, 4096000);
  EXPECT_EQ(memory->swap_total_bytes, 2048000);
  EXPECT_EQ(memory->swap_free_bytes, 512000);
}

// The numbers of a machine on which free -wb said: free 19310333952, shared 13062144, buffers 47325184 and cache
// 4921839616.
TEST(ParseMeminfo, CountsTheCacheAsFreeDoes) {
  const auto memory = parse_meminfo(
      "MemTotal:       24684112 kB\nMemFree:        18857748 kB\nMemAvailable:   23385372 kB\n"
      "Buffers:           46216 kB\nCached:          4360472 kB\nSwapCached:            0 kB\n"
      "Shmem:             12756 kB\nKReclaimable:     446013 kB\nSReclaimable:     446012 kB\n");
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->free_bytes, 19310333952);
  EXPECT_EQ(memory->shared_bytes, 13062144);
  EXPECT_EQ(memory->buffers_bytes, 47325184);
  EXPECT_EQ(memory->cached_bytes, 4921839616);
}

TEST(ParseMeminfo, WhatIsNotToldIsNotZero) {
  const auto memory = parse_meminfo("MemTotal: 100 kB\nMemAvailable: 10 kB\nSReclaimable: 5 kB\n");
  ASSERT_TRUE(memory);
  EXPECT_FALSE(memory->free_bytes);
  EXPECT_FALSE(memory->buffers_bytes);
  EXPECT_FALSE(memory->cached_bytes);
  EXPECT_FALSE(memory->shared_bytes);
  EXPECT_EQ(parse_meminfo("MemTotal: 100 kB\nMemAvailable: 10 kB\nCached: 5 kB\n")->cached_bytes, 5 * 1024);
  EXPECT_FALSE(
      parse_meminfo("MemTotal: 1 kB\nMemAvailable: 1 kB\nCached: 9e307 kB\nSReclaimable: 9e307 kB\n")->cached_bytes);
}

TEST(ParseMeminfo, OldKernelsDoNotSayWhatIsAvailable) {
  const auto memory = parse_meminfo("MemTotal: 100 kB\nMemFree: 10 kB\nBuffers: 5 kB\nCached: 25 kB\n");
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->available_bytes, 40 * 1024);
  EXPECT_FALSE(memory->swap_total_bytes);
}

TEST(ParseMeminfo, RefusesNonsense) {
  EXPECT_FALSE(parse_meminfo(""));
  EXPECT_FALSE(parse_meminfo("MemTotal: 100 kB\n"));
  EXPECT_FALSE(parse_meminfo("MemTotal: x kB\nMemAvailable: 1 kB\n"));
  EXPECT_FALSE(parse_meminfo("MemTotal: 1e308 kB\nMemAvailable: 1 kB\n"));
}

TEST(ParseVmstat, PagesSwapped) {
  const auto pages = parse_vmstat("nr_free_pages 4711\npgpgin 9\npswpin 12\npswpout 34\npswpin_other x\n");
  ASSERT_TRUE(pages);
  EXPECT_EQ(pages->in, 12U);
  EXPECT_EQ(pages->out, 34U);
}

TEST(ParseVmstat, AKernelWithoutSwapHasNoCounters) {
  const auto pages = parse_vmstat("nr_free_pages 4711\npgpgin 9\npgpgout 8\n");
  ASSERT_TRUE(pages);
  EXPECT_FALSE(pages->in);
  EXPECT_FALSE(pages->out);
}

TEST(ParseVmstat, RefusesNonsense) {
  for (const auto *bad : {"", "\n", "nonsense\n", "nonsense 1 -1 nan\n", "pgpgin 9\npswpin x\n", "pswpin -1\n",
                          "pswpin 1\npswpout 18446744073709551616\n"}) {
    EXPECT_FALSE(parse_vmstat(bad)) << bad;
  }
}

TEST(ParseDiskstats, SectorsAre512Bytes) {
  std::vector<Flow> flows;
  ASSERT_TRUE(
      parse_diskstats("   8       0 sda 10 1 200 5 20 2 400 9 0 1 2 0 0 0 0\n"
                      " 259       0 nvme0n1 1 0 2 0 0 0 4 0 0 0 0\n",
                      flows));
  ASSERT_EQ(flows.size(), 2U);
  EXPECT_EQ(flows[0].name, "sda");
  EXPECT_EQ(flows[0].in, 102400U);
  EXPECT_EQ(flows[0].out, 204800U);
  EXPECT_EQ(flows[1].out, 2048U);
  EXPECT_TRUE(parse_diskstats("", flows));
  EXPECT_TRUE(flows.empty());
  EXPECT_FALSE(parse_diskstats("8 0 sda 1 2 3\n", flows));
  EXPECT_FALSE(parse_diskstats("8 0 sda 1 2 x 4 5 6 7 8\n", flows));
  EXPECT_FALSE(parse_diskstats("8 0 sda 1 2 36028797018963968 4 5 6 7 8\n", flows));
}

TEST(ParseNetDev, NamesAndBytes) {
  std::vector<Flow> flows;
  ASSERT_TRUE(
      parse_net_dev("Inter-|   Receive                |  Transmit\n"
                    " face |bytes    packets errs drop|bytes\n"
                    "    lo: 100 1 0 0 0 0 0 0 100 1 0 0 0 0 0 0\n"
                    "eth0:1234 2 0 0 0 0 0 0 5678 3 0 0 0 0 0 0\n"
                    "eth0:1: 9 2 0 0 0 0 0 0 8 3 0 0 0 0 0 0\n",
                    flows));
  ASSERT_EQ(flows.size(), 3U);
  EXPECT_EQ(flows[0].name, "lo");
  EXPECT_EQ(flows[1].name, "eth0");
  EXPECT_EQ(flows[1].in, 1234U);
  EXPECT_EQ(flows[1].out, 5678U);
  EXPECT_EQ(flows[2].name, "eth0:1");
  EXPECT_FALSE(parse_net_dev("eth0 1 2 3\n", flows));
  EXPECT_FALSE(parse_net_dev("eth0: 1 2 3\n", flows));
  EXPECT_FALSE(parse_net_dev(": 1 2 3 4 5 6 7 8 9\n", flows));
}

TEST(ParsePressure, MeanOverTenSeconds) {
  const auto both = parse_pressure(
      "some avg10=1.53 avg60=0.87 avg300=0.73 total=1088168194\nfull avg10=0.25 avg60=0 avg300=0 total=0\n");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->some_percent, 1.53);
  EXPECT_EQ(both->full_percent, 0.25);
  EXPECT_FALSE(parse_pressure("some avg10=0.00 avg60=0.00\n")->full_percent);
  for (const auto *bad : {"", "full avg10=0.25\n", "some avg60=0\n", "some avg10=x\n", "some avg10=101\n"}) {
    EXPECT_FALSE(parse_pressure(bad)) << bad;
  }
}

TEST(ParseUptime, FirstNumber) {
  EXPECT_EQ(parse_uptime("350735.47 234388.90\n"), 350735.47);
  EXPECT_FALSE(parse_uptime(""));
  EXPECT_FALSE(parse_uptime("-1 2"));
  EXPECT_FALSE(parse_uptime("inf"));
}

bool sane(double value) { return std::isfinite(value) && value >= 0; }

// Words and separators of real files in random order get further into a parser than random bytes.
std::string any_text(std::mt19937 &random) {
  static const std::string kPieces[] = {"cpu",
                                        "cpu0",
                                        "cpu1",
                                        " ",
                                        "\n",
                                        ":",
                                        "|",
                                        "1",
                                        "-1",
                                        "9e99",
                                        "nan",
                                        "inf",
                                        "some",
                                        "full",
                                        "avg10=",
                                        "eth0",
                                        "sda ",
                                        "1 2 3 4 5 6 7 8 9 10 11 ",
                                        "18446744073709551615 ",
                                        "MemTotal: ",
                                        "MemAvailable: ",
                                        "SwapTotal: ",
                                        "SwapFree: ",
                                        "Cached: ",
                                        "SReclaimable: ",
                                        "intr ",
                                        "ctxt ",
                                        "procs_running ",
                                        "procs_blocked ",
                                        "pswpin ",
                                        "pswpout ",
                                        "kB\n",
                                        std::string(1, '\0')};
  std::string text;
  for (auto pieces = random() % 30; pieces > 0; --pieces) {
    if (random() % 4 == 0) {
      text += static_cast<char>(random());
    } else {
      text += kPieces[random() % std::size(kPieces)];
    }
  }
  return text;
}

TEST(Parsers, AnyTextGivesSaneNumbersOrNone) {
  std::mt19937 random(7);
  StatText cpu;
  std::vector<Flow> flows;
  for (int round = 0; round < 50'000; ++round) {
    const auto text = any_text(random);
    parse_stat(text, cpu);
    parse_diskstats(text, flows);
    parse_net_dev(text, flows);
    parse_vmstat(text);
    if (const auto load = parse_loadavg(text)) {
      for (const double value : *load) ASSERT_TRUE(sane(value)) << text;
    }
    if (const auto memory = parse_meminfo(text)) {
      ASSERT_TRUE(sane(memory->total_bytes) && sane(memory->available_bytes)) << text;
      ASSERT_TRUE(sane(memory->swap_total_bytes.value_or(0)) && sane(memory->swap_free_bytes.value_or(0))) << text;
      ASSERT_TRUE(sane(memory->free_bytes.value_or(0)) && sane(memory->buffers_bytes.value_or(0))) << text;
      ASSERT_TRUE(sane(memory->cached_bytes.value_or(0)) && sane(memory->shared_bytes.value_or(0))) << text;
    }
    if (const auto pressure = parse_pressure(text)) {
      ASSERT_TRUE(sane(pressure->some_percent) && sane(pressure->full_percent.value_or(0))) << text;
    }
    ASSERT_TRUE(sane(parse_uptime(text).value_or(0))) << text;
  }
}

}  // namespace
}  // namespace gpulse::host
