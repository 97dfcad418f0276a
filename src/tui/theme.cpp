// SPDX-License-Identifier: Apache-2.0
#include "tui/theme.hpp"

namespace gpulse::tui {

namespace {

using term::Ink;
using term::kBold;
using term::kDim;
using term::kReverse;
using term::kUnderline;
using term::Tint;

constexpr Ink colour(std::uint32_t rrggbb, std::uint8_t attributes = 0) { return {Tint::rgb(rrggbb), {}, attributes}; }
constexpr Ink only(std::uint8_t attributes) { return {{}, {}, attributes}; }

constexpr Theme kDark{
    .text = {},
    .dim = colour(0x7a828e),
    .strong = only(kBold),
    .title = colour(0x6cb6ff, kBold),
    .border = colour(0x444c56),
    .heading = colour(0x96a0ad, kBold),
    .good = colour(0x57ab5a),
    .busy = colour(0x6bc46d, kBold),
    .warn = colour(0xe0b64c),
    .bad = colour(0xf0616d, kBold),
    .accent = colour(0x39c5cf),
    .mark = {Tint::rgb(0x16181d), Tint::rgb(0xe0b64c), kBold},
    .key = {Tint::rgb(0x16181d), Tint::rgb(0x6cb6ff), 0},
    .key_text = colour(0x96a0ad),
    .tagged = colour(0xe0b64c, kBold),
    .selected = Tint::rgb(0x2d3b4e),
    .selected_attributes = kBold,
    .curves = {colour(0x6bc46d), colour(0x6cb6ff), colour(0xe0b64c), colour(0xdc8cff), colour(0x39c5cf),
               colour(0xf69d50), colour(0xf47067), colour(0xadbac7)},
};

constexpr Theme kLight{
    .text = {},
    .dim = colour(0x6e7781),
    .strong = only(kBold),
    .title = colour(0x0550ae, kBold),
    .border = colour(0xafb8c1),
    .heading = colour(0x57606a, kBold),
    .good = colour(0x1a7f37),
    .busy = colour(0x116329, kBold),
    .warn = colour(0x9a6700),
    .bad = colour(0xcf222e, kBold),
    .accent = colour(0x1b7c83),
    .mark = {Tint::rgb(0xffffff), Tint::rgb(0x9a6700), kBold},
    .key = {Tint::rgb(0xffffff), Tint::rgb(0x0550ae), 0},
    .key_text = colour(0x57606a),
    .tagged = colour(0x953800, kBold),
    .selected = Tint::rgb(0xcfe3fb),
    .selected_attributes = kBold,
    .curves = {colour(0x1a7f37), colour(0x0969da), colour(0xbf8700), colour(0x8250df), colour(0x1b7c83),
               colour(0xbc4c00), colour(0xcf222e), colour(0x57606a)},
};

// The palette of Okabe and Ito, made to be told apart with any kind of colour vision.
constexpr Theme kColourBlind{
    .text = {},
    .dim = colour(0x8a8f98),
    .strong = only(kBold),
    .title = colour(0x56b4e9, kBold),
    .border = colour(0x5a6068),
    .heading = colour(0xa0a6ae, kBold),
    .good = colour(0x56b4e9),
    .busy = colour(0x56b4e9, kBold),
    .warn = colour(0xf0e442),
    .bad = colour(0xd55e00, kBold | kUnderline),
    .accent = colour(0x009e73),
    .mark = {Tint::rgb(0x16181d), Tint::rgb(0xf0e442), kBold},
    .key = {Tint::rgb(0x16181d), Tint::rgb(0x56b4e9), 0},
    .key_text = colour(0xa0a6ae),
    .tagged = colour(0xf0e442, kBold),
    .selected = Tint::rgb(0x2d3b4e),
    .selected_attributes = kBold,
    .curves = {colour(0x56b4e9), colour(0xe69f00), colour(0x009e73), colour(0xf0e442), colour(0x0072b2),
               colour(0xd55e00), colour(0xcc79a7), colour(0xbbbbbb)},
};

constexpr Theme kMono{
    .text = {},
    .dim = only(kDim),
    .strong = only(kBold),
    .title = only(kBold),
    .border = only(kDim),
    .heading = only(kBold),
    .good = {},
    .busy = only(kBold),
    .warn = only(kBold),
    .bad = only(kBold | kReverse),
    .accent = {},
    .mark = only(kBold | kReverse),
    .key = only(kReverse),
    .key_text = {},
    .tagged = only(kBold | kUnderline),
    .selected = {},
    .selected_attributes = kReverse,
    .curves = {},
};

// In the order of ThemeName.
constexpr std::array kThemes{&kDark, &kLight, &kColourBlind, &kMono};
static_assert(kThemes.size() == kWords<ThemeName>.size());

}  // namespace

const Theme &theme(ThemeName name) { return *kThemes[static_cast<std::size_t>(name)]; }

Ink ink(const Theme &theme, term::Colour colour) {
  switch (colour) {
    case term::Colour::plain:
      return theme.text;
    case term::Colour::dim:
      return theme.dim;
    case term::Colour::bold:
      return theme.strong;
    case term::Colour::good:
      return theme.good;
    case term::Colour::busy:
      return theme.busy;
    case term::Colour::warn:
      return theme.warn;
    case term::Colour::bad:
      return theme.bad;
    case term::Colour::accent:
      return theme.accent;
    case term::Colour::mark:
      return theme.mark;
  }
  return theme.text;
}

}  // namespace gpulse::tui
