// SPDX-License-Identifier: Apache-2.0
#include "source/drm/pcie_link.hpp"

#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"

namespace gpulse::drm {
namespace {

constexpr auto kGeneration = device_metric("pcie_link_generation");
constexpr auto kWidth = device_metric("pcie_link_width");
constexpr auto kGenerationMax = device_metric("pcie_link_generation_max");
constexpr auto kWidthMax = device_metric("pcie_link_width_max");
constexpr auto kDeviceMax = device_metric("pcie_link_generation_device_max");

Card card_at(const std::string &device, std::uint32_t vendor) {
  Card card;
  card.device = device;
  card.vendor = vendor;
  return card;
}

// A machine whose /sys has the links that the kernel makes.
class PcieLinkTest : public testing::Test {
 protected:
  void add(const std::string &folder, std::string_view vendor, std::string_view pci_class, std::string_view speed,
           std::string_view width, std::string_view max_speed, std::string_view max_width) const {
    machine_.write(folder + "/vendor", std::string(vendor) + "\n");
    machine_.write(folder + "/class", std::string(pci_class) + "\n");
    machine_.write(folder + "/current_link_speed", std::string(speed) + "\n");
    machine_.write(folder + "/current_link_width", std::string(width) + "\n");
    machine_.write(folder + "/max_link_speed", std::string(max_speed) + "\n");
    machine_.write(folder + "/max_link_width", std::string(max_width) + "\n");
  }

  // Links card0 to the device, as the kernel does: relative, and in two steps.
  Card link_card(const std::string &device, std::uint32_t vendor) const {
    machine_.make_folder(device + "/drm/card0");
    machine_.link(device + "/drm/card0/device", "../..");
    machine_.link("/sys/class/drm/card0", "../../.." + device + "/drm/card0");
    return card_at("/sys/class/drm/card0/device", vendor);
  }

  Row read(const Card &card) const {
    Row row(Scope::device);
    std::string buffer;
    read_pcie_link(machine_.root(), find_pcie_link(machine_.root(), card), row, buffer);
    return row;
  }

