// SPDX-License-Identifier: Apache-2.0
#include "term/ink.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <span>

namespace gpulse::term {

namespace {

struct Rgb {
  int red = 0, green = 0, blue = 0;
};

Rgb parts(std::uint32_t rrggbb) {
  return {static_cast<int>(rrggbb >> 16U & 255U), static_cast<int>(rrggbb >> 8U & 255U),
          static_cast<int>(rrggbb & 255U)};
}

std::uint32_t joined(const Rgb &rgb) {
  return static_cast<std::uint32_t>(rgb.red) << 16U | static_cast<std::uint32_t>(rgb.green) << 8U |
         static_cast<std::uint32_t>(rgb.blue);
}

int distance(const Rgb &a, const Rgb &b) {
  const auto square = [](int difference) { return difference * difference; };
  return square(a.red - b.red) + square(a.green - b.green) + square(a.blue - b.blue);
}

// As xterm has them; other terminals have other shades in the same order.
constexpr std::array<std::uint32_t, 16> kPalette{0x000000, 0xCD0000, 0x00CD00, 0xCDCD00, 0x0000EE, 0xCD00CD,
                                                 0x00CDCD, 0xE5E5E5, 0x7F7F7F, 0xFF0000, 0x00FF00, 0xFFFF00,
                                                 0x5C5CFF, 0xFF00FF, 0x00FFFF, 0xFFFFFF};
constexpr std::array<int, 6> kCubeSteps{0, 95, 135, 175, 215, 255};

std::uint8_t nearest_of_16(const Rgb &wanted) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < kPalette.size(); ++i) {
    if (distance(parts(kPalette[i]), wanted) < distance(parts(kPalette[best]), wanted)) best = i;
  }
  return static_cast<std::uint8_t>(best);
}

int nearest_step(int level) {
  int best = 0;
  for (int i = 1; i < static_cast<int>(kCubeSteps.size()); ++i) {
    const auto off = [level](int step) { return std::abs(kCubeSteps[static_cast<std::size_t>(step)] - level); };
    if (off(i) < off(best)) best = i;
  }
  return best;
}

struct Indexed {
  int number = 0;
  Rgb rgb{};
};

// Searches the 6×6×6 cube and the 24 greys, not the first 16, which differ between terminals.
Indexed find_nearest_of_256(const Rgb &wanted) {
  const int red = nearest_step(wanted.red), green = nearest_step(wanted.green), blue = nearest_step(wanted.blue);
  const auto level = [](int step) { return kCubeSteps[static_cast<std::size_t>(step)]; };
  const Indexed cube{16 + 36 * red + 6 * green + blue, {level(red), level(green), level(blue)}};
  const int mean = (wanted.red + wanted.green + wanted.blue) / 3;
  const int grey_step = mean < 8 ? 0 : mean > 238 ? 23 : (mean - 3) / 10;
  const int grey = 8 + 10 * grey_step;
  const Indexed ramp{232 + grey_step, {grey, grey, grey}};
  return distance(ramp.rgb, wanted) < distance(cube.rgb, wanted) ? ramp : cube;
}

// A screen has about twenty colours, looked up in every frame.
Indexed nearest_of_256(const Rgb &wanted) {
  struct Known {
    Rgb wanted;
    Indexed found;
    bool set = false;
  };
  constexpr std::size_t kPlaces = 64;
  thread_local std::array<Known, kPlaces> known{};
  auto &place = known[static_cast<std::size_t>(wanted.red * 5 + wanted.green * 3 + wanted.blue) % kPlaces];
  const auto same = [&] {
    return place.wanted.red == wanted.red && place.wanted.green == wanted.green && place.wanted.blue == wanted.blue;
  };
  if (!place.set || !same()) place = {wanted, find_nearest_of_256(wanted), true};
  return place.found;
}

Tint tint_shown_as(Tint tint, Depth depth) {
  if (depth == Depth::mono) return {};
  if (!tint.is_rgb() || depth == Depth::direct) return tint;
  const Rgb wanted = parts(tint.value());
  if (depth == Depth::ansi16) return Tint::ansi(nearest_of_16(wanted));
  return Tint::rgb(joined(nearest_of_256(wanted).rgb));
}

