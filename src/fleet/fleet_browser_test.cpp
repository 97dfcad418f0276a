// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_browser.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "term/width.hpp"

namespace gpulse::fleet {
namespace {

using namespace std::chrono_literals;
using term::Key;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const WallTime kNow{std::chrono::sys_days{std::chrono::year{2026} / 11 / 19} + 12h};
constexpr term::Style kStyle{.unicode = false, .width = 100};

std::shared_ptr<FleetSnapshot> fleet_of(std::size_t hosts) {
  auto fleet = std::make_shared<FleetSnapshot>();
  fleet->at = kNow;
  fleet->place = "engine:9090";
  for (std::size_t i = 0; i < hosts; ++i) {
    const auto name = "n" + std::to_string(100 + i);
    fleet->hosts.push_back({.instance = name + ":9837", .name = name, .cluster = i % 2 == 0 ? "east" : "west"});
    FleetGpu gpu{.host = i, .uuid = "GPU-" + name, .id = "0", .name = "H100", .held = true};
    gpu.owners = {{.user = i % 2 == 0 ? "ann" : "bob"}};
    fleet->gpus.push_back(std::move(gpu));
  }
  return fleet;
}

class Walk {
 public:
  explicit Walk(const FleetPtr &fleet, FleetQuestion question = {}) : browser(std::move(question)) {
    browser.take({.fleet = fleet});
  }
  void press(Key key, bool shift = false) { browser.handle({.key = key, .shift = shift}, kNow); }
  void type(std::string_view letters) {
    for (const char letter : letters) {
      browser.handle({.character = static_cast<char32_t>(letter)}, kNow);
    }
  }
  std::vector<std::string> lines(int rows = 24, int width = 100) {
    auto style = kStyle;
    style.width = width;
    return browser.draw(style, rows, Monotonic{} + 1h);
  }
  std::string screen(int rows = 24) {
    std::string all;
    for (const auto &line : lines(rows)) all += line + '\n';
    return all;
  }
  // Behind the pointer.
  std::string selected() {
    for (const auto &line : lines()) {
      if (line.starts_with("> ")) return line.substr(2, line.find(' ', 2) - 2);
    }
    return {};
  }

