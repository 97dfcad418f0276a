// SPDX-License-Identifier: Apache-2.0
#include "term/painter.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "term/testing.hpp"

namespace gpulse::term {
namespace {

constexpr std::array kDepths{Depth::mono, Depth::ansi16, Depth::indexed256, Depth::direct};
constexpr Ink kRed{.fore = Tint::ansi(1)};

std::string framed(std::string_view bytes) { return "\033[?2026h" + std::string(bytes) + "\033[?2026l"; }

// A terminal that shows the screen already.
class Shown {
 public:
  explicit Shown(const Screen &screen, Depth depth = Depth::direct) : painter_(depth) { bytes_for(screen); }

  std::string bytes_for(const Screen &screen) {
    std::string out;
    painter_.paint(screen, out);
    return out;
  }

 private:
  Painter painter_;
};

TEST(Painter, ClearsTheScreenFirst) {
  Screen screen({10, 3});
  screen.put(0, 0, "one", {});
  screen.put(2, 2, "two", {});
  Painter painter(Depth::direct);
  std::string out = "kept";
  painter.paint(screen, out);
  EXPECT_EQ(out, "kept" + framed("\033[m\033[H\033[Jone\n\n\btwo"));
}

TEST(Painter, WritesNothingWhereNothingChanged) {
  Screen screen({10, 3});
  screen.put(0, 0, "one", kRed);
  Shown shown(screen);
  EXPECT_EQ(shown.bytes_for(screen), "");
}

TEST(Painter, WritesTheCellsThatChanged) {
  Screen screen({80, 24});
  screen.put(0, 5, "load  57 %  temperature  64", {});
  Shown shown(screen);
  screen.put(6, 5, "58", {});
  EXPECT_EQ(shown.bytes_for(screen), framed("\033[8G8"));
  screen.put(6, 5, "59", {});
  screen.put(25, 5, "65", {});
  EXPECT_EQ(shown.bytes_for(screen), framed("\b9\033[18C5"));
}

TEST(Painter, GoesOverAShortGapByWritingItAgain) {
  Screen screen({80, 1});
  screen.put(0, 0, "a.b...c", {});
  Shown shown(screen);
  screen.put(0, 0, "A.B...C", {});
  EXPECT_EQ(shown.bytes_for(screen), framed("\rA.B...C"));
  // Not in another ink: the gap has none of it.
  screen.put(0, 0, "X", kRed);
  screen.put(2, 0, "X", kRed);
  EXPECT_EQ(shown.bytes_for(screen), framed("\r\033[31mX\033[CX"));
}

TEST(Painter, SetsAnInkOnceForARun) {
  Screen screen({20, 1});
  Shown shown(screen);
  screen.put(0, 0, "hot", kRed);
  screen.put(3, 0, " and cold", {});
  // The blank between shows no ink, so the change comes after it.
  EXPECT_EQ(shown.bytes_for(screen), framed("\033[31mhot \033[mand cold"));
}

TEST(Painter, ErasesTheRestOfARowWhereThatIsShorter) {
  Screen screen({40, 1});
  screen.put(0, 0, "a long line of text", {});
  Shown shown(screen);
  screen.clear();
  screen.put(0, 0, "a short", {});
  EXPECT_EQ(shown.bytes_for(screen), framed("\033[3Gshort\033[K"));
  screen.clear();
  screen.put(0, 0, "a sho", {});
  EXPECT_EQ(shown.bytes_for(screen), framed("\b\b  "));
}

TEST(Painter, ErasesOnNoBackgroundButTheDefault) {
  Screen screen({12, 1});
  screen.put(0, 0, "some text", {});
  Shown shown(screen);
  screen.clear({.back = Tint::ansi(4)});
  EXPECT_EQ(shown.bytes_for(screen), framed("\r\033[44m            "));
}

TEST(Painter, MovesAnewAfterTheLastColumnAndAfterWideCharacters) {
  Screen screen({6, 2});
  Shown shown(screen);
  screen.put(5, 0, "x", {});
  screen.put(0, 1, "y", {});
  EXPECT_EQ(shown.bytes_for(screen), framed("\033[5Cx\r\ny"));
  screen.put(0, 0, "名z", {});
  EXPECT_EQ(shown.bytes_for(screen), framed("\033[H名\033[3Gz"));
}

TEST(Painter, LeavesTheMarksOffInTheLastColumn) {
  Screen screen({3, 1});
  Shown shown(screen);
  screen.put(1, 0, "e\u0301e\u0301", {});
  EXPECT_EQ(shown.bytes_for(screen), framed(" e\u0301\033[3Ge"));
}

TEST(Painter, DrawsAllAgainOnAnotherSizeOrDepthAndWhenItForgets) {
  Screen screen({4, 1});
  screen.put(0, 0, "ab", {});
  Painter painter(Depth::direct);
  const auto bytes = [&] {
    std::string out;
    painter.paint(screen, out);
    return out;
  };
  const auto whole = framed("\033[m\033[H\033[Jab");
  EXPECT_EQ(bytes(), whole);
  painter.forget();
  EXPECT_EQ(bytes(), whole);
  painter.set_depth(Depth::direct);
  EXPECT_EQ(bytes(), "");
  painter.set_depth(Depth::ansi16);
  EXPECT_EQ(bytes(), whole);
  screen.resize({5, 1});
  screen.put(0, 0, "ab", {});
  EXPECT_EQ(bytes(), whole);
}

TEST(Painter, IsSilentWhereAChangeOfColourDoesNotShow) {
  Screen screen({4, 1});
  screen.put(0, 0, "ab", {.fore = Tint::rgb(0xFF0000)});
  Shown mono(screen, Depth::mono), few(screen, Depth::ansi16), all(screen, Depth::direct);
  screen.put(0, 0, "ab", {.fore = Tint::rgb(0xF80000)});
  EXPECT_EQ(mono.bytes_for(screen), "");
  EXPECT_EQ(few.bytes_for(screen), "");
  EXPECT_NE(all.bytes_for(screen), "");
}

// Draws something anywhere, also outside.
void draw_at_random(Screen &screen, std::mt19937 &random) {
  static constexpr std::array<std::string_view, 9> kTexts{"x",    "load 57 %",     "          ",  "━━━╸────",  "⣀⣠⣾",
                                                          "名前", "e\u0301\u0302", "\U0001F600!", "a\u0301名b"};
  static constexpr std::array<Tint, 7> kTints{
      Tint{}, Tint{}, Tint::ansi(2), Tint::ansi(11), Tint::rgb(0x3060A0), Tint::rgb(0x3161A1), Tint::rgb(0x808080)};
  static constexpr std::array<std::uint8_t, 7> kAttributes{0, 0, 0, kBold, kDim | kItalic, kUnderline, kReverse};
  const auto below = [&random](int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); };
  const auto one_of = [&below](const auto &list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  };
  const Ink ink{one_of(kTints), one_of(kTints), one_of(kAttributes)};
  const int x = below(screen.size().columns + 4) - 2, y = below(screen.size().rows + 1);
  switch (below(8)) {
    case 0:
      return screen.fill({x, y, below(20), below(4)}, ink);
    case 1:
      return screen.highlight({x, y, below(20), below(3)}, ink.back, static_cast<std::uint8_t>(ink.attributes));
    case 2:
      return screen.put_char(x, y, U'█', ink);
    case 3:
      return below(20) == 0 ? screen.clear(ink) : screen.fill({x, y, 99, 1}, {});
    default:
      screen.put(x, y, one_of(kTexts), ink);
  }
}

TEST(Painter, LeavesTheTerminalShowingWhatWasWanted) {
  std::mt19937 random(20);
  for (const Depth depth : kDepths) {
    for (int round = 0; round < 60; ++round) {
      const Size size{1 + static_cast<int>(random() % 40), 1 + static_cast<int>(random() % 8)};
      Screen screen(size);
      Emulator terminal(size);
      Painter painter(depth);
      for (int frame = 0; frame < 40; ++frame) {
        for (auto changes = random() % 6; changes > 0; --changes) draw_at_random(screen, random);
        if (random() % 30 == 0) painter.forget();
        std::string out;
        painter.paint(screen, out);
        terminal.feed(out);
        ASSERT_EQ(terminal.difference(screen, depth), "") << "depth " << static_cast<int>(depth) << " round " << round;
        ASSERT_EQ(terminal.frames_open(), 0);
      }
    }
  }
}

TEST(Painter, KeepsTheRestInPlaceOnATerminalWithoutWideCharacters) {
  std::mt19937 random(21);
  for (int round = 0; round < 60; ++round) {
    const Size size{30, 3};
    Screen screen(size);
    Emulator terminal(size, 1);
    Painter painter(Depth::direct);
    for (int frame = 0; frame < 40; ++frame) {
      for (auto changes = random() % 4; changes > 0; --changes) draw_at_random(screen, random);
      std::string out;
      painter.paint(screen, out);
      terminal.feed(out);
      ASSERT_EQ(terminal.difference(screen, Depth::direct, false), "") << "round " << round;
    }
  }
}

}  // namespace
}  // namespace gpulse::term
