// SPDX-License-Identifier: Apache-2.0
#include "tui/keys.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "base/text.hpp"

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
        EXPECT_EQ(action_for(*key), binding.action) << name;
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
  const auto means = [](std::string_view name) { return action_for(*parse_key(name)); };
  // nvtop
  EXPECT_EQ(means("F2"), Action::setup);
  EXPECT_EQ(means("F6"), Action::sort_menu);
  EXPECT_EQ(means("F9"), Action::signal_menu);
  EXPECT_EQ(means("F10"), Action::quit);
  EXPECT_EQ(means("F12"), Action::save);
  EXPECT_EQ(means("F5"), Action::redraw);
  EXPECT_EQ(means("k"), Action::up);
  EXPECT_EQ(means("j"), Action::down);
  EXPECT_EQ(means("+"), Action::sort_ascending);
  EXPECT_EQ(means("-"), Action::sort_descending);
  // nvitop
  EXPECT_EQ(means("Space"), Action::tag);
  EXPECT_EQ(means("e"), Action::environment);
  EXPECT_EQ(means("t"), Action::tree);
  EXPECT_EQ(means("Enter"), Action::details);
  EXPECT_EQ(means("T"), Action::terminate);
  EXPECT_EQ(means("I"), Action::interrupt);
  EXPECT_EQ(means("Ctrl-C"), Action::interrupt);
  EXPECT_EQ(means("a"), Action::layout_auto);
  EXPECT_EQ(means("f"), Action::layout_full);
  EXPECT_EQ(means("c"), Action::layout_compact);
  EXPECT_EQ(means(","), Action::sort_previous);
  EXPECT_EQ(means("."), Action::sort_next);
  EXPECT_EQ(means("o"), Action::sort_chord);
  // htop
  EXPECT_EQ(means("F1"), Action::help);
  EXPECT_EQ(means("h"), Action::help);
  EXPECT_EQ(means("F3"), Action::search);
  EXPECT_EQ(means("/"), Action::search);
  EXPECT_EQ(means("F4"), Action::filter);
  EXPECT_EQ(means("\\"), Action::filter);
  EXPECT_EQ(means("F7"), Action::less_nice);
  EXPECT_EQ(means("F8"), Action::nicer);
  EXPECT_EQ(means("u"), Action::user);
  EXPECT_EQ(means("U"), Action::untag);
  EXPECT_EQ(means("F"), Action::follow);
  EXPECT_EQ(means("M"), Action::sort_memory);
  EXPECT_EQ(means("P"), Action::sort_cpu);
  EXPECT_EQ(means("S"), Action::setup);
}

TEST(Keys, AreAllInTheDocumentation) {
  std::stringstream page;
  page << std::ifstream(GPULSE_SOURCE_DIR "/docs/top.md").rdbuf();
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
