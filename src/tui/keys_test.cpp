// SPDX-License-Identifier: Apache-2.0
#include "tui/keys.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "base/text.hpp"
#include "test_paths.hpp"
#include "tui/key_names.hpp"

namespace gpulse::tui {
namespace {

TEST(Keys, EveryKeyOfTheHelpIsOneAndMeansOneThing) {
  std::map<std::string, std::string_view> seen;
  for (const auto &section : key_sections()) {
    for (const auto &binding : section.bindings) {
      for (const auto name : split_words(binding.keys)) {
        const auto key = parse_key(name);
        ASSERT_TRUE(key) << name;
        EXPECT_EQ(key_name(*key), name);
        EXPECT_TRUE(seen.emplace(std::string(name), binding.help).second) << name << " means two things";
        EXPECT_EQ(binding_for(*key), &binding) << name;
      }
    }
  }
}

// Function keys are swallowed by terminals and multiplexers.
TEST(Keys, EveryActionHasAKeyThatIsNoFunctionKey) {
  for (const auto &section : key_sections()) {
    for (const auto &binding : section.bindings) {
      bool plain = false;
      for (const auto name : split_words(binding.keys))
        plain = plain || !(name.size() > 1 && name[0] == 'F' && name[1] <= '9');
      EXPECT_TRUE(plain) << binding.help;
    }
  }
}

TEST(Keys, HabitsOfOtherProgramsWork) {
  const auto means = [](std::string_view name) {
    const auto *binding = binding_for(*parse_key(name));
    return binding == nullptr ? std::string_view("nothing") : binding->help;
  };
  // nvtop
  EXPECT_EQ(means("F2"), "setup: panels, plots, columns, look");
  EXPECT_EQ(means("F6"), "choose what to sort by");
  EXPECT_EQ(means("F9"), "choose a signal to send; asks first");
  EXPECT_EQ(means("F10"), "quit");
  EXPECT_EQ(means("F12"), "save the setup now (it is also saved at the end)");
  EXPECT_EQ(means("F5"), "draw everything again");
  EXPECT_EQ(means("k"), "choose the process above");
  EXPECT_EQ(means("j"), "choose the process below");
  // btop
  EXPECT_EQ(means("+"), "a longer time between samples");
  EXPECT_EQ(means("-"), "a shorter time between samples");
  // nvitop
  EXPECT_EQ(means("Space"), "tag the process and go on; signals go to all that are tagged");
  EXPECT_EQ(means("e"), "its environment variables");
  EXPECT_EQ(means("t"), "tree: processes below their parents");
  EXPECT_EQ(means("Enter"), "everything about the process or the GPU, with its plots");
  EXPECT_EQ(means("T"), "terminate (SIGTERM); asks first");
  EXPECT_EQ(means("I"), "interrupt (SIGINT); asks first. Ctrl-C without a chosen process quits");
  EXPECT_EQ(means("Ctrl-C"), "interrupt (SIGINT); asks first. Ctrl-C without a chosen process quits");
  EXPECT_EQ(means("a"), "as many lines per GPU as there is room for");
  EXPECT_EQ(means("f"), "two lines per GPU");
  EXPECT_EQ(means("c"), "one line per GPU");
  EXPECT_EQ(means(","), "sort by the column before");
  EXPECT_EQ(means("."), "sort by the next column");
  EXPECT_EQ(means("o"),
            "then n p u g s b c m t: sort by GPU, PID, user, memory, use, bandwidth, CPU, host memory, time; a capital "
            "letter the other way round");
  // htop
  EXPECT_EQ(means("F1"), "this help");
  EXPECT_EQ(means("h"), "this help");
  EXPECT_EQ(means("F3"), "search and jump; regular expressions");
  EXPECT_EQ(means("/"), "search and jump; regular expressions");
  EXPECT_EQ(means("F4"), "show only what matches: user:ann gpu:0,2-3 type:c cpu>50 train.*");
  EXPECT_EQ(means("\\"), "show only what matches: user:ann gpu:0,2-3 type:c cpu>50 train.*");
  EXPECT_EQ(means("F7"), "a higher priority (nice - 1)");
  EXPECT_EQ(means("F8"), "a lower priority (nice + 1)");
  EXPECT_EQ(means("u"), "only one user's processes");
  EXPECT_EQ(means("U"), "untag all");
  EXPECT_EQ(means("F"), "keep the chosen process in sight");
  EXPECT_EQ(means("M"), "sort by GPU memory");
  EXPECT_EQ(means("P"), "sort by CPU");
  EXPECT_EQ(means("S"), "setup: panels, plots, columns, look");
}

TEST(Keys, AreAllInTheDocumentation) {
  std::stringstream page;
  page << std::ifstream(kSourceDir + "/docs/top.md").rdbuf();
  for (const auto &section : key_sections()) {
    for (const auto &binding : section.bindings) {
      std::string line = "|";
      for (const auto name : split_words(binding.keys)) line += " `" + std::string(name) + "`";
      line += " | " + std::string(binding.help) + " |\n";
      EXPECT_NE(page.str().find(line), std::string::npos) << line;
    }
  }
}

TEST(Keys, WhatIsNoKeyIsNone) {
  for (const auto *name : {"", "Ctrl-", "ab", "F13", "Meta-x"}) EXPECT_FALSE(parse_key(name)) << name;
}

}  // namespace
}  // namespace gpulse::tui
