// SPDX-License-Identifier: Apache-2.0
// Whole screens, as a user sees them; GPULSE_UPDATE_GOLDEN=1 writes them anew, to be read before they are committed.
#include "tui/testing.hpp"

namespace gpulse::tui {
namespace {

using testing::crowded;
using testing::later;
using testing::LiveView;

// Rules may change what is found; screens do not depend on it.
AppOptions without_findings() { return {.watch = {.step = std::chrono::hours(24)}}; }

void expect_screen(LiveView &live, const std::string &name) {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  view::testing::expect_file("src/tui/golden/" + name + ".txt", live.text());
}

// A minute of samples in which use goes up and down, so that plots have something to show.
void watch(LiveView &live, std::uint32_t devices, std::uint32_t processes) {
  for (int i = 0; i < 60; ++i) {
    auto snapshot = later(crowded(devices, processes), i);
    for (auto &device : snapshot.devices) {
      const double use = (i * 5 + static_cast<int>(device.id.index) * 13) % 100;
      device.row[device_metric("gpu_utilization_percent")] = use;
      device.row[device_metric("sm_active_percent")] = use / 2;
    }
    live.sample(snapshot);
  }
}

struct Case {
  const char *name;
  term::Size size;
  std::uint32_t devices, processes;
  const char *keys;
};

class Screens : public ::testing::TestWithParam<Case> {};

TEST_P(Screens, LookAsBefore) {
  const auto &wanted = GetParam();
  LiveView live(wanted.size, without_findings());
  watch(live, wanted.devices, wanted.processes);
  live.press(wanted.keys);
  expect_screen(live, wanted.name);
}

INSTANTIATE_TEST_SUITE_P(
    All, Screens,
    ::testing::Values(Case{"one-120x40", {120, 40}, 1, 3, "Down"}, Case{"two-100x36", {100, 36}, 2, 8, ""},
                      Case{"eight-80x24", {80, 24}, 8, 40, "Down Down"}, Case{"eight-200x50", {200, 50}, 8, 40, "Down"},
                      Case{"sixteen-80x24", {80, 24}, 16, 16, ""},
                      Case{"hundred-twenty-eight-100x40", {100, 40}, 128, 128, "b b b"},
                      Case{"tiny-20x5", {20, 5}, 2, 2, ""}, Case{"details-100x30", {100, 30}, 1, 3, "Down Enter"},
                      Case{"help-80x24", {80, 24}, 1, 1, "?"}, Case{"setup-80x24", {80, 24}, 1, 1, "S"},
                      Case{"sort-menu-80x24", {80, 24}, 1, 3, "s"}, Case{"none-80x24", {80, 24}, 0, 0, ""}),
    [](const auto &each) {
      std::string name = each.param.name;
      for (auto &c : name) c = c == '-' ? '_' : c;
      return name;
    });

TEST(ScreensInAscii, HaveNothingElse) {
  auto options = without_findings();
  options.unicode = false;
  LiveView live({100, 36}, std::move(options));
  watch(live, 2, 8);
  const auto text = live.text();
  for (const char c : text) ASSERT_LT(static_cast<unsigned char>(c), 128U);
  expect_screen(live, "ascii-100x36");
}

}  // namespace
}  // namespace gpulse::tui
