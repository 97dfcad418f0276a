// SPDX-License-Identifier: Apache-2.0
#include "cli/gpustat_arguments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/text.hpp"
#include "cli/drop_in.hpp"

namespace gpulse::cli {
namespace {

using ::testing::ElementsAre;

Result<GpustatCommand> parse(std::string_view line) {
  const auto words = split_words(line);
  return parse_gpustat(words);
}

std::string complaint(std::string_view line) {
  const auto command = parse(line);
  return command ? "" : command.error().what;
}

TEST(GpustatArguments, LettersInACluster) {
  const auto command = parse("-cpuF -eenc -P draw");
  ASSERT_TRUE(command);
  const auto &view = command->view;
  EXPECT_TRUE(view.command && view.pid && view.user && view.fan && view.encoder && view.power);
  EXPECT_FALSE(view.decoder || view.power_limit || view.full_command);
  EXPECT_TRUE(parse("-cPlimit")->view.power_limit);
  EXPECT_FALSE(parse("-cPlimit")->view.decoder);
}

TEST(GpustatArguments, ValuesThatMayBeMissing) {
  EXPECT_EQ(parse("-i")->interval_seconds, 1);
  EXPECT_EQ(parse("-i -c")->interval_seconds, 1);
  EXPECT_EQ(parse("-i 2.5")->interval_seconds, 2.5);
  EXPECT_EQ(parse("--watch=0.001")->interval_seconds, 0.1);
  EXPECT_EQ(parse("-i -5")->interval_seconds, 0);
  EXPECT_EQ(parse("-ci3")->interval_seconds, 3);
  EXPECT_EQ(parse("-i inf")->interval_seconds, 1e6);
  EXPECT_EQ(parse("")->interval_seconds, 0);
}

TEST(GpustatArguments, LongNamesMayBeShortened) {
  EXPECT_TRUE(parse("--show-full")->view.full_command);
  EXPECT_FALSE(parse("--no-h")->view.header);
  EXPECT_EQ(parse("--gpun=7")->view.name_width, 7);
  EXPECT_EQ(complaint("--show-f"),
            "ambiguous option: --show-f could match --show-full-cmd, --show-fan-speed, --show-fan");
}

TEST(GpustatArguments, TheLastOfSeveralCounts) {
  EXPECT_EQ(parse("--id 1 --id 2")->id, "2");
  EXPECT_TRUE(parse("-a -P draw")->view.power_limit) << "all is all";
}

TEST(GpustatArguments, Complaints) {
  EXPECT_EQ(complaint("-x"), "unrecognized arguments: -x");
  EXPECT_EQ(complaint("a -c -- -p"), "unrecognized arguments: a -- -p");
  EXPECT_EQ(complaint("-cx"), "argument -c/--show-cmd: ignored explicit argument 'x'");
  EXPECT_EQ(complaint("--id"), "argument --id: expected one argument");
  EXPECT_EQ(complaint("-i x"), "argument -i/--interval/--watch: invalid float value: 'x'");
  EXPECT_EQ(complaint("--gpuname-width -1"), "argument --gpuname-width: Only non-negative integers are allowed.");
  EXPECT_EQ(complaint("--print-completion fish"),
            "argument --print-completion: invalid choice: 'fish' (choose from 'bash', 'zsh', 'tcsh')");
}

TEST(GpustatArguments, AnswersComeAtOnce) {
  EXPECT_TRUE(parse("-c -h --id")->answer.value_or("").starts_with("usage: gpustat "));
  EXPECT_TRUE(parse("-v")->answer.value_or("").starts_with("gpustat 1.1.1 "));
  EXPECT_EQ(complaint("-h --show"), complaint("--show")) << "an ambiguous name is seen before";
}

TEST(GpustatArguments, AnyWordsAreSafe) {
  const std::vector<std::string_view> pieces{"-", "--", "=", "c", "i", "P", "e",    "id", "show", "5",
                                             "'", "\"", " ", ",", ".", "x", "\xFF", "h",  "no-",  "json"};
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::string> words(random() % 4);
    for (auto &word : words) {
      for (auto left = random() % 5; left > 0; --left) word += pieces[random() % pieces.size()];
    }
    const std::vector<std::string_view> views(words.begin(), words.end());
    (void)parse_gpustat(views);
  }
}

TEST(OwnOptions, AreTakenOutOfTheOthers) {
  std::vector<std::string> words{"-c", "--sysroot", "/x", "--demo", "--source=amdgpu", "--replays", "--wake", "-p"};
  std::vector<char *> arguments;
  for (auto &word : words) arguments.push_back(word.data());
  Options options;
  const auto rest = take_own_options(arguments, options);
  ASSERT_TRUE(rest);
  EXPECT_THAT(*rest, ElementsAre("-c", "--replays", "-p"));
  EXPECT_EQ(options.sysroot, "/x");
  EXPECT_EQ(options.source, "amdgpu");
  EXPECT_TRUE(options.demo && options.wake);
  std::vector<char *> cut{arguments[1]};
  EXPECT_EQ(take_own_options(cut, options).error().what, "argument --sysroot: expected one argument");
}

}  // namespace
}  // namespace gpulse::cli
