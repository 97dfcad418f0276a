// SPDX-License-Identifier: Apache-2.0
// How long programs take from start to end: start_bench ROUNDS "COMMAND"…, each in turn in every round.
// Prints the least milliseconds of each and what it is of the first one's.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/text.hpp"

namespace gpulse::bench {

namespace {

struct Command {
  std::string text;
  std::vector<std::string> words;
  double least_ms = 1e9;
};

// Its milliseconds, or none when it fails.
std::optional<double> run(Command &command, const posix_spawn_file_actions_t &quiet) {
  std::vector<char *> arguments;
  for (auto &word : command.words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const auto begun = monotonic_now();
  pid_t child = 0;
  int status = 0;
  if (::posix_spawnp(&child, arguments[0], &quiet, nullptr, arguments.data(), environ) != 0) return std::nullopt;
  if (::waitpid(child, &status, 0) != child || status != 0) return std::nullopt;
  return 1000 * Seconds(monotonic_now() - begun).count();
}

int measure(int rounds, std::vector<Command> &commands) {
  posix_spawn_file_actions_t quiet;
  ::posix_spawn_file_actions_init(&quiet);
  ::posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  for (int round = 0; round < rounds; ++round) {
    for (auto &command : commands) {
      const auto took = run(command, quiet);
      if (!took) {
        fmt::print(stderr, "{} failed\n", command.text);
        return 1;
      }
      command.least_ms = std::min(command.least_ms, *took);
    }
  }
  for (const auto &command : commands) {
    fmt::print("{:40}  {:8.2f} ms  {:8.2f} more  {:5.3f}\n", command.text.substr(command.text.rfind('/') + 1),
               command.least_ms, command.least_ms - commands[0].least_ms, command.least_ms / commands[0].least_ms);
  }
  return 0;
}

}  // namespace

}  // namespace gpulse::bench

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  std::vector<gpulse::bench::Command> commands;
  for (int i = 2; i < argc; ++i) {
    gpulse::bench::Command command{.text = argv[i], .words = {}};
    for (const auto word : gpulse::split_words(argv[i])) command.words.emplace_back(word);
    commands.push_back(std::move(command));
  }
  return gpulse::bench::measure(std::atoi(argv[1]), commands);
}
