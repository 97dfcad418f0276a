// SPDX-License-Identifier: Apache-2.0
// The colours of the live view, by what they mean. Pure; this is the only place with colours in it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "term/ink.hpp"
#include "term/style.hpp"
#include "tui/enum_words.hpp"

namespace gpulse::tui {

enum class ThemeName : std::uint8_t { dark, light, colour_blind, mono };
template <>
inline constexpr auto kWords<ThemeName> = make_words("dark", "light", "colour-blind", "mono");

struct Theme {
  term::Ink text{}, dim{}, strong{}, title{}, border{}, heading{};
  term::Ink good{}, busy{}, warn{}, bad{}, accent{}, mark{};
  term::Ink key{};       // in the key bar
  term::Ink key_text{};  // what the key does
  term::Ink tagged{};
  term::Tint selected{};  // background of the chosen line
  std::uint8_t selected_attributes = 0;
  std::array<term::Ink, 8> curves{};  // of a chart, easy to tell apart
};

const Theme &theme(ThemeName name);

term::Ink ink(const Theme &theme, term::Colour colour);

}  // namespace gpulse::tui
