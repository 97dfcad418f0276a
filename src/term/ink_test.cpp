// SPDX-License-Identifier: Apache-2.0
#include "term/ink.hpp"

#include <gtest/gtest.h>

#include <array>

namespace gpulse::term {
namespace {

std::string change(const Ink &from, const Ink &to, Depth depth = Depth::direct) {
  std::string out;
  write_ink(out, from, to, depth);
  return out;
}

constexpr Tint kRed = Tint::ansi(1);
constexpr Tint kOrange = Tint::rgb(0xFF8700);

TEST(CellInk, IsTheSameInkInAnotherForm) {
  for (const Tint fore : {Tint(), kRed, kOrange, Tint::ansi(15), Tint::rgb(0), Tint::rgb(0xFFFFFF)}) {
    for (const Tint back : {Tint(), kRed, kOrange, Tint::ansi(0), Tint::rgb(0), Tint::rgb(0xFFFFFF)}) {
      for (const auto attributes : std::to_array<std::uint8_t>({0, kBold, kReverse, 31})) {
        const Ink ink{fore, back, attributes};
        EXPECT_EQ(Ink(CellInk(ink)), ink);
        EXPECT_EQ(CellInk(ink) == CellInk(), ink == Ink());
      }
    }
  }
}

TEST(WriteInk, SaysOnlyWhatChanges) {
  EXPECT_EQ(change({}, {}), "");
  EXPECT_EQ(change({}, {.fore = kRed}), "\033[31m");
  EXPECT_EQ(change({}, {.fore = Tint::ansi(9)}), "\033[91m");
  EXPECT_EQ(change({}, {.back = Tint::ansi(4)}), "\033[44m");
  EXPECT_EQ(change({}, {.back = Tint::ansi(12)}), "\033[104m");
  EXPECT_EQ(change({.fore = kRed}, {.fore = kRed, .attributes = kBold}), "\033[1m");
  EXPECT_EQ(change({.fore = kRed, .back = kRed}, {.back = kRed}), "\033[39m");
  EXPECT_EQ(change({}, {.fore = kRed, .back = Tint::ansi(7), .attributes = kUnderline}), "\033[4;31;47m");
}

TEST(WriteInk, BeginsAnewWhereThatIsShorter) {
  EXPECT_EQ(change({.fore = kRed}, {}), "\033[m");
  EXPECT_EQ(change({.fore = kOrange, .back = kOrange, .attributes = kBold}, {.fore = kRed}), "\033[;31m");
  EXPECT_EQ(change({.fore = kOrange, .back = kOrange}, {.fore = kOrange}), "\033[49m");
}

TEST(WriteInk, SwitchesBoldAndDimOffTogetherAndTheOtherOnAgain) {
  const Ink both{.fore = kOrange, .attributes = kBold | kDim};
  EXPECT_EQ(change(both, {.fore = kOrange, .attributes = kDim}), "\033[22;2m");
  EXPECT_EQ(change(both, {.fore = kOrange, .attributes = kBold}), "\033[22;1m");
  EXPECT_EQ(change(both, {.fore = kOrange}), "\033[22m");
}

TEST(WriteInk, MixesAsTheDepthAllows) {
  const Ink ink{.fore = kOrange, .attributes = kBold};
  EXPECT_EQ(change({}, ink, Depth::direct), "\033[1;38;2;255;135;0m");
  EXPECT_EQ(change({}, ink, Depth::indexed256), "\033[1;38;5;208m");  // 16 + 36*5 + 6*2 + 0
  EXPECT_EQ(change({}, ink, Depth::ansi16), "\033[1;33m");            // nearest of xterm's 16: CDCD00
  EXPECT_EQ(change({}, ink, Depth::mono), "\033[1m");
  EXPECT_EQ(change({.fore = kRed}, {.back = kRed}, Depth::mono), "");
}

TEST(WriteInk, TakesAGreyFromTheRampAndABlackFromTheCube) {
  EXPECT_EQ(change({}, {.fore = Tint::rgb(0x808080)}, Depth::indexed256), "\033[38;5;244m");  // ramp: 8 + 10*12
  EXPECT_EQ(change({}, {.fore = Tint::rgb(0x000000)}, Depth::indexed256), "\033[38;5;16m");
  EXPECT_EQ(change({}, {.fore = Tint::rgb(0xFFFFFF)}, Depth::indexed256), "\033[38;5;231m");
  EXPECT_EQ(change({}, {.fore = Tint::rgb(0xEEEEEE)}, Depth::indexed256), "\033[38;5;255m");
}

TEST(WriteInk, IsSilentWhereTwoMixturesLookTheSame) {
  const Ink orange{.fore = kOrange}, nearly{.fore = Tint::rgb(0xFE8801)};
  EXPECT_EQ(change(orange, nearly, Depth::indexed256), "");
  EXPECT_NE(change(orange, nearly, Depth::direct), "");
}

TEST(ShownAs, IsWhatTheTerminalShows) {
  EXPECT_EQ(shown_as({.fore = Tint::rgb(0xFE8801)}, Depth::indexed256).fore, kOrange);
  EXPECT_EQ(shown_as({.fore = Tint::rgb(0xFF1010)}, Depth::ansi16).fore, Tint::ansi(9));
  EXPECT_EQ(shown_as({.fore = kRed, .attributes = kDim}, Depth::mono), (Ink{.attributes = kDim}));
  EXPECT_EQ(shown_as({.fore = kRed}, Depth::ansi16).fore, kRed);
}

TEST(DepthFor, ReadsTheEnvironment) {
  EXPECT_EQ(depth_for("", "truecolor"), Depth::mono);
  EXPECT_EQ(depth_for("dumb", ""), Depth::mono);
  EXPECT_EQ(depth_for("xterm", ""), Depth::ansi16);
  EXPECT_EQ(depth_for("linux", ""), Depth::ansi16);
  EXPECT_EQ(depth_for("screen-256color", ""), Depth::indexed256);
  EXPECT_EQ(depth_for("xterm-256color", "truecolor"), Depth::direct);
  EXPECT_EQ(depth_for("xterm", "24bit"), Depth::direct);
  EXPECT_EQ(depth_for("xterm-direct", ""), Depth::direct);
}

TEST(Blend, MixesMixturesOnly) {
  EXPECT_EQ(blend(Tint::rgb(0x000000), Tint::rgb(0x64C8FF), 0.5), Tint::rgb(0x326480));
  EXPECT_EQ(blend(Tint::rgb(0x102030), Tint::rgb(0xFFFFFF), -1), Tint::rgb(0x102030));
  EXPECT_EQ(blend(Tint::rgb(0x102030), Tint::rgb(0xFFFFFF), 7), Tint::rgb(0xFFFFFF));
  EXPECT_EQ(blend(kRed, kOrange, 0.4), kRed);
  EXPECT_EQ(blend(kRed, kOrange, 0.6), kOrange);
}

}  // namespace
}  // namespace gpulse::term
