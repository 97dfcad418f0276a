// SPDX-License-Identifier: Apache-2.0
#include "share/findings.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "base/temporary_folder.hpp"

namespace gpulse::share {
namespace {

constexpr WallTime kNow{std::chrono::seconds(1'800'000'000)};

PublishedFindings published() {
  return {.judged = kNow,
          .findings = {{.id = insight::FindingId::input_cpu,
                        .weight = insight::Weight::problem,
                        .confidence = 0.8,
                        .estimated = true,
                        .devices = {{0}, {1, 3}},
                        .pids = {560, 561},
                        .since = kNow - std::chrono::minutes(3),
                        .until = kNow,
                        .lost_share = 0.94,
                        .text = "The GPU waits",
                        .evidence = {{"sm_active_percent", 0.7, Unit::percent}, {"host_idle_cores", 14, Unit::none}},
                        .advice = {"more loaders", "fewer"}},
                       {.id = insight::FindingId::throttled_power, .weight = insight::Weight::note}}};
}

class PublishedInAFolder : public ::testing::Test {
 protected:
  PublishedInAFolder() { ::chmod(folder_.path().c_str(), 0755); }
  Place place() const { return {.folder = folder_.path(), .trust = Trust::own}; }

  TemporaryFolder folder_;
};

TEST_F(PublishedInAFolder, AreReadAsTheyWereWritten) {
  EXPECT_FALSE(read_findings(place()));
  {
    const FindingsFile file(folder_.path());
    ASSERT_TRUE(file.write(published()));
    const auto read = read_findings(place());
    ASSERT_TRUE(read);
    EXPECT_EQ(read->judged, kNow);
    EXPECT_EQ(read->findings, published().findings);
    ASSERT_TRUE(file.write({.judged = kNow}));
    EXPECT_TRUE(read_findings(place())->findings.empty());
  }
  EXPECT_FALSE(read_findings(place())) << "they are gone with the agent";
}

TEST_F(PublishedInAFolder, AreNotBelievedWhereOthersMayWrite) {
  const FindingsFile file(folder_.path());
  ASSERT_TRUE(file.write(published()));
  ::chmod(folder_.path().c_str(), 0777);
  EXPECT_FALSE(read_findings(place()));
}

TEST(PublishedFindings, AreRefusedInPartsAndSurviveAnyDamage) {
  const auto bytes = encode_findings(published());
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(decode_findings(std::span(bytes).first(size)));
  std::mt19937 random(18);
  for (int i = 0; i < 20'000; ++i) {
    auto damaged = bytes;
    for (int times = 0; times < 3; ++times) damaged[random() % damaged.size()] = static_cast<std::byte>(random());
    static_cast<void>(decode_findings(damaged));
  }
}

TEST(PublishedFindings, AreCleanWhateverTheFileSays) {
  auto hostile = published();
  hostile.findings.resize(1);
  hostile.findings[0].text = "\x1b[2Jgone";
  const auto read = decode_findings(encode_findings(hostile));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->findings[0].text.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace gpulse::share