// The numbers of one SGR sequence.
class Parameters {
 public:
  void add(int number) {
    if (length_ > 0) bytes_[length_++] = ';';
    const auto end = std::to_chars(bytes_.data() + length_, bytes_.data() + bytes_.size(), number).ptr;
    length_ = static_cast<std::size_t>(end - bytes_.data());
  }
  // An empty number is a zero.
  void add_reset() { reset_ = true; }
  bool empty() const { return length_ == 0 && !reset_; }
  std::size_t size() const { return length_ + (reset_ && length_ > 0 ? 1 : 0); }
  void write(std::string &out) const {
    out += "\033[";
    if (reset_ && length_ > 0) out += ';';
    out.append(bytes_.data(), length_);
    out += 'm';
  }

 private:
  std::array<char, 64> bytes_{};
  std::size_t length_ = 0;
  bool reset_ = false;
};

void add_tint(Parameters &to, Tint tint, Depth depth, int base) {
  if (tint.is_default()) {
    to.add(base + 9);
  } else if (tint.is_ansi()) {
    const int number = static_cast<int>(tint.value());
    to.add(number < 8 ? base + number : base + 60 + number - 8);
  } else if (depth == Depth::indexed256) {
    to.add(base + 8);
    to.add(5);
    to.add(nearest_of_256(parts(tint.value())).number);
  } else {
    const Rgb rgb = parts(tint.value());
    for (const int number : {base + 8, 2, rgb.red, rgb.green, rgb.blue}) to.add(number);
  }
}

struct Attribute {
  std::uint8_t bit;
  int on, off;
};
// One code switches off both bold and dim, so it comes first, and the one that stays is switched on again.
constexpr std::array<Attribute, 5> kAttributes{
    {{kBold, 1, 22}, {kDim, 2, 22}, {kItalic, 3, 23}, {kUnderline, 4, 24}, {kReverse, 7, 27}}};

void add_change(Parameters &to, const Ink &from, const Ink &wanted, Depth depth) {
  auto have = from.attributes;
  for (const auto &attribute : kAttributes) {
    if ((have & attribute.bit) == 0 || (wanted.attributes & attribute.bit) != 0) continue;
    to.add(attribute.off);
    have &= static_cast<std::uint8_t>(attribute.off == 22 ? ~(kBold | kDim) : ~attribute.bit);
  }
  for (const auto &attribute : kAttributes) {
    if ((have & attribute.bit) == 0 && (wanted.attributes & attribute.bit) != 0) to.add(attribute.on);
  }
  if (!(from.fore == wanted.fore)) add_tint(to, wanted.fore, depth, 30);
  if (!(from.back == wanted.back)) add_tint(to, wanted.back, depth, 40);
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

Ink shown_as(const Ink &ink, Depth depth) {
  return {tint_shown_as(ink.fore, depth), tint_shown_as(ink.back, depth), ink.attributes};
}

void write_ink(std::string &out, const Ink &from, const Ink &to, Depth depth) {
  const Ink before = shown_as(from, depth);
  const Ink after = shown_as(to, depth);
  if (before == after) return;
  Parameters change;
  add_change(change, before, after, depth);
  Parameters anew;
  anew.add_reset();
  add_change(anew, {}, after, depth);
  (anew.size() < change.size() ? anew : change).write(out);
}

Depth depth_for(std::string_view term, std::string_view colorterm) {
  if (term.empty() || term == "dumb") return Depth::mono;
  if (contains(colorterm, "truecolor") || contains(colorterm, "24bit") || contains(term, "direct")) {
    return Depth::direct;
  }
  return contains(term, "256color") ? Depth::indexed256 : Depth::ansi16;
}

Tint blend(Tint a, Tint b, double share) {
  const double weight = share > 0 ? std::min(share, 1.0) : 0.0;
  if (!a.is_rgb() || !b.is_rgb()) return weight < 0.5 ? a : b;
  const auto mix = [weight](int from, int to) { return static_cast<int>(std::lround(from + (to - from) * weight)); };
  const Rgb from = parts(a.value()), to = parts(b.value());
  return Tint::rgb(joined({mix(from.red, to.red), mix(from.green, to.green), mix(from.blue, to.blue)}));
}

}  // namespace gpulse::term
