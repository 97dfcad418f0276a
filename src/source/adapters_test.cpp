// SPDX-License-Identifier: Apache-2.0
#include "source/adapters.hpp"

#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"

namespace gpulse {
namespace {

// A machine with two switches below the first root bus, one below the second, and a second processor.
class Machine {
 public:
  void add_device(const std::string &path, const std::string &numa) {
    const auto pci = path.substr(path.rfind('/') + 1);
    folder_.write("/sys/devices/" + path + "/numa_node", numa + "\n");
    folder_.link("/sys/bus/pci/devices/" + pci, "../../../devices/" + path);
  }
  void add_adapter(const std::string &name, const std::string &path, const std::string &numa) {
    add_device(path, numa);
    folder_.link("/sys/class/infiniband/" + name, "../../devices/" + path + "/infiniband/" + name);
  }
  void add_tunnel(const std::string &name) {
    folder_.link("/sys/class/infiniband/" + name, "../../devices/virtual/infiniband/" + name);
  }
  Sysroot root() const { return folder_.root(); }

 private:
  TemporaryFolder folder_;
};

std::vector<std::string> names(const std::vector<NetworkAdapter> &adapters) {
  std::vector<std::string> list;
  for (const auto &adapter : adapters) list.push_back(adapter.name.str());
  return list;
}

TEST(Adapters, TheirWayToADeviceIsWhatLiesBetween) {
  Machine machine;
  machine.add_device("pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0/0000:1b:00.0", "0");
  // Behind the same switch; behind another switch below that one; below another port of the same root bus.
  machine.add_adapter("mlx5_0", "pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:02.0/0000:18:00.0", "0");
  machine.add_adapter("mlx5_1",
                      "pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:04.0/0000:1c:00.0/0000:1d:08.0/0000:1e:00.0", "0");
  machine.add_adapter("mlx5_2", "pci0000:15/0000:15:05.0/0000:29:00.0", "0");
  machine.add_adapter("mlx5_3", "pci0000:37/0000:37:01.0/0000:38:00.0", "0");
  machine.add_adapter("mlx5_4", "pci0000:97/0000:97:01.0/0000:98:00.0", "1");
  // The second port of the first adapter.
  machine.add_adapter("mlx5_5", "pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:02.0/0000:18:00.1", "0");
  const auto gpu = pci_place(machine.root(), "0000:1b:00.0");
  const auto adapters = network_adapters(machine.root());
  ASSERT_EQ(adapters.size(), 6U);
  std::vector<std::string_view> ways;
  for (const auto &adapter : adapters) ways.push_back(path_between(gpu, adapter.place));
  EXPECT_EQ(ways, (std::vector<std::string_view>{"PIX", "PXB", "PHB", "NODE", "SYS", "PIX"}));
  EXPECT_EQ(path_between(adapters[0].place, adapters[5].place), "PIX");
  EXPECT_EQ(path_between(adapters[4].place, adapters[3].place), "SYS");
}

TEST(Adapters, AreCountedAsPeopleCount) {
  Machine machine;
  for (const auto *number : {"10", "2", "0"}) {
    machine.add_adapter(std::string("mlx5_") + number, "pci0000:00/0000:00:1" + std::string(number).substr(0, 1) + ".0",
                        "0");
  }
  machine.add_adapter("mlx5_bond_0", "pci0000:00/0000:00:1f.0", "0");
  // Without a PCI device behind it: a tunnel over any network.
  machine.add_tunnel("rxe0");
  EXPECT_EQ(names(network_adapters(machine.root())),
            (std::vector<std::string>{"mlx5_0", "mlx5_2", "mlx5_10", "mlx5_bond_0"}));
}

TEST(Adapters, AnUnknownPlaceIsNotCalledNear) {
  Machine machine;
  machine.add_adapter("mlx5_0", "pci0000:15/0000:15:01.0/0000:16:00.0", "0");
  const auto adapter = network_adapters(machine.root()).at(0).place;
  EXPECT_EQ(path_between(adapter, pci_place(machine.root(), "0000:99:00.0")), "N/A");
  EXPECT_EQ(path_between(pci_place(machine.root(), "../../etc"), adapter), "N/A");
}

}  // namespace
}  // namespace gpulse
