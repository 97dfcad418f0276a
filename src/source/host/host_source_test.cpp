// SPDX-License-Identifier: Apache-2.0
#include "source/host/host_source.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "base/temporary_folder.hpp"

namespace gpulse::host {
namespace {

using namespace std::chrono_literals;

class HostSourceTest : public testing::Test {
 protected:
  HostSourceTest() {
    folder.write("/proc/stat", "cpu 100 0 100 700 100 0 0 0\ncpu0 50 0 50 350 50 0 0 0\ncpu1 50 0 50 350 50 0 0 0\n" +
                                   tasks(5000, 9000, 3, 1));
    folder.write("/proc/vmstat", swapped(100, 200));
    folder.write("/proc/loadavg", "0.50 1.25 2.00 1/80 11206\n");
    folder.write("/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 400 kB\nSwapTotal: 200 kB\nSwapFree: 150 kB\n");
    folder.write("/proc/diskstats", disks(1000, 2000));
    folder.write("/proc/net/dev", interfaces(10'000, 20'000));
    folder.write("/proc/pressure/cpu", "some avg10=1.50 avg60=0 avg300=0 total=0\nfull avg10=0.00 avg60=0\n");
    folder.write("/proc/pressure/io", "some avg10=2.50 avg60=0 avg300=0 total=0\nfull avg10=0.75 avg60=0\n");
    folder.write("/proc/pressure/memory", "some avg10=0.10 avg60=0 avg300=0 total=0\nfull avg10=0.05 avg60=0\n");
    folder.write("/proc/uptime", "1234.50 99.00\n");
    for (const auto *name : {"sda", "nvme0n1", "dm-0", "loop0", "nvme1c0n1", "bcache0"}) {
      folder.make_folder(std::string("/sys/block/") + name + "/slaves");
    }
    folder.make_folder("/sys/block/bcache0/slaves/sda");
    folder.write("/sys/block/nvme1c0n1/hidden", "1\n");
    folder.link("/sys/class/net/eth0", "../../devices/pci0000:00/0000:00:03.0/net/eth0");
    folder.link("/sys/class/net/weave", "../../devices/virtual/net/weave");
  }

  // Whatever is not a disk of its own moves much more than the two disks.
  static std::string disks(int sectors_read, int sectors_written) {
    const auto line = [](const std::string &name, int in, int out) {
      return "8 0 " + name + " 1 0 " + std::to_string(in) + " 1 1 0 " + std::to_string(out) + " 1 0 0 0\n";
    };
    return line("sda", sectors_read, 0) + line("sda1", sectors_read * 1000, 0) + line("nvme0n1", 0, sectors_written) +
           line("dm-0", sectors_read * 1000, 0) + line("loop0", sectors_read * 1000, 0) +
           line("bcache0", sectors_read * 1000, 0) + line("nvme1c0n1", sectors_read * 1000, 0);
  }

  static std::string tasks(std::uint64_t interrupts, std::uint64_t switches, int running, int blocked) {
    return "intr " + std::to_string(interrupts) + " 0 0 77 0\nctxt " + std::to_string(switches) +
           "\nbtime 1794787205\nprocesses 4711\nprocs_running " + std::to_string(running) + "\nprocs_blocked " +
           std::to_string(blocked) + "\nsoftirq 1 2 3\n";
  }

  static std::string swapped(std::uint64_t in, std::uint64_t out) {
    return "nr_free_pages 4711\npswpin " + std::to_string(in) + "\npswpout " + std::to_string(out) + "\npgfault 9\n";
  }

  static std::string interfaces(int in, int out) {
    const auto line = [](const std::string &name, int rx, int tx) {
      return name + ": " + std::to_string(rx) + " 1 0 0 0 0 0 0 " + std::to_string(tx) + " 1 0 0 0 0 0 0\n";
    };
    return "Inter-| Receive | Transmit\n" + line("lo", in * 1000, in * 1000) + line("eth0", in, out) +
           line("weave", in * 1000, 0) + line("veth12", in * 1000, 0) + line("wlan0", in, out);
  }

  Outcome read(std::string_view call) {
    const auto readers = source->readers();
    for (std::size_t i = 0; i < readers.size(); ++i) {
      if (readers[i].call == call) return source->read(0, i, now, frame);
    }
    ADD_FAILURE() << call;
    return Outcome::gone;
  }

  void read_all() {
    for (std::size_t i = 0; i < source->readers().size(); ++i) source->read(0, i, now, frame);
  }

