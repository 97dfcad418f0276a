// SPDX-License-Identifier: Apache-2.0
#include "source/intel/memory.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace gpulse::intel {
namespace {

TEST(DmemCapacity, AllRegionsOfTheCardAndNoOther) {
  constexpr std::string_view kText =
      "drm/0000:03:00.0/vram0 6442450944\n"
      "drm/0000:03:00.0/vram1 1073741824\n"
      "drm/0000:03:00.0/stolen 67108864\n"
      "drm/0000:04:00.0/vram0 12884901888\n";
  EXPECT_EQ(parse_dmem_capacity(kText, "0000:03:00.0"), 7516192768U);
  EXPECT_EQ(parse_dmem_capacity(kText, "0000:04:00.0"), 12884901888U);
  EXPECT_EQ(parse_dmem_capacity(kText, "0000:05:00.0"), std::nullopt);
  EXPECT_EQ(parse_dmem_capacity("drm/0000:03:00.0/vram0 lots\n", "0000:03:00.0"), std::nullopt);
  EXPECT_EQ(parse_dmem_capacity("drm/0000:03:00.0/vram0", "0000:03:00.0"), std::nullopt);
  EXPECT_EQ(parse_dmem_capacity("", "0000:03:00.0"), std::nullopt);
}

// Builds a driver's answer, number by number.
class Answer {
 public:
  template <class T>
  Answer &put(T number) {
    const auto at = bytes_.size();
    bytes_.resize(at + sizeof number);
    std::memcpy(bytes_.data() + at, &number, sizeof number);
    return *this;
  }
  Answer &zeros(std::size_t words) {
    for (std::size_t i = 0; i < words; ++i) put(std::uint64_t{0});
    return *this;
  }
  const std::vector<std::byte> &bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

constexpr std::uint64_t kGiB = 1ULL << 30U;

TEST(MemoryRegions, OfI915TellWhatIsFree) {
  Answer answer;
  answer.put<std::uint32_t>(2).put<std::uint32_t>(0).zeros(1);
  answer.put<std::uint16_t>(0).put<std::uint16_t>(0).put<std::uint32_t>(0).put(32 * kGiB).put(32 * kGiB).zeros(8);
  answer.put<std::uint16_t>(1).put<std::uint16_t>(0).put<std::uint32_t>(0).put(6 * kGiB).put(4 * kGiB).zeros(8);
  EXPECT_EQ(parse_i915_regions(answer.bytes()), (CardMemory{6 * kGiB, 2 * kGiB}));
}

TEST(MemoryRegions, OfXeTellWhatIsUsed) {
  Answer answer;
  answer.put<std::uint32_t>(3).put<std::uint32_t>(0);
  answer.put<std::uint16_t>(0).put<std::uint16_t>(0).put<std::uint32_t>(4096).put(32 * kGiB).put(kGiB).zeros(8);
  answer.put<std::uint16_t>(1).put<std::uint16_t>(1).put<std::uint32_t>(4096).put(8 * kGiB).put(3 * kGiB).zeros(8);
  answer.put<std::uint16_t>(1).put<std::uint16_t>(2).put<std::uint32_t>(4096).put(8 * kGiB).put(9 * kGiB).zeros(8);
  // No more than the whole region can be in use.
  EXPECT_EQ(parse_xe_regions(answer.bytes()), (CardMemory{16 * kGiB, 11 * kGiB}));
}

TEST(MemoryRegions, AnswerThatIsCutShortIsNone) {
  Answer answer;
  answer.put<std::uint32_t>(1).put<std::uint32_t>(0);
  answer.put<std::uint16_t>(1).put<std::uint16_t>(1).put<std::uint32_t>(4096).put(8 * kGiB).put(3 * kGiB).zeros(8);
  const std::span<const std::byte> all(answer.bytes());
  EXPECT_TRUE(parse_xe_regions(all));
  for (std::size_t length = 0; length < all.size(); ++length) EXPECT_FALSE(parse_xe_regions(all.first(length)));
  EXPECT_FALSE(parse_xe_regions(Answer().put<std::uint32_t>(0xFFFFFFFF).put<std::uint32_t>(0).bytes()));
  EXPECT_FALSE(parse_i915_regions({}));
}

TEST(MemoryRegions, GraphicsInAProcessorHasNoneOfItsOwn) {
  Answer answer;
  answer.put<std::uint32_t>(1).put<std::uint32_t>(0);
  answer.put<std::uint16_t>(0).put<std::uint16_t>(0).put<std::uint32_t>(4096).put(32 * kGiB).put(kGiB).zeros(8);
  EXPECT_FALSE(parse_xe_regions(answer.bytes()));
}

TEST(MemoryRights, ByTheCapabilitiesOfTheProcess) {
  EXPECT_TRUE(may_see_use("Name:\tgpulse\nCapPrm:\t0000000000000000\nCapEff:\t0000004000000000\n"));  // CAP_PERFMON
  EXPECT_TRUE(may_see_use("CapEff:\t0000000000200000\n"));                                            // CAP_SYS_ADMIN
  EXPECT_TRUE(may_see_use("CapEff:\t000001ffffffffff\n"));
  EXPECT_FALSE(may_see_use("CapPrm:\t000001ffffffffff\nCapEff:\t0000000000000000\n"));
  EXPECT_FALSE(may_see_use("CapEff:\tnone\n"));
  EXPECT_FALSE(may_see_use(""));
}

}  // namespace
}  // namespace gpulse::intel
