// SPDX-License-Identifier: Apache-2.0
// Any bytes are keys, mouse events, pasted text or nothing, and the same ones however they arrive.
#include <cstdlib>

#include "term/input.hpp"

using gpulse::term::InputParser;

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

void must_be_sound(const std::vector<gpulse::term::Input> &inputs) {
  for (const auto &input : inputs) {
    if (const auto *paste = std::get_if<gpulse::term::Paste>(&input)) {
      must(paste->text.size() <= InputParser::kLongestPaste);
      for (const char byte : paste->text) must(static_cast<unsigned char>(byte) >= 0x20);
    } else if (const auto *mouse = std::get_if<gpulse::term::MouseEvent>(&input)) {
      must(mouse->x >= 0 && mouse->y >= 0 && mouse->button <= 2);
    } else {
      const auto &press = std::get<gpulse::term::KeyPress>(input);
      must((press.key == gpulse::term::Key::character) == (press.character >= 0x20));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char *>(data), size);
  InputParser whole, single;
  std::vector<gpulse::term::Input> from_whole, from_single;
  whole.feed(bytes, from_whole);
  for (std::size_t i = 0; i < size; ++i) single.feed(bytes.substr(i, 1), from_single);
  must(from_whole == from_single && whole.waiting() == single.waiting());
  whole.settle(from_whole);
  single.settle(from_single);
  must(from_whole == from_single && !whole.waiting());
  must_be_sound(from_whole);
  return 0;
}