  FleetBrowser browser;
};

TEST(FleetBrowser, MovesAndOpensAHost) {
  Walk walk(fleet_of(3));
  EXPECT_EQ(walk.selected(), "n100");
  walk.press(Key::down);
  walk.type("j");
  EXPECT_EQ(walk.selected(), "n102");
  walk.press(Key::down);
  EXPECT_EQ(walk.selected(), "n102") << "there are no more";
  walk.press(Key::enter);
  const auto host = walk.browser.take_host();
  ASSERT_TRUE(host);
  EXPECT_EQ(host->instance, "n102:9837");
  EXPECT_FALSE(walk.browser.take_host()) << "told once";
}

TEST(FleetBrowser, KeepsWhatIsSelectedWhenTheOrderChanges) {
  Walk walk(fleet_of(3));
  walk.press(Key::down);
  auto other = fleet_of(3);
  other->gpus[2].state = GpuState::lost;
  walk.browser.take({.fleet = other});
  EXPECT_EQ(walk.selected(), "n101");
  EXPECT_THAT(walk.screen(), HasSubstr("n102  X")) << "the worst is first now";
}

TEST(FleetBrowser, OpensAGroupIntoItsHostsAndGoesBack) {
  Walk walk(fleet_of(4), {.by = FleetBy::user, .sort = FleetSort::name});
  walk.press(Key::down);
  EXPECT_EQ(walk.selected(), "bob");
  walk.press(Key::enter);
  EXPECT_THAT(walk.screen(),
              AllOf(HasSubstr("n101"), HasSubstr("n103"), Not(HasSubstr("n100")), HasSubstr("user=bob")));
  walk.press(Key::escape);
  EXPECT_EQ(walk.selected(), "bob");
}

TEST(FleetBrowser, AGroupOpensIntoItsOwnHostsAlone) {
  // Two users were asked for; either would do for a filter.
  Walk walk(fleet_of(4), {.by = FleetBy::user, .sort = FleetSort::name, .filters = {{"user", "ann"}, {"user", "bob"}}});
  EXPECT_EQ(walk.selected(), "ann");
  walk.press(Key::enter);
  EXPECT_THAT(walk.screen(), AllOf(HasSubstr("n100"), HasSubstr("n102"), Not(HasSubstr("n101"))));
}

TEST(FleetBrowser, ANameIsNoPatternWhenItIsOpened) {
  auto fleet = fleet_of(3);
  fleet->gpus[0].owners = {{.job = "train[1]"}};
  fleet->gpus[1].owners = {{.job = "train1"}};
  fleet->gpus[2].owners = {{.job = "tr*"}};
  for (const auto *wanted : {"n100", "n101", "n102"}) {
    Walk walk(fleet, {.by = FleetBy::job, .sort = FleetSort::name});
    const std::string job = wanted == std::string("n100")   ? "train[1]"
                            : wanted == std::string("n101") ? "train1"
                                                            : "tr*";
    for (int i = 0; i < 3 && walk.selected() != job; ++i) walk.press(Key::down);
    ASSERT_EQ(walk.selected(), job);
    walk.press(Key::enter);
    for (const auto *host : {"n100", "n101", "n102"}) {
      EXPECT_EQ(walk.screen().contains(host), host == std::string(wanted)) << job << " " << host;
    }
  }
}

TEST(FleetBrowser, TellsAllItsKeysAndThatThereAreSome) {
  Walk walk(fleet_of(3));
  EXPECT_THAT(walk.lines(24, 80).back(), AllOf(HasSubstr("? keys"), HasSubstr("q quit")));
  walk.type("?");
  std::string help;
  for (const auto &line : walk.lines(24, 80)) help += line + '\n';
  for (const auto *key : {"Enter", "Esc", "PgUp", "b B", "the one before\n", "s S", "w ", "/ f", "x ", "t ",
                          "Left Right", "Shift", "n ", "F10"}) {
    EXPECT_THAT(help, HasSubstr(key));
  }
  walk.type("q");
  EXPECT_FALSE(walk.browser.is_over()) << "the key only closes the help";
  EXPECT_EQ(walk.selected(), "n100");
}

TEST(FleetBrowser, ShowsWhatIsSelectedOnTheSmallestScreen) {
  auto fleet = fleet_of(30);
  fleet->warning = std::string(300, 'w');
  fleet->gpus[3].state = GpuState::lost;
  Walk walk(fleet, {.sort = FleetSort::name});
  for (int i = 0; i < 20; ++i) walk.press(Key::down);
  std::string screen;
  for (const auto &line : walk.lines(5, 20)) screen += line + '\n';
  EXPECT_THAT(screen, HasSubstr("> n120"));
}

TEST(FleetBrowser, EachStepInTimeCounts) {
  Walk walk(fleet_of(1));
  walk.press(Key::left);
  walk.press(Key::left);
  walk.press(Key::left, true);
  const auto moment = walk.browser.take_moment();
  ASSERT_TRUE(moment && moment->at);
  EXPECT_EQ(*moment->at, kNow - 70min);
  walk.press(Key::left);
  walk.press(Key::right);
  const auto back = walk.browser.take_moment();
  ASSERT_TRUE(back);
  EXPECT_FALSE(back->at) << "back where it began, which is now";
}

TEST(FleetBrowser, FiltersByWhatIsTyped) {
  Walk walk(fleet_of(4));
  walk.type("/");
  walk.type("user=ann 02");
  EXPECT_THAT(walk.screen(), HasSubstr("user=ann 02_"));
  walk.press(Key::enter);
  EXPECT_THAT(walk.screen(), AllOf(HasSubstr("n102"), Not(HasSubstr("n100")), Not(HasSubstr("n101"))));
  walk.type("/");
  walk.press(Key::backspace);
  walk.press(Key::escape);
  EXPECT_EQ(walk.selected(), "n102") << "given up, so nothing has changed";
  walk.type("x");
  EXPECT_THAT(walk.screen(), HasSubstr("n100"));
  walk.type("/");
  walk.type("planet=mars");
  walk.press(Key::enter);
  EXPECT_THAT(walk.screen(), HasSubstr("\"planet=mars\" is no filter"));
  EXPECT_THAT(walk.screen(), HasSubstr("n100"));
}

TEST(FleetBrowser, QuotesKeepBlanksTogether) {
  const auto filters = parse_fleet_filters("  model=\"NVIDIA H100\" beta ");
  ASSERT_TRUE(filters);
  ASSERT_EQ(filters->size(), 2U);
  EXPECT_EQ(filters->front().value, "NVIDIA H100");
  EXPECT_EQ(filters->back().word, "any");
  EXPECT_EQ(fleet_filter_text(*filters), "model=\"NVIDIA H100\" beta");
}

TEST(FleetBrowser, GoesBackInTimeAndReturns) {
  Walk walk(fleet_of(1));
  walk.press(Key::left);
  auto moment = walk.browser.take_moment();
  ASSERT_TRUE(moment && moment->at);
  EXPECT_EQ(*moment->at, kNow - 5min);
  walk.browser.take({.fleet = nullptr, .at = kNow - 5min});
  EXPECT_THAT(walk.screen(), AllOf(HasSubstr("asking"), Not(HasSubstr("n100")))) << "nothing old is shown as new";
  walk.browser.take({.fleet = fleet_of(1), .at = kNow - 5min});
  EXPECT_THAT(walk.screen(), HasSubstr("the past"));
  walk.press(Key::left, true);
  moment = walk.browser.take_moment();
  ASSERT_TRUE(moment && moment->at);
  EXPECT_EQ(*moment->at, kNow - 65min);
  walk.type("n");
  moment = walk.browser.take_moment();
  ASSERT_TRUE(moment);
  EXPECT_FALSE(moment->at);
  walk.type("t");
  walk.type("tomorrow");
  walk.press(Key::enter);
  EXPECT_FALSE(walk.browser.take_moment());
  EXPECT_THAT(walk.screen(), HasSubstr("not a time"));
}

TEST(FleetBrowser, ScrollsToWhatIsSelected) {
  Walk walk(fleet_of(200), {.sort = FleetSort::name});
  EXPECT_THAT(walk.screen(), HasSubstr("others, all well"));
  walk.press(Key::end);
  EXPECT_EQ(walk.selected(), "n299");
  EXPECT_THAT(walk.screen(), HasSubstr("above and 0 below"));
  walk.press(Key::page_up);
  const auto place = walk.selected();
  EXPECT_LT(place, "n295");
  EXPECT_GT(place, "n250");
}

TEST(FleetBrowser, FillsAnyScreenAndNoMore) {
  auto fleet = fleet_of(50);
  fleet->warning = std::string(500, 'w');
  fleet->gpus[3].state = GpuState::lost;
  Walk walk(fleet);
  for (const int rows : {1, 2, 3, 5, 24, 100}) {
    for (const int width : {1, 20, 80, 300}) {
      const auto lines = walk.lines(rows, width);
      EXPECT_EQ(lines.size(), static_cast<std::size_t>(rows));
      for (const auto &line : lines) EXPECT_LE(term::width(line), width) << rows << " x " << width;
    }
  }
}

TEST(FleetBrowser, HasNothingToOpenWhereThereIsNoName) {
  auto fleet = fleet_of(1);
  fleet->gpus[0].owners.clear();
  fleet->gpus[0].held = false;
  Walk walk(fleet, {.by = FleetBy::user});
  walk.press(Key::enter);
  EXPECT_THAT(walk.screen(), HasSubstr("this group has no name"));
  walk.press(Key::up);
  Walk empty(std::make_shared<FleetSnapshot>());
  for (const auto key : {Key::enter, Key::up, Key::down, Key::end, Key::page_down, Key::home, Key::escape})
    empty.press(key);
  EXPECT_FALSE(empty.browser.take_host());
}

TEST(FleetBrowser, TypedAndPastedTextIsBounded) {
  Walk walk(fleet_of(1));
  walk.type("/");
  walk.browser.paste(std::string(10'000, 'x'));
  walk.browser.paste("\x1b[31m");
  walk.type(std::string(1'000, 'y'));
  EXPECT_EQ(walk.lines().back().find('\x1b'), std::string::npos);
  walk.press(Key::enter);
  EXPECT_THAT(walk.screen(), HasSubstr("no GPU fits"));
}

TEST(FleetBrowser, SaysThatTheEngineIsSlow) {
  Walk walk(fleet_of(1));
  walk.browser.take({.fleet = fleet_of(1), .is_asking = true, .asking_since = Monotonic{} + 1h - 7s});
  EXPECT_THAT(walk.screen(), HasSubstr("asking the engine for 7 s"));
}

TEST(FleetBrowser, QuitsOnTheKeysForThat) {
  for (const auto &press : {term::KeyPress{.character = U'q'}, term::KeyPress{.key = Key::f10},
                            term::KeyPress{.character = U'c', .ctrl = true}}) {
    Walk walk(fleet_of(1));
    walk.browser.handle(press, kNow);
    EXPECT_TRUE(walk.browser.is_over());
  }
}

}  // namespace
}  // namespace gpulse::fleet
