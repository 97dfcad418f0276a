// SPDX-License-Identifier: Apache-2.0
// A program that is not gpulse: it links the feed alone, hands every sample to two subscribers, and stops in an orderly
// way although the driver of the scenario (first argument) hangs in a call.
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "feed/feed.hpp"

namespace {

using namespace std::chrono_literals;

bool answers(const gpulse::Snapshot &sample) {
  return !sample.devices.empty() && sample.devices[0].state == gpulse::DeviceState::ok;
}

int watch() {
  const auto feed = gpulse::feed::open({.source = "nvml", .interval = 50ms, .continuous = true});
  if (!feed) return std::fprintf(stderr, "%s\n", feed.error().line().c_str()), 1;
  int samples = 0;
  int answered = 0;
  std::stop_source stop;
  const auto counting = (*feed)->subscribe([&](const gpulse::SnapshotPtr &) { ++samples; });
  const auto looking = (*feed)->subscribe([&](const gpulse::SnapshotPtr &sample) {
    if (answers(*sample)) ++answered;
    // The driver hangs from second 1 on; by now a call has been in it for a while.
    if (samples == 30) stop.request_stop();
  });
  const auto done = (*feed)->run(stop.get_token());
  if (!done) return std::fprintf(stderr, "%s\n", done.error().line().c_str()), 1;
  std::printf("%d samples, %s\n", samples, answered > 0 && answered <= samples ? "some answered" : "none answered");
  return samples == 30 && answered > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  ::setenv("GPULSE_SIM_SCENARIO", argv[1], 1);
  const int code = watch();
  std::puts(code == 0 ? "flushed and closed" : "failed");
  return code;
}
