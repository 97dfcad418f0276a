// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/fleet_text.hpp"

namespace gpulse::fleet {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

FleetGpu gpu(std::size_t host, const char *uuid, std::optional<double> activity, std::vector<FleetOwner> owners = {}) {
  FleetGpu one{.host = host, .uuid = uuid, .id = "0", .name = "H100", .held = !owners.empty(), .owners = owners};
  one.readings[static_cast<std::size_t>(FleetReading::true_activity)] = activity;
  one.readings[static_cast<std::size_t>(FleetReading::power)] = 100;
  return one;
}

FleetSnapshot some_fleet() {
  FleetSnapshot fleet{.place = "engine:9090"};
  fleet.hosts = {{.instance = "n1", .name = "n1", .cluster = "east"},
                 {.instance = "n2", .name = "n2", .cluster = "east"},
                 {.instance = "n3", .name = "n3", .cluster = "west"}};
  fleet.gpus = {gpu(0, "a", 80, {{.user = "ann", .job = "1"}}), gpu(0, "b", 20, {{.user = "ann"}, {.user = "bob"}}),
                gpu(1, "c", 10), gpu(1, "d", std::nullopt, {{.pod = "shop/web"}}), gpu(2, "e", std::nullopt)};
  return fleet;
}

FleetSnapshot silent_fleet() {
  auto fleet = some_fleet();
  fleet.hosts[2].silent_for = 240s;
  fleet.gpus[4].state = GpuState::silent;
  fleet.gpus[4].held.reset();
  fleet.gpus[4].readings = {};
  return fleet;
}

std::vector<std::string> names(const FleetView &view) {
  std::vector<std::string> all;
  for (const auto &group : view.groups) all.push_back(group.name);
  return all;
}

std::string shown(const FleetSnapshot &fleet, FleetQuestion question = {}, const FleetTextOptions &options = {}) {
  return render_fleet(fleet, make_fleet_view(fleet, std::move(question)), options);
}

TEST(FleetGroups, AddUpWhatIsKnown) {
  const auto view = make_fleet_view(silent_fleet(), {});
  const auto &totals = view.totals;
  EXPECT_EQ(totals.hosts, 3U);
  EXPECT_EQ(totals.silent_hosts, 1U);
  EXPECT_EQ(totals.gpus, 5U);
  EXPECT_EQ(totals.held, 3U);
  EXPECT_EQ(totals.held_known, 4U);
  EXPECT_DOUBLE_EQ(totals.true_activity.mean().value(), (80 + 20 + 10) / 3.0) << "two are not known";
  EXPECT_DOUBLE_EQ(totals.watts.total().value(), 400);
  EXPECT_DOUBLE_EQ(totals.wasted.sum, 0.2 + 0.8) << "held, and not used";
}

TEST(FleetGroups, CountAGpuWithEachThatHoldsIt) {
  const auto view = make_fleet_view(silent_fleet(), {.by = FleetBy::user, .sort = FleetSort::name});
  ASSERT_THAT(view.groups, SizeIs(4));
  EXPECT_EQ(names(view), (std::vector<std::string>{"ann", "bob", "", ""}));
  EXPECT_THAT(view.groups[0].gpus, ElementsAre(0U, 1U));
  EXPECT_THAT(view.groups[1].gpus, ElementsAre(1U));
  EXPECT_EQ(view.groups[2].kind, GroupKind::nobody);
  EXPECT_THAT(view.groups[2].gpus, ElementsAre(2U));
  EXPECT_EQ(view.groups[3].kind, GroupKind::unknown) << "a pod has no user, a silent host tells nothing";
  EXPECT_THAT(view.groups[3].gpus, ElementsAre(3U, 4U));
}

TEST(FleetGroups, AreOfEveryKind) {
  const auto fleet = some_fleet();
  const auto names_by = [&](FleetBy what) {
    const FleetQuestion question{.by = what, .sort = FleetSort::name};
    return names(make_fleet_view(fleet, question));
  };
  EXPECT_THAT(names_by(FleetBy::cluster), ElementsAre("east", "west"));
  EXPECT_THAT(names_by(FleetBy::job), ElementsAre("1", "shop/web", "", ""));
  EXPECT_THAT(names_by(FleetBy::pod), ElementsAre("shop/web", "", ""));
  EXPECT_THAT(names_by(FleetBy::model), ElementsAre("H100"));
}

TEST(FleetGroups, HaveTheWorstFirst) {
  auto fleet = silent_fleet();
  EXPECT_THAT(names(make_fleet_view(fleet, {})), ElementsAre("n3", "n1", "n2"));
  EXPECT_THAT(names(make_fleet_view(fleet, {.sort = FleetSort::waste})), ElementsAre("n1", "n3", "n2"));
  fleet.gpus[2].findings = {{.id = "health", .weight = insight::Weight::problem}};
  fleet.gpus[0].idle = true;
  EXPECT_THAT(names(make_fleet_view(fleet, {})), ElementsAre("n3", "n2", "n1"));
  fleet.gpus[0].state = GpuState::lost;
  const auto view = make_fleet_view(fleet, {.by = FleetBy::cluster});
  EXPECT_EQ(view.groups[0].worst, "lost");
  EXPECT_EQ(view.totals.bad(), 2U) << "one GPU and one host";
}

TEST(FleetGroups, CountAGpuOnceForEachThingThatIsWrong) {
  auto fleet = some_fleet();
  const FleetRemark lower{.id = insight::RemarkId::lower_limit, .weight = insight::Weight::note};
  fleet.gpus[0].remarks = {lower, lower};
  const auto view = make_fleet_view(fleet, {});
  EXPECT_EQ(view.groups[0].worst, "lower-limit") << "of its power and of its clock";
}

TEST(FleetGroups, AreOfTheGpusThatFit) {
  const auto fleet = some_fleet();
  const auto chosen = [&](std::vector<std::string> words) {
    FleetQuestion question;
    for (const auto &word : words) question.filters.push_back(*parse_fleet_filter(word));
    std::string uuids;
    for (const auto index : make_fleet_view(fleet, question).gpus) uuids += fleet.gpus[index].uuid;
    return uuids;
  };
  EXPECT_EQ(chosen({}), "abcde");
  EXPECT_EQ(chosen({"user=ANN"}), "ab");
  EXPECT_EQ(chosen({"user=an"}), "");
  EXPECT_EQ(chosen({"user=a*", "user=bob"}), "ab");
  EXPECT_EQ(chosen({"user=ann", "host=n2"}), "");
  EXPECT_EQ(chosen({"host=n[12]", "state=ok"}), "abcd");
  EXPECT_EQ(chosen({"any=AN"}), "ab") << "ann's";
  EXPECT_EQ(chosen({"any=o"}), "bd") << "bob's, and that of the pod shop/web";
  EXPECT_EQ(chosen({"any=ann", "any=bob"}), "b") << "all have to be there";
  EXPECT_EQ(chosen({"any=ok"}), "") << "a state is no name";
  auto fleet_with = fleet;
  fleet_with.gpus[0].idle = true;
  fleet_with.gpus[1].errors = {79, 13};
  fleet_with.gpus[2].errors = {48};
  fleet_with.gpus[3].findings = {{.id = "health", .weight = insight::Weight::problem},
                                 {.id = "input-cpu", .weight = insight::Weight::note}};
  fleet_with.gpus[4].findings = {{.id = "input-cpu", .weight = insight::Weight::note}};
  const auto chosen_with = [&](const char *word) {
    std::string uuids;
    const auto view = make_fleet_view(fleet_with, {.filters = {*parse_fleet_filter(word)}});
    for (const auto index : view.gpus) uuids += fleet_with.gpus[index].uuid;
    return uuids;
  };
  EXPECT_EQ(chosen_with("idle=yes"), "a");
  EXPECT_EQ(chosen_with("idle=NO"), "bcde");
  EXPECT_EQ(chosen_with("xid=*"), "bc");
  EXPECT_EQ(chosen_with("xid=13"), "b");
  EXPECT_EQ(chosen_with("severity=problem"), "d");
  EXPECT_EQ(chosen_with("severity=note"), "e") << "as they are counted: by the worst of each";
  EXPECT_THAT(parse_fleet_filter("idle=maybe").error().line(), HasSubstr("idle=yes"));
  EXPECT_THAT(parse_fleet_filter("severity=ok").error().line(), HasSubstr("severity=problem"));
  EXPECT_THAT(parse_fleet_filter("colour=red").error().line(), HasSubstr("no filter"));
  EXPECT_THAT(parse_fleet_filter("user").error().line(), HasSubstr("WORD=VALUE"));
  EXPECT_THAT(parse_fleet_filter("user=").error().line(), HasSubstr("no value"));
}

TEST(FleetFilter, IsAWordThatThereIs) {
  EXPECT_EQ(parse_fleet_filter("state=losst").error().line(), R"("losst" is no state: did you mean lost?)");
  EXPECT_TRUE(parse_fleet_filter("state=Lost"));
  EXPECT_TRUE(parse_fleet_filter("state=not responding"));
  EXPECT_TRUE(parse_fleet_filter("state=l*"));
  EXPECT_FALSE(parse_fleet_filter("remark=warmer"));
  EXPECT_TRUE(parse_fleet_filter("remark=hotter"));
}

TEST(FleetText, SaysWhyThereIsNothing) {
  const FleetSnapshot nothing;
  EXPECT_THAT(shown(nothing), HasSubstr("the engine knows of no GPUs at that time"));
  EXPECT_THAT(shown(some_fleet(), {.filters = {{"user", "zoe"}}}), HasSubstr("no GPU fits the filters"));
}

TEST(FleetGroups, CountAnInstanceWithItsGpu) {
  auto fleet = some_fleet();
  auto instance = gpu(0, "a1", 50);
  instance.parent = "a";
  fleet.gpus.push_back(instance);
  const auto view = make_fleet_view(fleet, {});
  EXPECT_EQ(view.totals.gpus, 5U);
  EXPECT_THAT(view.gpus, SizeIs(6));
}

TEST(FleetGroups, CountInstancesOfAGpuThatNobodyTellsAsOne) {
  auto fleet = some_fleet();
  for (const auto *uuid : {"x/1", "x/2", "x/3"}) {
    fleet.gpus.push_back(gpu(0, uuid, 50));
    fleet.gpus.back().parent = "x";
  }
  const auto view = make_fleet_view(fleet, {});
  EXPECT_EQ(view.totals.gpus, 6U);
  EXPECT_DOUBLE_EQ(view.totals.watts.sum, 600);
}

TEST(FleetText, SaysSinceWhenAHostIsSilent) {
  const auto text = shown(silent_fleet(), {}, {.style = {.unicode = true, .width = 80}});
  EXPECT_THAT(text, HasSubstr("silent 4 min"));
  EXPECT_THAT(text, HasSubstr("░"));
  EXPECT_THAT(text, HasSubstr("3 hosts, 5 GPUs · 3 held · truly used 37 %"));
}

TEST(FleetText, IsPlainWhereItHasToBe) {
  auto fleet = silent_fleet();
  fleet.gpus[0].state = GpuState::lost;
  fleet.gpus[1].owners[0].user = "\u202Eann\x1b[31m";
  const auto text = shown(fleet, {}, {.style = {.unicode = false, .width = 80}});
  for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 127)) << static_cast<int>(c);
  EXPECT_THAT(text, HasSubstr("X:"));
  EXPECT_THAT(text, HasSubstr("~"));
}

