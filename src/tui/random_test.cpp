// SPDX-License-Identifier: Apache-2.0
// Whatever is typed, clicked, resized and sampled in whatever order: the view goes on, and what is painted is what was
// drawn.
#include <cstdlib>
#include <random>

#include "term/painter.hpp"
#include "tui/testing.hpp"

namespace gpulse::tui {
namespace {

using testing::crowded;
using testing::LiveView;

class Chaos {
 public:
  explicit Chaos(unsigned seed) : random_(seed) {
    for (const auto &section : key_sections()) {
      for (const auto &binding : section.bindings) {
        for (const auto name : split_words(binding.keys)) keys_.push_back(*parse_key(name));
      }
    }
    for (char32_t c = 32; c < 127; ++c) keys_.push_back({.character = c});
    for (int key = 1; key <= static_cast<int>(term::Key::f12); ++key)
      keys_.push_back({.key = static_cast<term::Key>(key)});
    keys_.push_back({.character = U'世'});
  }

  int below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random_); }

  term::Input input(term::Size size) {
    const int kind = below(10);
    if (kind == 0) return term::Paste{"user:ann gpu:0 [a-"};
    if (kind > 3) return keys_[static_cast<std::size_t>(below(static_cast<int>(keys_.size())))];
    return term::MouseEvent{.action = static_cast<term::MouseAction>(below(5)),
                            .button = static_cast<std::uint8_t>(below(3)),
                            .x = below(size.columns + 2),
                            .y = below(size.rows + 2),
                            .ctrl = below(4) == 0,
                            .shift = below(4) == 0};
  }

  Snapshot sample(int number) {
    auto snapshot =
        crowded(static_cast<std::uint32_t>(below(6) == 0 ? below(40) : 2), static_cast<std::uint32_t>(below(30)));
    snapshot.time += std::chrono::seconds(number);
    for (auto &process : snapshot.processes) {
      process.gone = true;  // so that no signal can be sent to a process of this machine
      process.row[process_metric("parent_pid")] = 4990 + below(30);
      if (below(8) == 0) process.row.fill(Reason::no_permission);
    }
    for (auto &device : snapshot.devices) {
      if (below(10) == 0) device.state = static_cast<DeviceState>(below(4));
      if (below(10) == 0) device.row.fill(Reason::lost);
      if (below(10) == 0) device.row[device_metric("power_draw_watts")] = 1e9;
    }
    return snapshot;
  }

 private:
  std::mt19937 random_;
  std::vector<term::KeyPress> keys_;
};

int events_wanted() {
  const char *text = std::getenv("GPULSE_RANDOM_EVENTS");
  return text != nullptr ? std::atoi(text) : 100'000;
}

TEST(Random, EventsAndSizesDoNoHarm) {
  Chaos chaos(20261115);
  LiveView live;
  term::Painter painter(term::Depth::indexed256);
  std::string bytes;
  term::Size size{120, 40};
  const int wanted = events_wanted();
  int samples = 0;
  for (int i = 0; i < wanted; ++i) {
    const int what = chaos.below(40);
    if (what == 0) {
      // Large ones are seldom: they take long to draw.
      const int most = chaos.below(8) == 0 ? 301 : 90;
      size = {chaos.below(most), chaos.below(most)};
      live.app.resize(size);
    } else if (what < 4) {
      live.sample(chaos.sample(++samples));
    } else {
      live.app.handle(chaos.input(size), live.now);
    }
    live.app.tick(live.now);
    if (chaos.below(4) != 0) continue;
    const auto &screen = live.app.draw(live.now);
    ASSERT_EQ(screen.size(), size);
    bytes.clear();
    painter.paint(screen, bytes);
  }
}

}  // namespace
}  // namespace gpulse::tui
