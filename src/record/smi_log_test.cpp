// SPDX-License-Identifier: Apache-2.0
// Logs of nvidia-smi can be recorded, even broken ones, as long as they can be read.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "codec/snapshot_codec.hpp"
#include "smi/read_log.hpp"
#include "test_paths.hpp"

namespace gpulse::record {
namespace {

TEST(SmiLog, CanBeRecorded) {
  std::mt19937 random(1);  // the same every time
  int recorded = 0;
  for (const auto *folder : {"/src/smi/read_xml_corpus", "/src/smi/read_csv_corpus"}) {
    for (const auto &entry : std::filesystem::directory_iterator(kSourceDir + std::string(folder))) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
      for (int turn = 0; turn < 100; ++turn) {
        auto broken = text;
        for (int left = turn % 20; left > 0; --left) broken[random() % broken.size()] = static_cast<char>(random());
        const auto log = smi::read_log(broken, "log");
        if (!log) continue;
        codec::SnapshotEncoder encoder;
        for (const auto &snapshot : *log) {
          codec::WireWriter out;
          EXPECT_TRUE(encoder.encode(out, *snapshot)) << entry.path();
          ++recorded;
        }
      }
    }
  }
  EXPECT_GT(recorded, 100);
}

}  // namespace
}  // namespace gpulse::record
