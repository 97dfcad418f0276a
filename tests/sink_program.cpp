// SPDX-License-Identifier: Apache-2.0
// A training program, as far as a sink is concerned: sink_program FORMAT PATH RECORDING < STEPS writes the samples of
// the recording, each with the step on its line of the standard input; "-" is none.
#include <cstdio>
#include <iostream>
#include <optional>
#include <string>

#include "feed/feed.hpp"
#include "sink/sink.hpp"

namespace {

int complain(const gpulse::Error &error) { return std::fprintf(stderr, "%s\n", error.line().c_str()), 1; }

int log_steps(const gpulse::sink::SinkOptions &options, const std::string &recording) {
  const auto feed = gpulse::feed::open({.replay = recording, .speed = 1e9});
  if (!feed) return complain(feed.error());
  const auto sink = gpulse::sink::open(options);
  if (!sink) return complain(sink.error());
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto sample = (*feed)->next();
    if (!sample || *sample == nullptr) return complain({"the recording is too short"});
    const auto step = line == "-" ? std::nullopt : std::optional<std::int64_t>(std::stoll(line));
    if (const auto done = (*sink)->write(**sample, step); !done) return complain(done.error());
  }
  const auto closed = (*sink)->close();
  return closed ? 0 : complain(closed.error());
}

}  // namespace

int main(int argc, char **argv) {
  const auto format = argc == 4 ? gpulse::sink::parse_format(argv[1]) : std::nullopt;
  if (!format) return 2;
  return log_steps({.format = *format, .path = argv[2]}, argv[3]);
}
