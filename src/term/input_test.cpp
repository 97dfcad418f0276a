// SPDX-License-Identifier: Apache-2.0
#include "term/input.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace gpulse::term {
namespace {

using namespace std::string_view_literals;
using Inputs = std::vector<Input>;

Inputs read(std::string_view bytes) {
  InputParser parser;
  Inputs inputs;
  parser.feed(bytes, inputs);
  EXPECT_FALSE(parser.waiting()) << "after " << bytes;
  return inputs;
}

Inputs settled(std::string_view bytes) {
  InputParser parser;
  Inputs inputs;
  parser.feed(bytes, inputs);
  parser.settle(inputs);
  EXPECT_FALSE(parser.waiting());
  return inputs;
}

KeyPress key(Key key) { return {.key = key}; }
KeyPress typed(char32_t character) { return {.character = character}; }
KeyPress ctrl(KeyPress press) {
  press.ctrl = true;
  return press;
}
KeyPress alt(KeyPress press) {
  press.alt = true;
  return press;
}
KeyPress shift(KeyPress press) {
  press.shift = true;
  return press;
}

TEST(Keys, AreWhatIsTyped) {
  EXPECT_EQ(read("aZ?"), (Inputs{typed('a'), typed('Z'), typed('?')}));
  EXPECT_EQ(read("é名\U0001F600"), (Inputs{typed(U'é'), typed(U'名'), typed(U'\U0001F600')}));
  EXPECT_EQ(read("\r\n\t\x7f\b"),
            (Inputs{key(Key::enter), key(Key::enter), key(Key::tab), key(Key::backspace), key(Key::backspace)}));
  EXPECT_EQ(read("\x01\x03\x1a"), (Inputs{ctrl(typed('a')), ctrl(typed('c')), ctrl(typed('z'))}));
  EXPECT_EQ(read("\0\x1c\x1f"sv), (Inputs{ctrl(typed(' ')), ctrl(typed('\\')), ctrl(typed('_'))}));
}

TEST(Keys, ComeFromXterm) {
  EXPECT_EQ(read("\033[A\033[B\033[C\033[D"), (Inputs{key(Key::up), key(Key::down), key(Key::right), key(Key::left)}));
  EXPECT_EQ(read("\033OA\033OB\033OC\033OD\033OH\033OF"),
            (Inputs{key(Key::up), key(Key::down), key(Key::right), key(Key::left), key(Key::home), key(Key::end)}));
  EXPECT_EQ(read("\033[H\033[F\033[2~\033[3~\033[5~\033[6~"),
            (Inputs{key(Key::home), key(Key::end), key(Key::insert), key(Key::remove), key(Key::page_up),
                    key(Key::page_down)}));
  EXPECT_EQ(read("\033OP\033OQ\033OR\033OS\033[15~\033[17~\033[18~\033[19~\033[20~\033[21~\033[23~\033[24~"),
            (Inputs{key(Key::f1), key(Key::f2), key(Key::f3), key(Key::f4), key(Key::f5), key(Key::f6), key(Key::f7),
                    key(Key::f8), key(Key::f9), key(Key::f10), key(Key::f11), key(Key::f12)}));
  EXPECT_EQ(read("\033[Z"), Inputs{shift(key(Key::tab))});
}

TEST(Keys, CarryWhatIsHeld) {
  EXPECT_EQ(read("\033[1;5A\033[1;2B\033[1;3C\033[1;6D"),
            (Inputs{ctrl(key(Key::up)), shift(key(Key::down)), alt(key(Key::right)), ctrl(shift(key(Key::left)))}));
  EXPECT_EQ(read("\033[3;5~\033[15;2~\033[1;5P\033[1;5R"),
            (Inputs{ctrl(key(Key::remove)), shift(key(Key::f5)), ctrl(key(Key::f1)), ctrl(key(Key::f3))}));
  EXPECT_EQ(read("\033O5A\033O1;5A"), (Inputs{ctrl(key(Key::up)), ctrl(key(Key::up))}));
}

TEST(Keys, WithAltFollowAnEscape) {
  EXPECT_EQ(read("\033x\033Y\033é"), (Inputs{alt(typed('x')), alt(typed('Y')), alt(typed(U'é'))}));
  EXPECT_EQ(read("\033\r\033\x7f\033\x03"),
            (Inputs{alt(key(Key::enter)), alt(key(Key::backspace)), alt(ctrl(typed('c')))}));
}

TEST(Keys, ComeFromTheLinuxConsole) {
  EXPECT_EQ(read("\033[[A\033[[E\033[1~\033[4~"), (Inputs{key(Key::f1), key(Key::f5), key(Key::home), key(Key::end)}));
  EXPECT_EQ(read("\033[[Zq"), Inputs{typed('q')});
}

TEST(Keys, ComeFromRxvt) {
  EXPECT_EQ(read("\033[7~\033[8~\033[11~\033[14~"),
            (Inputs{key(Key::home), key(Key::end), key(Key::f1), key(Key::f4)}));
  EXPECT_EQ(read("\033[a\033Oa\033[5$\033[5^\033[5@"),
            (Inputs{shift(key(Key::up)), ctrl(key(Key::up)), shift(key(Key::page_up)), ctrl(key(Key::page_up)),
                    ctrl(shift(key(Key::page_up)))}));
  EXPECT_EQ(read("\033\033[A\033\033OB"), (Inputs{alt(key(Key::up)), alt(key(Key::down))}));
}

TEST(Keys, ComeFromTheNumberPad) {
  EXPECT_EQ(read("\033Op\033Oy\033Ok\033OM"), (Inputs{typed('0'), typed('9'), typed('+'), key(Key::enter)}));
}

TEST(Keys, ComeFromTheKittyProtocolAndModifyOtherKeys) {
  EXPECT_EQ(read("\033[97;5u\033[27;5;97~"), (Inputs{ctrl(typed('a')), ctrl(typed('a'))}));
  EXPECT_EQ(read("\033[27u\033[13;2u\033[127;5u\033[9;2u"),
            (Inputs{key(Key::escape), shift(key(Key::enter)), ctrl(key(Key::backspace)), shift(key(Key::tab))}));
  EXPECT_EQ(read("\033[97;2u\033[49:33;2u\033[27;6;65~\033[231u"),
            (Inputs{typed('A'), typed('!'), ctrl(typed('a')), typed(U'ç')}));
  // Releases, modifier keys of their own, and what is no character.
  EXPECT_EQ(read("\033[97;1:3u\033[57441u\033[1114112u\033[55296uq"), Inputs{typed('q')});
  // Num Lock and Caps Lock count as held, too.
  EXPECT_EQ(read("\033[97;133u"), Inputs{ctrl(typed('a'))});
}

TEST(Escape, WaitsForWhatMayFollow) {
  InputParser parser;
  Inputs inputs;
  parser.feed("\033", inputs);
  EXPECT_TRUE(parser.waiting());
  EXPECT_TRUE(inputs.empty());
  parser.settle(inputs);
  EXPECT_EQ(inputs, Inputs{key(Key::escape)});
  parser.feed("[A", inputs);
  EXPECT_EQ(inputs, (Inputs{key(Key::escape), typed('['), typed('A')}));
}

TEST(Escape, SettlesToWhatWasPressed) {
  EXPECT_EQ(settled("\033["), Inputs{alt(typed('['))});
  EXPECT_EQ(settled("\033O"), Inputs{alt(typed('O'))});
  EXPECT_EQ(settled("\033]"), Inputs{alt(typed(']'))});
  EXPECT_EQ(settled("\033P"), Inputs{alt(typed('P'))});
  // Held down, it repeats.
  EXPECT_EQ(settled("\033\033\033"), (Inputs{key(Key::escape), key(Key::escape), key(Key::escape)}));
  EXPECT_EQ(settled("\033\033["), (Inputs{key(Key::escape), alt(typed('['))}));
  EXPECT_EQ(settled("\033[1;5"), Inputs{});
  EXPECT_EQ(settled("\033]0;title"), Inputs{});
  EXPECT_EQ(settled("\033[M !"), Inputs{});
  EXPECT_EQ(settled("\xe5\x90"), Inputs{});
}

TEST(Escape, BreaksOffWhatCameBefore) {
  EXPECT_EQ(read("\033[\r"), (Inputs{alt(typed('[')), key(Key::enter)}));
  EXPECT_EQ(read("\033O\033[A"), (Inputs{alt(typed('O')), key(Key::up)}));
  EXPECT_EQ(read("\033[12\033[A"), Inputs{key(Key::up)});
  EXPECT_EQ(read("\033]0;title\033[A"), Inputs{key(Key::up)});
}

TEST(Mouse, ReportsInSgr) {
  EXPECT_EQ(read("\033[<0;3;4M\033[<0;3;4m"),
            (Inputs{MouseEvent{.x = 2, .y = 3}, MouseEvent{.action = MouseAction::release, .x = 2, .y = 3}}));
  EXPECT_EQ(read("\033[<2;300;200M"), Inputs{(MouseEvent{.button = 2, .x = 299, .y = 199})});
  EXPECT_EQ(read("\033[<32;1;1M"), Inputs{MouseEvent{.action = MouseAction::drag}});
  EXPECT_EQ(read("\033[<64;1;1M\033[<65;1;1M"),
            (Inputs{MouseEvent{.action = MouseAction::wheel_up}, MouseEvent{.action = MouseAction::wheel_down}}));
  EXPECT_EQ(read("\033[<28;1;1M"), Inputs{(MouseEvent{.ctrl = true, .alt = true, .shift = true})});
  EXPECT_EQ(read("\033[<35;5;6M"), Inputs{(MouseEvent{.action = MouseAction::move, .x = 4, .y = 5})});
  // The wheel sideways, buttons of the side, places that there are not.
  EXPECT_EQ(read("\033[<66;1;1M\033[<128;1;1M\033[<0;0;1M\033[<0;1M\033[<0;1;1;1Mq"), Inputs{typed('q')});
}

TEST(Mouse, ReportsInX10) {
  EXPECT_EQ(read("\033[M !!"), Inputs{MouseEvent{}});
  EXPECT_EQ(read("\033[M\"#\xf0"), Inputs{(MouseEvent{.button = 2, .x = 2, .y = 207})});
  EXPECT_EQ(read("\033[M#!!"), Inputs{MouseEvent{.action = MouseAction::release}});
  EXPECT_EQ(read("\033[M`!!"), Inputs{MouseEvent{.action = MouseAction::wheel_up}});
  EXPECT_EQ(read("\033[M   q"), Inputs{typed('q')});                     // column 0
  EXPECT_EQ(read("\033[M \033[A"), (Inputs{typed(' '), key(Key::up)}));  // broken off
}

TEST(Mouse, ReportsInUrxvt) {
  EXPECT_EQ(read("\033[32;3;4M"), Inputs{(MouseEvent{.x = 2, .y = 3})});
  EXPECT_EQ(read("\033[35;3;4M"), Inputs{(MouseEvent{.action = MouseAction::release, .x = 2, .y = 3})});
  EXPECT_EQ(read("\033[5;3;4Mq"), Inputs{typed('q')});
}

TEST(Pasted, IsOneText) {
  EXPECT_EQ(read("\033[200~hello\033[201~q"), (Inputs{Paste{"hello"}, typed('q')}));
  EXPECT_EQ(read("\033[200~\033[201~"), Inputs{Paste{""}});
  EXPECT_EQ(read("\033[201~q"), Inputs{typed('q')});
}

TEST(Pasted, HasNoControlCharactersAndIsValid) {
  EXPECT_EQ(read("\033[200~one\r\n\ttwo\n\x07\033[31m\xff\xc2\x9bé\033[201~"), Inputs{Paste{"one two [31mé"}});
  EXPECT_EQ(read("\033[200~\033[20\033\033[201\033[201~"), Inputs{Paste{"[20[201"}});
}

TEST(Pasted, EndsAlsoInPieces) {
  InputParser parser;
  Inputs inputs;
  for (const std::string_view piece : {"\033[20", "0~a", "b\033[2", "01", "~"}) {
    parser.feed(piece, inputs);
  }
  EXPECT_EQ(inputs, Inputs{Paste{"ab"}});
  EXPECT_FALSE(parser.waiting());
}

TEST(Pasted, IsNotEndedByAPause) {
  InputParser parser;
  Inputs inputs;
  parser.feed("\033[200~a\033[20", inputs);
  EXPECT_FALSE(parser.waiting());
  parser.settle(inputs);
  parser.feed("1~", inputs);
  EXPECT_EQ(inputs, Inputs{Paste{"a"}});
}

TEST(Pasted, IsBounded) {
  const std::string much(1'000'000, 'x');
  const auto inputs = read("\033[200~" + much + "\033[201~q");
  EXPECT_EQ(inputs, (Inputs{Paste{much.substr(0, InputParser::kLongestPaste)}, typed('q')}));
  // A character that does not fit whole is left out.
  std::string wide;
  while (wide.size() < 5000) wide += "名";
  EXPECT_EQ(read("\033[200~" + wide + "\033[201~"), Inputs{Paste{wide.substr(0, 4095)}});
}

TEST(Unknown, IsDroppedWhole) {
  EXPECT_EQ(read("\033[Iq\033[Oq"), (Inputs{typed('q'), typed('q')}));                         // focus
  EXPECT_EQ(read("\033[?62;22c\033[>0;10;1c\033[24;80R\033[?2026;2$yq"), Inputs{typed('q')});  // answers
  EXPECT_EQ(read("\033[99~\033[0~\033[9~\033[1;2;3;4;5;6;7xq"), Inputs{typed('q')});
  EXPECT_EQ(read("\033]11;rgb:0000/0000/0000\033\\q\033]0;t\aq"), (Inputs{typed('q'), typed('q')}));
  EXPECT_EQ(read("\033P>|xterm(390)\033\\\033_Gi=1;OK\033\\\033^x\033\\\033Xx\033\\q"), Inputs{typed('q')});
  EXPECT_EQ(read("\033]0;cancelled\x18q"), Inputs{typed('q')});
  EXPECT_EQ(read("\033Oz\033O!pq"), Inputs{typed('q')});
}

TEST(Unknown, IsBounded) {
  EXPECT_EQ(read("\033[" + std::string(254, '1') + "q"), Inputs{typed('q')});
  EXPECT_EQ(read("\033]" + std::string(4094, '1') + "q"), Inputs{typed('q')});
}

TEST(Unknown, BytesAreDropped) {
  EXPECT_EQ(read("\xff\xfe\x80q"), Inputs{typed('q')});
  EXPECT_EQ(read("\xc0\xafq\xed\xa0\x80q\xf4\x90\x80\x80q"), (Inputs{typed('q'), typed('q'), typed('q')}));
  EXPECT_EQ(read("\xe5\x90q"), Inputs{typed('q')});
  EXPECT_EQ(read("\xc2\x9bq"), Inputs{typed('q')});  // a control character of eight bits
}

// Bytes of which sequences are made, so that chance makes some.
std::string some_bytes(std::mt19937 &random) {
  static constexpr std::array<std::string_view, 30> kPieces{
      "\033", "\033", "\033[", "\033O", "\033]",   "\033P",     "\033[<",    "\033[M", "[",      "M",
      "~",    ";",    ":",     "1",     "5",       "27",        "u",         "A",      "m",      "$",
      "\a",   "\\",   "名",    "\xe5",  "\033[20", "\033[200~", "\033[201~", "\xff",   "0;3;4M", "\x18"};
  std::string bytes;
  for (auto count = random() % 24; count > 0; --count) {
    if (random() % 5 == 0) {
      bytes += static_cast<char>(random() % 256);
    } else {
      bytes += kPieces[random() % kPieces.size()];
    }
  }
  if (random() % 1000 == 0) bytes += "\033]" + std::string(4090 + random() % 8, 'x');
  if (random() % 50 == 0) bytes += "\033[" + std::string(250 + random() % 8, '1');
  return bytes + "A\033\\q";
}

TEST(Input, DoesNotDependOnHowTheBytesArrive) {
  std::mt19937 random(22);
  for (int round = 0; round < 20'000; ++round) {
    const auto bytes = some_bytes(random);
    InputParser whole, single;
    Inputs from_whole, from_single;
    whole.feed(bytes, from_whole);
    for (const char byte : bytes) single.feed({&byte, 1}, from_single);
    ASSERT_EQ(from_whole, from_single) << testing::PrintToString(bytes);
    ASSERT_EQ(whole.waiting(), single.waiting()) << testing::PrintToString(bytes);
  }
}

}  // namespace
}  // namespace gpulse::term
