// SPDX-License-Identifier: Apache-2.0
// A live view without terminal, driver or clock: tests hand it samples and press keys by name.
#pragma once

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "tui/app.hpp"
#include "tui/key_names.hpp"
#include "tui/keys.hpp"
#include "view/testing.hpp"

namespace gpulse::tui::testing {

using view::testing::kGiB;
using view::testing::make_process;
using view::testing::make_snapshot;

class MemoryTimeline final : public feed::Timeline {
 public:
  void add(const Snapshot &snapshot) { samples_.push_back(std::make_shared<Snapshot>(snapshot)); }

  std::uint64_t first() const override { return 0; }
  std::uint64_t end() const override { return samples_.size(); }
  WallTime time(std::uint64_t number) const override { return samples_[number]->time; }
  Result<SnapshotPtr> at(std::uint64_t number) override {
    if (number >= samples_.size()) return failure("no such sample");
    return samples_[number];
  }
  std::uint64_t find(WallTime time) override {
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < samples_.size(); ++i) {
      if (samples_[i]->time <= time) found = i;
    }
    return found;
  }

 private:
  std::vector<SnapshotPtr> samples_;
};

class LiveView {
 public:
  explicit LiveView(term::Size size = {120, 40}, AppOptions options = {})
      : app(prepared(std::move(options)), timeline) {
    app.resize(size);
  }

  void sample(const Snapshot &snapshot) {
    timeline.add(snapshot);
    now += std::chrono::seconds(1);
    app.sample_came(now);
  }
  // "Down Down Enter": the names of the help page.
  void press(std::string_view keys) {
    for (const auto name : split_words(keys)) {
      const auto key = parse_key(name);
      ASSERT_TRUE(key) << name;
      app.handle(*key, now);
    }
  }
  void type(std::string_view text) {
    for (const char c : text) app.handle(term::KeyPress{.character = static_cast<unsigned char>(c)}, now);
  }
  void click(int x, int y, std::uint8_t button = 0) {
    app.handle(term::MouseEvent{.action = term::MouseAction::press, .button = button, .x = x, .y = y}, now);
  }
  std::vector<std::string> lines() { return app.draw(now).lines(); }
  std::string text() { return app.draw(now).text(); }
  bool shows(std::string_view words) { return text().find(words) != std::string::npos; }
  // The first line with these words; -1: none.
  int line_of(std::string_view words) {
    const auto all = lines();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].find(words) != std::string::npos) return static_cast<int>(i);
    }
    return -1;
  }
  // The last highlighted line: the chosen process, where one is.
  std::string chosen_line() {
    const auto &screen = app.draw(now);
    const auto all = screen.lines();
    std::string found;
    for (int y = 0; y < screen.size().rows; ++y) {
      const int x = std::min(3, screen.size().columns - 1);
      if (screen.at(x, y).ink.back() == theme(app.settings().theme).selected) found = all[static_cast<std::size_t>(y)];
    }
    return found;
  }

  MemoryTimeline timeline;
  Monotonic now{std::chrono::seconds(1000)};
  App app;

 private:
  static AppOptions prepared(AppOptions options) {
    if (options.settings.panels.empty()) options.settings = default_settings();
    return options;
  }
};

// Five processes on each device in turn, all different.
inline Snapshot crowded(std::uint32_t devices, std::uint32_t processes) {
  auto snapshot = make_snapshot(devices);
  snapshot.processes.clear();
  for (std::uint32_t i = 0; i < processes; ++i) {
    auto process = make_process(5000 + i, i / 5 % std::max(1U, devices), fmt::format("python3 train.py --rank {}", i),
                                i % 3 == 0 ? "bob" : "ann");
    process.row[process_metric("gpu_memory_bytes")] = (1 + i) * kGiB;
    process.row[process_metric("cpu_percent")] = 100 + 0.5 * i;
    process.row[process_metric("gpu_utilization_percent")] = 10 + i;
    snapshot.processes.push_back(std::move(process));
  }
  return snapshot;
}

inline Snapshot later(Snapshot snapshot, int seconds) {
  snapshot.time += std::chrono::seconds(seconds);
  return snapshot;
}

}  // namespace gpulse::tui::testing