TEST(FleetText, FoldsTheQuietOnes) {
  FleetSnapshot fleet;
  for (std::size_t i = 0; i < 1000; ++i) {
    fleet.hosts.push_back({.instance = std::to_string(i), .name = std::to_string(i)});
    fleet.gpus.push_back(gpu(i, "g", 50));
    fleet.gpus.back().uuid += std::to_string(i);
  }
  EXPECT_THAT(shown(fleet), HasSubstr("… 980 others, all well"));
  fleet.gpus[7].state = GpuState::lost;
  EXPECT_THAT(shown(fleet, {.sort = FleetSort::name}, {.top = 1}), HasSubstr("999 others, 1 of them needs a look"));
  EXPECT_THAT(shown(fleet, {}, {.height = 10}), HasSubstr("others, all well"));
}

TEST(FleetText, KeepsToItsWidth) {
  auto fleet = silent_fleet();
  fleet.hosts[0].name = std::string(100, 'x');
  for (const int width : {40, 60, 80, 120}) {
    std::string_view rest = std::string_view();
    const auto text = shown(fleet, {}, {.style = {.width = width}});
    rest = text;
    while (!rest.empty()) EXPECT_LE(term::width({{std::string(next_piece(rest, '\n')), term::Colour::plain}}), width);
  }
}

TEST(FleetText, SaysWhatIsMissing) {
  auto fleet = some_fleet();
  fleet.faults = {{.what = "power", .why = "it takes too long", .part = FleetPart::power}};
  fleet.warning = "a shard is away";
  const auto text = shown(fleet, {}, {.trouble = "nothing listens"});
  EXPECT_THAT(text, HasSubstr("power: it takes too long"));
  EXPECT_THAT(text, HasSubstr("something is missing: a shard is away"));
  EXPECT_THAT(text, HasSubstr("nothing newer than"));
}

TEST(FleetText, WritesNumbersOrNothing) {
  const auto fleet = silent_fleet();
  const auto view = make_fleet_view(fleet, {});
  const auto json = fleet_json(fleet, view);
  EXPECT_THAT(json, HasSubstr(R"("sm_active_percent":80)"));
  EXPECT_THAT(json, HasSubstr(R"("unavailable":{"gpu_utilization_percent":"silent")"));
  const auto csv = fleet_csv(fleet, view, false);
  EXPECT_THAT(csv, HasSubstr("n3,named,1,1,1,,0,"));
  EXPECT_THAT(csv, Not(HasSubstr("time,")));
}

}  // namespace
}  // namespace gpulse::fleet
