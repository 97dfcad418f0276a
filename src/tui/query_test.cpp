// SPDX-License-Identifier: Apache-2.0
#include "tui/query.hpp"

#include <gtest/gtest.h>

#include "view/testing.hpp"

namespace gpulse::tui {
namespace {

using view::testing::kGiB;
using view::testing::make_process;

Process example() {
  auto process = make_process(4711, 2, "python3 train.py --model Llama", "ann");
  process.row[process_metric("gpu_memory_bytes")] = 3 * kGiB;
  process.row[process_metric("cpu_percent")] = 75;
  process.row[process_metric("running_seconds")] = 3600;
  TextRow texts = *process.texts;
  texts[process_metric("job")] = std::string("9001");
  texts[process_metric("container")] = std::string("deadbeefcafe");
  process.texts = std::make_shared<TextRow>(texts);
  return process;
}

bool matches(std::string_view text) {
  const auto query = Query::parse(text);
  EXPECT_TRUE(query) << text;
  return query && query->matches(example());
}

TEST(Query, NothingMatchesEverything) {
  EXPECT_TRUE(matches(""));
  EXPECT_TRUE(matches("   "));
  EXPECT_TRUE(Query::parse(" ")->empty());
}

TEST(Query, FieldsAreMetByOneOfTheirValues) {
  for (const auto *good :
       {"user:ann", "user:bob,ann", "gpu:2", "gpu:0,2", "gpu:1-3", "pid:4711", "type:c", "type:compute", "type:g,c",
        "job:9001", "job:900", "container:beef", "command:llama", "name:python"}) {
    EXPECT_TRUE(matches(good)) << good;
  }
  for (const auto *bad :
       {"user:an", "user:root", "gpu:0", "gpu:3-9", "pid:471", "type:g", "type:m", "job:77", "pod:x"}) {
    EXPECT_FALSE(matches(bad)) << bad;
  }
}

TEST(Query, NumbersAreCompared) {
  for (const auto *good : {"cpu>50", "cpu>=75", "cpu=75", "cpu<75.5", "mem>2G", "mem>=3G", "mem>3000M", "mem<3.5g",
                           "time>59m", "time>=1h", "cpu>50%", "cpu_percent>74"}) {
    EXPECT_TRUE(matches(good)) << good;
  }
  for (const auto *bad : {"cpu>75", "cpu<75", "mem>3G", "time>1h", "use>98", "hostmem<1G"})
    EXPECT_FALSE(matches(bad)) << bad;
}

TEST(Query, ANumberThatIsNotKnownMeetsNoComparison) {
  auto process = example();
  process.row[process_metric("cpu_percent")] = Reason::no_permission;
  EXPECT_FALSE(Query::parse("cpu<1000")->matches(process));
  EXPECT_FALSE(Query::parse("cpu>0")->matches(process));
}

TEST(Query, WordsAreExpressionsOverWhatTheListShows) {
  for (const auto *good : {"train", "train.*llama", "^python3", "ann", "4711", "9001", "beef", "Llama", "tr.in"}) {
    EXPECT_TRUE(matches(good)) << good;
  }
  EXPECT_FALSE(matches("lLama")) << "a capital letter asks for just that";
  EXPECT_FALSE(matches("^train"));
}

TEST(Query, AllTermsMustHoldAndAnExclamationMarkTurnsOneRound) {
  EXPECT_TRUE(matches("user:ann train gpu:2"));
  EXPECT_FALSE(matches("user:ann eval"));
  EXPECT_TRUE(matches("!user:root !eval"));
  EXPECT_FALSE(matches("!train"));
}

TEST(Query, SaysWhatIsWrong) {
  for (const auto *wrong : {"[a-", "gpu:x", "gpu:1-", "type:z", "cpu>much", "(", "a{2,1}"}) {
    EXPECT_FALSE(Query::parse(wrong)) << wrong;
  }
  EXPECT_FALSE(Query::parse(std::string(1000, 'a')));
}

TEST(Query, AKeyThatThereIsNotIsNoPattern) {
  const auto wrong = Query::parse("usr:root");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().line(), "no such key \"usr\": user, gpu, pid, type, job, pod, name, container, command");
  const auto number = Query::parse("cpuu>50");
  ASSERT_FALSE(number);
  EXPECT_EQ(number.error().line(), "no such key \"cpuu\": cpu, mem, use, hostmem, time");
  EXPECT_FALSE(Query::parse("!usr:root"));
  // What is meant as a pattern: nothing behind the colon, a number before it, a backslash.
  for (const auto *pattern : {"train:", "12:30", "http\\://node"}) EXPECT_TRUE(Query::parse(pattern)) << pattern;
}

TEST(Query, NoPatternTakesForEver) {
  auto process = make_process(1, 0, std::string(1'000'000, 'a'));
  EXPECT_FALSE(Query::parse("(a+)+b")->matches(process));
  EXPECT_FALSE(Query::parse("(a|aa)+$x")->matches(process));
  EXPECT_TRUE(Query::parse("a*")->matches(process));
}

}  // namespace
}  // namespace gpulse::tui
