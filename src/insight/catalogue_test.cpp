// SPDX-License-Identifier: Apache-2.0
#include "insight/catalogue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "metric/table.hpp"

namespace gpulse::insight {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string_view> words() {
  std::vector<std::string_view> all;
  for (const auto &kind : finding_kinds()) all.push_back(kind.word);
  return all;
}

bool is_metric(std::string_view key) { return std::ranges::find(kMetrics, key, &Metric::key) != kMetrics.end(); }

bool is_legal_word(std::string_view word) {
  return !word.empty() && word.front() != '-' && word.back() != '-' &&
         std::ranges::all_of(word, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

bool is_whole_sentence(std::string_view text) {
  return text.size() > 20 && text.ends_with('.') && text.find("  ") == std::string_view::npos;
}

TEST(Catalogue, TheWordsAreTheOnesPromised) {
  EXPECT_THAT(
      words(),
      ElementsAre("input-cpu", "input-io", "launch-bound", "memory-bandwidth", "tensor-unused", "wrong-precision",
                  "copy-bound", "throttled-power", "throttled-thermal", "throttled-hardware", "memory-leak",
                  "memory-full", "out-of-memory", "memory-headroom", "memory-held-idle", "host-memory", "spinning",
                  "hung", "periodic-stalls", "imbalance", "link-degraded", "health", "healthy", "idle", "unknown"));
}

TEST(Catalogue, EveryIdHasItsRow) {
  ASSERT_EQ(finding_kinds().size(), kFindingIds);
  for (std::size_t i = 0; i < kFindingIds; ++i) {
    const auto id = static_cast<FindingId>(i);
    EXPECT_EQ(describe(id).id, id);
    EXPECT_EQ(finding_named(word(id)), id);
    EXPECT_EQ(finding_for_topic(word(id)), id);
  }
  EXPECT_EQ(word(FindingId::input_cpu), "input-cpu");
  EXPECT_EQ(finding_named("oom"), std::nullopt) << "an alias is no word of the contract";
  EXPECT_EQ(finding_named(""), std::nullopt);
}

TEST(Catalogue, EveryRowSaysEverything) {
  for (const auto &kind : finding_kinds()) {
    SCOPED_TRACE(kind.word);
    EXPECT_FALSE(kind.title.empty());
    EXPECT_TRUE(is_whole_sentence(kind.meaning));
    EXPECT_TRUE(is_whole_sentence(kind.told));
    EXPECT_TRUE(is_whole_sentence(kind.confirm));
    for (const auto step : kind.fix.all()) EXPECT_TRUE(is_whole_sentence(step)) << step;
    const bool nothing_to_mend = kind.id == FindingId::healthy || kind.id == FindingId::idle;
    EXPECT_EQ(kind.fix.all().empty(), nothing_to_mend);
    EXPECT_EQ(kind.helped.empty(), nothing_to_mend);
    EXPECT_FALSE(kind.helped.ends_with('.')) << "the advice goes on behind it";
    EXPECT_FALSE(kind.see_also.all().empty());
    for (const auto key : kind.see_also.all()) EXPECT_TRUE(is_metric(key)) << key;
  }
}

TEST(Catalogue, NoTextIsThereTwice) {
  std::set<std::string_view> seen;
  for (const auto &kind : finding_kinds()) {
    for (const auto text : {kind.title, kind.meaning, kind.told, kind.confirm, kind.helped}) {
      EXPECT_TRUE(text.empty() || seen.insert(text).second) << text;
    }
    for (const auto step : kind.fix.all()) EXPECT_TRUE(seen.insert(step).second) << step;
  }
}

TEST(Catalogue, NoWordOrAliasMeansTwoThings) {
  std::set<std::string_view> seen;
  for (const auto &kind : finding_kinds()) {
    EXPECT_TRUE(is_legal_word(kind.word)) << kind.word;
    EXPECT_TRUE(seen.insert(kind.word).second) << kind.word;
    for (const auto alias : kind.aliases.all()) {
      EXPECT_TRUE(is_legal_word(alias)) << alias;
      EXPECT_TRUE(seen.insert(alias).second) << alias;
      EXPECT_EQ(finding_for_topic(alias), kind.id);
    }
  }
  for (const auto taken : seen) {
    std::string key(taken);
    std::ranges::replace(key, '-', '_');
    EXPECT_FALSE(is_metric(key)) << key;
  }
  for (const auto topic : {"xid", "metrics", "findings"}) EXPECT_FALSE(seen.contains(topic)) << "a topic of its own";
}

TEST(Catalogue, FindsATopicAsPeopleTypeIt) {
  EXPECT_EQ(finding_for_topic("oom"), FindingId::out_of_memory);
  EXPECT_EQ(finding_for_topic("OOM"), FindingId::out_of_memory);
  EXPECT_EQ(finding_for_topic("Input_CPU"), FindingId::input_cpu);
  EXPECT_EQ(finding_for_topic("starved"), FindingId::input_cpu);
  EXPECT_EQ(finding_for_topic("stall"), FindingId::periodic_stalls);
  EXPECT_EQ(finding_for_topic("straggler"), FindingId::imbalance);
  for (const auto none : {"", "-", "o", "oo", "oomm", "input-", "input-cpu "}) {
    EXPECT_EQ(finding_for_topic(none), std::nullopt) << none;
  }
}

TEST(Remarks, EachSaysEverythingUnderAWordOfItsOwn) {
  std::set<std::string_view> seen;
  for (const auto &kind : finding_kinds()) {
    seen.insert(kind.word);
    for (const auto alias : kind.aliases.all()) seen.insert(alias);
  }
  ASSERT_EQ(remark_kinds().size(), kRemarkIds);
  for (std::size_t i = 0; i < kRemarkIds; ++i) {
    const auto id = static_cast<RemarkId>(i);
    const auto &kind = describe(id);
    SCOPED_TRACE(kind.word);
    EXPECT_TRUE(is_legal_word(kind.word) && seen.insert(kind.word).second);
    EXPECT_EQ(remark_for_topic(kind.word), id);
    for (const auto alias : kind.aliases.all()) {
      EXPECT_TRUE(is_legal_word(alias) && seen.insert(alias).second) << alias;
      EXPECT_EQ(remark_for_topic(alias), id);
    }
    for (const auto text : {kind.meaning, kind.told, kind.confirm}) EXPECT_TRUE(is_whole_sentence(text)) << text;
    for (const auto step : kind.fix.all()) EXPECT_TRUE(is_whole_sentence(step)) << step;
    EXPECT_FALSE(kind.title.empty() || kind.helped.empty() || kind.helped.ends_with('.'));
    EXPECT_FALSE(kind.see_also.all().empty());
    for (const auto key : kind.see_also.all()) EXPECT_TRUE(is_metric(key)) << key;
  }
  EXPECT_EQ(word(RemarkId::job_straggler), "job-straggler");
  EXPECT_EQ(word(RemarkId::slower_link), "slower-link");
  EXPECT_EQ(remark_for_topic("Slower_Clock"), RemarkId::slower_clock);
  EXPECT_EQ(remark_for_topic("health"), std::nullopt);
}

TEST(Catalogue, AListEndsAtItsFirstEmptyText) {
  EXPECT_THAT(TextList{}.all(), IsEmpty());
  constexpr TextList kTwo{{"a", "b"}};
  EXPECT_THAT(kTwo.all(), ElementsAre("a", "b"));
  constexpr TextList kFull{{"1", "2", "3", "4", "5", "6"}};
  EXPECT_EQ(kFull.all().size(), TextList::kMost);
}

}  // namespace
}  // namespace gpulse::insight
