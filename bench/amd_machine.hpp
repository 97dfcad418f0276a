// SPDX-License-Identifier: Apache-2.0
// A folder that stands for a machine with one AMD graphics card, programs that use it and programs that do not.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "base/temporary_folder.hpp"

namespace gpulse::bench {

class AmdMachine {
 public:
  AmdMachine(std::uint32_t users, std::uint32_t others) {
    add_card();
    folder_.write("/proc/uptime", "360000.00 700000.00\n");
    for (std::uint32_t i = 0; i < users; ++i) add_process(kFirstUser + i, true);
    for (std::uint32_t i = 0; i < others; ++i) add_process(kFirstOther + i, false);
  }
  Sysroot root() const { return folder_.root(); }
  std::string path() const { return folder_.path(); }

 private:
  static constexpr std::uint32_t kFirstUser = 1000, kFirstOther = 10000;

  void add_card() const {
    const std::string device = "/sys/class/drm/card1/device";
    constexpr std::array<std::pair<const char *, const char *>, 46> kFiles{{
        {"uevent",
         "DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_ID=1002:744C\nPCI_SUBSYS_ID=1DA2:E471\n"
         "PCI_SLOT_NAME=0000:03:00.0\n"},
        {"revision", "0xc8\n"},
        {"unique_id", "a1b2c3d4e5f60718\n"},
        {"power/runtime_status", "active\n"},
        {"drm/renderD128/dev", "226:128\n"},
        {"gpu_busy_percent", "37\n"},
        {"mem_busy_percent", "12\n"},
        {"mem_info_vram_total", "25753026560\n"},
        {"mem_info_vram_used", "4123456512\n"},
        {"mem_info_vis_vram_total", "25753026560\n"},
        {"mem_info_vis_vram_used", "4123456512\n"},
        {"mem_info_gtt_total", "33554432000\n"},
        {"mem_info_gtt_used", "123456512\n"},
        {"pp_dpm_sclk", "0: 500Mhz \n1: 1500Mhz *\n2: 2526Mhz \n"},
        {"pp_dpm_mclk", "0: 96Mhz \n1: 456Mhz \n2: 772Mhz \n3: 1249Mhz *\n"},
        {"pp_dpm_socclk", "0: 500Mhz \n1: 1200Mhz *\n"},
        {"pp_dpm_fclk", "0: 500Mhz \n1: 1500Mhz *\n2: 2000Mhz \n"},
        {"pp_dpm_vclk", "0: 614Mhz *\n1: 2200Mhz \n"},
        {"power_dpm_force_performance_level", "auto\n"},
        {"current_link_speed", "16.0 GT/s PCIe\n"},
        {"current_link_width", "16\n"},
        {"max_link_speed", "16.0 GT/s PCIe\n"},
        {"max_link_width", "16\n"},
        {"pcie_replay_count", "0\n"},
        {"numa_node", "0\n"},
        {"vbios_version", "113-D70401\n"},
        {"hwmon/hwmon4/name", "amdgpu\n"},
        {"hwmon/hwmon4/temp1_label", "edge\n"},
        {"hwmon/hwmon4/temp1_input", "52000\n"},
        {"hwmon/hwmon4/temp1_crit", "100000\n"},
        {"hwmon/hwmon4/temp1_emergency", "105000\n"},
        {"hwmon/hwmon4/temp2_label", "junction\n"},
        {"hwmon/hwmon4/temp2_input", "61000\n"},
        {"hwmon/hwmon4/temp2_crit", "110000\n"},
        {"hwmon/hwmon4/temp3_label", "mem\n"},
        {"hwmon/hwmon4/temp3_input", "66000\n"},
        {"hwmon/hwmon4/power1_average", "143000000\n"},
        {"hwmon/hwmon4/power1_cap", "339000000\n"},
        {"hwmon/hwmon4/power1_cap_max", "389000000\n"},
        {"hwmon/hwmon4/freq1_input", "1874000000\n"},
        {"hwmon/hwmon4/freq1_label", "sclk\n"},
        {"hwmon/hwmon4/freq2_input", "1249000000\n"},
        {"hwmon/hwmon4/freq2_label", "mclk\n"},
        {"hwmon/hwmon4/in0_input", "806\n"},
        {"hwmon/hwmon4/in0_label", "vddgfx\n"},
        {"hwmon/hwmon4/fan1_input", "1043\n"},
    }};
    for (const auto &[file, text] : kFiles) folder_.write(device + "/" + file, text);
    // As a card with the layout 1.3 would tell, with all that it could not.
    std::string table(120, '\xFF');
    table.replace(0, 4, std::string("\x78\x00\x01\x03", 4));
    folder_.write(device + "/gpu_metrics", table);
  }

  void add_process(std::uint32_t pid, bool user) const {
    const auto folder = fmt::format("/proc/{}", pid);
    folder_.write(folder + "/stat", fmt::format("{} (program) S 1 1 1 0 -1 4194560 5000 0 0 0 1200 300 0 0 20 0 8 0 {} "
                                                "2500000000 50000 18446744073709551615 1 1 0 0 0 0 0 0 0\n",
                                                pid, 1000 + pid));
    folder_.write(folder + "/status", "Name:\tprogram\nUid:\t1000\t1000\t1000\t1000\n");
    folder_.write(folder + "/cmdline", std::string("program\0--of-a-user\0", 20));
    folder_.write(folder + "/cgroup", "0::/user.slice/user-1000.slice\n");
    for (const auto *fd : {"0", "1", "2", "3", "4", "5"}) folder_.link(folder + "/fd/" + fd, "/dev/null");
    if (!user) return;
    folder_.link(folder + "/fd/6", "/dev/dri/renderD128");
    folder_.write(folder + "/fdinfo/6", client(pid));
  }

  static std::string client(std::uint32_t id) {
    std::string text = fmt::format(
        "pos:\t0\nflags:\t02100002\nmnt_id:\t26\nino:\t623\ndrm-driver:\tamdgpu\n"
        "drm-client-id:\t{}\ndrm-pdev:\t0000:03:00.0\npasid:\t32785\n",
        id);
    for (const auto *region : {"cpu", "gtt", "vram", "gds", "gws", "oa", "doorbell"}) {
      for (const auto *what : {"total", "shared", "active", "resident", "purgeable"}) {
        text += fmt::format("drm-{}-{}:\t{} KiB\n", what, region, id);
      }
    }
    for (const auto *old : {"drm-memory-vram", "drm-memory-gtt", "drm-memory-cpu", "amd-evicted-vram",
                            "amd-requested-vram", "amd-requested-gtt"}) {
      text += fmt::format("{}:\t{} KiB\n", old, id);
    }
    return text + "drm-engine-gfx:\t39456116802 ns\ndrm-engine-compute:\t1234567 ns\ndrm-engine-dma:\t99999 ns\n";
  }

  TemporaryFolder folder_;
};

}  // namespace gpulse::bench
