// SPDX-License-Identifier: Apache-2.0
// What an answer of the API about the past takes in its handler, without the network.
//
//   api_bench FILE     a history, as history_bench leaves it in its folder
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <future>
#include <string>
#include <vector>

#include "serve/api.hpp"
#include "serve/past.hpp"
#include "serve/past_source.hpp"

namespace gpulse::bench {

namespace {

constexpr int kTimes = 25;
// The plots of a training dashboard.
constexpr std::string_view kMetrics =
    "gpu_utilization_percent,memory_used_bytes,power_draw_watts,temperature_gpu_celsius,sm_active_percent,"
    "clock_graphics_mhz,memory_utilization_percent";

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void measure(serve::Api &api, const std::string &path, const http::Fields &query, std::string_view what) {
  std::vector<double> times;
  http::Response response;
  const auto used = processor_seconds();
  for (int i = 0; i < kTimes; ++i) {
    std::promise<http::Response> answered;
    const auto begun = monotonic_now();
    api.handle({.path = "/api/v1/" + path, .query = query}, true,
               [&](http::Response one) { answered.set_value(std::move(one)); });
    response = answered.get_future().get();
    times.push_back(Seconds(monotonic_now() - begun).count() * 1e3);
  }
  const auto first = times[0];
  std::ranges::sort(times);
  fmt::print("{:<34} {}  {:>8} bytes  first {:>7.2f} ms, median {:>7.2f} ms, processor {:>7.2f} ms\n", what,
             response.status, response.body ? response.body->size() : 0, first, times[times.size() / 2],
             (processor_seconds() - used) * 1e3 / kTimes);
}

int run(const std::string &file) {
  auto reader = history::Reader::open(file);
  const auto coverage = reader ? reader->coverage() : std::unexpected(reader.error());
  const auto whole = coverage ? serve::whole_of(*coverage) : std::nullopt;
  if (!whole) {
    fmt::print(stderr, "{} has nothing in it\n", file);
    return 1;
  }
  serve::Board board;
  serve::Api api(board, {}, serve::history_file_past(file));
  const auto to = iso8601_utc(whole->to);
  const auto ask = [&](const std::string &path, std::string since, http::Fields more, std::string_view what) {
    more.emplace_back("since", std::move(since));
    more.emplace_back("to", to);
    measure(api, path, more, what);
  };
  const http::Fields curves{{"metrics", std::string(kMetrics)}};
  ask("history", "5m", curves, "5 min of 7 metrics, raw");
  ask("history", "1h", curves, "1 h of 7 metrics");
  ask("history", "12h", curves, "12 h of 7 metrics, 1000 points");
  ask("history", "12h", {curves[0], {"step", "10"}}, "12 h of 7 metrics, every 10 s");
  ask("history", "7d", curves, "7 days of 7 metrics, 1000 points");
  ask("processes", "12h", {}, "processes of 12 h");
  ask("events", "12h", {}, "events of 12 h");
  ask("findings", "12h", {}, "findings of 12 h");
  return 0;
}

}  // namespace

}  // namespace gpulse::bench

int main(int argc, char **argv) {
  if (argc != 2) {
    fmt::print(stderr, "api_bench FILE\n");
    return 2;
  }
  return gpulse::bench::run(argv[1]);
}
