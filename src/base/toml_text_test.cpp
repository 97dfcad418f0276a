// SPDX-License-Identifier: Apache-2.0
#include "base/toml_text.hpp"

#include <gtest/gtest.h>

namespace gpulse {
namespace {

TEST(TomlText, WhatIsTomlIsLeftToTheParser) {
  for (const std::string_view text : {
           "",
           "\n",
           "a = 1\n",
           "# Grüße\n",
           "name = \"Grüße\"\n",
           "name = 'Grüße'\n",
           "\"Grüße\" = {\"Tür\" = 1}\n",
           "name = \"\"\"\nGrüße\n\"\"\"\n",
           "name = '''\nGrüße'''\n",
           "path = 'C:\\ü'\n",
           "a = \"# no comment ü\"\n",
           "a = \"\\\"ü\"\n",
           "a = ['ü', \"ö\"]\n",
           "a = \"ends in \\\\\" # ü\n",
       }) {
    EXPECT_EQ(stray_line(text), 0U) << text;
  }
}

TEST(TomlText, LettersBeyondAsciiNeedQuotes) {
  EXPECT_EQ(stray_line("Tür = 1\n"), 1U);
  EXPECT_EQ(stray_line("a = 1\nb = ü\n"), 2U);
  EXPECT_EQ(stray_line("a = \"x\"\n\n[Tür]\n"), 3U);
  EXPECT_EQ(stray_line("a = \"x\"ü\n"), 1U);
  EXPECT_EQ(stray_line("a = \"\"\"\nü\n\"\"\"\nü = 1\n"), 4U);
}

TEST(TomlText, SomeStringsAreNone) {
  EXPECT_EQ(stray_line("a = \"\\ü\"\n"), 1U);
  EXPECT_EQ(stray_line("a = 5\"x\"\n"), 1U);
  EXPECT_EQ(stray_line(std::string_view("a = 1\0", 6)), 1U);
  // The line's end ends what was not closed.
  EXPECT_EQ(stray_line("a = \"x\nü = 1\n"), 2U);
}

}  // namespace
}  // namespace gpulse