  const Reading &operator[](std::string_view key) const { return frame.row[*find_metric(Scope::host, key)]; }
  double number(std::string_view key) const { return (*this)[key].value_or(std::nan("")); }
  const Reading &core(std::size_t place, std::string_view key) const {
    return frame.cores.at(place).row[*find_metric(Scope::core, key)];
  }

  TemporaryFolder folder;
  std::unique_ptr<Source> source = make_host_source(folder.root());
  Frame frame{Row(Scope::host), {}};
  Monotonic now{100s};
};

TEST_F(HostSourceTest, IsOneHost) {
  const auto found = source->discover();
  ASSERT_EQ(found.entities.size(), 1U);
  EXPECT_EQ(found.entities[0].scope, Scope::host);
  EXPECT_EQ(found.entities[0].identity, nullptr);
  EXPECT_TRUE(found.problem.empty());
  EXPECT_FALSE(source->changed());
  EXPECT_EQ(source->name(), "host");
}

TEST_F(HostSourceTest, EveryHostMetricHasOneReader) {
  for_each_metric(Scope::host, [&](MetricId id, const Metric &metric) {
    int readers = 0;
    for (const auto &reader : source->readers()) {
      for (const auto filled : reader.fills) readers += filled == id ? 1 : 0;
    }
    const bool derived = metric.key == "memory_used_percent";
    EXPECT_EQ(readers, derived ? 0 : 1) << metric.key;
  });
}

TEST_F(HostSourceTest, TheFirstReadingHasNoRates) {
  source->discover();
  read_all();
  EXPECT_EQ(number("load_1m"), 0.5);
  EXPECT_EQ(number("load_5m"), 1.25);
  EXPECT_EQ(number("load_15m"), 2);
  EXPECT_EQ(number("memory_total_bytes"), 1'024'000);
  EXPECT_EQ(number("memory_used_bytes"), 600 * 1024);
  EXPECT_EQ(number("memory_available_bytes"), 400 * 1024);
  EXPECT_EQ(number("swap_total_bytes"), 200 * 1024);
  EXPECT_EQ(number("swap_used_bytes"), 50 * 1024);
  EXPECT_EQ(number("pressure_cpu_percent"), 1.5);
  EXPECT_EQ(number("pressure_io_percent"), 2.5);
  EXPECT_EQ(number("pressure_io_full_percent"), 0.75);
  EXPECT_EQ(number("pressure_memory_percent"), 0.1);
  EXPECT_EQ(number("pressure_memory_full_percent"), 0.05);
  EXPECT_EQ(number("uptime_seconds"), 1234.5);
  EXPECT_EQ(number("cpu_count"), 2);
  for (const auto *key : {"cpu_percent", "cpu_iowait_percent", "cpu_steal_percent", "cpu_busiest_core_percent",
                          "disk_read_bytes_per_second", "disk_write_bytes_per_second", "network_rx_bytes_per_second",
                          "network_tx_bytes_per_second"}) {
    EXPECT_TRUE((*this)[key].is(Reason::not_sampled)) << key;
  }
}

TEST_F(HostSourceTest, TheSecondReadingHasExactRates) {
  source->discover();
  read_all();
  now += 2s;
  // Of 400 ticks: 90 user, 10 system, 20 iowait, 40 steal, 240 idle; guest time is part of user.
  folder.write("/proc/stat",
               "cpu 190 0 110 940 120 0 0 40 90 0\ncpu0 140 0 50 450 50 0 0 0 90 0\ncpu1 50 0 60 490 70 0 0 40 0 0\n");
  folder.write("/proc/diskstats", disks(1400, 2100));
  folder.write("/proc/net/dev", interfaces(10'500, 22'000));
  read_all();
  EXPECT_EQ(number("cpu_percent"), 35);
  EXPECT_EQ(number("cpu_iowait_percent"), 5);
  EXPECT_EQ(number("cpu_steal_percent"), 10);
  EXPECT_EQ(number("cpu_busiest_core_percent"), 47.4);  // 90 of 190 ticks
  EXPECT_EQ(number("disk_read_bytes_per_second"), 400 * 512 / 2);
  EXPECT_EQ(number("disk_write_bytes_per_second"), 100 * 512 / 2);
  EXPECT_EQ(number("network_rx_bytes_per_second"), 2 * 500 / 2);  // eth0 and wlan0
  EXPECT_EQ(number("network_tx_bytes_per_second"), 2 * 2000 / 2);
}

TEST_F(HostSourceTest, SharesOfTimeAddUpAsInVmstat) {
  read("/proc/stat");
  // Of 200 ticks: 30 user, 10 nice, 20 system, 80 idle, 40 iowait, 2 irq, 8 softirq, 10 steal; 5 of the 30 in a guest.
  folder.write("/proc/stat", "cpu 130 10 120 780 140 2 8 10 5 0\n");
  read("/proc/stat");
  EXPECT_EQ(number("cpu_user_percent"), 20);
  EXPECT_EQ(number("cpu_system_percent"), 15);
  EXPECT_EQ(number("cpu_idle_percent"), 40);
  EXPECT_EQ(number("cpu_iowait_percent"), 20);
  EXPECT_EQ(number("cpu_steal_percent"), 5);
}

TEST_F(HostSourceTest, TasksInterruptsAndSwitches) {
  read("/proc/stat");
  EXPECT_EQ(number("tasks_running"), 3);
  EXPECT_EQ(number("tasks_blocked"), 1);
  EXPECT_TRUE((*this)["interrupts_per_second"].is(Reason::not_sampled));
  EXPECT_TRUE((*this)["context_switches_per_second"].is(Reason::not_sampled));
  now += 2s;
  folder.write("/proc/stat", "cpu 100 0 100 800 100 0 0 0\n" + tasks(5500, 9001, 70, 0));
  read("/proc/stat");
  EXPECT_EQ(number("tasks_running"), 70);
  EXPECT_EQ(number("tasks_blocked"), 0);
  EXPECT_EQ(number("interrupts_per_second"), 250);
  EXPECT_EQ(number("context_switches_per_second"), 0.5);
  // Within one clock tick the shares stand; what is counted one by one goes on.
  now += 1s;
  folder.write("/proc/stat", "cpu 100 0 100 800 100 0 0 0\n" + tasks(5507, 9003, 2, 0));
  read("/proc/stat");
  EXPECT_EQ(number("tasks_running"), 2);
  EXPECT_EQ(number("interrupts_per_second"), 7);
  EXPECT_EQ(number("cpu_idle_percent"), 100);
}

TEST_F(HostSourceTest, CountersThatWrapOrEndGiveNoRateOnce) {
  folder.write("/proc/stat", "cpu 100 0 100 700 100 0 0 0\n" + tasks(18446744073709551615U, 9000, 3, 1));
  folder.write("/proc/vmstat", swapped(4294967295, 5));
  read_all();
  now += 1s;
  folder.write("/proc/stat", "cpu 100 0 100 800 100 0 0 0\n" + tasks(99, 9010, 3, 1));
  folder.write("/proc/vmstat", swapped(3, 6));
  read_all();
  EXPECT_TRUE((*this)["interrupts_per_second"].is(Reason::not_sampled));
  EXPECT_EQ(number("context_switches_per_second"), 10);
  EXPECT_TRUE((*this)["swap_in_bytes_per_second"].is(Reason::not_sampled));
  EXPECT_EQ(number("swap_out_bytes_per_second"), static_cast<double>(::sysconf(_SC_PAGESIZE)));
  now += 1s;
  folder.write("/proc/stat", "cpu 100 0 100 900 100 0 0 0\nintr 104\n");
  read("/proc/stat");
  EXPECT_EQ(number("interrupts_per_second"), 5);
  for (const auto *key : {"context_switches_per_second", "tasks_running", "tasks_blocked"}) {
    EXPECT_TRUE((*this)[key].is(Reason::not_supported)) << key;
  }
}

TEST_F(HostSourceTest, SwappingIsCountedInBytes) {
  read("/proc/vmstat");
  EXPECT_TRUE((*this)["swap_in_bytes_per_second"].is(Reason::not_sampled));
  now += 2s;
  folder.write("/proc/vmstat", swapped(106, 200));
  read("/proc/vmstat");
  EXPECT_EQ(number("swap_in_bytes_per_second"), 3.0 * static_cast<double>(::sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(number("swap_out_bytes_per_second"), 0);
  // A kernel built without swap shows the file, but not these counters.
  folder.write("/proc/vmstat", "nr_free_pages 4711\n");
  EXPECT_EQ(read("/proc/vmstat"), Outcome::ok);
  EXPECT_TRUE((*this)["swap_in_bytes_per_second"].is(Reason::not_supported));
  folder.remove("/proc/vmstat");
  EXPECT_EQ(read("/proc/vmstat"), Outcome::unsupported);
}

TEST_F(HostSourceTest, MemoryAsFreeTellsIt) {
  folder.write("/proc/meminfo",
               "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 400 kB\nBuffers: 20 kB\n"
               "Cached: 300 kB\nShmem: 70 kB\nSReclaimable: 50 kB\n");
  read("/proc/meminfo");
  EXPECT_EQ(number("memory_free_bytes"), 100 * 1024);
  EXPECT_EQ(number("memory_buffers_bytes"), 20 * 1024);
  EXPECT_EQ(number("memory_cached_bytes"), 350 * 1024);
  EXPECT_EQ(number("memory_shared_bytes"), 70 * 1024);
  folder.write("/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 400 kB\n");
  read("/proc/meminfo");
  for (const auto *key : {"memory_free_bytes", "memory_buffers_bytes", "memory_cached_bytes", "memory_shared_bytes"}) {
    EXPECT_TRUE((*this)[key].is(Reason::not_supported)) << key;
  }
}

TEST_F(HostSourceTest, EachCoreForItself) {
  source->discover();
  read("/proc/stat");
  ASSERT_EQ(frame.cores.size(), 2U);
  EXPECT_EQ(frame.cores[1].id, 1U);
  EXPECT_TRUE(core(0, "cpu_percent").is(Reason::not_sampled));
  EXPECT_TRUE(core(0, "cpu_iowait_percent").is(Reason::not_sampled));
  EXPECT_TRUE(core(0, "clock_mhz").is(Reason::not_sampled));
  // The first works 90 of 190 ticks, the second works 50 of 200 and waits for disks in 20.
  folder.write("/proc/stat",
               "cpu 190 0 110 940 120 0 0 40 90 0\ncpu0 140 0 50 450 50 0 0 0 90 0\ncpu1 50 0 60 480 70 0 0 40 0 0\n");
  read("/proc/stat");
  EXPECT_EQ(core(0, "cpu_percent"), Reading(47.4));
  EXPECT_EQ(core(0, "cpu_iowait_percent"), Reading(0.0));
  EXPECT_EQ(core(1, "cpu_percent"), Reading(25.0));
  EXPECT_EQ(core(1, "cpu_iowait_percent"), Reading(10.0));
  folder.write("/proc/stat", "nonsense\n");
  read("/proc/stat");
  EXPECT_TRUE(frame.cores.empty());
}

TEST_F(HostSourceTest, ClocksOfTheCores) {
  read("/proc/stat");
  EXPECT_EQ(read("processor clocks"), Outcome::ok);
  EXPECT_TRUE(core(0, "clock_mhz").is(Reason::not_supported));

  source->discover();
  folder.write("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3400125\n");
  folder.write("/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "<unknown>\n");
  read("processor clocks");
  EXPECT_EQ(core(0, "clock_mhz"), Reading(3400.125));
  EXPECT_TRUE(core(1, "clock_mhz").is(Reason::error));
}

TEST_F(HostSourceTest, AQuickLookReadsOnlyProc) {
  for (const auto &reader : source->readers()) {
    EXPECT_TRUE(reader.call.starts_with("/proc/") || reader.extra) << reader.call;
  }
}

TEST_F(HostSourceTest, TwoReadingsAtOneMomentKeepWhatWasTold) {
  read_all();
  now += 1s;
  folder.write("/proc/stat", "cpu 150 0 100 750 100 0 0 0\n");
  folder.write("/proc/diskstats", disks(1002, 2000));
  read_all();
  EXPECT_EQ(number("cpu_percent"), 50);
  EXPECT_EQ(number("disk_read_bytes_per_second"), 1024);
  read_all();
  EXPECT_EQ(number("cpu_percent"), 50);
  EXPECT_EQ(number("disk_read_bytes_per_second"), 1024);
}

TEST_F(HostSourceTest, IowaitThatStepsBackCountsAsNone) {
  read("/proc/stat");
  folder.write("/proc/stat", "cpu 150 0 100 750 90 0 0 0\ncpu0 100 0 50 350 45 0 0 0\ncpu1 50 0 50 400 45 0 0 0\n");
  read("/proc/stat");
  EXPECT_EQ(number("cpu_percent"), 50);
  EXPECT_EQ(number("cpu_iowait_percent"), 0);
  EXPECT_EQ(number("cpu_busiest_core_percent"), 100);
}

TEST_F(HostSourceTest, CoresComeAndGo) {
  read("/proc/stat");
  folder.write("/proc/stat", "cpu 150 0 100 750 100 0 0 0\ncpu1 60 0 50 390 50 0 0 0\ncpu2 900 0 0 0 0 0 0 0\n");
  read("/proc/stat");
  EXPECT_EQ(number("cpu_count"), 2);
  EXPECT_EQ(number("cpu_busiest_core_percent"), 20);  // cpu1 alone can be compared
  ASSERT_EQ(frame.cores.size(), 2U);
  EXPECT_EQ(frame.cores[0].id, 1U);
  EXPECT_EQ(core(0, "cpu_percent"), Reading(20.0));
  EXPECT_EQ(frame.cores[1].id, 2U);
  EXPECT_TRUE(core(1, "cpu_percent").is(Reason::not_sampled));
}

TEST_F(HostSourceTest, CountersThatGoBackGiveNoRateOnce) {
  read_all();
  now += 1s;
  folder.write("/proc/stat", "cpu 10 0 10 70 10 0 0 0\n");
  folder.write("/proc/diskstats", disks(10, 20));
  folder.write("/proc/net/dev", interfaces(100, 200));
  read_all();
  for (const auto *key : {"cpu_percent", "disk_read_bytes_per_second", "disk_write_bytes_per_second",
                          "network_rx_bytes_per_second", "network_tx_bytes_per_second"}) {
    EXPECT_TRUE((*this)[key].is(Reason::not_sampled)) << key;
  }
  now += 1s;
  folder.write("/proc/stat", "cpu 60 0 10 120 10 0 0 0\n");
  folder.write("/proc/diskstats", disks(12, 20));
  read_all();
  EXPECT_EQ(number("cpu_percent"), 50);
  EXPECT_EQ(number("disk_read_bytes_per_second"), 1024);
}

TEST_F(HostSourceTest, ADiskThatComesBringsNoPast) {
  read("/proc/diskstats");
  now += 1s;
  folder.make_folder("/sys/block/sdb/slaves");
  const std::string newcomer = "8 16 sdb 1 0 1000000 1 1 0 1000000 1 0 0 0\n";
  folder.write("/proc/diskstats", newcomer + disks(1002, 2002));
  read("/proc/diskstats");
  EXPECT_EQ(number("disk_read_bytes_per_second"), 1024);
  now += 1s;
  folder.write("/proc/diskstats", disks(1004, 2002));
  read("/proc/diskstats");
  EXPECT_EQ(number("disk_read_bytes_per_second"), 1024);
}

TEST_F(HostSourceTest, WithoutSysNamesDecide) {
  folder.remove("/sys");
  // Without the folders nothing is known of them: bcache0 and the hidden path count.
  const auto only = [](int sectors) {
    const auto text = std::to_string(sectors);
    return "8 0 sda 1 0 " + text + " 1 1 0 0 1 0 0 0\n8 1 sda1 1 0 " + text + "000 1 1 0 0 1 0 0 0\n" +
           "8 0 nvme0n1 1 0 0 1 1 0 0 1 0 0 0\n8 1 nvme0n1p2 1 0 " + text + "000 1 1 0 0 1 0 0 0\n" + "9 0 md0 1 0 " +
           text + "000 1 1 0 0 1 0 0 0\n202 1 xvda1 1 0 " + text + " 1 1 0 0 1 0 0 0\n";
  };
  folder.write("/proc/diskstats", only(2));
  read("/proc/diskstats");
  read("/proc/net/dev");
  now += 1s;
  folder.write("/proc/diskstats", only(4));
  folder.write("/proc/net/dev", interfaces(10'001, 20'000));
  read("/proc/diskstats");
  read("/proc/net/dev");
  EXPECT_EQ(number("disk_read_bytes_per_second"), 2 * 1024);  // sda and the lone xvda1
  EXPECT_EQ(number("network_rx_bytes_per_second"), 1002);     // eth0, wlan0 and weave, whose name says nothing
}

TEST_F(HostSourceTest, NothingToCountIsNotZero) {
  folder.write("/proc/diskstats", "7 0 loop0 1 0 1 1 1 0 1 1 0 0 0\n");
  folder.write("/proc/net/dev", "lo: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n");
  EXPECT_EQ(read("/proc/diskstats"), Outcome::ok);
  EXPECT_EQ(read("/proc/net/dev"), Outcome::ok);
  EXPECT_TRUE((*this)["disk_read_bytes_per_second"].is(Reason::not_supported));
  EXPECT_TRUE((*this)["network_rx_bytes_per_second"].is(Reason::not_supported));
}

TEST_F(HostSourceTest, AMissingFileIsNotSupported) {
  folder.remove("/proc/pressure");
  EXPECT_EQ(read("/proc/pressure/io"), Outcome::unsupported);
  EXPECT_TRUE((*this)["pressure_io_percent"].is(Reason::not_supported));
  EXPECT_TRUE((*this)["pressure_io_full_percent"].is(Reason::not_supported));
  folder.write("/proc/pressure/memory", "some avg10=0.10 avg60=0\n");
  EXPECT_EQ(read("/proc/pressure/memory"), Outcome::ok);
  EXPECT_EQ(number("pressure_memory_percent"), 0.1);
  EXPECT_TRUE((*this)["pressure_memory_full_percent"].is(Reason::not_supported));
}

TEST_F(HostSourceTest, AFileThatIsNotForUsIsNoPermission) {
  // Root may read everything, so drop to nobody for a moment.
  const auto user = ::geteuid();
  if (user == 0 && ::seteuid(65534) != 0) GTEST_SKIP() << "no other user to be";
  std::error_code ignored;
  std::filesystem::permissions(folder.path("/proc/meminfo"), std::filesystem::perms::none, ignored);
  const auto outcome = read("/proc/meminfo");
  ASSERT_EQ(::seteuid(user), 0);
  EXPECT_EQ(outcome, Outcome::ok);
  EXPECT_TRUE((*this)["memory_used_bytes"].is(Reason::no_permission));
}

TEST_F(HostSourceTest, NonsenseIsAnErrorUntilItEnds) {
  read_all();
  now += 1s;
  for (const auto &reader : source->readers()) {
    if (!reader.call.starts_with("/proc/")) continue;
    folder.write(reader.call, "nonsense 1 -1 nan\n");
    read(reader.call);
    for (const auto id : reader.fills) EXPECT_TRUE(frame.row[id].is(Reason::error)) << describe(id).key;
  }
  now += 1s;
  folder.write("/proc/loadavg", "1 1 1\n");
  EXPECT_EQ(read("/proc/loadavg"), Outcome::ok);
  EXPECT_EQ(number("load_1m"), 1);
}

TEST_F(HostSourceTest, AnyCountersGiveSaneNumbers) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    now += std::chrono::milliseconds(random() % 3000);
    const auto any = [&] { return std::to_string(random() >> (11 + random() % 53)) + " "; };
    std::string stat;
    for (const auto *name : {"cpu ", "cpu0 ", "cpu1 "}) {
      stat += name;
      for (int i = 0; i < 10; ++i) stat += any();
      stat += '\n';
    }
    folder.write("/proc/stat", stat + "intr " + any() + "\nctxt " + any() + "\nprocs_running " + any() + "\n");
    folder.write("/proc/vmstat", "pswpin " + any() + "\npswpout " + any() + "\n");
    folder.write("/proc/diskstats", "8 0 sda 1 0 " + any() + "1 1 0 " + any() + "1 0 0 0\n");
    folder.write("/proc/net/dev", "eth0: " + any() + "1 0 0 0 0 0 0 " + any() + "1 0 0 0 0 0 0\n");
    folder.write("/proc/meminfo", "MemTotal: " + any() + "kB\nMemAvailable: " + any() + "kB\nSwapTotal: " + any() +
                                      "kB\nSwapFree: " + any() + "kB\n");
    read_all();
    for_each_metric(Scope::host, [&](MetricId id, const Metric &metric) {
      const double value = frame.row[id].value_or(0);
      EXPECT_TRUE(std::isfinite(value) && value >= 0) << metric.key << ' ' << value;
      EXPECT_TRUE(metric.unit != Unit::percent || value <= 100 + 1e-9) << metric.key << ' ' << value;
    });
  }
}

TEST(HostSource, ReadsThisMachine) {
  const auto source = make_host_source(Sysroot());
  source->discover();
  Frame frame{Row(Scope::host), {}};
  for (std::size_t i = 0; i < source->readers().size(); ++i) source->read(0, i, monotonic_now(), frame);
  EXPECT_GE(frame.row[host_metric("cpu_count")].value_or(0), 1);
  EXPECT_GT(frame.row[host_metric("memory_total_bytes")].value_or(0), 0);
  EXPECT_GT(frame.row[host_metric("uptime_seconds")].value_or(0), 0);
}

}  // namespace
}  // namespace gpulse::host
