// SPDX-License-Identifier: Apache-2.0
// However a screen is drawn on, the terminal shows it after the painter's bytes.
#include "term/painter.hpp"

#include <cstdio>
#include <cstdlib>

#include "term/testing.hpp"

namespace {

using namespace gpulse::term;

// Reads the drawing from the fuzzer's bytes; zeros where there are no more.
class Bytes {
 public:
  explicit Bytes(std::string_view rest) : rest_(rest) {}
  bool empty() const { return rest_.empty(); }
  int next() {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<unsigned char>(rest_[0]);
    rest_.remove_prefix(1);
    return byte;
  }
  std::string_view take(int count) {
    const auto taken = rest_.substr(0, static_cast<std::size_t>(count));
    rest_.remove_prefix(taken.size());
    return taken;
  }

 private:
  std::string_view rest_;
};

Tint next_tint(Bytes &bytes) {
  const int value = bytes.next();
  if (value < 64) return {};
  if (value < 128) return Tint::ansi(static_cast<std::uint8_t>(value));
  return Tint::rgb(static_cast<std::uint32_t>(value) << 16U | static_cast<std::uint32_t>(bytes.next()) * 257U);
}

Ink next_ink(Bytes &bytes) {
  const Tint fore = next_tint(bytes), back = next_tint(bytes);
  return {fore, back, static_cast<std::uint8_t>(bytes.next() & 31)};
}

void draw(Screen &screen, int what, Bytes &bytes) {
  const int x = bytes.next() % 48 - 4, y = bytes.next() % 12 - 1;
  switch (what) {
    case 0:
      return screen.fill({x, y, bytes.next() % 48, bytes.next() % 8}, next_ink(bytes));
    case 1:
      return screen.highlight({x, y, bytes.next() % 48, bytes.next() % 8}, next_tint(bytes), kBold);
    case 2:
      return screen.clear(next_ink(bytes));
    default: {
      const Ink ink = next_ink(bytes);
      screen.put(x, y, clean(bytes.take(bytes.next() % 24)), ink);
    }
  }
}

void must_show(const Screen &screen, Painter &painter, Emulator &terminal, Depth depth) {
  std::string out;
  painter.paint(screen, out);
  terminal.feed(out);
  const auto difference = terminal.difference(screen, depth);
  if (difference.empty() && terminal.frames_open() == 0) return;
  std::fprintf(stderr, "%s\n", difference.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Bytes bytes({reinterpret_cast<const char *>(data), size});
  const auto depth = static_cast<Depth>(bytes.next() % 4);
  Screen screen({bytes.next() % 40, bytes.next() % 10});
  Emulator terminal(screen.size());
  Painter painter(depth);
  while (!bytes.empty()) {
    const int what = bytes.next() % 12;
    if (what == 11) painter.forget();
    if (what == 10) {
      screen.resize({bytes.next() % 40, bytes.next() % 10});
      terminal.resize(screen.size());
      painter.forget();
    }
    if (what >= 8) must_show(screen, painter, terminal, depth);
    if (what < 8) draw(screen, what, bytes);
  }
  must_show(screen, painter, terminal, depth);
  return 0;
}
