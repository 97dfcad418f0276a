// SPDX-License-Identifier: Apache-2.0
// Broken copies of real logs: other people's where they are at hand, and our own.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "smi/read_log.hpp"
#include "smi/testing_invariants.hpp"
#include "test_paths.hpp"

namespace gpulse::smi {
namespace {

std::vector<std::string> logs() {
  std::vector<std::string> texts;
  for (const auto *folder :
       {"/../shared/fixtures/nvidia-smi/xml", "/src/smi/read_xml_corpus", "/src/smi/read_csv_corpus"}) {
    const std::filesystem::path path(kSourceDir + std::string(folder));
    if (!std::filesystem::is_directory(path)) continue;
    for (const auto &entry : std::filesystem::directory_iterator(path)) {
      std::ifstream file(entry.path(), std::ios::binary);
      texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
  }
  return texts;
}

TEST(SmiLog, IsReadWhole) {
  ASSERT_GE(logs().size(), 6U);
  for (const auto &text : logs()) {
    const auto log = read_log(text, "log");
    ASSERT_TRUE(log) << log.error().line();
    must_be_sound(log);
  }
}

TEST(SmiLog, CutAnywhere) {
  for (const auto &text : logs()) {
    for (std::size_t part = 0; part < 100; ++part) {
      const auto log = read_log(std::string_view(text).substr(0, text.size() * part / 100), "log");
      must_be_sound(log);
      // An XML document without its end is none.
      EXPECT_TRUE(!log || text.find("</nvidia_smi_log>") == std::string::npos);
    }
  }
}

TEST(SmiLog, WithBrokenBytes) {
  std::mt19937 random(1);  // the same every time
  for (const auto &text : logs()) {
    for (int turn = 0; turn < 200; ++turn) {
      auto broken = text;
      for (auto left = random() % 20 + 1; left > 0; --left) {
        auto &byte = broken[random() % broken.size()];
        byte = random() % 2 == 0 ? static_cast<char>(byte ^ (1 << random() % 8)) : static_cast<char>(random());
      }
      must_be_sound(read_log(broken, "log"));
    }
  }
}

}  // namespace
}  // namespace gpulse::smi
