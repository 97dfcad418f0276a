// SPDX-License-Identifier: Apache-2.0
#include "source/drm/names.hpp"

#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"

namespace gpulse::drm {

namespace {

constexpr std::string_view kAmdTable =
    "# List of AMDGPU IDs\n"
    "1.0.0\n"
    "73BF,\tC0,\tAMD Radeon RX 6900 XT\n"
    "73BF,\tC1,\tAMD Radeon RX 6800 XT\n"
    "744C,\tC8,\tAMD Radeon RX 7900 XTX\n";

constexpr std::string_view kPciTable =
    "# a comment\n"
    "1001  Somebody\n"
    "\t744c  Not this one\n"
    "1002  Advanced Micro Devices, Inc. [AMD/ATI]\n"
    "\t744c  Navi 31 [Radeon RX 7900 XT/7900 XTX]\n"
    "\t\t1043 0506  TUF Gaming Radeon RX 7900 XTX OC\n"
    "\t\t1849 5304  Radeon RX 7900 XTX\n"
    "# between two devices\n"
    "\t0bad  Phoenix1\n"
    "8086  Intel Corporation\n"
    "\t56a5  DG2 [Arc A380]\n"
    "\t\t1849 6004  Challenger ITX\n"
    "C 03  Display controller\n"
    "\t00  VGA compatible controller\n";

Card card_of(std::uint32_t vendor, std::uint32_t product) {
  Card card;
  card.vendor = vendor;
  card.product = product;
  card.driver = "amdgpu";
  return card;
}

TEST(AmdNames, GoByDeviceAndRevision) {
  EXPECT_EQ(find_amd_name(kAmdTable, 0x73bf, 0xc0), "AMD Radeon RX 6900 XT");
  EXPECT_EQ(find_amd_name(kAmdTable, 0x73bf, 0xc1), "AMD Radeon RX 6800 XT");
  EXPECT_EQ(find_amd_name(kAmdTable, 0x73bf, 0xc3), "");
  EXPECT_EQ(find_amd_name(kAmdTable, 0x744c, 0xc0), "");
}

TEST(PciNames, AreFoundBelowTheirVendorOnly) {
  const auto names = find_pci_names(kPciTable, 0x1002, 0x744c, 0x1849, 0x5304);
  EXPECT_EQ(names.vendor, "Advanced Micro Devices, Inc. [AMD/ATI]");
  EXPECT_EQ(names.device, "Navi 31 [Radeon RX 7900 XT/7900 XTX]");
  EXPECT_EQ(names.subsystem, "Radeon RX 7900 XTX");
  EXPECT_EQ(find_pci_names(kPciTable, 0x1002, 0x0bad, 0, 0).device, "Phoenix1");
  EXPECT_EQ(find_pci_names(kPciTable, 0x1002, 0x56a5, 0, 0).device, "");
  EXPECT_EQ(find_pci_names(kPciTable, 0x8086, 0x56a5, 0x1849, 0x6004).subsystem, "Challenger ITX");
  // "C 03" is a device class, not a vendor, and "00" below it is not a device.
  EXPECT_EQ(find_pci_names(kPciTable, 0x8086, 0x00, 0, 0).device, "");
}

TEST(PciNames, OfATableThatEndsInTheMiddleOfALine) {
  EXPECT_EQ(find_pci_names("1002  AMD\n\t744c  Nav", 0x1002, 0x744c, 0, 0).device, "Nav");
  EXPECT_EQ(find_pci_names("1002  AMD", 0x1002, 0x744c, 0, 0).device, "");
  EXPECT_EQ(find_pci_names("1002", 0x1002, 0x744c, 0, 0).vendor, "");
  EXPECT_EQ(find_pci_names("", 0x1002, 0x744c, 0, 0).vendor, "");
}

class NamesOfCards : public testing::Test {
 protected:
  NamesOfCards() {
    folder.write("/usr/share/libdrm/amdgpu.ids", kAmdTable);
    folder.write("/usr/share/misc/pci.ids", kPciTable);
    // The machine that runs the test may have its own table.
    folder.write("/usr/share/hwdata/pci.ids", "");
  }