  TemporaryFolder machine_;
};

constexpr auto kRootPort = "/sys/devices/pci0000:00/0000:00:01.0";

TEST_F(PcieLinkTest, ArcTellsItsRealLinkAtTheUpperEndOfItsOwnSwitch) {
  const std::string root_port = kRootPort;
  // On an Intel machine the processor's port is an Intel bridge too, and must not be taken for the card's.
  add(root_port, "0x8086", "0x060400", "32.0 GT/s PCIe", "16", "32.0 GT/s PCIe", "16");
  add(root_port + "/0000:01:00.0", "0x8086", "0x060400", "8.0 GT/s PCIe", "8", "16.0 GT/s PCIe", "8");
  add(root_port + "/0000:01:00.0/0000:02:01.0", "0x8086", "0x060400", "2.5 GT/s PCIe", "1", "2.5 GT/s PCIe", "1");
  const auto device = root_port + "/0000:01:00.0/0000:02:01.0/0000:03:00.0";
  add(device, "0x8086", "0x030000", "2.5 GT/s PCIe", "1", "2.5 GT/s PCIe", "1");
  const auto row = read(link_card(device, 0x8086));
  EXPECT_EQ(row[kGeneration], Reading(3));
  EXPECT_EQ(row[kWidth], Reading(8));
  EXPECT_EQ(row[kDeviceMax], Reading(4));
  EXPECT_EQ(row[kGenerationMax], Reading(4));
  EXPECT_EQ(row[kWidthMax], Reading(8));
}

TEST_F(PcieLinkTest, OlderSlotLimitsWhatBothCanDo) {
  const std::string root_port = kRootPort;
  add(root_port, "0x1022", "0x060400", "8.0 GT/s PCIe", "4", "8.0 GT/s PCIe", "4");
  add(root_port + "/0000:01:00.0", "0x1002", "0x060400", "8.0 GT/s PCIe", "4", "16.0 GT/s PCIe", "16");
  add(root_port + "/0000:01:00.0/0000:02:00.0", "0x1002", "0x060400", "16.0 GT/s PCIe", "16", "16.0 GT/s PCIe", "16");
  const auto device = root_port + "/0000:01:00.0/0000:02:00.0/0000:03:00.0";
  add(device, "0x1002", "0x030000", "16.0 GT/s PCIe", "16", "16.0 GT/s PCIe", "16");
  const auto row = read(link_card(device, 0x1002));
  EXPECT_EQ(row[kGeneration], Reading(3));
  EXPECT_EQ(row[kWidth], Reading(4));
  EXPECT_EQ(row[kDeviceMax], Reading(4));
  EXPECT_EQ(row[kGenerationMax], Reading(3));
  EXPECT_EQ(row[kWidthMax], Reading(4));
}

TEST_F(PcieLinkTest, ArcWithoutBridgesIsNotBelieved) {
  add("/sys/class/drm/card0/device", "0x8086", "0x030000", "2.5 GT/s PCIe", "1", "2.5 GT/s PCIe", "1");
  const auto row = read(card_at("/sys/class/drm/card0/device", 0x8086));
  for (const auto id : kPcieLinkMetrics) EXPECT_TRUE(row[id].is(Reason::not_supported));
}

TEST_F(PcieLinkTest, OthersAreBelievedAsTheyStand) {
  add("/sys/class/drm/card0/device", "0x1002", "0x030000", "5.0 GT/s PCIe", "8", "64.0 GT/s PCIe", "16");
  const auto row = read(card_at("/sys/class/drm/card0/device", 0x1002));
  EXPECT_EQ(row[kGeneration], Reading(2));
  EXPECT_EQ(row[kWidth], Reading(8));
  EXPECT_EQ(row[kGenerationMax], Reading(6));
  EXPECT_EQ(row[kWidthMax], Reading(16));
}

TEST_F(PcieLinkTest, GraphicsInTheProcessorHasNoLink) {
  add("/sys/class/drm/card0/device", "0x8086", "0x030000", "Unknown", "0", "Unknown", "255");
  const auto row = read(card_at("/sys/class/drm/card0/device", 0x8086));
  for (const auto id : kPcieLinkMetrics) EXPECT_TRUE(row[id].is(Reason::not_supported));
}

TEST_F(PcieLinkTest, LinkThatLeadsOutOfTheKernelsFilesIsNotFollowed) {
  add("/elsewhere", "0x1002", "0x060400", "8.0 GT/s PCIe", "4", "8.0 GT/s PCIe", "4");
  add("/elsewhere/device", "0x1002", "0x030000", "16.0 GT/s PCIe", "16", "16.0 GT/s PCIe", "16");
  machine_.link("/sys/class/drm/card0", "../../../elsewhere/device");
  EXPECT_EQ(read(card_at("/sys/class/drm/card0", 0x1002))[kGenerationMax], Reading(4));
}

TEST(PcieGeneration, BySpeed) {
  EXPECT_EQ(parse_pcie_generation("2.5 GT/s PCIe"), 1);
  EXPECT_EQ(parse_pcie_generation("5.0 GT/s PCIe"), 2);
  EXPECT_EQ(parse_pcie_generation("5 GT/s"), 2);  // as older kernels write it
  EXPECT_EQ(parse_pcie_generation("8.0 GT/s PCIe"), 3);
  EXPECT_EQ(parse_pcie_generation("16.0 GT/s PCIe"), 4);
  EXPECT_EQ(parse_pcie_generation("32.0 GT/s PCIe"), 5);
  EXPECT_EQ(parse_pcie_generation("64.0 GT/s PCIe"), 6);
  for (const auto *const bad : {"", "Unknown", "Unknown speed", "16.0", "7.0 GT/s", "nan GT/s", "16.0GT/s"}) {
    EXPECT_EQ(parse_pcie_generation(bad), std::nullopt) << bad;
  }
}

TEST(PcieErrors, TotalsOfTheKernelsLists) {
  EXPECT_EQ(parse_pcie_errors("RxErr 3\nBadTLP 0\nTOTAL_ERR_COR 3"), 3);
  EXPECT_EQ(parse_pcie_errors("Undefined 0\nDLP 1\nTOTAL_ERR_FATAL 1\n"), 1);
  EXPECT_EQ(parse_pcie_errors("TOTAL_ERR_NONFATAL\n"), std::nullopt);
  EXPECT_EQ(parse_pcie_errors("TOTAL_ERR_NONFATAL -1\n"), std::nullopt);
  EXPECT_EQ(parse_pcie_errors("RxErr 3\n"), std::nullopt);
  EXPECT_EQ(parse_pcie_errors(""), std::nullopt);
}

TEST(PcieErrors, OneUnreadableListLeavesTheOthers) {
  const TemporaryFolder machine;
  machine.write("/sys/d/aer_dev_correctable", "RxErr 2\nTOTAL_ERR_COR 7\n");
  machine.write("/sys/d/aer_dev_nonfatal", "nonsense\n");
  Row row(Scope::device);
  std::string buffer;
  read_pcie_errors(machine.root(), {.folder = {}, .slot = {}, .device = "/sys/d"}, row, buffer);
  EXPECT_EQ(row[device_metric("pcie_errors_corrected_total")], Reading(7));
  EXPECT_TRUE(row[device_metric("pcie_errors_nonfatal_total")].is(Reason::error));
  EXPECT_TRUE(row[device_metric("pcie_errors_fatal_total")].is(Reason::not_supported));
}

}  // namespace
}  // namespace gpulse::drm
