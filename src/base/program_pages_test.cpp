// SPDX-License-Identifier: Apache-2.0
#include "base/program_pages.hpp"

#include <gtest/gtest.h>

#include "base/sysroot.hpp"
#include "base/text.hpp"

namespace gpulse {
namespace {

// Pages of files that are mapped: the third number of statm.
std::uint64_t file_pages() {
  const auto text = Sysroot().read("/proc/self/statm", 256).value_or("");
  std::string_view rest = text;
  next_piece(rest, ' ');
  next_piece(rest, ' ');
  return parse_integer<std::uint64_t>(next_piece(rest, ' ')).value_or(0);
}

TEST(ProgramPages, AreLetGoOfAndComeBack) {
  const auto before = file_pages();
  ASSERT_GT(before, 0U);
  release_program_pages();
  EXPECT_LT(file_pages(), before);
  // Whatever is called next is there, and so are constants.
  EXPECT_EQ(std::string(1000, 'x') + "y", std::string(1000, 'x').append("y"));
}

}  // namespace
}  // namespace gpulse