  TemporaryFolder folder;
};

TEST_F(NamesOfCards, TakeTheExactProductWhereTheRevisionIsKnown) {
  auto card = card_of(0x1002, 0x744c);
  card.revision = 0xc8;
  EXPECT_EQ(Names(folder.root()).product(card), "AMD Radeon RX 7900 XTX");
}

TEST_F(NamesOfCards, DoNotGuessAmongTheProductsOfOneId) {
  auto card = card_of(0x1002, 0x744c);
  EXPECT_EQ(Names(folder.root()).product(card), "AMD Radeon RX 7900 XT/7900 XTX");
  card.revision = 0x01;
  EXPECT_EQ(Names(folder.root()).product(card), "AMD Radeon RX 7900 XT/7900 XTX");
}

TEST_F(NamesOfCards, AskTheMakerOfTheCardWhereOneIdMeansSeveral) {
  auto card = card_of(0x1002, 0x744c);
  card.subvendor = 0x1043;
  card.subproduct = 0x0506;
  EXPECT_EQ(Names(folder.root()).product(card), "AMD Radeon RX 7900 XTX");
  auto clear = card_of(0x8086, 0x56a5);
  clear.subvendor = 0x1849;
  clear.subproduct = 0x6004;
  EXPECT_EQ(Names(folder.root()).product(clear), "Intel Arc A380");
}

TEST(ProductsOfOneId, AreToldApartByTheNameOfTheBoard) {
  struct Case {
    std::string_view products, board, name;
  };
  constexpr std::string_view kNavi31 = "Radeon RX 7900 XT/7900 XTX/7900 GRE/7900M";
  constexpr std::string_view kNavi10 = "Radeon RX 5600 OEM/5600 XT / 5700/5700 XT";
  constexpr std::string_view kBaffin = "Radeon RX 460/560D / Pro 450/455/460/555/555X/560/560X";
  for (const auto &[products, board, name] : {
           Case{kNavi31, "NITRO+ RX 7900 XTX Vapor-X", "Radeon RX 7900 XTX"},
           Case{kNavi31, "RX 7900 XTX / RX 7900 GRE [XFX]", ""},
           Case{kNavi31, "Navi 31 [Radeon RX 7900 XT]", "Radeon RX 7900 XT"},
           Case{kNavi10, "Sapphire NITRO+ RX 5700 XT", "Radeon RX 5700 XT"},
           Case{kNavi10, "Red Devil AMD Radeon RX 5700", "Radeon RX 5700"},
           Case{kNavi10, "Sapphire Navi 10 [Radeon RX 5600 OEM/5600 XT / 5700/5700 XT]", ""},
           Case{kBaffin, "Radeon Pro 560X", "Radeon Pro 560X"},
           Case{kBaffin, "MacBookPro14,3", ""},
           Case{"Radeon R9 290X/390X", "Grenada XT2 [Radeon R9 390X]", "Radeon R9 390X"},
           Case{"Radeon HD 7790/8770 / R7 360 / R9 260/360 OEM", "Radeon R7 360", "Radeon R7 360"},
           Case{"Radeon RX 580 2048SP / RX 590 GME", "Radeon RX 580 2048SP / Radeon RX 590 GME", ""},
           Case{"Radeon Vega Series / Radeon Vega Mobile Series", "Radeon Vega Series", ""},
           Case{kNavi31, "", ""},
           Case{"", "Radeon RX 7900 XT", ""},
       }) {
    EXPECT_EQ(narrowed(products, board), name) << board;
  }
}

class NamesWithoutTables : public testing::Test {
 protected:
  // The machine that runs the test may have tables of its own: these know nothing.
  NamesWithoutTables() {
    for (const std::string_view table : {"libdrm/amdgpu.ids", "hwdata/pci.ids", "misc/pci.ids"}) {
      folder.write("/usr/share/" + std::string(table), "");
    }
  }
  std::string product(std::uint32_t vendor, std::uint32_t id, std::optional<std::uint32_t> revision = {}) const {
    auto card = card_of(vendor, id);
    card.revision = revision;
    return Names(folder.root()).product(card);
  }

  TemporaryFolder folder;
};

TEST_F(NamesWithoutTables, AreThoseThatAreCompiledIn) {
  EXPECT_EQ(product(0x1002, 0x731f, 0xc1), "AMD Radeon RX 5700 XT");
  EXPECT_EQ(product(0x1002, 0x731f), "AMD Radeon RX 5600 OEM/5600 XT / 5700/5700 XT");
  EXPECT_EQ(product(0x1002, 0x744c, 0xc8), "AMD Radeon RX 7900 XTX");
  EXPECT_EQ(product(0x1002, 0x74a1), "AMD Instinct MI300X");
  EXPECT_EQ(product(0x8086, 0x56a5), "Intel Arc A380");
  EXPECT_EQ(product(0x8086, 0xe20b), "Intel Arc B580");
  EXPECT_EQ(product(0x10de, 0x2335), "NVIDIA H200 SXM 141GB");
  EXPECT_EQ(product(0x10de, 0x1b80), "NVIDIA GeForce GTX 1080");
}

TEST_F(NamesWithoutTables, AreOnlyThoseOfGpus) {
  EXPECT_EQ(product(0x1002, 0xab38), "AMD GPU 1002:ab38") << "HDMI audio";
  EXPECT_EQ(product(0x10de, 0x22a3), "NVIDIA GPU 10de:22a3") << "a switch";
  EXPECT_EQ(product(0x8086, 0x1533), "Intel GPU 8086:1533") << "Ethernet";
}

TEST_F(NamesWithoutTables, GiveWayToATableThatKnowsTheProduct) {
  folder.write("/usr/share/hwdata/pci.ids", "8086  Intel\n\t56a5  DG2 [Arc A380 Renamed]\n\te20b  Battlemage G21\n");
  folder.write("/usr/share/libdrm/amdgpu.ids", "731F,\tC1,\tAMD Radeon Renamed\n");
  EXPECT_EQ(product(0x8086, 0x56a5), "Intel Arc A380 Renamed");
  EXPECT_EQ(product(0x8086, 0xe20b), "Intel Arc B580") << "that table knows only the chip";
  EXPECT_EQ(product(0x1002, 0x731f, 0xc1), "AMD Radeon Renamed");
}

TEST(AmdNames, OfAnyRevisionAreToldWhereAllAreTheSame) {
  constexpr std::string_view kTable = "1,00,A\n1,01,A\n2,00,A\n2,01,B\n";
  EXPECT_EQ(find_amd_name(kTable, 1, std::nullopt), "A");
  EXPECT_EQ(find_amd_name(kTable, 2, std::nullopt), "");
  EXPECT_EQ(find_amd_name(kTable, 3, std::nullopt), "");
}

TEST_F(NamesOfCards, TakeTheWholeNameWhereThereAreNoBrackets) {
  EXPECT_EQ(Names(folder.root()).product(card_of(0x1002, 0x0bad)), "AMD Phoenix1");
}

TEST_F(NamesOfCards, FallBackToTheDriversHintAndThenToTheNumbers) {
  Names names(folder.root());
  EXPECT_EQ(names.product(card_of(0x1002, 0x0001), "Instinct"), "Instinct");
  EXPECT_EQ(names.product(card_of(0x1002, 0x0001)), "AMD GPU 1002:0001");
  EXPECT_EQ(names.product(card_of(0, 0)), "amdgpu");
}

TEST_F(NamesOfCards, AreReadOnce) {
  Names names(folder.root());
  const auto card = card_of(0x8086, 0x56a5);
  EXPECT_EQ(names.product(card), "Intel Arc A380");
  folder.write("/usr/share/misc/pci.ids", "8086  Intel\n\t56a5  Else\n");
  EXPECT_EQ(names.product(card), "Intel Arc A380");
}

}  // namespace

}  // namespace gpulse::drm
